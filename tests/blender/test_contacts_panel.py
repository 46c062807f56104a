"""The contacts as an artist handles them: kept with the take's action, edited by buttons, drawn as bars and markers."""

import json

import pytest

bpy = pytest.importorskip("bpy")

import rigs  # noqa: E402
import whole_file  # noqa: E402

from foothold.operators import contact_settings, contacts, edit_contacts  # noqa: E402
from foothold.operators.bridge import scripts  # noqa: E402
from foothold.solvers.contacts import edit  # noqa: E402
from foothold.solvers.contacts.script import Contact, ContactScript, Prop, Removed, rounded  # noqa: E402
from foothold.solvers.errors import FootholdError  # noqa: E402

ops = bpy.ops.foothold
FPS, FRAMES = 60.0, 121  # two seconds, frames 1 to 121


def captured():
    """Two grips a hand on a pole and a plant a foot, as a capture gives them."""
    def grip(ident, start, end):
        effector = ident.split(":")[0]
        times = [start + i * (end - start) / 8 for i in range(9)]
        return Contact(ident, effector, "pole", "grip", start, end, confidence=0.9,
                       path={"time": times, "height": [1.0] * 9, "azimuth": [0.0] * 9, "gap": [0.0] * 9},
                       licence={"height": [-0.1, 0.1], "azimuth": [-20.0, 20.0]})
    return rounded(ContactScript(FPS, FRAMES, (Prop("pole", "cylinder", (0.5, 0.0, 0.0), radius=0.02,
                                                    evidence={"residual": "1.2 mm"}),), (
        grip("hand.R:1", 0.1, 0.5), grip("hand.R:2", 0.8, 1.2), grip("hand.L:1", 0.2, 0.6),
        Contact("foot.R:1", "foot.R", "floor", "plant", 0.0, 1.0,
                path={"time": [0.0], "x": [0.0], "y": [0.0], "z": [0.0]}))))


@pytest.fixture
def stage(addon):
    """(scene, the take's action with `captured()` on it); the first grip is chosen."""
    scene = rigs.new_file()
    take = rigs.humanoid("Take")
    action = rigs.dance(take, frames=FRAMES)
    scene.foothold.take = take
    scripts.store(action, captured())
    contact_settings.sync(bpy.context)
    scene.foothold_contacts.active = "hand.R:1"
    return scene, action


def intervals(action):
    return {c.id: (c.start, c.end) for c in scripts.load(action).contacts}


def refused(operator, message, **arguments):
    """The operator fails with a message that matches, and nothing in the file is other than before."""
    skip = ('scenes["Scene"]["foothold"]', 'scenes["Scene"]["foothold_contacts"]')
    before = whole_file.snapshot(skip=skip)
    with pytest.raises(RuntimeError, match=message):
        operator(**arguments)
    assert whole_file.diff(before, whole_file.snapshot(skip=skip)) == []


# Kept with the action

def test_a_script_comes_back_from_its_action(stage):
    _, action = stage
    assert scripts.load(action) == captured()
    scripts.remove(action)
    assert scripts.load(action) is None
    scripts.remove(action)


def test_it_survives_saving_copying_and_linking(stage, tmp_path):
    _, action = stage
    copy = action.copy()
    copy.name, copy.use_fake_user = "Copied", True
    ops.contacts_delete()
    assert scripts.load(copy) == captured() and scripts.load(action) != captured()
    kept = scripts.load(action)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "kept.blend"))
    rigs.new_file()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "kept.blend"))
    assert scripts.load(bpy.data.actions["Dance"]) == kept
    assert scripts.load(bpy.data.actions["Copied"]) == captured()
    assert bpy.context.scene.foothold_contacts.active == "foot.R:1" or kept.contacts

    rigs.new_file()
    with bpy.data.libraries.load(str(tmp_path / "kept.blend"), link=True) as (_, wanted):
        wanted.actions = ["Copied"]
    linked = bpy.data.actions["Copied"]
    assert scripts.load(linked) == captured()
    with pytest.raises(FootholdError, match="Copied.*append"):
        scripts.store(linked, kept)


def test_one_undo_step_takes_an_edit_back(stage):
    bpy.ops.ed.undo_push(message="before")
    ops.contacts_delete("EXEC_DEFAULT", True)
    assert "hand.R:1" not in intervals(bpy.data.actions["Dance"])
    bpy.ops.ed.undo()
    assert scripts.load(bpy.data.actions["Dance"]) == captured()
    assert bpy.context.scene.foothold_contacts.active == "hand.R:1"
    assert not contact_settings.is_synced(bpy.context), "the rows notice an undo"
    bpy.ops.ed.redo()
    assert "hand.R:1" not in intervals(bpy.data.actions["Dance"])


@pytest.mark.parametrize(("change", "message"), [
    (lambda text: text[:-5], "'Dance'.*JSON"),
    (lambda text: text.replace('"grip"', '"glue"', 1), r"'Dance'.*contacts\[\d\].kind.*glue"),
    (lambda text: 7, "'Dance'")])
def test_a_broken_property_is_told_with_action_and_entry(stage, change, message):
    _, action = stage
    action[scripts.KEY] = change(action[scripts.KEY])
    with pytest.raises(FootholdError, match=message):
        scripts.load(action)
    contact_settings.sync(bpy.context)
    shown = bpy.context.window_manager.foothold_contacts
    assert "Dance" in shown.fault and not len(shown.rows)
    refused(ops.contacts_add, "Dance")
    assert not ops.contacts_delete.poll()


# Buttons

def test_rows_are_by_effector_then_time(stage):
    shown = bpy.context.window_manager.foothold_contacts
    assert [r.ident for r in shown.rows] == ["hand.L:1", "hand.R:1", "hand.R:2", "foot.R:1"]
    assert (shown.rows[1].first, shown.rows[1].last) == pytest.approx((7.0, 31.0), abs=1e-3)
    assert shown.at == 1
    shown.at = 3
    assert bpy.context.scene.foothold_contacts.active == "foot.R:1"
    assert contact_settings.is_synced(bpy.context)


def test_add_begins_at_the_current_frame(stage):
    scene, action = stage
    scene.frame_set(91)
    assert ops.contacts_add(effector="hand.R", surface="thigh.R") == {"FINISHED"}
    assert intervals(action)["hand.R:3"] == (1.5, 2.0) and scene.foothold_contacts.active == "hand.R:3"
    scene.foothold_contacts.effector, scene.foothold_contacts.surface = "pelvis", "floor"
    ops.contacts_add(frames=6)
    assert intervals(action)["pelvis:1"] == (1.5, 1.6)
    scene.frame_set(20)
    refused(ops.contacts_add, "hand.R:1", effector="hand.R", surface="pole")
    scene.frame_set(400)
    refused(ops.contacts_add, "fit the take")


def test_add_begins_a_script_where_there_is_none(stage):
    scene, action = stage
    scripts.remove(action)
    scene.frame_set(31)
    assert not ops.contacts_split.poll()
    ops.contacts_add(effector="foot.L", surface="floor")
    script = scripts.load(action)
    assert (script.fps, script.frames) == (FPS, FRAMES) and intervals(action) == {"foot.L:1": (0.5, 1.0)}


def test_split_merge_nudge_mute_retarget_delete(stage):
    scene, action = stage
    scene.frame_set(19)
    ops.contacts_split()
    assert intervals(action)["hand.R:1"] == (0.1, 0.3) and intervals(action)["hand.R:3"] == (0.3, 0.5)
    ops.contacts_merge()
    assert intervals(action)["hand.R:1"] == (0.1, 0.5)
    ops.contacts_nudge(edge="END", frames=6)
    ops.contacts_nudge(edge="START", frames=-3)
    assert intervals(action)["hand.R:1"] == pytest.approx((0.05, 0.6))
    ops.contacts_mute()
    ops.contacts_mute(contact="foot.R:1")
    assert [c.id for c in scripts.load(action).contacts if c.mute] == ["foot.R:1", "hand.R:1"]
    ops.contacts_mute()
    ops.contacts_retarget(surface="thigh.R")
    contact = edit.find(scripts.load(action), "hand.R:1")
    assert (contact.surface, contact.kind, contact.mute, contact.source) == ("thigh.R", "rest-on", False, "artist")
    ops.contacts_delete()
    assert "hand.R:1" not in intervals(action) and scene.foothold_contacts.active == "hand.R:2"
    assert Removed("hand.R", "pole", 0.1, 0.5) in scripts.load(action).removed
    scene.frame_set(1)
    refused(ops.contacts_split, "hand.R:2.*inside")
    refused(ops.contacts_merge, "hand.R:2.*earlier")
    refused(ops.contacts_retarget, "moon", surface="moon")


def test_mirror_is_a_setting(stage):
    scene, action = stage
    scene.foothold_contacts.mirror = True
    ops.contacts_nudge(edge="END", frames=3)
    assert intervals(action)["hand.R:1"][1] == pytest.approx(0.55) and intervals(action)["hand.L:1"][1] == 0.65
    scene.foothold_contacts.active = "hand.R:2"
    refused(ops.contacts_nudge, "hand.L.*Mirror")


def test_next_previous_and_jump(stage):
    scene, _ = stage
    ops.contacts_select(step=1)
    assert scene.foothold_contacts.active == "hand.R:2"
    ops.contacts_jump(edge="START")
    assert scene.frame_current == 49
    ops.contacts_jump(edge="END")
    assert scene.frame_current == 73
    ops.contacts_select(step=-2)
    assert scene.foothold_contacts.active == "hand.L:1"
    ops.contacts_select(step=-1)
    assert scene.foothold_contacts.active == "foot.R:1", "the list goes round"


def test_save_and_load(stage, tmp_path):
    _, action = stage
    path = tmp_path / "contacts.json"
    ops.contacts_save(filepath=str(path))
    ops.contacts_delete()
    ops.contacts_load(filepath=str(path))
    assert scripts.load(action) == captured()
    data = json.loads(path.read_text())
    data["contacts"][1]["surface"] = "moon"
    path.write_text(json.dumps(data))
    refused(ops.contacts_load, r"contacts.json.*contacts\[1\].surface.*moon", filepath=str(path))
    data["frames"], data["contacts"] = 90, []
    path.write_text(json.dumps(data))
    refused(ops.contacts_load, "90 frames.*121", filepath=str(path))
    refused(ops.contacts_load, "cannot be read", filepath=str(tmp_path / "none.json"))
    refused(ops.contacts_save, "cannot be written", filepath=str(tmp_path / "no" / "such.json"))


def test_extracting_again_keeps_edits(stage, monkeypatch):
    scene, action = stage
    asked = []

    def steps(scene, settings, prop="auto"):
        asked.append((settings.take, prop))
        yield 0.5
        return captured()
    monkeypatch.setattr(contacts, "extract_steps", steps)
    scripts.remove(action)
    assert ops.contacts_extract() == {"FINISHED"} and scripts.load(action) == captured()
    ops.contacts_nudge(edge="END", frames=6)
    scene.foothold_contacts.active = "foot.R:1"
    ops.contacts_delete()
    mine = scripts.load(action)
    scene.foothold_contacts.prop = "NONE"
    ops.contacts_extract()
    assert scripts.load(action) == mine
    scene.foothold_contacts.prop = "OBJECT"
    refused(ops.contacts_extract, "Choose the object")
    scene.foothold_contacts.object = pole = bpy.data.objects.new("Pole", None)
    ops.contacts_extract(keep=False)
    assert scripts.load(action) == captured()
    assert asked == [(scene.foothold.take, "auto"), (scene.foothold.take, "none"), (scene.foothold.take, pole)]


def test_buttons_say_what_is_missing(stage):
    scene, action = stage
    scene.foothold_contacts.active = ""
    refused(ops.contacts_split, "Choose a contact first")
    scripts.remove(action)
    for operator in (ops.contacts_merge, ops.contacts_save, ops.contacts_select):
        refused(operator, "no contacts yet")
    scene.foothold.take.animation_data.action = None
    refused(ops.contacts_add, "plays no action")
    scene.foothold.take = None
    refused(ops.contacts_add, "Choose a take first")
    refused(ops.contacts_extract, "Choose a take first")
    contact_settings.sync(bpy.context)
    assert edit_contacts.contact_settings.active_contact(bpy.context) is None
