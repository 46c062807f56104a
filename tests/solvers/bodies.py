"""A body of tubes and boxes, fine enough for a pole to be met wherever it crosses a limb."""

import numpy as np
from skins import box, skin_of

from foothold.solvers import rotation

THICK = {"hips": 0.12, "thigh": 0.07, "shin": 0.05, "upper_arm": 0.045, "forearm": 0.035}  # metres
_STEP, _SIDES = 0.02, 16  # metres from ring to ring, and corners of each


def rod(start, end, radius):
    """A tube between two points, (points (N, 3), faces (T, 3)), open at its ends and ring by ring."""
    start, way = np.asarray(start, float), np.subtract(end, start)
    across = rotation.normalize(np.cross(way, np.eye(3)[np.argmin(np.abs(way))]))
    aside = rotation.normalize(np.cross(way, across))
    turn = np.linspace(0.0, 2.0 * np.pi, _SIDES, endpoint=False)[:, None]
    ring = radius * (np.cos(turn) * across + np.sin(turn) * aside)
    parts = np.linspace(0.0, 1.0, max(int(np.linalg.norm(way) / _STEP), 1) + 1)[:, None, None]
    points = (start + parts * way + ring).reshape(-1, 3)
    i = np.arange(len(points) - _SIDES)
    j = i - i % _SIDES + (i + 1) % _SIDES
    return points, np.concatenate([np.stack([i, j, j + _SIDES], 1), np.stack([i, j + _SIDES, i + _SIDES], 1)])


def flesh_of(figure):
    """The Skin of a figure of `figures.build`, rigid on each bone: limbs, a round trunk, hands and feet."""
    head = {role: figure.rest.positions[0, j] for role, j in figure.roles.items()}
    pieces = [("hips", rod(head["hips"] - [0.0, 0.0, 0.05], head["spine"], THICK["hips"])),
              ("chest", rod(head["spine"], head["chest"] + [0.0, 0.0, 0.12], THICK["hips"]))]
    for side in "LR":
        for part, end in (("thigh", "shin"), ("shin", "foot"), ("upper_arm", "forearm"), ("forearm", "hand")):
            pieces.append((f"{part}.{side}", rod(head[f"{part}.{side}"], head[f"{end}.{side}"], THICK[part])))
        ankle, wrist = head[f"foot.{side}"], head[f"hand.{side}"]
        pieces += [(f"foot.{side}", box(ankle + [-0.04, -0.13, -0.09], ankle + [0.04, 0.06, 0.03])),
                   (f"toe.{side}", box(ankle + [-0.04, -0.19, -0.09], ankle + [0.04, -0.13, -0.05])),
                   (f"hand.{side}", box(wrist - [0.06, 0.03, 0.02], wrist + [0.06, 0.03, 0.02]))]
    return skin_of(figure, *pieces)


def skinned(bound, skin, motion):
    """World places (F, N, 3) of a Skin whose vertices one bone carries each."""
    out = np.empty((len(motion.positions), len(skin.points), 3))
    for joint in np.unique(skin.bones[:, 0]):
        own = skin.bones[:, 0] == joint
        local = (skin.points[own] - bound.positions[0, joint]) @ _matrices(bound.rotations[:1, joint])[0]
        turns = _matrices(motion.rotations[:, joint])
        out[:, own] = motion.positions[:, joint, None] + local @ turns.transpose(0, 2, 1)
    return out


def _matrices(q):
    """(F, 3, 3) of unit quaternions (F, 4)."""
    w, x, y, z = q.T
    return np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
                     2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                     2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=-1).reshape(-1, 3, 3)
