"""Corrections that are asked for in some frames only: how they come before and go after them.

Nothing needs to be causal, for the whole clip is known. A necessity is never blurred, or its peak would sink under what
is needed: it is widened first.
"""

import numpy as np

from .. import rotation
from ..contacts.segments import runs

_TURNS = 60  # of blurring and drawing back
_MOST = 0.75  # of the play, that is used before what is drawn back is rounded off
_HARD = 99.0  # percentile of a path's accelerations that is no jerk of it
_HARDLY = 0.02  # of an acceleration, by which it may be harder
_NONE = 1e-6  # metres a frame and frame: an acceleration that is none
_PARTS = 0.5 ** np.arange(4.0, -0.5, -0.5)  # of a fade, in which a correction may stop going on
_SLOPE = 10  # parts of a fade, of which the first tells how fast a correction changes


def smoothstep(part):
    """From 0 to 1 with speed and acceleration zero at both ends (Perlin 2002)."""
    part = np.clip(part, 0.0, 1.0)
    return part ** 3 * (10.0 - part * (15.0 - 6.0 * part))


def spread(values, held, coming, going, goes_on=1.0):
    """Corrections (F, C) that are `values` where `held` (F,), and between come and go smoothly.

    `coming` and `going` (F,) are frames that the change takes before and after a held run, read at its ends. In a gap
    that is shorter both ways share it, so that each is over where the next run begins. A correction that changes at the
    end of its run goes on changing for a part `goes_on` of its fade, one for all or (F,) read at the ends, so that
    nothing jerks there.
    Before the first run and after the last nothing is in the way, and the clip may begin or end amid a change.
    """
    out = np.where(held[:, None], values, 0.0)
    goes_on = np.broadcast_to(goes_on, len(held))
    for rows, edge, reach, slope in _fades(values, held, coming, going):
        out[rows] += _fade(rows - edge, reach, goes_on[edge], values[edge], slope)
    return out


def brakes(path, values, held, coming, going):
    """For what part (F,) of its fade a correction has to go on changing, as `spread` takes it.

    What goes on for long is carried far off, and what stops at once jerks. So it stops as soon as `path` (F, C), which
    the correction (F, C) is added to, has no harder acceleration there than by itself, or than it has anywhere but in
    its hardest moments; where it has however soon it stops, as soon as that is hardly harder than it must be.
    """
    out = np.ones(len(held))
    if len(path) < 3:
        return out
    own = rotation.norm(np.diff(path, 2, axis=0))
    most = np.maximum(np.maximum(own, np.percentile(own, _HARD)), _NONE)
    for rows, edge, reach, slope in _fades(values, held, coming, going):
        inward = 1 if rows[0] < edge else -1
        harder = []
        for part in _PARTS:
            # from within its run on to where it has stopped: what comes then is the same however soon that is
            at = np.append(rows[np.abs(rows - edge) <= part * reach + 1.0], edge + inward * np.arange(2))
            at = np.sort(at[(at >= 0) & (at < len(held))])
            added = np.where(held[at, None], values[at], _fade(at - edge, reach, part, values[edge], slope))
            harder.append((rotation.norm(np.diff(path[at] + added, 2, axis=0)) / most[at[:-2]]).max(initial=0.0))
        enough = 1.0 if min(harder) <= 1.0 else min(harder) + _HARDLY
        out[edge] = _PARTS[np.flatnonzero(np.array(harder) <= enough)[0]]
    return out


def _fades(values, held, coming, going):
    """What comes and goes beside each held run: (frames (N,), the held frame next to them, how many frames the change
    takes, by how much (C,) the values change a frame there)."""
    slopes = {edge: _slope(values, first, last, edge, long[edge])
              for first, last in runs(held) for edge, long in ((first, coming), (last, going))}
    for first, last in runs(~held):
        room = last - first + 2.0 if first > 0 and last < len(held) - 1 else np.inf  # a clip's ends are no run's
        for edge, long in ((first - 1, going), (last + 1, coming)):
            if 0 <= edge < len(held):
                reach = max(min(float(long[edge]), room), 1.0)
                yield np.arange(first, last + 1), edge, reach, slopes[edge]


def _fade(away, reach, goes_on, value, slope):
    """A correction (N, C) at frames `away` (N,) from the end of its run, where it is `value` (C,), and changes."""
    far = np.abs(away)
    on = away * np.maximum(1.0 - far / (goes_on * reach), 0.0) ** 2
    return (1.0 - smoothstep(far / reach))[:, None] * (value + on[:, None] * slope)


def _slope(values, first, last, edge, long):
    """By how much (C,) values change a frame at an end of their run: the slope there of the parabola that fits the
    frames beside it best, so many as are a small part of the time they fade in (Savitzky and Golay 1964)."""
    span = min(max(int(long / _SLOPE), 4), last - first)
    if span < 1:
        return np.zeros(values.shape[1])
    step = np.arange(span + 1.0)
    rows = edge + (step if edge == first else -step).astype(int)
    slope = np.linalg.pinv(step[:, None] ** np.arange(min(span, 2) + 1))[1] @ values[rows]
    return slope if edge == first else -slope


def widened(need, frames):
    """The largest of a necessity (F,) within `frames` before and after each frame."""
    out = np.array(need, float)
    step, left = 1, int(frames)
    while left > 0:  # doubling windows: as many steps as the window has binary digits
        step = min(step, left)
        padded = np.concatenate([out[:1].repeat(step), out, out[-1:].repeat(step)])
        out = np.maximum(np.maximum(padded[:-2 * step], out), padded[2 * step:])
        left -= step
        step *= 2
    return out


def above(need, frames):
    """The smoothest simple curve (F,) that is nowhere under a necessity (F,): widened, then blurred within that width.

    It rises from zero, and is back at it, twice `frames` away from what is needed.
    """
    half = max(int(frames) // 2, 1)
    wide = widened(need, 2 * half)
    kernel = 1.0 - smoothstep(np.abs(np.arange(-half, half + 1)) / (half + 1.0))
    kernel = np.convolve(kernel, kernel)  # as wide as the widening
    padded = np.concatenate([wide[:1].repeat(2 * half), wide, wide[-1:].repeat(2 * half)])
    return np.maximum(np.convolve(padded, kernel / kernel.sum(), mode="valid"), need)


def slackened(values, play, frames):
    """The laziest curve (F,) that stays within `play` of a given one: as friction holds what is led with some slack.

    Blurred and drawn back into most of the band in turns, and blurred once more, for where it is drawn back it has
    kinks; where the given one stays within the band, it does not move at all.
    """
    if len(values) < 3 or np.ptp(values) <= 2.0 * play:
        return np.full(len(values), 0.5 * (values.min() + values.max()))
    reach = min(max(int(frames), 1), len(values) - 1)
    kernel = 1.0 - smoothstep(np.abs(np.arange(-reach, reach + 1)) / (reach + 1.0))
    kernel /= kernel.sum()

    def blurred(curve):
        ends = 2.0 * curve[0] - curve[reach:0:-1], 2.0 * curve[-1] - curve[-2:-reach - 2:-1]  # goes on as it comes
        return np.convolve(np.concatenate([ends[0], curve, ends[1]]), kernel, mode="valid")

    out = np.array(values, float)
    for _ in range(_TURNS):
        out = np.clip(blurred(out), values - _MOST * play, values + _MOST * play)
    slack = (blurred(out) - values) / play
    return values + play * slack / (1.0 + slack ** 8) ** 0.125  # no more than the play, and no kink at its end
