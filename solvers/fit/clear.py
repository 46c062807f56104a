"""Trunk and limbs kept out of props: the root gives way to the trunk, and limbs turn about their own root joints."""

from typing import NamedTuple

import numpy as np

from .. import rotation
from ..contacts.script import REGIONS
from . import ease, flesh, net, obstacle, root
from .body import LIMBS, trunk_roles
from .demand import rows_of
from .hands import column

LIMBS_OF_SIDES = tuple(f"{limb}.{side}" for limb in LIMBS for side in "LR")

_ROUNDS = 6
_TOLD = 1e-3  # metres inside that are told
_SHARE = 0.6  # of the time before, in each round, that a limb takes to be led by what its end holds
_UPPER = 0.3  # of a limb's first bone, from its root joint: so much goes with the trunk
_AHEAD = 0.3  # half the seconds before it is needed that a correction begins, and after it that it ends
TOUCH_FADE = 0.5  # seconds in which a limb comes to what it touches on purpose, and goes
_LEVER = 0.03  # metres: a swivel that moves what is inside by less than this a radian is no way out
_FOLLOWS = 0.3  # of the root's move, that any place of a led limb is believed to follow
_MOST = np.radians(40.0)  # a limb turns by at most in one round


class Part(NamedTuple):
    """Skin that is kept out of props together."""

    limb: str  # "foot.L", or "" for the trunk
    skin: net.Net
    radius: float  # metres: what its skin reaches from its joints and the lines between
    chain: tuple  # roles whose joints it lies along
    free: bool  # it is kept out only while nothing leads the limb: a hand, which comes near to what it will hold

    def is_touched_by(self, effector):
        """Whether an effector of contacts is some of it."""
        region, _, side = effector.partition(".")
        if self.limb:
            return side == self.limb[-1:] and self.chain[0].split(".")[0] in REGIONS.get(region, ())
        return not side and region in REGIONS


def parts(body):
    """The Parts of a body: its trunk with the beginnings of its limbs, the bones of its limbs, hands and feet."""
    if body.skin is None:
        return []
    roles, answered = body.plan.body.roles, body.plan.answered
    figure = body.plan.body._replace(rest=body.bound)
    trunk = trunk_roles(body.plan.body)
    trunk_skin = flesh.of(figure, body.skin, [*trunk, *(r for r in roles if r.split(".")[0] == "shoulder")])
    listed, first = [], np.zeros(len(body.skin.points), bool)  # (limb, which vertices, chain, free)
    for limb, (upper, lower) in LIMBS.items():
        for side in "LR":
            chain = [f"{name}.{side}" for name in (upper, lower, limb)]
            if any(role not in roles for role in chain):
                continue
            beyond = beyond_beginning(body, *chain[:2])
            whole = flesh.of(figure, body.skin, [chain[0]])
            first |= ~beyond & whole
            if chain[0] in answered and chain[1] in answered:
                more = _beyond(roles, chain[2])
                tip = tuple([*chain, *more[:1]][-2:])
                listed += [(chain[2], flesh.of(figure, body.skin, [chain[2], *more]), tip, True),
                           (chain[2], flesh.of(figure, body.skin, [chain[1]]), tuple(chain[1:]), False),
                           (chain[2], whole & beyond, tuple(chain[:2]), False)]
    chain = tuple(role for role in trunk if role in roles)
    listed += [("", first, chain, False), ("", trunk_skin, chain, False)]
    nets = _nets(body, [keep for _, keep, *_ in listed])
    return [Part(limb, skin, _reach(body, skin.skin, chain), chain, free)
            for (limb, _, chain, free), skin in zip(listed, nets) if skin.count]


def _beyond(roles, end):
    """The roles of fingers or toes, the one first that tells where hand or foot points."""
    name, side = end.split(".")
    if name == "foot":
        return [role for role in (f"toe.{side}",) if role in roles]
    fingers = [role for role in roles if role.endswith(f".{side}") and role.split(".")[0] in flesh.FINGERS]
    return sorted(fingers, key=lambda role: (role != f"middle.1.{side}", role == f"thumb.1.{side}"))


def beyond_beginning(body, first, second):
    """Which of a body's vertices (N,) lie beyond the beginning of a limb, whose first two bones have these roles: what
    goes with the trunk. All of them where it has no such joints."""
    roles = body.plan.body.roles
    if first not in roles or second not in roles:
        return np.ones(len(body.skin.points), bool)
    a, b = (body.bound.positions[0, roles[role]] for role in (first, second))
    return (body.skin.points - a) @ (b - a) / max((b - a) @ (b - a), 1e-12) > _UPPER


def _nets(body, kept):
    """A net.Net for each of the `kept` (N,) bool: an edge from one to another is the former's."""
    bound = body.skin.weights.sum(axis=1) > 0.0
    owner = np.full(len(bound), len(kept))
    for k, keep in enumerate(kept):
        owner[keep & bound] = k
    edges = net.edges_of(body.skin)
    edges = edges[(owner[edges] < len(kept)).all(axis=1)]
    return [net.net(body.bound, body.skin, edges[owner[edges].min(axis=1) == k]) for k in range(len(kept))]


def _reach(body, skin, chain):
    """How far skin lies from the nearest of some joints, and half the way between two, at most."""
    joints = body.bound.positions[0, [body.plan.body.roles[role] for role in chain]]
    points = body.skin.points[skin.vertices]
    away = np.min([rotation.norm(points - a - np.clip((points - a) @ (b - a) / max((b - a) @ (b - a), 1e-12), 0.0, 1.0)
                                 [:, None] * (b - a)) for a, b in zip(joints[:-1], joints[1:])] or
                  [rotation.norm(points - joints[0])], axis=0)
    return float(away.max())


def side_of(clip, part, thing, played):
    """(unit directions (F, 3) out of a thing, near (F,) bool) of a Part: to the side on which the performer's is.

    Directions are hers, because her body has never been inside; where she has no such joints they are the body's own.
    """
    source = clip.plan.source
    lines = [(clip.joint(played, a), clip.joint(played, b)) for a, b in zip(part.chain[:-1], part.chain[1:])]
    near = np.any([obstacle.is_near(thing, part.radius, a, b) for a, b in lines], axis=0)
    if not all(role in source.roles for role in part.chain):
        return obstacle.steady(thing.ways(lines), clip.fps), near
    hers = next(prop for prop in clip.script.props if prop.name == thing.name)
    paths = [clip.motion.positions[:, source.roles[role]] for role in part.chain]
    ways = obstacle.side_of(thing, list(zip(paths[:-1], paths[1:])), hers, clip.props[thing.name])
    return obstacle.steady(ways, clip.fps), near


def _kept_out(clip, part):
    """The frames (F,) bool in which a Part is kept out of props at all."""
    return clip.led(part.limb) == 0.0 if part.free else np.ones(clip.frames, bool)


def gap_of(clip, part, thing):
    """What a Part keeps (F,) metres from a thing: the margin, or less where it touches the prop on purpose."""
    gap, held = np.full((clip.frames, 1), obstacle.MARGIN), np.zeros(clip.frames, bool)
    for contact in meant(clip, part, thing):
        rows = rows_of(contact, clip.frames, clip.fps)
        gap[rows, 0], held[rows] = np.minimum(touching(contact, rows, clip.fps), obstacle.MARGIN), True
    fade = np.full(clip.frames, TOUCH_FADE * clip.fps)
    return obstacle.MARGIN + ease.spread(gap - obstacle.MARGIN, held, fade, fade)[:, 0]


def meant(clip, part, thing):
    """The Contacts in which a Part touches a thing's prop on purpose."""
    return [c for c in clip.contacts if c.surface == thing.name and part.is_touched_by(c.effector)]


def touching(contact, rows, fps):
    """The gap (T,) in metres between skin and surface that a contact tells for a slice of frames; none: they touch."""
    if not contact.path.get("gap"):
        return np.zeros(rows.stop - rows.start)
    return column(contact, "gap", np.arange(rows.start, rows.stop) / fps)


def trunk_halves(clip, played, offset):
    """What keeps the trunk out of the props: root.Half for each, which the root's offset has to be in beyond
    `offset` (F, 3), the one that it has."""
    moved = played._replace(positions=played.positions + offset[:, None])
    out = []
    for thing in clip.obstacles:
        for part in (p for p in clip.parts if not p.limb):
            way, near = side_of(clip, part, thing, moved)
            push = obstacle.push(thing, part.skin, moved, way, near, gap_of(clip, part, thing))
            if push.amount.any():
                out.append(root.Half(push.amount > 0.0, way, np.sum(offset * way, axis=-1) + push.amount))
    return out


def clear_limbs(clip):
    """Turn limbs that are inside a prop out of it; returns root.Halves for what they cannot get out of by themselves.

    One that is led turns about the line from its root joint to its end, which stays; a free one turns as a whole.
    """
    watched = dict.fromkeys(LIMBS_OF_SIDES, True)  # limb -> the frames in which it may be inside
    for turn in range(_ROUNDS):
        played, stuck, turned = clip.played(), [], {}
        for thing in clip.obstacles:
            for part in (p for p in clip.parts if p.limb and np.any(watched[p.limb])):
                inside = _Inside(clip, played, thing, part, watched[part.limb])
                if inside.push.amount.any():
                    stuck.append(inside.half())
                    turned[part.limb] = turned.get(part.limb, False) | (inside.push.amount > 0.0)
                    inside.turn(_SHARE ** turn)
        if not stuck:
            return []
        watched = {limb: ease.widened(turned.get(limb, np.zeros(clip.frames)), 2.0 * _AHEAD * clip.fps) > 0.0
                   for limb in LIMBS_OF_SIDES}
    return [half for half in stuck if half.frames.any()]


def remaining(clip):
    """What is still inside a prop: a list of (part, prop, frame, metres), the worst frame of each."""
    played, out = clip.played(), []
    for prop, part in ((prop, part) for prop in clip.props for part in clip.parts):
        amount = np.zeros(clip.frames)
        for thing in clip.things(prop):
            way, near = side_of(clip, part, thing, played)
            gap = gap_of(clip, part, thing)
            near &= _kept_out(clip, part)
            push = obstacle.push(thing, part.skin, played, way, near, gap)
            amount = np.maximum(amount, push.amount - np.maximum(gap, 0.0))
        worst = int(np.argmax(amount))
        if amount[worst] > _TOLD:
            out.append((part.chain[0] if part.limb else "trunk", prop, worst, float(amount[worst])))
    return out


class _Inside:
    """What of one Part is inside a thing."""

    def __init__(self, clip, played, thing, part, watched):
        self.clip, self.arm = clip, Arm(clip, played, part.limb)
        self.way, near = side_of(clip, part, thing, played)
        self.push = obstacle.push(thing, part.skin, played, self.way, near & watched & _kept_out(clip, part),
                                  gap_of(clip, part, thing), self._angles)

    def _angles(self, needs, places, frames):
        """About how far (N,) the limb has to turn for places (N, 3) to move by `needs` (N,) in some frames (N,)."""
        lever = rotation.cross(places - self.arm.start[frames], self.way[frames])
        return needs / np.maximum(rotation.norm(lever), _LEVER)

    def turn(self, share):
        """Turn the limb as far as it has to; for a `share` of the time that its end takes to come and go it is led."""
        held = self.clip.led(self.arm.limb, share)[:, None]
        free, swivel = self.arm.turns(self.push.place, self.way, self.push.amount)
        self.arm.turn((1.0 - held) * smooth_turns(free, self.clip.fps)
                      + held * _signed(swivel, self.clip.fps)[:, None] * self.arm.along)

    def half(self):
        """The root.Half that would bring it out while it is led: what lies farther down the limb follows by less.

        A free limb that sweeps through a prop is no reason to move the body.
        """
        arm, lever = self.arm, self.push.place - self.arm.start
        along = rotation.dot(lever, arm.along) / np.maximum(arm.length, 1e-9)
        follows = np.clip(1.0 - along, _FOLLOWS, 1.0)
        return root.Half((self.push.amount > 0.0) & self.clip.is_led(arm.limb), self.way,
                         rotation.dot(self.clip.offset, self.way) + self.push.amount / follows)


class Arm:
    """A limb of two bones from its root joint to its end, which can be turned as a whole."""

    def __init__(self, clip, played, limb):
        self.clip, self.limb = clip, limb
        self.bones = tuple(f"{name}.{limb[-1]}" for name in LIMBS[limb[:-2]])
        self.start = clip.joint(played, self.bones[0])
        way = clip.joint(played, limb) - self.start
        self.length, self.along = rotation.norm(way), rotation.normalize(way)

    def turns(self, place, way, amount):
        """(rotation vectors (F, 3), angles (F,) about the line to its end) that move its `place` (F, 3) by `amount`
        (F,) metres along `way` (F, 3): turned about its root joint, or with its end where it is."""
        lever = place - self.start
        across = rotation.cross(lever, way)
        free = (np.clip(amount / np.maximum(rotation.norm(across), _LEVER), -_MOST, _MOST)[:, None]
                * rotation.normalize(across))
        gain = rotation.dot(rotation.cross(self.along, lever), way)
        return free, np.clip(amount / np.where(np.abs(gain) < _LEVER, np.inf, gain), -_MOST, _MOST)

    def turn(self, turns):
        """Turn it by rotation vectors (F, 3)."""
        for role in self.bones:
            self.clip.set(role, rotation.mul(rotation.exp(turns), self.clip.turn(role)))


def smooth_turns(turns, fps):
    """Rotation vectors (F, 3) that turn at least as far as they have to, and come and go smoothly."""
    size = rotation.norm(turns)
    if not size.any():
        return turns
    steady = obstacle.steady(turns, fps, 0.5 * _AHEAD)
    along = np.maximum(rotation.dot(turns, steady), np.maximum(0.5 * size, 1e-9))
    amount = size ** 2 / along
    return ease.above(amount, _AHEAD * fps)[:, None] * steady


def _signed(turns, fps):
    """Angles (F,) of either sign, likewise."""
    return (ease.above(np.maximum(turns, 0.0), _AHEAD * fps) - ease.above(np.maximum(-turns, 0.0), _AHEAD * fps))
