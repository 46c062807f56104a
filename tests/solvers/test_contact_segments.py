"""The parts that contacts are found with, each against what must come out."""

import numpy as np
import pytest

from foothold.solvers.contacts import segments, signals


@pytest.mark.parametrize("lift", [100.3, 101.0, 102.7])
@pytest.mark.parametrize("step", [1, -1])
def test_an_edge_is_where_the_parabola_leaves_the_surface(lift, step):
    t = np.arange(200.0)
    distance = 0.0007 * np.maximum(t - lift, 0.0) ** 2
    inside = 60
    if step < 0:
        distance, lift, inside = distance[::-1], 199.0 - lift, 139
    assert segments.edge(distance, inside, step, 0.0004, 0.02) == pytest.approx(lift, abs=0.35)


@pytest.mark.parametrize("lift", [100.3, 101.0, 102.7])
@pytest.mark.parametrize("fps, low", [(30.0, 0.0004), (30.0, 0.006), (60.0, 0.0004), (60.0, 0.006), (120.0, 0.0004)])
def test_an_edge_is_where_a_led_limb_leaves_the_surface(lift, fps, low):
    """As hands reach: the distance grows by the third power of the time."""
    t = np.arange(200.0)
    distance = 0.08 * (0.1 * 120.0 / fps * np.maximum(t - lift, 0.0)) ** 3
    assert segments.edge(distance, 60, 1, low, max(0.016, 4.0 * low)) == pytest.approx(lift, abs=0.15)


def test_an_edge_at_the_end_of_the_clip_is_the_end():
    assert segments.edge(np.zeros(50), 20, 1, 0.001, 0.02) == 49.0
    assert segments.edge(np.zeros(50), 20, -1, 0.001, 0.02) == 0.0


def test_noise_does_not_end_a_hold():
    noise = 0.001 * np.random.default_rng(3).normal(size=300)
    distance = np.abs(noise) + 0.001 * np.maximum(np.arange(300.0) - 200.0, 0.0) ** 2
    assert segments.edge(distance, 100, 1, 0.004, 0.016) == pytest.approx(200.0, abs=2.0)


@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0])
def test_the_program_finds_the_hold_and_the_ways_to_and_from_it(fps):
    t = np.arange(int(6 * fps)) / fps
    away = np.clip(np.abs(t - 3.0) - 1.0, 0.0, 0.5)
    near, rate = 0.03, np.abs(np.gradient(away, 1.0 / fps))
    states = segments.states(np.minimum(2.0 * (away / near) ** 2, 3.0)[:, None],
                             np.where(rate > 0.1, 0.6, 1.5)[:, None], fps)[:, 0]
    (hold,) = segments.runs(states == segments.HOLD)
    assert hold / fps == pytest.approx((2.0, 4.0), abs=0.05)
    ways = segments.runs(states == segments.APPROACH)
    assert len(ways) == 2 and ways[0] / fps == pytest.approx((1.5, 2.0), abs=0.06)
    assert states[0] == states[-1] == segments.FREE


def test_a_moment_near_is_no_hold_and_a_moment_away_does_not_end_one():
    away = np.full(600, 0.3)
    away[100:104] = 0.0
    away[200:400] = 0.0
    away[300:302] = 0.06
    states = segments.states(np.minimum(2.0 * (away / 0.03) ** 2, 3.0)[:, None], np.full((600, 1), 1.5), 60.0)
    assert segments.runs(states[:, 0] == segments.HOLD).tolist() == [[200, 399]]


def test_masks():
    mask = np.array([0, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0], bool)
    assert segments.runs(mask).tolist() == [[1, 2], [5, 5], [7, 9]]
    assert segments.runs(segments.closed(mask, 1)).tolist() == [[1, 2], [5, 9]]
    assert segments.runs(segments.long_enough(mask, 2)).tolist() == [[1, 2], [7, 9]]
    inner = np.zeros(11, bool)
    inner[8] = True
    assert segments.runs(segments.hysteresis(inner, mask)).tolist() == [[7, 9]]
    assert segments.runs(np.zeros(4, bool)).shape == (0, 2)


def test_a_valley_is_found_and_its_absence_told():
    rng = np.random.default_rng(1)
    near, far = np.abs(0.003 * rng.normal(size=800)), 0.35 + 0.1 * rng.normal(size=2000)
    found = signals.valley(np.concatenate([near, np.abs(far)]), 0.012, 0.12)
    assert found.clear and 0.012 < found.value < 0.12 and found.zone[0] <= found.value <= found.zone[1]
    flat = signals.valley(np.exp(rng.uniform(np.log(0.003), np.log(0.5), 3000)), 0.012, 0.12)
    assert not flat.clear


def test_smoothing_keeps_what_stands_and_what_goes_evenly():
    even = np.linspace(0.0, 1.0, 200)[:, None] * np.ones(3)
    assert np.abs(signals.smooth(even, 60.0, 0.05)[20:-20] - even[20:-20]).max() < 1e-12
    assert np.abs(signals.velocity(even, 60.0) - 60.0 / 199.0).max() < 1e-9
    assert np.abs(signals.smooth(np.full((50, 2), 3.0), 60.0, 0.05) - 3.0).max() < 1e-12


def test_what_passes_by_on_its_way_does_not_push_the_threshold_to_the_far_side():
    """Hands that change their hold stay some centimetres off for a while; further away they are hardly ever."""
    rng = np.random.default_rng(4)
    held, changing, free = 0.002 * np.abs(rng.normal(size=4000)), rng.normal(0.055, 0.006, 160), np.full(450, 0.5)
    way = np.exp(rng.uniform(np.log(0.011), np.log(0.12), 90))
    found = signals.valley(np.concatenate([held, changing, free, way[(way < 0.045) | (way > 0.11)]]), 0.012, 0.12)
    assert found.clear and 0.012 < found.value < 0.04
