"""Files in: takes and bodies through Blender's own importers, in metres, upright and frame for frame.

Rules. File frame i lies on Blender frame i + 1; every action tells its rate in `foothold_fps`. glTF and FBX clips count
from their first key. A .blend keeps its own frames. Of several clips the longest plays, the others are kept beside it.
BVH says neither unit nor up axis: see `units.guess` and `bvh.up_axis`. FBX and glTF state their unit and are corrected
only where the body would be under 0.25 m or over 8 m tall. FBX goes through `wm.fbx_import`: against the older
`import_scene.fbx` it makes the same rest, keys every key time of the file on all axes, and one action a take.
"""

import json
import os
import tempfile
from typing import NamedTuple

import bpy
import numpy as np

from ...solvers import rotation
from ...solvers.errors import FootholdError
from . import bvh, clips, fbx, gltf, rates, staging, units
from .exporting import EXPORTS, check_target, export_file, save_blend

__all__ = ["EXPORTS", "IMPORTS", "Imported", "check_target", "export_file", "import_file", "inspect_header", "remove",
           "save_blend"]

IMPORTS = (".bvh", ".fbx", ".glb", ".gltf", ".vrm", ".blend")
HINTS_KEY = "foothold_hints"
# Frames that a key may be off a whole frame and still be set onto it: in a file on the grid, and in one that is not
_WHOLE, _STRICT = 0.06, 0.004


class Imported(NamedTuple):
    """What a file brought."""

    kind: str  # "bvh", "fbx", "gltf", "vrm" or "blend"
    path: str
    armatures: list  # armature objects, the one with the most bones first
    actions: list  # actions of the armatures, the longest first; it plays
    fps: float
    frames: int  # of the first action; 0 without one
    hints: dict  # role -> bone as the file's own humanoid says
    objects: list  # all objects, linked to the scene
    blocks: list  # session ids of all data-blocks that came


def import_file(path, fps_hint=None):
    """Import a file into the active collection; returns Imported.

    `fps_hint` replaces the file's rate. The scene's rate, range, frame, selection and mode stay. Raises FootholdError,
    naming the file, where it cannot be used; nothing of it is left then.
    """
    path = _checked(path)
    kind = os.path.splitext(path)[1].lower()
    reader = {".bvh": _read_bvh, ".fbx": _read_fbx, ".glb": _read_gltf, ".gltf": _read_gltf, ".vrm": _read_gltf,
              ".blend": _read_blend}[kind]
    with staging.all_or_nothing() as before:
        return reader(path, fps_hint, before)


def remove(imported):
    """Delete every data-block that an import brought and that is still there."""
    ids = set(imported.blocks)
    found = {b.session_uid: b for _, blocks in staging.collections() for b in blocks if b.session_uid in ids}
    staging.discard(list(found.values()))


def inspect_header(path):
    """Cheap facts of a file without importing it: kind, fps, frames, and clips, unit, up or roles where known."""
    path = _checked(path)
    kind = os.path.splitext(path)[1].lower()
    if kind == ".bvh":
        take = bvh.read(path)
        return {"kind": "bvh", "fps": take.fps, "frames": len(take.values), "unit": take.unit, "up": take.up}
    if kind == ".fbx":
        head = fbx.header(path)
        frames = int(round(np.ptp(head.times) * head.fps)) + 1 if len(head.times) else 0
        return {"kind": "fbx", "fps": head.fps, "frames": frames, "clips": list(head.stacks)}
    if kind == ".blend":
        return {"kind": "blend"}
    document = gltf.read(path)
    found = gltf.clips(document)
    rate = gltf.fps(document)
    frames = max((int(round(np.ptp(t) * rate)) + 1 for _, t in found if len(t)), default=0)
    return {"kind": "vrm" if gltf.humanoid(document) else "gltf", "fps": rate, "frames": frames,
            "clips": [name for name, _ in found], "roles": sorted(gltf.humanoid(document))}


def _checked(path):
    path = os.path.abspath(os.fspath(path))
    if os.path.isdir(path):
        raise FootholdError(f"{path}: this is a folder; choose a file ({', '.join(IMPORTS)})")
    if not os.path.exists(path):
        raise FootholdError(f"{path}: there is no such file")
    if os.path.splitext(path)[1].lower() not in IMPORTS:
        raise FootholdError(f"{path}: this kind of file cannot be read; choose one of {', '.join(IMPORTS)}")
    try:
        with open(path, "rb") as file:
            if not file.read(1):
                raise FootholdError(f"{path}: the file is empty; export it again")
    except OSError as error:
        raise FootholdError(f"{path}: the file cannot be opened ({error.strerror}); check its permissions") from error
    return path


def _read_bvh(path, fps_hint, before):
    take = bvh.read(path, fps_hint)
    frames = len(take.values)
    with tempfile.TemporaryDirectory() as folder, staging.stage(30) as scene:
        skeleton = os.path.join(folder, os.path.basename(path))
        joints = _write_skeleton(take, skeleton)
        forward, up = ("-Z", "Y") if take.up == "Y" else ("Y", "Z")
        staging.run(path, bpy.ops.import_anim.bvh, filepath=skeleton, global_scale=take.unit, frame_start=1,
                    rotate_mode="QUATERNION", axis_forward=forward, axis_up=up)
        objects = list(scene.objects)
    _link(objects)
    armature = objects[0]
    action = armature.animation_data.action
    _key_bvh(take, armature, action, joints)
    for temporary, j in joints.items():
        bone = armature.data.bones[temporary]
        bone.name = take.names[j]  # the curves follow; their groups do not
        for bag in clips.channelbags(action):
            if temporary in bag.groups:
                bag.groups[temporary].name = bone.name
    return _finish("bvh", path, objects, [action], take.fps, 1.0, _STRICT, before, frames=frames)


def _write_skeleton(take, path):
    """The take's skeleton as a BVH of one frame; returns the temporary joint names -> joint.

    Joints get plain names of their own (names may be long, double or in any script), and whole sets of channels.
    """
    lines, joints, open_joints = ["HIERARCHY"], {}, []
    numbers = 0
    for j, name in enumerate(take.names):
        while open_joints and open_joints[-1] != take.parents[j]:
            open_joints.pop()
            lines.append("}")
        if name is None:
            lines += ["End Site", "{", _offset(take, j), "}"]
            continue
        temporary = f"J{j:05d}"
        joints[temporary] = j
        lines += [f"{'JOINT' if take.parents[j] >= 0 else 'ROOT'} {temporary}", "{", _offset(take, j)]
        open_joints.append(j)
        kinds = {c[1:] for c in take.channels[j]}
        channels = [a + "position" for a in "XYZ" if "position" in kinds]
        channels += [a + "rotation" for a in "ZXY" if "rotation" in kinds]
        lines.append(f"CHANNELS {len(channels)} {' '.join(channels)}")
        numbers += len(channels)
    lines += ["}"] * len(open_joints) + ["MOTION", "Frames: 1", "Frame Time: 0.1", " ".join(["0"] * numbers)]
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")
    return joints


def _offset(take, j):
    return "OFFSET " + " ".join(repr(float(v)) for v in take.offsets[j])


def _key_bvh(take, armature, action, joints):
    """Write the take's keys onto the curves that the importer made, in each bone's own axes."""
    positions, rotations = bvh.local(take)
    to_blender = rotation.IDENTITY if take.up == "Z" else rotation.exp(np.array([np.pi / 2.0, 0.0, 0.0]))
    frames = np.arange(1.0, len(take.values) + 1.0)
    by_path = {(c.data_path, c.array_index): c for c in clips.curves(action)}
    for name, j in joints.items():
        rest = rotation.from_matrix(np.array(armature.data.bones[name].matrix_local, float)[:3, :3])
        axes = rotation.mul(rotation.conj(to_blender), rest)  # the bone's axes in the file's
        kinds = {c[1:] for c in take.channels[j]}
        path = f'pose.bones["{name}"]'
        if "position" in kinds:
            travel = rotation.rotate(rotation.conj(axes), (positions[:, j] - take.offsets[j]) * take.unit)
            for i in range(3):
                clips.set_keys(by_path[path + ".location", i], frames, travel[:, i])
        if "rotation" in kinds:
            turn = rotation.mul(rotation.mul(rotation.conj(axes), rotations[:, j]), axes)
            turn = rotation.continuous(turn)
            for i in range(4):
                clips.set_keys(by_path[path + ".rotation_quaternion", i], frames, turn[:, i])


def _read_fbx(path, fps_hint, before):
    head = fbx.header(path)
    fps = fps_hint or head.fps
    on_grid = len(head.times) < 2 or rates.fits(head.times, head.fps, _WHOLE)
    whole = int(min(max(round(head.fps), 1), 32767))
    with staging.stage(whole) as scene:
        staging.run(path, bpy.ops.wm.fbx_import, filepath=path, use_anim=True, anim_offset=1.0)
        bpy.context.view_layer.update()
        factor = _unit_factor(scene.objects)
        objects = list(scene.objects)
    _link(objects)
    actions = [b for b in staging.new_blocks(before) if isinstance(b, bpy.types.Action)]
    if factor != 1.0:
        for obj in objects:
            if obj.parent is None:
                clips.scale_object(obj, factor, actions)
    return _finish("fbx", path, objects, actions, fps, head.fps / whole, _WHOLE if on_grid else _STRICT, before)


def _read_gltf(path, fps_hint, before):
    document = gltf.read(path)
    gltf.check_buffers(document)
    if not document.json.get("skins"):
        raise FootholdError(f"{path}: there is no armature in this file; choose one that has a skeleton")
    rate = gltf.fps(document)
    on_grid = all(rates.fits(times, rate, _WHOLE) for _, times in gltf.clips(document) if len(times) > 1)
    whole = int(min(max(round(rate), 1), 32767))
    embedded = not any(row.get("uri", "data:")[:5] != "data:" for key in ("buffers", "images")
                       for row in document.json.get(key, ()))
    if not embedded and gltf.needs_mending(document):
        raise FootholdError(f"{path}: a node has a scale of zero or a transform that is not a number; "
                            "export it again as .glb, or with a sound rest")
    with tempfile.TemporaryDirectory() as folder, staging.stage(whole) as scene:
        source = path
        if embedded:
            source = os.path.join(folder, os.path.splitext(os.path.basename(path))[0] + ".glb")
            gltf.write_glb(gltf.importable(document)[0], source)
        staging.run(path, bpy.ops.import_scene.gltf, filepath=source, disable_bone_shape=True,
                    import_scene_as_collection=False, import_pack_images=True)
        bpy.context.view_layer.update()
        factor = _unit_factor(scene.objects)
        objects = list(scene.objects)
    _link(objects)
    actions = [b for b in staging.new_blocks(before) if isinstance(b, bpy.types.Action)]
    hints = _take_hints(gltf.humanoid(document), objects, before)
    if factor != 1.0:
        for obj in objects:
            if obj.parent is None:
                clips.scale_object(obj, factor, actions)
    return _finish("vrm" if hints else "gltf", path, objects, actions, fps_hint or rate, rate / whole,
                   _WHOLE if on_grid else _STRICT, before, hints=hints)


def _take_hints(roles, objects, before):
    """Role -> bone, from role -> node; the index that each node carried through the importer is taken off again."""
    nodes = {}
    for obj in objects:
        for bone in obj.data.bones if obj.type == "ARMATURE" else ():
            if gltf.NODE_KEY in bone:
                nodes[int(bone[gltf.NODE_KEY])] = bone.name
                del bone[gltf.NODE_KEY]
        for bone in obj.pose.bones if obj.type == "ARMATURE" else ():
            if gltf.NODE_KEY in bone:
                del bone[gltf.NODE_KEY]
    for block in staging.new_blocks(before):
        if gltf.NODE_KEY in block.keys():
            del block[gltf.NODE_KEY]
    return {role: nodes[node] for role, node in roles.items() if node in nodes}


def _read_blend(path, fps_hint, before):
    libraries = {library.session_uid for library in bpy.data.libraries}
    try:
        with staging.quiet(), bpy.data.libraries.load(path, link=False) as (source, target):
            target.scenes = source.scenes[:1]
            target.objects = source.objects
            target.actions = source.actions
    except Exception as error:
        raise FootholdError(f"{path}: Blender cannot open this file ({error}); save it again with this version of "
                            "Blender or an older one") from error
    scene = target.scenes[0] if target.scenes else None
    fps = fps_hint or (rates.of_scene(scene) if scene else 24.0)
    linked = _linked_armature(scene) if scene else None
    if scene:
        bpy.data.scenes.remove(scene)
    arrived = [o for o in target.objects if o is not None]
    wanted = _wanted(arrived)
    _link(wanted)
    _drop_unused(before)
    objects = [o for o in wanted if o.library is None]
    if linked and not any(o.type == "ARMATURE" for o in objects):
        raise FootholdError(f"{path}: its armature '{linked[0]}' is linked from {linked[1]}; choose that file, or make "
                            "the armature local")
    actions = [a for a in target.actions if a is not None]
    for library in [b for b in bpy.data.libraries if b.session_uid not in libraries and not b.users_id]:
        bpy.data.libraries.remove(library)
    return _finish("blend", path, objects, actions, fps, None, _STRICT, before)


def _linked_armature(scene):
    """(name, file) of an armature that a scene only links to, also by an instance of its collection; or None."""
    objects = [o for obj in scene.objects for o in (obj, *(getattr(obj.instance_collection, "all_objects", ())))]
    found = (o for o in objects if o.type == "ARMATURE" and o.library is not None)
    return next(((o.name, o.library.filepath) for o in found), None)


def _wanted(objects):
    """Armatures, the meshes that they move, and the parents of both."""
    wanted = {o for o in objects if o.type == "ARMATURE"}
    wanted |= {o for o in objects if o.type == "MESH" and (o.find_armature() in wanted or o.parent in wanted)}
    for obj in list(wanted):
        while obj.parent is not None:
            obj = obj.parent
            wanted.add(obj)
    return [o for o in objects if o in wanted]


def _drop_unused(before):
    while True:
        unused = [b for b in staging.new_blocks(before)
                  if not b.users and not isinstance(b, (bpy.types.Action, bpy.types.Library))]
        if not unused:
            return
        staging.discard(unused)


def _link(objects):
    """Bring objects from the stage to the artist's active collection."""
    collection, layer = bpy.context.collection, bpy.context.view_layer
    if collection is None or collection.library:
        collection = bpy.context.scene.collection
    for obj in objects:
        collection.objects.link(obj)
    layer.update()
    for obj in objects:
        if obj.name in layer.objects:
            obj.select_set(False, view_layer=layer)


def _unit_factor(objects):
    """The factor that brings the largest armature to the size of a body, where its size is out of question."""
    ways = [0.0]
    for obj in objects:
        if obj.type == "ARMATURE":
            index = {bone.name: i for i, bone in enumerate(obj.data.bones)}
            parents = [index[b.parent.name] if b.parent else -1 for b in obj.data.bones]
            order = sorted(range(len(parents)), key=lambda i: len(obj.data.bones[i].parent_recursive))
            place = {i: n for n, i in enumerate(order)}
            heads = np.array([obj.matrix_world @ obj.data.bones[i].head_local for i in order]).reshape(-1, 3)
            ranked = np.array([place.get(parents[i], -1) for i in order], int)
            ways.append(units.longest_way(ranked, heads - heads[ranked]))
    return units.correct(max(ways))


def _finish(kind, path, objects, actions, fps, factor, tolerance, before, hints=None, frames=None):
    armatures = sorted((o for o in objects if o.type == "ARMATURE"), key=lambda o: -len(o.data.bones))
    if not armatures:
        raise FootholdError(f"{path}: there is no armature in this file; choose one that has a skeleton")
    own = [a for a in actions if any(clips.slot_for(a, o) for o in armatures)]
    for action in actions:
        if factor is not None:
            clips.retime(action, factor, tolerance)
        if kind != "blend" or clips.FPS_KEY not in action:
            action[clips.FPS_KEY] = float(fps)
    spans = {a: clips.span(a) for a in own}
    own = sorted((a for a in own if spans[a]), key=lambda a: spans[a][0] - spans[a][1])
    if kind != "blend":
        clips.settle(objects, own + [a for a in actions if a not in own])
        for armature in armatures:
            clips.settle_pose(armature, own)
    else:
        for action in own:
            action.use_fake_user = action.use_fake_user or not action.users
    hints = hints or {}
    if hints:
        armatures[0][HINTS_KEY] = json.dumps(hints)
    if frames is None:
        frames = int(round(spans[own[0]][1] - spans[own[0]][0])) + 1 if own else 0
    if own:
        fps = float(own[0][clips.FPS_KEY])
    bpy.context.view_layer.update()
    blocks = [b.session_uid for b in staging.new_blocks(before)]
    return Imported(kind, path, armatures, own, float(fps), frames, hints, objects, blocks)
