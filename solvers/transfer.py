"""World-delta transfer: what each role does in the world on one skeleton, replayed on another.

For every role D(t) = R_source(t) R_source(rest)^-1 in world axes; the body's bone takes R(t) = D(t) C R(rest), where C
turns the body's rest into the anatomical pose of the source's (`rest.alignment`). Rolls and bone axes cancel out, and
because every role is placed in the world by itself, a hierarchy that is not the anatomy does no harm.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from . import anatomy, rest, rotation
from .errors import FootholdError
from .skeleton import Channels, Motion, Skeleton, channel_axes, clip, forward, is_similarity, joints_of, pick

_SUNK, _ABOVE = -0.01, 0.3  # of a leg over the floor, that the lowest joint of a standing foot lies between
_NEAR = 0.05  # of a leg: ankles within it stand on the same floor
_OFF = 0.01  # of the distance to its parent, that a bone is off its place
_SHARED = 0.1  # of what the fullest level of ankles holds: a level that is held, too


class Figure(NamedTuple):
    """A skeleton with its roles and the pose that counts as its rest."""

    skeleton: Skeleton
    roles: dict  # role -> bone index
    rest: Motion  # one frame, world space


@dataclass(frozen=True)
class Travel:
    """Where the body's way through the world goes, and how much of it."""

    carrier: str = "hips"  # "hips", "root" (a root bone above the hips) or "object"
    in_place: bool = False  # leave out the horizontal way
    horizontal: float | None = None  # scale of the way on the floor; None: ratio of leg lengths
    vertical: float | None = None  # scale of the height over the ankles; None: ratio of leg lengths


class Transfer(NamedTuple):
    """Keys for the body over a stretch of frames, and what they rest on."""

    rotations: dict  # bone index -> (F, 4) against the bone's rest, sign-continuous
    locations: dict  # bone index -> (F, 3) in the bone's own channels
    offset: np.ndarray | None  # (F, 3) world offset of the object, where it carries the way
    rotations_world: dict  # bone index -> (F, 4) wanted world rotation


class Plan(NamedTuple):
    """What a transfer knows before the first frame; see `plan`."""

    source: Figure
    body: Figure
    held: Channels
    travel: Travel
    source_origin: np.ndarray  # (3,)
    body_origin: np.ndarray  # (3,)
    scale: tuple  # (horizontal, vertical) of the way
    levers: tuple  # (source's, body's) of what is carried over, see `levers`
    standing: tuple  # heights in metres (source, body) at which that stands on straight legs
    answered: tuple  # (K,) roles of the body that get rotations: those of `blends`, then those of `twists`
    blends: dict  # role -> Blend
    twists: dict  # role -> Twist
    turned_rest: np.ndarray  # of the blends, (B, 4) the body's rest in the source's anatomical pose, in the world
    anchors: dict  # role -> role of the anatomical parent, of bones that hang or are held elsewhere
    carrier: int  # bone whose location carries the hips


class WorldPose(NamedTuple):
    """What a body is to do in the world."""

    rotations: np.ndarray  # (F, K, 4) of the roles that the plan answers, in their order
    hips: np.ndarray  # (F, 3) metres


class Before(NamedTuple):
    """What the frames before a stretch have settled for it."""

    rotations: np.ndarray  # (K, 4) the last keys of the roles that are answered
    rolls: dict  # twist role -> the limb's last roll in radians
    start: np.ndarray  # (2,) where on the floor the hips began


class Blend(NamedTuple):
    """The delta that a role of the body takes: so much of the way from one role of the source to another."""

    low: str
    high: str
    part: float


def _share(have, wanted):
    """Blends for the chain of roles `wanted` from the chain `have` of another length: role -> Blend.

    First stands for first and last for last, and the rotation between neighbours is shared out over what lies between:
    limbs of the same role keep a constant angle. One bone stands for a whole chain, stiff as it is.
    """
    places = np.linspace(0.0, len(have) - 1.0, len(wanted)) if len(wanted) > 1 else [len(have) - 1.0]
    out = {}
    for role, place in zip(wanted, places):
        low = int(place + 1e-9)
        part = float(place - low)
        out[role] = Blend(have[low], have[low + 1], part) if part > 1e-9 else Blend(have[low], have[low], 0.0)
    return out


def _twists(role, roles):
    """All twist bones of the limb that a twist bone belongs to."""
    return {r for r in roles if anatomy.is_twist(r) and anatomy.twist_of(r) == anatomy.twist_of(role)}


def blends(source_roles, body_roles):
    """Which of the source's deltas every role of the body takes that the source can answer for: role -> Blend."""
    out = {role: Blend(role, role, 0.0) for role in source_roles if role in body_roles and role != "root"
           and (not anatomy.is_twist(role) or _twists(role, source_roles) == _twists(role, body_roles))}
    torso, wanted = anatomy.torso(source_roles), anatomy.torso(body_roles)
    if torso and wanted:
        out.update(_share(torso, wanted))
    necks, wanted = anatomy.neck(source_roles), anatomy.neck(body_roles)
    if wanted and necks:
        out.update(_share(necks, wanted))
    elif wanted and "head" in source_roles:  # no neck in the take: it bends half way to the head
        out.update(dict.fromkeys(wanted, Blend(torso[-1] if torso else "hips", "head", 0.5)))
    return out


def leg_length(positions, roles):
    """Thigh plus shin in metres, mean of both sides, of one pose (J, 3); None where no leg is mapped."""
    legs = []
    for side in anatomy.SIDES:
        chain = [roles.get(f"{part}.{side}") for part in ("thigh", "shin", "foot")]
        if None not in chain:
            hip, knee, ankle = positions[chain]
            legs.append(np.linalg.norm(knee - hip) + np.linalg.norm(ankle - knee))
    return float(np.mean(legs)) if legs else None


def ankle_height(positions, roles):
    """Height in metres of the lower ankle per frame, (F, J, 3) -> (F,); None where no foot is mapped."""
    feet = [roles[f"foot.{side}"] for side in anatomy.SIDES if f"foot.{side}" in roles]
    return positions[:, feet, 2].min(axis=1) if feet else None


def _stands(figure, origin):
    """Whether the rest stands on a floor: that of the world, or the one at its object's `origin` (metres).

    The lowest joint of its feet tells, for on short legs ankles are high. Joints lie inside of a body: one that is
    under a floor does not stand on it.
    """
    leg = leg_length(figure.rest.positions[0], figure.roles)
    lowest = float(ankle_height(figure.rest.positions, figure.roles)[0]) - _over_lowest(figure)
    return any(_SUNK * leg <= lowest - floor <= _ABOVE * leg for floor in (0.0, origin))


def _over_lowest(figure):
    """Height in metres of the lower ankle in the rest over the lowest joint of the feet."""
    feet = [j for role, j in figure.roles.items() if role.split(".")[0] in ("foot", "toe")]
    parents = figure.skeleton.parents
    below = [j for j in range(len(parents)) if j in feet or parents[j] in feet]
    heights = figure.rest.positions[0, :, 2]
    return ankle_height(figure.rest.positions, figure.roles)[0] - heights[below].min()


def levers(source, body):
    """What is carried over, from the hips' joints to it at rest, in the world: (source's, body's), (3,) metres each.

    The middle between the thigh joints: it is what legs hang from, and rigs place their hips elsewhere over it. Where
    one of the figures lacks thighs it is the hips' joint itself.
    """
    thighs = [f"thigh.{side}" for side in anatomy.SIDES]
    if any(role not in figure.roles for role in thighs for figure in (source, body)):
        return np.zeros(3), np.zeros(3)
    places = [figure.rest.positions[0] for figure in (source, body)]
    return tuple(at[[f.roles[role] for role in thighs]].mean(axis=0) - at[f.roles["hips"]]
                 for at, f in zip(places, (source, body)))


def straight_height(figure, lever):
    """Height in metres of what is carried (`lever` as of `levers`) over legs that hang straight down from the hips to
    ankles as high as the rest's, which may be spread; as the rest has it where no leg is mapped."""
    at, roles = figure.rest.positions[0], figure.roles
    leg = leg_length(at, roles)
    height = float(at[roles["hips"], 2] + lever[2])
    if leg is None:
        return height
    thighs = np.mean([at[roles[f"thigh.{side}"], 2] for side in anatomy.SIDES if f"thigh.{side}" in roles])
    return float(ankle_height(at[None], roles)[0]) + leg + height - float(thighs)


def standing_heights(source, stood, body, source_origin, body_origin):
    """Heights in metres (source, body) at which what is carried stands on straight legs.

    A rest that stands on a floor is believed; origins are the heights of the objects. A rest need not stand anywhere,
    though (a BVH rest hangs its root where it likes): then the ankles tell on which the take itself `stood` (see
    `standing_ankle`), and a body whose rest hangs likewise is put onto the take's floor. The same skeleton in the same
    rest always gets the same height.
    """
    figures = source, body
    straight = [straight_height(f, lever) for f, lever in zip(figures, levers(source, body))]
    legs = [leg_length(f.rest.positions[0], f.roles) for f in figures]
    if None in legs:
        return tuple(straight)
    ankles = [float(ankle_height(f.rest.positions, f.roles)[0]) for f in figures]
    believed = _stands(source, source_origin) or abs(ankles[0] - stood) <= _NEAR * legs[0]
    stand = ankles[0] if believed else stood
    body_stand = ankles[1]
    if not _stands(body, body_origin):
        body_stand = stand + _over_lowest(body) - _over_lowest(source)
    return straight[0] + stand - ankles[0], straight[1] + body_stand - ankles[1]


def standing_ankle(heights, leg):
    """The height in metres of the ankles on which a take stands, of those of the lower one (F,) over time.

    The lowest level that many frames share, and the median about it: feet swing, and soles roll off. `leg` is the
    source's in metres.
    """
    heights, near = np.sort(heights), _NEAR * leg
    held = np.searchsorted(heights, heights + near, "right") - np.arange(len(heights))  # up to so far over each
    level = heights[np.flatnonzero(held >= _SHARED * held.max())[0]] + 0.5 * near
    return float(np.median(heights[np.abs(heights - level) <= near]))


def way_scale(source, body, travel):
    """(horizontal, vertical) scale of the way: as chosen, or else the ratio of the legs."""
    source_leg = leg_length(source.rest.positions[0], source.roles)
    body_leg = leg_length(body.rest.positions[0], body.roles)
    ratio = body_leg / source_leg if source_leg and body_leg else 1.0
    return tuple(ratio if chosen is None else chosen for chosen in (travel.horizontal, travel.vertical))


def carried_path(plan, motion):
    """World path (F, 3) in metres for what is carried over, on the body: amid the thighs (see `levers`).

    On the floor the way is scaled about the take's origin and laid out from the body's. Heights are taken from
    standing, so that a body in its rest height stands where the take stands, however high its ankles are, and what it
    rises and sinks by is scaled with the legs.
    """
    hips, lever = plan.source.roles["hips"], plan.levers[0]
    path = motion.positions[:, hips] + carried_along(lever, motion.rotations[:, hips], plan.source)
    horizontal, vertical = plan.scale
    own, bodys = plan.standing
    out = rotation.planes(*path.shape)
    if plan.travel.in_place:
        out[:, :2] = (plan.body.rest.positions[0, plan.body.roles["hips"]] + plan.levers[1])[:2]
    else:
        out[:, :2] = plan.body_origin[:2] + horizontal * (path[:, :2] - plan.source_origin[:2])
    out[:, 2] = bodys + vertical * (path[:, 2] - own)
    return out


def carried_along(lever, turns, figure):
    """A lever (3,) from the hips at rest, in the world, as hips with world rotations (F, 4) carry it: (F, 3)."""
    return rotation.rotate(rotation.mul(turns, rotation.conj(figure.rest.rotations[0, figure.roles["hips"]])), lever)


class Twist(NamedTuple):
    """A twist bone that the take has no equal of, and the roll that it takes a share of."""

    limb: str
    other: str  # the role against which the limb's roll counts
    axis: np.ndarray  # (3,) along the limb, in its own axes
    between: np.ndarray  # (4,) from the limb's rest to the other's
    own: np.ndarray  # (4,) from the limb's rest to the twist bone's
    share: float  # of the roll


def _place_on_limb(role, figure):
    """Where a twist bone's head lies along its limb, 0 to 1; spread evenly where the rest does not tell."""
    limb = anatomy.twist_of(role)
    siblings = sorted(r for r in figure.roles if anatomy.is_twist(r) and anatomy.twist_of(r) == limb)
    child = anatomy.limb_child(limb, figure.roles)
    head, end, at = (figure.rest.positions[0, figure.roles[r]] for r in (limb, child, role))
    along = float(np.dot(at - head, end - head) / max(np.dot(end - head, end - head), 1e-12))
    return along if 0.05 < along < 0.95 else (siblings.index(role) + 1) / (len(siblings) + 1)


def _twists_to_share(body, answered):
    """The Twists of the body whose limb the source answers for and whose own roll it does not: role -> Twist.

    A forearm's or shin's twist bone turns with the hand or foot by its share of the relative roll. An upper arm's or
    thigh's turns back by what is left, because there the roll starts from nothing at the trunk.
    """
    out = {}
    for role in (r for r in body.roles if anatomy.is_twist(r) and r not in answered):
        limb = anatomy.twist_of(role)
        child = anatomy.limb_child(limb, body.roles)
        from_trunk = limb.split(".")[0] in ("upper_arm", "thigh")
        other = anatomy.parent(limb, body.roles) if from_trunk else child
        if limb not in answered or child is None or other not in answered:
            continue
        turns = {r: body.rest.rotations[0, body.roles[r]] for r in (limb, other, role)}
        back = rotation.conj(turns[limb])
        along = body.rest.positions[0, body.roles[child]] - body.rest.positions[0, body.roles[limb]]
        place = _place_on_limb(role, body)
        out[role] = Twist(limb, other, rotation.rotate(back, rotation.normalize(along)),
                          rotation.mul(back, turns[other]), rotation.mul(back, turns[role]),
                          1.0 - place if from_trunk else place)
    return out


def _add_twists(plan, wanted, before):
    """Fill in the twist bones' world rotations, the last of `wanted` (F, K, 4); returns their limbs' last rolls.

    `before` are the last rolls of the frames before, role -> radians: a share of a roll must not jump where the roll
    goes over half a turn.
    """
    place = {role: k for k, role in enumerate(plan.answered)}
    rolls = {}
    for role, twist in plan.twists.items():
        limb, other = wanted[:, place[twist.limb]], wanted[:, place[twist.other]]
        relative = rotation.mul(rotation.mul(rotation.conj(limb), other), rotation.conj(twist.between))
        roll = rotation.unwrapped(rotation.twist_angle(relative, twist.axis), before.get(role))
        rolls[role] = roll[-1]
        shared = rotation.exp(twist.share * roll[:, None] * twist.axis)
        wanted[:, place[role]] = rotation.mul(rotation.mul(limb, shared), twist.own)
    return rolls


def _misplaced(body, held, answered):
    """Roles whose bone does not hang from the bone of its anatomical parent, or is held off its place in the rest (by
    a pose that a file left on it): role -> that parent's role.

    Twist bones are no anatomy: none is placed by itself, and what hangs from one is placed on its limb.
    """
    by_bone = {body.roles[role]: role for role in answered}
    out = {}
    for role in answered:
        anchor = anatomy.parent(role, answered)
        if anchor is None or body.skeleton.connected[body.roles[role]] or anatomy.is_twist(role):
            continue
        j = body.skeleton.parents[body.roles[role]]
        while j >= 0 and j not in by_bone:
            j = body.skeleton.parents[j]
        if j < 0 or by_bone[j] != anchor or _stray(body, held, body.roles[role]):
            out[role] = anchor
    return {role: anchor for role, anchor in out.items() if not anatomy.is_twist(anchor)}


def _stray(body, held, j):
    """Whether a bone's held location counts against the distance to its parent."""
    rests, parent = body.skeleton.rest, body.skeleton.parents[j]
    lever = rests[j, :3, 3] - rests[parent, :3, 3]
    return np.linalg.norm(held.location[0, j]) > _OFF * np.linalg.norm(lever)


def _joint_paths(plan, motion, wanted, hips):
    """World paths of joints that hang or are held elsewhere than in the anatomy: role -> (F, 3).

    The joint keeps its rest place on its anatomical parent, plus what the source's own joint moved away from there.
    """
    source, body = plan.source, plan.body
    place = {role: k for k, role in enumerate(plan.answered)}
    paths = {"hips": hips}

    def path(role):
        if role not in paths:
            anchor = anatomy.parent(role, place)
            lever = body.rest.positions[0, body.roles[role]] - body.rest.positions[0, body.roles[anchor]]
            local = rotation.rotate(rotation.conj(body.rest.rotations[0, body.roles[anchor]]), lever)
            paths[role] = path(anchor) + rotation.rotate(wanted[:, place[anchor]], local)
            if role in source.roles and anchor in source.roles:
                at, base = source.roles[role], source.roles[anchor]
                lever = source.rest.positions[0, at] - source.rest.positions[0, base]
                local = rotation.rotate(rotation.conj(source.rest.rotations[0, base]), lever)
                moved = (motion.positions[:, at] - motion.positions[:, base]
                         - rotation.rotate(motion.rotations[:, base], local))
                paths[role] = paths[role] + plan.scale[1] * moved
        return paths[role]

    return {role: path(role) for role in plan.anchors}


def _carrier(body):
    """The bone that can carry the hips' location: the hips, or the first ancestor that is not welded to its parent."""
    j = body.roles["hips"]
    while body.skeleton.connected[j] and body.skeleton.parents[j] >= 0:
        j = body.skeleton.parents[j]
    return j


def plan(source, body, held, stood, travel=Travel(), source_origin=np.zeros(3), body_origin=np.zeros(3)):
    """The Plan of a transfer from one Figure to another.

    `held` are the body's own Channels of one frame: unmapped bones keep that pose, mapped ones its scale, and a mapped
    one whose joint it holds off its place gets that back. `stood` is the take's `standing_ankle`. Origins (3,) are the
    points in the world that stand still when the way is scaled. Raises FootholdError where a role is missing without
    which there is no transfer.
    """
    for figure, word in ((source, "take"), (body, "body")):
        if "hips" not in figure.roles:
            raise FootholdError(f"The {word} has no bone in the role 'hips': map it in the Roles table.")
    if travel.carrier == "root" and "root" not in body.roles:
        raise FootholdError("The body has no bone in the role 'root': map one, or keep the way on the hips.")
    aligned = rest.alignment(source.rest.positions[0], source.roles, body.rest.positions[0], body.roles)
    blend = blends(source.roles, body.roles)
    twists = _twists_to_share(body, blend)
    turned_rest = np.array([rotation.mul(aligned[role], body.rest.rotations[0, body.roles[role]]) for role in blend])
    answered = (*blend, *twists)
    return Plan(source, body, held, travel, source_origin, body_origin, way_scale(source, body, travel),
                levers(source, body), standing_heights(source, stood, body, source_origin[2], body_origin[2]),
                answered, blend, twists, turned_rest, _misplaced(body, held, answered), _carrier(body))


def placed(plan):
    """The source's joints whose positions a transfer needs."""
    ends = {*plan.anchors, *plan.anchors.values(), "hips"}
    return [j for role, j in plan.source.roles.items() if role in ends]


def _wanted(plan, motion, before):
    """(World rotations (F, K, 4) of the roles that are answered, the limbs' last rolls for the twists)."""
    blends, rests = plan.blends.values(), plan.source.rest.rotations[0]

    def deltas(roles):
        joints = [plan.source.roles[role] for role in roles]
        return rotation.mul(pick(motion.rotations, joints), rotation.conj(rests[joints]))

    turned = deltas([blend.low for blend in blends])
    between = [k for k, blend in enumerate(blends) if blend.part]
    if between:
        shared = [blend for blend in blends if blend.part]
        turned[:, between] = rotation.slerp(turned[:, between], deltas([blend.high for blend in shared]),
                                            np.array([blend.part for blend in shared]))
    wanted = clip(len(turned), len(plan.answered), 4)
    wanted[:, :len(plan.blends)] = rotation.mul(turned, plan.turned_rest)
    return wanted, _add_twists(plan, wanted, before)


def world_pose(plan, motion, before=None):
    """(WorldPose of the body in a stretch of the take's world-space motion, the limbs' last rolls for the next one)."""
    wanted, rolls = _wanted(plan, motion, before.rolls if before else {})
    hips = wanted[:, plan.answered.index("hips")]
    return WorldPose(wanted, carried_path(plan, motion) - carried_along(plan.levers[1], hips, plan.body)), rolls


def share_twists(plan, pose):
    """Let the twist bones of a whole clip's WorldPose follow its limbs anew, in place."""
    _add_twists(plan, pose.rotations, {})


def keys(plan, pose, motion, before=None, given=None):
    """(Transfer, Before without rolls) by which the body takes a WorldPose; the rest as of `play`."""
    body, travel = plan.body, plan.travel
    wanted, hips = pose
    start = before.start if before else hips[0, :2]
    places = {body.roles[role]: p for role, p in _joint_paths(plan, motion, wanted, hips).items()}
    offset = None
    if travel.carrier == "object":
        offset = np.concatenate([hips[:, :2] - start, np.zeros((len(hips), 1))], axis=1)
        places = {j: p - offset for j, p in places.items()}
        hips = hips - offset
    elif travel.carrier == "root":
        flat = np.concatenate([hips[:, :2] - body.rest.positions[0, body.roles["hips"], :2],
                               np.zeros((len(hips), 1))], axis=1)
        places[body.roles["root"]] = body.rest.positions[0, body.roles["root"]] + flat
    rotations, locations = _local(plan, wanted, places, hips, given or {})
    bones = [body.roles[role] for role in plan.answered]
    if before:
        rotations *= np.where(rotation.dot(rotations[0], before.rotations) < 0.0, -1.0, 1.0)[:, None]
    return (Transfer({j: rotations[:, k] for k, j in enumerate(bones)}, locations, offset,
                     {j: wanted[:, k] for k, j in enumerate(bones)}), Before(rotations[-1].copy(), {}, start))


def play(plan, motion, before=None, given=None):
    """Play a stretch of the take's motion (world space) on the body: (Transfer, Before for the next stretch).

    Stretches played one after the other, each with the Before of the one before it, give what the whole clip gives at
    once. Of the motion's positions only those of the joints `placed` are used. `given` maps bone indices to evaluated
    armature-space rotations (F, 4) of bones that do not follow their keys (a constraint, a driver): their children are
    solved against what will be seen.
    """
    pose, rolls = world_pose(plan, motion, before)
    result, after = keys(plan, pose, motion, before, given)
    return result, after._replace(rolls=rolls)


def transfer(source, motion, body, held, travel=Travel(), source_origin=np.zeros(3), body_origin=np.zeros(3)):
    """Play a whole take on the body in one go; arguments as of `plan` and `play`."""
    ankles, leg = ankle_height(motion.positions, source.roles), leg_length(source.rest.positions[0], source.roles)
    stood = 0.0 if leg is None else standing_ankle(ankles, leg)
    return play(plan(source, body, held, stood, travel, source_origin, body_origin), motion)[0]


def _into_armature(world, wanted, places, hips):
    """World rotations (F, K, 4), places (F, 3) and path (F, 3) as the armature's own."""
    inverse = np.linalg.inv(world)

    def point(p):
        return p @ inverse[:3, :3].T + inverse[:3, 3]

    linear = world[:3, :3]
    if is_similarity(world):
        turns = rotation.mul(rotation.from_matrix(linear.T / np.cbrt(np.linalg.det(linear))), wanted)
    else:
        # keep every bone's direction exactly; the two other axes follow as nearly as they can
        turns = rotation.from_matrix(rotation.orthonormal(inverse[:3, :3] @ rotation.to_matrix(wanted)))
    return turns, {j: point(p) for j, p in places.items()}, point(hips)


def _local(plan, wanted, places, hips, given):
    """Channels of the mapped bones, (rotations (F, K, 4), bone -> locations (F, 3)): undo what the parents do."""
    body, held, skeleton = plan.body, plan.held, plan.body.skeleton
    turns, places, hips = _into_armature(skeleton.world, wanted, places, hips)
    joints = joints_of(skeleton)
    bones = [body.roles[role] for role in plan.answered]
    posed = {**{j: turns[:, k] for k, j in enumerate(bones)}, **given}
    heads, scales = {}, {-1: np.ones(3)}

    def turn(j):
        if j not in posed:
            posed[j] = rotation.mul(axes(j)[0], held.rotation[0, j])
        return posed[j]

    def axes(j):
        parent = skeleton.parents[j]
        return channel_axes(skeleton, joints, j, turn(parent) if parent >= 0 else None)

    def scale(j):
        if j not in scales:
            scales[j] = held.scale[0, j] * scale(skeleton.parents[j])
        return scales[j]

    def on_parent(j):
        parent, lever = skeleton.parents[j], joints.levers[j]
        return head(parent) + rotation.rotate(turn(parent), lever * scale(parent)) if parent >= 0 else lever

    def head(j):
        if j not in heads:
            heads[j] = on_parent(j)
            if not skeleton.connected[j] and held.location[0, j].any():
                heads[j] = heads[j] + rotation.rotate(axes(j)[1], held.location[0, j] * scale(skeleton.parents[j]))
        return heads[j]

    bases = clip(*turns.shape)
    for k, j in enumerate(bones):
        bases[:, k] = axes(j)[0]
    rotations = rotation.continuous(rotation.mul(rotation.conj(bases), turns))

    hips_bone, carrier = body.roles["hips"], plan.carrier
    places.pop(hips_bone, None)
    lever = 0.0 if carrier == hips_bone else _reach(skeleton, joints, held, turn(carrier), carrier, hips_bone)
    places[carrier] = hips - lever
    locations = {}
    for j in sorted(places):  # parents before their children
        if not skeleton.connected[j]:
            locations[j] = (rotation.rotate(rotation.conj(axes(j)[1]), places[j] - on_parent(j))
                            / scale(skeleton.parents[j]))
            heads[j] = places[j]
    return rotations, locations


def _reach(skeleton, joints, held, turn, carrier, hips):
    """Lever (F, 3) from the carrier's head to the hips', over the bones between; `turn` (F, 4) is the carrier's."""
    chain = [hips]
    while skeleton.parents[chain[0]] != carrier:
        chain.insert(0, skeleton.parents[chain[0]])
    at = np.zeros(3)
    for j in chain:
        at = at + rotation.rotate(turn, joints.levers[j])
        turn = rotation.mul(channel_axes(skeleton, joints, j, turn)[0], held.rotation[0, j])
    return at


def assemble(skeleton, held, result):
    """The body's full Channels (F, J, ...) with the keys of a Transfer in them."""
    frames = len(next(iter(result.rotations.values())))
    location = np.repeat(held.location, frames, axis=0)
    turn = np.repeat(held.rotation, frames, axis=0)
    for j, q in result.rotations.items():
        turn[:, j] = q
    for j, p in result.locations.items():
        location[:, j] = p
    return Channels(location, turn, np.repeat(held.scale, frames, axis=0))


def played(body, held, result):
    """World Motion of the body with the keys of a Transfer, by forward kinematics."""
    motion = forward(body.skeleton, assemble(body.skeleton, held, result))
    if result.offset is None:
        return motion
    return Motion(motion.positions + result.offset[:, None], motion.rotations)
