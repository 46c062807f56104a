"""What touches a prop on purpose, a hooked thigh, the small of the back, a seat: brought to the gap that its contact
has."""

import numpy as np

from .. import rotation
from . import clear, ease, obstacle, root
from .demand import rows_of

_REACH = 0.15  # metres from a prop's surface, within which skin is sought that is to touch it
_NEARER = 0.3  # of that in each round: the nearest skin to a thick pole need not be that to a thin one
_ROUNDS = 6
_LEAST = 0.004  # metres, likewise: from here on it is
_CLOSE = 1e-4  # metres that are near enough


def touches(clip):
    """(Contact, things, Parts) of each contact of limbs and trunk with a prop, which may be several things."""
    for prop in clip.props:
        things = clip.things(prop)
        for contact in (c for c in clip.contacts if things and c.surface == prop):
            parts = [part for part in clip.parts if part.is_touched_by(contact.effector)]
            if parts:
                yield contact, things, parts


def gaps(clip, played, contact, things, parts, reach):
    """How far (F,) metres the skin of some Parts is from where a contact wants it, at most `reach`, in the contact's
    frames, zero in others; below zero where it is too near. Then its place (F, 3), and the way (F, 3) out of the prop.
    """
    rows = rows_of(contact, clip.frames, clip.fps)
    held, wanted = np.zeros(clip.frames, bool), np.zeros(clip.frames)
    held[rows], wanted[rows] = True, clear.touching(contact, rows, clip.fps)
    pushes = []
    for thing, part in ((thing, part) for thing in things for part in parts):
        way, _ = clear.side_of(clip, part, thing, played)
        pushes.append((obstacle.push(thing, part.skin, played, way, held, wanted + reach), way))
    nearest = np.argmax([push.amount for push, _ in pushes], axis=0)
    frames = np.arange(clip.frames)
    amount, place, way = (np.stack(values)[nearest, frames] for values in
                          zip(*((push.amount, push.place, way) for push, way in pushes)))
    return np.where(held, reach - amount, 0.0), place, way


def meet(clip):
    """Turn limbs so that their skin touches what it is to touch; whether any had to.

    One whose end is led turns about the line to its end, a free one as a whole.
    """
    turned = False
    for contact, things, parts in touches(clip):
        limb = parts[0].limb
        if not limb:
            continue
        held = frames_of(clip, contact)
        fade, reach = np.full(clip.frames, clear.TOUCH_FADE * clip.fps), _REACH
        for _ in range(_ROUNDS):
            played = clip.played()
            gap, place, way = gaps(clip, played, contact, things, parts, reach)
            if np.abs(gap).max() < _CLOSE:
                break
            arm, led = clear.Arm(clip, played, limb), clip.led(limb)[:, None]
            free, swivel = arm.turns(place, way, -gap)
            turns = (1.0 - led) * free + led * swivel[:, None] * arm.along
            arm.turn(ease.spread(turns, held, fade, fade))
            reach, turned = max(_NEARER * reach, _LEAST), True
    return turned


def frames_of(clip, contact):
    """The frames (F,) bool of a contact."""
    held = np.zeros(clip.frames, bool)
    held[rows_of(contact, clip.frames, clip.fps)] = True
    return held


def trunk_halves(clip, played, offset):
    """What brings the trunk to the props that it is to touch: root.Halves beyond `offset` (F, 3), the present one."""
    moved, out = played._replace(positions=played.positions + offset[:, None]), []
    for contact, things, parts in touches(clip):
        if not parts[0].limb:
            gap, _, way = gaps(clip, moved, contact, things, parts, _REACH)
            if (gap > _CLOSE).any():
                out.append(root.Half(gap > _CLOSE, -way, gap - rotation.dot(offset, way)))
    return out


def missed(clip):
    """(Contact, frame, metres) of each contact: how far it is from being met, its worst frame."""
    played = clip.played()
    for contact, things, parts in touches(clip):
        near, far = (gaps(clip, played, contact, things, parts, reach)[0] for reach in (_LEAST, _REACH))
        gap = np.abs(np.where(near < _LEAST, near, far))
        worst = int(np.argmax(gap))
        yield contact, worst, float(gap[worst])
