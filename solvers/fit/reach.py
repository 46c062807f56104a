"""What is done where the root alone cannot bring a hand to what it holds: shoulder and spine lean, and the licence of a
grip is spent, once for its whole interval."""

from dataclasses import replace

import numpy as np

from .. import rotation
from ..anatomy import torso
from .body import LIMBS, lengths
from .clear import smooth_turns

_REACH = 0.995  # of an arm's length that is used
_MOST = {"shoulder": np.radians(20.0), "torso": np.radians(8.0)}  # that one bone leans by
_LEVER = 0.02  # metres: a bone whose turn brings the arm nearer by less than this a radian does not help
_LEFT = 5e-4  # metres that are not worth while


def lean(clip, demands):
    """Turn shoulders, and then the bones of the torso from above, towards hands that are out of reach."""
    roles = clip.plan.answered
    for limb in sorted({demand.limb for demand in demands if demand.limb.startswith("hand")}):
        bones = [(f"shoulder.{limb[-1]}", "shoulder"), *((role, "torso") for role in reversed(torso(roles)))]
        for role, kind in bones:
            if role in roles and not _lean(clip, [d for d in demands if d.limb == limb], limb, role, _MOST[kind]):
                break


def _lean(clip, demands, limb, role, most):
    """Turn one bone as far as it helps, `most` radians at most; whether a hand was out of reach."""
    played = clip.played()
    start, at = clip.joint(played, f"{LIMBS['hand'][0]}.{limb[-1]}"), clip.joint(played, role)
    missing, way = np.zeros(clip.frames), np.zeros((clip.frames, 3))
    for demand in demands:
        off = demand.target - start[demand.rows]
        far = rotation.norm(off)
        missing[demand.rows] = np.maximum(far - _REACH * sum(lengths(clip.plan.body, limb)), 0.0)
        way[demand.rows] = off / np.maximum(far, 1e-9)[:, None]
    if missing.max() < _LEFT:
        return False
    across = rotation.cross(start - at, way)
    helps = rotation.norm(across)
    angle = np.where(helps > _LEVER, np.minimum(missing / np.maximum(helps, _LEVER), most), 0.0)
    turn = smooth_turns(angle[:, None] * across / np.maximum(helps, 1e-9)[:, None], clip.fps)
    clip.set(role, rotation.mul(rotation.exp(turn), clip.turn(role)))
    return True


def spend(laid, misses):
    """(ContactScript, contact id -> metres): grips on a pole that are out of reach, moved along it as their licence
    allows, by one amount for all of each interval, but never out of the band of heights that the capture used.

    `misses` are (contact id, metres along the pole's axis by which the hand would have to come nearer).
    """
    wanted, spent, out = dict(misses), {}, []
    for contact in laid.contacts:
        low, high = contact.licence.get("height", (0.0, 0.0))
        if contact.id in wanted and "height" in contact.path and high > low:
            heights = np.array(contact.path["height"])
            moved = np.clip(heights + wanted[contact.id], heights[0] + low, heights[0] + high)
            if np.abs(moved - heights).max() > _LEFT:
                spent[contact.id] = float((moved - heights)[np.argmax(np.abs(moved - heights))])
                contact = replace(contact, path={**contact.path, "height": moved.tolist()})
        out.append(contact)
    return replace(laid, contacts=tuple(out)), spent
