"""The trunk of a body carries its shoulders and hip joints as calmly as the performer's does.

A capture's markers tell where joints are better than how each bone is turned: from frame to frame the bones of a trunk
are turned to and fro, one against the other, and its shoulders go smoothly for all that. On a trunk that is divided
otherwise, with a longer pelvis or a chest that begins lower down, the same turns do not make up for each other, and
shoulders, arms and head shake. Likewise a pelvis that is wide for its legs throws its hip joints up and down.
"""

import numpy as np

from .. import rotation, transfer
from ..anatomy import SIDES, torso
from ..contacts.signals import smooth

_FAST = 0.05  # seconds; what is faster is no leaning of a trunk
_NOTHING = 1e-6  # metres: trunks that go so much alike do
_SHORT = 1e-3  # metres: what is no trunk


def calmed(plan, motion, pose, part, fps):
    """A transfer.WorldPose whose trunk takes hip joints and shoulders as fast to and fro as the take's does, in
    proportion; `motion` is the take's, of one shot, and `part` (F,), 0 to 1, how far it is to be so. It is the same
    pose, bit for bit, where trunks are alike."""
    return _torso_calmed(plan, motion, _pelvis_calmed(plan, pose, part, fps), part, fps)


def _pelvis_calmed(plan, pose, part, fps):
    """A transfer.WorldPose whose pelvis, where it is wider for its legs than the performer's, turns so much less in
    what is faster than `_FAST`. What is carried over, amid the thighs, goes the same way."""
    wide = _wide(plan)
    if wide is None:
        return pose
    across, share = wide
    k, hips = plan.answered.index("hips"), plan.body.roles["hips"]
    own = pose.rotations[:, k]
    across = rotation.rotate(rotation.mul(own, rotation.conj(plan.body.rest.rotations[0, hips])), across)
    fast = part[:, None] * (share - 1.0) * (across - smooth(across, fps, _FAST))
    if rotation.norm(fast).max() < _NOTHING:
        return pose
    rotations = pose.rotations.copy()
    (turn,) = _least_turns([across], fast)
    rotations[:, k] = rotation.mul(rotation.exp(turn), own)
    moved = [transfer.carried_along(plan.levers[1], turns, plan.body) for turns in (own, rotations[:, k])]
    return transfer.WorldPose(rotations, pose.hips + moved[0] - moved[1])


def _wide(plan):
    """(The way (3,) from the right to the left thigh's joint in the body's rest, what share of it would be the
    performer's in proportion to the legs); None where it is no wider than hers."""
    ways, legs = [], []
    for figure in (plan.source, plan.body):
        places = figure.rest.positions[0]
        if any(f"thigh.{side}" not in figure.roles for side in SIDES):
            return None
        left, right = (places[figure.roles[f"thigh.{side}"]] for side in SIDES)
        ways.append(left - right)
        legs.append(transfer.leg_length(places, figure.roles))
    sizes = [float(np.linalg.norm(way)) for way in ways]
    if None in legs or min(*sizes, *legs) < _SHORT:
        return None
    share = sizes[0] * legs[1] / (legs[0] * sizes[1])
    return (ways[1], share) if share < 1.0 else None


def _torso_calmed(plan, motion, pose, part, fps):
    """A transfer.WorldPose whose shoulders do as fast to and fro as the take's, in proportion.

    What the middle between the shoulders does faster than `_FAST` and otherwise than a trunk like the performer's would
    is undone by the least turns of the torso's bones.
    """
    roles = [role for role in torso(plan.body.roles) if role in plan.blends]
    arms = [f"upper_arm.{side}" for side in SIDES]
    if not roles or not torso(plan.source.roles) or any(arm not in figure.roles for arm in arms
                                                        for figure in (plan.source, plan.body)):
        return pose
    played = transfer.played(plan.body, plan.held, transfer.keys(plan, pose, motion)[0])
    joints = [played.positions[:, plan.body.roles[role]] for role in roles] + [_middle(played, plan.body, arms)]
    likeness = _likeness(plan, arms)
    if likeness is None:
        return pose
    off = _in_proportion(plan, motion, arms, *likeness) - (joints[-1] - transfer.carried_path(plan, motion))
    fast = part[:, None] * (off - smooth(off, fps, _FAST))
    if rotation.norm(fast).max() < _NOTHING:
        return pose
    turns = _least_turns([end - start for start, end in zip(joints, joints[1:])], fast)
    rotations = pose.rotations.copy()
    for role, turn in zip(roles, turns):
        k = plan.answered.index(role)
        rotations[:, k] = rotation.mul(rotation.exp(turn), rotations[:, k])
    return pose._replace(rotations=rotations)


def _middle(motion, figure, arms):
    """World path (F, 3) of the middle between the shoulder joints."""
    return motion.positions[:, [figure.roles[arm] for arm in arms]].mean(axis=1)


def _likeness(plan, arms):
    """(How many times as long as the performer's trunk the body's is, what turns the one's way at rest into the other's
    (4,)), from amid the thighs to amid the shoulders; None where one of them has no length."""
    theirs, ours = (_middle(figure.rest, figure, arms)[0] - figure.rest.positions[0, figure.roles["hips"]] - lever
                    for figure, lever in zip((plan.source, plan.body), plan.levers))
    k = plan.answered.index("hips")
    ours = rotation.rotate(rotation.mul(plan.turned_rest[k], rotation.conj(plan.body.rest.rotations[0,
                           plan.body.roles["hips"]])), ours)
    sizes = rotation.norm(theirs), rotation.norm(ours)
    return None if min(sizes) < _SHORT else (sizes[1] / sizes[0], rotation.between(theirs, ours))


def _in_proportion(plan, motion, arms, longer, turn):
    """The way (F, 3) from amid the thighs to amid the shoulders that the performer's trunk would have, were it as long
    as the body's as a whole, and at rest as inclined."""
    source = plan.source
    roles = ["hips", *torso(source.roles)]
    joints = [motion.positions[:, source.roles[role]] for role in roles] + [_middle(motion, source, arms)]
    joints[0] = joints[0] + transfer.carried_along(plan.levers[0], motion.rotations[:, source.roles["hips"]], source)
    out = 0.0
    for role, start, end in zip(roles, joints, joints[1:]):
        j = source.roles[role]
        done = rotation.mul(motion.rotations[:, j], rotation.conj(source.rest.rotations[0, j]))
        at_rest = rotation.rotate(rotation.conj(done), end - start)
        out = out + longer * rotation.rotate(done, rotation.rotate(turn, at_rest))
    return out


def _least_turns(segments, way):
    """Turns, one (F, 3) for each of the segments (F, 3) of a chain, in radians, that bring its end by a short `way`
    (F, 3) across it: those with the least sum of squares, where each turns only its own segment."""
    total = sum(rotation.dot(segment, segment) for segment in segments)[:, None]
    return [rotation.cross(segment, way) / total for segment in segments]
