"""Files out: one armature's motion, every frame of a range, through Blender's exporters (BVH is written here)."""

import contextlib
import os
import shutil
import tempfile

import bpy
import numpy as np

from ...solvers import rotation
from ...solvers.errors import FootholdError
from . import rates, staging

EXPORTS = (".blend", ".bvh", ".fbx", ".glb")
_TO_Y_UP = rotation.exp(np.array([-np.pi / 2.0, 0.0, 0.0]))
_ORDER = "YXZ"  # Blender's word for BVH's Zrotation Xrotation Yrotation
_CENTIMETRES = 100.0


def export_file(path, armature, meshes, frame_range, fps):
    """Write the evaluated motion of `armature` over (first, last) inclusive, at `fps`, as .bvh, .fbx or .glb.

    `meshes` go with it where the format has them. The scene and the objects stay as they are. Raises FootholdError
    where the target cannot be written; there is no half-written file then.
    """
    path = os.path.abspath(os.fspath(path))
    suffix = os.path.splitext(path)[1].lower()
    writers = {".bvh": _write_bvh, ".fbx": _write_fbx, ".glb": _write_glb}
    if suffix not in writers:
        raise FootholdError(f"{path}: cannot write this kind of file; choose one of {', '.join(writers)}")
    check_target(path)
    first, last = int(frame_range[0]), int(frame_range[1])
    if last < first:
        raise FootholdError(f"{path}: there is no frame between {first} and {last}; choose another range")
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, os.path.basename(path))
        objects = [armature] if suffix == ".bvh" else [armature, *meshes]
        with _alone(armature, objects) as scene:
            scene.frame_start, scene.frame_end = first, last
            writers[suffix](path, made, scene, armature, fps)
        try:
            shutil.move(made, path)
        except OSError as error:
            raise FootholdError(f"{path}: cannot be written ({error.strerror}); choose another place") from error


def save_blend(path):
    """Save a copy of the open file as a .blend. Raises FootholdError where the target cannot be written."""
    path = os.path.abspath(os.fspath(path))
    check_target(path)
    try:
        with staging.quiet():
            bpy.ops.wm.save_as_mainfile(filepath=path, copy=True, check_existing=False)
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[0]
        raise FootholdError(f"{path}: cannot be written ({reason}); choose another place") from error


def check_target(path):
    """Raise a FootholdError that names `path` where no file can be written; leaves nothing behind."""
    path = os.path.abspath(os.fspath(path))
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise FootholdError(f"{path}: the folder {folder} does not exist; make it first")
    if os.path.isdir(path):
        raise FootholdError(f"{path}: this is a folder; give the name of a file")
    if os.path.exists(path) and not os.access(path, os.W_OK):
        raise FootholdError(f"{path}: cannot be written (it is read-only); choose another place")
    if os.path.exists(path) and not os.path.isfile(path):
        return  # a device or pipe: its folder is of no account
    if not os.access(folder, os.W_OK):
        raise FootholdError(f"{path}: cannot be written (its folder is read-only); choose another place")
    try:
        # permissions alone do not tell of a read-only disk
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise FootholdError(f"{path}: cannot be written ({error.strerror}); choose another place") from error


@contextlib.contextmanager
def _alone(armature, objects):
    """A stage with only these objects selected on it, in object mode; their mode and visibility come back.

    Their parents stand there too, not selected: the exporters need them to tell where the objects are.
    """
    parents = {p for obj in objects for p in _ancestors(obj)} - set(objects)
    hidden = [(obj, obj.hide_viewport) for obj in objects]
    mode = armature.mode
    with staging.stage(24) as scene:
        try:
            for obj in (*objects, *parents):
                scene.collection.objects.link(obj)
            for obj in objects:
                obj.hide_viewport = False
                obj.select_set(True)
            bpy.context.view_layer.objects.active = armature
            if mode != "OBJECT":
                bpy.ops.object.mode_set(mode="OBJECT")  # in edit mode a rig stands in its rest
            yield scene
        finally:
            if armature.mode != mode:
                bpy.ops.object.mode_set(mode=mode)
            for obj, value in hidden:
                obj.hide_viewport = value


def _ancestors(obj):
    while obj.parent is not None:
        obj = obj.parent
        yield obj


def _write_fbx(path, made, scene, armature, fps):
    rates.give_scene(scene, fps)
    staging.run(path, bpy.ops.export_scene.fbx, filepath=made, use_selection=True, object_types={"ARMATURE", "MESH"},
                use_armature_deform_only=False, add_leaf_bones=False, bake_anim=True, bake_anim_use_all_bones=True,
                bake_anim_use_nla_strips=False, bake_anim_use_all_actions=False, bake_anim_force_startend_keying=True,
                bake_anim_step=1.0, bake_anim_simplify_factor=0.0, check_existing=False)


def _write_glb(path, made, scene, armature, fps):
    scene.render.fps = max(round(fps), 1)
    # this exporter divides frames by fps * fps_base, where Blender means fps / fps_base
    scene.render.fps_base = fps / scene.render.fps
    action = armature.animation_data and armature.animation_data.action
    scene.name = action.name if action else armature.name  # this exporter calls the animation by the scene
    staging.run(path, bpy.ops.export_scene.gltf, filepath=made, export_format="GLB", use_selection=True,
                use_active_scene=True, export_animations=True, export_animation_mode="SCENE",
                export_anim_scene_split_object=False, export_force_sampling=True, export_frame_step=1,
                export_optimize_animation_size=False, export_anim_slide_to_zero=True, check_existing=False)


def _write_bvh(path, made, scene, armature, fps):
    """A BVH in centimetres, Y up. Joints carry positions only where the motion moves them against their parents."""
    bones = _parents_first(armature)
    index = {bone.name: j for j, bone in enumerate(bones)}
    parents = [index[bone.parent.name] if bone.parent else -1 for bone in bones]
    positions, turns, offsets, ends = _poses(scene, armature, bones, parents)
    moving = [p < 0 or np.abs(positions[:, j] - offsets[j]).max() > 1e-4 for j, p in enumerate(parents)]
    columns = []
    for j in _file_order(parents):
        if moving[j]:
            columns.append(positions[:, j])
        angles = rotation.continuous_euler(rotation.to_euler(turns[:, j], _ORDER), _ORDER)
        columns.append(np.degrees(angles[:, [2, 0, 1]]))
    table = np.concatenate(columns, axis=1)
    with open(made, "w", encoding="utf-8", newline="\n") as file:
        file.write("HIERARCHY\n")
        for j, parent in enumerate(parents):
            if parent < 0:
                _write_joint(file, j, bones, parents, offsets, ends, moving, "")
        file.write(f"MOTION\nFrames: {len(table)}\nFrame Time: {1.0 / fps:.10f}\n")
        np.savetxt(file, table, fmt="%.7f")


def _poses(scene, armature, bones, parents):
    """In the file's axes, centimetres: positions (F, J, 3) against the parents, turns (F, J, 4) against them, rest
    offsets (J, 3) and the bones' rest tails from their heads (J, 3)."""
    frames = range(scene.frame_start, scene.frame_end + 1)
    heads, world_turns, anchor = [], [], None
    rest = np.array([bone.matrix_local for bone in bones], float)
    for frame in frames:
        scene.frame_set(frame)
        evaluated = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        world = np.array(evaluated.matrix_world, float)
        pose = np.array([evaluated.pose.bones[bone.name].matrix for bone in bones], float)
        anchor = world if anchor is None else anchor
        heads.append((world @ pose)[:, :3, 3])
        world_turns.append((world @ pose)[:, :3, :3])
    still = (anchor @ rest)[:, :3, :3]
    turns = rotation.from_matrix(rotation.orthonormal(np.array(world_turns)))
    deltas = rotation.mul(turns, rotation.conj(rotation.from_matrix(rotation.orthonormal(still))))
    deltas = rotation.mul(rotation.mul(_TO_Y_UP, deltas), rotation.conj(_TO_Y_UP))
    heads = rotation.rotate(_TO_Y_UP, np.array(heads)) * _CENTIMETRES
    tails = np.array([anchor[:3, :3] @ (np.array(b.tail_local) - np.array(b.head_local)) for b in bones])
    rest_heads = (anchor @ rest)[:, :3, 3]
    rest_heads = rotation.rotate(_TO_Y_UP, rest_heads) * _CENTIMETRES
    positions, local, offsets = heads.copy(), deltas.copy(), rest_heads.copy()
    for j, parent in enumerate(parents):
        if parent >= 0:
            back = rotation.conj(deltas[:, parent])
            positions[:, j] = rotation.rotate(back, heads[:, j] - heads[:, parent])
            local[:, j] = rotation.mul(back, deltas[:, j])
            offsets[j] = rest_heads[j] - rest_heads[parent]
    return positions, rotation.continuous(local), offsets, rotation.rotate(_TO_Y_UP, tails) * _CENTIMETRES


def _parents_first(armature):
    return sorted(armature.data.bones, key=lambda bone: len(bone.parent_recursive))


def _file_order(parents):
    order = []

    def visit(j):
        order.append(j)
        for child, parent in enumerate(parents):
            if parent == j:
                visit(child)

    for root, parent in enumerate(parents):
        if parent < 0:
            visit(root)
    return order


def _write_joint(file, j, bones, parents, offsets, ends, moving, indent):
    word = "JOINT" if parents[j] >= 0 else "ROOT"
    channels = "Xposition Yposition Zposition " if moving[j] else ""
    file.write(f"{indent}{word} {'_'.join(bones[j].name.split())}\n{indent}{{\n")
    file.write(f"{indent}\tOFFSET {_numbers(offsets[j])}\n")
    file.write(f"{indent}\tCHANNELS {6 if moving[j] else 3} {channels}Zrotation Xrotation Yrotation\n")
    children = [c for c, parent in enumerate(parents) if parent == j]
    for child in children:
        _write_joint(file, child, bones, parents, offsets, ends, moving, indent + "\t")
    if not children:
        file.write(f"{indent}\tEnd Site\n{indent}\t{{\n{indent}\t\tOFFSET {_numbers(ends[j])}\n{indent}\t}}\n")
    file.write(f"{indent}}}\n")


def _numbers(values):
    return " ".join(f"{v:.7f}" for v in values)
