"""Faults of the capture itself: a bone that turns half around for a moment and comes back."""

from typing import NamedTuple

import numpy as np

from . import rotation

TURN = np.radians(90.0)  # a step over a right angle in one frame is not a movement
CALM = np.radians(45.0)  # how far the bone may have moved on behind the flip
LONGEST = 0.1  # seconds that a flip may last


class Flip(NamedTuple):
    """One repaired flip: joint index, first and last turned frame (counted from 0), the step in degrees."""

    joint: int
    first: int
    last: int
    degrees: float


def find(rotations, fps):
    """Flips in the parent-relative rotations (F, J, 4) of a clip, in the order of joints and frames."""
    frames = len(rotations)
    step = rotation.angle(rotations[1:], rotations[:-1])  # (F-1, J), from frame t to t + 1
    longest = max(1, int(round(LONGEST * fps)))
    found = []
    for joint in np.flatnonzero((step > TURN).any(axis=0)):
        turns = np.flatnonzero(step[:, joint] > TURN)
        frame = 0
        for out, back in zip(turns[:-1], turns[1:]):
            inside = back - out  # frames out + 1 .. back are turned
            if out < frame or inside > longest or back + 1 >= frames:
                continue
            if rotation.angle(rotations[out, joint], rotations[back + 1, joint]) > CALM:
                continue
            found.append(Flip(int(joint), int(out + 1), int(back), float(np.degrees(step[out, joint]))))
            frame = back + 1
    return found


def repair(rotations, fps):
    """The rotations with every flip bridged by a great circle, and the list of flips; untouched where there is none."""
    flips = find(rotations, fps)
    if not flips:
        return rotations, flips
    repaired = rotations.copy()
    for joint, first, last, _ in flips:
        part = np.arange(1, last - first + 2) / (last - first + 2)
        repaired[first:last + 1, joint] = rotation.slerp(
            rotations[first - 1, joint], rotations[last + 1, joint], part)
    return rotation.continuous(repaired), flips
