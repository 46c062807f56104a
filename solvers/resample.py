"""Resampling a motion to other instants: straight lines for places, great circles for rotations."""

import numpy as np

from . import rotation
from .errors import FootholdError
from .skeleton import Channels


def sample_times(frames, source_fps, target_fps):
    """Instants, counted in source frames from 0, of a resampling that starts on the first frame.

    The last instant is the last whole target frame inside the take.
    """
    if not (np.isfinite(target_fps) and target_fps > 0.0):
        raise FootholdError(f"Frame rate {target_fps}: give a number above zero.")
    step = source_fps / target_fps
    count = int(np.floor((frames - 1) / step + 1e-6)) + 1
    return np.minimum(np.arange(count) * step, frames - 1)


def resample(channels, times):
    """Channels (F, J, ...) at `times` (T,), counted in frames from 0 and within 0 to F - 1.

    Whole frames come out as they went in, bit for bit.
    """
    below = np.floor(times).astype(int)
    above = np.minimum(below + 1, len(channels.rotation) - 1)
    part = (times - below)[:, None]

    def line(values):
        return np.where(part[..., None] == 0.0, values[below],
                        values[below] + part[..., None] * (values[above] - values[below]))

    between = rotation.slerp(channels.rotation[below], channels.rotation[above], np.broadcast_to(part, (
        len(times), channels.rotation.shape[1])))
    turned = np.where(part[..., None] == 0.0, channels.rotation[below], between)
    return Channels(line(channels.location), rotation.continuous(turned), line(channels.scale))
