"""Measuring scenes whose answers are known, through Blender's own evaluation."""

import json
import math

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from foothold.operators.bridge import measure  # noqa: E402
from foothold.solvers.errors import FootholdError  # noqa: E402

BONES = {  # name: (parent, head, tail)
    "hips": (None, (0, 0, 1), (0, 0, 1.1)),
    "spine": ("hips", (0, 0, 1.1), (0, 0, 1.4)),
    "head": ("spine", (0, 0, 1.4), (0, 0, 1.7)),
    "thigh.L": ("hips", (0.1, 0, 0.95), (0.1, 0, 0.5)),
    "shin.L": ("thigh.L", (0.1, 0, 0.5), (0.1, 0, 0.1)),
    "foot.L": ("shin.L", (0.1, 0, 0.1), (0.1, -0.15, 0)),
}
FRAMES = 40


def add_armature(name, rolls=0.0, roles=True, size=1.0):
    """An armature object whose bones are named as their roles."""
    armature = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for bone, (parent, head, tail) in BONES.items():
        made = armature.data.edit_bones.new(bone)
        made.head, made.tail = ([size * x for x in p] for p in (head, tail))
        made.roll = rolls
        if parent:
            made.parent = armature.data.edit_bones[parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    if roles:
        armature[measure.ROLES_PROPERTY] = json.dumps({bone: bone for bone in BONES})
    return armature


def key_turn(armature, bone, degrees):
    """Key a turn about the bone's own X, degrees (F,)."""
    pose = armature.pose.bones[bone]
    pose.rotation_mode = "XYZ"
    for i, angle in enumerate(degrees):
        pose.rotation_euler = math.radians(angle), 0.0, 0.0
        pose.keyframe_insert("rotation_euler", frame=i + 1)


@pytest.fixture
def scene():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.render.fps = 60
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, FRAMES
    return bpy.context.scene


def wave(scale=1.0):
    return scale * 20.0 * np.sin(np.arange(FRAMES) / 5.0)


def test_the_same_motion_on_two_rigs_has_no_faults(scene):
    take, body = add_armature("Take"), add_armature("Body")
    for armature in (take, body):
        key_turn(armature, "thigh.L", wave())
    found = measure.measure(scene, take, body)
    assert found["faults"] == []
    assert found["frames"] == {"first": 1, "last": FRAMES, "count": FRAMES} and found["fps"] == 60.0
    assert found["take"]["armature"] == "Take" and found["body"]["armature"] == "Body"
    assert found["metrics"]["limb_direction_deg"]["std"] < 1e-4


def test_speeds_come_out_in_degrees_per_second(scene):
    take, body = add_armature("Take"), add_armature("Body")
    key_turn(take, "shin.L", np.zeros(FRAMES))
    key_turn(body, "shin.L", 15.0 * np.arange(FRAMES))
    row = measure.measure(scene, take, body)["metrics"]["angular_speed_deg_per_s"]["bones"]["shin.L"]
    assert row["body"]["median"] == pytest.approx(900.0, rel=1e-4)
    scene.render.fps, scene.render.fps_base = 30, 1.001
    row = measure.measure(scene, take, body)["metrics"]["angular_speed_deg_per_s"]["bones"]["shin.L"]
    assert row["body"]["median"] == pytest.approx(450.0 / 1.001, rel=1e-4)


def test_objects_that_are_turned_scaled_parented_and_moving_are_seen_in_the_world(scene):
    take, body = add_armature("Take"), add_armature("Body", size=100.0, rolls=0.7)
    holder = bpy.data.objects.new("Holder", None)
    scene.collection.objects.link(holder)
    body.parent = holder
    body.scale, body.rotation_euler = (0.01,) * 3, (0.3, 0.0, 0.0)
    holder.rotation_euler = -0.3, 0.0, 0.0
    for i in range(FRAMES):
        for armature in (take, holder):
            armature.location = 0.05 * i, 0.02 * i * math.sin(i), 0.0
            armature.keyframe_insert("location", frame=i + 1)
    found = measure.measure(scene, take, body, (1, FRAMES))
    assert found["metrics"]["limb_direction_deg"]["worst_role"]
    assert max(row["worst"] for row in found["metrics"]["limb_direction_deg"]["roles"].values()) < 1e-3
    assert found["metrics"]["root_path"]["horizontal_scale"] == pytest.approx(1.0, rel=1e-5)
    assert found["faults"] == []


def test_constraints_and_drivers_are_measured_as_they_are_seen(scene):
    take, body = add_armature("Take"), add_armature("Body")
    key_turn(take, "thigh.L", wave())
    follow = body.pose.bones["thigh.L"].constraints.new("COPY_ROTATION")
    follow.target, follow.subtarget = take, "thigh.L"
    found = measure.measure(scene, take, body, (1, FRAMES))
    assert found["metrics"]["limb_direction_deg"]["std"] < 1e-4
    follow.mute = True
    found = measure.measure(scene, take, body, (1, FRAMES))
    assert found["metrics"]["limb_direction_deg"]["worst_role"] == "thigh.L"
    assert found["metrics"]["limb_direction_deg"]["std"] > 1.0


def test_only_frames_that_both_actions_have_are_compared(scene):
    take, body = add_armature("Take"), add_armature("Body")
    key_turn(take, "shin.L", wave())
    key_turn(body, "shin.L", wave()[:25])
    found = measure.measure(scene, take, body)
    assert found["frames"] == {"first": 1, "last": 25, "count": 25} and found["faults"] == []


def test_a_hidden_armature_is_evaluated_too(scene):
    take, body = add_armature("Take"), add_armature("Body")
    key_turn(take, "shin.L", wave())
    key_turn(body, "shin.L", wave())
    take.hide_viewport = True
    assert measure.measure(scene, take, body)["faults"] == []
    assert take.hide_viewport


def state(scene):
    return (scene.frame_current, scene.frame_subframe, bpy.context.mode, bpy.context.view_layer.objects.active,
            [(ob.name, ob.select_get(), ob.hide_viewport) for ob in scene.objects],
            {kind: len(getattr(bpy.data, kind)) for kind in ("scenes", "objects", "meshes", "armatures", "actions")},
            [tuple(map(tuple, bone.matrix)) for ob in scene.objects for bone in ob.pose.bones])


def test_nothing_changes_not_even_when_it_is_stopped_half_way(scene):
    take, body = add_armature("Take"), add_armature("Body")
    key_turn(take, "shin.L", wave())
    key_turn(body, "shin.L", wave())
    take.hide_viewport = True
    scene.frame_set(7, subframe=0.25)
    before = state(scene)
    parts = []
    measure.measure(scene, take, body, progress=parts.append)
    assert parts and parts == sorted(parts) and 0.0 <= parts[0] <= parts[-1] <= 1.0
    assert state(scene) == before
    steps = measure.measure_steps(scene, take, body)
    next(steps)
    steps.close()
    assert state(scene) == before


def test_twice_gives_the_same_text(scene):
    take, body = add_armature("Take"), add_armature("Body")
    key_turn(take, "shin.L", wave())
    key_turn(body, "shin.L", wave(1.1))
    texts = [json.dumps(measure.measure(scene, take, body), allow_nan=False) for _ in range(2)]
    assert texts[0] == texts[1]


def test_bad_input_is_named(scene):
    take, body = add_armature("Take"), add_armature("Body", roles=False)
    with pytest.raises(FootholdError, match="'Body'.*foothold_roles"):
        measure.measure(scene, take, body)
    for text, message in (("{", "JSON"), ("[]", "JSON"), (3, "JSON"), ('{"hips": 1}', "JSON"),
                          ('{"hips": "gone"}', "no bone 'gone'"), ('{"head": "head"}', "'hips'")):
        body[measure.ROLES_PROPERTY] = text
        with pytest.raises(FootholdError, match=message):
            measure.measure(scene, take, body)
    body[measure.ROLES_PROPERTY] = take[measure.ROLES_PROPERTY]
    with pytest.raises(FootholdError, match="5 to 2"):
        measure.measure(scene, take, body, (5, 2))
    lamp = bpy.data.objects.new("Empty", None)
    with pytest.raises(FootholdError, match="'Empty' is not an armature"):
        measure.measure(scene, lamp, body)
    with pytest.raises(FootholdError, match="Nothing"):
        measure.measure(scene, None, body)
    assert len(bpy.data.scenes) == 1
