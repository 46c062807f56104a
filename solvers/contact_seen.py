"""Which contacts a body shows: read off its skin in motion, without a look at what its script asks for.

Known are the floor, the steps and the shape of the props, for these are the world's. What touches is told by the skin
itself: soles, hands and the rest of the body on the floor, the middles of the palms on props and on the body. Only how
palms clasp each other is read as it is off a take (`contacts.touch`), for between them there is no surface to meet.
"""

import numpy as np

from . import contact_probe
from .anatomy import FINGERS
from .contacts import performer, script, segments, touch

_NEAR = 0.001  # metres from floor or prop within which skin is on it
_LIES = 0.01  # likewise of soft parts on each other and on the floor
_RESTS = 0.02  # m/s below which what touches has come to rest; what is led there is slower in its last frames only
_YIELDS = 0.5 * touch.STILL  # likewise of soft parts on each other, which a hand may stray on
_SHORTEST = {"plant": 0.06, "grip": 0.12, "rest-on": 0.3}  # seconds
_SLIDE = 0.2  # likewise of a foot that slides
_PLACE = 0.03  # metres around a place that hands held, whose thing is not known
_STEP = 0.08  # metres over the floor from which a plant stands on something else: a sole's own height is no step
_REGIONS = {"hips": "trunk", "belly": "trunk", "chest": "trunk", "torso": "trunk", "pelvis": "trunk", "back": "trunk",
            "thigh": "leg", "knee": "leg", "shin": "leg", "upper_arm": "arm", "elbow": "arm", "forearm": "arm"}


def key(contact):
    """(effector, surface, kind) that makes two contacts the same.

    Where on another body one part ends and the next begins is a matter of its joints: trunk, legs and arms count each
    as one. Fixed places may be numbered otherwise.
    """
    surface = "place" if contact.surface.startswith("place ") else _region(contact.surface)
    effector = _region(contact.effector)
    return *(sorted((effector, surface)) if contact.kind == "clasp" else (effector, surface)), contact.kind


def _region(name):
    part, dot, side = name.partition(".")
    return _REGIONS.get(part, part) + dot + side


def height(contacts, contact):
    """The height that a plant stands at: the floor, or a step over it; None where neither is known."""
    place = float(np.median(contact.path["z"])) if contact.path.get("z") else contacts.floor
    return place if contacts.floor is None or place - contacts.floor > _STEP else contacts.floor


def unseen(contacts):
    """Active contacts of a ContactScript that the skin cannot tell: grips on what has no known shape, and what lies on
    props but for hands."""
    poles = [prop.name for prop in contacts.props if prop.kind == "cylinder"]
    places = [prop.name for prop in contacts.props if not prop.object]
    named = {prop.name for prop in contacts.props}
    return [c for c in script.active(contacts) if c.surface in named
            and (c.effector.split(".")[0] != "hand" or c.surface not in (*poles, *places))]


def found(contacts, body):
    """Key of a contact -> frames (F,) in which an Observed body shows it, in the world of a ContactScript."""
    fps, out = contacts.fps, {}
    heights = {height(contacts, c) for c in script.active(contacts) if c.surface == "floor"}
    heights = sorted({contacts.floor, *heights} - {None})
    for side, low in zip(body.probe.feet, body.seen.feet.T):
        touching = _on(low, heights, _NEAR)
        stands = _long(touching & _stays(body, side, fps), _SHORTEST["plant"], fps)
        out[f"foot.{side}", "floor", "plant"] = stands
        out[f"foot.{side}", "floor", "rest-on"] = _long(touching & ~stands, _SLIDE, fps)
    if contacts.floor is not None:
        _lying(body, contacts.floor, fps, out)
    for side, palm in body.palms.items():
        _holding(contacts, f"hand.{side}", performer.place(palm, body.motion), fps, out)
    for side, away in zip(body.probe.palms, np.moveaxis(body.seen.palms, 1, 0)):
        _resting(body, side, away, fps, out)
    _clasping(body, fps, out)
    return out


def _long(mask, seconds, fps):
    return segments.long_enough(mask, max(int(round(seconds * fps)), 1))


def _on(low, heights, near):
    """Where (F,) the lowest skin is at one of some heights."""
    return np.any([np.abs(low - one) < near for one in heights], axis=0) if heights else np.zeros(len(low), bool)


def _speed(path, fps):
    """How fast (F,) in m/s a path (F, N) is gone before or after each frame, whichever is slower: at both edges of a
    rest it is at rest."""
    step = np.linalg.norm(np.diff(path, axis=0), axis=1) * fps
    if not len(step):
        return np.zeros(len(path))
    return np.fmin(np.append(step, step[-1]), np.append(step[0], step))


def _stays(body, side, fps):
    """Where (F,) a foot has a heel or ball that does not go along the floor."""
    paths = np.moveaxis(body.seen.soles, 1, 0)
    slow = [_speed(path[:, :2], fps) < _RESTS for name, path in zip(body.probe.soles, paths)
            if name[-1] == side]
    return np.any(slow, axis=0)


def _lying(body, floor, fps, out):
    """Adds hands that stand on the floor and what else lies on it. The shin of a foot that stands is over it."""
    lows = {}
    for role, low in zip(body.probe.roles, body.seen.low.T):
        name = _hand(role) or contact_probe.part(role)
        if name is not None:
            lows[_region(name)] = np.fmin(lows.get(_region(name), low), low)
    for name, low in lows.items():
        hand = name.startswith("hand")
        mask = _on(low, [floor], _NEAR if hand else _LIES) & (_speed(low[:, None], fps) < _RESTS)
        if name.startswith("leg"):
            mask &= np.logical_not(out.get((f"foot.{name[-1]}", "floor", "plant"), False))
        kind = "plant" if hand else "rest-on"
        out[name, "floor", kind] = _long(mask, _SHORTEST[kind], fps)


def _hand(role):
    """The hand that a role is of, "hand.L" or "hand.R", None for others."""
    part, side = role.split(".")[0], role[-1]
    return f"hand.{side}" if part == "hand" or part in FINGERS else None


def _holding(contacts, hand, palm, fps, out):
    """Adds grips: a palm (F, 3) on the surface of a pole, or still at a place that hands held."""
    still, places = _speed(palm, fps) < touch.STILL, np.zeros(len(palm), bool)
    for prop in contacts.props:
        off = palm - np.array(prop.point)
        if prop.kind == "cylinder":
            axis = np.array(prop.axis)
            gap = np.linalg.norm(off - (off @ axis)[:, None] * axis, axis=1) - prop.radius
            mask = (np.abs(gap) < _NEAR) & (_speed(gap[:, None], fps) < _RESTS)
            out[hand, prop.name, "grip"] = _long(mask, _SHORTEST["grip"], fps)
        elif prop.name.startswith("place "):
            there = (np.abs(off) < 0.5 * np.array(prop.size) + _PLACE).all(axis=1)
            places |= segments.hysteresis(_long(there & still, _SHORTEST["grip"], fps), there)
            out[hand, "place", "grip"] = places


def _resting(body, side, away, fps, out):
    """Adds a hand that lies on the body's own skin, the nearest of it; `away` (F, PARTS) is how far it is."""
    regions = sorted({_region(part) for part in contact_probe.PARTS} - {f"arm.{side}"})
    gaps = np.stack([np.min([away[:, k] for k, part in enumerate(contact_probe.PARTS) if _region(part) == name], axis=0)
                     for name in regions], axis=-1)
    nearest = np.argmin(gaps, axis=1)
    for k, name in enumerate(regions):
        mask = (nearest == k) & (gaps[:, k] < _LIES) & (_speed(gaps[:, k, None], fps) < _YIELDS)
        out[f"hand.{side}", name, "rest-on"] = _long(segments.closed(mask, int(touch.GAP * fps)), _SHORTEST["rest-on"],
                                                     fps)


def _clasping(body, fps, out):
    """Adds hands that hold each other."""
    if len(body.palms) < 2:
        return
    figure, motion, size = performer.standard_size(body.figure, body.motion)
    paths = {side: performer.place(palm._replace(offset=size * palm.offset), motion)
             for side, palm in body.palms.items()}
    free = ~np.any([mask for (hand, _, kind), mask in out.items() if kind == "grip"], axis=0)
    mask = np.zeros(len(body.times), bool)
    for one in touch.clasps(motion, paths, body.palms["R"].joint, free & np.ones(len(mask), bool), fps):
        mask[int(np.ceil(one.first - 0.1)):int(np.floor(one.last + 0.1)) + 1] = True
    out["hand.L", "hand.R", "clasp"] = mask
