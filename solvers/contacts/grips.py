"""Hands on a prop: when a palm lies on its surface, from its distance over the clip."""

from typing import NamedTuple

import numpy as np

from . import segments, signals

_LOOKED = (0.012, 0.12)  # metres from the surface in which the threshold is looked for
FALLBACK = 0.025  # metres where the histogram shows no empty zone
_SHORTEST = 0.12  # seconds of a grip
_SETTLED = 0.08  # seconds that a palm must lie still on the surface to be surely there
_SURELY = 4.0  # times the median wander of a gripping palm: beyond it, it has let go
_STEADY = 10.0  # likewise: beyond it, it is on its way, however far away it is at other times
_FINEST = 0.0004  # metres; what lies nearer touches
_RISE = 0.012  # metres up to which the way off the surface tells when it began
_COMES = 0.1  # m/s at which a hand comes near or goes away
_REACH = 0.6  # metres from the surface within which it does


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


def find(distances, near, fps):
    """The Holds of each of S signed distances (F, S) from a surface: a list of S lists.

    A dynamic program tells holding from coming near, going away and being free: holding is cheap within `near` metres
    of the hold's own level, or nearer where it hardly wanders there, coming and going while the distance changes. The
    edges of a hold are then followed to where the palm leaves the surface.
    """
    levels, spreads = np.array([_level(distance, near) for distance in distances.T]).T
    away = np.abs(distances - levels)
    near = np.minimum(np.maximum(_STEADY * spreads, _LOOKED[0]), near)
    rate = np.abs(signals.velocity(signals.smooth(away, fps, 0.04), fps))
    hold = np.minimum(2.0 * (away / near) ** 2, 3.0)
    approach = np.where((rate > _COMES) & (away < _REACH), 0.6, 1.5)
    states = segments.states(hold, approach, fps)
    return [_holds(away[:, k], states[:, k], min(max(_SURELY * spreads[k], _FINEST), near[k]), fps)
            for k in range(distances.shape[1])]


def _level(distance, near):
    """(level, wander) in metres of a signed distance (F,) where it is near the surface."""
    held = distance[np.abs(distance) < near]
    if len(held) < 4:
        return 0.0, 0.0
    level = float(np.median(held))
    return level, float(np.median(np.abs(held - level)))


def _holds(away, states, low, fps):
    """The Holds in a sequence of states (F,) of a distance (F,) from the hold's level; `low` is still touch, metres."""
    settled = segments.long_enough(away <= low, max(2, int(round(_SETTLED * fps))))
    comes = states == segments.APPROACH
    out = []
    for first, last in segments.runs(states == segments.HOLD):
        sure = np.flatnonzero(settled[first:last + 1]) + first
        if not len(sure):
            continue
        begin, end = (segments.edge(away, int(inside), step, low, max(_RISE, 4.0 * low))
                      for inside, step in ((sure[0], -1), (sure[-1], 1)))
        begin, end = max(begin, 0.0), min(end, len(away) - 1.0)
        if end - begin + 1 >= _SHORTEST * fps:
            out.append(Hold(begin, end, _run(comes, first - 1, -1) + max(begin - first, 0.0),
                            _run(comes, last + 1, 1) + max(last - end, 0.0), float(np.median(away[first:last + 1]))))
    return out


def _run(mask, start, step):
    """How many frames of a mask (F,) follow one another from `start` on."""
    t = start
    while 0 <= t < len(mask) and mask[t]:
        t += step
    return abs(t - start)
