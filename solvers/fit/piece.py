"""A convex thing as an obstacle: a half-space, a box, or a piece of a mesh, the common inside of half-spaces."""

from typing import NamedTuple

import numpy as np

from .. import mesh, rotation
from . import carve

_NEARER = 0.02  # metres by which one face has to be nearer to what is beside it, to count e times as much
_LEADS = 1e-6  # of a way, along a face's normal: a way that is no more along it does not leave by it
_HALVINGS = 20  # of an edge: a thousandth of a millimetre of one that is a metre long
_SAME = 1e-9  # metres


class Piece(NamedTuple):
    """A convex piece of a prop in the world."""

    name: str  # the prop's
    shape: carve.Convex

    def apart(self, lines):
        """How far (F, M) all of some lines, pairs of ends (F, 3), are outside of each half-space; below zero inside."""
        ends = np.stack([end for line in lines for end in line])
        return (ends @ self.shape.normals.T).min(axis=0) - self.shape.offsets

    def ways(self, lines):
        """The way (F, 3) out to the side of some lines: along the normal of the face that they are farthest outside of,
        or between two that are nearly alike."""
        apart = np.where(self.shape.outer, self.apart(lines), -np.inf)
        share = np.exp((apart - apart.max(axis=1, keepdims=True)) / _NEARER)
        return rotation.normalize(share @ self.shape.normals)

    def is_near(self, metres, start, end):
        """Which frames (F,) have segments from `start` to `end` (F, 3) no farther away than some metres; there may be
        some more beside edges."""
        return self.apart([(start, end)]).max(axis=1) < metres

    def met(self, skin, motion, way, gap, rows):
        """(which of the rows (N,), places (N, 3), metres (N,)): places of a net.Net that have to go along `way` (R, 3)
        to be outside of this by `gap` (R,), the farthest of each edge among them.

        How far a place has to go is concave along an edge, and over a triangle. So its most is at one place of an edge,
        which is sought from both sides, or where the triangle is met by a corner of the piece.
        """
        places = np.stack([skin.along(motion, axis, rows) for axis in np.eye(3)], axis=-1)
        seen = self._seen(places, way, gap, skin.longest)
        at, edges = np.divmod(np.unique(np.ravel_multi_index(skin.edges_at(seen), (len(rows), len(skin.ends)))),
                              len(skin.ends))
        a, b = (places[at, skin.ends[edges, end]] for end in (0, 1))
        found = [self._along(at[some], a[some], b[some], way, gap)
                 for some in _stretches(len(at), len(self.shape.offsets))]
        at, faces = np.nonzero(seen[:, skin.faces].any(axis=-1)) if len(self.shape.corners) else (np.zeros(0, int),) * 2
        found += [self._amid(at[some], places[at[some, None], skin.faces[faces[some]]], way, gap)
                  for some in _stretches(len(at), len(self.shape.corners))]
        return tuple(np.concatenate(values) for values in zip(*found))

    def _seen(self, places, way, gap, longest):
        """Which of the vertices (R, V) can be an end of an edge that has to go anywhere."""
        seen = np.ones(places.shape[:2], bool)
        listed = np.nonzero(seen)
        leading = way @ self.shape.normals.T > -_LEADS
        for k, (normal, offset) in enumerate(zip(self.shape.normals, self.shape.offsets)):
            row, vertex = listed
            inside = offset + gap[row] - places[row, vertex] @ normal > -longest[vertex]
            keep = inside | ~leading[row, k]
            listed = row[keep], vertex[keep]
        seen[:] = False
        seen[listed] = True
        return seen

    def _slack(self, at, places, gap):
        """How far (N, M) places (N, 3) lie inside of each half-space that is grown by the gap."""
        return self.shape.offsets + gap[at, None] - places @ self.shape.normals.T

    def _along(self, at, a, b, way, gap):
        """`met` of edges from `a` to `b` (N, 3).

        Where the last half-space to be left is the same at both ends, it is the same between (their least is concave),
        and one of the ends has farthest to go.
        """
        along = way @ self.shape.normals.T
        first, last = self._slack(at, a, gap), self._slack(at, b, gap)
        keep = ((np.maximum(first, last) > 0.0) | (along[at] <= -_LEADS)).all(axis=1)
        at, a, b, first, last = at[keep], a[keep], b[keep], first[keep], last[keep]
        along, rise = along[at], last - first
        ends = [_leaving(slack, along) for slack in (first, last)]
        found = [_those(at, end, told.metres, told.through) for end, told in zip((a, b), ends)]
        other = ~(ends[0].through & ends[1].through & (ends[0].last == ends[1].last))
        at, a, b, first, rise, along = (values[other] for values in (at, a, b, first, rise, along))
        low, high = np.zeros(len(at)), np.ones(len(at))
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            up = _leaving(first + middle[:, None] * rise, along, rise).up
            low, high = np.where(up, middle, low), np.where(up, high, middle)
        for part in (low, high):
            told = _leaving(first + part[:, None] * rise, along)
            found.append(_those(at, a + part[:, None] * (b - a), told.metres, told.through))
        return tuple(np.concatenate(values) for values in zip(*found))

    def _amid(self, at, triangles, way, gap):
        """`met` of the places of triangles (N, 3, 3) that corners look at along the way."""
        slack = self.shape.offsets + gap[at, None, None] - triangles @ self.shape.normals.T
        keep = ((slack.max(axis=1) > 0.0) | (way[at] @ self.shape.normals.T <= -_LEADS)).all(axis=1)
        at, triangles = at[keep], triangles[keep]
        a, u, v = triangles[:, 0], triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
        off = self.shape.corners - a[:, None]  # (N, K, 3)
        across, aside = rotation.cross(v, way[at]), rotation.cross(way[at], u)
        area = rotation.dot(u, across)
        area = np.where(np.abs(area) < 1e-14, np.inf, area)[:, None]
        s, t = np.einsum("nki,ni->nk", off, across) / area, np.einsum("nki,ni->nk", off, aside) / area
        row, corner = np.nonzero((s >= 0.0) & (t >= 0.0) & (s + t <= 1.0) & np.isfinite(area))
        places = a[row] + s[row, corner, None] * u[row] + t[row, corner, None] * v[row]
        at = at[row]
        told = _leaving(self._slack(at, places, gap), way[at] @ self.shape.normals.T)
        return _those(at, places, told.metres, told.through)


def _stretches(count, width):
    """Slices of `count` rows, so that a table of so many columns does not get too large."""
    step = max(1_000_000 // max(width, 1), 1)
    return [slice(k, k + step) for k in range(0, max(count, 1), step)]


def _those(at, places, needs, through):
    keep = through & (needs > 0.0)
    return at[keep], places[keep], needs[keep]


class _Leaving(NamedTuple):
    """How places come out of half-spaces along a way."""

    metres: np.ndarray  # (N,) after which the first of those that it leads out of is left
    through: np.ndarray  # (N,) bool: all of them are about the line along the way at once
    last: np.ndarray  # (N,) which it is that is left first, and so ends the way through all
    up: np.ndarray | None  # (N,) bool: what comes through, or has more to go, lies farther along the edge


def _leaving(slack, along, rise=None):
    """The _Leaving of places that are `slack` (N, M) metres inside of each half-space.

    `along` (N, M) is how much of the way leads out of it, `rise` (N, M) how the slack changes along an edge.
    """
    leads, comes = along > _LEADS, along < -_LEADS
    safe = np.where(leads | comes, along, 1.0)
    far = slack / safe
    out, into = np.where(leads, far, np.inf), np.where(comes, far, -np.inf)
    beside = np.where(leads | comes, np.inf, slack)
    rows = np.arange(len(slack))
    i, j, k = out.argmin(axis=1), into.argmax(axis=1), beside.argmin(axis=1)
    leave, enter, clear = out[rows, i], into[rows, j], beside[rows, k]
    through = np.minimum(leave - enter, clear) >= -_SAME
    if rise is None:
        return _Leaving(leave, through, i, None)
    slope = rise / safe
    nearer = np.where(leave - enter < clear, slope[rows, i] - np.where(np.isfinite(enter), slope[rows, j], 0.0),
                      rise[rows, k])
    return _Leaving(leave, through, i, np.where(through, slope[rows, i], nearer) > 0.0)


def pieces_of(prop):
    """The Pieces (a list) of a script.Prop that is a plane, a box or a mesh."""
    point = np.array(prop.point, float)
    if prop.kind == "plane":
        normal = np.array([prop.axis], float)
        return [Piece(prop.name, carve.Convex(normal, normal @ point, np.ones(1, bool), np.empty((0, 3))))]
    if prop.kind == "box":
        axes = np.array(prop.axes)
        return [Piece(prop.name, carve.with_bevels(np.concatenate([axes, -axes]), np.ones(6, bool), mesh.box(prop)[0]))]
    return [Piece(prop.name, _moved(shape, point)) for shape in carve.pieces(prop.points, prop.faces)]


def _moved(shape, way):
    """A Convex moved by `way` (3,)."""
    return shape._replace(offsets=shape.offsets + shape.normals @ way, corners=shape.corners + way)


def carried(source, laid, lines):
    """Lines, pairs of ends (F, 3), beside the Prop `source`, as they lie beside the same one where it is `laid` out."""
    if source.kind == "plane":
        return [tuple(end + np.subtract(laid.point, source.point) for end in line) for line in lines]
    own = [np.array(p.points) if p.kind == "mesh" else mesh.box(p)[0] - p.point for p in (source, laid)]
    shape = np.linalg.lstsq(own[0], own[1], rcond=None)[0]
    return [tuple(laid.point + (end - source.point) @ shape for end in line) for line in lines]
