"""Planes, boxes and meshes against edges of skin: as deep as points strewn densely over all of its triangles tell."""

import numpy as np
import pytest
from figures import build
from skins import box as skin_box
from skins import skin_of

from foothold.solvers import mesh, rotation
from foothold.solvers.contacts.script import Prop
from foothold.solvers.fit import carve, net, obstacle, piece
from foothold.solvers.skeleton import Motion, rest_motion

_AXIS = rotation.normalize(np.array([0.2, -0.3, 1.0]))
_CRATE = Prop("crate", "box", (0.1, -0.2, 0.3), tuple(_AXIS), size=(0.3, 0.2, 0.12), across=(0.8, 0.6, 0.0))
_WALL = Prop("wall", "plane", (0.1, -0.2, 0.3), tuple(_AXIS))


def strewn(points, faces, count=90):
    """Points (T * N, 3) all over triangles."""
    a, b = np.mgrid[0:count + 1, 0:count + 1].reshape(2, -1) / count
    keep = a + b <= 1.0
    return np.einsum("nk,tkc->tnc", np.stack([a, b, 1.0 - a - b], axis=-1)[keep], points[faces]).reshape(-1, 3)


def needed(prop, points, way):
    """Metres along `way` (3,) after which no point is in a box or behind a plane.

    Found from the prop's own axes, by where each point's line leaves each pair of sides.
    """
    off = points - prop.point
    if prop.kind == "plane":
        return max(np.max(-(off @ prop.axis) / (way @ prop.axis)), 0.0)
    own, along = off @ np.array(prop.axes).T, np.array(prop.axes) @ way
    half = 0.5 * np.array(prop.size)
    leave, enter = np.full(len(points), np.inf), np.full(len(points), -np.inf)
    for k in range(3):
        if abs(along[k]) < 1e-12:
            enter[np.abs(own[:, k]) > half[k]] = np.inf
            continue
        ends = np.sort(np.stack([(s * half[k] - own[:, k]) / along[k] for s in (-1.0, 1.0)]), axis=0)
        leave, enter = np.minimum(leave, ends[1]), np.maximum(enter, ends[0])
    return max(np.max(leave[leave >= enter], initial=0.0), 0.0)


def carried(prop, points, faces, frames, seed):
    """(Net, Motion, places (F, N, 3)) of a piece of skin that the chest carries about near the prop."""
    figure = build()
    skin = skin_of(figure, ("chest", (points, faces)))
    bound, random, joint = rest_motion(figure.skeleton), np.random.default_rng(seed), figure.roles["chest"]
    turns, places = np.tile(bound.rotations, (frames, 1, 1)), np.tile(bound.positions, (frames, 1, 1))
    turns[:, joint] = rotation.mul(rotation.exp(random.normal(0.0, 1.0, (frames, 3))), turns[:, joint])
    places[:, joint] = prop.point + random.normal(0.0, 0.12, (frames, 3))
    own = rotation.rotate(rotation.conj(bound.rotations[0, joint]), points - bound.positions[0, joint])
    return (net.net(bound, skin, net.edges_of(skin)), Motion(places, turns),
            rotation.rotate(turns[:, joint, None], own[None]) + places[:, joint, None])


def chest_box(half):
    figure = build()
    middle = rest_motion(figure.skeleton).positions[0, figure.roles["chest"]]
    return skin_box(middle - half, middle + half)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("prop", [_CRATE, _WALL], ids=["box", "plane"])
def test_the_push_is_that_of_all_points_of_the_triangles(prop, seed):
    """Large faces: edges and corners of the box press in between all of their edges and corners."""
    points, faces = chest_box(np.array([0.12, 0.1, 0.15]))
    skin, motion, moved = carried(prop, points, faces, 60, seed)
    random = np.random.default_rng(seed + 100)
    way = rotation.normalize(random.normal(0.0, 1.0, (60, 3)))
    way[:10] = np.array(prop.axes)[[0, 1, 2] * 3 + [0]]
    if prop.kind == "plane":
        way[:] = prop.axis
    (thing,) = obstacle.of([prop])
    push = obstacle.push(thing, skin, motion, way, np.ones(60, bool), np.zeros(60))
    told = np.array([needed(prop, strewn(p, faces), w) for p, w in zip(moved, way)])
    assert (told > 0.0).sum() > 15
    assert np.all(push.amount >= told - 1e-8)
    assert np.abs(push.amount - told).max() < 4e-3, "strewn 3 mm apart"
    outside = moved + push.amount[:, None, None] * way[:, None]
    assert all(needed(prop, strewn(p, faces), w) < 1e-7 for p, w in zip(outside, way))


def test_a_corner_amid_a_triangle_is_met():
    """A cube stands on its tip below one large triangle, 8 mm through it: no edge of the triangle is near."""
    tip = rotation.normalize(np.ones(3))
    turn = np.eye(3) - 2.0 * np.outer(tip - [0, 0, 1], tip - [0, 0, 1]) / ((tip - [0, 0, 1]) @ (tip - [0, 0, 1]))
    cube = Prop("cube", "box", (0.0, 0.0, 0.992 - 0.1 * np.sqrt(3.0)), tuple(turn[2]), size=(0.2,) * 3,
                across=tuple(turn[0]))
    assert mesh.box(cube)[0][:, 2].max() == pytest.approx(0.992)
    figure = build()
    points = np.array([[-0.5, -0.5, 0.984], [0.5, -0.4, 0.984], [0.1, 0.6, 0.984]])
    skin, bound = skin_of(figure, ("chest", (points, np.array([[0, 1, 2]])))), rest_motion(figure.skeleton)
    push = obstacle.push(*obstacle.of([cube]), net.net(bound, skin, net.edges_of(skin)), bound, np.eye(3)[2:],
                         np.ones(1, bool), np.zeros(1))
    assert push.amount[0] == pytest.approx(0.008, abs=1e-9)
    np.testing.assert_allclose(push.place[0], [0.0, 0.0, 0.984], atol=1e-9)


def test_bevels_keep_the_distance_from_edges_and_corners_nearly_that_from_faces():
    """Grown by 10 cm, no point of the box is farther from it than 12 cm; without bevels a corner is 17 cm away."""
    (thing,) = obstacle.of([_CRATE])
    random = np.random.default_rng(0)
    points = random.uniform(-0.4, 0.4, (20000, 3))
    places = points @ np.array(_CRATE.axes) + _CRATE.point
    far = np.linalg.norm(np.maximum(np.abs(points) - 0.5 * np.array(_CRATE.size), 0.0), axis=-1)
    within = (places @ thing.shape.normals.T <= thing.shape.offsets + 0.1).all(axis=1)
    assert within[far <= 0.1].all() and far[within].max() < 0.12
    inside = (places @ thing.shape.normals.T <= thing.shape.offsets).all(axis=1)
    assert np.array_equal(inside, far == 0.0)


def test_the_way_out_is_to_the_side_that_a_line_is_on():
    table = Prop("table", "box", (0.0, 0.0, 0.7), size=(1.2, 0.8, 0.03))
    (thing,) = obstacle.of([table])
    for start, end, way in (((-0.2, 0.0, 0.75), (0.1, 0.1, 0.8), (0, 0, 1)),
                            ((0.0, -0.1, 0.6), (0.3, 0.1, 0.5), (0, 0, -1)),
                            ((0.0, -0.5, 0.9), (0.0, -0.48, 0.4), (0, -1, 0))):
        found = thing.ways([(np.array([start]), np.array([end]))])[0]
        assert found @ way > 0.95
    leaning = thing.ways([(np.array([[0.0, -0.5, 0.68]]), np.array([[0.0, -0.3, 0.8]]))])[0]  # over the edge
    assert leaning @ rotation.normalize(np.array([0.0, -1.0, 1.0])) > 0.95


# Meshes

def bench():
    """(points, faces) of an L, 1 m wide: a seat 0.4 deep and 0.45 high, a back 0.1 thick and 0.9 high."""
    outline = np.array([(0.0, 0.0), (0.5, 0.0), (0.5, 0.9), (0.4, 0.9), (0.4, 0.45), (0.0, 0.45)])  # (y, z)
    points = np.concatenate([np.column_stack([np.full(6, x), outline]) for x in (-0.5, 0.5)])
    caps = [(0, 1, 4), (0, 4, 5), (1, 2, 3), (1, 3, 4)]
    sides = [f for i in range(6) for j in [(i + 1) % 6] for f in ((i, j, j + 6), (i, j + 6, i + 6))]
    faces = [*((c, b, a) for a, b, c in caps), *((a + 6, b + 6, c + 6) for a, b, c in caps), *sides]
    return points, np.array(faces)


def mesh_prop(points, faces, name="bench"):
    points, faces = (tuple(map(tuple, part.tolist())) for part in mesh.closed(points, faces))
    return Prop(name, "mesh", points=points, faces=faces)


def in_pieces(prop, places):
    """Whether each place lies in one of the pieces of a prop."""
    return np.any([(places @ one.shape.normals.T <= one.shape.offsets).all(axis=1) for one in piece.pieces_of(prop)],
                  axis=0)


def test_an_l_shaped_bench_is_cut_into_two_pieces_that_are_it():
    prop = mesh_prop(*bench())
    pieces = carve.pieces(prop.points, prop.faces)
    assert len(pieces) == 2
    places = np.random.default_rng(0).uniform((-0.7, -0.2, -0.2), (0.7, 0.7, 1.1), (20000, 3))
    x, y, z = places.T
    inside = (np.abs(x) < 0.5) & (z > 0.0) & ((y > 0.0) & (y < 0.5) & (z < 0.45) | (y > 0.4) & (y < 0.5) & (z < 0.9))
    assert np.array_equal(in_pieces(prop, places), inside)


def test_what_parts_two_pieces_is_no_way_out():
    """Of each face that leads out some is surface: what lies just beyond it is outside of all pieces."""
    prop, random = mesh_prop(*bench()), np.random.default_rng(0)
    things = piece.pieces_of(prop)
    assert sum(int((~one.shape.outer).sum()) for one in things) == 1, "of the two sides of the cut one is a face, too"
    for one in things:
        for normal, offset in zip(one.shape.normals[one.shape.outer], one.shape.offsets[one.shape.outer]):
            on = one.shape.corners[one.shape.corners @ normal > offset - 1e-6]
            places = random.dirichlet(np.ones(len(on)), 500) @ on
            assert not in_pieces(prop, places + 2e-3 * normal).all()


def test_who_has_sunk_into_the_back_is_above_the_seat_and_not_behind_it():
    """2 cm behind the back's face and 5 cm below the seat's: the nearest face of the seat is where it was cut off."""
    ends = np.array([[-0.1, 0.42, 0.4]]), np.array([[0.1, 0.42, 0.4]])
    seat = max(piece.pieces_of(mesh_prop(*bench())), key=lambda one: -one.shape.corners[:, 1].mean())
    assert seat.shape.corners.max(axis=0) == pytest.approx((0.5, 0.4, 0.45))
    assert seat.ways([ends])[0] @ (0.0, 0.0, 1.0) > 0.9


def test_a_round_thing_is_no_larger_than_it_is_by_more_than_a_millimetre_or_two():
    turn, up = np.meshgrid(np.linspace(0.0, 2.0 * np.pi, 32, endpoint=False), np.linspace(0.0, np.pi, 17))
    points = 0.2 * np.stack([np.sin(up) * np.cos(turn), np.sin(up) * np.sin(turn), np.cos(up)], axis=-1).reshape(-1, 3)
    i = np.arange(16 * 32)
    j = i - i % 32 + (i + 1) % 32
    prop = mesh_prop(points, np.concatenate([np.stack([i, i + 32, j + 32], 1), np.stack([i, j + 32, j], 1)]), "ball")
    ways = rotation.normalize(np.random.default_rng(0).normal(size=(4000, 3)))
    assert in_pieces(prop, 0.195 * ways).all() and not in_pieces(prop, 0.204 * ways).any()


@pytest.mark.parametrize("broken, why", [("open", "a face is missing"), ("inside out", "one face looks inwards")])
def test_what_is_not_closed_is_no_solid(broken, why):
    points, faces = bench()
    faces = faces[:-1] if broken == "open" else np.concatenate([faces[:-1], faces[-1:, ::-1]])
    assert mesh.closed(points, faces) is None, why
    assert obstacle.of([Prop("bench", "mesh")]) == []


def test_corners_that_lie_on_one_another_are_one_and_all_faces_look_outwards():
    points, faces = bench()
    split = points[faces].reshape(-1, 3)
    for turned in (faces, faces[:, ::-1]):
        order = [0, 1, 2] if turned is faces else [2, 1, 0]
        out, own = mesh.closed(split, np.arange(len(split)).reshape(-1, 3)[:, order])
        assert len(out) == 12
        assert np.linalg.det(out[own]).sum() / 6.0 == pytest.approx(0.4 * 0.45 + 0.1 * 0.9)


@pytest.mark.parametrize("prop", [Prop("a", "box", size=(1.0, 1.0, 1.0), moves=True),
                                  Prop("a", "place", size=(1.0, 1.0, 1.0)), Prop("a", "box"),
                                  Prop("a", radius=0.1, moves=True)])
def test_what_moves_or_is_not_known_is_no_obstacle(prop):
    assert obstacle.of([prop]) == []


# The depth that is measured

def test_depth_in_a_box_is_that_of_points_strewn_densely():
    random = np.random.default_rng(1)
    triangles = np.array(_CRATE.point) + random.normal(0.0, 0.1, (200, 1, 3)) + random.normal(0.0, 0.05, (200, 3, 3))
    points, faces = mesh.box(_CRATE)
    found = mesh.depths(triangles, np.arange(200), 200, points[faces])
    own = [(strewn(t, np.array([[0, 1, 2]])) - _CRATE.point) @ np.array(_CRATE.axes).T for t in triangles]
    told = np.array([np.max(np.min(0.5 * np.array(_CRATE.size) - np.abs(places), axis=1)) for places in own])
    assert (told > 0.0).sum() > 50
    assert np.abs(found - np.maximum(told, 0.0)).max() < 2e-3 and np.all(found > 0.99 * told - 5e-5)


def test_depth_in_a_hollow_thing_is_from_its_own_surface():
    """A ball's middle in the crook of the bench: 3 cm above the seat it is outside, 3 cm below inside."""
    points, faces = mesh.closed(*bench())
    solid = points[faces]
    tiny = 1e-4 * np.eye(3)
    for place, depth in (((0.0, 0.2, 0.48), 0.0), ((0.0, 0.2, 0.42), 0.03), ((0.0, 0.45, 0.6), 0.05),
                         ((0.0, 0.37, 0.8), 0.0), ((0.0, 0.41, 0.44), np.hypot(0.01, 0.01)), ((0.0, 0.45, 0.88), 0.02)):
        (found,) = mesh.depths((np.array(place) + tiny)[None], np.zeros(1, int), 1, solid)
        assert found == pytest.approx(depth, abs=2e-4)
