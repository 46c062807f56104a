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
    """Keys for the body, and what they rest on."""

    rotations: dict  # bone index -> (F, 4) against the bone's rest, sign-continuous
    locations: dict  # bone index -> (F, 3) in the bone's own channels
    offset: np.ndarray | None  # (F, 3) world offset of the object, where it carries the way
    rotations_world: dict  # bone index -> (F, 4) wanted world rotation
    scale: tuple  # (horizontal, vertical) as used


def deltas(source, motion):
    """World deltas of the source against its rest: role -> (F, 4)."""
    return {role: rotation.mul(motion.rotations[:, j], rotation.conj(source.rest.rotations[0, j]))
            for role, j in source.roles.items() if role != "root"}


def _share(have, want_roles):
    """Deltas for the chain `want_roles` from the deltas `have` (a list, in order) of a chain of another length.

    First stands for first and last for last, and the rotation between neighbours is shared out over what lies between:
    limbs of the same role keep a constant angle. One bone stands for a whole chain, stiff as it is.
    """
    places = np.linspace(0.0, len(have) - 1.0, len(want_roles)) if len(want_roles) > 1 else [len(have) - 1.0]
    out = {}
    for role, place in zip(want_roles, places):
        low = int(place + 1e-9)
        part = place - low
        out[role] = have[low] if part < 1e-9 else rotation.slerp(have[low], have[low + 1], np.asarray(part))
    return out


def _twists(role, roles):
    """All twist bones of the limb that a twist bone belongs to."""
    return {r for r in roles if anatomy.is_twist(r) and anatomy.twist_of(r) == anatomy.twist_of(role)}


def body_deltas(source_deltas, body_roles):
    """Deltas for every role of the body that the source can answer for: role -> (F, 4)."""
    if "hips" not in source_deltas:
        raise FootholdError("The take has no bone in the role 'hips': map it in the Roles table.")
    out = {role: d for role, d in source_deltas.items() if role in body_roles
           and (not anatomy.is_twist(role) or _twists(role, source_deltas) == _twists(role, body_roles))}
    hips = source_deltas["hips"]
    torso = [source_deltas[r] for r in anatomy.torso(source_deltas)]
    wanted = anatomy.torso(body_roles)
    if torso and wanted:
        out.update(_share(torso, wanted))
    chest = torso[-1] if torso else hips
    necks = [source_deltas[r] for r in anatomy.neck(source_deltas)]
    wanted = anatomy.neck(body_roles)
    if wanted and necks:
        out.update(_share(necks, wanted))
    elif wanted and "head" in source_deltas:  # no neck in the take: it bends half way to the head
        out.update(_share([rotation.slerp(chest, source_deltas["head"], np.asarray(0.5))], wanted))
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


def standing_hips(source, motion, body, source_floor, body_floor):
    """Heights in metres (source, body) at which the hips stand on straight legs.

    A rest that stands on its floor is believed. A rest need not stand anywhere, though (a BVH rest hangs its root
    where it likes): then the take's own lowest ankles tell where it stands, and a body whose rest hangs likewise is
    put onto the take's floor. The same skeleton in the same rest always gets the same height.
    """
    hips = [f.rest.positions[0, f.roles["hips"], 2] for f in (source, body)]
    legs = [leg_length(f.rest.positions[0], f.roles) for f in (source, body)]
    if None in legs:
        return tuple(hips)
    ankles = [float(ankle_height(f.rest.positions, f.roles)[0]) for f in (source, body)]
    in_take = float(np.quantile(ankle_height(motion.positions, source.roles), 0.02))
    believed = _stands_on(ankles[0], legs[0], source_floor) or abs(ankles[0] - in_take) <= 0.05 * legs[0]
    stand = ankles[0] if believed else in_take
    body_stand = ankles[1]
    if not _stands_on(ankles[1], legs[1], body_floor):
        body_stand = stand + _over_lowest(body) - _over_lowest(source)
    return stand + hips[0] - ankles[0], body_stand + hips[1] - ankles[1]


def hips_path(source, motion, body, travel, source_origin, body_origin):
    """World positions (F, 3) for the body's hips, and the (horizontal, vertical) scale.

    On the floor the way is scaled about the take's origin (3,) and laid out from the body's. Heights are taken from
    standing, so that a body in its rest height stands where the take stands, however high its ankles are, and what the
    hips rise and sink by is scaled with the legs.
    """
    path = motion.positions[:, source.roles["hips"]]
    hips = body.rest.positions[0, body.roles["hips"]]
    source_leg = leg_length(source.rest.positions[0], source.roles)
    body_leg = leg_length(body.rest.positions[0], body.roles)
    ratio = body_leg / source_leg if source_leg and body_leg else 1.0
    horizontal = ratio if travel.horizontal is None else travel.horizontal
    vertical = ratio if travel.vertical is None else travel.vertical
    out = np.empty_like(path)
    if travel.in_place:
        out[:, :2] = hips[:2]
    else:
        out[:, :2] = body_origin[:2] + horizontal * (path[:, :2] - source_origin[:2])
    own, bodys = standing_hips(source, motion, body, source_origin[2], body_origin[2])
    out[:, 2] = bodys + vertical * (path[:, 2] - own)
    return out, (horizontal, vertical)


def _twist_share(role, figure):
    """How much of its limb's roll a twist bone takes, from where its head lies along the limb (0 to 1)."""
    limb = anatomy.twist_of(role)
    child = anatomy.limb_child(limb, figure.roles)
    siblings = sorted(r for r in figure.roles if anatomy.is_twist(r) and anatomy.twist_of(r) == limb)
    even = (siblings.index(role) + 1) / (len(siblings) + 1)
    if child is None:
        return even
    head, end, at = (figure.rest.positions[0, figure.roles[r]] for r in (limb, child, role))
    along = float(np.dot(at - head, end - head) / max(np.dot(end - head, end - head), 1e-12))
    return along if 0.05 < along < 0.95 else even


def _twist_rotations(body, wanted):
    """World rotations of the twist bones that the take has no equals of: role -> (F, 4).

    A forearm's or shin's twist bone turns with the hand or foot by its share of the relative roll. An upper arm's or
    thigh's turns back by what is left, because there the roll starts from nothing at the trunk.
    """
    out = {}
    for role in (r for r in body.roles if anatomy.is_twist(r) and r not in wanted):
        limb = anatomy.twist_of(role)
        child = anatomy.limb_child(limb, body.roles)
        if limb not in wanted or child is None:
            continue
        limb_rest = body.rest.rotations[0, body.roles[limb]]
        axis = rotation.normalize(body.rest.positions[0, body.roles[child]] - body.rest.positions[0, body.roles[limb]])
        axis = rotation.rotate(rotation.conj(limb_rest), axis)
        share = _twist_share(role, body)
        near = limb.split(".")[0] in ("upper_arm", "thigh")
        other = anatomy.parent(limb, body.roles) if near else child
        if other not in wanted:
            continue
        other_rest = body.rest.rotations[0, body.roles[other]]
        relative = rotation.mul(rotation.mul(rotation.conj(wanted[limb]), wanted[other]),
                                rotation.conj(rotation.mul(rotation.conj(limb_rest), other_rest)))
        roll = np.unwrap(rotation.twist_angle(relative, axis))
        roll = (1.0 - share if near else share) * roll
        own = rotation.mul(rotation.conj(limb_rest), body.rest.rotations[0, body.roles[role]])
        out[role] = rotation.mul(rotation.mul(wanted[limb], rotation.exp(roll[:, None] * axis)), own)
    return out


def _misplaced(body, wanted):
    """Roles whose bone does not hang from the bone of its anatomical parent: role -> that parent's role."""
    by_bone = {j: role for role, j in body.roles.items() if role in wanted}
    out = {}
    for role in wanted:
        anchor = anatomy.parent(role, wanted)
        if anchor is None or body.skeleton.connected[body.roles[role]]:
            continue
        j = body.skeleton.parents[body.roles[role]]
        while j >= 0 and j not in by_bone:
            j = body.skeleton.parents[j]
        if j < 0 or by_bone[j] != anchor:
            out[role] = anchor
    return out


def _joint_paths(source, motion, body, source_deltas, wanted, turned, hips, scale):
    """World paths of joints that hang elsewhere than in the anatomy: role -> (F, 3).

    The joint keeps its rest place on its anatomical parent, plus what the source's own joint moved away from there.
    """
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
                paths[role] = paths[role] + scale * moved
        return paths[role]

    return {role: path(role) for role in turned}


def _carrier(body):
    """The bone that can carry the hips' location: the hips, or the first ancestor that is not welded to its parent."""
    j = body.roles["hips"]
    while body.skeleton.connected[j] and body.skeleton.parents[j] >= 0:
        j = body.skeleton.parents[j]
    return j


def transfer(source, motion, body, held, travel=Travel(), source_origin=np.zeros(3), body_origin=np.zeros(3),
             given=None):
    """Play `motion` (world space, on the source figure) on the body.

    `held` are the body's own Channels of one frame: unmapped bones keep that pose, mapped ones its location and scale
    where nothing is keyed. `given` maps bone indices to evaluated armature-space rotations (F, 4) of bones that do not
    follow their keys (a constraint, a driver): their children are solved against what will be seen.
    Origins (3,) are the points in the world that stand still when the way is scaled.
    """
    if "hips" not in body.roles:
        raise FootholdError("The body has no bone in the role 'hips': map it in the Roles table.")
    source_deltas = deltas(source, motion)
    aligned = rest.alignment(source.rest.positions[0], source.roles, body.rest.positions[0], body.roles)
    wanted = {role: rotation.mul(d, rotation.mul(aligned[role], body.rest.rotations[0, body.roles[role]]))
              for role, d in body_deltas(source_deltas, body.roles).items()}
    wanted.update(_twist_rotations(body, wanted))
    hips, scale = hips_path(source, motion, body, travel, source_origin, body_origin)
    turned = {r: a for r, a in _misplaced(body, wanted).items() if not anatomy.is_twist(a) and not anatomy.is_twist(r)}
    paths = _joint_paths(source, motion, body, source_deltas, wanted, turned, hips, scale[1])
    carrier = _carrier(body)
    by_bone = {body.roles[role]: q for role, q in wanted.items()}
    places = {body.roles[role]: p for role, p in paths.items()}
    offset = None
    if travel.carrier == "object":
        offset = np.concatenate([hips[:, :2] - hips[:1, :2], np.zeros((len(hips), 1))], axis=1)
        places = {j: p - offset for j, p in places.items()}
        hips = hips - offset
    elif travel.carrier == "root":
        if "root" not in body.roles:
            raise FootholdError("The body has no bone in the role 'root': map one, or keep the way on the hips.")
        start = body.rest.positions[0, body.roles["root"]]
        flat = np.concatenate([hips[:, :2] - body.rest.positions[0, body.roles["hips"], :2],
                               np.zeros((len(hips), 1))], axis=1)
        places[body.roles["root"]] = start + flat
    rotations, locations = _local(body, held, by_bone, places, hips, carrier, given or {})
    return Transfer(rotations, locations, offset, by_bone, scale)


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


def _local(body, held, by_bone, places, hips, carrier, given):
    """Channels of the mapped bones: walk down the skeleton and undo what the parents already do."""
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
