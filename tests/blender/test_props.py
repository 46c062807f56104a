"""Boxes and meshes of the scene as props, through the whole bake: from the object to what is measured on the body."""

from dataclasses import replace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

import rigs  # noqa: E402
from mathutils import Vector  # noqa: E402

from foothold.operators import contacts, job, scripted  # noqa: E402
from foothold.operators.bridge import measure, props, scripts  # noqa: E402
from foothold.solvers import mesh  # noqa: E402
from foothold.solvers.contacts.script import Contact, ContactScript  # noqa: E402
from foothold.solvers.fit import carve  # noqa: E402

_BOX = [(0.1, 0.0), (0.1, 0.2), (-0.1, 0.2), (-0.1, 0.0)]  # x and z of an outline
_L = [(0.1, 0.0), (0.1, 0.2), (0.06, 0.2), (0.06, 0.05), (-0.1, 0.05), (-0.1, 0.0)]
FRAMES, _FRAME = 50, 25
_STANDS = Contact("foot.R:1", "foot.R", "floor", "plant", 0.1, 0.4, 0.1, 0.1, "sole",
                  {"time": [0.1, 0.4], "x": [-0.1, -0.1], "y": [0.0, 0.0], "z": [0.08, 0.08]})


def bar(name, outline, place=(0.0, 0.0, 0.0), ahead=(0.0, 0.0, 1.0), whole=True):
    """An object 0.2 wide whose outline stands at a place with its z ahead; with a hole where it is not `whole`."""
    n = len(outline)
    points = [(x, y, z) for y in (-0.1, 0.1) for x, z in outline]
    faces = [tuple(range(n)), tuple(reversed(range(n, 2 * n)))][:2 if whole else 1]
    faces += [(i, i + n, (i + 1) % n + n, (i + 1) % n) for i in range(n)]
    data = bpy.data.meshes.new(name)
    data.from_pydata(points, [], faces)
    thing = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(thing)
    thing.location, thing.rotation_mode = place, "QUATERNION"
    thing.rotation_quaternion = Vector(ahead).to_track_quat("Z", "Y")
    bpy.context.view_layer.update()
    return thing


def prop_of(thing):
    return job.run(props.of_object_steps(bpy.context.scene, thing, np.arange(1.0, FRAMES + 1.0)))[0]


@pytest.fixture
def stage(addon):
    """(scene, take that dances, body with boxes about its joints, as large as the performer)."""
    scene = rigs.new_file()
    take, body = rigs.humanoid("Take"), rigs.humanoid("Body", seed=5, mesh=True, prefix="b ")
    rigs.dance(take, frames=FRAMES, amount=0.1)
    return scene, take, body


def inside(stage):
    scene, take, body = stage
    return measure.measure(scene, take, body)["contacts"]["metrics"]["prop_penetration_mm"]


@pytest.mark.parametrize("outline, kind", [(_BOX, "box"), (_L, "mesh")], ids=["box", "mesh"])
@pytest.mark.parametrize("part", ["forearm", "shin"])
def test_a_body_is_kept_out_of_an_object_through_the_whole_bake(stage, outline, kind, part):
    """Its elbow's or knee's box is 1.5 cm deep in the object's face; the performer's joint is 1.5 cm before it."""
    scene, take, body = stage
    scene.frame_set(_FRAME)
    joint, chest = (take.matrix_world @ take.pose.bones[name].head for name in (f"{part}.L", "chest"))
    ahead = (joint - chest) * Vector((1.0, 1.0, 0.0))
    prop = prop_of(bar("Thing", outline, joint + 0.015 * ahead.normalized(), ahead))
    assert prop.kind == kind and not prop.moves
    script = ContactScript(60.0, FRAMES, (prop,), (_STANDS,))
    settings = job.BakeSettings(take, body, stages=job.STAGES[:1])
    job.run(scripted.bake_steps(scene, settings))
    scripts.store(body.animation_data.action, script)
    before = inside(stage)
    assert before["worst"] > 10.0 and before["frames_over"] > 0 and f"{part}.L" in before["parts"]
    scripts.store(take.animation_data.action, script)
    report = job.run(scripted.bake_steps(scene, replace(settings, stages=job.STAGES, action_name="Fitted")))
    after = inside(stage)
    assert after["frames_over"] == 0 and after["worst"] < 0.1
    assert not [one for one in report.contacts["inside"] if one["surface"] == "Thing"]


def test_a_box_keeps_its_turn_and_a_mesh_its_faces(stage):
    place, ahead = (0.3, -0.2, 0.7), (0.4, 0.5, 0.8)
    box, hollow = prop_of(bar("Box", _BOX, place, ahead)), prop_of(bar("L", _L, place, ahead))
    thing = bpy.data.objects["Box"]
    world = np.array([thing.matrix_world @ v.co for v in thing.data.vertices])
    corners = mesh.box(box)[0]
    assert np.abs(world[:, None] - corners).sum(axis=-1).min(axis=1).max() < 1e-5
    thing = bpy.data.objects["L"]
    world = np.array([thing.matrix_world @ v.co for v in thing.data.vertices])
    assert np.abs(world[:, None] - np.add(hollow.point, hollow.points)).sum(axis=-1).min(axis=1).max() < 1e-5
    corners = np.array(hollow.points)[np.array(hollow.faces)]
    assert np.linalg.det(corners).sum() / 6.0 == pytest.approx(0.2 * (0.2 * 0.05 + 0.04 * 0.15), rel=1e-5)
    assert len(carve.pieces(hollow.points, hollow.faces)) == 2


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (-1.0, 1.0, 1.0)], ids=["as it is", "mirrored"])
def test_a_plane_is_free_on_the_side_that_its_face_looks_to(stage, scale):
    bpy.ops.mesh.primitive_plane_add(size=2.0, rotation=(np.pi, 0.0, 0.0))
    bpy.context.object.scale = scale
    bpy.context.view_layer.update()
    prop = prop_of(bpy.context.object)
    assert prop.kind == "plane" and prop.axis == pytest.approx((0.0, 0.0, -1.0), abs=1e-6)


def test_a_prop_that_moves_or_is_open_is_told_wherever_it_matters(stage):
    """When contacts are read, when they are baked, and when they are measured."""
    scene, take, body = stage
    for name, whole, why in (("Lift", True, "it moves"), ("Shell", False, "closed")):
        thing = bar(name, _L, (0.5, 0.0, 1.0), whole=whole)
        if whole:
            thing.keyframe_insert("location", frame=1)
            thing.location.z += 0.3
            thing.keyframe_insert("location", frame=FRAMES)
        found = job.run(contacts.extract_steps(scene, job.BakeSettings(take, None), thing))
        assert any(f"'{name}'" in note and why in note for note in found.notes), found.notes
        script = ContactScript(60.0, FRAMES, found.props, (_STANDS,))
        scripts.store(take.animation_data.action, script)
        report = job.run(scripted.bake_steps(scene, job.BakeSettings(take, body, stages=job.STAGES)))
        assert any(f"'{name}'" in note and why in note for note in report.contacts["notes"])
        told = measure.measure(scene, take, body)
        assert told["contacts"]["metrics"]["prop_penetration_mm"] is None
        assert any(f"'{name}'" in note and why in note for note in told["notes"])
