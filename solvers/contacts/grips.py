"""Hands on a prop: when a palm lies on its surface, from the histogram of its distance."""

from typing import NamedTuple

import numpy as np

from . import segments, signals

_LOOKED = (0.012, 0.12)  # metres from the surface in which the threshold is looked for
FALLBACK = 0.025  # metres where the histogram shows no empty zone
_SHORTEST = 0.12  # seconds of a grip
_GAP = 0.05  # seconds that a grip may be lost for
_SETTLED = 0.08  # seconds that a palm must lie still on the surface to be surely there
_SURELY = 4.0  # times the median wander of a gripping palm: beyond it, it has let go
_FINEST = 0.0004  # metres; what lies nearer touches
_RISE = 0.012  # metres up to which the way off the surface tells when it began
_APPROACH = 1.5  # seconds of coming near or going away at most


class Hold(NamedTuple):
    """One interval of touch; frames with fractions."""

    first: float
    last: float
    approach: float  # frames
    release: float
    off: float  # metres, median distance from the hold's level: what the confidence stands on


def threshold(distances):
    """The Threshold of the distances from a surface (any shape), metres."""
    return signals.valley(np.maximum(np.concatenate([np.ravel(d) for d in distances]), 1e-4), *_LOOKED)


def wander(distance, near):
    """(level, wander) in metres of a signed distance (F,) where it is within `near` of the surface for long."""
    held = distance[np.abs(distance) < near]
    if len(held) < 4:
        return 0.0, 0.0
    level = float(np.median(held))
    return level, float(np.median(np.abs(held - level)))


def find(distance, near, fps, level=0.0, spread=0.0, shortest=_SHORTEST):
    """The Holds of a signed distance (F,) from a surface that come within `near` metres of `level`.

    `level` and `spread` are as `wander` tells.
    """
    away = np.abs(distance - level)
    low = min(max(_SURELY * spread, _FINEST), near)
    close = segments.closed(away < near, int(_GAP * fps))
    settled = segments.long_enough(away <= low, max(2, int(round(_SETTLED * fps))))
    eased = signals.smooth(away, fps, 0.04)
    limit = int(_APPROACH * fps)
    out = []
    for first, last in segments.runs(segments.hysteresis(settled, close)):
        sure = np.flatnonzero(settled[first:last + 1]) + first
        begin, end = (segments.edge(away, int(inside), step, low, max(_RISE, 4.0 * low))
                      for inside, step in ((sure[0], -1), (sure[-1], 1)))
        begin, end = max(begin, 0.0), min(end, len(away) - 1.0)
        if end - begin + 1 >= shortest * fps:
            out.append(Hold(begin, end, segments.way(eased, int(round(begin)), -1, limit),
                            segments.way(eased, int(round(end)), 1, limit), float(np.median(away[first:last + 1]))))
    return out
