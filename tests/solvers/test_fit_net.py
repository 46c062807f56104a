"""Edges of skin against a pole: as deep as points strewn densely over all of its triangles tell."""

import numpy as np
import pytest
from figures import build
from skins import box, skin_of

from foothold.solvers import rotation
from foothold.solvers.fit import net, obstacle
from foothold.solvers.skeleton import Motion, rest_motion

_POLE = obstacle.Pole("pole", np.array([0.1, -0.2, 0.3]), rotation.normalize(np.array([0.3, -0.5, 1.0])), 0.03)


def strewn(points, faces, count=120):
    """Points (T * N, 3) all over triangles."""
    a, b = np.mgrid[0:count + 1, 0:count + 1].reshape(2, -1) / count
    keep = a + b <= 1.0
    share = np.stack([a, b, 1.0 - a - b], axis=-1)[keep]
    return np.einsum("nk,tkc->tnc", share, points[faces]).reshape(-1, 3)


def needed(pole, points, way):
    """Metres along `way` (3,) that bring every point out to the side where it points."""
    across = pole.across(points)
    ahead, aside = across @ way, across @ np.cross(pole.axis, way)
    clear = pole.radius + obstacle.MARGIN
    within = np.abs(aside) < clear
    return max(np.max(np.sqrt(clear ** 2 - aside[within] ** 2) - ahead[within], initial=0.0), 0.0)


def carried(points, faces, frames, seed):
    """(Net, Motion) of a piece that the chest carries about near the pole, and its points (F, N, 3)."""
    figure = build()
    skin = skin_of(figure, ("chest", (points, faces)))
    bound = rest_motion(figure.skeleton)
    random = np.random.default_rng(seed)
    joint = figure.roles["chest"]
    turns = np.tile(bound.rotations, (frames, 1, 1))
    places = np.tile(bound.positions, (frames, 1, 1))
    turns[:, joint] = rotation.mul(rotation.exp(random.normal(0.0, 1.0, (frames, 3))), turns[:, joint])
    places[:, joint] = _POLE.point + random.normal(0.0, 0.08, (frames, 3))
    own = rotation.rotate(rotation.conj(bound.rotations[0, joint]), points - bound.positions[0, joint])
    moved = rotation.rotate(turns[:, joint, None], own[None]) + places[:, joint, None]
    return net.net(bound, skin, net.edges_of(skin)), Motion(places, turns), moved


@pytest.mark.parametrize("seed", range(4))
def test_the_push_is_that_of_all_points_of_the_triangles(seed):
    """Large faces, whose corners all lie outside of the pole while it goes through between them."""
    figure = build()
    middle = rest_motion(figure.skeleton).positions[0, figure.roles["chest"]]
    points, faces = box(middle - (0.12, 0.1, 0.15), middle + (0.12, 0.1, 0.15))
    skin, motion, moved = carried(points, faces, 60, seed)
    random = np.random.default_rng(seed + 100)
    way = _POLE.across(_POLE.point + random.normal(0.0, 1.0, (60, 3)))
    way = rotation.normalize(way)
    push = obstacle.push(_POLE, skin, motion, way, np.ones(60, bool), np.full(60, obstacle.MARGIN))
    told = np.array([needed(_POLE, strewn(p, faces), w) for p, w in zip(moved, way)])
    assert (told > 0.0).sum() > 20
    assert np.all(push.amount >= told - 1e-9)  # what is strewn can miss the deepest place, never be deeper
    assert np.abs(push.amount - told).max() < 5e-4


def test_corners_alone_would_not_tell():
    """A wall with the pole through its middle: no corner is near, the push is half the wall's width and the radius."""
    figure = build()
    middle = rest_motion(figure.skeleton).positions[0, figure.roles["chest"]]
    points = middle + np.array([[-0.5, 0.0, -0.5], [0.5, 0.0, -0.5], [0.5, 0.0, 0.5], [-0.5, 0.0, 0.5]])
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    skin = skin_of(figure, ("chest", (points, faces)))
    bound = rest_motion(figure.skeleton)
    pole = obstacle.Pole("pole", middle, np.array([0.0, 1.0, 0.0]), 0.03)
    whole = net.net(bound, skin, net.edges_of(skin))
    push = obstacle.push(pole, whole, bound, np.array([[1.0, 0.0, 0.0]]), np.ones(1, bool),
                         np.full(1, obstacle.MARGIN))
    assert push.amount[0] == pytest.approx(0.5 + 0.03 + obstacle.MARGIN, abs=1e-9)
    np.testing.assert_allclose(push.place[0, 0], middle[0] - 0.5, atol=1e-9)


def test_every_edge_is_there_once_and_every_vertex():
    """A closed box has 8 corners and 12 + 6 edges, those across its sides among them."""
    figure = build()
    skin = skin_of(figure, ("chest", box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))))
    edges = net.edges_of(skin)
    assert len(edges) == 8 + 18 and len(np.unique(edges, axis=0)) == 26
    one = net.net(rest_motion(figure.skeleton), skin, edges)
    rows, listed = one.edges_at(np.eye(8, dtype=bool)[:1])
    assert set(rows) == {0} and {tuple(e) for e in one.ends[listed]} == {tuple(e) for e in one.ends if 0 in e}
