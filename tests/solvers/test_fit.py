"""The parts of the fit against what must hold of each."""

import numpy as np
import pytest

from foothold.solvers import rotation
from foothold.solvers.fit import limbs, root


def arm(frames=200, seed=1, straight=False):
    """Joints (F, 3) of a limb that moves smoothly, and its hinge's axis."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 2.0 * np.pi, frames)[:, None]
    turn = rotation.exp(0.7 * np.sin(t + rng.uniform(0, 6, 3)))
    bend = (0.02 * np.sin(3.0 * t[:, 0]) if straight else 0.8 + 0.6 * np.sin(2.0 * t[:, 0]))
    hinge = rotation.rotate(turn, np.array([0.0, 0.0, 1.0]))
    shoulder = 0.1 * np.sin(t * np.array([1.0, 2.0, 1.0]))
    elbow = shoulder + rotation.rotate(turn, np.array([0.28, 0.0, 0.0]))
    lower = rotation.mul(turn, rotation.exp(bend[:, None] * np.array([0.0, 0.0, 1.0])))
    return shoulder, elbow, elbow + rotation.rotate(lower, np.array([0.24, 0.0, 0.0])), hinge


def solved(shoulder, elbow, wrist, hinge, target):
    axis = limbs.hinge(elbow - shoulder, wrist - elbow, hinge)
    upper, lower, gap = limbs.solve(shoulder, elbow, wrist, axis, target)
    new_elbow = shoulder + rotation.rotate(upper, elbow - shoulder)
    return new_elbow, new_elbow + rotation.rotate(lower, wrist - elbow), upper, lower, gap


@pytest.mark.parametrize("straight", [False, True])
def test_the_end_comes_to_the_target_and_lengths_stay(straight):
    shoulder, elbow, wrist, hinge = arm(straight=straight)
    target = shoulder + 0.8 * (wrist - shoulder) + np.array([0.04, -0.06, 0.02])
    new_elbow, new_wrist, *_, gap = solved(shoulder, elbow, wrist, hinge, target)
    assert np.linalg.norm(new_wrist - target, axis=-1).max() < 1e-9 and gap.max() < 1e-9
    assert np.abs(np.linalg.norm(new_elbow - shoulder, axis=-1) - 0.28).max() < 1e-12
    assert np.abs(np.linalg.norm(new_wrist - new_elbow, axis=-1) - 0.24).max() < 1e-12


def test_a_limb_that_is_there_already_stays():
    shoulder, elbow, wrist, hinge = arm()
    _, _, upper, lower, _ = solved(shoulder, elbow, wrist, hinge, wrist)
    assert max(rotation.angle(upper).max(), rotation.angle(lower).max()) < 1e-7


def test_what_is_out_of_reach_is_pointed_at_and_told():
    shoulder, elbow, wrist, hinge = arm()
    way = rotation.normalize(wrist - shoulder)
    new_elbow, new_wrist, *_, gap = solved(shoulder, elbow, wrist, hinge, shoulder + 0.6 * way)
    assert gap == pytest.approx(0.6 - 0.52 * 0.9995, abs=1e-6)
    assert rotation.vector_angle(new_wrist - shoulder, way).max() < 1e-6


def test_nothing_pops_near_straight():
    """A limb that stretches, bends the other way by a hair and comes back, led along a smooth path."""
    shoulder, elbow, wrist, hinge = arm(600, straight=True)
    t = np.linspace(0.0, 1.0, 600)[:, None]
    target = shoulder + (0.97 + 0.028 * np.sin(12.0 * t)) * (wrist - shoulder)
    _, _, upper, lower, _ = solved(shoulder, elbow, wrist, hinge, target)
    for turns in (upper, lower):
        steps = rotation.angle(turns[1:], turns[:-1])
        assert steps.max() < np.radians(3.0)


def test_the_bend_stays_in_the_performers_plane():
    shoulder, elbow, wrist, hinge = arm()
    target = shoulder + 0.8 * (wrist - shoulder)
    new_elbow, new_wrist, *_ = solved(shoulder, elbow, wrist, hinge, target)
    before = rotation.normalize(rotation.cross(elbow - shoulder, wrist - elbow))
    after = rotation.normalize(rotation.cross(new_elbow - shoulder, new_wrist - new_elbow))
    assert rotation.dot(before, after).min() > 0.999


# The root

def ball(frames, centre, radius, first, last):
    mask = np.zeros(frames, bool)
    mask[first:last] = True
    return root.Ball(mask, np.broadcast_to(np.asarray(centre, float), (frames, 3)), np.full(frames, radius))


def test_without_need_the_root_stays_bit_for_bit():
    place, missed = root.offset([ball(300, (0.1, 0.0, 0.0), 0.2, 50, 250)], 300, 60.0)
    assert not place.any() and not missed[0].any()


def test_the_offset_lies_in_every_ball_and_is_as_small_as_can_be():
    balls = [ball(600, (0.3, 0.0, 0.0), 0.2, 100, 300), ball(600, (0.0, 0.25, 0.0), 0.2, 250, 500)]
    place, missed = root.offset(balls, 600, 60.0)
    assert max(m.max() for m in missed) < 1.5e-3
    assert np.linalg.norm(place[200]) == pytest.approx(0.1, abs=0.01)  # no further in than it has to be
    assert np.linalg.norm(place[450]) == pytest.approx(0.05, abs=0.01)
    assert np.linalg.norm(place[:10], axis=-1).max() < 0.012 and np.linalg.norm(place[-10:], axis=-1).max() < 0.012
    second = np.diff(place, n=2, axis=0) * 60.0 ** 2
    assert np.linalg.norm(second, axis=-1).max() < 6.0  # m/s2: it begins before it is needed


def test_what_cannot_be_is_told():
    balls = [ball(300, (0.5, 0.0, 0.0), 0.1, 100, 200), ball(300, (-0.5, 0.0, 0.0), 0.1, 100, 200)]
    place, missed = root.offset(balls, 300, 60.0)
    assert np.isfinite(place).all()
    assert missed[0][150] == pytest.approx(0.4, abs=0.02) and missed[1][150] == pytest.approx(0.4, abs=0.02)


def test_the_cosine_transform_goes_there_and_back():
    values = np.random.default_rng(2).normal(size=(37, 3))
    assert np.abs(root._cosine(root._cosine(values), back=True) - values).max() < 1e-12
    k = np.cos(np.pi * 5 * (np.arange(64) + 0.5) / 64)[:, None]
    assert np.flatnonzero(np.abs(root._cosine(k)[:, 0]) > 1e-9).tolist() == [5]
