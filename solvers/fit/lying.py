"""What lies on the floor as its contact says (knees, back, forearms): brought down to it by root and limb."""

import numpy as np

from .. import rotation
from ..anatomy import torso
from ..contacts.script import REGIONS
from . import clear, ease, flesh, root, surface
from .body import LIMBS
from .demand import rows_of

_UP = np.array([0.0, 0.0, 1.0])
_CLOSE = 1e-3  # metres over the floor that lie on it
_SETTLES = 0.35  # seconds, half the time in which the root comes down and goes up again
_EVEN = 0.1  # half the seconds over which what a limb is lowered by is evened out, and nowhere to more
_ROUNDS = 4
_MOST = np.radians(10.0)  # that a bone turns by at most in one round
_MIDDLE = {"hand": "elbow", "foot": "knee"}
_LEVER = 0.06  # metres: a turn that moves its place by less than this a radian is hardly used


def skins(body, contacts):
    """effector -> surface.Surface of all that lie on the floor by Contacts, and of the whole limbs that they are of."""
    listed = {c.effector for c in contacts if c.surface == "floor" and c.effector.split(".")[0] in REGIONS}
    if not listed or body.skin is None:
        return {}
    figure, out = body.plan.body._replace(rest=body.bound), {}
    for effector in sorted(listed | {_whole(_limb(effector)) for effector in listed if _limb(effector)}):
        own = flesh.of(figure, body.skin, _roles(effector, figure.roles))
        if own.any():
            out[effector] = surface.bind(body.bound, body.skin, surface.outermost(body.skin, own))
    return out


def _roles(effector, roles):
    """The roles whose skin an effector of contacts is."""
    region, _, side = effector.partition(".")
    named = [f"{part}.{side}" if side else part for part in REGIONS[region]]
    return [role for part in named for role in (("hips", *torso(roles)) if part == "torso" else (part,))
            if role in roles]


def _lying(clip):
    """(Contact, rows, Surface) of each contact that lies on the floor."""
    if clip.laid.floor is not None:
        for contact in clip.contacts:
            if contact.surface == "floor" and contact.effector in clip.lying:
                yield contact, rows_of(contact, clip.frames, clip.fps), clip.lying[contact.effector]


def trunk_halves(clip, played, offset):
    """What brings trunk and legs down to the floor that they lie on: root.Halves beyond `offset` (F, 3), the present.

    No lower than the body has room for, and as smoothly as the root can follow: what is left is for the limbs.
    """
    listed = [(rows, skin) for contact, rows, skin in _lying(clip) if not _limb(contact.effector).startswith("hand")]
    if not listed:
        return []
    moved, gap = played._replace(positions=played.positions + offset[:, None]), np.zeros(clip.frames)
    for rows, skin in listed:
        gap[rows] = np.maximum(gap[rows], surface.lowest(skin, moved, _UP, rows) - clip.laid.floor)
    if gap.max() < _CLOSE:
        return []
    room = np.maximum(surface.lowest(clip.lowest.trunk, moved, _UP) - clip.laid.floor, 0.0)
    held = gap > 0.0
    need = -ease.above(-np.where(held, np.minimum(gap, room), room), _SETTLES * clip.fps) - _CLOSE
    held &= need > 0.0
    return [root.Half(held, np.broadcast_to(-_UP, offset.shape), need - offset[:, 2])] if held.any() else []


def _limb(effector):
    """The end of the limb that an effector belongs to, "" for the trunk's."""
    region, _, side = effector.partition(".")
    first = REGIONS[region][-1]
    return next((f"{end}.{side}" for end, bones in LIMBS.items() if first in bones), "")


def _whole(limb):
    """The effector whose skin is both bones of the limb that ends in a role."""
    return f"{_MIDDLE[limb[:-2]]}.{limb[-1]}"


def meet(clip):
    """Turn thighs and upper arms so that what lies on the floor does, as far as nothing of the limb comes below it.

    The bone below keeps its direction, unless foot or hand would come below the floor: it is raised about knee or
    elbow. A limb whose end is led turns about the line to that end.
    """
    for contact, rows, skin in _lying(clip):
        limb = _limb(contact.effector)
        if not limb or any(f"{bone}.{limb[-1]}" not in clip.plan.answered for bone in LIMBS[limb[:-2]]):
            continue
        turned = _Turned(clip, rows)
        for _ in range(_ROUNDS):
            played = clip.played()
            gap, place = turned.over(played, skin)
            room, _ = turned.over(played, clip.lying[_whole(limb)])
            gap = np.clip(gap, 0.0, np.maximum(room, 0.0))
            gap[rows] = -ease.above(-gap[rows], _EVEN * clip.fps)
            if gap.max() < 0.5 * _CLOSE:
                break
            arm, led = clear.Arm(clip, played, limb), clip.led(limb)
            knee = clip.joint(played, arm.bones[1])
            arm.turn(turned.spread((led * arm.turns(place, -_UP, gap)[1])[:, None] * arm.along))
            turned.turn(arm.bones[0], arm.start, knee, -_UP, (1.0 - led) * gap)
            under, place = turned.over(clip.played(), clip.lowest.ends.get(limb, skin))
            turned.turn(arm.bones[1], knee, place, _UP, (1.0 - led) * np.maximum(-under, 0.0))


class _Turned:
    """Turns of bones in the frames of a contact, which come before and go after it."""

    def __init__(self, clip, rows):
        self.clip, self.rows = clip, rows
        self.held, self.fade = np.zeros(clip.frames, bool), np.full(clip.frames, clear.TOUCH_FADE * clip.fps)
        self.held[rows] = True

    def over(self, played, skin):
        """(metres (F,) of the lowest of some skin over the floor, its place (F, 3)); zero where nothing is held."""
        along = surface.along(skin, played, _UP, self.rows)
        gap, place = np.zeros(self.clip.frames), np.zeros((self.clip.frames, 3))
        gap[self.rows] = along.min(axis=1) - self.clip.laid.floor
        place[self.rows] = surface.some(skin, played, np.flatnonzero(self.held), along.argmin(axis=1))
        return gap, place

    def spread(self, turns):
        """Turns (F, 3) of the frames that are held, and what comes before and goes after them."""
        return ease.spread(turns, self.held, self.fade, self.fade)

    def turn(self, bone, start, place, way, amount):
        """Turn one bone about its joint, `start` (F, 3), to move a place (F, 3) by `amount` (F,) metres along `way`."""
        across = np.cross(place - start, way)
        far = rotation.norm(across)
        angle = np.minimum(amount * far / (far * far + _LEVER ** 2), _MOST)  # damped: a short lever is no way
        turns = self.spread(angle[:, None] * rotation.normalize(across))
        self.clip.set(bone, rotation.mul(rotation.exp(turns), self.clip.turn(bone)))


def missed(clip):
    """(Contact, frame, metres) of each contact: how far over the floor what should lie on it is, its worst frame."""
    played = clip.played()
    for contact, rows, skin in _lying(clip):
        gap = surface.lowest(skin, played, _UP, rows) - clip.laid.floor
        worst = int(np.argmax(gap))
        if gap[worst] > 2.0 * _CLOSE:
            yield contact, rows.start + worst, float(gap[worst])
