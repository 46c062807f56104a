"""The smallest and smoothest corrections that keep limbs outside: linear constraints, one convex solve for a stretch.

Sequential convex programming: about the corrections so far each distance is linear, each round solves
min |x|^2 + h^4 |x''|^2 under those constraints by the alternating direction method of multipliers (Boyd et al. 2011),
and distances are taken anew.
"""

import numpy as np

_HORIZON = 0.25  # seconds over which a limb gives way
_STEPS = 150  # of the inner solve, at most
_CLOSE = 5e-5  # metres: what its steps, and what keeps the constraints, may differ by when it is done
_SWEEPS = 3  # over the constraints of a frame, for the nearest point that keeps them all
_WEIGHT = 30.0  # of the constraints against the cost


def smallest(gradients, needs, given, together, near, reach, start, fps):
    """Corrections (F, L, N) of L limbs, the smallest and smoothest that keep all constraints.

    Constraint k of a limb at a frame: gradients (F, L, K, N) times the correction is at least needs (F, L, K), in
    metres. Where `given` (F, L, N) holds, numbers are zero; `together` (F,) are the frames in which the first three
    numbers of all limbs are equal. No number goes further than `reach` metres from `near` (F, L, N). `start` (F, L, N)
    is where the search begins.
    """
    frames = len(start)
    shape = start.shape
    omega = np.pi * np.arange(frames) / frames
    smooth = (2.0 - 2.0 * np.cos(omega)) ** 2 * (_HORIZON * fps) ** 4
    gain = (_WEIGHT / (1.0 + smooth + _WEIGHT))[:, None]
    square = np.maximum(np.einsum("flkn,flkn->flk", gradients, gradients), 1e-9)
    held, pull, place = start.copy(), np.zeros(shape), start
    for _ in range(_STEPS):
        after = _cosine(gain * _cosine((held - pull).reshape(frames, -1)), back=True).reshape(shape)
        seen = 1.7 * after - 0.7 * held
        held = _into(seen + pull, gradients, needs, square, given, together, near, reach)
        pull = pull + seen - held
        change = max(np.abs(after - place).max(), np.abs(after - held).max())
        place = after
        if change < _CLOSE:
            break
    return np.where(given, 0.0, place)


def _into(wanted, gradients, needs, square, given, together, near, reach):
    """What is nearest to `wanted` (F, L, N) of all that keeps the constraints (Dykstra's alternating projections: each
    half-space remembers by how much it has pushed)."""
    out = np.where(given, 0.0, wanted)
    pushed = np.zeros(needs.shape)
    for _ in range(_SWEEPS):
        for k in range(needs.shape[2]):
            short = (needs[:, :, k] - np.einsum("fln,fln->fl", gradients[:, :, k], out)) / square[:, :, k]
            more = np.maximum(short, -pushed[:, :, k])
            pushed[:, :, k] += more
            out = out + more[..., None] * gradients[:, :, k]
        if together.any():
            out[together, :, :3] = out[together, :, :3].mean(axis=1, keepdims=True)
        out = np.clip(out, near - reach, near + reach)
        out[given] = 0.0
    return out


def _cosine(values, back=False):
    """The cosine transform (type 2) of values (F, C) along time, or its inverse, by an even extension."""
    frames = len(values)
    turn = np.exp(-0.5j * np.pi * np.arange(frames) / frames)[:, None]
    if not back:
        return (np.fft.rfft(np.concatenate([values, values[::-1]]), axis=0)[:frames] * turn).real
    spectrum = np.concatenate([values / turn, np.zeros((1, values.shape[1]))])
    return np.fft.irfft(spectrum, n=2 * frames, axis=0)[:frames]
