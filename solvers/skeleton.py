"""Skeletons and their motions as plain arrays, in Blender's conventions for bones."""

from typing import NamedTuple

import numpy as np

from . import rotation


class Skeleton(NamedTuple):
    """Bones of one armature, parents before children.

    Rest matrices are in armature space (Blender's `Bone.matrix_local`: a bone points along its own +Y); `world` takes
    armature space to world space and may carry any scale.
    """

    names: tuple  # J bone names
    parents: np.ndarray  # (J,) index of the parent, -1 for none
    rest: np.ndarray  # (J, 4, 4) armature space
    inherits_rotation: np.ndarray  # (J,) bool
    local_location: np.ndarray  # (J,) bool, location in the bone's own axes
    connected: np.ndarray  # (J,) bool, the head is welded to the parent's tail: no location of its own
    deforms: np.ndarray  # (J,) bool
    world: np.ndarray  # (4, 4) the object's matrix, at rest


class Channels(NamedTuple):
    """A motion as Blender stores it: each bone's own transform against its rest (`PoseBone.matrix_basis`)."""

    location: np.ndarray  # (F, J, 3) armature units
    rotation: np.ndarray  # (F, J, 4) unit quaternions
    scale: np.ndarray  # (F, J, 3)


class Motion(NamedTuple):
    """A motion in world space, metres, Z up."""

    positions: np.ndarray  # (F, J, 3) heads of the bones
    rotations: np.ndarray  # (F, J, 4) world orientation of the bones, sign-continuous


def clip(frames, joints, size):
    """An empty (frames, joints, size) array in which each component of each joint lies together in memory."""
    return np.empty((joints, size, frames)).transpose(2, 0, 1)


def pick(values, joints):
    """Some joints of a clip, (F, J, C) to (F, K, C), laid out as `clip` does."""
    return np.take(values.transpose(1, 2, 0), joints, axis=0).transpose(2, 0, 1)


def branch(skeleton, joints):
    """The part of a skeleton that the poses of `joints` depend on: (Skeleton, its bones' indices (K,) in the whole)."""
    kept = set()
    for j in joints:
        while j >= 0 and j not in kept:
            kept.add(int(j))
            j = skeleton.parents[j]
    kept = np.array(sorted(kept))
    place = np.full(len(skeleton.names) + 1, -1)  # the last is the place of "no parent", -1
    place[kept] = np.arange(len(kept))
    return skeleton._replace(names=tuple(skeleton.names[j] for j in kept), parents=place[skeleton.parents[kept]],
                             rest=skeleton.rest[kept], inherits_rotation=skeleton.inherits_rotation[kept],
                             local_location=skeleton.local_location[kept], connected=skeleton.connected[kept],
                             deforms=skeleton.deforms[kept]), kept


def is_similarity(matrix, tolerance=1e-6):
    """Whether a (4, 4) matrix only turns, moves and scales evenly, without mirroring."""
    linear = np.asarray(matrix, float)[:3, :3]
    scale = np.cbrt(np.linalg.det(linear))
    return scale > 0.0 and np.allclose(linear.T @ linear, scale * scale * np.eye(3), atol=tolerance * scale * scale)


def to_world(world, positions, rotations):
    """Armature-space positions (F, J, 3) and rotations (F, J, 4) as a world-space Motion.

    `world` is (4, 4), or (F, 4, 4) where the object moves. An uneven or mirroring scale has no rotation of its own: the
    nearest one that keeps each bone's direction stands for it.
    """
    world = np.asarray(world, float)
    frames = world if world.ndim == 3 else world[None]
    linear, offset = frames[:, None, :3, :3], frames[:, None, :3, 3]
    if all(is_similarity(m) for m in frames):
        size = np.cbrt(np.linalg.det(linear))[..., None]
        turn = rotation.continuous(rotation.from_matrix(linear / size[..., None]))
        return Motion(rotation.rotate(turn, positions) * size + offset, rotation.mul(turn, rotations))
    moved = np.matmul(linear, positions[..., None])[..., 0] + offset
    turned = rotation.from_matrix(rotation.orthonormal(np.matmul(linear, rotation.to_matrix(rotations))))
    return Motion(moved, rotation.continuous(turned))


def local_rest(skeleton):
    """Each bone's rest matrix (J, 4, 4) against its parent's."""
    parent_rest = np.where((skeleton.parents >= 0)[:, None, None], skeleton.rest[skeleton.parents], np.eye(4))
    return np.linalg.solve(parent_rest, skeleton.rest)


class Joints(NamedTuple):
    """What the rest of a skeleton says about each bone's place on its parent."""

    levers: np.ndarray  # (J, 3) head on the parent, in the parent's axes
    offsets: np.ndarray  # (J, 4) rest orientation against the parent's
    rests: np.ndarray  # (J, 4) rest orientation in the armature


def joints_of(skeleton):
    """The Joints of a skeleton."""
    offset = local_rest(skeleton)
    return Joints(offset[:, :3, 3], rotation.from_matrix(offset[:, :3, :3]),
                  rotation.from_matrix(skeleton.rest[:, :3, :3]))


def channel_axes(skeleton, joints, j, parent_turn):
    """Axes that bone j's channels act in, under a parent turned by `parent_turn` (F, 4), None for no parent.

    Returns (axes of its rotation, axes of its location), (F, 4) or (4,). As in Blender: a bone that does not inherit
    rotation still has its location carried by the parent; one without local location moves along its parent's axes.
    """
    if parent_turn is None:
        return joints.rests[j], joints.rests[j] if skeleton.local_location[j] else rotation.IDENTITY
    carried = rotation.mul(parent_turn, joints.offsets[j])
    return (carried if skeleton.inherits_rotation[j] else joints.rests[j],
            carried if skeleton.local_location[j] else parent_turn)


def forward(skeleton, channels, world=None, placed=None):
    """Forward kinematics: Channels to a world-space Motion, as Blender's armatures evaluate without constraints.

    Scale moves the children along; the shear of uneven scale under a turned child is left out.
    `world` replaces the object's rest matrix, (4, 4) or (F, 4, 4). Continuous channels give a continuous motion.
    `placed` names the joints whose positions are wanted, all by default; the others' are not numbers.
    """
    frames, count = channels.rotation.shape[:2]
    joints = joints_of(skeleton)
    unscaled = bool(np.all(channels.scale == 1.0))
    wanted = range(count) if placed is None else set(branch(skeleton, placed)[1].tolist())
    positions, rotations = clip(frames, count, 3), clip(frames, count, 4)
    positions[:] = np.nan
    scales = None if unscaled else clip(frames, count, 3)
    own = rotation.mul(np.where(skeleton.inherits_rotation[:, None], joints.offsets, joints.rests), channels.rotation)
    for j, parent in enumerate(skeleton.parents):
        turned = rotations[:, parent] if parent >= 0 else rotation.IDENTITY
        rotations[:, j] = rotation.mul(turned, own[:, j]) if skeleton.inherits_rotation[j] else own[:, j]
        grown = 1.0 if unscaled or parent < 0 else scales[:, parent]
        if not unscaled:
            scales[:, j] = channels.scale[:, j] * grown
        if j not in wanted:
            continue
        head = joints.levers[j]
        if parent >= 0:
            head = positions[:, parent] + rotation.rotate(turned, head * grown)
        location = channels.location[:, j]
        if location.any() and not skeleton.connected[j]:
            _, axes = channel_axes(skeleton, joints, j, turned if parent >= 0 else None)
            head = head + rotation.rotate(axes, location * grown)
        positions[:, j] = head
    return to_world(skeleton.world if world is None else world, positions, rotations)


def rest_motion(skeleton):
    """The rest pose of the file as a Motion of one frame."""
    joints = len(skeleton.names)
    return forward(skeleton, identity_channels(joints))


def identity_channels(joints, frames=1):
    """Channels in which every bone stands in its rest."""
    return Channels(np.zeros((frames, joints, 3)), np.tile(rotation.IDENTITY, (frames, joints, 1)),
                    np.ones((frames, joints, 3)))


def backward(skeleton, matrices):
    """Channels (F, J, ...) of evaluated armature-space bone matrices (F, J, 4, 4): the inverse of `forward`.

    Uneven scale is read as column lengths; shear is left out, as in `forward`.
    """
    scale = np.linalg.norm(matrices[..., :3, :3], axis=-2)
    turned = rotation.from_matrix(matrices[..., :3, :3] / np.where(scale > 0.0, scale, 1.0)[..., None, :])
    joints = joints_of(skeleton)
    location, local, own = np.zeros(turned.shape[:2] + (3,)), np.empty(turned.shape), scale.copy()
    for j, parent in enumerate(skeleton.parents):
        parent_turn = turned[:, parent] if parent >= 0 else None
        grown = scale[:, parent] if parent >= 0 else 1.0
        turn, axes = channel_axes(skeleton, joints, j, parent_turn)
        head = joints.levers[j]
        if parent >= 0:
            head = matrices[:, parent, :3, 3] + rotation.rotate(parent_turn, head * grown)
        local[:, j] = rotation.mul(rotation.conj(turn), turned[:, j])
        own[:, j] = scale[:, j] / grown
        if not skeleton.connected[j]:
            location[:, j] = rotation.rotate(rotation.conj(axes), matrices[:, j, :3, 3] - head) / grown
    return Channels(location, rotation.continuous(local), own)
