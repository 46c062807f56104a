"""A body's skin as Blender shows it, frame by frame: each frame is reduced at once, so that long clips need no room."""

import numpy as np

from ...solvers import contact_probe
from ...solvers.errors import FootholdError
from . import evaluate, skin


def seen_steps(scene, armature, probe, frames):
    """What a contact_probe.Probe sees at `frames` (F,); a generator of the part done that returns one Seen with a
    leading axis of F.

    `probe` was picked on the armature's `skin.read_skin`. Nothing in the file changes. Raises FootholdError where a
    mesh has another number of vertices than at rest.
    """
    objects = list(skin.carried(skin.seen_in(armature)[1], armature))
    rows = []
    with evaluate.stage(scene, [armature, *objects]) as stage:
        for i, frame in enumerate(frames):
            depsgraph = evaluate.set_frame(stage, frame)
            points = np.concatenate([_vertices(ob, depsgraph) for ob in objects])
            if len(points) != probe.count:
                raise FootholdError(f"The meshes of '{armature.name}' have {len(points)} vertices at frame {frame:g} "
                                    f"and {probe.count} at rest: hide what is made anew at every frame.")
            rows.append(contact_probe.look(probe, points))
            if i % 16 == 0:
                yield i / len(frames)
    return contact_probe.Seen(*(np.stack(values) for values in zip(*rows)))


def _vertices(ob, depsgraph):
    """World places (V, 3) of an object's vertices, with its modifiers and shape keys."""
    evaluated = ob.evaluated_get(depsgraph)
    mesh = evaluated.to_mesh(preserve_all_data_layers=False, depsgraph=depsgraph)
    try:
        points = np.empty((len(mesh.vertices), 3), np.float32)
        mesh.vertices.foreach_get("co", points.ravel())
    finally:
        evaluated.to_mesh_clear()
    world = np.array(evaluated.matrix_world)
    return points.astype(float) @ world[:3, :3].T + world[:3, 3]
