"""How far points are outside of a shell, and which way is out."""

import numpy as np

from .. import rotation

_BLUR = 1.2  # of the spacing: over how much of the shell the distance is averaged
_ASIDE = 0.6  # of the way to the nearest patch, square to the shell: less is aside of it
_ENCLOSED = 0.4  # of all directions, in which what is inside sees the shell from within: limbs have left holes in it
_OVER = 1.0  # of the spacing: what is so near is over the shell
_MUCH = 250_000  # distances that are looked at together


def distances(shell, places, normals, points):
    """(distances (F, S) in metres, positive outside; ways out (F, S, 3), unit) of points (F, S, 3) from a Shell.

    `places` and `normals` (F, P, 3) are the patches' as `shell.posed` gives them. The patches about the nearest one are
    weighed by how near they are and how large. Their tangent planes bulge out over a round surface, and the plane
    through their mean sinks in by as much, so half of each is the distance, which does not jitter where a point slides
    over it. What they tell to be deep inside is so if the shell goes around it: a shell has edges, too.
    """
    out, ways = np.empty(points.shape[:2]), np.empty(points.shape)
    each = max(_MUCH // (points.shape[1] * shell.count), 1)
    for start in range(0, len(points), each):
        rows = slice(start, start + each)
        out[rows], ways[rows] = _distances(shell, places[rows], normals[rows], points[rows])
    return out, ways


def _distances(shell, places, normals, points):
    apart = (-2.0 * points) @ np.ascontiguousarray(places.transpose(0, 2, 1))
    apart += rotation.dot(places, places)[:, None]
    near = shell.groups[np.argmin(apart, axis=-1)]  # (F, S, G), the nearest first
    away = points[:, :, None] - _picked(places, near)
    facing = _picked(normals, near)
    square = rotation.dot(away, away)
    least = square.min(axis=-1, keepdims=True)
    weight = np.exp(-0.5 * (square - least) / (_BLUR * shell.spacing) ** 2) * shell.areas[near]
    weight /= weight.sum(axis=-1, keepdims=True)
    way = rotation.normalize(np.einsum("fsg,fsgi->fsi", weight, facing))
    tangent = np.einsum("fsg,fsgi,fsgi->fs", weight, away, facing)
    plane = np.einsum("fsg,fsgi,fsi->fs", weight, away, way)
    far, least = 0.5 * (tangent + plane), np.sqrt(least[..., 0])
    # where the nearest lies aside instead of below, the point is beyond the shell's edge, and so outside
    beyond = (np.abs(far) < _ASIDE * least) & (least > _OVER * shell.spacing)
    frames, samples = np.nonzero((far < -_OVER * shell.spacing) & ~beyond)
    beyond[frames, samples] = _around(shell, places, normals, points, frames, samples) < _ENCLOSED
    away = rotation.normalize(np.einsum("fsg,fsgi->fsi", weight, away))
    return np.where(beyond, least, far), np.where(beyond[..., None], away, way)


def _around(shell, places, normals, points, frames, samples):
    """What part (N,) of all directions from points the shell is seen from within in (the generalized winding number:
    Jacobson et al. 2013)."""
    out = np.empty(len(frames))
    for rows in np.array_split(np.arange(len(frames)), len(frames) * shell.count // _MUCH + 1):
        away = places[frames[rows]] - points[frames[rows], samples[rows], None]
        solid = shell.areas * rotation.dot(away, normals[frames[rows]]) / rotation.dot(away, away) ** 1.5
        out[rows] = solid.sum(axis=-1) / (4.0 * np.pi)
    return out


def _picked(values, near):
    """Of the patches' values (F, P, 3) those at `near` (F, S, G): (F, S, G, 3)."""
    frames = np.arange(len(values))[:, None, None]
    return np.stack([values[..., i][frames, near] for i in range(3)], axis=-1)
