"""Which stage brought a fault in: held against a transferred bake that Blender plays and measures by itself."""

import json
from dataclasses import replace

import pytest

bpy = pytest.importorskip("bpy")

import rigs  # noqa: E402
from test_measure_contacts import dressed  # noqa: E402

from foothold.operators import cli, job, review, scripted  # noqa: E402
from foothold.operators.bridge import compat, measure, plans, roles, scripts  # noqa: E402
from foothold.solvers import contact_report, report, stages  # noqa: E402
from foothold.solvers.contacts.script import Contact, ContactScript, Part, Prop, in_order  # noqa: E402
from foothold.solvers.transfer import Travel  # noqa: E402

FRAMES, FPS = 60, 60.0
WRONG = {"float_mm": 1e-4, "floor_penetration_mm": 1e-4, "skate_drift_mm": 1e-4, "skate_speed_mm_per_s": 1e-4,
         "grip_surface_mm": 1e-4, "grip_along_mm": 1e-4, "grip_mean_mm": 1e-4, "prop_penetration_mm": 1e-4,
         "reach_shortfall_mm": 1e-4}


def plant(side, start, end, x):
    parts = tuple(Part(part, start, end) for part in ("heel", "ball"))
    return Contact(f"foot.{side}:1", f"foot.{side}", "floor", "plant", start, end, 0.1, 0.1, "sole",
                   {"time": [start, end], "x": [x, x], "y": [0.0, 0.0], "z": [0.08, 0.08]}, parts=parts)


SCRIPT = ContactScript(FPS, FRAMES, (Prop("pole", point=(0.15, -0.2, 0.0), radius=0.03),), in_order([
    plant("L", 0.1, 0.4, 0.1), plant("R", 0.3, 0.7, -0.1),
    Contact("hand.R:1", "hand.R", "pole", "grip", 0.2, 0.6, 0.1, 0.1, "palm",
            {"time": [0.2, 0.6], "height": [1.2, 1.2], "azimuth": [-90.0, -90.0], "gap": [0.0, 0.0]})]), 0.0)


@pytest.fixture
def stage(addon):
    """(scene, take that dances, body of other proportions), chosen in the panel; the take has a contact script."""
    scene = rigs.new_file()
    take, body = rigs.humanoid("Take"), rigs.humanoid("Body", arm=0.8, leg=0.85, root=True)
    dressed(body)
    scripts.store(rigs.dance(take, frames=FRAMES, amount=0.15), SCRIPT)
    scene.foothold.take, scene.foothold.body = take, body
    scene.foothold.take_rest.kind = "FILE"
    return scene, take, body


def bake(stage, **settings):
    scene, take, body = stage
    settings = {"stages": job.STAGES, **settings}
    job.run(scripted.bake_steps(scene, job.BakeSettings(take, body, **settings)))
    return body.animation_data.action


def told(stage, **options):
    return measure.measure(*stage, **options)


# The figures of the transferred motion

@pytest.mark.parametrize("placed", [False, True], ids=["at the origin", "elsewhere"])
@pytest.mark.parametrize("settings", [
    {}, {"travel": Travel("root")}, {"travel": Travel("object")}, {"travel": Travel(horizontal=0.7, vertical=1.1)},
    {"take_rest": job.RestChoice("frame", frame=20), "body_rest": job.RestChoice("pose")}],
    ids=["hips", "root", "object", "scaled", "other rests"])
def test_figures_before_the_contacts_are_those_of_a_transferred_bake(stage, monkeypatch, settings, placed):
    """With limits at almost nothing there is a fault of everything; then the body plays its transferred bake, with the
    same script laid out and scaled about the same place, and Blender measures that."""
    scene, take, body = stage
    if placed:
        body.location, body.rotation_euler, body.scale = (0.5, -0.3, 0.0), (0.0, 0.0, 0.4), (1.1, 1.1, 1.1)
    if "body_rest" in settings:  # and a take whose rest hangs in the air
        for curve in compat.fcurves(take.animation_data.action, take):
            if curve.data_path.endswith("location") and curve.array_index == 1:
                for key in curve.keyframe_points:
                    key.co.y += 0.5
                curve.update()
        for bone in body.pose.bones:
            bone.rotation_quaternion = (1.0, 0.05, -0.03, 0.04)
        bpy.context.view_layer.update()
    pose = compat.held_pose(body)
    fitted = bake(stage, **settings, action_name="Fitted")
    script = scripts.load(fitted)
    scene.frame_set(40)  # where a bone or an object stands now is of no matter
    monkeypatch.setattr(contact_report, "LIMITS", {**contact_report.LIMITS, **WRONG})
    found = told(stage)
    asked = [fault for fault in found["faults"] if "transfer" in fault["before"]]
    assert {fault["metric"] for fault in asked} >= {"skate_drift_mm", "skate_speed_mm_per_s"}
    monkeypatch.setattr(job.fitting, "fit_steps", transferred_only(job.fitting.fit_steps))
    body.animation_data_clear()
    compat.put_pose(body, pose)
    bpy.context.view_layer.update()
    bake(stage, **settings, action_name="Transferred")
    scripts.store(body.animation_data.action, script)
    seen = []
    join = contact_report.report
    monkeypatch.setattr(contact_report, "report", lambda script, body: seen.append(body) or join(script, body))
    plain = told(stage)
    contacts = [fault for fault in asked if fault["metric"] in contact_report.LIMITS]
    truth = contact_report.again(script, seen[0], contacts)
    assert [fault["before"]["transfer"] for fault in contacts] == pytest.approx(truth, abs=0.02)
    for role, joint in plain["metrics"]["acceleration_m_per_s2"]["joints"].items():
        for fault in asked:
            if (fault["metric"], fault["role"]) == ("acceleration_ratio", role):
                assert fault["before"]["transfer"] == pytest.approx(joint["ratio_in_proportion"], rel=1e-3)


def transferred_only(fit_steps):
    """A stage "contacts" that scales the way about the same place, and leaves the motion as it was transferred."""
    def steps(armature, plan, take, script, *more):
        empty = replace(script, contacts=())
        fitted, kept = yield from fit_steps(armature, plan, take, script, *more)
        centred = fitted.plan._replace(turned_rest=plan.turned_rest)  # feet are levelled by the contacts
        still, _ = yield from fit_steps(armature, centred, take, empty, *more)
        return still._replace(plan=centred, script=fitted.script), kept
    return steps


# Who is to blame

def jump(body, action):
    """Let the head jump at frame 30, as a person might by mistake."""
    for curve in compat.fcurves(action, body):
        if curve.data_path == 'pose.bones["head"].rotation_quaternion':
            for key in curve.keyframe_points:
                key.co.y += 0.4 if key.co.x == 30 else 0.0
            curve.update()


def test_faults_of_each_stage_are_told_apart(stage, monkeypatch):
    """The performer slides on her foot, then sinks into the floor, which without a skin of hers shows on the body only,
    and after the bake the head jumps; the stage "contacts" is kept from mending anything."""
    _, take, body = stage
    for curve in compat.fcurves(take.animation_data.action, take):
        for key in curve.keyframe_points:
            key.co.y = 1.0 if curve.data_path.endswith("quaternion") and curve.array_index == 0 else 0.0
    hips = take.pose.bones["hips"]
    for frame in range(1, FRAMES + 1):
        hips.location = (0.012 if frame >= 20 else 0.0, -0.02 if 40 <= frame <= 50 else 0.0, 0.0)  # its own Y is up
        hips.keyframe_insert("location", frame=frame)
    scripts.store(take.animation_data.action, replace(SCRIPT, contacts=(plant("L", 0.1, 0.5, 0.1),), props=()))
    monkeypatch.setattr(job.fitting, "fit_steps", transferred_only(job.fitting.fit_steps))
    action = bake(stage)
    jump(body, action)
    found = told(stage)
    by_metric = {}
    for fault in found["faults"]:
        by_metric.setdefault(fault["metric"], []).append(fault)
    assert {fault["stage"] for fault in by_metric["skate_drift_mm"]} == {"take"}
    for fault in by_metric["skate_drift_mm"]:
        assert fault["before"]["take"] == pytest.approx(fault["before"]["transfer"], rel=0.3)
    (sunk,) = by_metric["floor_penetration_mm"]
    assert sunk["stage"] == "transfer" and sunk["before"]["transfer"] == pytest.approx(sunk["value"], abs=0.01)
    assert (sunk["first"], sunk["last"]) == (40, 50)
    (head,) = by_metric["angular_speed_deg_per_s"]
    assert head["stage"] == "contacts" and head["bone"] == "head" and head["before"]["transfer"] < 1.0
    assert found["stages"]["take"] == 4 and found["stages"]["contacts"] >= 1
    assert any("your edits (1) count to the stage 'contacts'" in note for note in found["notes"])


def test_a_transferred_bake_has_its_faults_from_the_transfer(stage, monkeypatch):
    bake(stage, stages=job.STAGES[:1])
    monkeypatch.setitem(report.LIMITS, "limb_direction_std_deg", 1e-9)
    found = told(stage)
    assert not [note for note in found["notes"] if "edits" in note]
    assert found["faults"] and all(fault["stage"] == "transfer" and fault["before"] == {} for fault in found["faults"])


def test_edits_of_a_transferred_bake_count_to_it(stage):
    action = bake(stage, stages=job.STAGES[:1])
    jump(stage[2], action)
    found = told(stage)
    assert found["stages"] == {"transfer": len(found["faults"])}
    assert any("your edits (1) count to the stage 'transfer'" in note for note in found["notes"])


def test_where_it_cannot_be_told_a_note_says_why(stage):
    scene, take, body = stage
    fitted = bake(stage)
    assert told(stage)["faults"], "or there is nothing to tell"
    assert not [note for note in told(stage)["notes"] if "stage" in note.lower()]
    compat.assign(take, rigs.dance(take, frames=FRAMES, seed=4, name="Another"))
    found = told(stage)
    assert {fault["stage"] for fault in found["faults"]} == {None} and found["stages"] == {}
    assert any("'Dance on Body' was baked from the action 'Dance', which 'Take' does not play" in note
               for note in found["notes"])
    compat.assign(take, bpy.data.actions["Dance"])
    take.data.bones["shin.L"].name = "gone"
    roles.store(take, {**roles.load(take), "shin.L": "gone"})
    assert any("with the bone 'shin.L', which 'Take' does not have any more" in note for note in told(stage)["notes"])
    del fitted[plans.KEY]
    assert any("is not told: a bake of this Foothold wrote no motion" in note for note in told(stage)["notes"])
    fitted[plans.KEY] = "{"
    assert any("cannot be read: bake again" in note for note in told(stage)["notes"])


def test_what_constraints_move_is_told(stage):
    _, _, body = stage
    bake(stage)
    body.pose.bones["head"].constraints.new("LIMIT_ROTATION")
    found = told(stage)
    assert found["stages"] and any("from keys alone, and bone 'head' has a constraint" in note
                                   for note in found["notes"])


def test_a_body_without_a_mesh_has_the_stages_of_its_motion(stage):
    _, _, body = stage
    bpy.data.objects.remove(bpy.data.objects["Skin"])
    bpy.context.view_layer.update()
    bake(stage)
    found = told(stage)
    assert found["faults"] and all(fault["stage"] in stages.ORDER for fault in found["faults"])


# Where it is told

def test_the_panel_lists_stages_and_the_tooltip_tells_all(stage):
    scene, take, body = stage
    assert bpy.ops.foothold.bake() == {"FINISHED"} and bpy.ops.foothold.measure() == {"FINISHED"}
    shown = bpy.context.window_manager.foothold
    found = shown.measured()
    assert [row.stage for row in shown.faults] == [fault["stage"] for fault in found["faults"]] != []
    assert review.stage_counts(shown) == found["stages"]
    for row, fault in zip(shown.faults, found["faults"]):
        assert row.sentence == review.fault_sentence(fault)
        assert f"frame {fault['frame']:g}: '{fault['bone']}'" in row.sentence
        assert review._STAGES[fault["stage"]] in row.sentence
        assert row.contact == (fault.get("contact") or "")


def test_the_command_line_tells_the_same_in_its_report_its_words_and_of_the_written_scene(addon, checkout, tmp_path,
                                                                                         capfd):
    out, file, again = tmp_path / "o.blend", tmp_path / "r.json", tmp_path / "again.json"
    words = ["bake", "--take", str(checkout / "demo/take.bvh"), "--body", str(checkout / "demo/body.blend"), "--range",
             "1:120", "--stages", "transfer,contacts", "--scale", "3", "--out", str(out), "--report", str(file)]
    assert cli.main(words) == cli.GOOD
    printed = capfd.readouterr().err
    found = json.loads(file.read_text())["metrics"]
    assert found["faults"] and found["summary"] in printed and "Stages that brought in these faults" in printed
    assert review.fault_sentence(found["faults"][0]) in printed
    assert cli.main(["measure", str(out), "--report", str(again)]) == cli.GOOD
    assert found["summary"] in capfd.readouterr().err
    later = json.loads(again.read_text())
    assert later["stages"] == found["stages"]
    for one, other in zip(found["faults"], later["faults"]):
        assert (one["metric"], one["bone"], one["stage"]) == (other["metric"], other["bone"], other["stage"])
        assert one["before"] == pytest.approx(other["before"], rel=1e-3, abs=1e-3)
