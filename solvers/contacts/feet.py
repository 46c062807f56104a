"""Plants: when heel and ball stand, on the floor and on whatever else carries the performer."""

import itertools
from typing import NamedTuple

import numpy as np

from .. import cuts
from ..anatomy import SIDES
from . import floor as floors
from . import performer, segments, signals

# all of a performer of the standard size (`performer.LEG`)
_STILL = (0.12, 0.5)  # m/s in which the threshold of the speed is looked for
_FALLBACK = 0.25  # m/s where its histogram shows no valley
_WITH_ROOT = 0.12  # and so much of the root's speed: what runs plants too, and less steadily
_SHORTEST = 0.06  # seconds of a plant
_GAP = 0.05  # seconds that a plant may be lost for
_AT_REST = 0.6  # of the limit of the speed: what stands is well below it, what swings, comes or goes passes all of it
_UNDER = 0.5  # of the time that soles are on a floor, in which they may be below it: a jump off a box
_STEP = 0.25  # metres from one support to the next: a step of a stair, the wander of a floor
_SUPPORT = 0.12  # seconds that a foot must carry the performer to stand elsewhere than on the floor
_STRIDE = 1.5  # seconds from one support to the next
_SETTLED = 0.15  # seconds into a plant by which the foot stands
_SURELY = 3.5  # times the wander of a standing point: beyond it, it has left
_DRIFT = 10.0  # likewise along the floor
_SEEN = 1.0  # seconds around a plant in which its edges are looked for
_LIES = {"heel": 75.0, "ball": 110.0}  # degrees by which a foot is tilted that lies on its heel, or on its ball alone
_FINEST = 0.0004  # metres; what lies nearer touches
_RISE = 0.016  # metres up to which the way off the floor tells when it began


class Sole(NamedTuple):
    """One part of a sole over the clip."""

    name: str  # "heel.L"
    path: np.ndarray  # (F, 3) metres
    speed: np.ndarray  # (F,) m/s
    down: np.ndarray  # (F,) bool
    spans: list  # (first, last) frames with fractions, of `down`'s runs


class Tread(NamedTuple):
    """The parts of the soles over the clip, before it is known what they stand on."""

    paths: dict  # "heel.L" -> (F, 3) metres
    speeds: dict  # "heel.L" -> (F,) m/s
    still: dict  # "heel.L" -> (F,) bool
    upright: dict  # "L" -> (F,) how much the underside of foot or toes faces down: 1 flat, 0 on edge, -1 upside down
    limit: np.ndarray  # (F,) m/s below which a part is still
    threshold: signals.Threshold  # m/s
    shots: list  # slices of the frames between the take's cuts, over which no foot stands


def tread(figure, motion, fps):
    """The Tread of the mapped feet, or None."""
    points = performer.feet(figure)
    if not points:
        return None
    paths = {name: performer.place(point, motion) for name, point in points.items()}
    shots = cuts.shots(cuts.joints(motion, figure.roles), fps)
    root = _speed(motion.positions[:, figure.roles["hips"]], fps, 0.1, shots)
    speeds = {name: _speed(path, fps, 0.01, shots) for name, path in paths.items()}
    threshold = signals.valley(np.concatenate(list(speeds.values())), *_STILL)
    limit = (threshold.value if threshold.clear else _FALLBACK) + _WITH_ROOT * root
    upright = {side: np.max([performer.upright(figure, motion, point.joint) for name, point in points.items()
                             if name[-1] == side], axis=0) for side in SIDES if f"heel.{side}" in points}
    still = {name: np.concatenate([_still(speed[shot], limit[shot], fps) for shot in shots])
             & (upright[name[-1]] > _tilted("ball")) for name, speed in speeds.items()}
    return Tread(paths, speeds, still, upright, limit, threshold, shots)


def _speed(path, fps, seconds, shots):
    """How fast (F,) in m/s a path (F, 3) is gone, smoothed over that time, in each of the shots by itself."""
    return np.concatenate([signals.speed(signals.smooth(path[shot], fps, seconds), fps) for shot in shots])


def _tilted(part):
    """How much a foot still faces down by which it lies on its heel, or on its ball alone; toes are often not captured,
    so that foot or toes have to be upright."""
    return np.cos(np.radians(_LIES[part]))


def floor_of(trodden, body, fps):
    """The height in metres of the floor that soles stand on, or None where they never stand.

    A part of a sole that stands is still, and not upside down. Still feet in the air are told from standing ones by
    what they carry: the floor is where most still parts are low, and the performer, floor.Parts, is not below it.
    """
    height = _level(trodden.paths, trodden.still)
    return height if height is not None and _carries(height, trodden, body, fps) else None


def soles(trodden, body, floor, fps):
    """Soles that stand on a floor, height in metres, or on something else.

    Elsewhere than on the floor a foot stands that is the lowest of her, floor.Parts, for a while, within a step of
    where she stood before or will stand after.
    """
    downs = _standing(trodden, floors.lowest(body), floor, fps)
    wander = _wander(trodden, downs)
    return [Sole(name, path, trodden.speeds[name], downs[name],
                 [_edges(path, shot, *_slow(trodden, name, first, last), wander, fps)
                  for shot, first, last in _runs(downs[name], trodden.shots)])
            for name, path in trodden.paths.items()]


def _slow(trodden, name, first, last):
    """(first, last) of a still run without what it slows down and speeds up in: there it stands at the most."""
    slow = np.flatnonzero(trodden.speeds[name][first:last + 1] < _AT_REST * trodden.limit[first:last + 1])
    return (first + int(slow[0]), first + int(slow[-1])) if len(slow) else (first, last)


def _runs(mask, shots):
    """(shot, first, last) of the runs of a mask (F,), each within one of the shots."""
    return [(shot, shot.start + first, shot.start + last)
            for shot in shots for first, last in segments.runs(mask[shot]).tolist()]


def untrodden(trodden):
    """Soles that stand nowhere."""
    none = np.zeros(len(trodden.limit), bool)
    return [Sole(name, path, trodden.speeds[name], none, [])
            for name, path in trodden.paths.items()]


def _still(speed, limit, fps):
    """When a part of a sole is still, a mask (F,)."""
    mask = segments.closed(segments.hysteresis(speed < limit, speed < 1.3 * limit), int(_GAP * fps))
    return segments.long_enough(mask, max(2, int(round(_SHORTEST * fps))))


def _level(paths, still):
    """The lowest height that many still frames share, or None where hardly any part is ever still."""
    pooled = np.concatenate([path[still[name], 2] for name, path in paths.items()])
    if len(pooled) < max(4, 0.02 * len(paths) * len(next(iter(paths.values())))):
        return None
    return floors.level(pooled)


def _carries(height, trodden, body, fps):
    """Whether a height is a floor at all: soles rest at it, and neither they nor the performer are below it for long.

    The feet of one who hangs are slow for moments, too, at one height or another; those of one who lies rest
    in the air.
    """
    on = {name: trodden.still[name] & (np.abs(path[:, 2] - height) < floors.NEAR)
          for name, path in trodden.paths.items()}
    below = np.any([path[:, 2] < height - floors.NEAR for path in trodden.paths.values()], axis=0)
    resting = np.concatenate([(trodden.speeds[name] / trodden.limit)[mask] for name, mask in on.items()])
    stood = np.any(list(on.values()), axis=0)
    return (below.sum() < _UNDER * stood.sum() and np.median(resting) < _AT_REST
            and floors.is_lowest(body, height, stood)
            and not floors.slides(trodden.paths.values(), np.stack(list(on.values())), fps))


def _standing(trodden, lowest, floor, fps):
    """Of the still runs those in which the part stands: name -> mask (F,)."""
    waiting = []
    downs = {name: np.zeros(len(lowest), bool) for name in trodden.paths}
    stood = []  # (first, last, height)

    def stand(name, first, last, height):
        downs[name][first:last + 1] = True
        stood.append((first, last, height))

    for name, path in trodden.paths.items():
        for _, first, last in _runs(trodden.still[name], trodden.shots):
            rows = slice(first, last + 1)
            height = float(np.median(path[rows, 2]))
            if abs(height - floor) < floors.NEAR:
                stand(name, first, last, height)
            else:
                carries = int(np.sum(path[rows, 2] < lowest[rows] + floors.NEAR))
                if carries >= _SUPPORT * fps:
                    waiting.append((name, first, last, height))
    grown = True
    while grown:
        grown = False
        for run in list(waiting):
            _, first, last, height = run
            if any(first - b < _STRIDE * fps and a - last < _STRIDE * fps and abs(height - h) < _STEP
                   for a, b, h in stood):
                waiting.remove(run)
                stand(*run)
                grown = True
    return downs


def _wander(trodden, downs):
    """(along the floor, over it): how far in metres points that stand wander about their place, three times in four."""
    flat, high = [np.zeros(1)], [np.zeros(1)]
    for name, path in trodden.paths.items():
        for _, first, last in _runs(downs[name], trodden.shots):
            off = path[first:last + 1] - np.median(path[first:last + 1], axis=0)
            flat.append(np.linalg.norm(off[:, :2], axis=-1))
            high.append(np.abs(off[:, 2]))
    return float(np.percentile(np.concatenate(flat), 75.0)), float(np.percentile(np.concatenate(high), 75.0))


def _edges(path, shot, first, last, wander, fps):
    """(first, last) of a plant as frames with fractions: where the part leaves the place at which it stands.

    The place is taken beside each edge, because a foot may shift its stand in the course of a long plant. It stands no
    longer than it is slow, from `first` to `last`: what moves on along the floor slides.
    """
    out = []
    low = max(_SURELY * wander[1], _FINEST)
    begin = max(first - int(_SEEN * fps), shot.start)  # what lies further away cannot matter, and would cost
    seen, first, last = path[begin:min(last + int(_SEEN * fps) + 1, shot.stop)], first - begin, last - begin
    for step in (-1, 1):
        reach = min(int(round(_SETTLED * fps)), (last - first) // 2)
        inside = first + reach if step < 0 else last - reach
        off = seen - np.median(seen[max(first, inside - reach // 2):min(last, inside + reach // 2) + 1], axis=0)
        drift = np.linalg.norm(off[:, :2], axis=-1)
        away = np.abs(off[:, 2]) + np.maximum(drift - _DRIFT * wander[0], 0.0)
        at = segments.edge(away, inside, step, low, max(_RISE, 4.0 * low))
        out.append(begin + min(max(at, float(first)), float(last)))
    if out[0] >= out[1]:  # too short a touch to have an inside
        return float(begin + first), float(begin + last)
    return tuple(out)


def plants(found, shots):
    """(side, first, last, parts) of every foot's plants: from the first touch of any part of its sole to the last.

    `parts` are ("heel" or "ball", first, last); frames are counted with fractions, all within one of the shots.
    """
    out = []
    for side, shot in itertools.product(SIDES, shots):
        parts = sorted((a, b, sole.name.split(".")[0]) for sole in found if sole.name.endswith(side)
                       for a, b in sole.spans if shot.start <= a < shot.stop)
        group = []
        for first, last, part in parts:
            if group and first > max(row[1] for row in group) + 1.0:
                out.append(_plant(side, group))
                group = []
            group.append((first, last, part))
        if group:
            out.append(_plant(side, group))
    return out


def lies(trodden, side, parts, rows):
    """Whether a foot does not stand on its sole in a plant, but lies on the back of its heel or on its instep.

    `parts` as of `plants`, `rows` its frames.
    """
    heel = any(name == "heel" for name, *_ in parts)
    return float(np.median(trodden.upright[side][rows])) < _tilted("heel" if heel else "ball")


def _plant(side, group):
    return (side, min(row[0] for row in group), max(row[1] for row in group),
            [(part, first, last) for first, last, part in group])
