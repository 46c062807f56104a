"""Signals of a take: smoothed, differentiated, and the threshold that their own histogram shows."""

from typing import NamedTuple

import numpy as np

from . import segments


class Threshold(NamedTuple):
    """A threshold between two humps of a signal, and the histogram that it stands on."""

    value: float  # metres
    clear: bool  # whether there is an empty zone between the humps at all
    zone: tuple  # (low, high) of that zone in metres
    edges: np.ndarray  # (B + 1,) of the histogram's bins in metres
    counts: np.ndarray  # (B,) frames


def smooth(values, fps, seconds):
    """A clip (F, ...) under a Gaussian of that standard deviation in seconds; its ends are held."""
    sigma = seconds * fps
    if sigma < 0.3 or len(values) < 2:
        return values
    reach = int(np.ceil(3.0 * sigma))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    kernel /= kernel.sum()
    padded = np.concatenate([np.repeat(values[:1], reach, axis=0), values, np.repeat(values[-1:], reach, axis=0)])
    out = np.zeros(values.shape)
    for weight, start in zip(kernel, range(len(kernel))):
        out += weight * padded[start:start + len(values)]
    return out


def velocity(values, fps):
    """Rate of change (F, ...) per second, by central differences."""
    return np.gradient(values, 1.0 / fps, axis=0) if len(values) > 1 else np.zeros_like(values)


def speed(path, fps):
    """How fast (F,) in m/s a path (F, N) in metres is gone."""
    return np.linalg.norm(velocity(path, fps), axis=-1)


def valley(values, low, high, bins=48):
    """The Threshold between what lies near `low` and what lies far, looked for from `low` to `high` metres.

    On a logarithmic scale, so that both humps are of like width. The zone is the longest stretch of bins nearly
    as empty as the emptiest, which may be empty by chance; it is clear where its emptiest stretch (a bin
    and its neighbours) holds less than a fifth of what the humps on both sides hold.
    """
    edges = np.geomspace(low / 4.0, max(high * 4.0, low), bins + 1)
    counts = np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0]
    level = np.convolve(counts, np.array([0.25, 0.5, 0.25]), "same")
    middle = np.sqrt(edges[1:] * edges[:-1])
    inside = (middle >= low) & (middle <= high)
    lowest = inside & (level <= level[inside].min() + 0.02 * max(level.max(), 1e-9))
    first, last = max(segments.runs(lowest).tolist(), key=lambda run: run[1] - run[0])
    best = first + int(np.argmin(level[first:last + 1]))
    near, far = level[:best].max(initial=0.0), level[best + 1:].max(initial=0.0)
    clear = bool(level[best] < 0.2 * min(near, far))
    return Threshold(float(np.sqrt(middle[first] * middle[last])), clear, (float(edges[first]), float(edges[last + 1])),
                     edges, counts)
