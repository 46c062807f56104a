"""Corrections that turn over: a joint is pushed to one side and at once to the other, which the eye sees as a jump."""

import numpy as np

from .contacts.segments import runs

LENGTH = 0.03  # metres that a correction has on either side
_FRAMES = 10  # within which it turns over


def find(corrections, shots=None):
    """The turnovers in corrections (F, 3) of one joint, metres: (first, last) frames, (N, 2).

    A correction turns over where it is longer than 3 cm at two frames no more than 10 apart, and its directions lie
    more than 90 degrees apart. In a take that is cut, each of its `shots` (slices of the frames) counts by itself.
    """
    if shots is None:
        return _in_shot(corrections)
    return np.concatenate([shot.start + _in_shot(corrections[shot]) for shot in shots])


def _in_shot(corrections):
    """The turnovers, as of `find`, where nothing is cut."""
    long = np.linalg.norm(corrections, axis=-1) > LENGTH
    over = np.zeros(len(corrections), bool)
    for step in range(1, min(_FRAMES, len(corrections) - 1) + 1):
        against = np.sum(corrections[:-step] * corrections[step:], axis=-1) < 0.0
        at = np.flatnonzero(against & long[:-step] & long[step:])
        for k in range(step + 1):
            over[at + k] = True
    return runs(over)
