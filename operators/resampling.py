"""Resampling a take's action to another frame rate."""

import bpy
import numpy as np

from ..solvers import resample
from ..solvers.errors import FootholdError
from .bridge import compat, evaluate, keys, read, samples


def resample_take(armature, action, fps, target_fps):
    """Give the armature a new action with the same motion at `target_fps`; the old action stays as it is.

    The first frame stays where it is; rotations are interpolated as rotations. Returns the new action.
    """
    reason = evaluate.reason(armature)
    if reason is not None:
        raise FootholdError(f"'{armature.name}' cannot be resampled, because {reason}: bake its action first.")
    skeleton = read.read_skeleton(armature)
    first, last = read.frame_span(action)
    frames = np.arange(first, last + 1, dtype=float)
    channels = samples.from_curves(armature, skeleton, action, frames).channels()
    times = resample.sample_times(len(frames), fps, target_fps)
    if len(times) < 2 <= len(frames):
        raise FootholdError(f"At {target_fps:g} frames a second only one frame is left of '{action.name}', which lasts "
                            f"{(len(frames) - 1) / fps:.2f} seconds: choose a higher rate.")
    moved = resample.resample(channels, times)
    keyed = read.keyed_paths(action, armature)
    out = []
    for j, name in enumerate(skeleton.names):
        bone = armature.pose.bones[name]
        prefix = f'pose.bones["{bpy.utils.escape_identifier(name)}"].'
        for path, values in (("location", moved.location[:, j]), ("scale", moved.scale[:, j]),
                             (read.rotation_path(bone), read.to_stored(moved.rotation[:, j], bone.rotation_mode))):
            if prefix + path in keyed:
                out.append(keys.KeyChannel(prefix + path, name, values))
    out += _object_channels(armature, action, frames, times, keyed)
    fresh = bpy.data.actions.new(f"{action.name} {target_fps:g} fps"[:63])
    fresh["foothold_fps"] = float(target_fps)
    keys.write_keys(armature, fresh, first + np.arange(len(times), dtype=float), out, record=False)
    compat.assign(armature, fresh)
    return fresh


def _object_channels(armature, action, frames, times, keyed):
    """The object's own keys, resampled."""
    paths = [p for p in ("location", "scale", read.rotation_path(armature)) if p in keyed]
    out = []
    for path in paths:
        values = np.repeat(np.array(getattr(armature, path))[None], len(frames), axis=0)
        for curve in compat.fcurves(action, armature):
            if curve.data_path == path:
                values[:, curve.array_index] = read.sample_curve(curve, frames)
        turning = path == read.rotation_path(armature)
        turn = read.to_quaternions(values, armature.rotation_mode) if turning else np.tile(
            resample.rotation.IDENTITY, (len(frames), 1))
        place = np.zeros_like(values[:, :3]) if turning else values
        moved = resample.resample(resample.Channels(place[:, None], turn[:, None], place[:, None]), times)
        out.append(keys.KeyChannel(path, "Object Transforms", read.to_stored(
            moved.rotation[:, 0], armature.rotation_mode) if turning else moved.location[:, 0]))
    return out
