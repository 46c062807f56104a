"""Contacts of baked bodies measured through Blender's own evaluation, on boxes whose millimetres are known."""

import json

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

import rigs  # noqa: E402
import whole_file  # noqa: E402

from foothold.operators import job  # noqa: E402
from foothold.operators.bridge import files, measure, roles, scripts  # noqa: E402
from foothold.solvers.contacts.script import Contact, ContactScript, Part, Prop  # noqa: E402
from foothold.solvers.errors import FootholdError  # noqa: E402

FRAMES, FPS = 31, 60.0
_CORNERS = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
_FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


def boxes(armature):
    """role -> (low, high) corners of boxes in the armature's rest: feet on the floor, a trunk, hands and forearms."""
    out = {"chest": ((-0.15, -0.1, 1.0), (0.15, 0.1, 1.5))}
    for side, sign in (("L", 1.0), ("R", -1.0)):
        x = 0.09 * sign
        out[f"foot.{side}"] = (x - 0.04, -0.13, 0.0), (x + 0.04, 0.06, 0.09)
        out[f"toe.{side}"] = (x - 0.04, -0.2, 0.0), (x + 0.04, -0.13, 0.03)
        elbow, wrist = (np.array(armature.data.bones[f"{part}.{side}"].head_local) for part in ("forearm", "hand"))
        for role, ends in (("forearm", (elbow, wrist)), ("hand", (wrist, wrist + (0.18 * sign, 0.0, 0.0)))):
            out[f"{role}.{side}"] = np.min(ends, axis=0) - (0, 0.04, 0.02), np.max(ends, axis=0) + (0, 0.04, 0.02)
    return out


def dressed(armature):
    """The mesh object of an armature's boxes."""
    points, faces, groups = [], [], {}
    for role, (low, high) in boxes(armature).items():
        groups[role] = range(len(points), len(points) + 8)
        faces += [tuple(i + len(points) for i in face) for face in _FACES]
        points += (np.asarray(low) + _CORNERS * (np.asarray(high) - low)).tolist()
    data = bpy.data.meshes.new("Skin")
    data.from_pydata(points, [], faces)
    mesh = bpy.data.objects.new("Skin", data)
    bpy.context.scene.collection.objects.link(mesh)
    mesh.parent = armature
    mesh.modifiers.new("Armature", "ARMATURE").object = armature
    for role, rows in groups.items():
        mesh.vertex_groups.new(name=role).add(list(rows), 1.0, "REPLACE")
    bpy.context.view_layer.update()
    return mesh


@pytest.fixture
def stage():
    """(scene, take, body, its mesh), both standing still for FRAMES frames from frame 11 on."""
    scene = rigs.new_file()
    take, body = rigs.humanoid("Take"), rigs.humanoid("Body")
    for armature in (take, body):
        for frame in (11, 10 + FRAMES):
            armature.pose.bones["hips"].keyframe_insert("location", frame=frame)
    return scene, take, body, dressed(body)


def shift(body, bone, way, first, last=10 + FRAMES):
    """Key a bone's way (3,) in the armature's axes between two frames; before and after it is where it was.

    All bones of these bodies point up: their own axes are the armature's X, Z and -Y.
    """
    posed = body.pose.bones[bone]
    for frame, value in ((first - 1, 0.0), (first, 1.0), (last, 1.0), (last + 1, 0.0)):
        if 11 <= frame <= 10 + FRAMES:
            posed.location = value * np.array([way[0], way[2], -way[1]])
            posed.keyframe_insert("location", frame=frame)


def keep(body, *contacts, props=(), floor=0.0):
    scripts.store(body.animation_data.action, ContactScript(FPS, FRAMES, tuple(props), tuple(contacts), floor))


def plant(side="L", first=11, last=10 + FRAMES, parts=("heel", "ball")):
    start, end = (first - 11) / FPS, (last - 11) / FPS
    return Contact(f"foot.{side}:1", f"foot.{side}", "floor", "plant", start, end,
                   parts=tuple(Part(part, start, end) for part in parts))


def told(stage, **options):
    scene, take, body, _ = stage
    return measure.measure(scene, take, body, **options)


def figures(stage):
    return told(stage)["contacts"]["metrics"]


def test_a_body_without_a_laid_out_script_is_measured_as_before(stage):
    _, _, body, _ = stage
    found = told(stage)
    assert "contacts" not in found
    keep(body, plant())
    both = told(stage, pure_transfer=True)
    assert set(both) == {*found, "contacts"} and both["metrics"] == found["metrics"]
    assert found["summary"] in both["summary"]


def test_that_limbs_turn_is_no_fault_of_a_body_that_was_fitted_to_contacts(stage):
    _, _, body, _ = stage
    shift(body, "shin.L", (0.05, 0.0, 0.0), 30)
    wavers = "limb_direction_std_deg"
    assert wavers in {f["metric"] for f in told(stage)["faults"]}
    keep(body, plant())
    assert wavers not in {f["metric"] for f in told(stage)["faults"]}
    assert wavers in {f["metric"] for f in told(stage, pure_transfer=True)["faults"]}


def test_who_stands_still_has_no_figure_above_a_micrometre(stage):
    keep(stage[2], plant("L"), plant("R"))
    metrics = figures(stage)
    for name in ("skate_drift_mm", "skate_speed_mm_per_s", "floor_penetration_mm", "float_mm", "reach_shortfall_mm"):
        assert abs(metrics[name]["worst"]) < 1e-3, name
    assert metrics["skate_drift_mm"]["count"] == 4 and metrics["float_mm"]["count"] == 2 * FRAMES


@pytest.mark.parametrize("placed", (False, True))
def test_a_slide_and_a_lift_are_told_with_their_frames(stage, placed):
    _, _, body, _ = stage
    if placed:  # the armature stands elsewhere, turned
        body.location, body.rotation_euler = (1.0, -2.0, 0.0), (0.0, 0.0, 0.7)
    shift(body, "foot.L", (0.003, -0.004, 0.0), 35)
    shift(body, "foot.R", (0.0, 0.0, 0.006), 20, 22)
    keep(body, plant("L"), plant("R"))
    found = told(stage)
    metrics = found["contacts"]["metrics"]
    drift, gap = metrics["skate_drift_mm"], metrics["float_mm"]
    assert drift["worst"] == pytest.approx(5.0, abs=1e-2) and drift["contact"] == "foot.L:1"
    assert 35 <= drift["worst_frame"] <= 41 and drift["bone"] == "foot.L"
    assert gap["worst"] == pytest.approx(6.0, abs=1e-2) and gap["contact"] == "foot.R:1"
    assert 20 <= gap["worst_frame"] <= 22
    listed = {f["metric"]: f for f in found["faults"]}
    assert listed["float_mm"]["frame"] == gap["worst_frame"] and listed["float_mm"]["role"] == "foot.R"
    assert found["faults_total"] == len(found["faults"]) and "slide" not in found["summary"]


def test_contacts_count_from_the_first_baked_frame(stage):
    _, _, body, _ = stage
    shift(body, "foot.L", (0.02, 0.0, 0.0), 26)
    keep(body, plant(last=25))
    assert figures(stage)["skate_drift_mm"]["worst"] < 1e-3
    keep(body, plant(last=27))
    assert figures(stage)["skate_drift_mm"]["worst"] == pytest.approx(20.0, abs=1e-2)


def test_modifiers_shape_keys_and_carried_objects_are_seen(stage):
    _, _, body, mesh = stage
    keep(body)
    mesh.shape_key_add(name="Basis")
    thick = mesh.shape_key_add(name="Boots")
    rows = range(16, 24)  # the left toes
    for i in rows:
        thick.data[i].co.z -= 0.005
    for frame, value in ((20, 0.0), (21, 1.0), (23, 1.0), (24, 0.0)):
        thick.value = value
        thick.keyframe_insert("value", frame=frame)
    sunk = figures(stage)["floor_penetration_mm"]
    assert sunk["worst"] == pytest.approx(5.0, abs=1e-2) and 21 <= sunk["worst_frame"] <= 23
    assert sunk["frames_over"] == 3 and sunk["role"] == "toe.L"
    lift = mesh.modifiers.new("Displace", "DISPLACE")
    lift.direction, lift.mid_level, lift.strength = "Z", 0.0, -0.002
    assert figures(stage)["floor_penetration_mm"]["worst"] == pytest.approx(7.0, abs=1e-2)


def test_a_shoe_that_a_bone_carries_is_part_of_a_body_that_is_all_rigid():
    scene = rigs.new_file()
    take, body = rigs.humanoid("Take"), rigs.humanoid("Body")
    for armature in (take, body):
        for frame in (1, 20):
            armature.pose.bones["hips"].keyframe_insert("location", frame=frame)
    for role, (low, high) in boxes(body).items():
        data = bpy.data.meshes.new(role)
        low = np.asarray(low)
        data.from_pydata((low + _CORNERS * (np.asarray(high) - low)).tolist(), [], _FACES)
        part = bpy.data.objects.new(f"{role} shell", data)
        scene.collection.objects.link(part)
        part.parent, part.parent_type, part.parent_bone = body, "BONE", role
        bpy.context.view_layer.update()
        part.matrix_world = body.matrix_world
    bpy.context.view_layer.update()
    shift(body, "foot.R", (0.0, 0.0, -0.003), 15, 20)
    keep(body, plant("L", first=11, last=12))
    found = measure.measure(scene, take, body)["contacts"]["metrics"]["floor_penetration_mm"]
    assert found["worst"] == pytest.approx(3.0, abs=1e-2) and found["role"] in ("foot.R", "toe.R")


def test_a_palm_is_as_far_from_a_pole_as_it_was_put(stage):
    """The pole lies under the palm, whose skin is the underside of the hand's box."""
    _, _, body, _ = stage
    wrist = np.array(body.data.bones["hand.L"].head_local)
    palm = 0.75 * 0.54 * 0.18  # from the wrist: three quarters of the way to where unmapped knuckles are
    prop = Prop("pole", "cylinder", (wrist[0] + palm, 0.0, wrist[2] - 0.02 - 0.023), (0.0, 1.0, 0.0), 0.02)
    height = wrist[1] + 0.0015
    held = Contact("hand.L:1", "hand.L", "pole", "grip", 0.0, (FRAMES - 1) / FPS,
                   path={"time": [0.0, 1.0], "height": [height, height], "azimuth": [0.0, 0.0]})
    keep(body, held, props=[prop])
    metrics = figures(stage)
    assert metrics["grip_surface_mm"]["median"] == pytest.approx(3.0, abs=0.01)
    assert metrics["grip_along_mm"]["median"] == pytest.approx(1.5, abs=0.01)
    assert metrics["grip_surface_mm"]["bone"] == "hand.L"


def test_a_trunk_is_as_deep_in_a_pole_as_it_was_put(stage):
    _, _, body, _ = stage
    prop = Prop("pole", "cylinder", (0.02, -0.1 - 0.022 - 0.001, 0.0), (0.0, 0.0, 1.0), 0.022)
    shift(body, "chest", (0.0, -0.006, 0.0), 25, 28)
    keep(body, props=[prop])
    found = told(stage)
    inside = found["contacts"]["metrics"]["prop_penetration_mm"]
    assert inside["worst"] == pytest.approx(5.0, abs=1e-2) and inside["role"] == "torso"
    assert inside["frames_over"] == 4 and 25 <= inside["worst_frame"] <= 28 and inside["bone"] == "chest"
    (fault,) = [f for f in found["faults"] if f["metric"] == "prop_penetration_mm"]
    assert fault["frame"] == inside["worst_frame"]


def test_nothing_in_the_file_changes_not_even_when_it_is_stopped_half_way(stage):
    scene, take, body, _ = stage
    keep(body, plant())
    scene.frame_set(17)
    before = whole_file.snapshot()
    parts = []
    measure.measure(scene, take, body, progress=parts.append)
    assert parts == sorted(parts) and 0.0 <= parts[0] and parts[-1] <= 1.0
    assert whole_file.snapshot() == before
    steps = measure.measure_steps(scene, take, body)
    while next(steps) < 0.5:
        pass
    steps.close()
    assert whole_file.snapshot() == before


def test_twice_gives_the_same_text(stage):
    keep(stage[2], plant())
    shift(stage[2], "foot.L", (0.003, 0.0, 0.0), 30)
    texts = [json.dumps(told(stage), allow_nan=False) for _ in range(2)]
    assert texts[0] == texts[1]


def test_a_body_without_a_mesh_and_one_that_is_made_anew_are_told(stage):
    _, _, body, mesh = stage
    keep(body, plant())
    finer = mesh.modifiers.new("Finer", "SUBSURF")
    finer.subdivision_type = "SIMPLE"
    for frame, levels in ((11, 0), (12, 1)):
        finer.levels = levels
        finer.keyframe_insert("levels", frame=frame)
    bpy.context.scene.frame_set(11)
    with pytest.raises(FootholdError, match="'Body'.*vertices at frame 12"):
        told(stage)
    mesh.hide_viewport = True
    found = told(stage)
    assert "contacts" not in found and any("no mesh" in note for note in found["notes"])


def test_an_unreadable_script_is_named(stage):
    body = stage[2]
    body.animation_data.action[scripts.KEY] = "{"
    with pytest.raises(FootholdError, match="not JSON"):
        told(stage)


def test_a_bake_with_contacts_is_measured_with_them(stage):
    scene, take, body, _ = stage
    rigs.dance(take, frames=30, amount=0.05)
    for stages, there in ((job.STAGES, True), (job.STAGES[:1], False)):
        job.run(job.bake_steps(scene, job.BakeSettings(take, body, stages=stages)))
        assert ("contacts" in told(stage)) == there


def test_faults_of_contacts_are_listed_and_lead_to_their_frames(addon, stage):
    scene, take, body, _ = stage
    scene.foothold.take, scene.foothold.body = take, body
    for armature in (take, body):
        roles.store(armature, {bone.name: bone.name for bone in armature.data.bones})
    shift(body, "foot.R", (0.0, 0.0, 0.006), 20, 22)
    keep(body, plant("L"), plant("R"))
    assert bpy.ops.foothold.measure() == {"FINISHED"}
    shown = bpy.context.window_manager.foothold
    (row,) = [fault for fault in shown.faults if fault.metric == "float_mm"]
    assert row.name == "foot.R" and row.contact == "foot.R:1" and 20 <= row.frame <= 22
    bpy.ops.foothold.jump_to_fault(frame=row.frame)
    assert scene.frame_current == int(row.frame)
    assert "Soles over floor\t6.0 mm" in shown.report_lines.splitlines()


def test_the_bodies_stand_where_their_skin_says(data):
    """Every body stands on its own soles at rest: what is picked on its mesh touches the floor."""
    for name in ("stocky", "chibi", "tall"):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        body = files.import_file(str(data / f"bodies/{name}.blend")).armatures[0]
        roles.store(body, roles.detect(body).roles)
        body.animation_data_clear()
        hips = body.pose.bones[roles.load(body)["hips"]]
        for frame in (1, 5):
            hips.keyframe_insert("location", frame=frame)
        scripts.store(body.animation_data.action, ContactScript(
            FPS, 5, (), tuple(Contact(f"foot.{s}:1", f"foot.{s}", "floor", "plant", 0.0, 4 / FPS,
                                      parts=(Part("heel", 0.0, 4 / FPS), Part("ball", 0.0, 4 / FPS))) for s in "LR")))
        twin = rigs.humanoid("Twin")
        for frame in (1, 5):
            twin.pose.bones["hips"].keyframe_insert("location", frame=frame)
        metrics = measure.measure(bpy.context.scene, twin, body)["contacts"]["metrics"]
        for metric in ("skate_drift_mm", "floor_penetration_mm", "float_mm"):
            assert metrics[metric]["worst"] < 0.1, (name, metric)
