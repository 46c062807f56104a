"""Humanoid skeletons and motions made for the tests, with proportions, bone axes and rests to choose."""

import numpy as np

from foothold.solvers import rotation
from foothold.solvers.skeleton import Channels, Skeleton, forward, rest_motion
from foothold.solvers.transfer import Figure

# role: (parent role, world offset in metres in a T-pose that faces -Y)
_LEFT = {
    "shoulder": ("chest", (0.03, 0.0, 0.11)), "upper_arm": ("shoulder", (0.14, 0.01, 0.02)),
    "forearm": ("upper_arm", (0.28, 0.0, 0.0)), "hand": ("forearm", (0.24, 0.0, 0.0)),
    "middle.1": ("hand", (0.09, 0.0, 0.0)),
    "thigh": ("hips", (0.09, 0.0, -0.05)), "shin": ("thigh", (0.0, 0.0, -0.40)),
    "foot": ("shin", (0.0, 0.0, -0.40)), "toe": ("foot", (0.0, -0.13, -0.06)),
}


def layout(spine=3, neck=1, arm=1.0, leg=1.0, arms_down=0.0):
    """role -> (parent role, offset) of a humanoid; arms_down in degrees below the horizontal."""
    torso = ["spine", *(f"spine.{i}" for i in range(1, spine - 1)), "chest"][:spine] if spine > 1 else ["spine"]
    out = {"hips": (None, (0.0, 0.0, 0.94 - 0.8 * (1.0 - leg)))}
    above = "hips"
    for role in torso:
        out[role] = (above, (0.0, 0.0, 0.36 / spine))
        above = role
    top = above
    for i in range(neck):
        role = "neck" if i == 0 else f"neck.{i}"
        out[role] = (above, (0.0, 0.005, 0.16 if i == 0 else 0.1 / neck))
        above = role
    out["head"] = (above, (0.0, -0.01, 0.09))
    c, s = np.cos(np.radians(arms_down)), np.sin(np.radians(arms_down))
    for part, (parent, offset) in _LEFT.items():
        offset = np.array(offset)
        if part in ("forearm", "hand", "middle.1"):
            x = offset[0] * arm
            offset = np.array([x * c, 0.0, -x * s])
        if part in ("shin", "foot"):
            offset = offset * leg
        name = "middle.1" if part == "middle.1" else part
        for side, mirror in (("L", 1.0), ("R", -1.0)):
            base = top if parent == "chest" else parent if parent == "hips" else f"{parent}.{side}"
            out[f"{name}.{side}"] = (base, tuple(offset * (mirror, 1.0, 1.0)))
    return out


def build(parts=None, seed=None, world=np.eye(4), extra=()):
    """A Figure: one bone a role, resting as laid out; with a seed every bone gets random axes.

    `world` (4, 4) is the object's matrix; the layout is where the bones stand in the world.
    """
    parts = layout() if parts is None else parts
    rng = np.random.default_rng(seed)
    names = list(parts)
    heads = {}
    for role in names:
        parent, offset = parts[role]
        heads[role] = np.array(offset) + (heads[parent] if parent else 0.0)
    rests, inverse = [], np.linalg.inv(world)
    for role in names:
        axes = np.eye(3) if seed is None else rotation.to_matrix(rotation.normalize(rng.normal(size=4)))
        m = np.eye(4)
        m[:3, :3] = rotation.orthonormal(inverse[:3, :3] @ axes)
        m[:3, 3] = (inverse @ np.append(heads[role], 1.0))[:3]
        rests.append(m)
    count = len(names)
    skeleton = Skeleton(tuple(names), np.array([names.index(parts[r][0]) if parts[r][0] else -1 for r in names]),
                        np.array(rests), np.ones(count, bool), np.ones(count, bool),
                        np.zeros(count, bool), np.ones(count, bool), np.asarray(world, float))
    roles = {role: i for i, role in enumerate(names)}
    return Figure(skeleton, {r: i for r, i in roles.items() if r not in extra}, rest_motion(skeleton))


def dance(figure, frames=120, seed=5, amount=0.7):
    """Smooth random channels for every bone and a wandering way of the hips."""
    rng = np.random.default_rng(seed)
    joints = len(figure.skeleton.names)
    time = np.linspace(0.0, 2.0 * np.pi, frames)[:, None, None]
    waves = sum(rng.normal(size=(1, joints, 3)) / k * np.sin(k * time + rng.uniform(0, 6, (1, joints, 3)))
                for k in (1, 2, 3))
    location = np.zeros((frames, joints, 3))
    location[:, figure.roles["hips"]] = 0.2 * np.concatenate(
        [np.sin(time[:, 0]), np.cos(2 * time[:, 0]), 0.3 * np.sin(3 * time[:, 0])], axis=-1)
    return Channels(location, rotation.exp(amount * 0.4 * waves), np.ones((frames, joints, 3)))


def play(figure, channels):
    """World Motion of channels on a figure."""
    return forward(figure.skeleton, channels)
