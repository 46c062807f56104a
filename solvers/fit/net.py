"""The edges of skin in motion: where faces are large, a thing passes between their corners, but not between edges."""

from typing import NamedTuple

import numpy as np

from . import surface


class Net(NamedTuple):
    """Skin of which every edge is looked at; a vertex is an edge between itself and itself."""

    skin: surface.Surface  # the ends of all edges
    ends: np.ndarray  # (E, 2) which of the V vertices
    faces: np.ndarray  # (T, 3) likewise: triangles that have all of their corners here
    starts: np.ndarray  # (V + 1,) where the edges of each vertex begin in `listed`
    listed: np.ndarray  # (sum,) edges, vertex by vertex
    longest: np.ndarray  # (V,) metres: the longest edge of each vertex at rest

    @property
    def count(self):
        """How many vertices there are."""
        return self.skin.count

    def along(self, motion, direction, rows):
        """Coordinates (F, V) of the vertices along a direction (3,), in the `rows` of a world Motion."""
        return surface.along(self.skin, motion, direction, rows)

    def edges_at(self, near):
        """(rows (N,), edges (N,)) of the edges that have an end which is `near` (F, V) bool; some are told twice."""
        at, vertices = np.nonzero(near)
        many = self.starts[vertices + 1] - self.starts[vertices]
        within = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
        return np.repeat(at, many), self.listed[np.repeat(self.starts[vertices], many) + within]

    def on_edges(self, motion, frames, edges, part):
        """World places (N, 3) at a `part` (N,), 0 to 1, of edges (N,) in frames (N,) of a world Motion."""
        a, b = (surface.some(self.skin, motion, frames, self.ends[edges, end]) for end in (0, 1))
        return a + part[:, None] * (b - a)


def edges_of(skin):
    """The edges (E, 2) of a flesh.Skin, each once, and its vertices as edges without length."""
    sides = np.sort(skin.faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    return np.unique(np.concatenate([sides, np.arange(len(skin.points)).repeat(2).reshape(-1, 2)]), axis=0)


def net(bound, skin, edges):
    """The Net of some edges (E, 2) of a flesh.Skin. `bound` is the skeleton's pose at rest, a Motion."""
    keep = np.zeros(len(skin.points), bool)
    keep[edges] = True
    own = surface.bind(bound, skin, keep)
    at = np.full(len(skin.points), -1)
    at[own.vertices] = np.arange(own.count)
    ends = at[edges]
    ends = ends[(ends >= 0).all(axis=1)]
    faces = at[skin.faces]
    faces = faces[(faces >= 0).all(axis=1)]
    long = np.linalg.norm(np.diff(skin.points[own.vertices][ends], axis=1)[:, 0], axis=-1)
    longest = np.zeros(own.count)
    np.maximum.at(longest, ends, long[:, None])
    vertices, listed = ends.T.ravel(), np.tile(np.arange(len(ends)), 2)
    order = np.argsort(vertices, kind="stable")
    return Net(own, ends, faces, np.searchsorted(vertices[order], np.arange(own.count + 1)), listed[order], longest)
