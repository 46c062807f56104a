"""Cuts of a take: found where a motion begins anew, and nowhere else."""

import numpy as np
import pytest

from foothold.solvers import cuts


def walking(frames, fps, seed=0):
    """Joints (F, 20, 3) of a body 1.7 m tall that walks at 1.4 m/s, limbs swinging, with a capture's noise."""
    rng = np.random.default_rng(seed)
    time = np.arange(frames)[:, None] / fps
    rest = rng.uniform(-0.3, 0.3, (20, 3)) + np.linspace(0.0, 1.7, 20)[:, None] * np.array([0.0, 0.0, 1.0])
    swing = 0.3 * np.sin(2.0 * np.pi * time + rng.uniform(0.0, 6.0, 20))
    out = rest[None] + rng.normal(0.0, 5e-4, (frames, 20, 3))
    out[..., 1] += swing - 1.4 * time
    return out


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0, 120.0])
@pytest.mark.parametrize("size", [0.01, 1.0])
@pytest.mark.parametrize("at", [1, 40, 99])
def test_a_pose_that_jumps_into_the_motion_is_a_cut(fps, size, at):
    motion = walking(100, fps)
    motion[:at] += np.array([0.3, 0.8, -0.1])
    assert cuts.find(size * motion, fps).tolist() == [at]
    assert cuts.shots(size * motion, fps) == [slice(0, at), slice(at, 100)]


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0, 120.0])
def test_a_motion_that_goes_on_has_no_cut(fps):
    assert cuts.shots(walking(200, fps), fps) == [slice(0, 200)]


def test_what_falls_and_lands_at_once_is_not_cut():
    fps, motion = 60.0, walking(240, 60.0)
    time = np.arange(240) / fps
    motion[..., 2] += np.where(time < 2.0, np.maximum(2.0 - 4.9 * np.maximum(time - 1.36, 0.0) ** 2, 0.0), 0.0)[:, None]
    assert cuts.find(motion, fps).tolist() == []


def test_a_glitch_of_an_arm_is_no_cut():
    motion = walking(100, 60.0)
    motion[50:, :6] += 0.5
    assert cuts.find(motion, 60.0).tolist() == []


def test_two_cuts_are_found_both():
    motion = walking(100, 60.0)
    motion[30:] += 0.6
    motion[70:] += np.array([-1.0, 0.2, 0.1])
    assert cuts.find(motion, 60.0).tolist() == [30, 70]


@pytest.mark.parametrize("frames", [1, 2, 3, 4])
def test_a_clip_of_few_frames_tells_none(frames):
    motion = walking(frames, 30.0)
    motion[0] += 1.0
    assert cuts.shots(motion, 30.0) == [slice(0, frames)]
