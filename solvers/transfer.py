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
from .skeleton import Channels, Motion, Skeleton, channel_axes, forward, is_similarity, joints_of


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
    standing: tuple  # heights in metres (source, body) of the hips over straight legs
    turned_rest: dict  # role -> (4,) the body's rest, turned into the source's anatomical pose, in the world
    blends: dict  # role -> Blend
    twists: dict  # role -> Twist
    anchors: dict  # role -> role of the anatomical parent, of bones that hang elsewhere
    carrier: int  # bone whose location carries the hips


class Before(NamedTuple):
    """What the frames before a stretch have settled for it."""

    rotations: dict  # bone index -> (4,) the last key
    rolls: dict  # twist role -> the limb's last roll in radians
    start: np.ndarray  # (2,) where on the floor the hips began


def deltas(source, motion):
    """World deltas of the source against its rest: role -> (F, 4)."""
    return {role: rotation.mul(motion.rotations[:, j], rotation.conj(source.rest.rotations[0, j]))
            for role, j in source.roles.items() if role != "root"}


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


def _blended(source_deltas, blend):
    low = source_deltas[blend.low]
    return rotation.slerp(low, source_deltas[blend.high], blend.part) if blend.part else low


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


def _stands_on(height, leg, floor):
    """Whether an ankle at this height can belong to a foot that stands on the floor."""
    return -0.02 * leg <= height - floor <= 0.3 * leg


def _over_lowest(figure):
    """Height in metres of the lower ankle in the rest over the lowest joint of the feet."""
    feet = [j for role, j in figure.roles.items() if role.split(".")[0] in ("foot", "toe")]
    parents = figure.skeleton.parents
    below = [j for j in range(len(parents)) if j in feet or parents[j] in feet]
    heights = figure.rest.positions[0, :, 2]
    return ankle_height(figure.rest.positions, figure.roles)[0] - heights[below].min()


def standing_hips(source, lowest, body, source_floor, body_floor):
    """Heights in metres (source, body) at which the hips stand on straight legs.

    A rest that stands on its floor is believed. A rest need not stand anywhere, though (a BVH rest hangs its root
    where it likes): then the take's own `lowest` ankles (`lowest_ankle`) tell where it stands, and a body whose rest
    hangs likewise is put onto the take's floor. The same skeleton in the same rest always gets the same height.
    """
    hips = [f.rest.positions[0, f.roles["hips"], 2] for f in (source, body)]
    legs = [leg_length(f.rest.positions[0], f.roles) for f in (source, body)]
    if None in legs:
        return tuple(hips)
    ankles = [float(ankle_height(f.rest.positions, f.roles)[0]) for f in (source, body)]
    believed = _stands_on(ankles[0], legs[0], source_floor) or abs(ankles[0] - lowest) <= 0.05 * legs[0]
    stand = ankles[0] if believed else lowest
    body_stand = ankles[1]
    if not _stands_on(ankles[1], legs[1], body_floor):
        body_stand = stand + _over_lowest(body) - _over_lowest(source)
    return stand + hips[0] - ankles[0], body_stand + hips[1] - ankles[1]


def lowest_ankle(heights):
    """How low in metres a take's ankles (F,) come: all but the lowest fiftieth, which may be faults."""
    return float(np.quantile(heights, 0.02))


def way_scale(source, body, travel):
    """(horizontal, vertical) scale of the way: as chosen, or else the ratio of the legs."""
    source_leg = leg_length(source.rest.positions[0], source.roles)
    body_leg = leg_length(body.rest.positions[0], body.roles)
    ratio = body_leg / source_leg if source_leg and body_leg else 1.0
    return tuple(ratio if chosen is None else chosen for chosen in (travel.horizontal, travel.vertical))


def hips_path(plan, motion):
    """World positions (F, 3) for the body's hips.

    On the floor the way is scaled about the take's origin and laid out from the body's. Heights are taken from
    standing, so that a body in its rest height stands where the take stands, however high its ankles are, and what the
    hips rise and sink by is scaled with the legs.
    """
    path = motion.positions[:, plan.source.roles["hips"]]
    horizontal, vertical = plan.scale
    own, bodys = plan.standing
    out = rotation.planes(*path.shape)
    if plan.travel.in_place:
        out[:, :2] = plan.body.rest.positions[0, plan.body.roles["hips"], :2]
    else:
        out[:, :2] = plan.body_origin[:2] + horizontal * (path[:, :2] - plan.source_origin[:2])
    out[:, 2] = bodys + vertical * (path[:, 2] - own)
    return out


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


def _twist_rotations(twists, wanted, before):
    """(world rotations of the twist bones, role -> (F, 4); their limbs' last rolls, role -> radians).

    `before` are the last rolls of the frames before: a share of a roll must not jump where the roll goes over half a
    turn.
    """
    out, rolls = {}, {}
    for role, twist in twists.items():
        relative = rotation.mul(rotation.mul(rotation.conj(wanted[twist.limb]), wanted[twist.other]),
                                rotation.conj(twist.between))
        roll = rotation.unwrapped(rotation.twist_angle(relative, twist.axis), before.get(role))
        rolls[role] = roll[-1]
        shared = rotation.exp(twist.share * roll[:, None] * twist.axis)
        out[role] = rotation.mul(rotation.mul(wanted[twist.limb], shared), twist.own)
    return out, rolls


def _misplaced(body, answered):
    """Roles whose bone does not hang from the bone of its anatomical parent: role -> that parent's role.

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
        if j < 0 or by_bone[j] != anchor:
            out[role] = anchor
    return {role: anchor for role, anchor in out.items() if not anatomy.is_twist(anchor)}


def _joint_paths(plan, motion, source_deltas, wanted, hips):
    """World paths of joints that hang elsewhere than in the anatomy: role -> (F, 3).

    The joint keeps its rest place on its anatomical parent, plus what the source's own joint moved away from there.
    """
    source, body = plan.source, plan.body
    paths = {"hips": hips}

    def path(role):
        if role not in paths:
            anchor = anatomy.parent(role, wanted)
            lever = body.rest.positions[0, body.roles[role]] - body.rest.positions[0, body.roles[anchor]]
            local = rotation.rotate(rotation.conj(body.rest.rotations[0, body.roles[anchor]]), lever)
            paths[role] = path(anchor) + rotation.rotate(wanted[anchor], local)
            if role in source.roles and anchor in source_deltas:
                at, base = source.roles[role], source.roles[anchor]
                stiff = rotation.rotate(source_deltas[anchor],
                                        source.rest.positions[0, at] - source.rest.positions[0, base])
                moved = motion.positions[:, at] - motion.positions[:, base] - stiff
                paths[role] = paths[role] + plan.scale[1] * moved
        return paths[role]

    return {role: path(role) for role in plan.anchors}


def _carrier(body):
    """The bone that can carry the hips' location: the hips, or the first ancestor that is not welded to its parent."""
    j = body.roles["hips"]
    while body.skeleton.connected[j] and body.skeleton.parents[j] >= 0:
        j = body.skeleton.parents[j]
    return j


def plan(source, body, held, lowest, travel=Travel(), source_origin=np.zeros(3), body_origin=np.zeros(3)):
    """The Plan of a transfer from one Figure to another.

    `held` are the body's own Channels of one frame: unmapped bones keep that pose, mapped ones its location and scale
    where nothing is keyed. `lowest` is the take's `lowest_ankle`. Origins (3,) are the points in the world that stand
    still when the way is scaled. Raises FootholdError where a role is missing without which there is no transfer.
    """
    for figure, word in ((source, "take"), (body, "body")):
        if "hips" not in figure.roles:
            raise FootholdError(f"The {word} has no bone in the role 'hips': map it in the Roles table.")
    if travel.carrier == "root" and "root" not in body.roles:
        raise FootholdError("The body has no bone in the role 'root': map one, or keep the way on the hips.")
    aligned = rest.alignment(source.rest.positions[0], source.roles, body.rest.positions[0], body.roles)
    turned_rest = {role: rotation.mul(aligned[role], body.rest.rotations[0, j]) for role, j in body.roles.items()}
    blend = blends(source.roles, body.roles)
    twists = _twists_to_share(body, blend)
    return Plan(source, body, held, travel, source_origin, body_origin, way_scale(source, body, travel),
                standing_hips(source, lowest, body, source_origin[2], body_origin[2]), turned_rest, blend, twists,
                _misplaced(body, [*blend, *twists]), _carrier(body))


def play(plan, motion, before=None, given=None):
    """Play a stretch of the take's motion (world space) on the body: (Transfer, Before for the next stretch).

    Stretches played one after the other, each with the Before of the one before it, give what the whole clip gives at
    once. `given` maps bone indices to evaluated armature-space rotations (F, 4) of bones that do not follow their keys
    (a constraint, a driver): their children are solved against what will be seen.
    """
    body, travel = plan.body, plan.travel
    source_deltas = deltas(plan.source, motion)
    wanted = {role: rotation.mul(_blended(source_deltas, blend), plan.turned_rest[role])
              for role, blend in plan.blends.items()}
    twists, rolls = _twist_rotations(plan.twists, wanted, before.rolls if before else {})
    wanted.update(twists)
    hips = hips_path(plan, motion)
    start = before.start if before else hips[0, :2]
    places = {body.roles[role]: p for role, p in _joint_paths(plan, motion, source_deltas, wanted, hips).items()}
    offset = None
    if travel.carrier == "object":
        offset = np.concatenate([hips[:, :2] - start, np.zeros((len(hips), 1))], axis=1)
        places = {j: p - offset for j, p in places.items()}
        hips = hips - offset
    elif travel.carrier == "root":
        flat = np.concatenate([hips[:, :2] - body.rest.positions[0, body.roles["hips"], :2],
                               np.zeros((len(hips), 1))], axis=1)
        places[body.roles["root"]] = body.rest.positions[0, body.roles["root"]] + flat
    by_bone = {body.roles[role]: q for role, q in wanted.items()}
    rotations, locations = _local(plan, by_bone, places, hips, given or {})
    if before:
        rotations = {j: q if np.dot(q[0], before.rotations[j]) >= 0.0 else -q for j, q in rotations.items()}
    return (Transfer(rotations, locations, offset, by_bone),
            Before({j: q[-1] for j, q in rotations.items()}, rolls, start))


def transfer(source, motion, body, held, travel=Travel(), source_origin=np.zeros(3), body_origin=np.zeros(3)):
    """Play a whole take on the body in one go; arguments as of `plan` and `play`."""
    ankles = ankle_height(motion.positions, source.roles)
    lowest = 0.0 if ankles is None else lowest_ankle(ankles)
    return play(plan(source, body, held, lowest, travel, source_origin, body_origin), motion)[0]


def _into_armature(world, by_bone, places, hips):
    """World rotations and places as the armature's own."""
    inverse = np.linalg.inv(world)

    def point(p):
        return p @ inverse[:3, :3].T + inverse[:3, 3]

    linear = world[:3, :3]
    if is_similarity(world):
        turn = rotation.from_matrix(linear.T / np.cbrt(np.linalg.det(linear)))
        turns = {j: rotation.mul(turn, q) for j, q in by_bone.items()}
    else:
        # keep every bone's direction exactly; the two other axes follow as nearly as they can
        turns = {j: rotation.from_matrix(rotation.orthonormal(inverse[:3, :3] @ rotation.to_matrix(q)))
                 for j, q in by_bone.items()}
    return turns, {j: point(p) for j, p in places.items()}, point(hips)


def _local(plan, by_bone, places, hips, given):
    """Channels of the mapped bones: walk down the skeleton and undo what the parents already do."""
    body, held, carrier = plan.body, plan.held, plan.carrier
    skeleton = body.skeleton
    turns, places, hips = _into_armature(skeleton.world, by_bone, places, hips)
    joints = joints_of(skeleton)
    heads, posed, scales = {}, {}, {}
    rotations, locations = {}, {}
    hips_bone = body.roles["hips"]
    for j, parent in enumerate(skeleton.parents):
        base, axes = channel_axes(skeleton, joints, j, posed[parent] if parent >= 0 else None)
        grown = scales[parent] if parent >= 0 else np.ones(3)
        head = joints.levers[j][None]
        if parent >= 0:
            head = heads[parent] + rotation.rotate(posed[parent], joints.levers[j] * grown)
        if j in turns:
            rotations[j] = rotation.continuous(rotation.mul(rotation.conj(base), turns[j]))
        posed[j] = given[j] if j in given else turns[j] if j in turns else rotation.mul(base, held.rotation[0, j])
        if j == carrier:
            places[j] = hips if j == hips_bone else hips - _reach(skeleton, joints, held, posed[j], j, hips_bone)
        if j in places and not skeleton.connected[j] and (j != hips_bone or j == carrier):
            locations[j] = rotation.rotate(rotation.conj(axes), places[j] - head) / grown
            heads[j] = places[j]
        else:
            free = not skeleton.connected[j] and held.location[0, j].any()
            heads[j] = head + rotation.rotate(axes, held.location[0, j] * grown) if free else head
        scales[j] = held.scale[0, j] * grown
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
