"""Skin in motion against a loop over its vertices, and the vertices that can be the lowest against all of them."""

import numpy as np
import pytest

from foothold.solvers import rotation
from foothold.solvers.fit import flesh, surface


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
    """By how many metres (F,) the lowest of the outermost vertices lies over the lowest of all, while bone 0 turns
    about the world's middle by `turns` (F, 2, 4) and bone 1 about `joint` (3,), which bone 0 carries."""
    outer = surface.outermost(skin, np.ones(len(skin.points), bool))
    first = rotation.rotate(turns[:, :1], skin.points)
    second = rotation.rotate(turns[:, :1], joint) + rotation.rotate(turns[:, 1:], skin.points - joint)
    share = np.sum(skin.weights * (skin.bones == 1), axis=1)
    heights = (1.0 - share) * first[..., 2] + share * second[..., 2]
    return heights[:, outer].min(axis=1) - heights.min(axis=1)


def turns_of(count, seed):
    """World rotations (count, 4), evenly random."""
    return rotation.normalize(np.random.default_rng(seed).normal(size=(count, 4)))


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
