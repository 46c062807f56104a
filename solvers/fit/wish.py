"""Wishes: poses of single bones that a person has set by hand, which the fit goes through.

The bone is given at that frame. What it differs by from the motion that the fit comes to fades out to both sides, and
what touches is brought back to where it was, but for the limb that she holds herself.
"""

from typing import NamedTuple

import numpy as np

from .. import rotation, transfer
from ..skeleton import Channels, forward
from . import ease
from .body import LIMBS

_ROUNDS = 4  # an arm that is led back turns the hand that hangs from it: its wish is granted anew
_BREAK = 5e-4  # metres that a contact is off by, which is told


class Wish(NamedTuple):
    """What a person has set of one bone at one frame, in the bone's own channels."""

    joint: int
    frame: int  # counted from 0
    rotation: np.ndarray | None  # (4,)
    location: np.ndarray | None  # (3,), of the bone that carries the hips


class Broken(NamedTuple):
    """A contact that a wish keeps from being met."""

    contact: str  # its id
    bone: int  # whose wish it is
    frame: int
    millimetres: float


def grant(clip, wishes, demands, seconds):
    """Bend the motion of a clip through Wishes, and bring what touches back; returns the Brokens.

    `demands` are those that the clip was led by, `seconds` the time over which a difference fades out.
    """
    before, hips = clip.rotations.copy(), clip.hips
    for _ in range(_ROUNDS):
        result, _ = transfer.keys(clip.plan, transfer.WorldPose(clip.rotations, clip.hips), clip.motion)
        clip.hips = clip.hips + _moved(clip, wishes, result, seconds)
        _turn(clip, wishes, result, seconds)
        broken = []
        for limb in sorted({demand.limb for demand in demands}):
            broken += _met(clip, before, wishes, limb, [d for d in demands if d.limb == limb], seconds)
    ask = {w.frame: np.ones(3) for w in wishes}
    far = ~_spread(clip.frames, ask, clip.fps, seconds).any(axis=1)
    clip.rotations[far] = before[far]
    clip.hips = np.where(far[:, None], hips, clip.hips)
    return broken


def _met(clip, before, wishes, limb, demands, seconds):
    """Bring a limb back to its Demands as far as she does not hold it herself; returns the Brokens."""
    arm = [f"{name}.{limb[-1]}" for name in LIMBS[limb[:-2]]]
    toes = [f"toe.{limb[-1]}"] if limb.startswith("foot") and f"toe.{limb[-1]}" in clip.plan.answered else []
    kept = clip.led(limb) * (1.0 - _hers(clip, wishes, [limb, *toes], seconds))
    for role in [limb, *toes]:
        clip.set(role, rotation.slerp(clip.turn(role), clip.body.turns(role, before), kept))
    own = sorted((_about_palm(clip, before, d) for d in demands), key=lambda d: d.contact.priority)
    gaps = clip.lead_limb(clip.played(), limb, own, np.zeros(3), 1.0 - _hers(clip, wishes, arm, seconds))
    return _broken(wishes, own, gaps)


def _about_palm(clip, before, demand):
    """A Demand of a hand for the palm to stay where it was, while the hand has turned."""
    palm = clip.body.palms.get(demand.limb[-1])
    if palm is None or not demand.limb.startswith("hand"):
        return demand
    k = clip.plan.answered.index(demand.limb)
    was, now = (rotation.rotate(turns[demand.rows, k], palm.offset) for turns in (before, clip.rotations))
    return demand._replace(target=demand.target + was - now)


def _spread(frames, values, fps, seconds):
    """Values at single frames (frame -> (3,)), coming and going over `seconds`: (F, 3)."""
    out, held = np.zeros((frames, 3)), np.zeros(frames, bool)
    for frame, value in values.items():
        out[frame], held[frame] = value, True
    fade = np.full(frames, max(seconds * fps, 1.0))
    return ease.spread(out, held, fade, fade)


def _turn(clip, wishes, result, seconds):
    """Turn wished bones, and all that hangs from them, parents first."""
    bones = [clip.plan.body.roles[role] for role in clip.plan.answered]
    parents = clip.plan.body.skeleton.parents
    for joint in sorted({w.joint for w in wishes if w.rotation is not None and w.joint in bones}):
        own = result.rotations[joint]
        change = {w.frame: rotation.log(rotation.mul(rotation.conj(own[w.frame]), w.rotation))
                  for w in wishes if w.joint == joint and w.rotation is not None}
        turn = rotation.exp(_spread(len(own), change, clip.fps, seconds))
        now = clip.rotations[:, bones.index(joint)]
        by = rotation.mul(rotation.mul(now, turn), rotation.conj(now))
        for k, bone in enumerate(bones):
            if bone == joint or _hangs(parents, bone, joint):
                clip.rotations[:, k] = rotation.mul(by, clip.rotations[:, k])


def _hangs(parents, bone, joint):
    while bone >= 0:
        bone = parents[bone]
        if bone == joint:
            return True
    return False


def _moved(clip, wishes, result, seconds):
    """What the hips move by (F, 3) for wished locations of the bone that carries them."""
    plan, carrier = clip.plan, clip.plan.carrier
    asked = [w for w in wishes if w.location is not None and w.joint == carrier and carrier in result.locations]
    if not asked:
        return np.zeros((clip.frames, 3))
    rows = [w.frame for w in asked]
    whole = transfer.assemble(plan.body.skeleton, plan.held, result)
    part = Channels(*(channel[rows] for channel in whole))
    hips = plan.body.roles["hips"]
    was = forward(plan.body.skeleton, part).positions[:, hips]
    location = part.location.copy()
    location[:, carrier] = [w.location for w in asked]
    now = forward(plan.body.skeleton, part._replace(location=location)).positions[:, hips]
    return _spread(clip.frames, dict(zip(rows, now - was)), clip.fps, seconds)


def _hers(clip, wishes, roles, seconds):
    """How much (F,), 0 to 1, a person holds the bones of some roles herself."""
    own = {clip.plan.body.roles[role] for role in roles}
    frames = {w.frame: np.ones(3) for w in wishes if w.joint in own and w.rotation is not None}
    return _spread(clip.frames, frames, clip.fps, seconds)[:, 0] if frames else np.zeros(clip.frames)


def _broken(wishes, demands, gaps):
    """The Demands that are not met, by `gaps` (F,) metres, each with the wish that is nearest in time."""
    out = []
    for demand in demands:
        off = gaps[demand.rows]
        worst = int(np.argmax(off))
        if off[worst] > _BREAK:
            frame = demand.first + worst
            nearest = min(wishes, key=lambda w: (abs(w.frame - frame), w.joint))
            out.append(Broken(demand.contact.id, nearest.joint, frame, 1000.0 * float(off[worst])))
    return out
