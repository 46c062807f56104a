"""Humanoid armatures and takes made for the tests, with proportions, names, bone axes and transforms to choose."""

import bpy
import numpy as np

from foothold.operators.bridge import compat, keys, read, roles
from foothold.solvers import rotation

_TRUNK = (("hips", None, (0, 0, 0.94)), ("spine", "hips", (0, 0, 0.1)), ("spine.1", "spine", (0, 0, 0.12)),
          ("chest", "spine.1", (0, 0, 0.13)), ("neck", "chest", (0, 0, 0.15)), ("head", "neck", (0, -0.01, 0.09)))
_SIDE = (("shoulder", "chest", (0.03, 0, 0.11)), ("upper_arm", "shoulder", (0.14, 0.01, 0)),
         ("forearm", "upper_arm", (0.28, 0, 0)), ("hand", "forearm", (0.24, 0, 0)), ("thigh", "hips", (0.09, 0, -0.05)),
         ("shin", "thigh", (0, 0, -0.4)), ("foot", "shin", (0, 0, -0.4)), ("toe", "foot", (0, -0.13, -0.06)))
_ARM, _LEG = ("forearm", "hand"), ("shin", "foot")


def new_file():
    """An empty file at 60 frames a second; returns its scene."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.render.fps = 60
    return bpy.context.scene


def humanoid(name, arm=1.0, leg=1.0, seed=None, prefix="", root=False, mesh=False):
    """A T-pose humanoid that faces -Y and stands on the floor, its roles stored; bones are `prefix` + role.

    With a seed the bones point and roll at random. With `root` a bone at the origin carries the hips.
    """
    rows = [(r, p, np.array(o, float)) for r, p, o in _TRUNK]
    rows[0][2][2] -= 0.8 * (1.0 - leg)
    for side, mirror in (("L", 1.0), ("R", -1.0)):
        for role, above, offset in _SIDE:
            size = arm if role in _ARM else leg if role in _LEG else 1.0
            rows.append((f"{role}.{side}", above if above in ("chest", "hips") else f"{above}.{side}",
                         np.array(offset) * size * (mirror, 1.0, 1.0)))
    if root:
        rows = [("root", None, np.zeros(3)), ("hips", "root", rows[0][2]), *rows[1:]]
    data = bpy.data.armatures.new(name)
    armature = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    rng, made = np.random.default_rng(seed), {}
    for role, above, offset in rows:
        bone = made[role] = data.edit_bones.new(prefix + role)
        bone.head = (np.array(made[above].head) if above else 0.0) + offset
        bone.tail = np.array(bone.head) + ((0.0, 0.0, 0.08) if seed is None else rng.normal(size=3) * 0.05)
        bone.roll = 0.0 if seed is None else rng.uniform(-3, 3)
        bone.parent = made[above] if above else None
    bpy.ops.object.mode_set(mode="OBJECT")
    roles.store(armature, {role: prefix + role for role, _, _ in rows})
    if mesh:
        _skin(armature)
    bpy.context.view_layer.update()
    return armature


def _skin(armature):
    """A small box around each bone's head, following it."""
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float) * 0.03
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    vertices, polygons = [], []
    for bone in armature.data.bones:
        polygons += [tuple(i + len(vertices) for i in face) for face in faces]
        vertices += [tuple(np.array(bone.head_local) + c) for c in corners]
    data = bpy.data.meshes.new(f"{armature.name} skin")
    data.from_pydata(vertices, [], polygons)
    skin = bpy.data.objects.new(f"{armature.name} skin", data)
    bpy.context.scene.collection.objects.link(skin)
    skin.parent = armature
    skin.modifiers.new("Armature", "ARMATURE").object = armature
    for i, bone in enumerate(armature.data.bones):
        skin.vertex_groups.new(name=bone.name).add(range(8 * i, 8 * i + 8), 1.0, "REPLACE")


def dance(armature, frames=60, seed=1, amount=0.3, name="Dance"):
    """Let an armature play smooth random rotations on every bone and a way on the hips; returns the action."""
    rng, time = np.random.default_rng(seed), np.linspace(0.0, 6.0, frames)[:, None]
    channels = []
    hips = roles.load(armature)["hips"]
    for bone in armature.pose.bones:
        wave = sum(rng.normal(size=3) * amount / k * np.sin(k * time + rng.uniform(0, 6, 3)) for k in (1, 2, 3))
        path = f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"].'
        turn = rotation.continuous(rotation.exp(wave))
        channels.append(keys.KeyChannel(path + read.rotation_path(bone), bone.name,
                                        read.to_stored(turn, bone.rotation_mode)))
        if bone.name == hips:
            channels.append(keys.KeyChannel(path + "location", bone.name, 0.2 * np.sin(time * (0.4, 0.9, 0.7))))
    action = bpy.data.actions.new(name)
    keys.write_keys(armature, action, np.arange(1.0, frames + 1.0), channels, record=False)
    compat.assign(armature, action)
    bpy.context.view_layer.update()
    return action
