"""Which places on a body's limbs have to stay outside of it, and how thick the limbs are there."""

from typing import NamedTuple

import numpy as np

from .. import rotation
from ..anatomy import FINGERS
from ..fit import flesh, surface
from ..fit import limbs as bends
from ..fit.body import LIMBS, hinge
from . import chain as chains

_UPPER = {"hand": (0.75, 0.9), "foot": (0.5, 0.7, 0.9)}  # of the upper bone: near its root it belongs in the body
_LOWER = {"hand": (0.1, 0.3, 0.5, 0.7, 0.9), "foot": (0.1, 0.3, 0.5, 0.7, 0.9)}
_END = 14  # places on the skin of a hand or foot


class Limb(NamedTuple):
    """What of a limb has to stay outside of the body."""

    name: str  # "hand.L", "foot.R"
    upper: np.ndarray  # (A,) parts of the upper bone
    lower: np.ndarray  # (B,) and of the lower one
    end: surface.Surface | None  # places on the skin of hand or foot
    radii: np.ndarray  # (A + B + C,) metres


def roles_of(name, roles):
    """(roles of the limb's two bones, roles of what they carry) of a limb "hand.L" or "foot.R"."""
    part, side = name.split(".")
    beyond = ["hand", *(f"{f}.{n}" for f in FINGERS for n in range(4))] if part == "hand" else ["foot", "toe"]
    return [f"{r}.{side}" for r in LIMBS[part]], [f"{r}.{side}" for r in beyond if f"{r}.{side}" in roles]


def limb(body, name):
    """The Limb of a body.Body with skin."""
    figure = body.plan.body._replace(rest=body.bound)
    (upper, lower), beyond = roles_of(name, figure.roles)
    part = name.split(".")[0]
    places = (upper, _UPPER[part]), (lower, _LOWER[part])
    thick = np.nan_to_num(np.concatenate([flesh.thickness(figure, body.skin, *place) for place in places]))
    own = flesh.of(figure, body.skin, beyond)
    end = surface.bind(body.bound, body.skin, _spread(body.skin.points, own)) if own.any() else None
    return Limb(name, np.array(_UPPER[part]), np.array(_LOWER[part]), end,
                np.append(thick, np.zeros(end.count if end else 0)))


def _spread(points, own):
    """A few of the points `own` (N,) bool, each farthest from those before it: (N,) bool."""
    listed = np.flatnonzero(own)
    at = points[listed]
    taken = [int(np.argmax(np.linalg.norm(at - at.mean(axis=0), axis=1)))]
    away = np.linalg.norm(at - at[taken[0]], axis=1)
    while len(taken) < min(_END, len(listed)):
        taken.append(int(np.argmax(away)))
        away = np.minimum(away, np.linalg.norm(at - at[taken[-1]], axis=1))
    out = np.zeros(len(points), bool)
    out[listed[taken]] = True
    return out


def chain(body, own, motion, rotations, axes):
    """The chains.Chain of a Limb in a world Motion.

    `rotations` (F, K, 4) are those of the roles that the plan answers, `axes` (F, 4) what corrections are turned by.
    """
    (upper, lower), _ = roles_of(own.name, body.plan.body.roles)
    start, middle, end = (motion.positions[:, body.plan.body.roles[role]] for role in (upper, lower, own.name))
    axis = bends.hinge(middle - start, end - middle, hinge(body, rotations, upper, lower))
    beyond = np.empty((len(start), 0, 3)) if own.end is None else surface.places(own.end, motion) - end[:, None]
    return chains.Chain(start, middle, end, axis, axes, own.upper, own.lower, beyond, own.radii)


def rest_chain(body, own):
    """The Chain of a Limb in the body's rest, one frame; it is not to be moved."""
    still = np.tile(rotation.IDENTITY, (1, 1))
    (upper, lower), _ = roles_of(own.name, body.plan.body.roles)
    start, middle, end = (body.bound.positions[:, body.plan.body.roles[role]] for role in (upper, lower, own.name))
    beyond = np.empty((1, 0, 3)) if own.end is None else surface.places(own.end, body.bound) - end[:, None]
    return chains.Chain(start, middle, end, np.zeros((1, 3)), still, own.upper, own.lower, beyond, own.radii)
