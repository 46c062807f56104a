"""Where the root goes: from a way that it has already, and past halves of space; against a slow exact solution."""

import numpy as np
import pytest

from foothold.solvers.fit import root

_FPS = 30.0


def half(frames, normal, need, first, last):
    """A root.Half from frame to frame."""
    mask = np.zeros(frames, bool)
    mask[first:last + 1] = True
    return root.Half(mask, np.tile(np.asarray(normal, float), (frames, 1)), np.broadcast_to(need, frames).astype(float))


def ball(frames, centre, radius, first, last):
    """A root.Ball from frame to frame."""
    mask = np.zeros(frames, bool)
    mask[first:last + 1] = True
    return root.Ball(mask, np.broadcast_to(np.asarray(centre, float), (frames, 3)), np.full(frames, radius))


def short(one, place):
    """By how much (F,) an offset misses a Half."""
    return np.where(one.frames, one.need - np.sum(place * one.normal, axis=-1), -np.inf)


def exact(frames, mask, need):
    """The cheapest offset (F,) along one direction that is at least `need` (F,) where `mask`: by a set of frames at
    which it is met exactly, with dense matrices."""
    second = np.diff(np.eye(frames), n=2, axis=0)
    ends = np.zeros((2, frames))
    ends[0, :2], ends[1, -2:] = [-1.0, 1.0], [1.0, -1.0]  # as an even extension has them
    bend = np.concatenate([second, ends])
    cost = np.eye(frames) + (0.35 * _FPS) ** 4 * bend.T @ bend
    free = np.linalg.inv(cost)
    active = []
    while True:
        out, push = np.zeros(frames), np.zeros(0)
        if active:
            push = np.linalg.solve(free[np.ix_(active, active)], need[active])
            out = free[:, active] @ push
        if (push < -1e-12).any():
            active.pop(int(np.argmin(push)))
            continue
        missed = np.where(mask, need - out, -np.inf)
        if missed.max() < 1e-9:
            return out
        active.append(int(np.argmax(missed)))


def test_without_need_the_way_that_there_is_stays_bit_for_bit():
    base = 0.1 * np.random.default_rng(1).normal(size=(90, 3))
    assert np.array_equal(root.offset([], 90, _FPS, base), base)
    met = half(90, (0.0, 0.0, 1.0), base[:, 2] - 1e-6, 10, 80)
    assert np.array_equal(root.offset([met, ball(90, base[40], 0.9, 0, 89)], 90, _FPS, base), base)
    unasked = half(90, (1.0, 0.0, 0.0), 9.0, 5, 4)
    assert np.array_equal(root.offset([unasked], 90, _FPS, base), base)


@pytest.mark.parametrize("normal", [(0.0, 0.0, 1.0), (0.6, -0.8, 0.0)])
@pytest.mark.parametrize("first, last", [(60, 100), (0, 30), (80, 80), (0, 149)])
def test_past_one_half_it_goes_as_the_exact_solution_does(normal, first, last):
    frames = 150
    need = 0.08 + 0.03 * np.sin(0.15 * np.arange(frames))
    one = half(frames, normal, need, first, last)
    place = root.offset([one], frames, _FPS)
    along = place @ normal
    assert short(one, place).max() < 6e-4
    assert np.abs(place - along[:, None] * normal).max() < 1e-12, "nothing aside"
    assert along == pytest.approx(exact(frames, one.frames, need), abs=2e-3)


def test_a_half_counts_from_nothing_and_the_way_from_what_there_was():
    """The same place is reached whatever the base is; only what is done besides is counted from the base."""
    frames = 150
    time = np.arange(frames)
    base = np.stack([0.05 * np.sin(0.05 * time), 0.0 * time, 0.02 * np.cos(0.04 * time)], axis=-1)
    one = half(frames, (0.0, 0.0, 1.0), 0.1, 60, 90)
    place = root.offset([one], frames, _FPS, base)
    assert short(one, place).max() < 6e-4
    assert np.abs((place - base)[:, :2]).max() < 1e-12
    assert (place - base)[:, 2] == pytest.approx(exact(frames, one.frames, 0.1 - base[:, 2]), abs=2e-3)
    constant = root.offset([one], frames, _FPS, np.tile([0.3, 0.0, 0.06], (frames, 1)))
    assert constant[:, 2] - 0.06 == pytest.approx(exact(frames, one.frames, np.full(frames, 0.04)), abs=2e-3)
    assert np.abs(constant[:, 0] - 0.3).max() < 1e-12


def test_a_ball_counts_from_nothing_too():
    base = np.tile([0.1, 0.0, 0.0], (120, 1))
    one = ball(120, (0.4, 0.0, 0.0), 0.1, 40, 80)
    place = root.offset([one], 120, _FPS, base)
    assert np.linalg.norm(place - one.centre, axis=-1)[40:81].max() < 0.1 + 6e-4
    assert place[60, 0] == pytest.approx(0.3, abs=5e-3) and place[60, 1:] == pytest.approx(0.0, abs=1e-12)


def test_two_halves_are_met_in_their_corner():
    frames = 150
    first, second = (half(frames, n, need, 50, 100) for n, need in (((0.0, 0.0, 1.0), 0.06), ((0.8, 0.0, 0.6), 0.1)))
    place = root.offset([first, second], frames, _FPS)
    assert max(short(first, place).max(), short(second, place).max()) < 6e-4
    assert place[75] == pytest.approx([0.08, 0.0, 0.06], abs=3e-3), "the nearest that is in both"


def test_halves_that_face_each_other_share_what_cannot_be():
    frames = 120
    halves = [half(frames, (sign, 0.0, 0.0), 0.1, 40, 80) for sign in (1.0, -1.0)]
    place = root.offset(halves, frames, _FPS)
    assert np.isfinite(place).all() and np.abs(place).max() < 0.02


def test_a_normal_that_turns_is_followed():
    """Past a thing that she circles: outside at every frame, and no farther than needed."""
    frames = 200
    angle = np.linspace(0.0, 4.0, frames)
    normals = np.stack([np.cos(angle), np.sin(angle), np.zeros(frames)], axis=-1)
    one = root.Half(np.ones(frames, bool), normals, np.full(frames, 0.1))
    place = root.offset([one], frames, _FPS)
    assert short(one, place).max() < 6e-4
    assert np.linalg.norm(place, axis=-1).max() < 0.13
