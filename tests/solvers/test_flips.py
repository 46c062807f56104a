"""Flips of the capture: found where they are, and nowhere else, at any frame rate."""

import numpy as np
import pytest

from foothold.solvers import flips, rotation


def swing(fps, seconds=4.0, joints=3):
    time = np.arange(int(fps * seconds)) / fps
    angles = 1.2 * np.sin(2 * np.pi * time[:, None] * np.arange(1, joints + 1) * 0.3)
    return rotation.exp(angles[..., None] * np.array([0.3, 0.9, 0.3]))


def flipped(clean, joint, first, last):
    out = clean.copy()
    half = rotation.exp(np.pi * 0.95 * np.array([0.0, 1.0, 0.0]))
    out[first:last + 1, joint] = rotation.mul(out[first:last + 1, joint], half)
    return out


@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_flip_is_repaired_and_told(fps, length):
    clean = swing(fps)
    broken = flipped(clean, 1, 50, 49 + length)
    repaired, found = flips.repair(broken, fps)
    assert [(f.joint, f.first, f.last) for f in found] == [(1, 50, 49 + length)]
    assert np.degrees(rotation.angle(repaired, clean)).max() < 4.0 * 120.0 / fps
    others = np.ones(broken.shape[:2], bool)
    others[50:50 + length, 1] = False
    assert rotation.angle(repaired, broken)[others].max() < 1e-7


def test_a_clean_clip_is_given_back_as_it_is():
    clean = swing(60.0)
    repaired, found = flips.repair(clean, 60.0)
    assert repaired is clean and not found


def test_a_turn_that_stays_is_no_flip():
    """A T-pose frame before the motion jumps once and does not come back."""
    clip = swing(60.0)
    clip[0] = rotation.exp(np.array([0.0, 2.5, 0.0]))
    assert not flips.find(clip, 60.0)


def test_a_fast_spin_is_no_flip():
    spin = rotation.exp(np.linspace(0.0, 12 * np.pi, 120)[:, None, None] * np.array([0.0, 0.0, 1.0]))
    assert np.degrees(rotation.angle(spin[1], spin[0])).max() < 90.0
    assert not flips.find(spin, 60.0)


def test_two_flips_of_two_joints_are_both_found():
    broken = flipped(flipped(swing(60.0), 0, 20, 20), 2, 100, 101)
    repaired, found = flips.repair(broken, 60.0)
    assert {(f.joint, f.first, f.last) for f in found} == {(0, 20, 20), (2, 100, 101)}


def test_a_long_flip_keeps_what_moves_inside_it():
    """A thumb that stands turned half around for a second, comes back for two frames and turns again."""
    clean = swing(60.0)
    broken = flipped(flipped(clean, 1, 60, 140), 1, 143, 149)
    repaired, found = flips.repair(broken, 60.0)
    assert [(f.first, f.last) for f in found] == [(60, 140), (143, 149)]
    assert np.degrees(rotation.angle(repaired, clean)).max() < 8.0


def test_a_flip_in_the_middle_of_a_moving_skeleton_is_turned_back_for_all_that_hangs_from_it():
    from figures import build, dance, play
    figure = build(seed=1)
    channels = dance(figure, amount=0.4)
    clean = play(figure, channels)
    broken = channels._replace(rotation=flipped(channels.rotation, figure.roles["upper_arm.L"], 40, 41))
    repaired, found = flips.repair_motion(play(figure, broken), figure.skeleton.parents, 60.0)
    assert len(found) == 1
    assert np.abs(repaired.positions - clean.positions).max() < 0.05
    assert np.abs(play(figure, broken).positions - clean.positions).max() > 0.3
