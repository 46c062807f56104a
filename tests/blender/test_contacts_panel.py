"""The contacts as an artist handles them: kept with the take's action, edited by buttons, drawn as bars and markers."""

import json
from dataclasses import replace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

import rigs  # noqa: E402
import whole_file  # noqa: E402

from foothold.operators import contact_settings, contacts, edit_contacts  # noqa: E402
from foothold.operators.bridge import overlay, scripts  # noqa: E402
from foothold.operators.bridge import overlay_shapes as shapes  # noqa: E402
from foothold.solvers.contacts import edit, extract, pole  # noqa: E402
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
    assert bpy.context.scene.foothold_contacts.active == "hand.R:2", "what was chosen when the first grip went"

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


def test_a_file_of_a_take_at_a_broken_rate_is_read_again(stage, tmp_path):
    """30000/1001 frames a second are written with five digits."""
    _, action = stage
    action["foothold_fps"] = 30000.0 / 1001.0
    script = rounded(ContactScript(30000.0 / 1001.0, FRAMES, (), tuple(
        c for c in captured().contacts if c.surface == "floor")))
    scripts.store(action, script)
    path = str(tmp_path / "contacts.json")
    ops.contacts_save(filepath=path)
    scripts.remove(action)
    ops.contacts_load(filepath=path)
    assert scripts.load(action) == script
    action["foothold_fps"] = 30.0
    refused(ops.contacts_load, "29.97.*30", filepath=path)


@pytest.mark.parametrize("frame", [0, 121, 400, -7])
def test_a_contact_cannot_begin_outside_the_take(stage, frame):
    scene, _ = stage
    scene.frame_set(frame)
    refused(ops.contacts_add, f"frame {frame} .*from 1 to 120")


def test_a_file_that_an_editor_of_windows_has_saved_is_read(stage, tmp_path):
    _, action = stage
    path = tmp_path / "contacts.json"
    scripts.save_file(str(path), captured())
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert scripts.load_file(str(path)) == captured()


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


# Bars

def view(**other):
    """A dope sheet of 1210 pixels that shows frames 0 to 121."""
    return shapes.View(**{"first": 0.0, "last": 121.0, "width": 1210.0, "height": 300.0, **other})


CLOCK = scripts.Clock(1, FPS)


def test_bars_lie_at_their_frames_in_the_rows_of_their_effectors():
    lanes, bars = shapes.layout(captured(), CLOCK, view())
    assert [lane.effector for lane in lanes] == ["hand.L", "hand.R", "foot.R"]
    assert all(above.low == below.high for above, below in zip(lanes, lanes[1:])), "one below the other"
    assert lanes[-1].low == shapes.BOTTOM
    by_id = {bar.ident: bar for bar in bars}
    assert (by_id["hand.R:1"].left, by_id["hand.R:1"].right) == pytest.approx((70.0, 310.0))
    for ident, lane in (("hand.L:1", 0), ("hand.R:1", 1), ("hand.R:2", 1), ("foot.R:1", 2)):
        assert lanes[lane].low < by_id[ident].low < by_id[ident].high <= lanes[lane].high


def test_contacts_at_the_same_time_get_rows_of_their_own():
    script = edit.add(captured(), "hand.R", "thigh.R", 0.3, 1.0)
    lanes, bars = shapes.layout(script, CLOCK, view())
    lane = next(lane for lane in lanes if lane.effector == "hand.R")
    assert lane.high - lane.low == 2 * shapes.BAR
    for i, one in enumerate(bars):
        for other in bars[:i]:
            assert one.right <= other.left or other.right <= one.left or one.low >= other.high or other.low >= one.high


def test_bars_outside_the_view_and_in_a_low_view():
    _, bars = shapes.layout(captured(), CLOCK, view(first=40.0, last=60.0))
    assert {bar.ident for bar in bars} == {"hand.R:2", "foot.R:1"}, "the others end at frames 31 and 37"
    lanes, bars = shapes.layout(captured(), CLOCK, view(height=shapes.TOP + shapes.BOTTOM + 15.0))
    assert len(bars) == 4 and lanes[0].high == pytest.approx(shapes.BOTTOM + 15.0)
    assert shapes.layout(captured(), CLOCK, view(height=shapes.TOP + shapes.BOTTOM + 5.0)) == ([], [])
    assert shapes.layout(edit.empty(FPS, FRAMES), CLOCK, view()) == ([], [])


def test_approach_and_release_reach_beyond_the_bar_and_a_short_one_can_be_hit():
    script = captured()
    contacts_ = [replace(c, approach=0.1, release=0.05, end=c.start) if c.id == "hand.R:1" else c
                 for c in script.contacts]
    bar = next(b for b in shapes.layout(replace(script, contacts=tuple(contacts_)), CLOCK, view())[1]
               if b.ident == "hand.R:1")
    assert (bar.near, bar.far) == pytest.approx((10.0, 100.0)) and bar.right - bar.left == pytest.approx(3.0)


def test_hits():
    _, bars = shapes.layout(captured(), CLOCK, view())
    for bar in bars:
        assert shapes.hit(bars, bar.left + 1.0, bar.low + 1.0) == bar.ident
        assert shapes.hit(bars, bar.right + 2.0, bar.low + 1.0) != bar.ident
    assert shapes.hit(bars, 400.0, 200.0) == "" and shapes.hit([], 0.0, 0.0) == ""


# Marks

def test_a_grip_is_marked_on_its_pole_with_ring_and_range():
    joints = {"hand.R": np.array([0.6, 0.0, 1.0])}
    found = shapes.marks(captured(), 0.3, joints, {})
    mark = next(m for m in found if m.ident == "hand.R:1")
    assert mark.strength == 1.0 and mark.effector == pytest.approx([0.6, 0.0, 1.0])
    assert mark.surface == pytest.approx([0.52, 0.0, 1.0]), "2 cm from the axis, towards +X"
    ring, heights, arc = mark.lines
    assert np.linalg.norm(ring - (0.5, 0.0, 1.0), axis=1) == pytest.approx(np.full(len(ring), 0.02))
    assert heights[:, 2] == pytest.approx([0.9, 1.1])
    angles = np.degrees(np.arctan2(arc[:, 1], arc[:, 0] - 0.5))
    assert (angles.min(), angles.max()) == pytest.approx((-20.0, 20.0))
    assert {m.ident for m in found} == {"hand.R:1", "hand.L:1", "foot.R:1"}
    foot = next(m for m in found if m.ident == "foot.R:1")
    assert foot.effector is None and foot.surface == pytest.approx([0.0, 0.0, 0.0])


def test_marks_come_and_go_with_approach_and_release_and_the_muted_have_none():
    script = captured()
    script = replace(script, contacts=tuple(replace(c, approach=0.2, release=0.1) for c in script.contacts))
    strengths = [{m.ident: m.strength for m in shapes.marks(script, t, {}, {})}.get("hand.R:2", 0.0)
                 for t in (0.55, 0.7, 0.8, 1.2, 1.25, 1.31)]
    assert strengths == pytest.approx([0.0, 0.5, 1.0, 1.0, 0.5, 0.0])
    assert shapes.marks(edit.mute(script, "hand.R:2"), 1.19, {}, {}) == []


def test_a_touch_of_the_body_goes_with_its_bone():
    script = edit.add(edit.empty(FPS, FRAMES), "hand.R", "thigh.L", 0.0, 1.0)
    script = replace(script, contacts=(replace(script.contacts[0], path={"time": [0.0], "x": [0.1], "y": [0.0],
                                                                         "z": [0.0]}),))
    bone = np.eye(4)
    bone[:3, :3], bone[:3, 3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]], (1.0, 2.0, 3.0)
    assert shapes.marks(script, 0.5, {}, {"thigh.L": bone})[0].surface == pytest.approx([1.0, 2.1, 3.0])
    assert shapes.marks(script, 0.5, {}, {})[0].surface is None


def test_lines_of_props():
    pole = captured().props[0]
    axis, low, high = shapes.prop_lines(captured(), pole)
    assert axis[:, 2] == pytest.approx([0.0, 1.3]) and (low[0, 2], high[0, 2]) == pytest.approx((0.0, 1.3))
    hung = shapes.prop_lines(replace(captured(), floor=None), pole)[0]
    assert hung[:, 2] == pytest.approx([0.7, 1.3]), "without a floor it is drawn where it is held"
    box = shapes.prop_lines(captured(), Prop("box", "box", (0.0, 0.0, 1.0), size=(1.0, 2.0, 3.0)))
    corners = np.concatenate(box)
    assert np.ptp(corners, axis=0) == pytest.approx([1.0, 2.0, 3.0]) and corners[:, 2].min() == pytest.approx(-0.5)
    edges = np.abs(np.concatenate([np.diff(line, axis=0) for line in box]))
    assert sorted(edges.max(axis=1)) == pytest.approx([1.0] * 4 + [2.0] * 4 + [3.0] * 4), "its twelve edges"
    assert (np.sum(edges > 1e-9, axis=1) == 1).all(), "and no diagonal"
    assert len(shapes.prop_lines(captured(), Prop("p", "plane"))) == 1
    assert shapes.prop_lines(captured(), Prop("m", "mesh")) == []


@pytest.mark.parametrize("axis", [(0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.6, 0.0, 0.8), (0.0, -1.0, 0.0)])
def test_azimuths_count_as_the_extraction_writes_them(axis):
    prop = Prop("p", "cylinder", (0.3, -0.2, 0.0), axis, 0.05)
    point = shapes.on_cylinder(prop, 0.7, 35.0, 0.01)[None, 0]
    pole_ = pole.Pole(np.array(prop.point), np.array(axis), 0.05, *[0] * (len(pole.Pole._fields) - 3))
    told = extract._about(pole_, point)
    foot = np.array(prop.point) - np.array(axis) * (prop.point[2] / axis[2] if abs(axis[2]) > 0.1 else 0.0)
    assert told["height"][0] == pytest.approx(0.7 + (np.array(prop.point) - foot) @ axis)
    assert told["azimuth"][0] == pytest.approx(35.0) and told["gap"][0] == pytest.approx(0.01)


def test_marks_are_hit_where_they_are_seen():
    camera = np.diag([1.0, 1.0, 1.0, 1.0])  # looks along -Z, everything within -1 to 1 is seen
    mark = shapes.Mark("a", "grip", 1.0, np.array([0.5, 0.0, 0.0]), None, ())
    assert shapes.hit_mark([mark], camera, 200, 100, 152, 48) == "a"
    assert shapes.hit_mark([mark], camera, 200, 100, 170, 50) == ""
    behind = np.eye(4)
    behind[3] = (0.0, 0.0, 0.0, -1.0)
    assert shapes.hit_mark([mark], behind, 200, 100, 50, 50) == ""
    assert shapes.project(behind, [mark.effector], 200, 100)[1].tolist() == [False]


def test_drawing_without_a_window_or_a_take_is_nothing(stage):
    scene, action = stage
    scene.frame_set(100)
    assert overlay.marks(bpy.context) == []
    scene.frame_set(19)
    found = {m.ident: m for m in overlay.marks(bpy.context)}
    assert set(found) == {"hand.R:1", "hand.L:1", "foot.R:1"}
    hand = scene.foothold.take.pose.bones["hand.R"]
    assert found["hand.R:1"].effector == pytest.approx(
        list((scene.foothold.take.matrix_world @ hand.matrix).translation), abs=1e-5)
    assert overlay.bars(bpy.context) == ([], [])
    scene.foothold_contacts.show_markers = False
    assert overlay.marks(bpy.context) == []
    scene.foothold_contacts.show_markers = True
    action[scripts.KEY] = "{"
    assert overlay.of_scene(scene) is None and overlay.marks(bpy.context) == []
    scene.foothold.take = None
    assert overlay.of_scene(scene) is None


def test_hovering_notes_a_change_once():
    assert overlay.hover("a") and not overlay.hover("a") and overlay.hovered() == "a"
    assert overlay.hover("")
