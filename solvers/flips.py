"""Faults of the capture itself: a bone that turns half around in one frame and later comes back."""

from typing import NamedTuple

import numpy as np

from . import rotation

TURN = np.radians(90.0)  # a step over a right angle in one frame is not a movement
HALF = np.radians(150.0)  # a step of nearly half a turn is none at any length of the flip
CALM = np.radians(45.0)  # how well the way back must undo the way out
SHORT = 0.1  # seconds; within them the bone need only come back to where it was


class Flip(NamedTuple):
    """One repaired flip: joint index, first and last turned frame (counted from 0), the step in degrees."""

    joint: int
    first: int
    last: int
    degrees: float


def _undo(q, frame):
    """What, multiplied from the right onto `q[frame]`, gives `q[frame - 1]`."""
    return rotation.mul(rotation.conj(q[frame]), q[frame - 1])


def _redo(q, frame):
    """What, multiplied from the right onto `q[frame]`, gives `q[frame + 1]`."""
    return rotation.mul(rotation.conj(q[frame]), q[frame + 1])


def find(rotations, fps):
    """Flips in the parent-relative rotations (F, J, 4) of a clip, in the order of joints and frames."""
    found = []
    for joint in range(rotations.shape[1]):
        q = rotations[:, joint]
        half_cosine = np.abs(rotation.dot(q[1:], q[:-1]))  # (F-1,) from frame t to t + 1
        jumps = np.flatnonzero(half_cosine < np.cos(0.5 * TURN))
        if len(jumps) < 2:
            continue
        step = 2.0 * np.arccos(np.minimum(half_cosine, 1.0))
        i = 0
        while i + 1 < len(jumps):
            first, last = jumps[i] + 1, jumps[i + 1]
            comes_back = rotation.angle(q[first - 1], q[last + 1]) <= CALM
            half_turns = step[first - 1] > HALF and step[last] > HALF
            undone = rotation.angle(_undo(q, first), _redo(q, last)) <= CALM
            if (last - first < SHORT * fps and comes_back) or (half_turns and undone):
                found.append(Flip(int(joint), int(first), int(last), float(np.degrees(step[first - 1]))))
                i += 2
            else:
                i += 1
    return found


def repair(rotations, fps):
    """The rotations with every flip turned back, and the list of flips; untouched where there is none.

    What moved inside a flip goes on moving: the turn back is constant but for what the two ends differ by, which is
    spread over the flip.
    """
    flips = find(rotations, fps)
    if not flips:
        return rotations, flips
    repaired = rotations.copy()
    for joint, first, last, _ in flips:
        q = rotations[:, joint]
        part = np.arange(1, last - first + 2) / (last - first + 2)
        back = rotation.slerp(_undo(q, first), _redo(q, last), part)
        repaired[first:last + 1, joint] = rotation.mul(q[first:last + 1], back)
    return rotation.continuous(repaired), flips


def repair_motion(motion, parents, fps):
    """A world-space Motion with its flips turned back, and the list of flips.

    `parents` (J,) stand before their children. What hangs from a repaired bone comes along.
    """
    relative, levers = motion.rotations.copy(), motion.positions.copy()
    for j in np.flatnonzero(parents >= 0):
        back = rotation.conj(motion.rotations[:, parents[j]])
        relative[:, j] = rotation.mul(back, motion.rotations[:, j])
        levers[:, j] = rotation.rotate(back, motion.positions[:, j] - motion.positions[:, parents[j]])
    repaired, found = repair(rotation.continuous(relative), fps)
    if not found:
        return motion, found
    positions, rotations = motion.positions.copy(), motion.rotations.copy()
    for j in range(len(parents)):
        parent = parents[j]
        if parent < 0:
            rotations[:, j] = repaired[:, j]
        else:
            rotations[:, j] = rotation.mul(rotations[:, parent], repaired[:, j])
            positions[:, j] = positions[:, parent] + rotation.rotate(rotations[:, parent], levers[:, j])
    return motion._replace(positions=positions, rotations=rotation.continuous(rotations)), found
