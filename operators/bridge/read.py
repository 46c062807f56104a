"""Reading armatures and actions as plain arrays."""

import re

import bpy
import numpy as np

from ...solvers import rotation
from ...solvers.errors import FootholdError
from ...solvers.skeleton import Channels, Skeleton, backward, clip
from . import compat

_POSE_PATH = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]\.(\w+)$')
_ROTATIONS = {"rotation_quaternion": 4, "rotation_euler": 3, "rotation_axis_angle": 4}
_BEYOND = 1e30  # Blender turns an infinite key into its largest number when one is set by hand
_UNIT = 1e-5  # scale keys this near to one are one: exporters write 0.9999999


def _is_sound(matrix):
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
    if fallback is not None and not _is_sound(world):
        world = fallback.world
    if not _is_sound(world):
        raise FootholdError(f"Armature '{armature.name}' has a scale of zero, or a transform that is not a "
                            "number: give it a size.")
    rests = np.array([b.matrix_local for b in ordered], float).reshape(-1, 4, 4)
    for j, name in enumerate(index):
        if not _is_sound(rests[j]):
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


def to_stored(quaternions, mode):
    """The inverse of `to_quaternions` (F, 4), continuous in time."""
    if mode == "QUATERNION":
        return quaternions
    if mode == "AXIS_ANGLE":
        length = np.linalg.norm(quaternions[:, 1:], axis=-1, keepdims=True)
        still = length[:, 0] < 1e-9
        axis = np.where(still[:, None], [0.0, 1.0, 0.0], quaternions[:, 1:] / np.where(length > 0.0, length, 1.0))
        if not still.all():  # a bone at rest has no axis: it borrows the one it had, or will have
            known = np.flatnonzero(~still)
            nearest = known[np.maximum(np.searchsorted(known, np.arange(len(axis)), side="right") - 1, 0)]
            axis = rotation.continuous(axis[nearest])
        along = np.sum(axis * quaternions[:, 1:], axis=-1)
        angle = np.unwrap(2.0 * np.arctan2(along, quaternions[:, 0]), period=4.0 * np.pi)
        return np.concatenate([angle[:, None], axis], axis=-1)
    return rotation.continuous_euler(rotation.to_euler(quaternions, mode), mode)


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
    scale[np.abs(scale - 1.0) < _UNIT] = 1.0
    return Channels(location, turn, scale)


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


def _bad_key(curve):
    """Frame of the first key whose value is not a number, or None."""
    return next((key.co.x for key in curve.keyframe_points if not abs(key.co.y) < _BEYOND), None)


def frame_span(action):
    """First and last whole frame of an action's keys."""
    first, last = action.frame_range
    if not (np.isfinite(first) and np.isfinite(last)):
        raise FootholdError(f"Action '{action.name}' has keys at frames that are not numbers: delete them.")
    return int(np.ceil(first - 1e-4)), int(np.floor(last + 1e-4))


def read_channels(armature, skeleton, action, frames, held=None):
    """Channels (F, J, ...) of an action's F-curves at `frames` (F,).

    What it does not key keeps the pose `held`, Channels of one frame; None for the pose that the bones hold now.

    Raises FootholdError for keys that are not finite, naming bone and frame.
    """
    held = read_held(armature, skeleton) if held is None else held
    count = len(frames)
    index = {name: j for j, name in enumerate(skeleton.names)}
    keyed = {"location": {}, "scale": {}, "rotation": {}}
    for curve in compat.fcurves(action, armature):
        match = _POSE_PATH.match(curve.data_path)
        if curve.mute or not match:
            continue
        name = bpy.utils.unescape_identifier(match.group(1))
        j = index.get(name)
        if j is None:
            continue
        bone, channel = armature.pose.bones[name], match.group(2)
        if channel not in ("location", "scale") and channel != rotation_path(bone):
            continue
        values = sample_curve(curve, frames)
        sound = np.abs(values) < _BEYOND
        if not sound.all():
            frame = _bad_key(curve) or frames[np.argmin(sound)]
            raise FootholdError(f"Action '{action.name}': bone '{name}' has a {channel} that is not a number at frame "
                                f"{frame:g}: delete that key.")
        part = keyed.get(channel, keyed["rotation"])
        if j not in part:
            now = np.array(getattr(bone, channel), float) if part is keyed["rotation"] else _held_part(held, channel)[j]
            part[j] = rotation.planes(count, len(now))
            part[j][:] = now
        part[j][:, curve.array_index] = values
    for j, values in keyed["rotation"].items():
        mode = armature.pose.bones[skeleton.names[j]].rotation_mode
        keyed["rotation"][j] = rotation.continuous(to_quaternions(values, mode))
    for values in keyed["scale"].values():
        values[np.abs(values - 1.0) < _UNIT] = 1.0
    return Channels(*(_clip_of(part, values, count) for part, values in
                      zip(held, (keyed["location"], keyed["rotation"], keyed["scale"]))))


def _held_part(held, channel):
    """The (J, 3) locations or scales of Channels of one frame."""
    return (held.location if channel == "location" else held.scale)[0]


def _clip_of(held, keyed, count):
    """(count, J, C) values: the keyed ones of some joints, and the held pose (1, J, C) of the others."""
    if not keyed:
        return np.broadcast_to(held, (count,) + held.shape[1:])
    out = clip(count, *held.shape[1:])
    for j in range(held.shape[1]):
        out[:, j] = keyed.get(j, held[0, j])
    return out


def read_world(armature, action, frames):
    """The object's world matrices (F, 4, 4) from its own F-curves, or (4, 4) where it stands still."""
    curves = [c for c in compat.fcurves(action, armature) if not c.mute and c.data_path in
              ("location", "scale", rotation_path(armature))]
    world = world_matrix(armature)
    if not curves or not _is_sound(world):
        return world
    before = parent_matrix(armature)
    values = {path: np.repeat(np.array(getattr(armature, path))[None], len(frames), axis=0)
              for path in ("location", "scale", rotation_path(armature))}
    for curve in curves:
        values[curve.data_path][:, curve.array_index] = sample_curve(curve, frames)
    basis = np.tile(np.eye(4), (len(frames), 1, 1))
    turn = rotation.to_matrix(to_quaternions(values[rotation_path(armature)], armature.rotation_mode))
    basis[:, :3, :3] = turn * values["scale"][:, None, :]
    basis[:, :3, 3] = values["location"]
    if not np.isfinite(basis).all():
        raise FootholdError(f"Action '{action.name}': the keys of object '{armature.name}' are not all numbers.")
    found = before @ basis
    return found[0] if np.array_equal(found, np.broadcast_to(found[:1], found.shape)) else found


def evaluation_reason(armature):
    """Why F-curves alone do not tell this armature's pose, or None."""
    for bone in armature.pose.bones:
        if any(not c.mute and c.influence > 0.0 for c in bone.constraints):
            return f"bone '{bone.name}' has a constraint"
    if any(not c.mute and c.influence > 0.0 for c in armature.constraints):
        return "the armature has a constraint"
    data = armature.animation_data
    if data and any(not d.mute for d in data.drivers):
        return "it has drivers"
    if data and any(not track.mute and track.strips for track in data.nla_tracks):
        return "it plays NLA strips"
    parent = armature.parent
    while parent is not None:
        if parent.animation_data and (parent.animation_data.action or parent.animation_data.drivers):
            return f"its parent '{parent.name}' is animated"
        parent = parent.parent
    return None


def evaluate_steps(scene, armature, skeleton, frames, worlds, matrices):
    """Evaluate the armature as Blender shows it, frame by frame, into `worlds` (F, 4, 4) and `matrices` (F, J, 4, 4).

    A generator that yields the part done; the scene's frame is put back at the end, also when it is stopped.
    """
    before = scene.frame_current, scene.frame_subframe
    bones = [armature.pose.bones[name].name for name in skeleton.names]
    order = np.array([armature.pose.bones.find(name) for name in bones])
    flat = np.empty(16 * len(bones), np.float32)
    try:
        for i, frame in enumerate(frames):
            whole = int(np.floor(frame))
            scene.frame_set(whole, subframe=float(frame - whole))
            evaluated = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
            evaluated.pose.bones.foreach_get("matrix", flat)
            matrices[i] = flat.reshape(-1, 4, 4).swapaxes(-1, -2)[order]
            worlds[i] = evaluated.matrix_world
            if i % 50 == 0:
                yield i / len(frames)
    finally:
        scene.frame_set(before[0], subframe=before[1])


def from_evaluated(skeleton, worlds, matrices):
    """(Channels, world) of evaluated matrices; world is (4, 4) where the object stands still."""
    still = np.allclose(worlds, worlds[:1], rtol=0.0, atol=1e-7)
    return backward(skeleton, matrices), worlds[0] if still else worlds


def keyed_paths(action, owner):
    """Data paths that an action keys on its owner."""
    return {curve.data_path for curve in compat.fcurves(action, owner)}
