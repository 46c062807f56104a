"""Everything that differs between Blender's versions, and the shape of slotted actions.

An action has one layer with one strip (all that Blender 4.5 to 5.3 knows); each slot has a channelbag of F-curves.
"""

from contextlib import contextmanager

import bpy
import numpy as np

# numbers of Blender's enums, as `foreach_get` and `foreach_set` take them; the same in all these versions
CONSTANT, LINEAR, BEZIER = 0, 1, 2  # Keyframe.interpolation
GENERATED = 5  # Keyframe.type
FREE, AUTO, VECTOR, ALIGNED, AUTO_CLAMPED = range(5)  # Keyframe.handle_left_type, handle_right_type

_SELECTS_POSE_BONES = bpy.app.version >= (5, 0, 0)  # before, the selection was the Bone's
_GROUPS_IN_NEW = bpy.app.version >= (5, 0, 0)
_POSE = {"location": 3, "rotation_quaternion": 4, "rotation_euler": 3, "rotation_axis_angle": 4, "scale": 3}


# Actions

def slot_of(action, owner, ensure=False, share=True):
    """The slot of an action that animates `owner` (an ID), or None.

    In this order: the one it plays; the one named after it; the one it played last; the only one that suits, unless
    other data play it and `share` is off. `ensure` makes a new one where none is left, and does not share.
    """
    data = owner.animation_data
    if data is not None and data.action == action and data.action_slot is not None:
        return data.action_slot
    suits = [s for s in action.slots if s.target_id_type in (owner.id_type, "UNSPECIFIED")]
    names = [owner.id_type[:2] + owner.name, data.last_slot_identifier if data is not None else ""]
    for name in names:
        for slot in suits:
            if slot.identifier == name:
                return slot
    if ensure or not share:
        suits = [s for s in suits if not s.users()]
    if len(suits) == 1:
        return suits[0]
    return action.slots.new(id_type=owner.id_type, name=owner.name) if ensure else None


def channelbag(action, owner, ensure=False):
    """The channelbag of an action for `owner` (an ID); None where it has none and `ensure` is off."""
    slot = slot_of(action, owner, ensure)
    return None if slot is None else bag_of(action, slot, ensure)


def bag_of(action, slot, ensure=False):
    """The channelbag of a slot; None where it has none and `ensure` is off."""
    if not ensure and not (action.layers and action.layers[0].strips):
        return None
    layer = action.layers[0] if action.layers else action.layers.new("Layer")
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    return strip.channelbag(slot, ensure=ensure)


def bags(action):
    """All channelbags of an action."""
    return [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]


def fcurves(action, owner):
    """The F-curves of an action for `owner`; an empty tuple where there are none."""
    bag = channelbag(action, owner)
    return () if bag is None else bag.fcurves


def new_fcurve(bag, path, index, group=""):
    """A new F-curve in a channelbag, in the group of that name (made where missing; none for "")."""
    if not group:
        return bag.fcurves.new(path, index=index)
    if _GROUPS_IN_NEW:
        return bag.fcurves.new(path, index=index, group_name=group)
    curve = bag.fcurves.new(path, index=index)
    curve.group = bag.groups.get(group) or bag.groups.new(group)
    return curve


def assign(owner, action):
    """Let `owner` play an action by the slot that is meant for it; None takes its action away."""
    data = owner.animation_data or owner.animation_data_create()
    if action is None:
        data.action = None
        return
    slot = slot_of(action, owner, ensure=True)
    data.action = action
    _play_slot(owner, slot)


def replace_action(owner, action):
    """Let `owner` play another action; the one before stays in the file, also where nobody else holds it."""
    before = owner.animation_data.action if owner.animation_data is not None else None
    assign(owner, action)
    if before is not None and before != action and not before.users:
        before.use_fake_user = True  # without this it would be gone after a save


def _play_slot(owner, slot):
    """Set the slot that `owner` plays. Blender crashes on this for an armature that has not been evaluated yet."""
    if owner.animation_data.action_slot == slot:
        return
    if owner.id_type == "OBJECT" and owner.type == "ARMATURE" and owner.pose is None:
        bpy.context.view_layer.update()
    owner.animation_data.action_slot = slot


@contextmanager
def borrowed_action(armature, name):
    """Let an armature play an empty temporary action; its own one, its pose and its transform come back at the end."""
    data = armature.animation_data
    had_data = data is not None
    before = (data.action, data.action_slot, data.last_slot_identifier) if had_data else (None, None, "")
    pose = held_pose(armature)
    action = bpy.data.actions.new(name)
    try:
        assign(armature, action)
        yield action
    finally:
        data = armature.animation_data
        data.action = before[0]
        if before[0] is not None:
            _play_slot(armature, before[1])
        data.last_slot_identifier = before[2]
        if not had_data:
            armature.animation_data_clear()
        bpy.data.actions.remove(action)
        # the action that is back would overwrite what is put back now, so let it have its say before
        bpy.context.view_layer.update()
        put_pose(armature, pose)


def held_pose(armature):
    """Transforms that an armature object and its bones hold, to give to `put_pose`."""
    bones = {}
    for name, size in _POSE.items():
        bones[name] = np.empty(size * len(armature.pose.bones), np.float32)
        armature.pose.bones.foreach_get(name, bones[name])
    return {name: tuple(getattr(armature, name)) for name in _POSE}, bones


def put_pose(armature, pose):
    """Put back what `held_pose` gave."""
    own, bones = pose
    for name, values in own.items():
        if tuple(getattr(armature, name)) != values:
            setattr(armature, name, values)
    for name, values in bones.items():
        armature.pose.bones.foreach_set(name, values)
    armature.update_tag()


# Bones

def _holder(pose_bone):
    return pose_bone if _SELECTS_POSE_BONES else pose_bone.bone


def selected_pose_bones(armature):
    """The selected pose bones of an armature object, in its bones' order."""
    return [bone for bone in armature.pose.bones if _holder(bone).select]


def select_bone(armature, bone, state=True):
    """Select or deselect a bone, a name or a PoseBone, of an armature object."""
    _holder(armature.pose.bones[bone] if isinstance(bone, str) else bone).select = state


def active_bone(armature):
    """The name of the active bone of an armature object, or None."""
    active = armature.data.bones.active
    return None if active is None else active.name
