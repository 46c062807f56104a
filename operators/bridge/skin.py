"""Reading the skin of an armature: its meshes as they stand at rest, as plain arrays."""

from contextlib import contextmanager
from itertools import chain

import bpy
import numpy as np

from ...solvers.fit.flesh import LARGEST, Skin
from . import evaluate


def read_skin(armature, skeleton):
    """The Skin of all visible meshes that move with an armature, at rest; None where there is none.

    As the artist sees them at the current frame but for the pose: shape keys, modifiers and all. `skeleton` is the
    armature's (`read.read_skeleton`), whose world matrix places the skin. Nothing in the file changes.
    """
    scene, layer = seen_in(armature)
    objects = carried(layer, armature)
    parts, start = [], 0
    if objects:
        with _at_rest(armature.data), evaluate.stage(scene, [armature, *objects]) as stage:
            depsgraph = evaluate.set_frame(stage, scene.frame_current_final)
            placed = skeleton.world @ np.linalg.inv(np.array(armature.evaluated_get(depsgraph).matrix_world))
            for ob, bone in objects.items():
                part = _read(ob, bone, depsgraph, placed, skeleton)
                parts.append(part._replace(faces=part.faces + start))
                start += len(part.points)
    return Skin(*(np.concatenate(rows) for rows in zip(*parts))) if start else None


def seen_in(armature):
    """The scene and view layer that an armature is looked at in: the current ones where it is in them."""
    scene, layer = bpy.context.scene, bpy.context.view_layer
    if layer.objects.get(armature.name) != armature and armature.users_scene:
        scene = armature.users_scene[0]
        layer = scene.view_layers[0]
    return scene, layer


def carried(layer, armature):
    """The visible mesh objects that an armature's bones move: object -> the bone that carries it, None where deformed.

    What is hidden from the view or the render, or drawn as wires or bounds only, is no skin.
    """
    out = {}
    for ob in layer.objects:
        if (ob.type != "MESH" or ob.hide_render or ob.display_type in {"BOUNDS", "WIRE"}
                or not ob.visible_get(view_layer=layer)):
            continue
        bone = _carrier(ob, armature)
        if bone is not None or _deformed(ob, armature):
            out[ob] = bone
    return out


def _carrier(ob, armature):
    """The name of the bone that carries an object as a whole, be it through other parents; None where none does."""
    if _deformed(ob, armature):
        return None
    while ob is not None:
        if ob.parent == armature and ob.parent_type == "BONE":
            return ob.parent_bone
        ob = ob.parent
    return None


def _deformed(ob, armature):
    """Whether an armature deforms an object."""
    return ((ob.parent == armature and ob.parent_type == "ARMATURE")
            or any(m.type == "ARMATURE" and m.object == armature and m.show_viewport for m in ob.modifiers))


@contextmanager
def _at_rest(data):
    """An armature's data in its rest position, put back at the end."""
    before = data.pose_position
    if before == "REST":
        yield
        return
    data.pose_position = "REST"
    try:
        yield
    finally:
        data.pose_position = before


def _read(ob, bone, depsgraph, placed, skeleton):
    """The Skin of one object; `placed` (4, 4) takes the evaluated world to where the skeleton stands."""
    evaluated = ob.evaluated_get(depsgraph)
    mesh = evaluated.to_mesh(preserve_all_data_layers=True, depsgraph=depsgraph)
    try:
        mesh.calc_loop_triangles()
        points, faces = np.empty((len(mesh.vertices), 3), np.float32), np.empty((len(mesh.loop_triangles), 3), np.int32)
        mesh.vertices.foreach_get("co", points.ravel())
        mesh.loop_triangles.foreach_get("vertices", faces.ravel())
        if bone is None:
            bones, weights = _largest(mesh, _joints(ob, skeleton))
        else:
            bones, weights = _wholly(skeleton.names.index(bone) if bone in skeleton.names else -1, len(points))
    finally:
        evaluated.to_mesh_clear()
    world = placed @ np.array(evaluated.matrix_world)
    if np.linalg.det(world[:3, :3]) < 0.0:  # a mirrored object shows its faces from the other side
        faces = faces[:, ::-1]
    return Skin(points.astype(float) @ world[:3, :3].T + world[:3, 3], faces.astype(int), bones, weights,
                np.full(len(points), bone is not None))


def _joints(ob, skeleton):
    """The bone (G,) that each vertex group of an object stands for, -1 for none that deforms."""
    index = {name: j for j, name in enumerate(skeleton.names) if skeleton.deforms[j]}
    return np.array([index.get(group.name, -1) for group in ob.vertex_groups] or [-1])


def _wholly(joint, count):
    """Bones and weights, (count, LARGEST) each, of vertices that one bone carries."""
    bones, weights = np.full((count, LARGEST), -1), np.zeros((count, LARGEST))
    if joint >= 0:
        bones[:, 0], weights[:, 0] = joint, 1.0
    return bones, weights


def _largest(mesh, joints):
    """The largest weights of each vertex of a mesh, (bones, weights), (V, LARGEST) each, as `Skin` holds them."""
    held = [vertex.groups for vertex in mesh.vertices]
    counts = np.fromiter(map(len, held), int, len(held))
    flat = list(chain.from_iterable(held))
    groups = np.fromiter((g.group for g in flat), int, len(flat))
    heavy = np.fromiter((g.weight for g in flat), float, len(flat))
    owners = np.repeat(np.arange(len(held)), counts)
    bones = np.where(groups < len(joints), joints[np.minimum(groups, len(joints) - 1)], -1)
    kept = (bones >= 0) & (heavy > 0.0)
    owners, bones, heavy = owners[kept], bones[kept], heavy[kept]
    order = np.lexsort((bones, -heavy, owners))  # the heaviest of each vertex first, equal ones by their bone
    owners, bones, heavy = owners[order], bones[order], heavy[order]
    place = np.arange(len(owners)) - np.searchsorted(owners, owners)
    kept = place < LARGEST
    out, weights = _wholly(-1, len(held))
    out[owners[kept], place[kept]] = bones[kept]
    weights[owners[kept], place[kept]] = heavy[kept]
    total = weights.sum(axis=1, keepdims=True)
    return out, weights / np.where(total > 0.0, total, 1.0)
