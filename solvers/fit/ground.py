"""The floor under all of the body: what would sink into it is raised, the trunk by the root, hands and feet by their
limbs."""

from typing import NamedTuple

import numpy as np

from . import clear, ease, feet, flesh, root, surface
from .body import LIMBS, part_surface, trunk_roles

_UP = np.array([0.0, 0.0, 1.0])
_MARGIN = 2e-4  # metres that skin is kept over the floor; what is stored is rounded
_ROUNDED = 1e-6  # metres under the floor that are none: what stands on it may be as much lower
_TOLD = 5e-4  # metres under the floor that are told
_KNEE = 0.4  # of the shin, from above: what kneels
_ROUNDS = 4  # in which an arm is lifted: what was lowest then is not what is lowest now
_SHARES = 0.5 ** np.arange(4)  # of its time, in which a hand or foot rises where there is no room for more
_AHEAD = 0.2  # half the seconds before it is needed that a hand or foot begins to rise


class Lowest(NamedTuple):
    """Skin that can be the lowest of a body."""

    trunk: surface.Surface | None  # what the root has to raise: trunk, thighs, knees
    arms: dict  # limb -> Surface: upper arm but for its beginning, and forearm
    ends: dict  # limb -> Surface: hand with fingers and forearm, foot with toes


def lowest_of(body):
    """The Lowest of a body.Body; nothing where it has no skin."""
    if body.skin is None:
        return Lowest(None, {}, {})
    figure = body.plan.body._replace(rest=body.bound)
    roles = figure.roles
    outer = surface.outermost(body.skin, np.ones(len(body.skin.points), bool))
    ends, arms = {}, {}
    for side in "LR":
        beyond = clear.beyond_beginning(body, f"upper_arm.{side}", f"forearm.{side}")
        upper = outer & flesh.of(figure, body.skin, [f"upper_arm.{side}"])
        if all(f"{name}.{side}" in body.plan.answered for name in LIMBS["hand"]):
            arms[f"hand.{side}"] = part_surface(body, [f"upper_arm.{side}", f"forearm.{side}"],
                                                outer & ~(upper & ~beyond))
        outer &= ~(upper & beyond)
        fingers = [r for r in roles if r.endswith(f".{side}") and r.split(".")[0] in flesh.FINGERS]
        for limb, own in ((f"hand.{side}", [f"hand.{side}", f"forearm.{side}", *fingers]),
                          (f"foot.{side}", [f"foot.{side}", f"toe.{side}"])):
            ends[limb] = part_surface(body, own, surface.standing(body.skin, flesh.of(figure, body.skin, own)))
    for side in "LR":  # what lies nearer to the ankle than to the knee rises with the foot
        if f"shin.{side}" in roles and f"foot.{side}" in roles:
            knee, ankle = (body.bound.positions[0, roles[f"{part}.{side}"]] for part in ("shin", "foot"))
            nearer = (body.skin.points - knee) @ (ankle - knee) > _KNEE * ((ankle - knee) @ (ankle - knee))
            outer &= ~(flesh.of(figure, body.skin, [f"shin.{side}"]) & nearer)
    trunk = [*trunk_roles(figure), *(r for r in roles if r.split(".")[0] in ("shoulder", "upper_arm", "thigh", "shin"))]
    return Lowest(part_surface(body, trunk, outer), *({limb: skin for limb, skin in found.items() if skin is not None}
                                                      for found in (arms, ends)))


def _need(skin, motion, floor):
    """Metres (F,) by which skin has to rise to be on the floor; where it is over it, something below zero.

    Skin that is nowhere under the floor has to rise nowhere: the margin is for what is moved anyway.
    """
    need = floor + _MARGIN - surface.bound(skin, motion, _UP)
    near = np.flatnonzero(need > 0.0)
    if len(near):
        need[near] = floor + _MARGIN - surface.lowest(skin, motion, _UP, near)
    return need if need.max() > _MARGIN + _ROUNDED else np.minimum(need, 0.0)


def trunk_halves(clip, played, offset):
    """What keeps the trunk over the floor: root.Halves for the root's offset beyond `offset` (F, 3), the present.

    Where a shot touches nothing at all, its whole body rises like that: no limb has to bend.
    """
    if clip.laid.floor is None:
        return []
    skins = [clip.lowest.trunk] if clip.contacts else [clip.lowest.trunk, *clip.lowest.arms.values(),
                                                       *clip.lowest.ends.values()]
    moved, out = played._replace(positions=played.positions + offset[:, None]), []
    for skin in skins:
        need = np.zeros(1) if skin is None else np.maximum(_need(skin, moved, clip.laid.floor), 0.0)
        if need.any():
            out.append(root.Half(need > 0.0, np.broadcast_to(_UP, offset.shape), offset[:, 2] + need))
    return out


def settled(clip, limb, demands):
    """A limb's Demands, those on the floor as high as all of its skin asks for, be it fingers under a palm, or what the
    leg carries along of a sole."""
    skin = clip.lowest.ends.get(limb)
    if skin is None:
        return demands
    low = surface.lowest(skin, clip.played(), _UP)
    return [d._replace(target=d.target + (feet.height_of(d.contact, clip.laid.floor) - low[d.rows])[:, None] * _UP)
            if d.contact.surface == "floor" else d for d in demands]


def raise_ends(clip):
    """Raise hands and feet that are below the floor while nothing leads them; those that stand do it as they should."""
    if clip.laid.floor is None:
        return
    for limb, skin in clip.lowest.arms.items():
        _lift_arm(clip, limb, skin)
    played = clip.played()
    for limb, skin in clip.lowest.ends.items():
        upper, lower = (f"{name}.{limb[-1]}" for name in LIMBS[limb[:-2]])
        if upper not in clip.plan.answered or lower not in clip.plan.answered:
            continue
        need = np.where(clip.is_led(limb), 0.0, np.maximum(_need(skin, played, clip.laid.floor), 0.0))
        if need.any():
            rise = _rise(need, lambda share, limb=limb: clip.led(limb, share), _AHEAD * clip.fps)
            clip.bring(played, limb, clip.joint(played, limb) + rise[:, None] * _UP, rise > 0.0, np.zeros(3))


def _rise(need, led, frames):
    """Metres (F,) to rise by: no less than a `need` (F,), nothing where a limb's end is held, and eased over as many
    `frames` as there is room for.

    `led` tells how much (F,), 0 to 1, it is held in a share of the time that its corrections take. What a slow rise
    may not do beside what is held, one in half the time does, and so on.
    """
    rise = np.zeros(len(need))
    for share in _SHARES:
        rise += ease.above(np.maximum(need - rise, 0.0), share * frames) * (1.0 - led(share))
    return np.maximum(rise, need)


def _lift_arm(clip, limb, skin):
    """Turn an arm about its shoulder so that its elbow is over the floor, while nothing leads its hand."""
    for _ in range(_ROUNDS):
        played = clip.played()
        need = np.where(clip.is_led(limb), 0.0, np.maximum(_need(skin, played, clip.laid.floor), 0.0))
        under = np.flatnonzero(need)
        if not len(under):
            return
        place = np.zeros((clip.frames, 3))
        lowest = np.concatenate([surface.along(skin, played, _UP, rows).argmin(axis=1) for rows in
                                 np.array_split(under, max(len(under) * skin.count // 1_000_000, 1))])
        place[under] = surface.some(skin, played, under, lowest)
        arm = clear.Arm(clip, played, limb)
        turns, _ = arm.turns(place, np.broadcast_to(_UP, place.shape), need)
        arm.turn(clear.smooth_turns(turns, clip.fps) * (1.0 - clip.led(limb))[:, None])


def remaining(clip):
    """What is still under the floor: a list of (part, "floor", frame, metres), the worst frame of each."""
    if clip.laid.floor is None:
        return []
    played, out = clip.played(), []
    for name, skin in (("trunk", clip.lowest.trunk), *clip.lowest.arms.items(), *clip.lowest.ends.items()):
        if skin is None:
            continue
        under = _need(skin, played, clip.laid.floor) - _MARGIN
        worst = int(np.argmax(under))
        if under[worst] > _TOLD:
            out.append((name, "floor", worst, float(under[worst])))
    return out
