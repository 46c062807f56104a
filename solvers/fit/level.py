"""How feet lie to the floor in the performer's rest, which joints do not tell, read off where she stands in the take.

A rest may have its soles anywhere: one that straddles often carries its feet along as its shins lean, and one hung by
its root points them down. A body's foot that is laid level to such a rest is turned by a constant angle through the
whole take, and is turned back only while it stands.
"""

import numpy as np

from .. import rotation
from ..contacts import script as scripts
from . import feet

_UP = np.array([0.0, 0.0, 1.0])
_ENOUGH = 0.05  # seconds that a foot has to stand flat for its rest to be known


def levelled(body, script, motion, fps):
    """The body.Body whose feet, in the rest that its plan goes by, lie to the floor as the performer's do in hers.

    `script` and `motion` are the take's, in its world. Only feet change, by a constant turn, and only those that stand
    flat in the take; a body without skin, whose soles are not known, stays as it is.
    """
    if body.skin is None:
        return body
    plan, rests = body.plan, body.plan.turned_rest.copy()
    places = {role: k for k, role in enumerate(plan.blends)}
    contacts = scripts.active(script)
    for side, own in body.soles.items():
        up = _up_at_rest(plan.source, f"foot.{side}", motion, _flat(contacts, len(motion.rotations), fps, side), fps)
        if up is None:
            continue
        its = rotation.rotate(rotation.mul(rests[places[f"foot.{side}"]], rotation.conj(own.flat_foot)), _UP)
        turn = rotation.between(its, up)
        for k in (places[role] for role in (f"foot.{side}", f"toe.{side}") if role in places):
            rests[k] = rotation.mul(turn, rests[k])
    return body._replace(plan=plan._replace(turned_rest=rests))


def _flat(contacts, frames, fps, side):
    """The frames (F,) in which a foot stands with heel and ball."""
    flat = np.zeros(frames, bool)
    for _, _, heel, ball in feet.stands(contacts, frames, fps, side):
        flat |= heel & ball
    return flat


def _up_at_rest(source, role, motion, flat, fps):
    """Where in the source's rest (world) is up for a foot that stands flat, unit (3,); None where it hardly does."""
    if flat.sum() < _ENOUGH * fps:
        return None
    joint = source.roles[role]
    back = rotation.mul(source.rest.rotations[0, joint], rotation.conj(motion.rotations[flat, joint]))
    return rotation.normalize(np.median(rotation.rotate(back, _UP), axis=0))
