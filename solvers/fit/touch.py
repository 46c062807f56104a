"""Hands that lie on the body: the place on its own skin that answers to where the performer's hand lay on hers."""

from typing import NamedTuple

import numpy as np

from .. import anatomy, rotation
from ..anatomy import torso
from ..contacts.script import BODY_PARTS
from . import flesh
from .body import trunk_roles
from .demand import Demand, rows_of
from .hands import column


class Rest(NamedTuple):
    """One contact of a hand with a part of the body."""

    contact: object  # contacts.script.Contact
    rows: slice
    role: str  # whose bone carries the place
    place: np.ndarray  # (T, 3) in its axes, metres
    normal: np.ndarray  # (3,) unit, out of the skin, in its axes


def rests(body, plan, contacts, frames, fps, side):
    """The Rests of a side's hand that count."""
    out = []
    for contact in contacts:
        if (contact.effector != f"hand.{side}" or contact.kind != "rest-on" or contact.surface not in BODY_PARTS
                or contact.surface.startswith("hand.") or not contact.path.get("x")):
            continue
        role = carrier(contact.surface, plan.source.roles)
        if role is not None and role in plan.blends:
            rows = rows_of(contact, frames, fps)
            out.append(Rest(contact, rows, role, *_placed(body, plan, contact, role, rows, fps)))
    return out


def carrier(surface, roles):
    """The role in whose bone's axes a contact's path on a part of the body is; None where it is not mapped."""
    trunk = torso(roles)
    part, _, side = surface.partition(".")
    role = {"belly": trunk[0] if trunk else None, "chest": trunk[-1] if trunk else None,
            "knee": f"shin.{side}"}.get(part, surface)
    return role if role in roles else None


def _placed(body, plan, contact, role, rows, fps):
    """(places (T, 3), normal (3,)) on the body's skin, in the axes of the role's bone.

    What lies somewhere in the performer's rest lies likewise in the body's, scaled as the way is, and out to the skin
    along the line from the bone.
    """
    times = np.arange(rows.start, rows.stop) / fps
    path = np.stack([column(contact, axis, times) for axis in "xyz"], axis=-1)
    hers = plan.source.rest.rotations[0, plan.source.roles[role]]
    own = plan.turned_rest[list(plan.blends).index(role)]
    path = plan.scale[1] * rotation.rotate(rotation.mul(rotation.conj(own), hers), path)
    middle = path.mean(axis=0)
    joint = plan.body.roles[role]
    turn, head = body.bound.rotations[0, joint], body.bound.positions[0, joint]
    start, way = _bone(body, plan, role)
    at = head + rotation.rotate(turn, middle)
    foot = start + np.clip((at - start) @ way / max(way @ way, 1e-12), 0.0, 1.0) * way
    normal = rotation.normalize(at - foot)
    skin = _skin(body, plan, role)
    far = flesh.outermost_hit(skin, foot, normal) if skin is not None else -np.inf
    if np.isfinite(far):
        at = foot + far * normal
    back = rotation.conj(turn)
    return rotation.rotate(back, at - head) + path - middle, rotation.rotate(back, normal)


def _bone(body, plan, role):
    """Start (3,) and way (3,) of the line inside of a part at rest."""
    joints, roles = body.bound.positions[0], plan.body.roles
    start, child = joints[roles[role]], anatomy.limb_child(role, roles)
    trunk = torso(roles)
    if role == "hips" and {"thigh.L", "thigh.R"} <= set(roles):  # hands on hips lie at the sides of a wide line
        middle = 0.5 * (joints[roles["thigh.L"]] + joints[roles["thigh.R"]])
        return middle, (joints[roles[trunk[0]]] if trunk else start) - middle
    return start, joints[roles[child]] - start if child is not None else np.zeros(3)


def _skin(body, plan, role):
    """Triangles (T, 3, 3) of the skin about a role at rest: its own, or the trunk's as a whole."""
    if body.skin is None:
        return None
    figure = plan.body._replace(rest=body.bound)
    trunk = trunk_roles(figure)
    wanted = trunk if role in trunk and role != "head" else [role]
    return flesh.triangles_of(body.skin, flesh.of(figure, body.skin, wanted))


def demands(rest, palm, side, played, joint, hand):
    """The Demand of a Rest: `played` is the body's world Motion, `joint` the bone's index, `hand` (F, 4) world
    rotations."""
    places = (played.positions[rest.rows, joint]
              + rotation.rotate(played.rotations[rest.rows, joint], rest.place))
    return Demand(rest.contact, f"hand.{side}", rest.rows.start, rest.rows.stop - 1,
                  places - rotation.rotate(hand[rest.rows], palm.offset))
