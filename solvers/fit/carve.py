"""A closed mesh cut along its hollows into convex pieces, each the common inside of half-spaces."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .. import mesh, rotation

_HOLLOW = 2e-3  # metres: hollows that are no deeper are filled
_FLAT = 1e-3  # metres by which a piece may be larger than the mesh, where faces of a round are taken as one
_MOST = 48  # pieces of one loose part: what is hollow beyond that is filled
_TRIED = 12  # planes at most, that a cut is chosen from
_LEAST = 1e-10  # square metres: no triangle
_ON = 1e-5  # metres: what lies on a plane
_SHARP = 0.5  # cosine between faces, below which their edge counts as sharp


class Convex(NamedTuple):
    """What is inside of M half-spaces: normals @ place <= offsets."""

    normals: np.ndarray  # (M, 3) unit
    offsets: np.ndarray  # (M,) metres
    outer: np.ndarray  # (M,) bool, of the mesh's surface: the others only parts it from the next piece
    corners: np.ndarray  # (K, 3) where three or more of them meet


@lru_cache(maxsize=32)
def pieces(points, faces):
    """The Convex pieces (a list) of a closed mesh: `points` and `faces` as of a script.Prop, tuples of tuples.

    A piece is cut along the plane of one of its own faces, while any of them has more of the piece before it than a
    hollow may be deep: the plane after which the least of the surface is hollow. Together the pieces hold all of the
    mesh, and the hollows that are filled.
    """
    points, faces = np.array(points), np.array(faces)
    part, out = mesh.parts(len(points), faces), []
    for one in np.unique(part):
        waiting, done = [(points[faces[part == one]], [])], []
        while waiting:
            triangles, cuts = waiting.pop()
            if not (_planes(triangles)[2] > _LEAST).any():
                continue
            cut = None if len(waiting) + len(done) >= _MOST else _cut(triangles)
            if cut is None:
                done.append(_convex(triangles, cuts))
                continue
            normal, offset = cut
            waiting += [(_half(triangles, -normal, -offset), [*cuts, -normal]),
                        (_half(triangles, normal, offset), [*cuts, normal])]
        out += done
    return out


def _planes(triangles):
    """(unit normals (T, 3), how far (T,) each triangle lies along its own, areas (T,))."""
    cross = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normal = rotation.normalize(cross)
    return normal, np.einsum("ti,ti->t", normal, triangles.mean(axis=1)), 0.5 * np.linalg.norm(cross, axis=1)


def _hollow(triangles):
    """How far (T,) metres a piece reaches before the plane of each of its triangles: 0 everywhere on a convex one."""
    normal, offset, area = _planes(triangles)
    points = np.unique(triangles.reshape(-1, 3), axis=0)
    before = np.concatenate([(some @ points.T).max(axis=1) for some in
                             np.array_split(normal, max(len(normal) * len(points) // 2_000_000, 1))]) - offset
    return np.where(area > _LEAST, before, 0.0)


def _cut(triangles):
    """(normal (3,), offset) of the plane that a piece is best cut along; None where it is convex."""
    hollow = _hollow(triangles)
    if hollow.max(initial=0.0) <= _HOLLOW:
        return None
    normal, offset, area = _planes(triangles)
    listed = np.flatnonzero(hollow > _HOLLOW)
    planes = np.round(np.column_stack([normal, offset])[listed], 4)
    _, first, same = np.unique(planes, axis=0, return_index=True, return_inverse=True)
    weight = np.bincount(same.reshape(-1), (area * hollow)[listed])
    tried = listed[first[np.argsort(-weight, kind="stable")[:_TRIED]]]
    left = [sum(float((_hollow(half) * _planes(half)[2]).sum()) for half in
                (_half(triangles, sign * normal[t], sign * offset[t]) for sign in (1.0, -1.0))) for t in tried]
    best = tried[int(np.argmin(left))]
    return normal[best], offset[best]


def _half(triangles, normal, offset):
    """The triangles of a surface that lie behind a plane, cut off there."""
    high = triangles @ normal - offset
    high = np.where(np.abs(high) < _ON, 0.0, high)
    flat = (high == 0.0).all(axis=1)
    facing = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]) @ normal > 0.0
    out = [triangles[(high <= 0.0).all(axis=1) & (~flat | facing)]]
    crossing = (high > 0.0).any(axis=1) & (high < 0.0).any(axis=1)
    for corners, h in zip(triangles[crossing], high[crossing]):
        kept = []
        for k in range(3):
            a, b, ha, hb = corners[k], corners[(k + 1) % 3], h[k], h[(k + 1) % 3]
            kept += [a] if ha <= 0.0 else []
            kept += [a + ha / (ha - hb) * (b - a)] if ha * hb < 0.0 else []
        out.append(np.array([[kept[0], kept[k], kept[k + 1]] for k in range(1, len(kept) - 1)]))
    return np.concatenate(out)


def _convex(triangles, cuts):
    """The Convex about a piece's triangles, cut off at its `cuts` (normals)."""
    normal, _, area = _planes(triangles)
    points = np.unique(np.round(triangles.reshape(-1, 3), 9), axis=0)
    waiting, chosen = area > _LEAST, []
    for t in np.argsort(-area, kind="stable"):
        if waiting[t]:
            chosen.append(normal[t])
            near = (points @ normal[t]).max() - triangles @ normal[t] <= _FLAT
            waiting &= ~(near.all(axis=1) & (normal @ normal[t] > 0.0))
    outer = np.array([True] * len(chosen) + [False] * len(cuts))
    normals = np.array([*chosen, *cuts])
    new = np.concatenate([np.ones(len(chosen), bool), [np.max(np.array(chosen) @ cut) < 1.0 - 1e-9 for cut in cuts]])
    return with_bevels(normals[new.astype(bool)], outer[new.astype(bool)], points)


def with_bevels(normals, outer, points):
    """The Convex of half-spaces about points (N, 3), with those that touch its sharp edges and corners besides.

    These change nothing about what is inside, but what lies within a distance of it: grown by that distance, it gets no
    farther from a sharp edge than from its faces.
    """
    offsets = (points @ normals.T).max(axis=0)
    on = points @ normals.T > offsets - _ON  # (N, M)
    more = []
    for i, j in zip(*np.triu_indices(len(normals), 1)):
        if normals[i] @ normals[j] < _SHARP and (on[:, i] & on[:, j]).sum() > 1 and outer[i] and outer[j]:
            more.append(normals[i] + normals[j])
    corners = points[on.sum(axis=1) > 2]
    for mask in on[on.sum(axis=1) > 2]:
        if outer[mask].all() and (normals[mask] @ normals[mask].T).min() < _SHARP:
            more.append(normals[mask].sum(axis=0))
    more = rotation.normalize(np.array(more).reshape(-1, 3))
    more = more[rotation.norm(more) > 0.5]
    return Convex(np.concatenate([normals, more]), np.concatenate([offsets, (points @ more.T).max(axis=0)]),
                  np.concatenate([outer, np.ones(len(more), bool)]), corners)
