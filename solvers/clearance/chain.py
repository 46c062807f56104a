"""A limb as clearance sees it: two bones and what hangs from their end, pushed aside and swung about.

A correction of a limb is four numbers in metres: where its end goes (in axes that turn with the trunk, so that one that
lasts is steady to the body), and how far its elbow or knee swings about the line from its root to its end.
"""

from typing import NamedTuple

import numpy as np

from .. import rotation
from ..fit import limbs

SIZE = 4  # numbers of a correction
_SWING = 0.25  # of the limb's length: what the elbow swings at the end of
_STEP = 1e-4  # metres, of the differences that tell how samples follow


class Chain(NamedTuple):
    """A limb in motion, with the places on it that have to stay outside of the body."""

    start: np.ndarray  # (F, 3) root joint: shoulder or hip
    middle: np.ndarray  # (F, 3) elbow or knee
    end: np.ndarray  # (F, 3) wrist or ankle
    axis: np.ndarray  # (F, 3) limbs.hinge
    axes: np.ndarray  # (F, 4) what corrections are turned by into the world
    upper: np.ndarray  # (A,) samples on the upper bone, parts of the way
    lower: np.ndarray  # (B,) on the lower bone
    beyond: np.ndarray  # (F, C, 3) and what the end carries, from the end
    radii: np.ndarray  # (A + B + C,) metres: how thick the limb is there

    def rows(self, rows):
        """The Chain in some frames."""
        return self._replace(**{name: getattr(self, name)[rows] for name in
                                ("start", "middle", "end", "axis", "axes", "beyond")})

    @property
    def length(self):
        """(F,) metres, of the two bones."""
        return rotation.norm(self.middle - self.start) + rotation.norm(self.end - self.middle)


def turned(chain, change):
    """World turns (F, 4) of the upper and of the lower bone by a correction (F, 4)."""
    target = chain.end + rotation.rotate(chain.axes, change[:, :3])
    upper, lower, _ = limbs.solve(chain.start, chain.middle, chain.end, chain.axis, target)
    along = rotation.normalize(target - chain.start)
    swing = rotation.exp((change[:, 3] / (_SWING * chain.length))[:, None] * along)
    return rotation.mul(swing, upper), rotation.mul(swing, lower)


def moved(chain, change):
    """(elbow or knee, end) (F, 3) each, after a correction (F, 4); where there is none they are as they were."""
    upper, lower = turned(chain, change)
    middle = chain.start + rotation.rotate(upper, chain.middle - chain.start)
    end = middle + rotation.rotate(lower, chain.end - chain.middle)
    still = ~change.any(axis=1)[:, None]
    return np.where(still, chain.middle, middle), np.where(still, chain.end, end)


def samples(chain, middle, end):
    """World places (F, S, 3) of the samples, with elbow and end (F, 3) where they are now."""
    upper = chain.start[:, None] + chain.upper[:, None] * (middle - chain.start)[:, None]
    lower = middle[:, None] + chain.lower[:, None] * (end - middle)[:, None]
    return np.concatenate([upper, lower, end[:, None] + chain.beyond], axis=1)


def followed(chain, change, ways):
    """How samples go along ways (F, S, 3) with each number of a correction (F, 4), in metres a metre: (F, S, 4)."""
    middle, end = moved(chain, change)
    out = np.empty((*ways.shape[:2], SIZE))
    for k in range(SIZE):
        after = change.copy()
        after[:, k] += _STEP
        at, tip = moved(chain, after)
        by = samples(chain, at, tip) - samples(chain, middle, end)
        out[..., k] = rotation.dot(by, ways) / _STEP
    return out
