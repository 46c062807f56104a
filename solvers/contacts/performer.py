"""The performer: points of her body that touch things, from her rest and the lengths of her own limbs.

A capture knows joints only. Where a heel, a ball or a palm lies on its bone is laid out in the rest by proportions of
the limb that it ends; what remains wrong about it is found out from the take itself (a foot's standing baseline, the
palm's place while it holds a pole).
"""

from typing import NamedTuple

import numpy as np

from .. import rest, rotation
from ..anatomy import SIDES
from ..transfer import leg_length

LEG = 0.8  # metres: the size of performer that all thresholds are told for; see `standard_size`

# means of adults, as shares of the limb: Drillis and Contini, "Body segment parameters" (1966), and Winter (2009)
_FOREARM = 0.25  # metres, with legs of LEG
_TOE_UP = 0.027  # toe joint over the sole, of the leg
_ANKLE_UP = 0.106  # ankle over the sole, of the leg
_HEEL_BACK = 0.42  # heel behind the ankle, of the way from ankle to toe joint
_FOOT = 0.165  # ankle to toe joint along the floor, of the leg
_PALM_ALONG = 0.29  # palm's middle from the wrist, of the forearm
_PALM_THICK = 0.08  # its skin under the bones, of the forearm


class Point(NamedTuple):
    """A point that is fixed on a bone."""

    joint: int
    offset: np.ndarray  # (3,) from the bone's head, in its own axes, metres


class Palm(NamedTuple):
    """The middle of a palm's skin, and which way the hand lies in its bone's axes."""

    joint: int
    offset: np.ndarray  # (3,) as of a Point
    along: np.ndarray  # (3,) unit, towards the fingers
    out: np.ndarray  # (3,) unit, out of the palm


def standard_size(figure, motion):
    """(figure, motion, factor): both scaled by the factor that gives the performer legs of LEG metres.

    Where no leg is mapped, the arms tell, and where no arm is, nothing is scaled.
    """
    pose = figure.rest.positions[0]
    leg = leg_length(pose, figure.roles)
    arms = [float(np.linalg.norm(pose[figure.roles[f"hand.{side}"]] - pose[figure.roles[f"forearm.{side}"]]))
            for side in SIDES if f"hand.{side}" in figure.roles and f"forearm.{side}" in figure.roles]
    size = leg or (sum(arms) / len(arms) / _FOREARM * LEG if arms else LEG)
    factor = LEG / size if size > 1e-6 else 1.0
    return (figure._replace(rest=figure.rest._replace(positions=factor * figure.rest.positions)),
            motion._replace(positions=factor * motion.positions), factor)


def place(point, motion):
    """World positions (F, 3) of a Point or a Palm."""
    return motion.positions[:, point.joint] + rotation.rotate(motion.rotations[:, point.joint], point.offset)


def upright(figure, motion, joint):
    """How much (F,) what faces down at rest on a joint still does: 1 wholly, 0 to the side, -1 up."""
    up = rotation.rotate(rotation.conj(figure.rest.rotations[0, joint]), axes(figure)[2])
    return rotation.rotate(motion.rotations[:, joint], up)[:, 2]


def axes(figure):
    """(left, back, up) of the rest, unit vectors (3,) in the world; the world's own where the rest tells none."""
    facing = rest.facing(figure.rest.positions, figure.roles)
    return np.eye(3) if facing is None else rotation.rotate(facing[0], np.eye(3))


def _on(figure, role, world):
    """The Point on a role's bone that lies at `world` (3,) from its head in the rest."""
    joint = figure.roles[role]
    return Point(joint, rotation.rotate(rotation.conj(figure.rest.rotations[0, joint]), world))


def feet(figure):
    """Heel and ball of the mapped feet: "heel.L", "ball.L", ... -> Point."""
    _, back, up = axes(figure)
    leg = leg_length(figure.rest.positions[0], figure.roles) or LEG
    out = {}
    for side in SIDES:
        foot, toe = figure.roles.get(f"foot.{side}"), figure.roles.get(f"toe.{side}")
        if foot is None:
            continue
        ahead = -_FOOT * leg * back
        down = _ANKLE_UP * leg
        if toe is not None:
            way = figure.rest.positions[0, toe] - figure.rest.positions[0, foot]
            drop, flat = -float(way @ up), way - (way @ up) * up
            if np.linalg.norm(flat) > 0.03 * leg:  # else the rest stands on its toes and tells no heading
                ahead, down = flat, drop + _TOE_UP * leg
            out[f"ball.{side}"] = _on(figure, f"toe.{side}", -_TOE_UP * leg * up)
        else:
            out[f"ball.{side}"] = _on(figure, f"foot.{side}", ahead - down * up)
        out[f"heel.{side}"] = _on(figure, f"foot.{side}", -_HEEL_BACK * ahead - down * up)
    return out


def palms(figure):
    """The palms, "L", "R" -> Palm, of the hands that are mapped with their forearms.

    The palm faces down in a T-pose; another rest is taken to have swung there with the arm. A hand without fingers goes
    on as its forearm does.
    """
    left, _, up = axes(figure)
    limbs = rest.limb_directions(figure.rest.positions, figure.roles)
    out = {}
    for side, sign in zip(SIDES, (1.0, -1.0)):
        hand, forearm = figure.roles.get(f"hand.{side}"), figure.roles.get(f"forearm.{side}")
        if hand is None or forearm is None:
            continue
        arm = figure.rest.positions[0, hand] - figure.rest.positions[0, forearm]
        length = float(np.linalg.norm(arm))
        along = limbs[f"hand.{side}"][0] if f"hand.{side}" in limbs else arm / max(length, 1e-9)
        down = rotation.rotate(rotation.between(sign * left, along), -up)
        back = rotation.conj(figure.rest.rotations[0, hand])
        along, down = rotation.rotate(back, along), rotation.rotate(back, down)
        out[side] = Palm(hand, length * (_PALM_ALONG * along + _PALM_THICK * down), along, down)
    return out
