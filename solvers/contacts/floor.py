"""The floor: the lowest level that carries the performer, whatever she rests on it with."""

from typing import NamedTuple

import numpy as np

from . import performer, segments, signals, touch

# all of a performer of the standard size (`performer.LEG`)
NEAR = 0.04  # metres within which what rests on the floor lies
_SKIN = 0.06  # metres by which a capsule's thickness may be wrong
_FULL = 0.1  # of the frames at the fullest level, that the floor holds at least
_STEADY = (0.05, 0.12)  # m/s up or down, seconds: what swings or flies is slow upwards for moments only
_CARRIED = 0.2  # of the frames, in which something has to rest on the floor
_UNDER = 0.33  # of those, as many frames in which the performer may be below it
_GROUNDED = 5.0  # percent of the frames in which the lowest of her comes down to a file's ground
_AWAY = 0.12  # metres along the floor from its beginning to its end, of what stands at most, be it ever so slow
_CREEPS = 0.15  # m/s from its beginning to its end
_SLIDES = 0.5  # of the frames on the floor in which at least something that carries her does not go on
_PINNED = (0.005, 0.1)  # metres that hips stay within which never move, while the lowest of the body goes further
_UP = np.array([0.0, 0.0, 1.0])
_LIMBS = ("thigh", "shin", "upper_arm", "forearm")


class Part(NamedTuple):
    """A place on the underside of the performer."""

    name: str  # "heel.L", "palm.R", or a capsule's name
    path: np.ndarray  # (F, 3) metres: the lowest of the skin there


class Found(NamedTuple):
    """A floor that no standing sole tells."""

    height: float  # metres
    share: float  # of the frames, in which something rests on it; 0 where it is the file's ground
    off: float  # metres: what rests on it lies within, three times in four
    slides: bool  # whether what carries the performer slides, as on a treadmill


def parts(figure, motion):
    """The Parts of a performer: soles, palms, and her capsules.

    A limb's capsule counts with its beginning and its middle: what is at its end belongs to the next part.
    """
    out = [Part(name, performer.place(point, motion)) for name, point in performer.feet(figure).items()]
    out += [Part(f"palm.{side}", performer.place(palm, motion)) for side, palm in performer.palms(figure).items()]
    for capsule in touch.capsules(figure):
        ends = [capsule.a, 0.5 * (capsule.a + capsule.b) if capsule.name.split(".")[0] in _LIMBS else capsule.b]
        for end in ends if np.ptp(ends, axis=0).any() else ends[:1]:
            path = performer.place(performer.Point(capsule.joint, end), motion)
            out.append(Part(capsule.name, path - [0.0, 0.0, capsule.radius]))
    return out


def level(heights):
    """The lowest height that many of `heights` (N,) share.

    What swings is at rest for a moment, too: a floor holds at least a tenth of what the fullest level does.
    """
    size = 0.01
    bins = np.arange(heights.min() - 2.0 * size, heights.max() + 3.0 * size, size)
    counts = np.convolve(np.histogram(heights, bins)[0], np.ones(3), "same")
    first = bins[np.flatnonzero(counts >= _FULL * counts.max())[0]] + size
    return float(np.median(heights[np.abs(heights - first) < NEAR]))


def is_lowest(body, height, on):
    """Whether a level on which a performer stands in the frames `on` (F,) has her, Parts, above it for the most part:
    feet that she holds up while she lies are still, too."""
    return np.sum(lowest(body) < height - NEAR - _SKIN) < 0.5 * on.sum()


def slides(paths, on, fps, creeps=np.inf):
    """Whether what is on the floor, paths (P, F, 3) in the frames `on` (P, F), goes on along it for the most part: the
    feet of one who walks in place. `creeps` is the speed in m/s at which also a short touch does."""
    stays = np.zeros(on.shape, bool)
    for path, mask, kept in zip(paths, on, stays):
        for first, last in segments.runs(mask):
            off = np.linalg.norm((path[last] - path[first])[:2])
            kept[first:last + 1] = off < _AWAY and off * fps < creeps * max(last - first, 1)
    return bool(stays.any(axis=0).sum() < _SLIDES * on.any(axis=0).sum())


def find(figure, body, hips, fps):
    """The floor of a performer whose soles tell none, as Found, or None.

    `body` are her Parts, `hips` (F, 3) her hips' path. The floor is the lowest level at which what is the lowest of her
    neither rises nor falls for a while, be it still or sliding. The ground of the file at the height zero is taken for
    it where her rest stands there and she comes down to it.
    """
    found, ground = _resting(body, hips, fps), _ground(figure)
    if ground is None:
        return found
    if found is not None and abs(found.height - ground) < _SKIN:
        return found._replace(height=ground)  # soles at rest are known better than the thickness of what lies
    low = lowest(body)
    off = float(abs(np.percentile(low, _GROUNDED) - ground))
    return Found(ground, 0.0, off, True) if off < _SKIN and low.min() > ground - 2.0 * _SKIN else found


def is_pinned(body, hips):
    """Whether hips (F, 3) never move although the lowest of the Parts does: a take whose way was left out."""
    still, moves = _PINNED
    return bool(np.ptp(hips, axis=0).max() < still and np.ptp(np.percentile(lowest(body), (5.0, 95.0))) > moves)


def put_down(figure, motion):
    """The world Motion of a performer whose way up and down was left out, raised and sunk from frame to frame for the
    lowest of her to rest at one height: the ground of the file where her rest stands there."""
    low, ground = lowest(parts(figure, motion)), _ground(figure)
    height = float(np.median(low)) if ground is None else ground
    return motion._replace(positions=motion.positions + np.multiply.outer(height - low, _UP)[:, None])


def lowest(body):
    """Height (F,) in metres of the lowest of a performer, Parts."""
    return np.min([part.path[:, 2] for part in body], axis=0)


def _ground(figure):
    """The height of the rest's soles where these stand about the height zero, else None."""
    height = min(float(performer.place(point, figure.rest)[0, 2]) for point in performer.feet(figure).values())
    return height if abs(height) < _SKIN else None


def _resting(body, hips, fps):
    """The Found level on which Parts rest, or None."""
    if is_pinned(body, hips):
        return None
    heights, low = np.stack([part.path[:, 2] for part in body]), lowest(body)
    bearing = np.stack([_steady(height, fps) for height in heights]) & (heights < low + NEAR)
    if not bearing.any():
        return None
    height = level(heights[bearing])
    on = bearing & (np.abs(heights - height) < NEAR)
    carried = on.any(axis=0)
    if carried.mean() < _CARRIED or np.sum(low < height - NEAR) > _UNDER * carried.sum():
        return None
    return Found(height, float(carried.mean()), float(np.percentile(np.abs(heights[on] - height), 75.0)),
                 slides([part.path for part in body], on, fps, _CREEPS))


def _steady(height, fps):
    """When a height (F,) neither rises nor falls for a while, a mask (F,)."""
    speed, shortest = _STEADY
    rise = np.abs(signals.velocity(signals.smooth(height, fps, 0.02), fps))
    return segments.long_enough(segments.hysteresis(rise < speed, rise < 1.3 * speed),
                                max(2, int(round(shortest * fps))))
