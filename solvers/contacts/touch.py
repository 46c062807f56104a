"""Hands on the performer's own body and on each other: near a part of it, and still against it."""

from typing import NamedTuple

import numpy as np

from .. import rotation
from ..anatomy import SIDES, torso
from . import performer, segments, signals

# all of a performer of the standard size (`performer.LEG`)
STILL = 0.15  # m/s that a resting hand may move at against what it rests on
CLASP = 0.08  # metres between the middles of two palms that hold each other
_REST = 0.035  # metres from a capsule's surface: bodies are no capsules
_DEEP = 0.09  # metres that a hand may lie inside of one, for the same reason
_SHORTEST = 0.3  # seconds
GAP = 0.1  # seconds that a touch may be lost for
_SURELY = 4.0  # times the median wander of a resting hand: beyond it, it has left
_SLACK = 0.002  # metres; what shifts less stays
_RISE = 0.02  # metres up to which the way off tells when it began
_APPROACH = 1.5  # seconds of coming near or going away at most

# radii in metres: Winter (2009), breadths and girths as shares of stature
_RADII = {"hips": 0.115, "belly": 0.115, "chest": 0.125, "head": 0.095, "thigh": 0.075, "knee": 0.055, "shin": 0.05,
          "upper_arm": 0.045, "forearm": 0.037}


class Capsule(NamedTuple):
    """A part of the body: a segment on one bone, and how thick it is."""

    name: str
    joint: int
    a: np.ndarray  # (3,) ends in the bone's own axes, metres
    b: np.ndarray
    radius: float


class Touch(NamedTuple):
    """One interval in which a hand lies on something; frames with fractions."""

    side: str
    surface: str
    first: float
    last: float
    approach: float  # frames
    release: float
    gap: float  # metres from the surface, median
    joint: int  # whose axes `path` is in
    path: np.ndarray  # (F, 3) the palm, over the whole clip


def capsules(figure):
    """The Capsules of a performer of the standard size."""
    rests, roles = figure.rest, figure.roles
    out = []

    def add(name, role, a, b):
        joint = roles[role]
        back = rotation.conj(rests.rotations[0, joint])
        head = rests.positions[0, joint]
        out.append(Capsule(name, joint, rotation.rotate(back, a - head), rotation.rotate(back, b - head),
                           _RADII[name.split(".")[0]]))

    def at(role):
        return rests.positions[0, roles[role]]

    trunk = torso(roles)
    if "thigh.L" in roles and "thigh.R" in roles:
        middle = at("hips") + 0.25 * (at(trunk[0]) - at("hips")) if trunk else at("hips")
        half = 0.5 * (at("thigh.L") - at("thigh.R"))
        add("hips", "hips", middle + 0.65 * half, middle - 0.65 * half)
    top = next((at(r) for r in ("neck", "head") if r in roles), None)
    if trunk and top is not None:
        add("belly", trunk[0], at(trunk[0]), 0.5 * (at(trunk[0]) + at(trunk[-1])))
        across = (0.5 * (at("upper_arm.L") - at("upper_arm.R")) if "upper_arm.L" in roles and "upper_arm.R" in roles
                  else np.zeros(3))
        middle = 0.6 * at(trunk[-1]) + 0.4 * top
        add("chest", trunk[-1], middle + 0.35 * across, middle - 0.35 * across)
    if "head" in roles:
        up = rotation.normalize(at("head") - at("hips"))
        add("head", "head", at("head") + 0.06 * up, at("head") + 0.1 * up)
    for side in SIDES:
        for name, end in (("thigh", "shin"), ("shin", "foot"), ("upper_arm", "forearm"), ("forearm", "hand")):
            if f"{name}.{side}" in roles and f"{end}.{side}" in roles:
                add(f"{name}.{side}", f"{name}.{side}", at(f"{name}.{side}"), at(f"{end}.{side}"))
        if f"shin.{side}" in roles:
            add(f"knee.{side}", f"shin.{side}", at(f"shin.{side}"), at(f"shin.{side}"))
    return out


def local(motion, joint, path):
    """A world path (F, 3) in a joint's own axes, metres."""
    return rotation.rotate(rotation.conj(motion.rotations[:, joint]), path - motion.positions[:, joint])


def gap(capsule, path):
    """Distances (F,) of a path in the capsule's axes from its surface, negative inside."""
    way = capsule.b - capsule.a
    part = np.clip((path - capsule.a) @ way / max(float(way @ way), 1e-12), 0.0, 1.0)
    return np.linalg.norm(path - capsule.a - part[:, None] * way, axis=-1) - capsule.radius


def find(figure, motion, palms, busy, fps):
    """The Touches of both hands, clasps first; `busy` are masks (F,) by side of frames in which a hand holds a prop."""
    out = []
    paths = {side: performer.place(palm, motion) for side, palm in palms.items()}
    free = {side: ~busy.get(side, np.zeros(len(motion.positions), bool)) for side in palms}
    if len(palms) == 2:
        out = clasps(motion, paths, palms["R"].joint, free["L"] & free["R"], fps)
    clasped = _covered(out, len(motion.positions))  # hands that hold each other are told by that
    for side in palms:
        out.extend(_resting(figure, motion, side, paths[side], free[side] & ~clasped, fps))
    return out


def clasps(motion, paths, joint, free, fps):
    """The Touches of hands that hold each other: `paths` are side -> (F, 3) of the palms, `joint` the right hand's,
    `free` (F,) where neither is busy."""
    path = local(motion, joint, paths["L"])
    apart = np.linalg.norm(paths["L"] - paths["R"], axis=-1)
    return intervals("L", "hand.R", joint, path, apart, still_runs(path, (apart < CLASP) & free, fps), fps)


def _covered(touches, frames):
    mask = np.zeros(frames, bool)
    for touch in touches:
        mask[int(touch.first):int(touch.last) + 2] = True
    return mask


def _resting(figure, motion, side, path, free, fps):
    """The Touches of one hand with parts of the body; where two parts are as near, the nearer counts."""
    found = []
    for capsule in capsules(figure):
        if capsule.name in (f"forearm.{side}", f"upper_arm.{side}"):
            continue
        own = local(motion, capsule.joint, path)
        away = gap(capsule, own)
        near = (away < _REST) & (away > -_DEEP) & free
        found += intervals(side, capsule.name, capsule.joint, own, away, still_runs(own, near, fps), fps)
    out = []
    for touch in sorted(found, key=lambda t: (abs(t.gap), t.surface)):
        if all(min(touch.last, o.last) - max(touch.first, o.first) < 0.5 * min(touch.last - touch.first,
                                                                               o.last - o.first) for o in out):
            out.append(touch)
    return out


def still_runs(path, near, fps, shortest=_SHORTEST):
    """Runs (N, 2) in which a path (F, 3) is near and still for long enough."""
    speed = signals.speed(signals.smooth(path, fps, 0.04), fps)
    mask = segments.closed(segments.hysteresis((speed < STILL) & near, (speed < 1.3 * STILL) & near),
                           int(GAP * fps))
    return segments.runs(segments.long_enough(mask, int(round(shortest * fps))))


def intervals(side, surface, joint, path, distance, runs, fps, within=None):
    """The Touches of runs of frames (N, 2), in order: each `interval` up to where it comes to the `rooms` of the next.

    Two that meet there are one, for the hand has not left its place between. `within` are rooms (N, 2) that are known.
    """
    out = []
    for (first, last), room in zip(runs, rooms(runs, len(path)) if within is None else within):
        one = interval(side, surface, joint, path, distance, first, last, room, fps)
        if out and one.first - out[-1].last <= 1.0:
            one = out.pop()._replace(last=one.last, release=one.release)
        out.append(one)
    return out


def rooms(runs, frames):
    """First and last frames (N, 2) up to which runs (N, 2), in order, may be followed: to the middle between two, for a
    hand is at one place at a time."""
    runs = np.asarray(runs, int).reshape(-1, 2)
    middle = (runs[:-1, 1] + runs[1:, 0]) // 2
    return np.stack([np.append(0, middle + 1)[:len(runs)], np.append(middle, frames - 1)[:len(runs)]], axis=-1)


def interval(side, surface, joint, path, distance, first, last, room, fps):
    """The Touch of a run of frames (first, last), its edges where the path (F, 3) leaves its place, within `room`, its
    of the `rooms`; `distance` (F,) is the path's from the surface."""
    inside = slice(first, last + 1)
    place = np.median(path[inside], axis=0)
    away = np.linalg.norm(path - place, axis=-1)
    low = max(_SURELY * float(np.median(away[inside])), _SLACK)
    ends = []
    for step in (-1, 1):
        reach = (last - first) // 4
        t = first + reach if step < 0 else last - reach
        beside = np.median(path[max(first, t - reach):min(last, t + reach) + 1], axis=0)
        off = np.linalg.norm(path - beside, axis=-1)
        ends.append(segments.edge(off, t, step, low, max(_RISE, 4.0 * low)))
    if ends[0] >= ends[1]:  # too short a touch to have an inside
        ends = [float(first), float(last)]
    begin, end = max(ends[0], float(room[0])), min(ends[1], float(room[1]))
    eased = signals.smooth(away, fps, 0.04)
    limit = int(_APPROACH * fps)
    return Touch(side, surface, begin, end, segments.way(eased, int(round(begin)), -1, limit),
                 segments.way(eased, int(round(end)), 1, limit), float(np.median(distance[inside])), joint, path)
