"""Rest: the pose that a motion is authored against, which need not be the one that the file calls its rest.

Everything here works on the world positions of joints, because bones may point anywhere and rolls mean nothing.
"""

from typing import NamedTuple

import numpy as np

from . import rotation
from .anatomy import FINGERS, SIDES, limb_child, parent
from .skeleton import Motion

UP = np.array([0.0, 0.0, 1.0])
LARGE = 20.0  # degrees; a disagreement that shows in the result


class Stance(NamedTuple):
    """How far poses are from a symmetric standing pose, in degrees; floats of one pose, or (F,) of a clip."""

    arms_down: float  # how far the upper arms hang below the horizontal: T-pose 0, A-pose about 45
    error: float  # the largest of lean, legs off the vertical, and difference between the two sides
    bend: float  # the largest of elbow bend and of how far the arms reach forwards or backwards

    @property
    def stands(self):
        """Whether it can serve as a rest: upright, symmetric, arms anywhere from a little raised to hanging."""
        return (self.error <= 35.0) & (self.bend <= 75.0) & (self.arms_down >= -30.0)

    @property
    def off_t_pose(self):
        """Degrees to a T-pose."""
        return np.maximum(np.maximum(np.abs(self.arms_down), self.error), self.bend)


def limb_directions(positions, roles):
    """Unit direction of each role's limb, from its joint to the next one: role -> (F, 3).

    `positions` (F, J, 3) in world space, `roles` role -> joint index. Roles whose next joint is not mapped, or stands
    at the same place, have no direction.
    """
    out = {}
    for role, joint in roles.items():
        child = limb_child(role, roles)
        if child is None:
            continue
        limb = positions[:, roles[child]] - positions[:, joint]
        if np.linalg.norm(limb, axis=-1).min() > 1e-6:
            out[role] = rotation.normalize(limb)
    return out


def facing(positions, roles):
    """World orientation (F, 4) of the whole figure: +X to its left, +Z up its trunk, +Y to its back.

    Taken from hip and shoulder pairs and the way from the hips up to neck or head. None where they are not mapped.
    """
    lateral = [positions[:, roles[f"{part}.L"]] - positions[:, roles[f"{part}.R"]]
               for part in ("thigh", "upper_arm", "shoulder") if f"{part}.L" in roles and f"{part}.R" in roles]
    top = next((r for r in ("neck", "head", "chest", "spine") if r in roles), None)
    if not lateral or top is None or "hips" not in roles:
        return None
    base = positions[:, roles["hips"]]
    if "thigh.L" in roles and "thigh.R" in roles:
        base = 0.5 * (positions[:, roles["thigh.L"]] + positions[:, roles["thigh.R"]])
    up = rotation.normalize(positions[:, roles[top]] - base)
    left = sum(rotation.normalize(v) for v in lateral)
    left = rotation.normalize(left - np.sum(left * up, axis=-1, keepdims=True) * up)
    return rotation.from_matrix(np.stack([left, np.cross(up, left), up], axis=-1))


def stances(positions, roles):
    """The Stance of every frame of (F, J, 3) world positions; None where arms or legs are not mapped."""
    frame = facing(positions, roles)
    limbs = limb_directions(positions, roles)
    needed = [f"{part}.{side}" for part in ("upper_arm", "forearm", "thigh", "shin") for side in SIDES]
    if frame is None or any(role not in limbs for role in needed):
        return None
    own = {role: rotation.rotate(rotation.conj(frame), limbs[role]) for role in needed}
    error = [rotation.vector_angle(rotation.rotate(frame, UP), UP)]
    bend, down = [], []
    for part in ("upper_arm", "forearm", "thigh", "shin"):
        error.append(rotation.vector_angle(own[f"{part}.L"], own[f"{part}.R"] * [-1.0, 1.0, 1.0]))
    for side, outwards in zip(SIDES, (1.0, -1.0)):
        upper, lower = own[f"upper_arm.{side}"], own[f"forearm.{side}"]
        bend.append(rotation.vector_angle(upper, lower))
        bend.append(np.abs(np.arcsin(np.clip(upper[:, 1], -1.0, 1.0))))
        error.append(np.where(outwards * upper[:, 0] < -0.2, np.pi, 0.0))  # across the chest
        error.append(rotation.vector_angle(own[f"thigh.{side}"], -UP))
        error.append(rotation.vector_angle(own[f"shin.{side}"], -UP))
        down.append(np.arcsin(np.clip(-upper[:, 2], -1.0, 1.0)))
    return Stance(np.degrees(0.5 * (down[0] + down[1])), np.degrees(np.max(error, axis=0)),
                  np.degrees(np.max(bend, axis=0)))


def stance(positions, roles):
    """The Stance of one pose (J, 3); one that cannot be judged counts as not standing."""
    found = stances(positions[None], roles)
    return Stance(0.0, 180.0, 180.0) if found is None else Stance(*(float(part[0]) for part in found))


def t_pose_frames(found, tolerance=15.0):
    """Frames, best first, whose Stance (of (F,) arrays) is a T-pose within `tolerance` degrees."""
    order = np.argsort(found.off_t_pose, kind="stable")
    return order[found.off_t_pose[order] <= tolerance]


def standing_frames(found):
    """Frames, best first, whose Stance (of (F,) arrays) is upright and symmetric, wherever the arms are."""
    worst = np.maximum(found.error, found.bend)
    order = np.argsort(worst, kind="stable")
    return order[found.stands[order]]


def _yaw(direction):
    return np.arctan2(direction[..., 1], direction[..., 0])


def _about_up(angle):
    return rotation.exp(np.asarray(angle, float)[..., None] * UP)


def turn_between(source, source_roles, target, target_roles):
    """The turn (4,) that makes the target's rest (J, 3) face as the source's does.

    About the vertical where both stand within 45 degrees of it, else in full; identity where either has no facing.
    """
    a, b = facing(source[None], source_roles), facing(target[None], target_roles)
    if a is None or b is None:
        return rotation.IDENTITY
    lean = max(np.degrees(rotation.vector_angle(rotation.rotate(q[0], UP), UP)) for q in (a, b))
    if lean < 45.0:
        left = np.array([1.0, 0.0, 0.0])
        return _about_up(_yaw(rotation.rotate(a[0], left)) - _yaw(rotation.rotate(b[0], left)))
    return rotation.mul(a[0], rotation.conj(b[0]))


def alignment(source, source_roles, target, target_roles):
    """What turns the target's rest into the source's anatomical pose: role -> (4,) world rotation, for target roles.

    Both rests (J, 3) must be standing poses for anything to be aligned: then arms, legs and fingers swing from, say, an
    A-pose to a T-pose, feet turn about the vertical (soles stay flat), and trunk, head and clavicles only face the
    same way, because how a rig places its spine joints says nothing about its posture. Otherwise every role keeps
    identity: the two rests then stand as they are.
    """
    if not (stance(source, source_roles).stands and stance(target, target_roles).stands):
        return {role: rotation.IDENTITY for role in target_roles}
    turn = turn_between(source, source_roles, target, target_roles)
    want, have = limb_directions(source[None], source_roles), limb_directions(target[None], target_roles)
    out = {}

    def of(role):
        if role not in out:
            part, above = role.split(".")[0], parent(role, target_roles)
            out[role] = turn
            if part == "foot" and role in want and role in have:
                out[role] = _flat_turn(turn, have[role][0], want[role][0])
            elif part == "toe" and above is not None:
                out[role] = of(above)
            elif part in _SWINGING and role in want and role in have:
                swing = rotation.between(rotation.rotate(turn, have[role][0]), want[role][0])
                out[role] = rotation.mul(swing, turn)
            elif part in _SWINGING and above is not None and above.split(".")[0] in _SWINGING:
                out[role] = of(above)
        return out[role]

    return {role: of(role) for role in target_roles}


_SWINGING = ("upper_arm", "forearm", "hand", "thigh", "shin") + FINGERS


def _flat_turn(turn, have, want):
    """`turn` and then about the vertical until the direction `have` (3,) points where `want` does, seen from above."""
    have = rotation.rotate(turn, have)
    if min(np.linalg.norm(have[:2]), np.linalg.norm(want[:2])) < 0.3:
        return turn  # a foot that points down has no heading
    return rotation.mul(_about_up(_yaw(want) - _yaw(have)), turn)


def disagreement(source, source_roles, target, target_roles):
    """How far two rests differ: (role, degrees) worst first, for the limbs that both have.

    Measured between limb directions in the world, after turning the target to face as the source does where both are
    standing poses (a body that merely stands the other way round agrees).
    """
    turn = rotation.IDENTITY
    if stance(source, source_roles).stands and stance(target, target_roles).stands:
        turn = turn_between(source, source_roles, target, target_roles)
    want, have = limb_directions(source[None], source_roles), limb_directions(target[None], target_roles)
    rows = [(role, float(np.degrees(rotation.vector_angle(rotation.rotate(turn, have[role][0]), want[role][0]))))
            for role in have if role in want]
    return sorted(rows, key=lambda row: (-row[1], row[0]))


def left_over(source, source_roles, target, target_roles):
    """How far limbs will be off: the disagreement that `alignment` leaves, (role, degrees) worst first."""
    turns = alignment(source, source_roles, target, target_roles)
    want, have = limb_directions(source[None], source_roles), limb_directions(target[None], target_roles)
    rows = [(role, float(np.degrees(rotation.vector_angle(rotation.rotate(turns[role], have[role][0]), want[role][0]))))
            for role in have if role in want]
    return sorted(rows, key=lambda row: (-row[1], row[0]))


def transplant(own, roles, other_rest, other_pose, other_roles):
    """A pose of another skeleton, worn by this one: a Motion of one frame in which only mapped bones are right.

    Where both skeletons rest in the same pose, their bones differ by constant turns and the pose carries over exactly.
    Where they do not (a file that rests in its T-pose beside one that rests in dance frame zero), equal bone axes are
    taken at their word; else each limb swings from its own rest onto the other's direction, and its roll, which
    positions cannot tell, follows its parent.
    """
    positions, rotations = own.positions.copy(), own.rotations.copy()
    shared = [role for role in roles if role in other_roles]
    mine, theirs = [roles[r] for r in shared], [other_roles[r] for r in shared]
    same_axes = np.degrees(rotation.angle(own.rotations[0, mine], other_rest.rotations[0, theirs]))
    mine_limbs, rest_limbs = limb_directions(own.positions, roles), limb_directions(other_rest.positions, other_roles)
    apart = [np.degrees(rotation.vector_angle(limb[0], rest_limbs[r][0])) for r, limb in mine_limbs.items()
             if r in rest_limbs]
    positions[0, mine] = other_pose.positions[0, theirs]
    if max(apart, default=0.0) < 5.0 or same_axes.max(initial=0.0) < 1.0:
        turn = rotation.mul(rotation.conj(other_rest.rotations[0, theirs]), own.rotations[0, mine])
        rotations[0, mine] = rotation.mul(other_pose.rotations[0, theirs], turn)
        return Motion(positions, rotations)
    pose_limbs = limb_directions(other_pose.positions, other_roles)
    turned = {}

    def delta(role):
        if role not in turned:
            above = parent(role, roles)
            base = delta(above) if above in shared else rotation.IDENTITY
            if role in mine_limbs and role in pose_limbs:
                swing = rotation.between(rotation.rotate(base, mine_limbs[role][0]), pose_limbs[role][0])
                base = rotation.mul(swing, base)
            turned[role] = base
        return turned[role]

    for role in shared:
        rotations[0, roles[role]] = rotation.mul(delta(role), own.rotations[0, roles[role]])
    return Motion(positions, rotations)
