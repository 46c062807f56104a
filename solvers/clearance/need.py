"""How far outside each sample of a limb has to stay, and when that is looked after."""

import numpy as np

from ..fit import ease

INSIDE = 5e-4  # metres that a sample is inside from which it is a fault
_AROUND = 0.5  # seconds to both sides of a fault in which the limb may give way
_HELD = 0.1  # seconds to both sides of it with the whole margin
_UNCOUNTED = 1e3  # metres: what lies so far inside need not come out


def touching(radii, rest):
    """How far outside (S,) samples count as clear: their own thickness, or as near as they are in the rest pose."""
    return np.minimum(radii, rest)


def faults(distances, clear):
    """How far (F,) a limb is inside: its deepest sample, metres; `distances` (F, S), `clear` (S,) or (F, S)."""
    return np.max(clear - distances, axis=1, initial=0.0)


def windows(depth, fps):
    """The frames (F,) bool in which a limb may give way, for it is `depth` (F,) inside near them."""
    return ease.widened(depth > INSIDE, int(_AROUND * fps)) > 0.0


def wanted(distances, radii, rest, free, margin, fps):
    """How far outside (F, S) samples shall be, metres.

    About a fault it is the margin beyond the limb's thickness; farther off no more than it is already. What the rest
    pose has nearer may come as near. `free` (F, S) are samples that need not stay outside, as what touches on purpose.
    """
    clear = np.where(free, -_UNCOUNTED, touching(radii, rest))
    depth = faults(distances, clear)
    hold = max(int(_HELD * fps), 1)
    full = ease.above((ease.widened(depth > INSIDE, hold) > 0.0).astype(float), hold)
    cap = clear + np.minimum(full, 1.0)[:, None] * margin
    far = np.where(free, -_UNCOUNTED, np.minimum(radii + margin, rest))
    return np.minimum(far, np.maximum(distances, cap))
