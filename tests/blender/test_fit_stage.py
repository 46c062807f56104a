"""The stage "contacts" as artists and scripts use it: what it changes, what it leaves alone, and what it tells."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

import rigs  # noqa: E402
import whole_file  # noqa: E402

from foothold.operators import fitting, job, review, scripted  # noqa: E402
from foothold.operators.bridge import compat, keys, overlay, overlay_shapes, scripts, told  # noqa: E402
from foothold.solvers.contacts import edit  # noqa: E402
from foothold.solvers.contacts.script import EFFECTORS, Contact, ContactScript, Prop, in_order, to_json  # noqa: E402
from foothold.solvers.errors import FootholdError  # noqa: E402
from foothold.solvers.fit.fit import PREFER, Options  # noqa: E402
from foothold.solvers.transfer import Travel  # noqa: E402

ops = bpy.ops.foothold
FRAMES = 50
FPS = 60.0


def plant(side, start, end, x):
    return Contact(f"foot.{side}:1", f"foot.{side}", "floor", "plant", start, end, 0.1, 0.1, "sole",
                   {"time": [start, end], "x": [x, x], "y": [0.0, 0.0], "z": [0.08, 0.08]})


def grip(side, start, end, height):
    return Contact(f"hand.{side}:1", f"hand.{side}", "pole", "grip", start, end, 0.1, 0.1, "palm",
                   {"time": [start, end], "height": [height] * 2, "azimuth": [-90.0] * 2, "gap": [0.0] * 2},
                   {"height": (-0.02, 0.02), "azimuth": (-20.0, 20.0)})


SCRIPT = ContactScript(FPS, FRAMES, (Prop("pole", point=(0.3, 0.45, 0.0), radius=0.02),),
                       in_order([plant("L", 0.1, 0.4, 0.1), plant("R", 0.3, 0.7, -0.1), grip("R", 0.2, 0.6, 1.3)]))


@pytest.fixture
def stage(addon):
    """(scene, take that dances and has a script, body of other proportions), chosen in the panel."""
    scene = rigs.new_file()
    take, body = rigs.humanoid("Take"), rigs.humanoid("Body", arm=0.8, leg=0.85, seed=5, mesh=True, prefix="b ")
    scripts.store(rigs.dance(take, frames=FRAMES, amount=0.1), SCRIPT)
    scene.foothold.take, scene.foothold.body = take, body
    scene.foothold.take_rest.kind = "FILE"
    return scene, take, body


def bake(stage, **settings):
    scene, take, body = stage
    settings = {"stages": job.STAGES, **settings}
    return job.run(scripted.bake_steps(scene, job.BakeSettings(take, body, **settings)))


def bits(body, name=None):
    """(data path, index) -> bytes of the keys of an action, the one that is played if none is named."""
    action = bpy.data.actions[name] if name else body.animation_data.action
    out = {}
    for curve in compat.fcurves(action, body):
        flat = np.empty(2 * len(curve.keyframe_points), np.float32)
        curve.keyframe_points.foreach_get("co", flat)
        out[curve.data_path, curve.array_index] = flat.tobytes()
    return out


def script_of(armature):
    return scripts.load(armature.animation_data.action)


def snapshot():
    groups = "foothold", "foothold_contacts"
    return whole_file.snapshot(skip=tuple(f'scenes["Scene"]["{name}"]' for name in groups))


# What it changes, and what it does not

def test_contacts_change_the_keys_and_lie_ready_on_the_body(stage):
    _, take, body = stage
    bake(stage, stages=job.STAGES[:1])
    plain = bits(body)
    assert script_of(body) is None and not told.load(body.animation_data.action)
    report = bake(stage, action_name="Fitted")
    assert report.contacts["count"] == 3 and bits(body) != plain and bits(body).keys() == plain.keys()
    assert {c.id for c in script_of(body).contacts} == {c.id for c in SCRIPT.contacts}
    assert to_json(script_of(take)) == to_json(SCRIPT), "the take's own stays as it is"
    bake(stage, action_name="Fitted", stages=job.STAGES[:1])
    assert bits(body) == plain and script_of(body) is None and not told.load(body.animation_data.action)


@pytest.mark.parametrize("script", [
    replace(SCRIPT, contacts=()),
    replace(SCRIPT, contacts=(replace(plant("L", 0.1, 0.4, 0.1), mute=True),), props=(), floor=None)],
    ids=["empty", "muted"])
@pytest.mark.parametrize("travel", [Travel(), Travel("object"), Travel(horizontal=1.0, vertical=1.0)],
                         ids=["hips", "object", "source's scale"])
@pytest.mark.parametrize("stretch", [4096, 7])
def test_a_script_that_says_nothing_changes_no_bit(stage, monkeypatch, script, travel, stretch):
    monkeypatch.setattr(job.samples, "STRETCH", stretch)
    _, take, body = stage
    bake(stage, stages=job.STAGES[:1], travel=travel)
    plain = bits(body)
    scripts.store(take.animation_data.action, script)
    report = bake(stage, travel=travel, action_name="Fitted")
    assert bits(body) == plain
    assert report.contacts["count"] == 0 and report.contacts["moved"]["root"]["mm"]["max"] == 0.0
    assert not review.moved_lines(report.contacts) and not review.misses(report.contacts)


@pytest.mark.parametrize("change", [lambda s: edit.mute(s, "hand.R:1"), lambda s: edit.delete(s, "foot.L:1"),
                                    lambda s: edit.nudge(s, "foot.R:1", "end", 0.1)],
                         ids=["mute", "delete", "nudge"])
def test_a_bake_after_one_edit_equals_a_bake_from_the_start(stage, change):
    _, take, body = stage
    action = take.animation_data.action
    bake(stage, action_name="Twice")
    before = bits(body)
    scripts.store(action, change(SCRIPT))
    assert bake(stage, action_name="Twice").edits == 0
    bake(stage, action_name="Once")
    assert bits(body, "Twice") == bits(body, "Once") != before
    assert scripts.load(bpy.data.actions["Twice"]) == scripts.load(bpy.data.actions["Once"])


def test_options_reach_the_fit(stage):
    _, _, body = stage
    found = {}
    for prefer in PREFER:
        bake(stage, fit=Options(prefer), action_name=prefer)
        found[prefer] = bits(body)
    assert found["grip"] != found["pose"]
    bake(stage, fit=Options(prop_size=2.0), action_name="thick")
    assert script_of(body).props[0].radius == pytest.approx(2.0 * SCRIPT.props[0].radius)
    bake(stage, travel=Travel(horizontal=1.0, vertical=1.0), action_name="source")
    assert script_of(body).props[0].point[:2] == pytest.approx(SCRIPT.props[0].point[:2], abs=1e-5)


def test_a_body_in_place_cannot_keep_contacts(stage):
    with pytest.raises(FootholdError, match="stays in place.*leave out the stage 'contacts'"):
        bake(stage, travel=Travel(in_place=True))
    scene = stage[0]
    scene.foothold.in_place = True
    before = snapshot()
    for operator in (ops.bake, ops.bake_ab):
        assert not operator.poll()
        with pytest.raises(RuntimeError, match="In Place, or Contacts"):
            operator()
    assert whole_file.diff(before, snapshot()) == []
    scene.foothold.stage_contacts = False
    assert ops.bake() == {"FINISHED"}


# The script that it goes by

def test_what_a_bake_reads_off_stays_with_the_take(stage):
    scene, take, body = stage
    scripts.remove(take.animation_data.action)
    scene.foothold.use_range, scene.foothold.first, scene.foothold.last = True, 10, 40
    scene.foothold.step = 3
    assert ops.bake() == {"FINISHED"}
    kept = script_of(take)
    assert (kept.fps, kept.frames) == (FPS, FRAMES), "of the whole take"
    assert script_of(body) is not None
    again = bits(body)
    assert ops.bake() == {"FINISHED"} and bits(body) == again and script_of(take) == kept


def test_a_script_that_is_given_is_kept_at_the_takes_rate(stage):
    _, take, _ = stage
    bake(stage, script=replace(SCRIPT, fps=30.0, frames=1000))
    kept = script_of(take)
    assert (kept.fps, kept.frames) == (FPS, FRAMES) and {c.id for c in kept.contacts} == {c.id for c in SCRIPT.contacts}


def test_a_prop_that_was_not_chosen_hinders_only_where_one_is_looked_for(stage):
    scene, take, _ = stage
    scene.foothold_contacts.prop = "OBJECT"
    assert ops.bake() == {"FINISHED"}
    scripts.remove(take.animation_data.action)
    before = snapshot()
    with pytest.raises(RuntimeError, match="Choose the object"):
        ops.bake()
    assert whole_file.diff(before, snapshot()) == []


def test_an_unreadable_script_is_named_and_no_matter_without_the_stage(stage):
    scene, take, _ = stage
    take.animation_data.action[scripts.KEY] = "{"
    before = snapshot()
    with pytest.raises(RuntimeError, match="Contacts of action 'Dance'"):
        ops.bake()
    assert whole_file.diff(before, snapshot()) == []
    scene.foothold.stage_contacts = False
    assert ops.bake() == {"FINISHED"}


def test_stopping_it_leaves_everything_as_it_was(stage):
    scene, take, body = stage
    scripts.remove(take.animation_data.action)
    before = snapshot()
    for share in (0.05, 0.2, 0.32, 0.6, 0.7):
        steps = scripted.bake_steps(scene, job.BakeSettings(take, body, stages=job.STAGES))
        assert next(part for part in steps if part >= share) < 0.96
        steps.close()
        assert whole_file.diff(before, snapshot()) == []


def test_both_sides_of_a_comparison_go_by_one_script(stage):
    scene, take, body = stage
    scripts.remove(take.animation_data.action)
    scene.foothold.take_rest.frame, scene.foothold.take_rest.kind = 5, "FRAME"
    assert ops.bake_ab() == {"FINISHED"}
    assert script_of(take) is not None
    both = [a for a in bpy.data.actions if keys.is_baked(a)]
    ids = [{c.id for c in scripts.load(a).contacts} for a in both]
    assert len(both) == 2 and ids[0] == ids[1]


# What it tells

FAR = replace(SCRIPT, contacts=(*SCRIPT.contacts, replace(grip("L", 0.2, 0.5, 2.9), licence={})))


def test_contacts_out_of_reach_are_told_and_lead_to_their_frames(stage):
    scene, take, body = stage
    scripts.store(take.animation_data.action, FAR)
    report = bake(stage)
    missed = review.misses(report.contacts)
    frame, contact, words, far, sentence = next(row for row in missed if row.contact == "hand.L:1")
    assert words == "b hand.L on pole" and far > 100.0 and 13 <= frame <= 31
    assert sentence == f"frame {frame}: 'b hand.L' (hand.L) is {far:g} mm short of 'pole', contact 'hand.L:1'"
    assert [row.millimetres for row in missed] == sorted((row.millimetres for row in missed), reverse=True)
    assert review.misses(review.told_of(scene.foothold)) == missed, "they stay with the action"
    assert ops.jump_to_fault(frame=frame, contact=contact) == {"FINISHED"}
    assert scene.frame_current == frame and scene.foothold_contacts.active == "hand.L:1"
    assert ops.jump_to_fault(frame=3.0) == {"FINISHED"} and scene.foothold_contacts.active == "hand.L:1"
    bpy.data.actions.remove(body.animation_data.action)
    assert review.told_of(scene.foothold) == {}


def test_the_artist_is_told_in_plain_words(stage, capfd):
    _, take, body = stage
    bpy.data.objects.remove(bpy.data.objects["Body skin"])
    scripts.store(take.animation_data.action, FAR)
    assert ops.bake() == {"FINISHED"}
    printed = capfd.readouterr().out
    missed = review.misses(told.load(body.animation_data.action))
    assert f"{len(missed)} thing" in printed and "not kept" in printed and "Review has the list" in printed
    assert missed[0].sentence in printed
    notes = told.load(body.animation_data.action)["notes"]
    assert notes and all(note in printed for note in notes)


def test_what_moved_is_told_by_root_limb_and_trunk(stage):
    report = bake(stage)
    moved = report.contacts["moved"]
    assert {"root", "hand.L", "hand.R", "foot.L", "foot.R", "trunk"} <= set(moved)
    for figures in moved.values():
        assert all(0.0 <= one["mean"] <= one["max"] for one in figures.values())
    assert moved["hand.R"]["mm"]["max"] > 1.0 and moved["hand.R"]["degrees"]["max"] > 1.0
    assert moved["trunk"]["degrees"]["max"] < 0.2  # nothing leans; the pelvis is a little wide for its legs
    lines = review.moved_lines(report.contacts)
    assert any(line.startswith("hand.R\t") and " mm, " in line and line.endswith("°") for line in lines)


def test_other_text_where_a_bake_keeps_what_it_told_is_no_error(stage):
    bake(stage)
    action = stage[2].animation_data.action
    for text in ("{", "[1]", 7):
        action[told.KEY] = text
        assert told.load(action) == {}


# Where the body has to touch

def test_targets_are_drawn_for_the_body_that_plays_the_bake(stage):
    scene, take, body = stage
    settings = scene.foothold_contacts
    bake(stage)
    scene.frame_set(25)
    settings.show_markers = False
    marks = {mark.ident: mark for mark in overlay.marks(bpy.context)}
    assert {"hand.R:1", "foot.L:1", "foot.R:1"} == set(marks)
    hand = body.matrix_world @ body.pose.bones["b hand.R"].head
    assert marks["hand.R:1"].effector == pytest.approx(np.array(hand), abs=1e-5)
    laid = script_of(body)
    contact = next(c for c in laid.contacts if c.id == "hand.R:1")
    at = overlay_shapes.path_at(contact, 24 / FPS)
    wanted = overlay_shapes.on_cylinder(laid.props[0], at["height"], at["azimuth"])[0]
    assert marks["hand.R:1"].surface == pytest.approx(wanted, abs=1e-6)
    settings.show_markers = True
    assert len(overlay.marks(bpy.context)) == 6, "the take's beside them"
    settings.show_targets = False
    assert len(overlay.marks(bpy.context)) == 3
    settings.show_targets = True
    rigs.dance(body, frames=5, name="Her own")
    assert overlay.of_body(scene) is None and len(overlay.marks(bpy.context)) == 3
    scene.foothold.body = take
    assert overlay.of_body(scene) is None


@pytest.mark.parametrize("effector, role", [(e, None) for e in EFFECTORS] + [
    ("hand.L", "hand.L"), ("knee.R", "thigh.R"), ("shin.L", "shin.L"), ("elbow.L", "upper_arm.L"), ("back", "chest"),
    ("pelvis", "chest"), ("trunk", "chest"), ("head", "head")])
@pytest.mark.parametrize("least", [True, False])
def test_whatever_cannot_be_kept_names_a_bone_of_the_body(effector, role, least):
    """Also of a body that has hips alone."""
    names = ["hips"] if least else ["hips", "chest", "head"] + [
        f"{part}.{side}" for part in ("upper_arm", "forearm", "hand", "thigh", "shin", "foot") for side in "LR"]
    body = SimpleNamespace(roles={name: j for j, name in enumerate(names)},
                           skeleton=SimpleNamespace(names=[f"bone of {name}" for name in names]))
    found = fitting._bone(SimpleNamespace(plan=SimpleNamespace(body=body)), effector)
    assert found.startswith("bone of ") and (role is None or found == f"bone of {'hips' if least else role}")
