"""Finding a pole that nobody told of: where hands hold still while the body moves, on one upright line."""

from typing import NamedTuple

import numpy as np

from .. import rotation
from ..skeleton import Motion
from . import performer, segments, signals, touch

# all of a performer of the standard size (`performer.LEG`)
_STILL = 0.12  # m/s that a holding palm may move at
_MOVES = 0.15  # m/s that the hips move at while it holds: what stands still altogether tells nothing
_MOVED = 0.06  # metres that they move by at least
_SHORTEST = 0.2  # seconds of a hold
_LEAN = np.radians(25.0)  # off the vertical, at most: a pole stands
_LEANS = np.radians(5.0)  # and commonly no more than this: it decides where the holds do not
_NEAR = 0.08  # metres from the line within which a hold is on it
_RADIUS = (0.0225, 0.003)  # metres, of poles as they are made (38 to 50 mm), and how sure that is
_PALM = 0.015  # metres by which the palm's place along its hand and across may be off
_THICK = 0.005  # and out of it: hands differ less in thickness than in where they lie on what they hold
_RESIDUAL = 0.015  # metres: a line that hands hold worse than so is none
_SPREAD = 0.25  # metres along the line that its holds cover at least
_TIME = 0.7  # seconds that it is held for at least, by both hands together
_OTHERS = 0.35  # of the time that hands hold anything still, off the line: with more, it is one of several things
_INDEPENDENT = 40.0  # samples that all frames together count for: neighbours tell the same, and noise wanders slowly
_TRIED = 40  # of the longest holds, to draw lines through: a pole that is there is among them
_TURNS = 8  # of the refinement, which settles in three or four


class Holds(NamedTuple):
    """Frames in which a palm is still in the world while the body moves."""

    side: str
    runs: np.ndarray  # (N, 2) first and last frames
    places: np.ndarray  # (N, 3) metres, their medians


class Pole(NamedTuple):
    """An upright cylinder, and the palms' places that its grips have shown."""

    point: np.ndarray  # (3,) on the axis, at the middle of what is held
    axis: np.ndarray  # (3,) unit, upwards
    radius: float
    palms: dict  # side -> performer.Palm
    residual: float  # metres, median of the palms' distances from the surface
    samples: int  # frames that it stands on
    spread: float  # metres along the axis
    doubt: float = 0.0  # radians, standard deviation of the lean as the palms tell it


def holds(palms, motion, hips, fps):
    """The Holds of every hand; `palms` are performer.Palms by side, `hips` (F, 3) their path.

    Hands that hold each other tell of no place.
    """
    body = signals.speed(signals.smooth(hips, fps, 0.05), fps)
    paths = {side: performer.place(palm, motion) for side, palm in palms.items()}
    apart = np.linalg.norm(paths["L"] - paths["R"], axis=-1) > touch.CLASP if len(paths) == 2 else True
    out = []
    for side, path in paths.items():
        slow = (signals.speed(signals.smooth(path, fps, 0.03), fps) < _STILL) & apart
        moved = segments.closed(slow & (body > _MOVES), int(0.1 * fps))
        mask = segments.long_enough(segments.hysteresis(moved, slow), int(_SHORTEST * fps))
        runs = [(a, b) for a, b in segments.runs(mask) if np.ptp(hips[a:b + 1], axis=0).max() > _MOVED]
        places = np.array([np.median(path[a:b + 1], axis=0) for a, b in runs]).reshape(-1, 3)
        out.append(Holds(side, np.array(runs, int).reshape(-1, 2), places))
    return out


def distance(pole, path):
    """Distances (F,) of a path (F, 3) from a Pole's axis."""
    off = path - pole.point
    return np.linalg.norm(off - (off @ pole.axis)[:, None] * pole.axis, axis=-1)


def find(palms, motion, hips, fps):
    """(Pole or None, what was found or missing in a sentence) of a take."""
    found = holds(palms, motion, hips, fps)
    points = np.concatenate([h.places for h in found]) if found else np.empty((0, 3))
    weights = np.concatenate([h.runs[:, 1] - h.runs[:, 0] + 1 for h in found]) if found else np.empty(0)
    sides = np.concatenate([[h.side] * len(h.runs) for h in found]) if found else np.empty(0, str)
    if len(points) < 2:
        return None, "no pole: the hands are never still while the body moves"
    line = _densest_line(points, weights, sides, len(palms))
    if line is None:
        return None, "no pole: what the hands hold still at does not lie on one upright line that both hold"
    pole = Pole(*line, _RADIUS[0], dict(palms), np.inf, 0, 0.0)
    frames = np.zeros((len(palms), len(hips)), bool)
    for k, hold in enumerate(found):
        for (first, last), place in zip(hold.runs, hold.places):
            if distance(pole, place[None])[0] < _NEAR:
                frames[k, first:last + 1] = True
    for turn in range(_TURNS):
        pole = _fitted(pole, palms, motion, frames)
        if turn >= 1:  # first on what surely holds, then on all that lies on the surface and stays there
            frames = _on_surface(pole, motion, fps)
            if frames.sum() < _SHORTEST * fps:
                return None, "no pole: no hand stays on the line that was found"
    held = frames.sum(axis=1) / fps
    times = [(last - first + 1, distance(pole, place[None])[0] > _NEAR) for hold in found
             for (first, last), place in zip(hold.runs, hold.places)]
    others = sum(time for time, off in times if off) / sum(time for time, _ in times)
    lean = np.degrees(np.arccos(np.clip(pole.axis[2], -1.0, 1.0)))
    for wrong, told in ((pole.residual > _RESIDUAL, f"the hands miss it by {1000 * pole.residual:.0f} mm"),
                        (pole.spread < _SPREAD, f"it is held over {100 * pole.spread:.0f} cm only"),
                        (held.sum() < _TIME, f"it is held for {held.sum():.1f} s only"),
                        (others > _OTHERS, f"{100 * others:.0f} % of what the hands hold lies elsewhere"),
                        (lean > np.degrees(_LEAN), f"it leans by {lean:.0f} degrees")):
        if wrong:
            return None, f"no pole: of the best line, {told}"
    return pole, (f"a pole, held for {held.sum():.1f} s over {pole.spread:.2f} m, missed by {1000 * pole.residual:.1f} "
                  f"mm, leaning by {lean:.2f} degrees, give or take {2.0 * np.degrees(pole.doubt):.1f}")


def given(palms, motion, point, axis, radius, fps):
    """The Pole of a cylinder that is known, with the palms' places that fit it where they hold it.

    The radius stays as it is; where no hand holds it the palms stay as they are laid out.
    """
    pole = Pole(point, axis, radius, dict(palms), 0.5 * _PALM, 0, 0.0)
    for _ in range(3):
        placed, wrong = {}, []
        for side, palm in pole.palms.items():
            path = performer.place(palm, motion)
            off = distance(pole, path) - radius
            near = segments.long_enough(np.abs(off) < 2.0 * _PALM, int(_SHORTEST * fps))
            if near.sum() < _TIME * fps:
                placed[side] = palm
                continue
            placed[side] = _shifted(pole, palms[side], palm, motion, near)
            wrong.append(np.abs(distance(pole, performer.place(placed[side], motion)) - radius)[near])
        pole = pole._replace(palms=placed)
        if wrong:
            wrong = np.concatenate(wrong)
            pole = pole._replace(residual=float(np.median(wrong)), samples=len(wrong))
    return pole


def _shifted(pole, laid_out, palm, motion, frames):
    """The Palm moved in its hand, by one step of least squares, so that it lies on the surface in the frames (F,)."""
    rows = np.flatnonzero(frames)
    off = performer.place(palm, motion)[rows] - pole.point
    radial = off - (off @ pole.axis)[:, None] * pole.axis
    far = np.maximum(np.linalg.norm(radial, axis=-1), 1e-6)
    slopes = rotation.rotate(rotation.conj(motion.rotations[rows, palm.joint]), radial / far[:, None])
    share = min(1.0, _INDEPENDENT / len(rows)) / 0.003 ** 2
    held = np.eye(3) / _PALM ** 2
    step = np.linalg.solve(share * slopes.T @ slopes + held,
                           -share * slopes.T @ (far - pole.radius) - held @ (palm.offset - laid_out.offset))
    return palm._replace(offset=palm.offset + step)


def _densest_line(points, weights, sides, hands):
    """(point, axis) of the upright line near which most of the holds' time lies, held by all `hands`; or None.

    Every pair of the longest holds that lie above one another is tried, and the vertical through each.
    """
    longest = points[np.sort(np.argsort(-weights, kind="stable")[:_TRIED])]
    tried = [(p, np.array([0.0, 0.0, 1.0])) for p in longest]
    for start in longest:
        rise = longest - start
        length = np.linalg.norm(rise, axis=-1)
        for j in np.flatnonzero((length > _SPREAD) & (rise[:, 2] > np.cos(_LEAN) * length)):
            tried.append((start, rise[j] / length[j]))
    best, score = None, 0.0
    for point, axis in tried:
        off = points - point
        along = off @ axis
        near = np.linalg.norm(off - along[:, None] * axis, axis=-1) < _NEAR
        if len(set(sides[near])) < hands or np.ptp(along[near]) < 0.1:
            continue
        gained = weights[near].sum() * (1.0 + min(np.ptp(along[near]), 1.0))
        if gained > score:
            best, score = near, gained
    if best is None:
        return None
    return _line(points[best], weights[best])


def _line(points, weights):
    """(point, axis) of the upright line through points (N, 3), by weighted least squares of x and y over z."""
    z = points[:, 2] - np.average(points[:, 2], weights=weights)
    basis = np.stack([np.ones(len(z)), z], axis=-1) * np.sqrt(weights)[:, None]
    ridge = np.diag([0.0, 1e-3 * weights.sum()])  # holds at one height tell no lean
    solved = np.linalg.solve(basis.T @ basis + ridge, basis.T @ (points[:, :2] * np.sqrt(weights)[:, None]))
    axis = np.array([solved[1, 0], solved[1, 1], 1.0])
    return (np.array([*solved[0], np.average(points[:, 2], weights=weights)]), axis / np.linalg.norm(axis))


def _fitted(pole, palms, motion, frames):
    """The Pole that the palms of `frames` (H, F) touch best, by robust Gauss-Newton.

    Unknown are the axis (where it crosses the middle height, and its lean), the radius, and the palm's place along the
    hand, across it and out of it, alike on both hands. A thicker hand and a thicker pole look nearly the same, so what
    poles and hands are like holds all but the place.
    """
    sides, rows = list(palms), [np.flatnonzero(f) for f in frames]
    limit = 4000
    rows = [r[:: max(1, len(r) // limit)] for r in rows]
    picked = Motion(np.concatenate([motion.positions[r, palms[s].joint] for s, r in zip(sides, rows)])[:, None],
                    np.concatenate([motion.rotations[r, palms[s].joint] for s, r in zip(sides, rows)])[:, None])
    heads, turns = picked.positions[:, 0], picked.rotations[:, 0]
    which = np.repeat(np.arange(len(sides)), [len(r) for r in rows])
    own = {s: _directions(s, palms[s]) for s in sides}
    ways = [rotation.rotate(turns, np.array([own[s][n] for s in sides])[which]) for n in range(3)]
    base = heads + rotation.rotate(turns, np.array([palms[sides[k]].offset for k in which]))
    height = float(np.median(base[:, 2]))
    start = pole.point + pole.axis * (height - pole.point[2]) / pole.axis[2]
    values = np.array([start[0], start[1], pole.axis[0] / pole.axis[2], pole.axis[1] / pole.axis[2], pole.radius,
                       0.0, 0.0, 0.0])
    centre = np.array([0, 0, 0, 0, _RADIUS[0], 0, 0, 0])
    like = np.array([np.tan(_LEANS), np.tan(_LEANS), _RADIUS[1], _PALM, _PALM, _THICK])
    sure = np.array([0, 0, *like ** -2])
    for _ in range(12):
        axis = np.array([values[2], values[3], 1.0])
        length = np.linalg.norm(axis)
        axis = axis / length
        places = base + sum(value * way for value, way in zip(values[5:], ways))
        off = places - np.array([values[0], values[1], height])
        lengthwise = off @ axis
        radial = off - lengthwise[:, None] * axis
        far = np.maximum(np.linalg.norm(radial, axis=-1), 1e-6)
        normal = radial / far[:, None]
        wrong = far - values[4]
        scale = max(1.5 * float(np.median(np.abs(wrong))), 5e-4)
        weight = 1.0 / (1.0 + (wrong / (2.4 * scale)) ** 2) / scale ** 2  # Cauchy's, 95 % as sharp as least squares
        slopes = np.stack([-normal[:, 0], -normal[:, 1], -normal[:, 0] * lengthwise / length,
                           -normal[:, 1] * lengthwise / length, -np.ones(len(far)),
                           *(dot(normal, way) for way in ways)], axis=-1)
        weight *= min(1.0, _INDEPENDENT / len(far))
        normal_matrix = slopes.T @ (slopes * weight[:, None]) + np.diag(sure)
        gradient = slopes.T @ (weight * wrong) + sure * (values - centre)
        step = np.linalg.solve(normal_matrix + 1e-9 * np.eye(8), -gradient)
        values = values + step
        if np.abs(step).max() < 1e-7:
            break
    axis = np.array([values[2], values[3], 1.0])
    axis /= np.linalg.norm(axis)
    placed = {s: palms[s]._replace(offset=palms[s].offset + values[5:] @ own[s]) for s in sides}
    return Pole(np.array([values[0], values[1], height]), axis, float(np.clip(values[4], 0.008, 0.06)), placed,
                float(np.median(np.abs(wrong))), int(frames.sum()), float(np.ptp(lengthwise)) if len(far) else 0.0,
                float(np.sqrt(np.trace(np.linalg.inv(normal_matrix)[2:4, 2:4]))))


def _directions(side, palm):
    """The hand's own directions, rows (3, 3): along it, across it (mirrored from side to side) and out of the palm."""
    return np.array([palm.along, np.cross(palm.along, palm.out) * (1.0 if side == "L" else -1.0), palm.out])


def dot(a, b):
    """Scalar products (F,) of (F, 3) arrays."""
    return np.sum(a * b, axis=-1)


def _on_surface(pole, motion, fps):
    """Frames (H, F) in which palms lie on the surface and stay there."""
    out = []
    near = max(0.01, 4.0 * pole.residual)
    for point in pole.palms.values():
        off = np.abs(distance(pole, performer.place(point, motion)) - pole.radius)
        out.append(segments.long_enough(off < near, int(_SHORTEST * fps)))
    return np.array(out)
