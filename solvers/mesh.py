"""Closed meshes of triangles: corners welded, faces turned outwards, and how deep a surface lies in them."""

import numpy as np

from . import rotation

_SAME = 1e-5  # metres within which corners are one
_EXACT = 2e-5, 0.01  # metres, and of itself, to which a depth is exact
_HALVINGS = 14  # of a triangle at most


def closed(points, faces):
    """(points (V, 3), faces (T, 3)) of a closed mesh, its faces counterclockwise as seen from outside; None where
    triangles `faces` of `points` (metres) are not closed.

    Closed means that every edge is gone along as often there as back. Each loose part is turned outwards by itself.
    """
    faces = np.asarray(faces, int).reshape(-1, 3)
    _, first, same = np.unique(np.round(np.asarray(points, float) / _SAME), axis=0, return_index=True,
                               return_inverse=True)
    points, faces = np.asarray(points, float)[first], same.reshape(-1)[faces]
    faces = faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]
    edges = np.concatenate([faces, np.roll(faces, -1, axis=1)], axis=0).reshape(2, -1).T
    there, back = (np.sort(e[:, 0] * len(points) + e[:, 1]) for e in (edges, edges[:, ::-1]))
    if not len(faces) or not np.array_equal(there, back):
        return None
    part = parts(len(points), faces)
    volume = np.bincount(part, np.linalg.det(points[faces] - points.mean(axis=0)), len(points))
    return points, np.where((volume[part] < 0.0)[:, None], faces[:, ::-1], faces)


def parts(count, faces):
    """Which loose part (T,) each of the triangles (T, 3) of `count` points is of, told by its lowest point."""
    label = np.arange(count)
    while True:
        least = label[faces].min(axis=1)
        after = label.copy()
        np.minimum.at(after, faces, least[:, None])
        after = after[after]
        if np.array_equal(after, label):
            return label[faces[:, 0]]
        label = after


def box(prop):
    """The corners (8, 3) and triangles (12, 3) of a script.Prop that is a box."""
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    faces = np.array([face for a, b, c, d in quads for face in ((a, b, c), (a, c, d))])
    return np.array(prop.point) + (corners * prop.size) @ np.array(prop.axes), faces


def depths(triangles, groups, count, solid):
    """How deep (count,) the deepest point of each group of triangles (T, 3, 3) lies in a closed mesh, 0 outside.

    `groups` (T,) tells each triangle's, `solid` are the mesh's own triangles (M, 3, 3), counterclockwise as seen from
    outside. The depth is the distance from the nearest of them. Branch and bound: a triangle is divided while a point
    of it could be deeper than what is known. It can be no deeper than its middle by more than the way to its corners
    (the depth changes by no more than the way), and no deeper than its farthest corner is from any one of the mesh's
    triangles (the distance from a convex thing is convex).
    """
    out = np.zeros(count)
    low, high = solid.min(axis=(0, 1)), solid.max(axis=(0, 1))
    near = ((triangles.max(axis=1) > low) & (triangles.min(axis=1) < high)).all(axis=1)
    triangles, groups = triangles[near], groups[near]
    at, of = _candidates(triangles, solid)
    for _ in range(_HALVINGS):
        if not len(triangles):
            break
        middle = triangles.mean(axis=1)
        reach = np.linalg.norm(triangles - middle[:, None], axis=-1).max(axis=1)
        starts = np.searchsorted(at, np.arange(len(triangles)))
        distance, slant = distances(middle[at], solid[of])
        least = np.minimum.reduceat(distance, starts)
        # of faces that share the nearest point the one that faces the middle most tells on which side it is
        facing = np.where(distance <= least[at] + 1e-9, np.abs(slant), -1.0)
        telling = facing >= np.maximum.reduceat(facing, starts)[at]
        inside = np.maximum.reduceat(np.where(telling, -slant, -2.0), starts) > 0.0
        depth = np.where(inside, least, -least)
        np.maximum.at(out, groups, depth)
        corners = np.max([distances(triangles[at, k], solid[of])[0] for k in range(3)], axis=0)
        bound = np.minimum(depth + reach, np.minimum.reduceat(corners, starts))
        keep = bound > (1.0 + _EXACT[1]) * out[groups] + _EXACT[0]
        pairs = keep[at] & (distance <= least[at] + 2.0 * reach[at])
        number = np.cumsum(keep) - 1
        at, of = number[at[pairs]], of[pairs]
        triangles, groups = _quartered(triangles[keep]), np.tile(groups[keep], 4)
        at, of = np.concatenate([at + k * keep.sum() for k in range(4)]), np.tile(of, 4)
    return out


def _candidates(triangles, solid):
    """(rows (P,), mesh triangles (P,)): for each triangle those that can be the nearest to a point of it."""
    if not len(triangles):
        return np.zeros(0, int), np.zeros(0, int)
    (a, r), (b, s) = ((m, np.linalg.norm(t - m[:, None], axis=-1).max(axis=1))
                      for t, m in ((t, t.mean(axis=1)) for t in (triangles, solid)))
    away = np.sqrt(np.maximum(np.sum(a * a, 1)[:, None] + np.sum(b * b, 1) - 2.0 * a @ b.T, 0.0))
    return np.nonzero(away - s <= away.min(axis=1, keepdims=True) + 2.0 * r[:, None] + 1e-6)


def _quartered(triangles):
    """The four quarters (4 T, 3, 3) of triangles (T, 3, 3): all first ones, then all second ones, and so on."""
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    ab, bc, ca = 0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)
    return np.concatenate([np.stack(corners, axis=1) for corners in
                           ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])


def distances(points, triangles):
    """(distances (N,) of points (N, 3) from triangles (N, 3, 3), cosines (N,) between the way there and the normal)."""
    sides = np.roll(triangles, -1, axis=1) - triangles
    normal = rotation.normalize(np.cross(sides[:, 0], sides[:, 1]))
    off = points[:, None] - triangles
    part = np.clip(np.sum(off * sides, axis=-1) / np.maximum(np.sum(sides * sides, axis=-1), 1e-18), 0.0, 1.0)
    ways = off - part[..., None] * sides
    away = np.linalg.norm(ways, axis=-1)
    nearest = np.argmin(away, axis=1)
    rows = np.arange(len(points))
    way = ways[rows, nearest]
    height = np.sum(off[:, 0] * normal, axis=-1)
    over = (np.sum(np.cross(sides, off) * normal[:, None], axis=-1) > 0.0).all(axis=1)
    way = np.where(over[:, None], height[:, None] * normal, way)
    distance = np.linalg.norm(way, axis=-1)
    return distance, np.sum(way * normal, axis=-1) / np.maximum(distance, 1e-12)
