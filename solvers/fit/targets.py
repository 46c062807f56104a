"""Where hands and feet of a body have to be while they touch: the script's paths, laid out in the body's world."""

from typing import NamedTuple

import numpy as np

from .. import rotation
from ..contacts import performer

_PIVOT = 0.06  # seconds in which a foot's pivot goes over from heel to ball


class Stage(NamedTuple):
    """How the take's world lies in the body's."""

    source_origin: np.ndarray  # (3,)
    body_origin: np.ndarray  # (3,)
    horizontal: float
    vertical: float
    source_floor: float
    body_floor: float

    def place(self, points):
        """Points (..., 3) of the take's world in the body's."""
        out = np.array(points, float)
        out[..., :2] = self.body_origin[:2] + self.horizontal * (out[..., :2] - self.source_origin[:2])
        out[..., 2] = self.body_floor + self.vertical * (out[..., 2] - self.source_floor)
        return out


class Demand(NamedTuple):
    """What one contact asks of a limb's end: to be at `target` from frame `first` to `last`."""

    contact: object  # contacts.script.Contact
    limb: str  # "hand.L", "foot.R"
    first: int
    last: int
    target: np.ndarray  # (last - first + 1, 3) metres, the limb's end joint (wrist or ankle)


def stage_of(plan, script):
    """The Stage of a transfer.Plan: heights count from the floors that both stand on."""
    source_floor = script.floor if script.floor is not None else float(plan.source_origin[2])
    soles = performer.feet(plan.body)
    hips = plan.body.rest.positions[0, plan.body.roles["hips"], 2]
    if soles:
        lowest = min(performer.place(point, plan.body.rest)[0, 2] for point in soles.values())
        floor = plan.standing[1] - (hips - lowest)
    else:
        floor = plan.standing[1] - plan.scale[1] * (plan.standing[0] - source_floor)
    return Stage(plan.source_origin, plan.body_origin, *plan.scale, source_floor, float(floor))


def hands(plan, script, pose, ends, palms, source_palms, fps):
    """Demands of hands: a list. `ends` role -> (F, 3) are the wrists as transferred, `palms` side -> the body's
    performer.Palm, `source_palms` side -> (F, 3) the performer's palms in the take's world."""
    stage = stage_of(plan, script)
    props = {prop.name: prop for prop in script.props}
    turns = {side: pose.rotations[:, plan.answered.index(f"hand.{side}")] for side in palms}
    levers = {side: rotation.rotate(turns[side], palm.offset) for side, palm in palms.items()}
    out = []
    for contact in script.contacts:
        side = contact.effector[-1]
        if contact.mute or not contact.effector.startswith("hand.") or side not in palms:
            continue
        rows = _rows(contact, fps, len(pose.hips))
        frames = np.arange(rows.start, rows.stop)
        if contact.surface in props:
            palm = _on_prop(contact, props[contact.surface], stage, frames / fps)
        elif contact.kind == "clasp" and contact.surface.startswith("hand."):
            other = contact.surface[-1]
            apart = _hand_scale(plan) * (source_palms[side][rows] - source_palms[other][rows])
            middle = 0.5 * sum(ends[f"hand.{s}"][rows] + levers[s][rows] for s in (side, other))
            for s, sign in ((side, 0.5), (other, -0.5)):
                out.append(Demand(contact, f"hand.{s}", rows.start, rows.stop - 1,
                                  middle + sign * apart - levers[s][rows]))
            continue
        elif contact.surface == "floor":
            palm = stage.place(np.stack([_column(contact, axis, frames / fps) for axis in "xyz"], axis=-1))
            palm[:, 2] = stage.body_floor
        else:
            continue  # against her own body: kept by the transfer as it is
        out.append(Demand(contact, contact.effector, rows.start, rows.stop - 1, palm - levers[side][rows]))
    return out


def _rows(contact, fps, frames):
    return slice(max(int(round(contact.start * fps)), 0), min(int(round(contact.end * fps)), frames - 1) + 1)


def _column(contact, name, times):
    return np.interp(times, contact.path["time"], contact.path[name])


def _hand_scale(plan):
    """The body's forearms against the performer's: what hands are apart by goes with their size."""
    lengths = []
    for figure in (plan.source, plan.body):
        pose = figure.rest.positions[0]
        lengths.append(np.mean([np.linalg.norm(pose[figure.roles[f"hand.{s}"]] - pose[figure.roles[f"forearm.{s}"]])
                                for s in "LR" if f"hand.{s}" in figure.roles and f"forearm.{s}" in figure.roles]))
    return float(lengths[1] / lengths[0])


def _on_prop(contact, prop, stage, times):
    """World places (T, 3) of a palm on a prop."""
    if "height" not in contact.path:
        own = np.stack([_column(contact, axis, times) for axis in "xyz"], axis=-1)
        return stage.place(own)
    axis = np.array(prop.axis)
    height, azimuth = _column(contact, "height", times), np.radians(_column(contact, "azimuth", times))
    first = np.array([1.0, 0.0, 0.0]) if abs(axis[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    first = rotation.normalize(first - (first @ axis) * axis)
    out = np.cos(azimuth)[:, None] * first + np.sin(azimuth)[:, None] * np.cross(axis, first)
    return stage.place(np.array(prop.point) + height[:, None] * axis) + prop.radius * out


def feet(plan, script, pose, ends, soles, toes, fps):
    """Demands of feet that stand: a list.

    A foot turns about the part of its sole that is down, heel or ball, which stays in one place for the whole plant.
    `ends` role -> (F, 3) are the ankles as transferred, `soles` name -> the body's performer.Point, `toes` side ->
    (F, 3) where the ball is (its bone may hang from the foot's).
    """
    stage = stage_of(plan, script)
    out = []
    for contact in script.contacts:
        side = contact.effector[-1]
        if contact.mute or contact.kind != "plant" or contact.effector != f"foot.{side}" or f"heel.{side}" not in soles:
            continue
        rows = _rows(contact, fps, len(pose.hips))
        ankle = ends[contact.effector][rows]
        turn = pose.rotations[rows, plan.answered.index(contact.effector)]
        levers = {"heel": rotation.rotate(turn, soles[f"heel.{side}"].offset), "ball": toes[side][rows] - ankle}
        height = _height(contact, stage, script)
        out.append(Demand(contact, contact.effector, rows.start, rows.stop - 1,
                          _pivoted(contact, ankle, levers, height, rows, fps)))
    return out


def _height(contact, stage, script):
    """The height that a plant stands at: the floor, or a step over it."""
    if not contact.path.get("z") or script.floor is None:
        return stage.body_floor
    over = float(np.median(contact.path["z"])) - script.floor
    return stage.body_floor + (stage.vertical * over if over > 0.08 else 0.0)  # a sole's own height is no step


def _pivoted(contact, ankle, levers, height, rows, fps):
    """Places (T, 3) of the ankle of a foot that turns about its heel while only that is down, then about its ball."""
    times = np.arange(rows.start, rows.stop) / fps
    spans = {part.part: (part.start, part.end) for part in contact.parts}
    start = spans["ball"][0] if "ball" in spans else np.inf
    if "heel" not in spans or start <= times[0] + 0.5 / fps:
        return _about(ankle, levers["ball"], height, times >= -1.0)
    if start > times[-1]:
        return _about(ankle, levers["heel"], height, times >= -1.0)
    ball = _about(ankle, levers["ball"], height, times >= start)
    at = int(np.searchsorted(times, start))
    heel = ball[at] + levers["heel"][at] - levers["heel"]  # the heel stays where it is when the ball comes down
    heel[:, 2] = height - levers["heel"][:, 2]
    part = np.clip((times - start) / _PIVOT, 0.0, 1.0)
    part = (part * part * (3.0 - 2.0 * part))[:, None]
    return (1.0 - part) * heel + part * ball


def _about(ankle, lever, height, counts):
    """Places (T, 3) of the ankle while the point at `lever` (T, 3) from it stands still, amid where it was."""
    stand = np.median((ankle + lever)[counts], axis=0)
    stand[2] = height
    return stand - lever


def limb_lengths(figure, limb):
    """(upper, lower) lengths in metres of the limb that ends in a role, in the rest; None where joints are missing."""
    part, side = limb.split(".")
    chain = {"hand": ("upper_arm", "forearm", "hand"), "foot": ("thigh", "shin", "foot")}[part]
    roles = [f"{name}.{side}" for name in chain]
    if any(role not in figure.roles for role in roles):
        return None
    root, middle, end = (figure.rest.positions[0, figure.roles[role]] for role in roles)
    return float(np.linalg.norm(middle - root)), float(np.linalg.norm(end - middle))


