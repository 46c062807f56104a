"""Quaternions against rotation matrices and against what they must do."""

import numpy as np
import pytest

from foothold.solvers import rotation as r


@pytest.fixture
def turns():
    return r.normalize(np.random.default_rng(1).normal(size=(500, 4)))


@pytest.fixture
def vectors():
    return np.random.default_rng(2).normal(size=(500, 3))


def test_product_is_first_right_then_left(turns, vectors):
    other = turns[::-1]
    assert np.allclose(r.rotate(r.mul(turns, other), vectors), r.rotate(turns, r.rotate(other, vectors)))


def test_matrices_agree_with_rotate_and_come_back(turns, vectors):
    assert np.allclose(np.einsum("nij,nj->ni", r.to_matrix(turns), vectors), r.rotate(turns, vectors))
    assert r.angle(r.from_matrix(r.to_matrix(turns)), turns).max() < 1e-7


@pytest.mark.parametrize("half_turn_about", range(3))
def test_half_turns_survive_the_matrix(half_turn_about):
    q = np.zeros(4)
    q[1 + half_turn_about] = 1.0
    assert r.angle(r.from_matrix(r.to_matrix(q)), q) < 1e-9


def test_between_takes_one_direction_to_the_other_by_the_shortest_way(vectors):
    q = r.between(vectors, vectors[::-1])
    assert np.allclose(r.normalize(r.rotate(q, vectors)), r.normalize(vectors[::-1]))
    assert np.allclose(r.angle(q), r.vector_angle(vectors, vectors[::-1]))


def test_between_opposite_directions_is_a_half_turn():
    for v in np.eye(3):
        q = r.between(v, -v)
        assert np.allclose(r.rotate(q, v), -v) and abs(r.angle(q) - np.pi) < 1e-9


def test_log_and_exp_are_inverse(turns):
    assert r.angle(r.exp(r.log(turns)), turns).max() < 1e-7
    assert np.allclose(r.log(r.IDENTITY), 0.0)


def test_slerp_turns_at_a_constant_rate():
    a, b = r.exp(np.array([0.1, 0.0, 0.0])), r.exp(np.array([0.1 + 1.5, 0.0, 0.0]))
    assert np.allclose(r.angle(r.slerp(a, b, np.array([0.0, 0.2, 1.0])), a), [0.0, 0.3, 1.5])


def test_slerp_goes_the_short_way_between_antipodal_signs(turns):
    assert r.angle(r.slerp(turns, -turns, np.array(0.5)), turns).max() < 1e-6


def test_swing_twist_gives_back_the_rotation_and_the_twist_turns_about_the_axis(turns):
    axis = r.normalize(np.array([1.0, 2.0, -0.5]))
    swing, twist = r.swing_twist(turns, axis)
    assert r.angle(r.mul(swing, twist), turns).max() < 1e-6
    assert np.allclose(np.cross(twist[:, 1:], axis), 0.0)
    assert np.abs(np.sum(swing[:, 1:] * axis, axis=-1)).max() < 1e-9


def test_twist_angle_of_a_pure_twist():
    axis = np.array([0.0, 1.0, 0.0])
    angles = np.linspace(-3.0, 3.0, 25)
    assert np.allclose(r.twist_angle(r.exp(angles[:, None] * axis), axis), angles)
    assert np.allclose(r.twist_angle(-r.exp(angles[:, None] * axis), axis), angles)


def test_continuous_signs_never_jump(turns):
    slow = r.exp(np.linspace(0, 20, 400)[:, None] * np.array([0.0, 0.6, 0.8]))
    flipped = slow * np.where(np.random.default_rng(3).random(400) < 0.5, -1.0, 1.0)[:, None]
    q = r.continuous(flipped)
    assert np.sum(q[1:] * q[:-1], axis=-1).min() > 0.99
    assert np.allclose(r.angle(q, slow), 0.0, atol=1e-7)


@pytest.mark.parametrize("order", r.EULER_ORDERS)
def test_euler_angles_come_back_in_every_order(turns, order):
    assert r.angle(r.from_euler(r.to_euler(turns, order), order), turns).max() < 1e-6


@pytest.mark.parametrize("order", r.EULER_ORDERS)
def test_continuous_euler_passes_through_gimbal_lock_without_a_jump(order):
    """The middle axis turns several times all around: plain decompositions jump by half turns at every lock."""
    angles = np.zeros((600, 3))
    angles[:, "XYZ".index(order[1])] = np.linspace(0.0, 4.0 * np.pi, 600) + 1e-3
    angles[:, "XYZ".index(order[0])] = 0.3
    q = r.from_euler(angles, order)
    plain = r.to_euler(q, order)
    found = r.continuous_euler(plain, order)
    assert np.abs(np.diff(plain, axis=0)).max() > 1.0
    assert np.abs(np.diff(found, axis=0)).max() < 0.1
    assert r.angle(r.from_euler(found, order), q).max() < 1e-6


def test_orthonormal_keeps_its_axis_under_uneven_scale(turns):
    m = np.diag([1.0, 2.0, 0.5]) @ r.to_matrix(turns)
    out = r.orthonormal(m, axis=1)
    assert np.allclose(out @ np.swapaxes(out, -1, -2), np.eye(3)) and np.allclose(np.linalg.det(out), 1.0)
    assert np.allclose(out[..., :, 1], r.normalize(m[..., :, 1]))
    assert np.allclose(r.orthonormal(r.to_matrix(turns)), r.to_matrix(turns))
