"""Intervals of a clip: found by a dynamic program over free, approach and hold, their edges by the rise behind them."""

import numpy as np

FREE, APPROACH, HOLD = range(3)
_STRAIGHT = 0.01  # steps; what lies off a line by less is straight
_CHANGE = np.array([[0.0, 0.02, 0.4],  # seconds that a change is worth, from a state (row) to another (column): a
                    [0.02, 0.0, 0.05],  # hold begins by coming near and ends by going away, and does neither at a whim
                    [0.4, 0.05, 0.0]])


def states(hold, approach, fps):
    """The cheapest sequence of states (F, S) of S signals at once.

    `hold` and `approach` (F, S) say what it costs to call a frame so; to call it free costs one. Viterbi's algorithm.
    """
    frames, count = hold.shape
    change = _CHANGE * fps
    total = np.stack([np.ones(count), approach[0], hold[0]], axis=-1)
    back = np.empty((frames, count, 3), np.int8)
    cost = np.stack([np.ones(hold.shape), approach, hold], axis=-1)
    for t in range(1, frames):
        ways = total[:, :, None] + change
        back[t] = ways.argmin(axis=1)
        total = ways.min(axis=1) + cost[t]
    out = np.empty((frames, count), np.int8)
    out[-1] = total.argmin(axis=1)
    for t in range(frames - 1, 0, -1):
        out[t - 1] = back[t, np.arange(count), out[t]]
    return out


def runs(mask):
    """First and last frames (N, 2) of the unbroken runs of a mask (F,)."""
    edges = np.diff(np.concatenate([[0], np.asarray(mask, np.int8), [0]]))
    return np.stack([np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1], axis=-1)


def hysteresis(inner, outer):
    """The runs of the mask `outer` (F,) that `inner` is true in somewhere, as a mask."""
    out = np.zeros(len(outer), bool)
    for first, last in runs(outer):
        out[first:last + 1] = inner[first:last + 1].any()
    return out


def closed(mask, gap):
    """The mask with gaps of at most `gap` frames filled; gaps at its ends stay."""
    out = np.array(mask, bool)
    for first, last in runs(~out):
        if first > 0 and last < len(out) - 1 and last - first + 1 <= gap:
            out[first:last + 1] = True
    return out


def long_enough(mask, frames):
    """The mask without runs shorter than `frames`."""
    out = np.array(mask, bool)
    for first, last in runs(out):
        if last - first + 1 < frames:
            out[first:last + 1] = False
    return out


def edge(distance, inside, step, low, high):
    """Where a hold ends, as a frame number with a fraction, from how the distance rises behind it.

    `distance` (F,) from the level of the hold, `inside` a frame surely in it, `step` +1 to look for its end and -1 for
    its start. What leaves a surface leaves it with an even acceleration or, where a limb is led, with one that grows
    evenly: the square or the cube root of the distance rises in a straight line. Both are fitted from `low` (over the
    noise) to `high` and followed down to zero, and the straighter one counts the more; where both are straight, as
    through two points, the limb is led. Without a rise it is the last frame within `low`.
    """
    last = len(distance) - 1
    t = inside
    while 0 <= t + step <= last and distance[t + step] <= low:
        t += step
    rise = []
    u = t + step
    while 0 <= u <= last and (distance[u] < high or len(rise) < 2) and (not rise or distance[u] > rise[-1]):
        rise.append(distance[u])
        u += step
    if len(rise) < 2:
        return float(t)
    (cubic, off), (square, less) = _line(np.cbrt(rise)), _line(np.sqrt(rise))
    share = off ** 2 / (off ** 2 + less ** 2 + _STRAIGHT ** 2)
    begins = share * square + (1.0 - share) * cubic
    return t + step * float(np.clip(begins, -len(rise), 1.0))


def _line(values):
    """(where the line through rising values at 1, 2, ... is zero, how far they lie off it, both in steps)."""
    at = np.arange(1.0, len(values) + 1.0)
    slope, start = np.polyfit(at, values, 1)
    return -start / slope, float(np.abs((values - start) / slope - at).mean())


def way(distance, start, step, limit):
    """Frames of coming near before (step -1) or going away after (step +1) a frame: as long as the distance grows."""
    t = start
    while 0 <= t + step < len(distance) and abs(t + step - start) <= limit and distance[t + step] >= distance[t] - 1e-4:
        t += step
    return float(abs(t - start))
