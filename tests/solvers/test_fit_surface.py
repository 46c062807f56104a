"""Skin in motion against a loop over its vertices, and the vertices that can be the lowest against all of them."""

import numpy as np
import pytest
from figures import build, dance, play

from foothold.solvers import rotation
from foothold.solvers.fit import flesh, surface
from foothold.solvers.skeleton import rest_motion


def scattered(figure, count=60, seed=2):
    """A Skin of lone vertices about the joints, each on one to four bones; some on none."""
    rng = np.random.default_rng(seed)
    joints = len(figure.skeleton.names)
    bones, weights = np.full((count, flesh.LARGEST), -1), np.zeros((count, flesh.LARGEST))
    for i in range(count):
        n = i % 5  # every fifth is carried by no bone
        bones[i, :n] = rng.choice(joints, n, replace=False)
        share = np.sort(rng.uniform(0.1, 1.0, n))[::-1]
        weights[i, :n] = share / share.sum() if n else 0.0
    points = figure.rest.positions[0, rng.integers(joints, size=count)] + rng.normal(0.0, 0.1, (count, 3))
    return flesh.Skin(points, np.zeros((0, 3), int), bones, weights, np.zeros(count, bool))


def matrix(turn, head):
    """(4, 4) of a world rotation (4,) and a place (3,)."""
    w, x, y, z = turn
    out = np.eye(4)
    out[:3, :3] = [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                   [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                   [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]
    out[:3, 3] = head
    return out


def skinned(bound, skin, motion, vertices):
    """World places (F, V, 3), vertex by vertex, as an armature modifier reckons: the weighted sum of what the bones'
    matrices make of it."""
    out = np.zeros((len(motion.positions), len(vertices), 3))
    for f in range(len(motion.positions)):
        for n, v in enumerate(vertices):
            for joint, weight in zip(skin.bones[v], skin.weights[v]):
                if weight > 0.0:
                    rest = matrix(bound.rotations[0, joint], bound.positions[0, joint])
                    now = matrix(motion.rotations[f, joint], motion.positions[f, joint])
                    out[f, n] += weight * (now @ np.linalg.inv(rest) @ np.append(skin.points[v], 1.0))[:3]
    return out


@pytest.mark.parametrize("seed", [None, 3])
def test_skin_follows_its_bones_as_a_loop_over_vertices_says(seed):
    world = np.eye(4)
    world[:3, :3] = 0.01 * rotation.to_matrix(rotation.exp(np.array([0.4, -0.2, 1.0])))
    figure = build(seed=seed, world=world)
    skin = scattered(figure)
    keep = np.arange(60) % 7 != 0
    bound = surface.bind(figure.rest, skin, keep)
    wanted = [v for v in range(60) if v % 7 and v % 5]
    assert bound.vertices.tolist() == wanted and bound.count == len(wanted)
    motion = play(figure, dance(figure, frames=9))
    truth = skinned(figure.rest, skin, motion, wanted)
    assert np.abs(surface.places(bound, motion) - truth).max() < 1e-12
    assert np.abs(surface.places(bound, motion, [7, 2]) - truth[[7, 2]]).max() < 1e-12
    frames, vertices = np.array([0, 8, 3, 3]), np.array([5, 0, 11, 12])
    assert np.abs(surface.some(bound, motion, frames, vertices) - truth[frames, vertices]).max() < 1e-12
    way = np.array([0.6, 0.0, -0.8])
    assert np.abs(surface.lowest(bound, motion, way) - (truth @ way).min(axis=1)).max() < 1e-12
    assert np.abs(surface.along(bound, motion, way, slice(3, 6)) - truth[3:6] @ way).max() < 1e-12


def test_skin_at_rest_is_where_it_was_read():
    figure = build(seed=4)
    skin = scattered(figure)
    bound = surface.bind(rest_motion(figure.skeleton), skin, np.ones(60, bool))
    assert np.abs(surface.places(bound, figure.rest)[0] - skin.points[bound.vertices]).max() < 1e-12


def test_no_vertices_are_no_surface():
    figure = build()
    bound = surface.bind(figure.rest, scattered(figure), np.zeros(60, bool))
    assert bound.count == 0 and surface.places(bound, figure.rest).shape == (1, 0, 3)


# The lowest of all

def blob(count, seed=0):
    """Vertices (count, 3) spread evenly over a lumpy ball of one metre."""
    ways = surface._sphere(count)
    lumps = np.random.default_rng(seed).normal(size=(6, 3))
    return ways * (1.0 + 0.05 * np.sin(3.0 * ways @ lumps.T).sum(axis=1))[:, None] * (1.0, 0.6, 0.8)


def carried(points, weights):
    """The Skin of vertices (N, 3) on bones 0 and 1 by weights (N,) of the second."""
    shares = np.stack([1.0 - weights, weights], axis=-1)
    order = np.argsort(-shares, axis=1, kind="stable")
    pad = np.zeros((len(points), flesh.LARGEST - 2))
    return flesh.Skin(points, np.zeros((0, 3), int), np.hstack([order, pad.astype(int) - 1]),
                      np.hstack([np.take_along_axis(shares, order, axis=1), pad]), np.zeros(len(points), bool))


def lowest_missed(skin, joint, turns):
    """Metres (F,) by which the lowest of the outermost vertices lies over the lowest of all, while bone 0 turns about
    the world's middle by `turns` (F, 2, 4) and bone 1 about `joint` (3,), which bone 0 carries."""
    outer = surface.outermost(skin, np.ones(len(skin.points), bool))
    first = rotation.rotate(turns[:, :1], skin.points)
    second = rotation.rotate(turns[:, :1], joint) + rotation.rotate(turns[:, 1:], skin.points - joint)
    share = np.sum(skin.weights * (skin.bones == 1), axis=1)
    heights = (1.0 - share) * first[..., 2] + share * second[..., 2]
    return heights[:, outer].min(axis=1) - heights.min(axis=1)


def turns_of(count, seed):
    """World rotations (count, 4), evenly random."""
    return rotation.normalize(np.random.default_rng(seed).normal(size=(count, 4)))


def test_no_corner_of_a_box_or_a_star_is_left_out():
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    star = np.concatenate([np.eye(3), -np.eye(3)])
    for shape in (corners * (0.04, 0.12, 0.02), 0.3 * star, [[0.1, 0.2, 0.3]]):
        points = np.concatenate([shape, 0.3 * np.mean(shape, axis=0) + 0.5 * np.asarray(shape)])  # and some inside
        skin = carried(points, np.zeros(len(points)))
        turns = turns_of(500, 6)[:, None].repeat(2, axis=1)
        assert lowest_missed(skin, np.zeros(3), turns).max() < 1e-12


def test_the_lowest_of_a_ball_is_found_as_nearly_as_directions_six_degrees_apart_tell():
    points = 0.1 * surface._sphere(5000)
    skin = carried(points, np.zeros(5000))
    turns = turns_of(200, 7)[:, None].repeat(2, axis=1)
    assert lowest_missed(skin, np.zeros(3), turns).max() < 0.1 * (1.0 - np.cos(np.radians(6.0)))


def test_the_lowest_of_a_head_is_found():
    """Of a lumpy ball of 10 cm, in any attitude, within a tenth of a millimetre."""
    skin = carried(0.1 * blob(5000), np.zeros(5000))
    assert lowest_missed(skin, np.zeros(3), turns_of(300, 8)[:, None].repeat(2, axis=1)).max() < 1e-4


@pytest.mark.parametrize("blend", [0.02, 0.05])
def test_the_lowest_of_a_bent_knee_is_found(blend):
    """Of a straight tube of two bones whose skin goes over from one to the other along `blend` metres to both sides of
    the joint, bent by up to 130 degrees."""
    around, high = np.meshgrid(np.linspace(0.0, 2.0 * np.pi, 32, endpoint=False), np.linspace(0.0, 0.8, 81))
    points = np.stack([0.055 * np.cos(around), 0.055 * np.sin(around), high], axis=-1).reshape(-1, 3)
    skin = carried(points, np.clip((points[:, 2] - 0.4) / (2.0 * blend) + 0.5, 0.0, 1.0))
    bend = np.linspace(0.0, 2.3, 300)[:, None] * [1.0, 0.0, 0.0]
    first = turns_of(300, 9)
    turns = np.stack([first, rotation.mul(first, rotation.exp(bend))], axis=1)
    assert lowest_missed(skin, np.array([0.0, 0.0, 0.4]), turns).max() < 1e-4


def test_only_vertices_that_are_asked_for_and_carried_are_outermost():
    figure = build(seed=3)
    skin = scattered(figure)
    keep = np.arange(60) % 3 == 0
    outer = surface.outermost(skin, keep)
    assert outer.any() and not (outer & ~keep).any() and not outer[skin.weights.sum(axis=1) == 0.0].any()
    alone = [np.flatnonzero(keep & (skin.bones[:, 0] == j)) for j in range(len(figure.skeleton.names))]
    assert all(outer[own[0]] for own in alone if len(own) == 1), "a bone's only vertex is its outermost"


def test_no_vertex_is_below_the_bound_and_one_that_hangs_down_is_on_it():
    figure = build()
    skin, motion = scattered(figure), play(figure, dance(figure, frames=40))
    bound = rest_motion(figure.skeleton)
    whole = surface.bind(bound, skin, np.ones(len(skin.points), bool))
    for direction in (np.array([0.0, 0.0, 1.0]), rotation.normalize(np.array([0.3, -0.8, 0.2]))):
        low, lowest = (of(whole, motion, direction) for of in (surface.bound, surface.lowest))
        assert (low <= lowest + 1e-12).all() and (low > lowest - 3.0).all()
    joint = figure.roles["hand.L"]
    points = bound.positions[:1, joint] - [[0.0, 0.0, 0.2]]
    one = skin._replace(points=points, bones=np.array([[joint, -1, -1, -1]]), weights=np.array([[1.0, 0.0, 0.0, 0.0]]))
    hanging = surface.bind(bound, one, np.ones(1, bool))
    np.testing.assert_allclose(surface.bound(hanging, bound, [0.0, 0.0, 1.0]), points[:, 2], atol=1e-12)
