"""The fit: a body's own motion against the contact script, the whole clip at once."""

from typing import NamedTuple

import numpy as np

from .. import rotation, transfer
from ..contacts import performer
from . import limbs, root, targets

_REACH = 0.995  # of a limb's length: what the root leaves to it
_FADE = 0.35  # seconds in which a correction comes and goes at least
_NOTHING = 1e-7  # metres: a limb that is so near its target is there
_CHAINS = {"hand": ("upper_arm", "forearm"), "foot": ("thigh", "shin")}


class Miss(NamedTuple):
    """A contact that the body cannot keep."""

    contact: str  # its id
    effector: str
    surface: str
    frame: int  # the worst, counted from 0
    millimetres: float


class Fitted(NamedTuple):
    """What the fit comes to."""

    pose: transfer.WorldPose
    offset: np.ndarray  # (F, 3) metres, of the root
    moved: dict  # limb -> (F,) metres by which its end was moved besides
    misses: list  # Miss


def fit(plan, script, pose, motion, source_palms, fps):
    """The Fitted WorldPose of a whole clip.

    `pose` is the transferred one, `motion` the take's (world space; the joints `transfer.placed` have positions),
    `source_palms` side -> (F, 3) the performer's palms. A script without contacts changes nothing, bit for bit.
    """
    body = plan.body
    result, _ = transfer.keys(plan, pose, motion)
    played = transfer.played(body, plan.held, result)
    ends = {role: played.positions[:, body.roles[role]] for role in ("hand.L", "hand.R", "foot.L", "foot.R")
            if role in plan.answered and targets.limb_lengths(body, role) is not None}
    palms = {side: palm for side, palm in performer.palms(body).items() if f"hand.{side}" in ends}
    soles = performer.feet(body)
    balls = {side: performer.place(soles[f"ball.{side}"], played) for side in "LR" if f"foot.{side}" in ends}
    demands = [d for d in [*targets.hands(plan, script, pose, ends, palms, source_palms, fps),
                           *targets.feet(plan, script, pose, ends, soles, balls, fps)] if d.limb in ends]
    offset = root.offset([_ball(body, played, demand, len(pose.hips)) for demand in demands], len(pose.hips), fps)[0] \
        if demands else np.zeros_like(pose.hips)
    rotations, moved, misses = pose.rotations.copy(), {}, []
    for limb in ends:
        own = [d for d in demands if d.limb == limb]
        change = _blended(own, ends[limb] + offset, fps)
        moved[limb] = np.linalg.norm(change, axis=-1)
        misses += _turn_limb(plan, pose, rotations, played, offset, limb, ends[limb] + offset + change,
                             moved[limb] > _NOTHING, own)
    fitted = transfer.WorldPose(rotations, pose.hips + offset if offset.any() else pose.hips)
    transfer.share_twists(plan, fitted)
    return Fitted(fitted, offset, moved, misses)


def _ball(body, played, demand, frames):
    """The root.Ball that a Demand asks for."""
    part, side = demand.limb.split(".")
    start = played.positions[:, body.roles[f"{_CHAINS[part][0]}.{side}"]]
    mask, centre = np.zeros(frames, bool), np.zeros((frames, 3))
    rows = slice(demand.first, demand.last + 1)
    mask[rows], centre[rows] = True, demand.target - start[rows]
    return root.Ball(mask, centre, np.full(frames, _REACH * sum(targets.limb_lengths(body, demand.limb))))


def _blended(demands, ends, fps):
    """What a limb's end moves by (F, 3): all of it during its demands, coming before and going after them.

    Of two demands at once (which the script allows) the one of higher priority counts.
    """
    frames = len(ends)
    out, taken = np.zeros((frames, 3)), np.full(frames, -1)
    for k, demand in sorted(enumerate(demands), key=lambda item: item[1].contact.priority):
        rows = slice(demand.first, demand.last + 1)
        out[rows], taken[rows] = demand.target - ends[rows], k
    edges = np.flatnonzero(np.diff(np.concatenate([[True], taken >= 0, [True]]).astype(int)))
    for first, last in zip(edges[0::2], edges[1::2]):  # the gaps, [first, last)
        frames_in = np.arange(first, last)
        for at, ways in ((first - 1, "release"), (last, "approach")):
            if not 0 <= at < frames:
                continue
            long = max(getattr(demands[taken[at]].contact, ways), _FADE) * fps
            part = np.clip(np.abs(frames_in - at) / min(long, last - first + 1), 0.0, 1.0)
            out[first:last] += (1.0 - part ** 3 * (10.0 - 15.0 * part + 6.0 * part ** 2))[:, None] * out[at]
    return out


def _turn_limb(plan, pose, rotations, played, offset, limb, target, needed, demands):
    """Turn a limb's two bones so that its end comes to `target` (F, 3) where `needed` (F,); returns the Misses."""
    if not needed.any():
        return []
    body = plan.body
    part, side = limb.split(".")
    upper, lower = (f"{name}.{side}" for name in _CHAINS[part])
    k_upper, k_lower = (plan.answered.index(role) for role in (upper, lower))
    start, middle, end = (played.positions[:, body.roles[role]] + offset for role in (upper, lower, limb))
    axis = limbs.hinge(middle - start, end - middle, _joint_hinge(plan, pose, upper, lower))
    turn_upper, turn_lower, gap = limbs.solve(start, middle, end, axis, target)
    for k, turn in ((k_upper, turn_upper), (k_lower, turn_lower)):
        rotations[needed, k] = rotation.mul(turn, pose.rotations[:, k])[needed]
    out = []
    for demand in demands:
        rows = slice(demand.first, demand.last + 1)
        worst = int(np.argmax(gap[rows]))
        if gap[rows][worst] > 5e-4:
            out.append(Miss(demand.contact.id, demand.limb, demand.contact.surface, demand.first + worst,
                            1000.0 * float(gap[rows][worst])))
    return out


def _joint_hinge(plan, pose, upper, lower):
    """World axes (F, 3) about which an elbow or knee bends: across the limb and the way that the performer faces."""
    source = plan.source if upper in plan.source.roles and lower in plan.source.roles else plan.body
    rest = source.rest.positions[0]
    along = rest[source.roles[lower]] - rest[source.roles[upper]]
    ahead = -performer.axes(source)[1]
    k = plan.answered.index(upper)
    delta = rotation.mul(pose.rotations[:, k], rotation.conj(plan.turned_rest[k]))
    return rotation.rotate(delta, rotation.normalize(np.cross(along, ahead)))
