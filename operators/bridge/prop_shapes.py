"""The props of the contact script that an armature plays by, as solids to be pictured."""

from typing import NamedTuple

import numpy as np

from ...solvers.errors import FootholdError
from . import overlay_shapes, scripts


class Pole(NamedTuple):
    """A cylinder."""

    start: np.ndarray  # (3,) world
    end: np.ndarray  # (3,)
    radius: float


class Box(NamedTuple):
    """A box."""

    corners: np.ndarray  # (8, 3) world: its lower face around, then its upper one


def of_armature(armature):
    """Poles and Boxes of the script kept with the action that an armature plays; [] where there is none to be read."""
    data = armature.animation_data
    try:
        script = scripts.load(data.action) if data is not None and data.action is not None else None
    except FootholdError:
        return []  # a picture can do without
    kinds = ("cylinder", "box", "place")
    return [_solid(script, prop) for prop in script.props if prop.kind in kinds] if script else []


def _solid(script, prop):
    if prop.kind != "cylinder":
        return Box(overlay_shapes.box_corners(prop))
    start, end = (np.asarray(prop.point) + high * np.asarray(prop.axis) for high in overlay_shapes.span(script, prop))
    return Pole(start, end, prop.radius)
