"""Armatures as Blender shows them, constraints, drivers and all, evaluated on a stage beside the artist's scene."""

from contextlib import contextmanager

import bpy
import numpy as np

from ...solvers.skeleton import Channels, backward
from . import read, samples

_HELD = 256  # frames handed on at once: 4 x 4 matrices of the whole clip would be many times its keys


def reason(armature):
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


@contextmanager
def stage(scene, objects, name="Foothold"):
    """A scene of its own that holds nothing but `objects`, with the time of `scene`; removed at the end.

    What is evaluated there leaves the artist's scene, its current frame and its pose as they are, and nothing else in
    it (a heavy mesh, a simulation) has to be evaluated along. What the objects depend on comes along by itself.
    """
    temporary = bpy.data.scenes.new(name)
    hidden = [ob for ob in objects if ob.hide_viewport]
    try:
        temporary.render.fps, temporary.render.fps_base = scene.render.fps, scene.render.fps_base
        temporary.render.frame_map_old, temporary.render.frame_map_new = (scene.render.frame_map_old,
                                                                          scene.render.frame_map_new)
        for ob in objects:
            temporary.collection.objects.link(ob)
        for ob in hidden:  # Blender does not evaluate what is hidden
            ob.hide_viewport = False
        yield temporary
    finally:
        for ob in hidden:
            ob.hide_viewport = True
        bpy.data.scenes.remove(temporary)


def set_frame(scene, frame):
    """Evaluate a stage at a frame, which may lie between two; returns its dependency graph."""
    whole = int(np.floor(frame))
    scene.frame_set(whole, subframe=float(frame) - whole)
    return scene.view_layers[0].depsgraph


def steps(scene, armatures, frames, receive):
    """Evaluate armatures at `frames` (F,); a generator that yields the part done, 0 to 1.

    Calls `receive(i, rows, worlds, matrices)` for stretches of frames: `rows` is their slice of F, `worlds` (f, 4, 4)
    and `matrices` (f, J, 4, 4) are armature i's own and its bones' in armature space, in the order of its bones
    (`armature.pose.bones`). The arrays are used again for the next stretch.
    """
    size = min(_HELD, len(frames))
    flat = [np.empty((size, 16 * len(a.pose.bones)), np.float32) for a in armatures]
    worlds = np.empty((len(armatures), size, 4, 4))
    with stage(scene, list(dict.fromkeys(armatures))) as temporary:
        for start in range(0, len(frames), size):
            rows = slice(start, min(start + size, len(frames)))
            for k, frame in enumerate(frames[rows]):
                depsgraph = set_frame(temporary, frame)
                for i, armature in enumerate(armatures):
                    evaluated = armature.evaluated_get(depsgraph)
                    evaluated.pose.bones.foreach_get("matrix", flat[i][k])
                    worlds[i, k] = evaluated.matrix_world
                if k % 32 == 0:
                    yield (start + k) / len(frames)
            count = rows.stop - rows.start
            for i in range(len(armatures)):
                matrices = flat[i][:count].reshape(count, -1, 4, 4).swapaxes(-1, -2)  # Blender's are column by column
                receive(i, rows, worlds[i, :count], matrices.astype(float))


def samples_steps(scene, armature, skeleton, frames):
    """The Samples of an armature as it is seen at `frames`; a generator of the part done that returns them."""
    order = [armature.pose.bones.find(name) for name in skeleton.names]
    joints = range(len(order))
    place, turned, size = ({j: samples.array(len(frames), n) for j in joints} for n in (3, 4, 3))
    world = np.empty((len(frames), 4, 4))

    def receive(_, rows, worlds, matrices):
        world[rows] = worlds
        for part, values in zip((place, turned, size), backward(skeleton, matrices[:, order])):
            for j in joints:
                part[j][rows] = values[:, j]

    yield from steps(scene, [armature], frames, receive)
    for values in size.values():
        read.even_out(values)
    still = np.allclose(world, world[:1], rtol=0.0, atol=1e-7)
    held = Channels(*(np.stack([part[j][:1] for j in joints], axis=1).astype(float) for part in (place, turned, size)))
    return samples.Samples(skeleton, len(frames), held, dict.fromkeys(joints, "QUATERNION"),
                           {j: v for j, v in place.items() if v.any()}, turned,
                           {j: v for j, v in size.items() if np.any(v != 1.0)}, world[0] if still else world)


def part(steps, start, end):
    """The steps of a stage, scaled into a part of the whole; hands on what the stage returns."""
    while True:
        try:
            done = next(steps)
        except StopIteration as stop:
            return stop.value
        yield start + (end - start) * done
