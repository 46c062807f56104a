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
    lengths: np.ndarray  # (J,) bone lengths, armature space
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
    moved = np.matmul(linear, positions[..., None])[..., 0] + offset
    if all(is_similarity(m) for m in frames):
        turn = rotation.from_matrix(linear / np.cbrt(np.linalg.det(linear))[..., None, None])
        turned = rotation.mul(turn, rotations)
    else:
        turned = rotation.from_matrix(rotation.orthonormal(np.matmul(linear, rotation.to_matrix(rotations))))
    return Motion(moved, rotation.continuous(turned))


def local_rest(skeleton):
    """Each bone's rest matrix (J, 4, 4) against its parent's."""
    parent_rest = np.where((skeleton.parents >= 0)[:, None, None], skeleton.rest[skeleton.parents], np.eye(4))
    return np.linalg.solve(parent_rest, skeleton.rest)


def forward(skeleton, channels, world=None):
    """Forward kinematics: Channels to a world-space Motion, as Blender's armatures evaluate without constraints.

    Scale moves the children along; the shear of uneven scale under a turned child is left out.
    `world` replaces the object's rest matrix, (4, 4) or (F, 4, 4).
    """
    frames, joints = channels.rotation.shape[:2]
    offset = local_rest(skeleton)
    offset_turn, rest_turn = rotation.from_matrix(offset[:, :3, :3]), rotation.from_matrix(skeleton.rest[:, :3, :3])
    unscaled = bool(np.all(channels.scale == 1.0))
    positions, rotations = np.empty((frames, joints, 3)), np.empty((frames, joints, 4))
    scales = None if unscaled else np.empty((frames, joints, 3))
    for j, parent in enumerate(skeleton.parents):
        if parent < 0:
            axes, head = rest_turn[j], offset[j, :3, 3]
            turn = axes
        else:
            lever = offset[j, :3, 3] if unscaled else offset[j, :3, 3] * scales[:, parent]
            head = positions[:, parent] + rotation.rotate(rotations[:, parent], lever)
            axes = rotation.mul(rotations[:, parent], offset_turn[j])
            turn = axes if skeleton.inherits_rotation[j] else rest_turn[j]
        location = channels.location[:, j]
        if skeleton.connected[j]:
            positions[:, j] = head
        elif location.any():
            if parent >= 0 and not unscaled:
                location = location * scales[:, parent]
            if not skeleton.local_location[j]:
                # armature axes, as the parent has turned them
                axes = rotation.mul(axes, rotation.conj(rest_turn[j]))
            positions[:, j] = head + rotation.rotate(axes, location)
        else:
            positions[:, j] = head
        rotations[:, j] = rotation.mul(turn, channels.rotation[:, j])
        if not unscaled:
            scales[:, j] = channels.scale[:, j] * (scales[:, parent] if parent >= 0 else 1.0)
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
    offset = local_rest(skeleton)
    offset_turn, rest_turn = rotation.from_matrix(offset[:, :3, :3]), rotation.from_matrix(skeleton.rest[:, :3, :3])
    location, local, own = np.zeros(turned.shape[:2] + (3,)), np.empty(turned.shape), scale.copy()
    for j, parent in enumerate(skeleton.parents):
        if parent < 0:
            axes, head, grown = rest_turn[j], offset[j, :3, 3], 1.0
            base = axes
        else:
            grown = scale[:, parent]
            head = matrices[:, parent, :3, 3] + rotation.rotate(turned[:, parent], offset[j, :3, 3] * grown)
            axes = rotation.mul(turned[:, parent], offset_turn[j])
            base = axes if skeleton.inherits_rotation[j] else rest_turn[j]
            own[:, j] = scale[:, j] / grown
        if not skeleton.local_location[j]:
            axes = rotation.mul(axes, rotation.conj(rest_turn[j]))
        local[:, j] = rotation.mul(rotation.conj(base), turned[:, j])
        if not skeleton.connected[j]:
            location[:, j] = rotation.rotate(rotation.conj(axes), matrices[:, j, :3, 3] - head) / grown
    return Channels(location, rotation.continuous(local), own)
