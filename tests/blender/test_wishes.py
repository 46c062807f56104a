"""Keys that a person has set on a baked body: the next bake goes through them and keeps contacts around them."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

import rigs  # noqa: E402
import whole_file  # noqa: E402

from foothold.operators import guess, job, review, scripted, tasks  # noqa: E402
from foothold.operators.bridge import compat, keys, roles, scripts, told  # noqa: E402
from foothold.solvers import rotation  # noqa: E402
from foothold.solvers.contacts.script import Contact, ContactScript, in_order  # noqa: E402

WINDOW = 30  # frames to each side that the difference fades within, at 60 fps and 0.4 s


@pytest.fixture
def stage(addon, data):
    """(scene, settings) of the first 400 frames of a pole take on a body of other proportions, contacts on."""
    scene = tasks.fresh_scene()
    take = tasks.load_take(data / "pole/seed1/take.bvh").armature
    body = tasks._main_armature(tasks.files.import_file(data / "bodies/tall.blend"))
    for armature in (take, body):
        roles.store(armature, roles.detect(armature).roles)
    choice, _ = guess.rest_of(take, data / "pole/seed1/take.bvh")
    return scene, job.BakeSettings(take, body, choice, first=1, last=400, stages=("transfer", "contacts"))


def bake(stage):
    return job.run(job.bake_steps(*stage))


def curves_of(action):
    return [curve for layer in action.layers for strip in layer.strips for bag in strip.channelbags
            for curve in bag.fcurves]


def values(action, path):
    """(frame -> value) of each component of a property."""
    curves = sorted((c for c in curves_of(action) if c.data_path == path), key=lambda c: c.array_index)
    return np.array([[point.co[1] for point in curve.keyframe_points] for curve in curves]).T


def turn_by_hand(settings, action, role, frame, vector):
    """Set a bone's key as a person does; returns (data path, the new rotation)."""
    name = roles.load(settings.body)[role]
    path = f'pose.bones["{name}"].rotation_quaternion'
    assert settings.body.pose.bones[name].rotation_mode == "QUATERNION"
    row = values(action, path)[frame - 1]
    new = rotation.mul(rotation.normalize(row), rotation.exp(np.array(vector)))
    for curve in curves_of(action):
        if curve.data_path == path:
            point = next(p for p in curve.keyframe_points if p.co[0] == frame)
            point.co[1] = new[curve.array_index]
            curve.update()
    return path, new


def test_a_bake_goes_through_what_she_set_and_eases_to_both_sides(stage):
    _, settings = stage
    bake(stage)
    action = settings.body.animation_data.action
    path, new = turn_by_hand(settings, action, "head", 200, (0.3, 0.0, 0.2))
    before = values(action, path)
    report = bake(stage)
    after = values(action, path)
    assert report.edits == len(keys.edits(action)) > 0
    off = np.degrees(rotation.angle(rotation.normalize(after), rotation.normalize(before)))
    assert off[199] < 1e-3 and np.degrees(rotation.angle(rotation.normalize(after[199]), new)) < 1e-3
    assert off[198] > 15.0 and off[200] > 15.0, "its neighbours come along"
    assert off[:199 - WINDOW].max() == 0.0 and off[200 + WINDOW:].max() == 0.0, "and what is far away does not"
    steps = np.degrees(rotation.angle(rotation.normalize(after[1:]), rotation.normalize(after[:-1])))
    assert steps.max() < 6.0


def test_contacts_hold_around_a_wish_and_a_broken_one_is_told(stage):
    scene, settings = stage
    bake(stage)
    action = settings.body.animation_data.action
    script = scripts.load(action)
    plant = next(c for c in script.contacts if c.kind == "plant" and c.start * 60 < 90 < c.end * 60)
    turn_by_hand(settings, action, "spine", 91, (0.1, 0.1, 0.0))
    assert bake(stage).contacts["broken_by_edits"] == []
    turn_by_hand(settings, action, f"thigh.{plant.effector[-1]}", 91, (0.2, 0.0, 0.0))
    told = bake(stage).contacts["broken_by_edits"]
    assert plant.id in {row["contact"] for row in told} and all(row["mm"] > 0.5 for row in told)
    assert all(abs(row["frame"] - 91) <= WINDOW for row in told)
    (row,) = [row for row in told if row["contact"] == plant.id]
    assert (row["effector"], row["surface"]) == (plant.effector, "floor")
    sentences = [miss.sentence for miss in review.misses({"broken_by_edits": told})]
    assert (f"frame {row['frame']}: an edit of '{row['bone']}' keeps {plant.effector} {row['mm']:g} mm away from "
            f"'floor', contact '{plant.id}'") in sentences
    bones = roles.load(settings.body)
    assert row["bone"] in (bones["spine"], bones[f"thigh.{plant.effector[-1]}"])


def test_ten_edits_a_bake_and_a_bake_again_come_to_the_same(stage):
    _, settings = stage
    bake(stage)
    action = settings.body.animation_data.action
    wanted = [turn_by_hand(settings, action, role, frame, (0.05, -0.05, 0.05))
              for role, frame in (("head", 40), ("head", 60), ("spine", 100), ("upper_arm.L", 120), ("hand.R", 140),
                                  ("forearm.R", 180), ("thigh.L", 220), ("shin.R", 260), ("neck", 300), ("head", 340))]
    frames = (40, 60, 100, 120, 140, 180, 220, 260, 300, 340)
    bake(stage)
    once = {c.data_path + str(c.array_index): [p.co[1] for p in c.keyframe_points]
            for c in curves_of(action)}
    for (path, new), frame in zip(wanted, frames):
        row = rotation.normalize(values(action, path)[frame - 1])
        assert np.degrees(rotation.angle(row, new)) < 1e-3, (path, frame)
    bake(stage)
    again = {c.data_path + str(c.array_index): [p.co[1] for p in c.keyframe_points]
             for c in curves_of(action)}
    assert once.keys() == again.keys()
    assert max(np.abs(np.array(once[k]) - np.array(again[k])).max() for k in once) < 2e-5
    keys.forget_edits(action)
    bake(stage)
    assert not keys.edits(action)


# Undo, ESC and giving edits up, through the buttons

ops = bpy.ops.foothold
EDITS = (("head", 8), ("head", 12), ("spine", 15), ("upper_arm.L", 18), ("hand.R", 20), ("forearm.R", 24),
         ("thigh.L", 28), ("shin.R", 30), ("neck", 34), ("head", 40))


@pytest.fixture
def edited(addon):
    """(scene, body) of a take of 50 frames with its own contacts, baked, with ten edits since."""
    scene = rigs.new_file()
    take, body = rigs.humanoid("Take"), rigs.humanoid("Body", arm=0.8, leg=0.85, seed=5, mesh=True)
    rigs.dance(take, frames=50, amount=0.1)
    scene.foothold.take, scene.foothold.body = take, body
    plants = [Contact(f"foot.{side}:1", f"foot.{side}", "floor", "plant", start, start + 0.4, 0.1, 0.1, "sole",
                      {"time": [start, start + 0.4], "x": [x, x], "y": [0.0, 0.0], "z": [0.08, 0.08]})
              for side, start, x in (("L", 0.1, 0.1), ("R", 0.3, -0.1))]
    scripts.store(take.animation_data.action, ContactScript(60.0, 50, (), in_order(plants)))
    assert ops.bake() == {"FINISHED"}
    for role, frame in EDITS:
        turn_by_hand(scene.foothold, body.animation_data.action, role, frame, (0.05, -0.05, 0.05))
    bpy.ops.ed.undo_push(message="Edited")
    return scene, body


def everything(action):
    """All that Blender stores with the keys of an action, what she has changed in it, and what was told of it."""
    bits = {}
    for curve in curves_of(action):
        for field, (width, dtype) in keys._FIELDS.items():
            held = np.empty(width * len(curve.keyframe_points), dtype)
            curve.keyframe_points.foreach_get(field, held)
            bits[curve.data_path, curve.array_index, field] = held.tobytes()
    return bits, keys.edits(action), told.load(action), scripts.text_of(action)


def played():
    """The action that the body plays; what was held before an undo is dead."""
    return bpy.data.objects["Body"].animation_data.action


def snapshot():
    return whole_file.snapshot(skip=tuple(f'scenes["Scene"]["{name}"]' for name in ("foothold", "foothold_contacts")))


def test_undo_takes_a_bake_through_ten_edits_back_in_one_step(edited):
    name = played().name
    before = everything(played())
    assert {(edit.frame, edit.kind) for edit in before[1]} == {(frame, "set") for _, frame in EDITS}
    assert len(before[1]) == len(EDITS)
    assert ops.bake("EXEC_DEFAULT", True) == {"FINISHED"}
    baked = everything(played())
    assert baked[0] != before[0] and baked[1] == before[1]
    assert bpy.ops.ed.undo() == {"FINISHED"}
    assert played().name == name and everything(played()) == before
    assert ops.bake("EXEC_DEFAULT", True) == {"FINISHED"}
    assert everything(played()) == baked, "and the next bake gives what was undone"


def test_stopping_a_bake_through_edits_leaves_everything_as_it_was(edited):
    scene, _ = edited
    before, held = snapshot(), everything(played())
    for share in (0.02, 0.1, 0.3, 0.5, 0.6, 0.7):
        steps = scripted.bake_steps(scene, scene.foothold.bake_settings())
        assert next(part for part in steps if part >= share) < 0.96
        steps.close()
        assert whole_file.diff(before, snapshot()) == []
    for _ in scripted.bake_steps(scene, scene.foothold.bake_settings()):
        assert everything(played()) == held, "nothing is written before the last step"
    assert everything(played())[0] != held[0]


@pytest.mark.parametrize("case", ["bones", "range", "both", "all"])
def test_giving_edits_up_is_one_undo_step(edited, case):
    _, body = edited
    listed = keys.edits(played())
    options = {"use_range": True, "first": 10, "last": 20} if case in ("range", "both") else {}
    if case in ("bones", "both"):
        bpy.context.view_layer.objects.active = body
        bpy.ops.object.mode_set(mode="POSE")
        for bone in body.pose.bones:
            compat.select_bone(body, bone, bone.name == "head")
        bpy.ops.ed.undo_push(message="Selected")
    gone = [edit for edit in listed if (case not in ("bones", "both") or '"head"' in edit.data_path)
            and (not options or 10 <= edit.frame <= 20)]
    assert len(gone) == {"bones": 3, "range": 4, "both": 1, "all": 10}[case]
    before = everything(played())
    assert ops.forget_edits("EXEC_DEFAULT", True, **options) == {"FINISHED"}
    assert keys.edits(played()) == [edit for edit in listed if edit not in gone]
    assert everything(played())[0] == before[0], "no key has changed"
    assert bpy.ops.ed.undo() == {"FINISHED"}
    assert everything(played()) == before
