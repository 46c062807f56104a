"""Imported actions made plain: whole frames from 1 on, one active action, no pose beside it."""

import bpy
import numpy as np

FPS_KEY = "foothold_fps"
_LINEAR = bpy.types.Keyframe.bl_rna.properties["interpolation"].enum_items["LINEAR"].value
_IDENTITY = {"location": (0.0, 0.0, 0.0), "scale": (1.0, 1.0, 1.0), "rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
             "rotation_euler": (0.0, 0.0, 0.0), "rotation_axis_angle": (0.0, 0.0, 1.0, 0.0)}


def channelbags(action):
    """All channelbags of an action, whichever slot they belong to."""
    return [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]


def curves(action):
    """All F-curves of an action."""
    return [curve for bag in channelbags(action) for curve in bag.fcurves]


def span(action):
    """First and last keyed frame, or None without keys."""
    ends = [(c.keyframe_points[0].co[0], c.keyframe_points[-1].co[0]) for c in curves(action) if c.keyframe_points]
    return (min(e[0] for e in ends), max(e[1] for e in ends)) if ends else None


def set_keys(curve, frames, values, interpolation=None):
    """Replace a curve's keys by keys at `frames` with `values`, linear unless told (N,) otherwise."""
    points = curve.keyframe_points
    if len(points) != len(frames):
        points.clear()
        points.add(len(frames))
    points.foreach_set("co", np.column_stack([frames, values]).astype(np.float32).ravel())
    kinds = np.full(len(frames), _LINEAR, np.int32) if interpolation is None else np.ascontiguousarray(interpolation)
    points.foreach_set("interpolation", kinds)
    curve.update()


def retime(action, factor, tolerance):
    """Put the first key of an action on frame 1 and stretch the rest by `factor`.

    Keys nearer than `tolerance` to a whole frame are set onto it; of keys that fall together the last one stays.
    """
    first = span(action)
    for curve in curves(action) if first else ():
        points = curve.keyframe_points
        count = len(points)
        data = {name: np.empty(2 * count, np.float32) for name in ("co", "handle_left", "handle_right")}
        for name, values in data.items():
            points.foreach_get(name, values)
            values[0::2] = (values[0::2].astype(float) - first[0]) * factor + 1.0
        frames = data["co"][0::2].astype(float)
        whole = np.round(frames)
        frames = np.where(np.abs(frames - whole) <= tolerance, whole, frames)
        last = np.append(np.diff(frames) > 1e-6, True)
        if last.all():
            data["co"][0::2] = frames
            for name, values in data.items():
                points.foreach_set(name, values)
            curve.update()
        else:
            kinds = np.empty(count, np.int32)
            points.foreach_get("interpolation", kinds)
            set_keys(curve, frames[last], data["co"][1::2][last], kinds[last])


def scale_object(obj, factor, actions):
    """Scale a top object about the world's origin: its own transform, and its keys in the given actions."""
    obj.location = [v * factor for v in obj.location]
    obj.scale = [v * factor for v in obj.scale]
    for action in actions:
        slot = slot_for(action, obj)
        for bag in channelbags(action):
            if slot is None or bag.slot_handle != slot.handle:
                continue
            for curve in bag.fcurves:
                if curve.data_path in ("location", "scale"):
                    co = np.empty(2 * len(curve.keyframe_points), np.float32)
                    for name in ("co", "handle_left", "handle_right"):
                        curve.keyframe_points.foreach_get(name, co)
                        co[1::2] *= factor
                        curve.keyframe_points.foreach_set(name, co)
                    curve.update()


def slot_for(action, obj):
    """The slot of an action that was made for an object, or None."""
    data = obj.animation_data
    if data and data.action == action and data.action_slot:
        return data.action_slot
    slots = [s for s in action.slots if s.target_id_type in ("OBJECT", "UNSPECIFIED")]
    for track in data.nla_tracks if data else ():
        for strip in track.strips:
            if strip.action == action and getattr(strip, "action_slot", None):
                return strip.action_slot
    named = [s for s in slots if s.name_display == obj.name]
    if named:
        return named[0]
    if obj.type == "ARMATURE":
        bones = {b.name for b in obj.data.bones}
        for slot in slots:
            paths = [c.data_path for b in channelbags(action) if b.slot_handle == slot.handle for c in b.fcurves]
            posed = [path.split('"')[1] for path in paths if path.startswith('pose.bones["')]
            if posed and sum(name in bones for name in posed) > 0.5 * len(posed):
                return slot
    return None


def settle(objects, actions):
    """Let one action play on each object: the first of `actions` that is made for it.

    The others are kept by a fake user. The importer's NLA tracks go: the pose is that of the one active action.
    """
    for obj in objects:
        for owner in (obj, getattr(obj.data, "shape_keys", None) if obj.data else None):
            data = owner.animation_data if owner else None
            if data is None:
                continue
            if owner is obj:
                slots = [(a, slot_for(a, obj)) for a in actions]
                fitting = [(a, s) for a, s in slots if s is not None]
            for track in list(data.nla_tracks):
                data.nla_tracks.remove(track)
            if owner is obj and fitting:
                data.action, data.action_slot = fitting[0][0], fitting[0][1]
    for action in actions:
        if not action.users:
            action.use_fake_user = True


def settle_pose(armature, actions):
    """Leave no pose on the bones beside the actions.

    A channel that the importer posed and no action keys becomes one key at frame 1 of every action of the armature (the
    file means it for all of them); then every bone is put to rest and the active action poses it.
    """
    slots = [(a, slot_for(a, armature)) for a in actions]
    bags = [bag for a, s in slots if s for bag in channelbags(a) if bag.slot_handle == s.handle]
    keyed = {curve.data_path for bag in bags for curve in bag.fcurves}
    for bone in armature.pose.bones:
        for name, identity in _IDENTITY.items():
            value = tuple(getattr(bone, name))
            path = bone.path_from_id(name)
            posed = not np.allclose(value, identity, atol=1e-5)
            if posed and path not in keyed and _is_used(bone, name):
                for bag in bags:
                    for i, number in enumerate(value):
                        set_keys(bag.fcurves.new(path, index=i), [1.0], [number])
            setattr(bone, name, identity)


def _is_used(bone, name):
    mode = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
    return not name.startswith("rotation") or name == mode.get(bone.rotation_mode, "rotation_euler")
