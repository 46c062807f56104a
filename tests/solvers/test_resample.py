"""Resampling is exact in time and turns rotations as rotations."""

import numpy as np
import pytest

from foothold.solvers import resample, rotation
from foothold.solvers.errors import FootholdError
from foothold.solvers.skeleton import Channels


def spin(fps, seconds=2.0, rate=4.0):
    time = np.arange(int(round(fps * seconds)) + 1) / fps
    turn = rotation.continuous(rotation.exp(rate * time[:, None, None] * np.array([0.0, 0.6, 0.8])))
    place = np.stack([time, time ** 0, -2.0 * time], axis=-1)[:, None]
    return Channels(place, turn, np.ones_like(place))


@pytest.mark.parametrize("source,target", [(60.0, 30.0), (120.0, 24.0), (30.0, 100.0), (29.97, 60.0), (100.0, 29.97)])
def test_values_lie_at_their_instants(source, target):
    clip = spin(source)
    times = resample.sample_times(len(clip.rotation), source, target)
    out = resample.resample(clip, times)
    seconds = np.arange(len(times)) / target
    assert times[-1] <= len(clip.rotation) - 1 < times[-1] + source / target + 1e-6
    assert np.allclose(out.location[:, 0, 0], seconds, atol=1e-9)
    want = rotation.exp(4.0 * seconds[:, None] * np.array([0.0, 0.6, 0.8]))
    assert rotation.angle(out.rotation[:, 0], want).max() < 1e-6
    assert np.allclose(np.linalg.norm(out.rotation, axis=-1), 1.0)


def test_the_same_rate_gives_the_same_bits():
    clip = spin(60.0)
    out = resample.resample(clip, resample.sample_times(len(clip.rotation), 60.0, 60.0))
    assert all(np.array_equal(a, b) for a, b in zip(out, clip))


def test_every_second_frame_is_taken_as_it_is():
    clip = spin(60.0)
    out = resample.resample(clip, resample.sample_times(len(clip.rotation), 60.0, 30.0))
    assert np.array_equal(out.rotation, clip.rotation[::2])


@pytest.mark.parametrize("fps", [0.0, -1.0, float("nan")])
def test_a_rate_that_is_none_is_refused(fps):
    with pytest.raises(FootholdError, match="Frame rate"):
        resample.sample_times(10, 60.0, fps)
