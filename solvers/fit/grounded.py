"""The way up and down of a take that lacks it: what is lowest of the body lies on the floor, in each frame."""

import numpy as np

from .. import transfer
from ..contacts import floor as floors
from ..contacts import performer
from ..contacts.signals import smooth
from . import ease, surface
from .body import part_surface

_UP = np.array([0.0, 0.0, 1.0])
_KINK = 0.02  # seconds over which the way is rounded off where another part comes to be the lowest


def put_down(body, plan, motion, pose, floor, fps):
    """A transfer.WorldPose of a body.Body, raised and sunk from frame to frame onto the floor (metres).

    `motion` is the take's. Where another part comes to be the lowest the way has a kink: it is rounded off, and no skin
    comes below the floor for it.
    """
    played = transfer.played(plan.body, plan.held, transfer.keys(plan, pose, motion)[0])
    need = floor - _lowest(body, plan, played)
    eased = smooth(need, fps, _KINK)
    rise = eased + ease.above(need - eased, 2.0 * _KINK * fps)
    return pose._replace(hips=pose.hips + rise[:, None] * _UP)


def _lowest(body, plan, played):
    """Height (F,) in metres of the lowest of all skin; of a body without, of average flesh about its bones."""
    if body.skin is None:
        figure, played, size = performer.standard_size(plan.body, played)
        return floors.lowest(floors.parts(figure, played)) / size
    outer = surface.outermost(body.skin, np.ones(len(body.skin.points), bool))
    ends = ("hand.L", "hand.R", "foot.L", "foot.R", "toe.L", "toe.R")
    skins = [part_surface(body, list(plan.body.roles), outer), part_surface(body, ends)]
    return np.min([surface.lowest(skin, played, _UP) for skin in skins if skin is not None], axis=0)
