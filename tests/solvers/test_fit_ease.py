"""How corrections come before they are needed and go after it."""

import numpy as np
import pytest

from foothold.solvers.fit import ease


def spans(frames, *runs):
    """A mask (F,) that holds from the first to the last frame of each run."""
    mask = np.zeros(frames, bool)
    for first, last in runs:
        mask[first:last + 1] = True
    return mask


def spread(values, held, coming, going):
    """The spread of one column (F,), its times the same for all runs."""
    frames = len(values)
    return ease.spread(values[:, None], held, np.full(frames, float(coming)), np.full(frames, float(going)))[:, 0]


def test_runs_of_a_mask():
    mask = spans(20, (0, 0), (3, 7), (9, 12), (19, 19))
    assert ease.runs(mask).tolist() == [[0, 0], [3, 7], [9, 12], [19, 19]]
    assert ease.runs(np.zeros(5, bool)).shape == (0, 2)
    assert ease.runs(np.ones(5, bool)).tolist() == [[0, 4]]


def test_smoothstep_starts_and_ends_at_rest():
    part = np.linspace(-0.5, 1.5, 2001)
    out = ease.smoothstep(part)
    assert (out[part <= 0.0] == 0.0).all() and (out[part >= 1.0] == 1.0).all() and (np.diff(out) >= 0.0).all()
    first = np.gradient(out, part)
    second = np.gradient(first, part)
    for at in (0.0, 1.0):
        k = np.argmin(np.abs(part - at))
        assert abs(first[k]) < 1e-4 and abs(second[k]) < 0.1  # of 1.9 and 5.8 in between
    assert out[1000] == pytest.approx(0.5, abs=1e-12)


# Corrections that come and go

def test_held_frames_are_exact_and_what_is_far_is_exactly_zero():
    values = np.random.default_rng(1).normal(size=(300, 4))
    held = spans(300, (100, 140), (200, 200))
    out = ease.spread(values, held, np.full(300, 25.0), np.full(300, 15.0))
    assert np.array_equal(out[held], values[held])
    far = ~spans(300, (76, 154), (176, 214))
    assert (out[far] == 0.0).all()
    for near in (77, 153, 177, 213):
        assert out[near].any()


def test_a_correction_that_stands_still_goes_over_once():
    """Each way alone is a smoothstep of its own time, and goes neither back nor beyond."""
    out = spread(np.full(200, 0.3), spans(200, (80, 120)), 40, 20)
    assert out[40:81] == pytest.approx(0.3 * ease.smoothstep(np.arange(41) / 40.0), abs=1e-12)
    assert out[120:141] == pytest.approx(0.3 * ease.smoothstep(np.arange(20, -1, -1) / 20.0), abs=1e-12)


@pytest.mark.parametrize("phase", [0.0, 0.9, 2.1])
def test_value_and_slope_go_on_over_the_ends_of_a_run(phase):
    """The same moving correction at finer and finer frame rates: steps shrink with the frame, and so do their changes.

    A jump would keep the step, a kink the change of the step against it.
    """
    steps, kinks = [], []
    for fps in (100, 200, 400, 800):
        time = np.arange(4 * fps + 1) / fps
        out = spread(np.sin(5.0 * time + phase), spans(len(time), (round(1.5 * fps), round(2.5 * fps))),
                     0.6 * fps, 0.4 * fps)
        steps.append(np.abs(np.diff(out)).max() * fps)
        kinks.append(np.abs(np.diff(out, n=2)).max() * fps ** 2)
    assert max(steps) < 5.2  # per second: its own are 5
    assert max(kinks) < 70.0  # per second squared: its own are 25, those of the shorter fade 5.8 / 0.4 ** 2 = 36
    assert kinks[3] < 1.05 * kinks[0]


def test_the_slope_at_an_end_is_that_of_the_run():
    for slope in (0.02, -0.05):
        values = slope * np.arange(300.0) + 0.4
        out = spread(values, spans(300, (100, 200)), 60, 60)
        assert np.diff(out)[[99, 200]] == pytest.approx([slope, slope], abs=0.06 * abs(slope))


def test_in_a_short_gap_each_is_over_where_the_next_begins():
    """What a run leaves behind has gone, value and slope, where the next run begins; both add up."""
    held = spans(200, (20, 80), (101, 160))
    first, second = np.where(np.arange(200) < 90, 1.0, 0.0), np.where(np.arange(200) < 90, 0.0, -2.0)
    alone, other = spread(first, held, 60, 60), spread(second, held, 60, 60)
    assert (alone[101:] == 0.0).all() and (other[20:81] == 0.0).all()
    assert 0.0 < alone[100] < 2e-3 and -4e-3 < other[81] < 0.0
    assert (np.diff(alone[80:102]) < 0.0).all() and (np.diff(other[80:102]) < 0.0).all()
    both = spread(first + second, held, 60, 60)
    assert both == pytest.approx(alone + other, abs=1e-12)
    assert both[81:101].min() > -2.0 and both[81:101].max() < 1.0, "between two there is no third"


def test_runs_at_the_ends_of_the_clip():
    values = np.linspace(1.0, 2.0, 100)
    out = spread(values, spans(100, (0, 20), (90, 99)), 30, 30)
    assert np.array_equal(out[:21], values[:21]) and np.array_equal(out[90:], values[90:])
    assert (out[51:60] == 0.0).all()
    assert np.array_equal(spread(values, np.ones(100, bool), 30, 30), values)
    assert not spread(values, np.zeros(100, bool), 30, 30).any()


def test_no_time_at_all_is_no_time():
    out = spread(np.ones(30), spans(30, (10, 15)), 0, 0)
    assert out.nonzero()[0].tolist() == [10, 11, 12, 13, 14, 15]


# Necessities

def sparse(seed, frames=400):
    """A necessity (F,) that is there now and then, with lone frames at the ends and in between."""
    rng = np.random.default_rng(seed)
    need = np.where(rng.uniform(size=frames) < 0.02, rng.uniform(0.2, 1.0, frames), 0.0)
    need[150:180] = rng.uniform(0.0, 1.0, 30)
    need[[0, -1]] = rng.uniform(0.2, 1.0, 2)
    return need


@pytest.mark.parametrize("frames", [0, 1, 2, 3, 7, 18, 500])
def test_widened_is_the_largest_nearby(frames):
    need = sparse(2)
    wanted = [need[max(i - frames, 0):i + frames + 1].max() for i in range(len(need))]
    assert np.array_equal(ease.widened(need, frames), wanted)


@pytest.mark.parametrize("frames", [1, 6, 18, 41, 300, 900])
@pytest.mark.parametrize("seed", [3, 4])
def test_above_is_nowhere_under_the_need_and_over_no_peak(frames, seed):
    need = sparse(seed)
    out = ease.above(need, frames)
    assert out.shape == need.shape and (out >= need).all()
    assert out.max() <= need.max() + 1e-12
    reach = 4 * max(frames // 2, 1)  # widened by twice the half, blurred by as much
    assert (out <= ease.widened(need, reach) + 1e-12).all()


def test_above_nothing_is_nothing_and_above_a_constant_is_it():
    assert not ease.above(np.zeros(50), 18).any()
    assert ease.above(np.full(50, 0.7), 18) == pytest.approx(0.7, abs=1e-12)


@pytest.mark.parametrize("at", [0, 100, 199])
def test_a_single_frame_is_met_by_a_smooth_hill(at):
    need = np.zeros(200)
    need[at] = 1.0
    half = 10
    out = ease.above(need, 2 * half)
    assert out[at] == pytest.approx(1.0, abs=1e-12)
    assert (np.diff(out[:at + 1]) >= -1e-12).all() and (np.diff(out[at:]) <= 1e-12).all()
    assert (out[np.abs(np.arange(200) - at) > 4 * half] == 0.0).all()
    assert np.abs(np.diff(out)).max() < 0.8 / half and np.abs(np.diff(out, n=2)).max() < 0.8 / half ** 2


@pytest.mark.parametrize("seed", [5, 6, 7])
def test_above_has_no_corners(seed):
    """A steep and ragged necessity is met by a curve that bends as slowly as a lone frame's hill."""
    need = sparse(seed)
    out = ease.above(need, 20)
    assert np.abs(np.diff(out, n=2)).max() < 1.0 / 10 ** 2


def _swinging(fast):
    """(path (F, 1), correction, held): a limb's end that swings to and fro, later twice as hard, and is let go just as
    a correction that changes by `fast` metres a frame is back at nothing."""
    at = np.arange(400.0)
    held = spans(400, (0, 100))
    path = np.where(at < 240.0, 0.15, 0.3) * np.sin(2.0 * np.pi * at / 60.0)
    return path[:, None], np.where(held, fast * (at - 100.0), 0.0)[:, None], held


def _spread_braked(path, values, held):
    fade = np.full(len(path), 60.0)
    parts = ease.brakes(path, values, held, fade, fade)
    return parts, ease.spread(values, held, fade, fade, parts)


@pytest.mark.parametrize("fast", [1e-3, 3e-3, -3e-3])
def test_what_goes_on_stops_as_soon_as_the_path_has_no_more_acceleration_than_its_own(fast):
    path, values, held = _swinging(fast)
    parts, out = _spread_braked(path, values, held)
    lazy = ease.spread(values, held, np.full(400, 60.0), np.full(400, 60.0))
    assert np.array_equal(out[held], values[held])
    own = np.abs(np.diff(path, 2, axis=0)).max()
    assert np.abs(np.diff(path + out, 2, axis=0))[99:].max() <= own
    assert np.abs(out[101:]).max() < 0.6 * np.abs(lazy[101:]).max()
    sooner = ease.spread(values, held, np.full(400, 60.0), np.full(400, 60.0), 0.5 * parts)
    if parts[100] > 0.1:  # not the shortest that is looked at: half of it is a jerk
        assert np.abs(np.diff(path + sooner, 2, axis=0))[99:].max() > own


def test_what_no_brake_keeps_calm_goes_on_all_the_way():
    path, values, held = _swinging(-0.05)
    assert (_spread_braked(path, values, held)[0] == 1.0).all()


def test_brakes_need_no_path_to_speak_of():
    for frames in (0, 1, 2, 3):
        none = np.zeros((frames, 3))
        assert (ease.brakes(none, none, np.zeros(frames, bool), none[:, 0], none[:, 0]) == 1.0).all()


def test_beside_a_clips_end_a_correction_comes_and_goes_in_its_whole_time():
    """A contact that begins in the second frame: no jerk, as if there were more of the clip."""
    fade, values = np.full(40, 20.0), np.full((40, 1), 0.1)
    out = ease.spread(values, spans(40, (1, 10)), fade, fade)[:, 0]
    more = ease.spread(np.full((80, 1), 0.1), spans(80, (41, 50)), np.full(80, 20.0), np.full(80, 20.0))[40:, 0]
    assert out == pytest.approx(more, abs=1e-12) and 0.09 < out[0] < 0.1


def test_a_correction_may_stop_where_the_path_is_as_hard_itself():
    """A path that is struck just where the correction ends, harder than in all its other moments: it hides no jerk, and
    asks for none to be drawn out."""
    path, values, held = _swinging(-1e-4)
    struck = path.copy()
    struck[90:130] += 0.05 * np.abs(np.sin(np.arange(40)))[:, None]
    parts, out = _spread_braked(struck, values, held)
    own = np.abs(np.diff(struck, 2, axis=0))[:, 0]
    assert parts[100] < 1.0
    most = np.maximum(own, np.percentile(own, 99.0))
    assert (np.abs(np.diff(struck + out, 2, axis=0))[99:, 0] <= most[99:] + 1e-12).all()


def test_a_hard_moment_after_it_has_stopped_asks_for_no_longer_way():
    """A foot is struck where its correction has long stopped, but still fades: that hair on top is nothing to brake."""
    path, values, held = _swinging(-3e-3)
    values = np.where(held[:, None], values + 0.05, 0.0)
    struck = path.copy()
    struck[120] += 0.1  # the hardest moment of all
    faded = struck + ease.spread(np.where(held[:, None], 0.05, 0.0), held, *[np.full(400, 60.0)] * 2)
    assert np.diff(faded, 2, axis=0).min() < np.diff(struck, 2, axis=0).min() < -0.19
    soon, late = (_spread_braked(one, values, held)[0][100] for one in (path, struck))
    assert late <= soon < 0.1


def test_where_each_brake_is_hard_the_soonest_of_those_that_are_hardly_harder_is_taken():
    """What stops here stops against a path that is as hard as ever beside the contact: no brake is within its limit."""
    path, values, held = _swinging(-5e-3)
    path[95:110] += 0.002 * (-1.0) ** np.arange(15)[:, None]
    fade = np.full(400, 60.0)
    part = ease.brakes(path, values, held, fade, fade)[100]
    own = np.abs(np.diff(path, 2, axis=0))

    def hardest(part):
        added = np.diff(path + ease.spread(values, held, fade, fade, part), 2, axis=0)
        return (np.abs(added) / np.maximum(own, np.percentile(own, 99.0)))[99:110].max()

    hard = [hardest(one) for one in ease._PARTS]
    assert min(hard) > 1.0 and hardest(part) <= min(hard) + 0.02 + 1e-9
    assert part < 1.0 and all(hardest(one) > min(hard) + 0.02 for one in ease._PARTS if one < part)
