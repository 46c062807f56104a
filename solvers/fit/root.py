"""Where the root has to go so that every contact is in reach: one solve for the whole clip."""

from typing import NamedTuple

import numpy as np

_HORIZON = 0.35  # seconds over which the root gives way
_STEPS = 400  # at most
_MISSED = 5e-4  # metres: what is left, likewise
_CLOSE = 2e-5  # metres: what two steps may differ by when it is done


class Ball(NamedTuple):
    """A limb that has to reach: at its frames the offset lies within `radius` of `centre`."""

    frames: np.ndarray  # (F,) bool
    centre: np.ndarray  # (F, 3) metres: target less the limb's root joint
    radius: np.ndarray  # (F,) metres


class Half(NamedTuple):
    """A part of the body that has to stay outside of something: along `normal` the offset is at least `need`."""

    frames: np.ndarray  # (F,) bool
    normal: np.ndarray  # (F, 3) unit
    need: np.ndarray  # (F,) metres


def offset(balls, frames, fps, base=0.0):
    """The offset (F, 3) in metres.

    The smallest and smoothest offset that lies in every Ball and Half: min |d|^2 + h^4 |d''|^2 by the alternating
    direction method of multipliers (Boyd et al. 2011). All frames weigh the same, those without a demand being free to
    go along, so that the smooth step is diagonal in the cosine basis. What is small and smooth is the way from `base`
    (F, 3); without a violated one it is exactly zero.
    """
    zero = np.zeros((frames, 3))
    base = zero + base
    balls = [one._replace(need=one.need - np.einsum("fi,fi->f", one.normal, base)) if isinstance(one, Half) else
             one._replace(centre=one.centre - base) for one in balls]
    if all(not np.any(_missed(ball, zero) > 0.0) for ball in balls):
        return base
    count = len(balls)
    omega = np.pi * np.arange(frames) / frames
    smooth = (2.0 - 2.0 * np.cos(omega)) ** 2 * (_HORIZON * fps) ** 4
    weight = 30.0  # of the balls against the cost, which is one for an offset that lasts: more is nearer, and slower
    gain = (count * weight / (1.0 + smooth + count * weight))[:, None]
    place, held, pull = zero, np.zeros((count, frames, 3)), np.zeros((count, frames, 3))
    for _ in range(_STEPS):
        mean = (held - pull).mean(axis=0)
        after = _cosine(gain * _cosine(mean), back=True)
        # relaxed: the balls see a little more than the step, which halves the number of steps
        seen = 1.7 * after[None] - 0.7 * held
        held = np.stack([_into(ball, seen[k] + pull[k]) for k, ball in enumerate(balls)])
        pull = pull + seen - held
        moved = np.abs(after - place).max()
        place = after
        if moved < _CLOSE and max(np.max(_missed(ball, place), initial=0.0) for ball in balls) < _MISSED:
            break
    return base + place


def _missed(one, place):
    """Metres (N,) by which an offset (F, 3) lies outside a Ball or Half at its N frames; not above zero inside."""
    rows = one.frames
    if isinstance(one, Half):
        return one.need[rows] - np.einsum("ni,ni->n", place[rows], one.normal[rows])
    away = place[rows] - one.centre[rows]
    return np.sqrt(np.einsum("ni,ni->n", away, away)) - one.radius[rows]


def _into(one, place):
    """The offset nearest to `place` (F, 3) that lies in the Ball or Half."""
    missed, out = np.maximum(_missed(one, place), 0.0), place.copy()
    if isinstance(one, Half):
        out[one.frames] += missed[:, None] * one.normal[one.frames]
    else:
        away = place[one.frames] - one.centre[one.frames]
        out[one.frames] -= away * (missed / (missed + one.radius[one.frames]))[:, None]
    return out


def _cosine(values, back=False):
    """The cosine transform (type 2) of values (F, C) along time, or its inverse, by an even extension."""
    frames = len(values)
    turn = np.exp(-0.5j * np.pi * np.arange(frames) / frames)[:, None]
    if not back:
        return (np.fft.rfft(np.concatenate([values, values[::-1]]), axis=0)[:frames] * turn).real
    spectrum = np.concatenate([values / turn, np.zeros((1, values.shape[1]))])
    return np.fft.irfft(spectrum, n=2 * frames, axis=0)[:frames]
