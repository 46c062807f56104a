"""Frame rates: what a file means by a rounded frame time or by the times of its keys."""

import numpy as np

NTSC = (24000 / 1001, 30000 / 1001, 60000 / 1001, 120000 / 1001)
STANDARD = (24.0, 25.0, 30.0, 48.0, 50.0, 60.0, 72.0, 90.0, 96.0, 100.0, 120.0, 125.0, 144.0, 150.0, 180.0, 200.0,
            240.0, 250.0, 300.0, 360.0, 400.0, 480.0, 500.0, 1000.0)
SLOWEST, FASTEST = 0.5, 5000.0


def of_scene(scene):
    """Frames a second that a scene plays."""
    return scene.render.fps / scene.render.fps_base


def give_scene(scene, fps):
    """Give a scene a frame rate that may be broken, such as 29.97."""
    scene.render.fps = max(1, round(fps))
    scene.render.fps_base = scene.render.fps / fps


def from_frame_time(text):
    """The rate that a written frame time stands for: "0.0083333" is 120, "0.0333667" is 29.97.

    Files round the time, so the rate is sought within half of the last written digit: a standard whole rate first, an
    NTSC rate next, any whole rate then; else the time as it is. Raises ValueError on what is no positive, sane time.
    """
    time = float(text)
    if not np.isfinite(time) or not 1.0 / FASTEST <= time <= 1.0 / SLOWEST:
        raise ValueError(text)
    mantissa, _, exponent = text.lower().partition("e")
    decimals = len(mantissa.partition(".")[2]) - int(exponent or 0)
    # also the digits that were cut off instead of rounded
    slack = max(min(0.55 * 10.0 ** -decimals, 0.02 * time), 2e-6 * time)
    for rates in (STANDARD, NTSC, (round(1.0 / time),)):
        near = min(rates, key=lambda rate: abs(1.0 / rate - time) if rate else np.inf)
        if near and abs(1.0 / near - time) <= slack:
            return float(near)
    return 1.0 / time


def snap(rate):
    """A measured rate as the standard or whole rate that it equals within 1e-5, else as it is."""
    near = min((*STANDARD, *NTSC, float(max(round(rate), 1))), key=lambda other: abs(other - rate))
    return near if abs(near - rate) <= 1e-5 * rate else rate


def fits(times, rate, tolerance):
    """Whether all the times (N,) in seconds, counted from the first, lie within `tolerance` frames of whole frames."""
    frames = (np.asarray(times, float) - np.min(times)) * rate
    # times are kept in single precision: 6e-8 of the time itself
    slack = tolerance + 1.2e-7 * np.abs(times).max() * rate
    return bool(np.all(np.abs(frames - np.round(frames)) <= slack))


def from_times(times, expected=None):
    """The rate on whose whole frames the key times (N,) in seconds lie, or None where there is no such rate.

    `expected` wins where it fits. Then comes the rate of the closest keys, if it is a likely one (10 or more), then the
    lowest standard rate that fits.
    """
    times = np.unique(np.asarray(times, float))
    if len(times) < 2:
        return expected
    step = np.diff(times)
    step = step[step > 1e-4]
    closest = [snap(1.0 / np.median(step[step < 1.5 * step.min()]))] if len(step) else []
    for tolerance in (0.004, 0.06):
        likely = [rate for rate in (expected, *(r for r in closest if 10.0 <= r <= FASTEST)) if rate]
        for rate in (*likely, *STANDARD, *NTSC):
            if fits(times, rate, tolerance):
                return float(rate)
    return None
