"""Which way out: one decision for the whole clip, by a dynamic program over a few ways at moments of it.

At each moment a limb can leave the body straight out from where it is, along many directions until it is clear, or by
swinging its elbow or knee. The program takes the ways that are short and go over into each other with little movement.
"""

import numpy as np

from .. import rotation
from . import chain as chains

RATE = 10.0  # moments a second
_MARCH = 9  # steps of the way out along a direction
_FARTHEST = 0.25  # of the body's height: no way out goes farther
_DEEP = 40.0  # what a metre that a limb is still inside costs, in metres of movement
_SETTLED = 0.6  # seconds in which a movement costs as much as being there
_LEANS = 0.2  # of a way's cost: what it gains by going to the side that the performer's hand was on


def directions():
    """The corrections (C, 4), of unit size, that are tried: to the sides, edges and corners of a cube, and the two
    swings."""
    steps = np.array([(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if x or y or z], float)
    out = np.zeros((len(steps) + 2, chains.SIZE))
    out[:-2, :3] = steps / np.linalg.norm(steps, axis=1, keepdims=True)
    out[-2:, 3] = 1.0, -1.0
    return out


def ways_out(chain, distances, wanted, given, height):
    """(corrections (T, C + 2, 4), what stays inside (T, C + 2) metres): no correction, straight out, each direction.

    `chain` is the Chain at T moments, `distances(moments (N,), points (N, S, 3))` tells how far outside points are and
    the ways out, `wanted` (T, S) metres. Where the limb's end is `given` (T,), it only swings.
    """
    moments = len(wanted)
    listed = directions()
    still = np.zeros((moments, chains.SIZE))
    short = _short(chain, np.arange(moments), still, distances, wanted)[0]
    out = [still, _straight_out(chain, distances, wanted, given, height)]
    left = [short, _short(chain, np.arange(moments), out[1], distances, wanted)[0]]
    for way in listed:
        change, inside = still.copy(), short.copy()
        at = np.flatnonzero((short > 0.0) & ~(given & way[:3].any()))
        far = np.zeros(moments)
        for _ in range(_MARCH):
            far[at] += 1.2 * inside[at] + 1e-3
            at = at[far[at] < _FARTHEST * height]
            change[at] = far[at, None] * way
            inside[at] = _short(chain, at, change[at], distances, wanted)[0]
            at = at[inside[at] > 0.0]
            if not len(at):
                break
        out.append(change)
        left.append(inside)
    return np.stack(out, axis=1), np.stack(left, axis=1)


def _short(chain, at, change, distances, wanted):
    """(how far (N,) the deepest sample is short of what is wanted, which it is, its way out (N, 3), what there is)."""
    if not len(at):
        return np.zeros(0), np.zeros(0, int), np.zeros((0, 3))
    own = chain.rows(at)
    far, ways = distances(at, chains.samples(own, *chains.moved(own, change)))
    short = wanted[at] - far
    worst = np.argmax(short, axis=1)
    rows = np.arange(len(at))
    return np.maximum(short[rows, worst], 0.0), worst, ways[rows, worst]


def _straight_out(chain, distances, wanted, given, height):
    """Corrections (T, 4) that follow the deepest sample's way out, time and again."""
    change = np.zeros((len(wanted), chains.SIZE))
    at = np.arange(len(wanted))
    for _ in range(_MARCH):
        short, worst, ways = _short(chain, at, change[at], distances, wanted)
        at, short, worst, ways = (values[short > 0.0] for values in (at, short, worst, ways))
        if not len(at):
            break
        own = chain.rows(at)
        gradient = chains.followed(own, change[at], np.repeat(ways[:, None], wanted.shape[1], axis=1))
        gradient = gradient[np.arange(len(at)), worst]
        gradient[given[at], :3] = 0.0
        square = rotation.dot(gradient, gradient)
        change[at] += (1.1 * short / np.maximum(square, 0.05))[:, None] * gradient
    return np.clip(change, -_FARTHEST * height, _FARTHEST * height)


def chosen(ways, left, side, moments_apart):
    """The cheapest sequence of ways: corrections (T, 4), of `ways` (T, C, 4) that leave `left` (T, C) metres inside.

    `side` (T, 3) is where the performer's hand was seen from her trunk, unit or zero, in the corrections' axes: of ways
    that cost the same, the one that goes there is taken. `moments_apart` in seconds.
    """
    size = np.linalg.norm(ways, axis=-1)
    lean = np.einsum("tci,ti->tc", ways[..., :3], side) / np.maximum(size, 1e-9)
    cost = size ** 2 * (1.0 - _LEANS * lean) + (_DEEP * left) ** 2 * 1e-2 + 0.05 * left
    slow = (_SETTLED / moments_apart) ** 2
    total, back = cost[0], np.zeros(left.shape, int)
    for t in range(1, len(cost)):
        step = total[:, None] + slow * ((ways[t - 1][:, None] - ways[t][None]) ** 2).sum(axis=-1)
        back[t] = np.argmin(step, axis=0)
        total = step[back[t], np.arange(step.shape[1])] + cost[t]
    out = np.empty((len(ways), chains.SIZE))
    at = int(np.argmin(total))
    for t in range(len(ways) - 1, -1, -1):
        out[t] = ways[t, at]
        at = back[t, at]
    return out
