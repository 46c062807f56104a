"""The sole of one foot: where its heel and ball are, how it stands flat, and how low its skin comes."""

from typing import NamedTuple

import numpy as np

from .. import rotation
from . import carried, flesh, surface


class Sole(NamedTuple):
    """Offsets in metres: of the foot in the foot's axes from the ankle, of the toes in the toes' from their joint.

    A foot without a toe bone that turns has all of its skin on the foot: `share` is zero throughout.
    """

    heel: np.ndarray  # (3,) on the foot
    ball: np.ndarray  # (3,) on the toes, or on the foot where no toes turn
    toe: np.ndarray  # (3,) the toe joint on the foot
    turns: bool  # whether the toes turn by themselves
    on_foot: np.ndarray  # (V, 3) skin, as the foot carries it
    on_toe: np.ndarray  # (V, 3) the same skin, as the toes carry it
    share: np.ndarray  # (V,) how much the toes carry of it
    heading: np.ndarray  # (3,) unit, horizontal: where the foot points at rest
    flat_foot: np.ndarray  # (4,) world rotation of the foot as it stands flat, pointing to `heading`
    flat_toe: np.ndarray  # (4,) of the toes
    stood: dict  # "heel", "ball" -> what bones have of the skin that stands there, as of carried.bind; none without


def sole(figure, bound, skin, points, side, answered):
    """The Sole of a side's foot. `figure` is the body, `bound` its skeleton's pose at rest, where the Skin was read;
    `points` are flesh.Soles.points; `answered` the roles that a transfer turns."""
    foot, toe = figure.roles[f"foot.{side}"], figure.roles.get(f"toe.{side}")
    turns = toe is not None and f"toe.{side}" in answered
    toe = foot if toe is None else toe
    ankle, turn_foot, turn_toe = bound.positions[0, foot], bound.rotations[0, foot], bound.rotations[0, toe]
    joint = bound.positions[0, toe]
    heel, ball = (points[f"{part}.{side}"] for part in ("heel", "ball"))
    at_heel, at_ball = (bound.positions[0, p.joint] + rotation.rotate(bound.rotations[0, p.joint], p.offset)
                        for p in (heel, ball))
    way = at_ball - at_heel
    heading = rotation.normalize(way * (1.0, 1.0, 0.0))
    level = rotation.between(way, heading)
    skins, share, own = _skin(figure, skin, side, turns)
    stood = {part: carried.bind(bound, skin, point)
             for part, point in (carried.soles(figure, skin, points, side, own) if len(own) else {}).items()}
    if not len(skins):
        skins, share = np.stack([at_heel, at_ball]), np.array([0.0, 1.0]) * turns

    def on(places, origin, turn):
        return rotation.rotate(rotation.conj(turn), places - origin)

    return Sole(on(at_heel, ankle, turn_foot),
                on(at_ball, joint, turn_toe) if turns else on(at_ball, ankle, turn_foot),
                on(joint, ankle, turn_foot), turns, on(skins, ankle, turn_foot),
                on(skins, joint, turn_toe), share, heading, rotation.mul(level, turn_foot),
                rotation.mul(level, turn_toe), stood)


def _skin(figure, skin, side, turns):
    """(places (V, 3) at rest, shares (V,) of the toes) of the skin of a foot and its toes, and all of its vertices."""
    if skin is None:
        return np.zeros((0, 3)), np.zeros(0), np.zeros(0, int)
    carrier, roles = flesh.labels(figure)
    whole = flesh.of(figure, skin, (f"foot.{side}", f"toe.{side}"))
    own = surface.standing(skin, whole)
    toes = roles.index(f"toe.{side}") if turns else -2
    labels = np.where(skin.bones >= 0, carrier[skin.bones], -1)
    share = np.sum(skin.weights * (labels == toes), axis=1)
    # what the shin or a neighbour carries along counts for the foot: it is not where a foot stands
    return skin.points[own], share[own], np.flatnonzero(whole)


def levers(sole, foot, toe):
    """(heel, ball) from the ankle in the world, (F, 3) each; `foot`, `toe` are world rotations (F, 4)."""
    heel = rotation.rotate(foot, sole.heel)
    if not sole.turns:
        return heel, rotation.rotate(foot, sole.ball)
    return heel, rotation.rotate(foot, sole.toe) + rotation.rotate(toe, sole.ball)


def stood(sole, motion, ankle):
    """(heel, ball) from the ankle (F, 3) in a world Motion, (F, 3) each, of the skin that stands there; None where
    there is no skin."""
    return tuple(carried.path(sole.stood[part], motion) - ankle for part in ("heel", "ball")) if sole.stood else None


def on_bone(sole, part, motion, joint):
    """What a bone has of the skin that stands at a `part` in a world Motion, (F, 3) metres from its joint; zero
    where `joint` is None."""
    held = [held[:3] for own, held in sole.stood[part] if own == joint]
    return rotation.rotate(motion.rotations[:, joint], held[0]) if held else np.zeros((len(motion.rotations), 3))


def lowest(sole, foot, toe):
    """How far the lowest skin lies over the ankle, (F,) metres, below zero: `foot`, `toe` as of `levers`."""
    up = np.array([0.0, 0.0, 1.0])
    heights = rotation.rotate(rotation.conj(foot), up) @ (sole.on_foot * (1.0 - sole.share)[:, None]).T
    if sole.turns:
        joint = rotation.rotate(foot, sole.toe)[:, 2]
        heights += (rotation.rotate(rotation.conj(toe), up) @ (sole.on_toe * sole.share[:, None]).T
                    + joint[:, None] * sole.share)
    return heights.min(axis=1)
