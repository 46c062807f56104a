"""Cuts of a take: frames that do not go on from the one before, as after the T-pose that many takes begin with.

No motion leads over a cut: what comes before it and what comes after are clips of their own, shots.
"""

import numpy as np

_FAR = 0.03  # of the body's size, that its joints jump by over a cut
_ABOVE = 10.0  # times whatever jumps there are around it
_AROUND = 0.25  # seconds on either side
_TELLING = 3  # frames around it that there have to be


def find(positions, fps):
    """The frames (N,) in which a motion of joints (F, J, 3) in metres, at `fps` frames a second, begins anew.

    A step is a jump by as much as it differs from the steps beside it, which for half the joints at least is far above
    all that the body does around it: a kick is no cut, nor is a landing, nor the noise of a capture.
    """
    if len(positions) < 3:
        return np.zeros(0, int)
    steps = np.diff(positions, axis=0)
    beside = np.concatenate([steps[1:2], steps, steps[-2:-1]])
    jumps = np.median(np.linalg.norm(steps - 0.5 * (beside[:-2] + beside[2:]), axis=-1), axis=-1)
    size = np.median(np.ptp(positions, axis=1).max(axis=-1))
    reach = max(int(round(_AROUND * fps)), _TELLING)
    out = []
    for at in np.flatnonzero(jumps > _FAR * size):
        first = max(at - reach, 0)
        near = jumps[first:at + reach + 1]
        beyond = np.abs(np.arange(first, first + len(near)) - at) > 1  # the steps beside a jump differ from it
        if beyond.sum() >= _TELLING and jumps[at] == near.max() and jumps[at] > _ABOVE * near[beyond].max():
            out.append(at + 1)
    return np.array(out, int)


def joints(motion, roles):
    """What cuts are looked for in: the world paths (F, J, 3) of a Motion's joints that have `roles` (role -> joint)."""
    return motion.positions[:, sorted(set(roles.values()))]


def shots(positions, fps):
    """The shots of a motion, joints as of `find`: slices of its frames, one after the other."""
    edges = [0, *find(positions, fps).tolist(), len(positions)]
    return [slice(first, last) for first, last in zip(edges[:-1], edges[1:])]
