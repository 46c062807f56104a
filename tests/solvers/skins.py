"""Skins of boxes and tubes, each carried by the bones that it is given to."""

import numpy as np

from foothold.solvers import rotation
from foothold.solvers.fit import flesh

_QUADS = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
_BOX = np.array([f for a, b, c, d in _QUADS for f in ((a, b, c), (a, c, d))])


def box(low, high, turn=rotation.IDENTITY, about=(0.0, 0.0, 0.0)):
    """A closed box between two corners (3,), turned about a point: points (8, 3), faces (12, 3)."""
    corners = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    points = np.asarray(low) + corners * (np.asarray(high, float) - low)
    return np.asarray(about) + rotation.rotate(turn, points - about), _BOX


def tube(start, end, radii, sides=16):
    """A closed tube between two points, its radii at the two ends."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    along = rotation.normalize(end - start)
    across = rotation.normalize(np.cross(along, (0.3, 0.5, 0.8)))
    turn = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)[:, None]
    ring = np.cos(turn) * across + np.sin(turn) * np.cross(along, across)
    i = np.arange(sides)
    j = (i + 1) % sides
    faces = [np.stack([i, j, j + sides], 1), np.stack([i, j + sides, i + sides], 1),
             np.stack([j, i, np.full(sides, 2 * sides)], 1),
             np.stack([i + sides, j + sides, np.full(sides, 2 * sides + 1)], 1)]
    return np.concatenate([start + radii[0] * ring, end + radii[1] * ring, [start, end]]), np.concatenate(faces)


def skin_of(figure, *pieces):
    """The Skin of (role or {role: weight}, (points, faces)) pieces; a third item says that a piece is rigid."""
    points, faces, bones, weights, rigid, start = [], [], [], [], [], 0
    for role, (p, f), *hard in pieces:
        shares = role if isinstance(role, dict) else {role: 1.0}
        row = sorted(((w, figure.skeleton.names.index(r)) for r, w in shares.items()), reverse=True)
        row += [(0.0, -1)] * (flesh.LARGEST - len(row))
        points.append(p)
        faces.append(f + start)
        bones.append(np.tile([j for _, j in row], (len(p), 1)))
        weights.append(np.tile([w for w, _ in row], (len(p), 1)))
        rigid.append(np.full(len(p), bool(hard)))
        start += len(p)
    return flesh.Skin(*(np.concatenate(rows) for rows in (points, faces, bones, weights, rigid)))
