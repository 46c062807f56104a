"""The fit: a body's own motion against the contact script, the whole clip at once."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .. import rotation, transfer
from ..contacts import script as scripts
from ..contacts.signals import smooth
from . import (
    clear,
    ease,
    feet,
    ground,
    grounded,
    hands,
    hook,
    limbs,
    lying,
    obstacle,
    reach,
    root,
    shots,
    sole,
    speed,
    stage,
    touch,
    trunk,
    wish,
)
from .body import LIMBS, hinge, lengths
from .demand import rows_of

_REACH = 0.995  # of a limb's length: what the root leaves to it
_FADE = 0.5  # seconds in which a correction comes and goes at least
_SLOWER = 1.5  # times as long do the corrections of a limb fade that would turn too fast
_NOTHING = 1e-7  # metres: a limb that is so near its target is there
_UPRIGHT = 0.2  # of a leg's length that is upright, to the fourth: what tells a height
_SETTLE = 0.15  # seconds over which the standing height is smoothed
_MISS = 5e-4  # metres that are told
_SETTLED = 1e-4  # metres by which what stands is brought nearer to where its skin belongs, in so many rounds at most
_ROUNDS_TO_SETTLE = 5
_UP = np.array([0.0, 0.0, 1.0])
_ALIKE = 1e-5  # radians by which no foot is turned besides
_ROUNDS = 3  # in which the root gives way to what is found inside of something


PREFER = ("balance", "grip", "pose")  # all contacts; the hands', and the feet reach as far as they can; the feet's


@dataclass(frozen=True)
class Options:
    """What the artist chooses about the fit."""

    prefer: str = "balance"  # of PREFER: what the root gives way to where both hands and feet cannot be kept
    prop_size: float = 1.0  # times the props' thickness
    fade: float = 0.4  # seconds over which a wish fades out to both sides


class Miss(NamedTuple):
    """A contact that the body cannot keep."""

    contact: str  # its id
    effector: str
    surface: str
    frame: int  # the worst, counted from 0
    millimetres: float


class Left(NamedTuple):
    """Skin that the body cannot keep out of something."""

    part: str  # "trunk", or the role at the limb's beginning or end
    surface: str  # a prop's name, or "floor"
    frame: int  # the worst, counted from 0
    millimetres: float


class Fitted(NamedTuple):
    """What the fit comes to."""

    plan: transfer.Plan  # whose way is scaled about the prop
    pose: transfer.WorldPose
    script: scripts.ContactScript  # laid out in the body's world
    offset: np.ndarray  # (F, 3) metres, of the root
    moved: dict  # limb -> (F,) metres by which its end was moved besides
    misses: list  # Miss
    left: list  # Left
    spent: dict  # contact id -> {licence: metres, degrees or seconds of it that were used}
    broken: list  # wish.Broken


def fit(body, script, motion, source_palms, fps, options=Options(), wishes=()):
    """The Fitted motion of a whole clip.

    `body` is a body.Body, `motion` the take's (world space, with the positions of all mapped joints),
    `source_palms` side -> (F, 3) the performer's palms, `wishes` wish.Wishes that it goes through. An empty script
    changes nothing, bit for bit, and neither do a floor and props that the body is nowhere inside of.
    """
    plan = stage.centred(body.plan, script)
    pose, _ = transfer.world_pose(plan, motion)
    laid = stage.laid_out(script, stage.stage_of(plan, script, body.standing), options.prop_size)
    if scripts.is_empty(laid):
        return Fitted(plan, pose, laid, np.zeros_like(pose.hips), {}, [], [], {}, [])
    skins = _Skins(clear.parts(body) if laid.props else [], ground.lowest_of(body),
                   lying.skins(body, scripts.active(laid)))
    return shots.joined([_fit_shot(body, plan, skins, *part, fps, options) for part in
                         shots.parted(plan, motion, pose, script, laid, source_palms, wishes, fps)], laid, fps)


class _Skins(NamedTuple):
    """A body's skin by what it is looked at for."""

    parts: list  # clear.Part, that are kept out of props
    lowest: ground.Lowest
    lying: dict  # effector -> surface.Surface that lies on the floor


def _fit_shot(body, plan, skins, motion, pose, script, laid, source_palms, wishes, fps, options):
    """`fit` of the frames between two cuts."""
    fades, halves, spent, given = dict.fromkeys(clear.LIMBS_OF_SIDES, _FADE), [], {}, laid
    pose = trunk.calmed(plan, motion, pose, _near(laid, len(pose.hips), fps), fps)
    if laid.grounded and laid.floor is not None:
        pose = grounded.put_down(body, plan, motion, pose, laid.floor, fps)
    for last in (False,) * (_ROUNDS - 1) + (True,):  # what a led limb cannot get out of by itself, the root has to do
        clip = _Clip(body, plan, motion, pose, script, laid, fps, options, skins, fades)
        clip.orient({name: used.get("tilt", 0.0) for name, used in spent.items()})
        demands = clip.absolute_demands()
        halves = clip.lead(demands, halves)
        reach.lean(clip, demands)
        clip.follow(demands, source_palms)
        lying.meet(clip)
        ground.raise_ends(clip)
        stuck, more = clear.clear_limbs(clip), {}
        for _ in range(_ROUNDS if hook.meet(clip) else 0):  # what is cleared beside a touch takes some of it along
            stuck = clear.clear_limbs(clip)
            hook.meet(clip)
        if not last:
            laid, more = reach.spend(laid, given, clip.shortest(), spent, fps)
            spent = reach.together(spent, more)
        hurried = speed.limbs_of(speed.too_fast(clip))
        fades.update({limb: _SLOWER * fades[limb] for limb in hurried})
        if not stuck and not more and not hurried:
            break
        halves += stuck
    clip.misses += [Miss(contact.id, contact.effector, contact.surface, frame, 1000.0 * metres)
                    for contact, frame, metres in (*hook.missed(clip), *lying.missed(clip)) if metres > _MISS]
    broken = wish.grant(clip, wishes, clip.demands, options.fade) if wishes else []
    left = [Left(part, what, frame, 1000.0 * metres)
            for part, what, frame, metres in (*clear.remaining(clip), *ground.remaining(clip))]
    fitted = transfer.WorldPose(clip.rotations, clip.hips)
    transfer.share_twists(plan, fitted)
    return Fitted(plan, fitted, laid, clip.offset, clip.moved, clip.misses, left, spent, broken)


def _near(script, frames, fps):
    """How near (F,), 0 to 1, a contact of a ContactScript is in time: one while any lasts, and none `_FADE` away."""
    held, fade = np.zeros(frames, bool), np.full(frames, _FADE * fps)
    for contact in scripts.active(script):
        held[rows_of(contact, frames, fps)] = True
    return ease.spread(held[:, None].astype(float), held, fade, fade)[:, 0]


class _Clip:
    """A clip while it is being fitted."""

    def __init__(self, body, plan, motion, pose, script, laid, fps, options, skins, fades):
        self.options, self.body, self.plan, self.motion, self.fps = options, body, plan, motion, fps
        self.script, self.laid = script, laid
        self.frames = len(pose.hips)
        self.raw, self.rotations, self.hips = pose, pose.rotations.copy(), pose.hips
        self.offset = np.zeros_like(pose.hips)
        self.props = {prop.name: prop for prop in laid.props}
        self.contacts = scripts.active(laid)
        self.obstacles = obstacle.of(laid.props)
        (self.parts, self.lowest, self.lying), self.fades = skins, fades
        self.demands, self.moved, self.misses, self.shorts = [], {}, [], []

    def things(self, prop):
        """The obstacles that a prop of this name is."""
        return [thing for thing in self.obstacles if thing.name == prop]

    def played(self):
        """The body's world Motion as it stands now."""
        result, _ = transfer.keys(self.plan, transfer.WorldPose(self.rotations, self.hips), self.motion)
        return transfer.played(self.plan.body, self.plan.held, result)

    def joint(self, played, role):
        """World path (F, 3) of a role's joint."""
        return played.positions[:, self.plan.body.roles[role]]

    def turn(self, role):
        """World rotations (F, 4) of a role's bone as it stands now."""
        return self.body.turns(role, self.rotations)

    def set(self, role, turns):
        """Give a role's bone other world rotations (F, 4)."""
        self.rotations[:, self.plan.answered.index(role)] = turns

    # Orientation

    def orient(self, tilts):
        """Turn feet and hands to what they touch; `tilts` are contact id -> degrees by which a hand lies otherwise."""
        self.standing, self.held, self.rests = {}, {}, {}
        for side, own in self.body.soles.items():
            self.standing[side] = feet.stands(self.contacts, self.frames, self.fps, side)
            toe = f"toe.{side}" if own.turns else f"foot.{side}"
            foot, toes = feet.oriented(own, self.turn(f"foot.{side}"), self.turn(toe), self.standing[side], self.fps)
            self.set(f"foot.{side}", foot)
            if own.turns:
                self.set(toe, toes)
        for side, palm in self.body.palms.items():
            self.held[side] = hands.absolute(self.laid, self.frames, self.fps, side)
            self.rests[side] = touch.rests(self.body, self.plan, self.contacts, self.frames, self.fps, side)
            hand = self.turn(f"hand.{side}")
            faced = [(c, rows, hands.touches(c, self.props, self.laid.floor, rows, self.fps)[1])
                     for c, rows in self.held[side]]
            tilted = {c.id: (np.radians(tilts[c.id]), self.props[c.surface]) for c, *_ in faced if tilts.get(c.id)}
            faced += [(rest.contact, rest.rows, rotation.rotate(self.turn(rest.role)[rest.rows], rest.normal))
                      for rest in self.rests[side]]
            self.set(f"hand.{side}", hands.oriented(palm, hand, faced, self.fps, tilted))

    # What is to be met in the world

    def absolute_demands(self):
        """Demands whose place does not depend on where the body is."""
        played, out = self.played(), []
        for side, own in self.body.soles.items():
            foot = self.turn(f"foot.{side}")
            toe = self.turn(f"toe.{side}") if own.turns else foot
            if self.laid.floor is not None:
                out += feet.demands(own, side, self.contacts, self.laid.floor, self.joint(played, f"foot.{side}"), foot,
                                    toe, self.standing[side], self.fps)
        for side, palm in self.body.palms.items():
            out += hands.demands(palm, side, self.joint(played, f"hand.{side}"), self.turn(f"hand.{side}"),
                                 self.held[side], self.props, self.laid.floor, self.fps)
        return out

    def lead(self, demands, halves):
        """Move the root so that all is in reach and the trunk outside of props, then each foot to where it has to be.

        `halves` are root.Halves that are known already; returns them and those that were found.
        """
        played = self.played()
        balls, base = self._balls(played, demands), self._stand(played, demands)
        for _ in range(_ROUNDS):
            self.offset = root.offset([*balls, *halves], self.frames, self.fps, base)
            more = [half for found in (clear.trunk_halves, ground.trunk_halves, hook.trunk_halves, lying.trunk_halves)
                    for half in found(self, played, self.offset)]
            if not more:
                break
            halves = [*halves, *more]
        self.hips = self.raw.hips + self.offset
        for limb in sorted({demand.limb for demand in demands if demand.limb.startswith("foot")}):
            self._stand_on_skin(played, limb, self._of(limb, demands), self.offset)
        return halves

    def _stand_on_skin(self, played, limb, demands, offset):
        """Bring a limb's end to its Demands, what stands on the floor with the lowest of all its skin."""
        if any(demand.contact.surface == "floor" for demand in demands):
            before = self.rotations.copy()
            for _ in range(_ROUNDS_TO_SETTLE):  # where the limb has come to, the skin that it carries along lies anew
                self.lead_limb(played, limb, demands, offset)
                stood = self._stood(limb)
                asked, demands = demands, ground.settled(self, limb, self._held(limb, demands, stood))
                turns, self.rotations = self._apart(limb, stood), before.copy()
                if max(np.abs(a.target - b.target).max() for a, b in zip(asked, demands)) < _SETTLED:
                    break
                for role, turn in turns.items():
                    self.set(role, rotation.mul(turn, self.turn(role)))
                before = self.rotations.copy()
        self._meet(played, limb, demands, offset)

    def _stood(self, limb):
        """The skin of a foot's heel and ball as they stand now: levers (F, 3) from the ankle to them, and what the bone
        of the toes has of the ball's; None where there is none."""
        own = self.body.soles.get(limb[-1]) if limb.startswith("foot") else None
        if own is None or not own.stood:
            return None
        played = self.played()
        toe = self.plan.body.roles[f"toe.{limb[-1]}"] if own.turns else None
        return (*sole.stood(own, played, self.joint(played, limb)), sole.on_bone(own, "ball", played, toe))

    def _held(self, limb, demands, stood):
        """A foot's Demands with the skin that stands in its place; `stood` as of `_stood`."""
        return feet.held(demands, self.standing[limb[-1]], *stood[:2], self.fps) if stood else demands

    def _apart(self, limb, stood):
        """World turns (F, 4) by role that keep the skin of a foot's heel and ball as far apart while both stand;
        `stood` as of `_stood`."""
        if not stood:
            return {}
        heel, ball, on_toes = stood
        yaws, bends = feet.apart(heel, ball, on_toes, self.standing[limb[-1]], self.fps)
        if max(np.abs(yaws).max(), bends.max()) < _ALIKE:
            return {}
        yawed = rotation.exp(yaws[:, None] * _UP)
        risen = rotation.exp(bends[:, None] * rotation.normalize(rotation.cross(ball - heel, _UP)))
        toe = f"toe.{limb[-1]}"
        return {limb: yawed, **({toe: rotation.mul(yawed, risen)} if self.body.soles[limb[-1]].turns else {})}

    def _balls(self, played, demands):
        """What the Demands ask of the root: a root.Ball for each limb that it gives way to."""
        out, left_out = [], {"grip": "foot", "pose": "hand"}.get(self.options.prefer)
        for limb in sorted({demand.limb for demand in demands if not demand.limb.startswith(left_out or "-")}):
            start = self.joint(played, f"{LIMBS[limb[:-2]][0]}.{limb[-1]}")
            mask, centre = np.zeros(self.frames, bool), np.zeros((self.frames, 3))
            for demand in self._of(limb, demands):
                mask[demand.rows], centre[demand.rows] = True, demand.target - start[demand.rows]
            out.append(root.Ball(mask, centre, np.full(self.frames, _REACH * sum(lengths(self.plan.body, limb)))))
        return out

    def _stand(self, played, demands):
        """The root's offset (F, 3) with which the knees of standing legs bend as the performer's do.

        Near a straight leg a hair of height is much of a knee's angle: so the height is taken from the angle, and
        averaged over the legs that stand, the upright ones most. Between two stands it goes from one to the other,
        and is given up where she stands neither before long nor since: who lies is not as low as she will stand.
        """
        total, weight = np.zeros(self.frames), np.zeros(self.frames)
        for demand in demands:
            if demand.contact.kind != "plant":
                continue
            side, rows = demand.limb[-1], demand.rows
            start, ankle = (self.joint(played, role)[rows] for role in (f"thigh.{side}", f"foot.{side}"))
            aside = rotation.norm((demand.target - start)[:, :2])
            far = rotation.norm(ankle - start)
            high = np.sqrt(np.maximum(far * far - aside * aside, 0.0))
            upright = np.where(start[:, 2] > demand.target[:, 2], (high / np.maximum(far, 1e-9)) ** 4, 0.0)
            total[rows] += upright * (demand.target[:, 2] + high - start[:, 2])
            weight[rows] += upright
        stood = np.flatnonzero(weight > _UPRIGHT)
        if not len(stood):
            return np.zeros((self.frames, 3))
        height = np.interp(np.arange(self.frames), stood, total[stood] / weight[stood])
        kept = ease.widened(weight > _UPRIGHT, int(_FADE * self.fps)) > 0.0
        fade = np.full(self.frames, _FADE * self.fps)
        height *= ease.spread(kept[:, None].astype(float), kept, fade, fade)[:, 0]
        return np.column_stack([np.zeros((self.frames, 2)), smooth(height, self.fps, _SETTLE)])

    @staticmethod
    def _of(limb, demands):
        """A limb's own Demands, those of higher priority last."""
        return sorted((d for d in demands if d.limb == limb), key=lambda d: d.contact.priority)

    def lead_limb(self, played, limb, demands, offset, share=1.0):
        """Bring a limb's end to its Demands, there and back; returns how far (F,) in metres it stays from them.

        `played` is the motion without the root's `offset`; `share` (F,), 0 to 1, is how much of the way is gone.
        """
        start = self.joint(played, f"{LIMBS[limb[:-2]][0]}.{limb[-1]}") + offset
        end = self.joint(played, limb) + offset
        target = start + blended(demands, end - start, start, self.fps, self.fades[limb])
        way = np.asarray(share)[..., None] * (target - end)
        moved = rotation.norm(way)
        self.moved[limb] = np.maximum(self.moved.get(limb, 0.0), moved)
        left = self.bring(played, limb, end + way, moved > _NOTHING, offset)
        return np.maximum(left, rotation.norm(target - end - way))

    def _meet(self, played, limb, demands, offset):
        """Bring a limb's end to its Demands, and note which it misses."""
        gap = self.lead_limb(played, limb, demands, offset)
        self.demands += demands
        start = self.joint(played, f"{LIMBS[limb[:-2]][0]}.{limb[-1]}") + offset
        for demand in demands:
            worst = int(np.argmax(gap[demand.rows]))
            if gap[demand.rows][worst] > _MISS:
                self.misses.append(Miss(demand.contact.id, limb, demand.contact.surface, demand.first + worst,
                                        1000.0 * float(gap[demand.rows][worst])))
                if demand.contact.surface in self.props and limb.startswith("hand"):
                    back = rotation.normalize(start[demand.first + worst] - demand.target[worst])
                    self.shorts.append(reach.Short(demand.contact, gap[demand.rows],
                                                   self._ways(limb, demand, worst), back))

    def _ways(self, limb, demand, at):
        """The ways of a reach.Short at a frame of a hand's Demand; none of what is no cylinder."""
        prop, rows = self.props[demand.contact.surface], demand.rows
        places, normals = hands.touches(demand.contact, self.props, self.laid.floor, rows, self.fps)
        if normals is None:
            return {}
        sense = hands.sense(prop, normals, self.turn(limb)[rows], self.body.palms[limb[-1]])
        return reach.ways(prop, places[at], normals[at], demand.target[at], sense)

    def shortest(self):
        """The reach.Shorts of what matters least."""
        least = min((short.contact.priority for short in self.shorts), default=0.0)
        return [short for short in self.shorts if short.contact.priority == least]

    def led(self, limb, share=1.0):
        """How much (F,), 0 to 1, a limb's end is led by its Demands, coming and going in a `share` of its time."""
        held, fade = self.is_led(limb), np.full(self.frames, share * self.fades[limb] * self.fps)
        return ease.spread(held[:, None].astype(float), held, fade, fade)[:, 0]

    def is_led(self, limb):
        """The frames (F,) in which a limb's end has a Demand."""
        held = np.zeros(self.frames, bool)
        for demand in self.demands:
            held[demand.rows] |= demand.limb == limb
        return held

    def bring(self, played, limb, target, needed, offset):
        """Turn a limb's two bones so that its end comes to `target` (F, 3) where `needed` (F,); what is left, (F,) m.

        `played` is the motion without the root's `offset` (F, 3).
        """
        if not needed.any():
            return np.zeros(self.frames)
        part, side = limb.split(".")
        upper, lower = (f"{name}.{side}" for name in LIMBS[part])
        start, middle, end = (self.joint(played, role) + offset for role in (upper, lower, limb))
        axis = limbs.hinge(middle - start, end - middle, hinge(self.body, self.rotations, upper, lower))
        turn_upper, turn_lower, gap = limbs.solve(start, middle, end, axis, target)
        for role, turn in ((upper, turn_upper), (lower, turn_lower)):
            self.set(role, np.where(needed[:, None], rotation.mul(turn, self.turn(role)), self.turn(role)))
        return np.where(needed, gap, 0.0)

    # What goes with the body

    def follow(self, demands, source_palms):
        """Bring the hands to where they have to be: in the world, on each other, and on the body as it stands now."""
        played, palms = self.played(), self.body.palms
        turns = {s: self.turn(f"hand.{s}") for s in palms}
        demands = [d for d in demands if d.limb.startswith("hand")]
        for side, palm in palms.items():
            demands += [touch.demands(rest, palm, side, played, self.plan.body.roles[rest.role], turns[side])
                        for rest in self.rests[side]]
        if len(palms) == 2:
            wrists = {s: self.joint(played, f"hand.{s}") for s in palms}
            demands += hands.clasps(self.laid, wrists, turns, palms, source_palms,
                                    hands.hand_size(self.plan.source, self.plan.body), self.fps)
        for limb in sorted({demand.limb for demand in demands}):
            self._stand_on_skin(played, limb, self._of(limb, demands), np.zeros(3))


def blended(demands, ways, start, fps, fade):
    """Where a limb's end has to be (F, 3) from its root joint: at its Demands while they last, `ways` (F, 3) otherwise,
    and coming and going between the two.

    `start` (F, 3) is the root joint, `fade` how many seconds coming and going take at least. Of two demands at once
    (which the script allows) the later in the list counts.
    """
    values, held = np.zeros_like(ways), np.zeros(len(ways), bool)
    coming, going = np.zeros(len(ways)), np.zeros(len(ways))
    for demand in demands:
        rows = demand.rows
        values[rows], held[rows] = demand.target - start[rows] - ways[rows], True
        coming[rows] = max(demand.contact.approach, fade) * fps
        going[rows] = max(demand.contact.release, fade) * fps
    goes_on = ease.brakes(start + ways, values, held, coming, going)
    return ways + ease.spread(values, held, coming, going, goes_on)
