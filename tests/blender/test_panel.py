"""The panel as an artist meets it: three clicks, the same keys as the command line, one undo step, and bad input."""

import types

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

import rigs  # noqa: E402
import whole_file  # noqa: E402

from foothold.operators import cli, edit_roles, job, pick_rest, prepare, review, runner  # noqa: E402
from foothold.operators.bridge import compat, keys, roles  # noqa: E402

ops = bpy.ops.foothold
DEMO_FRAMES = 40


@pytest.fixture
def stage(addon):
    """(scene, take that dances, body with other proportions and bone axes); nothing is chosen in the panel yet."""
    scene = rigs.new_file()
    take, body = rigs.humanoid("Take"), rigs.humanoid("Body", arm=0.8, leg=0.85, seed=5, mesh=True)
    rigs.dance(take, frames=30)
    return scene, take, body


@pytest.fixture
def chosen(stage):
    """The same, chosen in the panel."""
    stage[0].foothold.take, stage[0].foothold.body = stage[1:]
    return stage


def shown():
    return bpy.context.window_manager.foothold


def values(armature):
    out = {}
    for curve in compat.fcurves(armature.animation_data.action, armature):
        flat = np.empty(2 * len(curve.keyframe_points), np.float32)
        curve.keyframe_points.foreach_get("co", flat)
        out[curve.data_path, curve.array_index] = flat.tobytes()
    return out


def snapshot():
    groups = "foothold", "foothold_contacts"
    return whole_file.snapshot(skip=tuple(f'scenes["Scene"]["{name}"]' for name in groups))


def refused(operator, message, **arguments):
    before = snapshot()
    with pytest.raises(RuntimeError, match=message):
        operator(**arguments)
    assert whole_file.diff(before, snapshot()) == []


# Three clicks

def test_picking_take_and_body_maps_guesses_and_compares(stage):
    scene, take, body = stage
    for armature in (take, body):
        del armature[roles.KEY]
    scene.foothold.take = take
    scene.foothold.body = body
    assert all(roles.KEY in armature for armature in (take, body))
    assert scene.foothold.take_rest.kind == "FILE", "a take that rests standing"
    assert (scene.foothold.first, scene.foothold.last) == (1, 30)
    assert len(shown().rests) > 10 and not shown().rests_sentence and not shown().rests_error
    assert shown().rests_stamp == prepare.stamp(scene.foothold)
    assert ops.bake() == {"FINISHED"}


@pytest.mark.parametrize("neighbour", [True, False], ids=["T-pose beside it", "no T-pose"])
def test_three_clicks_give_the_keys_of_the_command_line(addon, checkout, tmp_path, neighbour):
    for name in ("take.bvh", "tpose.bvh") if neighbour else ("take.bvh",):
        (tmp_path / name).write_bytes((checkout / "demo" / name).read_bytes())
    take, body = str(tmp_path / "take.bvh"), str(checkout / "demo" / "body.blend")
    words = ["bake", "--take", take, "--body", body, "--range", f"1:{DEMO_FRAMES}", "--out", str(tmp_path / "o.blend"),
             "--stages", "transfer,contacts"]
    assert cli.main(words) == cli.GOOD
    by_command = values(bpy.data.objects["Body"])

    scene = rigs.new_file()
    assert ops.import_take(filepath=take) == {"FINISHED"}
    assert ops.import_body(filepath=body) == {"FINISHED"}
    settings = scene.foothold
    settings.use_range, settings.last = True, DEMO_FRAMES
    assert ops.bake() == {"FINISHED"}
    assert settings.take_rest.kind == ("ARMATURE" if neighbour else "FRAME")
    assert by_command and values(settings.body) == by_command


def test_a_stage_that_is_switched_gives_the_keys_of_the_command_line(addon, checkout, tmp_path):
    for name in ("take.bvh", "tpose.bvh"):
        (tmp_path / name).write_bytes((checkout / "demo" / name).read_bytes())
    take, body = str(tmp_path / "take.bvh"), str(checkout / "demo" / "body.blend")
    by_command = {}
    for stages in ("transfer", "transfer,contacts"):
        words = ["bake", "--take", take, "--body", body, "--range", f"1:{DEMO_FRAMES}", "--stages", stages,
                 "--out", str(tmp_path / "o.blend")]
        assert cli.main(words) == cli.GOOD
        by_command["contacts" in stages] = values(bpy.data.objects["Body"])
    assert by_command[False].keys() == by_command[True].keys() and by_command[False] != by_command[True]

    scene = rigs.new_file()
    ops.import_take(filepath=take)
    ops.import_body(filepath=body)
    settings = scene.foothold
    settings.use_range, settings.last = True, DEMO_FRAMES
    for switch in (True, False, True):  # each time into the same action
        settings.stage_contacts = switch
        assert ops.bake() == {"FINISHED"}
        assert values(settings.body) == by_command[switch]
    assert sum(keys.is_baked(action) for action in bpy.data.actions) == 1


def test_a_rest_that_disagrees_is_told_before_the_bake(chosen):
    scene = chosen[0]
    scene.foothold.take_rest.frame, scene.foothold.take_rest.kind = 20, "FRAME"
    rows = [(r.name, r.degrees) for r in shown().rests]
    assert rows == sorted(rows, key=lambda row: -row[1]) and rows[0][1] > 10.0
    scene.foothold.take_rest.kind = "FILE"
    assert max(r.degrees for r in shown().rests) < rows[0][1]
    scene.foothold.take_rest.kind, scene.foothold.take_rest.frame = "FRAME", 900
    assert "900" in shown().rests_error
    refused(ops.compare_rests, "900")


def test_a_comparison_is_stale_once_the_roles_change(chosen):
    scene, _, body = chosen
    assert shown().rests_stamp == prepare.stamp(scene.foothold)
    roles.store(body, {"hips": "hips"})
    assert shown().rests_stamp != prepare.stamp(scene.foothold)


def test_t_pose_frames_come_one_a_stretch():
    assert pick_rest.stretches([60, 61, 1, 2, 59, 3]) == [60, 1]
    assert pick_rest.stretches(range(1, 200)) == [1]
    assert pick_rest.stretches([]) == []


def test_another_file_becomes_the_rest(chosen, checkout):
    scene = chosen[0]
    scene.foothold.take, scene.foothold.body = None, None
    ops.import_take(filepath=str(checkout / "demo" / "take.bvh"))
    ops.import_body(filepath=str(checkout / "demo" / "body.blend"))
    scene.foothold.take_rest.kind, scene.foothold.take_rest.armature = "FILE", None
    assert shown().rests_sentence, "it rests in frame zero of the dance"
    assert ops.import_rest(filepath=str(checkout / "demo" / "tpose.bvh"), target="TAKE") == {"FINISHED"}
    assert scene.foothold.take_rest.kind == "ARMATURE" and scene.foothold.take_rest.armature.hide_get()
    assert not shown().rests_sentence
    refused(ops.import_rest, "nowhere.bvh", filepath="nowhere.bvh", target="TAKE")


def test_a_guess_takes_the_t_pose_that_came_with_the_take_again(addon, checkout):
    scene = rigs.new_file()
    ops.import_take(filepath=str(checkout / "demo" / "take.bvh"))
    came = scene.foothold.take_rest.armature
    count = len(bpy.data.objects)
    scene.foothold.take_rest.kind = "POSE"
    assert ops.guess_rest() == {"FINISHED"}
    assert (scene.foothold.take_rest.kind, scene.foothold.take_rest.armature) == ("ARMATURE", came)
    assert len(bpy.data.objects) == count


# Undo and ESC

def test_one_undo_step_takes_a_bake_back(chosen):
    bpy.ops.ed.undo_push(message="before")
    before = snapshot()
    assert ops.bake("EXEC_DEFAULT", True) == {"FINISHED"}
    bpy.ops.ed.undo()
    assert [line for line in whole_file.diff(before, snapshot()) if "animation_data" in line or "actions" in line] == []
    scene = bpy.context.scene  # what was held before an undo is dead
    assert scene.foothold.take.name == "Take" and scene.foothold.body.name == "Body"
    assert ops.bake() == {"FINISHED"}


class _Work(runner.Steps):
    """An operator in all but Blender."""

    bl_label = "Work"

    def __init__(self, settings, scene):
        self.settings, self.scene, self.told = settings, scene, []

    def steps(self, context):
        return (yield from job.bake_steps(self.scene, self.settings))

    def report(self, kind, text):
        self.told.append((kind, text))


def fake_window():
    """A context with a window of which nothing is real but the settings."""
    def nothing(*_args, **_options):
        return None

    manager = types.SimpleNamespace(progress_begin=nothing, progress_update=nothing, progress_end=nothing,
                                    event_timer_add=nothing, event_timer_remove=nothing, modal_handler_add=nothing,
                                    windows=(), foothold=types.SimpleNamespace(progress=-1.0))
    return types.SimpleNamespace(window_manager=manager, window=object(),
                                 workspace=types.SimpleNamespace(status_text_set=nothing))


def test_esc_in_the_middle_leaves_everything_as_it_was(chosen, monkeypatch):
    scene, take, body = chosen
    body.pose.bones["head"].constraints.new("LIMIT_ROTATION").use_limit_x = True  # the long way, frame by frame
    bpy.context.view_layer.update()
    scene.frame_set(7)
    before = snapshot()
    work, context = _Work(scene.foothold.bake_settings(), scene), fake_window()
    monkeypatch.setattr(runner, "_SLICE", 0.0)
    monkeypatch.setattr(runner, "bpy", types.SimpleNamespace(app=types.SimpleNamespace(background=False)))
    assert work.invoke(context, None) == {"RUNNING_MODAL"}
    for _ in range(4):
        assert work.modal(context, types.SimpleNamespace(type="TIMER")) == {"RUNNING_MODAL"}
    assert 0.0 < context.window_manager.foothold.progress < 1.0
    assert work.modal(context, types.SimpleNamespace(type="A")) == {"RUNNING_MODAL"}, "no key gets through"
    assert work.modal(context, types.SimpleNamespace(type="ESC")) == {"CANCELLED"}
    assert context.window_manager.foothold.progress < 0.0 and "stopped" in work.told[-1][1]
    assert whole_file.diff(before, snapshot()) == []


# Roles

def test_the_other_side_is_found_by_place_where_names_do_not_tell(stage):
    scene, _, body = stage
    renamed = {"forearm.L": "b17", "forearm.R": "b23"}
    for old, new in renamed.items():
        body.data.bones[old].name = new
    table = {r: renamed.get(b, b) for r, b in roles.load(body).items()}
    del table["forearm.R"]
    roles.store(body, table)
    scene.foothold.body = body
    assert ops.mirror_role(target="BODY", role="forearm.L") == {"FINISHED"}
    assert roles.load(body)["forearm.R"] == "b23"
    ops.clear_role(target="BODY", role="forearm.R")
    assert ops.mirror_roles(target="BODY") == {"FINISHED"}
    assert roles.load(body)["forearm.R"] == "b23"
    refused(ops.mirror_role, "other side", target="BODY", role="hips")
    refused(ops.mirror_role, "nonsense", target="BODY", role="nonsense")


def test_a_bone_is_shown_and_a_table_cleared(chosen):
    body = chosen[2]
    assert ops.show_role(target="BODY", role="hand.L") == {"FINISHED"}
    assert compat.active_bone(body) == "hand.L"
    assert [b.name for b in compat.selected_pose_bones(body)] == ["hand.L"]
    refused(ops.show_role, "eye.L", target="BODY", role="eye.L")
    assert ops.clear_roles(target="BODY") == {"FINISHED"}
    assert roles.load(body) == {}
    refused(ops.bake, "'Body'.*hips")


def test_the_table_names_its_faults_and_shows_further_members(chosen):
    body = chosen[2]
    table = roles.load(body)
    roles.store(body, {**table, "head": table["neck"], "spine.7": "gone"})
    found, faults = edit_roles.table(body)
    assert any("neck" in f for f in faults) and any("gone" in f for f in faults)
    assert "spine.7" in edit_roles.groups(found)["Torso"]
    body[roles.KEY] = "nonsense"
    assert edit_roles.table(body)[1]
    refused(ops.bake, "JSON")


# Bad input

def one_frame(scene, take, body):
    compat.assign(take, bpy.data.actions.new("Single"))
    take.pose.bones["hips"].keyframe_insert("location", frame=1)


def no_number(scene, take, body):
    compat.fcurves(take.animation_data.action, take)[0].keyframe_points[4].co.y = float("nan")


def no_size(scene, take, body):
    body.scale = (0.0, 0.0, 0.0)
    bpy.context.view_layer.update()


def twice(scene, take, body):
    roles.store(body, {**roles.load(body), "toe.L": "foot.L"})


def empty_rest(scene, take, body):
    scene.foothold.take_rest.kind = "ARMATURE"


def rest_of_a_stranger(scene, take, body):
    data = bpy.data.armatures.new("Chair")
    other = bpy.data.objects.new("Chair", data)
    scene.collection.objects.link(other)
    bpy.context.view_layer.update()
    scene.foothold.take_rest.kind, scene.foothold.take_rest.armature = "ARMATURE", other


def no_root(scene, take, body):
    scene.foothold.carrier = "ROOT"


BAD = {"one frame": (one_frame, "Single"), "NaN": (no_number, "frame 5"), "no size": (no_size, "Body.*scale"),
       "two roles": (twice, "foot.L"), "no armature as rest": (empty_rest, "rest"),
       "rest of a stranger": (rest_of_a_stranger, "Chair"), "no root": (no_root, "root")}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named_and_changes_nothing(chosen, case):
    change, words = BAD[case]
    change(*chosen)
    refused(ops.bake, words)


def test_a_linked_body_is_refused_and_a_linked_take_is_not(stage, tmp_path):
    scene, take, body = stage
    path = str(tmp_path / "library.blend")
    bpy.data.libraries.write(path, {take, body}, fake_user=True)
    scene = rigs.new_file()
    with bpy.data.libraries.load(path, link=True) as (source, target):
        target.objects = [name for name in source.objects if name in ("Take", "Body")]
    linked = {thing.name: thing for thing in target.objects}
    for thing in linked.values():
        scene.collection.objects.link(thing)
    own = rigs.humanoid("Own", arm=0.9)
    bpy.context.view_layer.update()
    scene.foothold.take, scene.foothold.body = linked["Take"], linked["Body"]
    refused(ops.bake, "(?i)linked")
    refused(ops.clear_roles, "(?i)linked", target="BODY")
    scene.foothold.body = own
    assert ops.bake() == {"FINISHED"}


def test_a_body_without_a_mesh_is_baked_and_measured(chosen):
    bpy.data.objects.remove(bpy.data.objects["Body skin"])
    assert ops.bake() == {"FINISHED"} and ops.measure() == {"FINISHED"}
    assert shown().report_of == review.report_of(chosen[0].foothold)
    assert shown().report_lines.startswith("30 frames: no faults")


def test_outputs_that_cannot_be_written_are_named(chosen, tmp_path):
    ops.bake()
    ops.measure()
    refused(ops.save_report, "nowhere", filepath=str(tmp_path / "nowhere" / "report.json"))
    refused(ops.contact_sheet, "nowhere", filepath=str(tmp_path / "nowhere" / "sheet.png"))


def test_figures_of_another_bake_are_told_apart(chosen):
    scene, _, body = chosen
    ops.bake()
    ops.measure()
    scene.foothold.action_name = "Another"
    ops.bake()
    assert shown().report_of != review.report_of(scene.foothold)
    assert keys.is_baked(body.animation_data.action)


# Names of the baked action

@pytest.mark.parametrize("name", ["Hers", "踊り" * 40], ids=["of an action of hers", "too long"])
def test_a_second_bake_finds_its_action_whatever_its_name(chosen, name):
    scene, _, body = chosen
    hers = bpy.data.actions.new(name)
    scene.foothold.action_name = name
    ops.bake()
    first = body.animation_data.action
    ops.bake()
    assert body.animation_data.action == first != hers
    assert len([a for a in bpy.data.actions if keys.is_baked(a)]) == 1


def test_ab_finds_its_actions_by_long_names(chosen):
    scene, take, body = chosen
    take.name, body.name = "舞" * 20, "初音" * 10
    scene.foothold.take_rest.kind = "FRAME"
    assert ops.bake_ab() == {"FINISHED"}
    assert ops.play_ab(side="A") == {"FINISHED"} and ops.play_ab(side="B") == {"FINISHED"}


def test_a_dropped_file_comes_in_without_a_browser(addon, checkout):
    scene = rigs.new_file()
    assert ops.import_body("INVOKE_DEFAULT", filepath=str(checkout / "demo" / "body.blend")) == {"FINISHED"}
    assert scene.foothold.body is not None
    for name, operator in (("FOOTHOLD_FH_take", "foothold.import_take"), ("FOOTHOLD_FH_body", "foothold.import_body")):
        handler = getattr(bpy.types, name)
        assert handler.bl_import_operator == operator and ".vrm" in handler.bl_file_extensions


def test_a_take_that_never_stands_in_a_t_pose_says_so(chosen):
    scene, take, _ = chosen
    refused(ops.find_t_pose, "never")
    table = roles.load(take)
    roles.store(take, {role: bone for role, bone in table.items() if role != "hips"})
    refused(ops.guess_rest, "hips")
