"""The panel's operators, called as a script would: what they do, what they refuse, and refusals change nothing."""

import json

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

import rigs  # noqa: E402
import whole_file  # noqa: E402

from foothold.operators import job  # noqa: E402
from foothold.operators.bridge import compat, keys, roles  # noqa: E402

ops = bpy.ops.foothold


def make_stage():
    """(scene, take that dances, body with other proportions and bone axes), chosen in the panel."""
    scene = rigs.new_file()
    take, body = rigs.humanoid("Take"), rigs.humanoid("Body", arm=0.8, leg=0.85, seed=5)
    rigs.dance(take, frames=30)
    scene.foothold.take, scene.foothold.body = take, body
    scene.foothold.take_rest.kind = "FILE"
    return scene, take, body


@pytest.fixture
def stage(addon):
    """A fresh `make_stage`."""
    return make_stage()


@pytest.fixture
def empty(addon):
    """The scene of an empty file."""
    return rigs.new_file()


def keys_of(armature):
    """(data path, index) -> (K, 2) frames and values of the action that an armature plays, to the last bit."""
    out = {}
    for curve in compat.fcurves(armature.animation_data.action, armature):
        flat = np.empty(2 * len(curve.keyframe_points), np.float32)
        curve.keyframe_points.foreach_get("co", flat)
        out[curve.data_path, curve.array_index] = flat.reshape(-1, 2)
    return out


def same_keys(one, other):
    return one.keys() == other.keys() and all(np.array_equal(one[k], other[k]) for k in one)


def snapshot():
    """The whole file. The panel's settings are compared by value: 4.5 stores empty groups as soon as one looks."""
    groups = "foothold", "foothold_contacts"
    return whole_file.snapshot(skip=tuple(f'scenes["Scene"]["{name}"]' for name in groups))


def refused(operator, message, **arguments):
    """The operator fails with a message that matches, and nothing in the file is other than before."""
    before = snapshot()
    with pytest.raises(RuntimeError, match=message):
        operator(**arguments)
    assert whole_file.diff(before, snapshot()) == []


# Bake

def test_bake_gives_the_keys_that_the_job_gives(stage):
    scene, _, body = stage
    assert ops.bake() == {"FINISHED"}
    by_panel = keys_of(body)
    scene, take, body = make_stage()
    job.run(job.bake_steps(scene, job.BakeSettings(take, body)))
    assert by_panel and same_keys(by_panel, keys_of(body))


def test_bake_takes_range_step_and_name_from_the_panel(stage):
    scene, _, body = stage
    settings = scene.foothold
    settings.use_range, settings.first, settings.last, settings.step = True, 5, 21, 4
    settings.action_name = "Chosen"
    assert ops.bake() == {"FINISHED"}
    assert body.animation_data.action.name == "Chosen"
    for points in keys_of(body).values():
        assert points[:, 0].tolist() == [5, 9, 13, 17, 21]


def test_bake_maps_known_bones_by_itself(stage):
    _, take, body = stage
    for armature in (take, body):
        del armature[roles.KEY]
    assert ops.bake() == {"FINISHED"}
    for armature in (take, body):
        assert roles.load(armature)["forearm.L"] == "forearm.L" and roles.KEY in armature


def test_without_take_or_body_the_buttons_say_what_is_missing(stage):
    scene, _, body = stage
    scene.foothold.take = None
    for operator in (ops.bake, ops.bake_ab, ops.measure, ops.compare_rests):
        assert not operator.poll()
        refused(operator, "(?i)take")
    scene.foothold.take, scene.foothold.body = body, None
    refused(ops.bake, "(?i)(body|action)")


def test_take_that_is_the_body_is_refused(stage):
    scene, take, _ = stage
    scene.foothold.body = take
    refused(ops.bake, "both take and body|same armature")


def test_take_without_action_is_refused(stage):
    _, take, _ = stage
    take.animation_data.action = None
    refused(ops.bake, "action")


@pytest.mark.parametrize("who", [1, 2])
def test_missing_hips_are_named(stage, who):
    armature = stage[who]
    roles.store(armature, {r: b for r, b in roles.load(armature).items() if r != "hips"})
    refused(ops.bake, f"'{armature.name}'.*hips")


def test_role_of_a_bone_that_is_gone_is_named(stage):
    _, _, body = stage
    roles.store(body, {**roles.load(body), "hand.L": "lost"})
    refused(ops.bake, "lost")


def test_range_outside_the_take_is_refused(stage):
    settings = stage[0].foothold
    settings.use_range, settings.first, settings.last = True, 5, 400
    refused(ops.bake, "400")


def test_edits_survive_a_bake_until_they_are_forgotten(stage):
    _, _, body = stage
    refused(ops.forget_edits, "baked")
    ops.bake()
    baked = keys_of(body)
    curve = compat.fcurves(body.animation_data.action, body)[0]
    where = curve.data_path, curve.array_index
    curve.keyframe_points[3].co.y += 0.5
    curve.update()
    mine = keys_of(body)[where]
    ops.bake()
    assert keys_of(body)[where][3, 1] == mine[3, 1]
    assert ops.forget_edits() == {"FINISHED"}
    ops.bake()
    assert same_keys(keys_of(body), baked)


def test_ab_bakes_both_rests_and_swaps(stage):
    scene, _, body = stage
    refused(ops.bake_ab, "(?i)rest")
    scene.foothold.take_rest.kind, scene.foothold.take_rest.frame = "FRAME", 10
    assert not ops.play_ab.poll()
    assert ops.bake_ab() == {"FINISHED"}
    picked = keys_of(body)
    names = {body.animation_data.action.name}
    assert ops.play_ab(side="OTHER") == {"FINISHED"}
    by_file = keys_of(body)
    names.add(body.animation_data.action.name)
    assert not same_keys(picked, by_file) and len(names) == 2
    assert all(keys.is_baked(bpy.data.actions[name]) for name in names)
    ops.play_ab(side="B")
    assert same_keys(keys_of(body), picked)
    scene, take, body = make_stage()
    job.run(job.bake_steps(scene, job.BakeSettings(take, body)))
    assert same_keys(keys_of(body), by_file)


# Roles

def test_roles_are_detected_cleared_picked_and_mirrored(stage):
    scene, _, body = stage
    whole = roles.load(body)
    roles.store(body, {})
    assert ops.detect_roles(target="BODY") == {"FINISHED"}
    assert roles.load(body) == whole

    ops.clear_role(target="BODY", role="forearm.R")
    ops.clear_role(target="BODY", role="hand.R")
    assert set(whole) - set(roles.load(body)) == {"forearm.R", "hand.R"}
    assert ops.mirror_roles(target="BODY") == {"FINISHED"}
    assert roles.load(body) == whole

    bpy.context.view_layer.objects.active = body
    bpy.ops.object.mode_set(mode="POSE")
    body.data.bones.active = body.data.bones["hand.L"]
    assert ops.pick_role(target="BODY", role="toe.L") == {"FINISHED"}
    found = roles.load(body)
    assert found["toe.L"] == "hand.L" and "hand.L" not in found, "a bone has one role"
    bpy.ops.object.mode_set(mode="OBJECT")


def test_roles_of_the_take_do_not_touch_the_body(stage):
    _, take, body = stage
    before = roles.load(body)
    ops.clear_role(target="TAKE", role="head")
    assert "head" not in roles.load(take) and roles.load(body) == before


def test_roles_are_saved_and_loaded(stage, tmp_path):
    _, take, body = stage
    path = tmp_path / "roles.json"
    whole = roles.load(body)
    assert ops.save_roles(target="BODY", filepath=str(path)) == {"FINISHED"}
    roles.store(body, {"hips": "hips"})
    assert ops.load_roles(target="BODY", filepath=str(path)) == {"FINISHED"}
    assert roles.load(body) == whole


def test_faulty_tables_are_refused(stage, tmp_path):
    path = tmp_path / "roles.json"
    path.write_text(json.dumps({"hips": "no such bone"}), encoding="utf-8")
    refused(ops.load_roles, "no such bone", target="BODY", filepath=str(path))
    path.write_text("not JSON", encoding="utf-8")
    refused(ops.load_roles, "roles.json", target="BODY", filepath=str(path))
    refused(ops.load_roles, "missing.json", target="BODY", filepath=str(tmp_path / "missing.json"))
    refused(ops.save_roles, "nowhere", target="BODY", filepath=str(tmp_path / "nowhere" / "roles.json"))


# Rest

def test_comparing_rests_changes_no_data(stage):
    before = snapshot()
    assert ops.compare_rests() == {"FINISHED"}
    assert whole_file.diff(before, snapshot()) == []
    shown = bpy.context.window_manager.foothold
    degrees = [row.degrees for row in shown.rests]
    assert degrees and degrees == sorted(degrees, reverse=True) and not shown.rests_error


def test_current_frame_becomes_the_rest(stage):
    scene = stage[0]
    scene.frame_set(17)
    assert ops.rest_here(target="TAKE") == {"FINISHED"}
    assert (scene.foothold.take_rest.kind, scene.foothold.take_rest.frame) == ("FRAME", 17)


def test_guess_takes_a_standing_rest(stage):
    scene = stage[0]
    scene.foothold.take_rest.kind = "POSE"
    assert ops.guess_rest() == {"FINISHED"}
    assert scene.foothold.take_rest.kind == "FILE"


# Import

def bring(path, target):
    return getattr(ops, f"import_{target.lower()}")(filepath=str(path))


def test_import_of_the_demo_makes_it_ready_to_bake(empty, checkout):
    fps = empty.render.fps
    assert bring(checkout / "demo" / "take.bvh", "TAKE") == {"FINISHED"}
    assert bring(checkout / "demo" / "body.blend", "BODY") == {"FINISHED"}
    settings = empty.foothold
    assert settings.take is not None and settings.body is not None and settings.take != settings.body
    assert settings.take_rest.kind == "ARMATURE", "the T-pose beside the take is its rest"
    assert settings.take_rest.armature.hide_get()
    assert empty.render.fps == fps
    assert ops.match_scene() == {"FINISHED"}
    assert (empty.render.fps, empty.frame_start, empty.frame_end) == (30, 1, 900)
    settings.use_range, settings.first, settings.last = True, 1, 12
    assert ops.bake() == {"FINISHED"}
    assert keys.is_baked(settings.body.animation_data.action)


@pytest.mark.parametrize("name", ["broken.bvh", "broken.glb", "broken.fbx", "broken.blend", "missing.bvh", "other.txt"])
def test_import_of_a_broken_file_leaves_nothing(stage, tmp_path, name):
    path = tmp_path / name
    if not name.startswith("missing"):
        path.write_bytes(b"HIERARCHY\nROOT x\n{ nonsense")
    refused(lambda: bring(path, "TAKE"), name)
    refused(lambda: bring(path, "BODY"), name)


def test_body_without_motion_is_no_take(stage, checkout):
    refused(lambda: bring(checkout / "demo" / "body.blend", "TAKE"), "no motion")


# Review

def test_measured_figures_can_be_saved(stage, tmp_path):
    refused(ops.save_report, "(?i)measure", filepath=str(tmp_path / "report.json"))
    ops.bake()
    assert ops.measure() == {"FINISHED"}
    assert ops.save_report(filepath=str(tmp_path / "report.json")) == {"FINISHED"}
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert report["frames"]["count"] == 30 and report["metrics"]["limb_direction_deg"]["std"] < 0.01


def test_faults_are_listed_worst_first_and_lead_to_their_frames(stage):
    scene, _, body = stage
    scene.foothold.stage_contacts = False  # with it on limbs may turn otherwise than the take's
    ops.bake()
    name = bpy.utils.escape_identifier(roles.load(body)["forearm.L"])
    for curve in compat.fcurves(body.animation_data.action, body):
        if curve.data_path.startswith(f'pose.bones["{name}"].rotation'):
            curve.keyframe_points[12].co.y += 0.7
            curve.update()
    ops.measure()
    faults = bpy.context.window_manager.foothold.faults
    assert len(faults) and faults[0].name == "forearm.L"
    frames = [fault.frame for fault in faults if fault.name == "forearm.L"]
    assert any(abs(frame - 13) <= 1 for frame in frames)
    ops.jump_to_fault(frame=frames[0])
    assert scene.frame_current == int(frames[0])
