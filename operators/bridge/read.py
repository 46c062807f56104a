"""Reading armatures and actions as plain arrays."""

import numpy as np

from ...solvers import rotation
from ...solvers.errors import FootholdError
from ...solvers.skeleton import Channels, Skeleton
from . import compat

_UNIT = 1e-5  # scales this near to one are one: exporters write 0.9999999


def is_sound(matrix):
    """Whether a (4, 4) matrix holds numbers and has a size."""
    return bool(np.isfinite(matrix).all()) and abs(np.linalg.det(matrix[:3, :3])) > 1e-18


def world_matrix(thing):
    """The world matrix (4, 4) of an object from what it and its parents hold now.

    Needs no evaluation, which would copy a long action only to look at a transform; where constraints, or a parent that
    is no plain object, have a say, the matrix is the one last evaluated.
    """
    if thing.constraints or (thing.parent is not None and thing.parent_type != "OBJECT"):
        return np.array(thing.matrix_world)
    own = np.array(thing.matrix_basis)
    if thing.parent is None:
        return own
    return world_matrix(thing.parent) @ np.array(thing.matrix_parent_inverse) @ own


def parent_matrix(thing):
    """What an object's own transform is applied in, (4, 4): its parents as they stand now."""
    return world_matrix(thing) @ np.linalg.inv(np.array(thing.matrix_basis))


def read_skeleton(armature, fallback=None):
    """The Skeleton of an armature object, its world matrix as it stands now.

    A file that serves only as a rest may carry nonsense outside its keys: `fallback` is the Skeleton whose world matrix
    and equally named bones stand in for matrices that are not numbers or have no size.
    """
    bones = list(armature.data.bones)
    if not bones:
        raise FootholdError(f"Armature '{armature.name}' has no bones: choose another.")
    ordered = [b for b in bones if b.parent is None]
    for bone in ordered:
        ordered.extend(bone.children)
    index = {bone.name: i for i, bone in enumerate(ordered)}
    world = world_matrix(armature)
    if fallback is not None and not is_sound(world):
        world = fallback.world
    if not is_sound(world):
        raise FootholdError(f"Armature '{armature.name}' has a scale of zero, or a transform that is not a "
                            "number: give it a size.")
    rests = np.array([b.matrix_local for b in ordered], float).reshape(-1, 4, 4)
    for j, name in enumerate(index):
        if not is_sound(rests[j]):
            if fallback is None or name not in fallback.names:
                raise FootholdError(f"Armature '{armature.name}': the rest of bone '{name}' is not a number: mend the "
                                    "file.")
            rests[j] = fallback.rest[fallback.names.index(name)]
    return Skeleton(
        names=tuple(index),
        parents=np.array([index[b.parent.name] if b.parent else -1 for b in ordered]),
        rest=rests,
        inherits_rotation=np.array([b.use_inherit_rotation for b in ordered]),
        local_location=np.array([b.use_local_location for b in ordered]),
        connected=np.array([b.use_connect for b in ordered]),
        deforms=np.array([b.use_deform for b in ordered]),
        world=world,
    )


def rotation_path(owner):
    """The property that holds the rotation of a pose bone or object in its own rotation mode."""
    if owner.rotation_mode == "QUATERNION":
        return "rotation_quaternion"
    return "rotation_axis_angle" if owner.rotation_mode == "AXIS_ANGLE" else "rotation_euler"


def to_quaternions(values, mode):
    """Quaternions (F, 4) of stored rotation values (F, 3 or 4) in Blender's rotation mode."""
    if mode == "QUATERNION":
        length = rotation.norm(values)[..., None]
        return values / length if np.all(length > 0.0) else np.where(length > 0.0, rotation.normalize(values),
                                                                     rotation.IDENTITY)
    if mode == "AXIS_ANGLE":
        return rotation.exp(rotation.normalize(values[..., 1:]) * values[..., :1])
    return rotation.from_euler(values, mode)


def to_stored(quaternions, mode, before=None):
    """Rotation values (F, 3 or 4) in Blender's mode of sign-continuous quaternions (F, 4), continuous in time.

    `before` are the values of the frame before, (3,) or (4,), which they go on from.
    """
    if mode == "QUATERNION":
        return quaternions
    if mode == "AXIS_ANGLE":
        return _to_axis_angle(quaternions, before)
    angles = rotation.to_euler(quaternions, mode)
    if before is None:
        return rotation.continuous_euler(angles, mode)
    return rotation.continuous_euler(np.concatenate([before[None], angles]), mode)[1:]


def _to_axis_angle(quaternions, before):
    """Angles and axes (F, 4). A bone at rest has no axis: it borrows the one that it had, or will have."""
    length = rotation.norm(quaternions[:, 1:])
    known = np.flatnonzero(length >= 1e-9)
    axis = quaternions[known, 1:] / length[known, None]
    nearest = np.searchsorted(known, np.arange(len(quaternions)), side="right")  # 0: none yet
    first = before[None, 1:] if before is not None else axis[:1] if len(known) else np.array([[0.0, 1.0, 0.0]])
    axis = rotation.continuous(np.concatenate([first, axis]))[nearest]
    angle = 2.0 * np.arctan2(rotation.dot(axis, quaternions[:, 1:]), quaternions[:, 0])
    angle = rotation.unwrapped(angle, None if before is None else before[0], 4.0 * np.pi)
    return np.concatenate([angle[:, None], axis], axis=-1)


def read_held(armature, skeleton):
    """The pose that the bones hold now (`matrix_basis` without constraints), Channels of one frame."""
    joints = len(skeleton.names)
    location, turn, scale = np.zeros((1, joints, 3)), np.empty((1, joints, 4)), np.ones((1, joints, 3))
    for j, name in enumerate(skeleton.names):
        bone = armature.pose.bones[name]
        location[0, j] = bone.location
        stored = np.array(getattr(bone, rotation_path(bone)))[None]
        turn[0, j] = to_quaternions(stored, bone.rotation_mode)[0]
        scale[0, j] = bone.scale
    even_out(scale)
    return Channels(location, turn, scale)


def even_out(scale):
    """Make scales of one exactly one, in place."""
    scale[np.abs(scale - 1.0) < _UNIT] = 1.0


def sample_curve(curve, frames):
    """Values (F,) of an F-curve at `frames` (F,)."""
    keys = curve.keyframe_points
    co = np.empty(2 * len(keys), np.float32)
    keys.foreach_get("co", co)
    at, values = co[0::2], co[1::2]
    plain = not any(not m.mute for m in curve.modifiers)
    if plain and np.array_equal(at, frames):
        return values  # keys on all frames, as captures have them
    if plain and len(at):
        place = np.minimum(np.searchsorted(at, frames), len(at) - 1)
        if np.array_equal(at[place], frames):
            return values[place]
        kinds = np.empty(len(keys), np.int32)
        keys.foreach_get("interpolation", kinds)
        inside = frames[0] >= at[0] and frames[-1] <= at[-1]
        if np.all(kinds == compat.LINEAR) and (inside or curve.extrapolation == "CONSTANT"):
            return np.interp(frames, at, values)
    return np.array([curve.evaluate(frame) for frame in frames])


def frame_span(action):
    """First and last whole frame of an action's keys."""
    first, last = action.frame_range
    if not (np.isfinite(first) and np.isfinite(last)):
        raise FootholdError(f"Action '{action.name}' has keys at frames that are not numbers: delete them.")
    return int(np.ceil(first - 1e-4)), int(np.floor(last + 1e-4))


def keyed_paths(action, owner):
    """Data paths that an action keys on its owner."""
    return {curve.data_path for curve in compat.fcurves(action, owner)}
