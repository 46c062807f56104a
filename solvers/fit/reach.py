"""What is done where the root alone cannot bring a hand to what it holds: shoulder and spine lean, and the licence of a
grip is spent, once for its whole interval."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .. import rotation
from ..anatomy import torso
from .body import LIMBS, lengths
from .clear import smooth_turns

_REACH = 0.995  # of an arm's length that is used
_MOST = {"shoulder": np.radians(20.0), "torso": np.radians(8.0)}  # that one bone leans by
_LEVER = 0.02  # metres: a bone whose turn brings the arm nearer by less than this a radian does not help
_EVEN = 1e-6  # seconds, of rounding
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


class Short(NamedTuple):
    """A hand that does not reach what it holds, and what would bring that nearer."""

    contact: object  # contacts.script.Contact, as it is laid out now
    gaps: np.ndarray  # (T,) metres that are missing, in each of its frames
    ways: dict  # licence -> (3,) metres that a unit of it (a metre, a degree) moves the wrist's place by, at the worst
    back: np.ndarray  # (3,) unit, from there to the shoulder


def ways(prop, place, normal, wrist, sense):
    """The `ways` of a Short that holds a cylinder: `place` (3,) of the palm, its `normal`, the `wrist` (3,), and the
    `hands.sense` of a tilt."""
    axis, degree = np.array(prop.axis), np.radians(1.0)
    return {"height": axis, "azimuth": degree * np.cross(axis, wrist - np.array(prop.point)),
            "tilt": sense * degree * np.cross(normal, wrist - place)}


def spend(laid, given, shorts, spent, fps):
    """(ContactScript, contact id -> {licence: amount}): what grips that are out of reach use of their licences, in a
    set order and each by one amount for all of an interval: along the pole, round it, tilted, and shorter in time.

    Heights and azimuths stay in the band that the capture used. An interval is cut where nothing but its ends is out of
    reach. `given` is the script before anything was spent, `spent` what was up to now, as it is returned; `laid` has
    it but for tilts. Amounts are metres, degrees and seconds.
    """
    found, first, used, out = {s.contact.id: s for s in shorts}, {c.id: c for c in given.contacts}, {}, []
    for contact in laid.contacts:
        if contact.id in found:
            before = spent.get(contact.id, {})
            contact, more = _spent(contact, first[contact.id], found[contact.id], before, fps)
            if more:
                used[contact.id] = more
        out.append(contact)
    return replace(laid, contacts=tuple(out)), used


def together(spent, more):
    """What was spent, and what was spent then."""
    return {contact: {name: spent.get(contact, {}).get(name, 0.0) + more.get(contact, {}).get(name, 0.0)
                      for name in {**spent.get(contact, {}), **more.get(contact, {})}} for contact in {**spent, **more}}


def _spent(contact, first, short, before, fps):
    """(Contact, {licence: amount}) of one Short."""
    left, used = float(short.gaps.max()), {}
    for name in ("height", "azimuth", "tilt"):
        low, high = contact.licence.get(name, (0.0, 0.0))
        size = float(np.linalg.norm(short.ways.get(name, np.zeros(3))))
        if high <= low or size < 1e-9 or name not in ("tilt", *contact.path):
            continue
        share = float(short.ways[name] @ short.back) / size  # of the wrist's way, that brings it nearer
        wanted = left * share / size
        if name == "tilt":
            values, moved = np.array([before.get(name, 0.0)]), np.clip(before.get(name, 0.0) + wanted, [low], [high])
        else:
            values = np.array(contact.path[name])
            moved = np.clip(values + wanted, first.path[name][0] + low, first.path[name][0] + high)
        by = float((moved - values)[np.argmax(np.abs(moved - values))])
        if abs(by * size * share) > _LEFT:
            used[name] = by
            left -= abs(by * size * share)
            if name != "tilt":
                contact = replace(contact, path={**contact.path, name: moved.tolist()})
    if not used:
        contact, seconds = _shorter(contact, first, short.gaps, fps)
        used = {"time": seconds} if seconds else {}
    return contact, used


def _shorter(contact, first, gaps, fps):
    """(Contact, seconds) without the ends that are out of reach, where its licence allows, and only they are."""
    low, high = first.licence.get("time", (0.0, 0.0))
    reached = np.flatnonzero(gaps <= _LEFT)
    if not len(reached) or (gaps[reached[0]:reached[-1] + 1] > _LEFT).any():
        return contact, 0.0
    start = contact.start + reached[0] / fps
    end = contact.end - (len(gaps) - 1 - reached[-1]) / fps
    if start - first.start > -low + _EVEN or first.end - end > high + _EVEN:
        return contact, 0.0
    return replace(contact, start=start, end=end), start - contact.start + contact.end - end
