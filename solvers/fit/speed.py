"""The speed limit: no bone turns much faster than the performer's own, on the rendered bone and at every frame."""

import numpy as np

from .. import rotation
from .body import LIMBS

_OWN, _CAP = 1.5, np.radians(720.0)  # times the performer's fastest, and radians a second, that are always allowed


def too_fast(clip):
    """Bones that turn too fast: role -> frames (N,), counted from 0, after which they do."""
    source, out = clip.plan.source.roles, {}
    for k, role in enumerate(clip.plan.answered):
        if role not in source:
            continue
        turns, hers = clip.rotations[:, k], clip.motion.rotations[:, source[role]]
        limit = max(_OWN * rotation.angle(hers[1:], hers[:-1]).max(initial=0.0) * clip.fps, _CAP)
        fast = np.flatnonzero(rotation.angle(turns[1:], turns[:-1]) * clip.fps > limit)
        if len(fast):
            out[role] = fast
    return out


def limbs_of(fast):
    """The limbs, "hand.L" and the like, whose bones are among some roles."""
    chains = {f"{limb}.{side}": {f"{limb}.{side}", *(f"{name}.{side}" for name in chain)}
              for limb, chain in LIMBS.items() for side in "LR"}
    return {limb for limb, chain in chains.items() if chain & set(fast)}
