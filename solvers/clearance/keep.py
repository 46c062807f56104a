"""Limbs kept out of the body's own skin, for a whole clip."""

from typing import NamedTuple

import numpy as np

from .. import rotation
from ..contacts.segments import runs
from . import chain as chains
from . import depth, need, path, refine
from . import shell as shells

_ROUNDS = 8  # in which distances are taken anew
_TRUST = 0.06  # of the height: how far a round goes
_KEPT = 6  # constraints of a limb at a frame
_REACH = 0.998  # of its length, that a correction stretches a limb to
_DONE = 5e-4  # metres short of what is wanted that are let be


class Kept(NamedTuple):
    """What clearance comes to."""

    changes: np.ndarray  # (F, L, 4) corrections of the limbs
    before: np.ndarray  # (F, L) metres that each was inside
    after: np.ndarray  # (F, L) and is


def keep(shell, motion, limbs, rests, free, given, together, sides, margin, height, fps):
    """The Kept of some limbs of a world Motion.

    `limbs` are chain.Chains, `rests` (S,) each their samples' distances in the rest pose, `free` (F, S) each which of
    them need not stay outside, `given` (F,) each where the end stays, `together` (F,) where all ends go the same way,
    `sides` (F, 3) each as in `path.chosen`.
    """
    frames = len(limbs[0].start)
    at_first = [np.empty((frames, len(limb.radii))) for limb in limbs]
    for rows in _stretches(np.arange(frames)):
        placed = shells.posed(shell, motion, rows)
        for limb, out in zip(limbs, at_first):
            own = limb.rows(rows)
            out[rows] = depth.distances(shell, *placed, chains.samples(own, own.middle, own.end))[0]
    clear = [np.where(f, -1e3, need.touching(limb.radii, rest)) for limb, rest, f in zip(limbs, rests, free)]
    before = np.stack([need.faults(d, c) for d, c in zip(at_first, clear)], axis=1)
    wanted = [need.wanted(d, limb.radii, rest, f, margin, fps)
              for d, limb, rest, f in zip(at_first, limbs, rests, free)]
    changes, after = np.zeros((frames, len(limbs), chains.SIZE)), before.copy()
    window = need.windows(before.max(axis=1), fps)
    for first, last in runs(window):
        rows = np.arange(first, last + 1)
        own = [limb.rows(rows) for limb in limbs]
        part = _Part(shell, shells.posed(shell, motion, rows), own, [w[rows] for w in wanted],
                     [c[rows] for c in clear], np.stack([g[rows] for g in given], axis=1), together[rows],
                     [s[rows] for s in sides], height, fps)
        free_to = np.stack([need.windows(before[rows, k], fps) for k in range(len(limbs))], axis=1)
        free_to[0] &= first == 0
        free_to[-1] &= last == frames - 1
        changes[rows], after[rows] = part.solve(free_to)
    return Kept(changes, before, after)


def _stretches(rows, size=500):
    return np.array_split(rows, max(len(rows) // size, 1))


class _Part:
    """A stretch of frames in which limbs give way."""

    def __init__(self, shell, placed, limbs, wanted, clear, given, together, sides, height, fps):
        self.shell, self.placed, self.limbs, self.wanted, self.clear = shell, placed, limbs, wanted, clear
        self.given, self.together, self.sides, self.height, self.fps = given, together, sides, height, fps

    def distances(self, at, points):
        """`depth.distances` of points (N, S, 3) in frames (N,)."""
        return depth.distances(self.shell, self.placed[0][at], self.placed[1][at], points)

    def start(self):
        """Corrections (F, L, 4) along the ways out that the dynamic program takes."""
        frames = len(self.given)
        step = max(int(round(self.fps / path.RATE)), 1)
        at = np.unique(np.append(np.arange(0, frames, step), frames - 1))
        out = np.zeros((frames, len(self.limbs), chains.SIZE))
        for k, limb in enumerate(self.limbs):
            ways, left = path.ways_out(limb.rows(at), lambda i, points: self.distances(at[i], points),
                                       self.wanted[k][at], self.given[at, k], self.height)
            nodes = path.chosen(ways, left, self.sides[k][at], step / self.fps)
            for n in range(chains.SIZE):
                out[:, k, n] = np.interp(np.arange(frames), at, nodes[:, n])
        out[self.together, :, :3] = out[self.together, :, :3].mean(axis=1, keepdims=True)
        return out

    def solve(self, free_to):
        """(corrections (F, L, 4), metres inside (F, L)); a limb only moves where it is `free_to` (F, L)."""
        change = self.start()
        given = np.zeros(change.shape, bool)
        given[..., :3] = self.given[..., None]
        given |= ~free_to[..., None]
        change[given] = 0.0
        best, least = np.zeros_like(change), None
        for turn in range(_ROUNDS + 1):
            gradients, needs, short, inside = self.constraints(change)
            score = np.maximum(short, 0.0).sum() + 10.0 * np.maximum(inside - need.INSIDE, 0.0).sum()
            if least is None or score < least[0]:
                best, least = change, (score, inside)
            if turn == _ROUNDS or (turn and short.max() < _DONE):
                break
            change = refine.smallest(gradients, needs, given, self.together, change, _TRUST * self.height, change,
                                     self.fps)
        return best, least[1]

    def constraints(self, change):
        """(gradients (F, L, K, 4), needs (F, L, K), metres short (F, L), metres inside (F, L)) about corrections."""
        gradients, needs, shorts, insides = [], [], [], []
        for k, limb in enumerate(self.limbs):
            middle, end = chains.moved(limb, change[:, k])
            far, ways = self.distances(np.arange(len(change)), chains.samples(limb, middle, end))
            follow = chains.followed(limb, change[:, k], ways)
            short = self.wanted[k] - far
            insides.append(need.faults(far, self.clear[k]))
            shorts.append(short.max(axis=1))
            kept = np.argpartition(-short, _KEPT - 1, axis=1)[:, :_KEPT]
            rows = np.arange(len(change))[:, None]
            gradient = follow[rows, kept]
            asked = short[rows, kept] + np.einsum("fkn,fn->fk", gradient, change[:, k])
            stretch, slack = self.stretch(limb, change[:, k])
            gradients.append(np.concatenate([gradient, stretch[:, None]], axis=1))
            needs.append(np.concatenate([asked, slack[:, None]], axis=1))
        return (np.stack(gradients, axis=1), np.stack(needs, axis=1), np.stack(shorts, axis=1),
                np.stack(insides, axis=1))

    def stretch(self, limb, change):
        """The constraint that a limb's end stays in reach: (gradients (F, 4), needs (F,))."""
        goal = limb.end + rotation.rotate(limb.axes, change[:, :3])
        far = rotation.norm(goal - limb.start)
        most = np.maximum(_REACH * limb.length, rotation.norm(limb.end - limb.start))
        out = np.zeros((len(change), chains.SIZE))
        out[:, :3] = -rotation.rotate(rotation.conj(limb.axes), rotation.normalize(goal - limb.start))
        return out, far - most + np.einsum("fn,fn->f", out, change)
