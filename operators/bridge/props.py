"""Objects of the scene as props: a cylinder or a box where the mesh is one, else its faces; also where they move."""

from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree

from ...solvers import mesh as solid
from ...solvers.contacts.script import BODY_PARTS, Prop
from ...solvers.errors import FootholdError
from . import evaluate, read

_ROUND = 0.02  # of the radius, that the corners of a cylinder may be off it
_CORNER = 61.0  # degrees from one of its corners to the next at most: six and more are round
_FLAT = 1e-5  # of its size, that a plane may be thick
_MOST = 5000  # triangles of a mesh that a script keeps


def of_object_steps(scene, thing, frames):
    """(Prop, surface or None) of an object; a generator of the part done that returns them.

    `surface` is the function that `extract` asks for: None where the object is a cylinder that stands still.
    """
    if thing.name == "floor" or thing.name in BODY_PARTS:
        raise FootholdError(f"'{thing.name}' means another thing in a contact script: give the object another name.")
    points, faces, triangles = _mesh(thing)
    matrices = yield from _matrices_steps(scene, thing, frames)
    first = matrices if matrices.ndim == 2 else matrices[0]
    if abs(np.linalg.det(first[:3, :3])) < 1e-12:
        raise FootholdError(f"'{thing.name}' has a scale of zero: give it a size.")
    size = np.linalg.norm(first[:3, :3], axis=0)
    points = points * size  # measured in metres, in the object's own turned axes
    round_about = _cylinder(points)
    moving = matrices.ndim == 3
    place = first.copy()
    place[:3, :3] /= size
    if round_about is not None:
        middle, axis, radius = round_about
        prop = Prop(thing.name, "cylinder", tuple(place[:3, :3] @ middle + place[:3, 3]),
                    tuple(place[:3, :3] @ axis), radius, moves=moving, object=thing.name, source="artist")
        if not moving:
            return prop, None
        return prop, _surface(matrices, size, lambda own: _from_axis(own, middle, axis) - radius)
    low, high = points.min(axis=0), points.max(axis=0)
    kind, up, distance = _shape(thing, points, faces, low, high)
    middle = 0.5 * (low + high)
    prop = Prop(thing.name, kind, tuple(place[:3, :3] @ middle + place[:3, 3]), tuple(place[:3, up]),
                size=tuple(high - low), moves=moving, object=thing.name, source="artist")
    if kind == "plane":
        axis = _free_side(points, triangles, prop.axis, place)
        prop = replace(prop, axis=axis)
    elif kind == "box":
        prop = replace(prop, across=tuple(place[:3, 0]))
    else:
        prop = replace(prop, **_solid((points - middle) @ place[:3, :3].T, triangles))
    return prop, _surface(matrices, size, distance)


def _free_side(points, triangles, axis, place):
    """A plane's normal on the side that most of its faces look to."""
    corners = (points @ place[:3, :3].T)[triangles]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]).sum(axis=0)
    return tuple(np.copysign(1.0, area @ axis * np.linalg.det(place[:3, :3])) * np.array(axis))


def _solid(points, triangles):
    """`points` and `faces` of a mesh prop; none where it is not closed, or has too many."""
    closed = solid.closed(points, triangles) if len(triangles) <= _MOST else None
    if closed is None:
        return {}
    return {"points": tuple(map(tuple, closed[0].tolist())), "faces": tuple(map(tuple, closed[1].tolist()))}


def _shape(thing, points, faces, low, high):
    """(kind, which own axis is up, function of a path to its distances) of a mesh that is no cylinder."""
    if _is_box(points, low, high):
        return "box", 2, lambda own: _from_box(own, 0.5 * (low + high), 0.5 * (high - low))
    if not faces:
        raise FootholdError(f"'{thing.name}' has no faces: pick a mesh that has some as the prop.")
    tree = BVHTree.FromPolygons(points.tolist(), faces)
    thin = int(np.argmin(high - low))
    flat = (high - low)[thin] < _FLAT * (high - low).max()
    return "plane" if flat else "mesh", thin if flat else 2, lambda own: _from_tree(own, tree)


def names_in(path):
    """Names of the objects in a .blend; none of another file, which brings its objects with the take."""
    if Path(path).suffix.lower() != ".blend":
        return []
    with bpy.data.libraries.load(str(path)) as (source, _):
        return list(source.objects)


def append(path, name):
    """The object of that name in a .blend, brought into the scene with its parents."""
    with bpy.data.libraries.load(str(path)) as (_, target):
        target.objects = [name]
    thing = above = target.objects[0]
    while above is not None:
        bpy.context.scene.collection.objects.link(above)
        above = above.parent
    bpy.context.view_layer.update()
    return thing


def _mesh(thing):
    """(points (N, 3) in the object's own axes, faces, triangles (T, 3)) of an object as it is seen."""
    evaluated = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    try:
        mesh = evaluated.to_mesh()
    except RuntimeError:
        mesh = None
    if mesh is None or not len(mesh.vertices):
        raise FootholdError(f"'{thing.name}' has no surface: pick a mesh as the prop.")
    points = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", points)
    faces = [tuple(face.vertices) for face in mesh.polygons]
    mesh.calc_loop_triangles()
    triangles = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    evaluated.to_mesh_clear()
    if not np.isfinite(points).all():
        broken = int(np.flatnonzero(~np.isfinite(points))[0] // 3)
        raise FootholdError(f"'{thing.name}': its vertex {broken} has no place (NaN): mend the mesh.")
    return points.reshape(-1, 3).astype(float), faces, triangles.reshape(-1, 3)


def _moves(thing):
    while thing is not None:
        data = thing.animation_data
        if thing.constraints or (data and (data.action or data.drivers or data.nla_tracks)):
            return True
        if thing.parent is not None and thing.parent_type != "OBJECT":
            return True
        thing = thing.parent
    return False


def _matrices_steps(scene, thing, frames):
    """The object's world matrix, (4, 4), or (F, 4, 4) at `frames` where it moves; a generator of the part done."""
    if not _moves(thing):
        return read.world_matrix(thing)
    out = np.empty((len(frames), 4, 4))
    with evaluate.stage(scene, [thing]) as stage:
        for i, frame in enumerate(frames):
            out[i] = thing.evaluated_get(evaluate.set_frame(stage, frame)).matrix_world
            if i % 100 == 0:
                yield i / len(frames)
    return out[0] if np.array_equal(out, np.broadcast_to(out[:1], out.shape)) else out


def _surface(matrices, size, distance):
    """The function of a world path (F, 3) to (distances (F,), the path in the object's own axes (F, 3) in metres)."""
    inverse = np.linalg.inv(matrices)

    def of(path):
        own = (inverse[..., :3, :3] @ path[:, :, None])[..., 0] + inverse[..., :3, 3]
        own = own * size
        return distance(own), own

    return of


def _cylinder(points):
    """(middle (3,), axis (3,), radius) of points (N, 3) that are the rings of a cylinder along one of the axes."""
    low, high = points.min(axis=0), points.max(axis=0)
    for along in np.argsort(low - high):
        others = [i for i in range(3) if i != along]
        off = points[:, others] - 0.5 * (low + high)[others]
        far = np.linalg.norm(off, axis=-1)
        rim = far > 0.5 * far.max()  # caps may have a point in their middle
        ends = np.minimum(points[:, along] - low[along], high[along] - points[:, along])
        around = np.sort(np.degrees(np.arctan2(off[rim, 1], off[rim, 0])))
        widest = np.diff(around, append=around[:1] + 360.0).max(initial=0.0)
        if far.max() > 1e-6 and widest <= _CORNER and np.ptp(far[rim]) < _ROUND * far.max() \
                and ends[~rim].max(initial=0.0) < 1e-6 * (high - low)[along] + 1e-9:
            return 0.5 * (low + high), np.eye(3)[along], float(far[rim].mean())
    return None


def _is_box(points, low, high):
    on_side = np.isclose(points, low, atol=1e-6) | np.isclose(points, high, atol=1e-6)
    return len(points) >= 8 and bool(on_side.all())


def _from_axis(own, middle, axis):
    off = own - middle
    return np.linalg.norm(off - (off @ axis)[:, None] * axis, axis=-1)


def _from_box(own, middle, half):
    off = np.abs(own - middle) - half
    return np.linalg.norm(np.maximum(off, 0.0), axis=-1) + np.minimum(off.max(axis=-1), 0.0)


def _from_tree(own, tree):
    out = np.empty(len(own))
    for i, point in enumerate(own):
        nearest, normal, _, distance = tree.find_nearest(point)
        inside = np.dot(point - np.array(nearest), normal) < 0.0
        out[i] = -distance if inside else distance
    return out
