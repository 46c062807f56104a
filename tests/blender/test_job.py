"""The bake as a whole: what it promises to the artist about keys, rigs that fight back, and bad input."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

import rigs  # noqa: E402
import whole_file  # noqa: E402

from foothold.operators import job, resampling  # noqa: E402
from foothold.operators.bridge import compat, read, roles  # noqa: E402
from foothold.solvers import rest, rotation  # noqa: E402
from foothold.solvers.errors import FootholdError  # noqa: E402
from foothold.solvers.transfer import Travel  # noqa: E402


@pytest.fixture
def stage():
    """(scene, take that dances, body with other proportions and bone axes)."""
    scene = rigs.new_file()
    take, body = rigs.humanoid("Take"), rigs.humanoid("Body", arm=0.8, leg=0.85, seed=5, mesh=True)
    rigs.dance(take)
    return scene, take, body


def bake(stage, **settings):
    scene, take, body = stage
    return job.run(job.bake_steps(scene, job.BakeSettings(take, body, **settings)))


def evaluated(armature, frame):
    """World joints and orientations as Blender shows them: role -> matrix."""
    bpy.context.scene.frame_set(frame)
    shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return {role: np.array(shown.matrix_world @ shown.pose.bones[bone].matrix)
            for role, bone in roles.load(armature).items()}


def limb_errors(take, body, frames=(1, 20, 41, 60)):
    """role -> degrees at those frames between the limbs of take and body."""
    out = {}
    for frame in frames:
        sides = []
        for armature in (take, body):
            shown = evaluated(armature, frame)
            index = {role: i for i, role in enumerate(shown)}
            sides.append(rest.limb_directions(np.array([[m[:3, 3] for m in shown.values()]]), index))
        for role, want in sides[0].items():
            out.setdefault(role, []).append(np.degrees(rotation.vector_angle(sides[1][role][0], want[0])))
    return out


def assert_follows(take, body, but=()):
    for role, errors in limb_errors(take, body).items():
        if role not in but:
            assert max(errors) < 0.05, role


def test_limbs_point_as_the_takes(stage):
    _, take, body = stage
    report = bake(stage)
    assert report.frames == 60 and not report.awry
    assert_follows(take, body)


def test_only_the_new_action_is_new(stage):
    scene, take, body = stage
    rigs.dance(body, seed=9, name="Her own")
    body.pose.bones["hand.L"].scale = (1.0, 1.0, 1.0)
    scene.frame_set(7)
    before = whole_file.snapshot()
    bake(stage, action_name="Baked")
    changed = [line for line in whole_file.diff(before, whole_file.snapshot(), limit=10000)
               if 'actions["Baked"]' not in line and not _promised(line)]
    assert not changed, changed[:10]
    assert bpy.data.actions["Her own"].use_fake_user or bpy.data.actions["Her own"].users > 0


def _promised(line):
    """The body plays another action, and the pose that it shows follows; her own action is kept from being lost."""
    path = line.split(":")[0]
    plays = 'objects["Body"]' in path and ("animation_data" in path or "pose.bones" in path)
    kept = 'actions["Her own"]' in path and ("use_fake_user" in path or "slots" in path)
    shown = path in ('objects["Body"].bound_box', 'objects["Body"].dimensions')
    return plays or kept or shown or 'objects["Body skin"]' in path


def test_stopping_it_leaves_everything_as_it_was(stage):
    scene, take, body = stage
    body.pose.bones["head"].constraints.new("LIMIT_ROTATION").use_limit_x = True  # the long way through the depsgraph
    bpy.context.view_layer.update()
    before = whole_file.snapshot()
    steps = job.bake_steps(scene, job.BakeSettings(take, body))
    for _ in range(4):
        next(steps)
    steps.close()
    assert not whole_file.diff(before, whole_file.snapshot())


@pytest.mark.parametrize("modes", [("XYZ", "ZYX"), ("AXIS_ANGLE", "XZY")])
def test_every_bone_keeps_its_rotation_mode(stage, modes):
    _, take, body = stage
    for i, bone in enumerate(body.pose.bones):
        bone.rotation_mode = modes[i % 2]
    bake(stage)
    assert [b.rotation_mode for b in body.pose.bones] == [modes[i % 2] for i in range(len(body.pose.bones))]
    assert_follows(take, body)
    for curve in compat.fcurves(body.animation_data.action, body):
        values = np.array([k.co.y for k in curve.keyframe_points])
        assert np.abs(np.diff(values)).max() < 1.0, curve.data_path


def test_a_rotated_scaled_and_parented_body_follows(stage):
    scene, take, body = stage
    parent = bpy.data.objects.new("parent", None)
    scene.collection.objects.link(parent)
    parent.rotation_euler, parent.scale = (0.0, 0.0, 1.0), (2.0, 2.0, 2.0)
    body.parent = parent
    body.scale, body.rotation_euler = (0.4, 0.4, 0.4), (0.0, 0.0, -0.3)
    bpy.context.view_layer.update()
    bake(stage)
    assert_follows(take, body)
    assert tuple(round(v, 5) for v in body.scale) == (0.4, 0.4, 0.4)


def test_a_take_whose_object_carries_the_way(stage):
    scene, take, body = stage
    take.animation_data.action = None
    action = rigs.dance(take, amount=0.3)
    for frame, x in ((1, 0.0), (60, 3.0)):
        take.location = (x, 0.0, 0.0)
        take.keyframe_insert("location", frame=frame)
    assert take.animation_data.action == action
    bake(stage)
    way = evaluated(body, 60)["hips"][0, 3] - evaluated(body, 1)["hips"][0, 3]
    own = evaluated(take, 60)["hips"][0, 3] - evaluated(take, 1)["hips"][0, 3]
    assert abs(own - 3.0) < 0.5 and abs(way / own - 0.85) < 0.01
    assert_follows(take, body)


def test_a_constraint_in_the_trunk_is_named_and_what_hangs_from_it_still_follows(stage):
    _, take, body = stage
    limit = body.pose.bones["chest"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x = limit.use_limit_y = limit.use_limit_z = True
    limit.owner_space = "LOCAL"
    report = bake(stage)
    assert [bone for bone, _, _ in report.awry] == ["chest"] and "Limit" in report.awry[0][2]
    assert_follows(take, body, but=("chest", "shoulder.L", "shoulder.R", "spine.1"))


def test_a_driven_bone_is_named(stage):
    _, take, body = stage
    driver = body.driver_add('pose.bones["forearm.L"].rotation_quaternion', 1).driver
    driver.type, driver.expression = "SCRIPTED", "0.5"
    report = bake(stage)
    assert ("forearm.L", "driver") in [(bone, reason) for bone, _, reason in report.awry]
    assert_follows(take, body, but=("forearm.L",))


def test_locked_channels_are_keyed_all_the_same(stage):
    _, take, body = stage
    body.pose.bones["forearm.R"].lock_rotation = (False, True, False)
    bake(stage)
    assert_follows(take, body)
    assert tuple(body.pose.bones["forearm.R"].lock_rotation) == (False, True, False)


def test_a_second_take_is_not_skewed_by_the_first(stage):
    scene, take, body = stage
    other = rigs.humanoid("Other take")
    rigs.dance(other, seed=8, amount=0.4)
    job.run(job.bake_steps(scene, job.BakeSettings(other, body, action_name="straight")))
    bake(stage, action_name="between")
    job.run(job.bake_steps(scene, job.BakeSettings(other, body, action_name="after")))
    a, b = (values(bpy.data.actions[n], body) for n in ("straight", "after"))
    assert a.keys() == b.keys() and all(np.array_equal(a[k], b[k]) for k in a)


def values(action, owner):
    out = {}
    for curve in compat.fcurves(action, owner):
        co = np.empty(2 * len(curve.keyframe_points), np.float32)
        curve.keyframe_points.foreach_get("co", co)
        out[curve.data_path, curve.array_index] = co
    return out


def test_only_mapped_bones_get_keys_and_all_are_generated(stage):
    _, take, body = stage
    table = roles.load(body)
    del table["toe.L"], table["toe.R"]
    roles.store(body, table)
    bake(stage)
    curves = list(compat.fcurves(body.animation_data.action, body))
    assert not any("toe" in c.data_path for c in curves)
    assert all(k.type == "GENERATED" for c in curves for k in c.keyframe_points)
    assert sum(c.data_path.endswith("location") for c in curves) == 3


def test_range_and_step(stage):
    report = bake(stage, first=10, last=30, step=5)
    curve = compat.fcurves(stage[2].animation_data.action, stage[2])[0]
    assert report.frames == 5 and [k.co.x for k in curve.keyframe_points] == [10, 15, 20, 25, 30]


def test_in_place_and_root_motion(stage):
    scene, take, _ = stage
    body = rigs.humanoid("Rooted", root=True, prefix="def_")
    job.run(job.bake_steps(scene, job.BakeSettings(take, body, travel=Travel("root"), action_name="rooted")))
    assert_follows(take, body)
    root, hips = (np.array([evaluated(body, f)[r][:2, 3] for f in (1, 20, 60)]) for r in ("root", "hips"))
    assert np.abs(np.diff(root - hips, axis=0)).max() < 1e-5 and np.ptp(root[:, 0]) > 0.01
    job.run(job.bake_steps(scene, job.BakeSettings(take, body, travel=Travel(in_place=True), action_name="still")))
    seen = [evaluated(body, f) for f in (1, 20, 60)]
    legs = np.array([0.5 * (one["thigh.L"] + one["thigh.R"])[:2, 3] for one in seen])
    assert np.ptp(legs, axis=0).max() < 1e-5


def test_the_object_can_carry_the_way(stage):
    scene, take, body = stage
    bake(stage, action_name="hips")
    want = [evaluated(body, f)["hand.L"] for f in (1, 33, 60)]
    bake(stage, travel=Travel("object"), action_name="object")
    assert np.abs(np.array(want) - [evaluated(body, f)["hand.L"] for f in (1, 33, 60)]).max() < 1e-5


def test_rest_from_a_frame_an_action_and_the_pose(stage):
    scene, take, body = stage
    action = take.animation_data.action
    with_own = bake(stage).disagreement
    for choice in (job.RestChoice("frame", frame=30), job.RestChoice("action", action=action)):
        assert bake(stage, take_rest=choice).disagreement[0][1] > with_own[0][1] + 5.0
    scene.frame_set(30)
    by_pose = bake(stage, take_rest=job.RestChoice("pose")).disagreement
    by_frame = bake(stage, take_rest=job.RestChoice("frame", frame=30)).disagreement
    assert np.allclose([d for _, d in by_pose], [d for _, d in by_frame], atol=1e-3)


def test_nothing_of_either_rest_changes(stage):
    _, take, body = stage
    rests = [[np.array(b.matrix_local) for b in o.data.bones] for o in (take, body)]
    bake(stage, take_rest=job.RestChoice("frame", frame=1), body_rest=job.RestChoice("pose"))
    for o, before in zip((take, body), rests):
        assert all(np.array_equal(a, np.array(b.matrix_local)) for a, b in zip(before, o.data.bones))


def test_her_keys_survive_a_second_bake(stage):
    _, take, body = stage
    report = bake(stage)
    action = bpy.data.actions[report.action]
    curve = next(c for c in compat.fcurves(action, body) if "forearm.L" in c.data_path and c.array_index == 0)
    curve.keyframe_points[19].co.y = 0.25
    curve.update()
    again = bake(stage)
    assert again.action == report.action and again.edits == 1
    curve = next(c for c in compat.fcurves(action, body) if "forearm.L" in c.data_path and c.array_index == 0)
    assert curve.keyframe_points[19].co.y == 0.25 and len(curve.keyframe_points) == 60


def test_resampling_keeps_the_time(stage):
    _, take, body = stage
    before = {f: evaluated(take, f)["hand.L"] for f in (1, 21, 41)}
    fresh = resampling.resample_take(take, take.animation_data.action, 60.0, 30.0)
    assert read.frame_span(fresh) == (1, 30) and fresh["foothold_fps"] == 30.0
    for frame, want in before.items():
        assert np.abs(evaluated(take, (frame - 1) // 2 + 1)["hand.L"] - want).max() < 1e-5


def _same(stage):
    return {"body": stage[1]}


BAD = {
    "nothing chosen": (lambda s: {"take": None}, "take"),
    "body is the take": (_same, "both take and body"),
    "a mesh": (lambda s: {"body": bpy.data.objects["Body skin"]}, "armature"),
    "no action": (lambda s: {"take": s[2], "body": s[1]}, "no action"),
    "range outside": (lambda s: {"first": 1, "last": 500}, "500"),
    "rest outside": (lambda s: {"take_rest": job.RestChoice("frame", frame=99)}, "99"),
    "no root": (lambda s: {"travel": Travel("root")}, "root"),
    "step": (lambda s: {"step": 0}, "step"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_settings_are_named_and_change_nothing(stage, case):
    change, words = BAD[case]
    settings = {"take": stage[1], "body": stage[2], **change(stage)}
    before = whole_file.snapshot()
    with pytest.raises(FootholdError, match=words):
        job.run(job.bake_steps(stage[0], job.BakeSettings(**settings)))
    assert not whole_file.diff(before, whole_file.snapshot())


def test_bad_rigs_are_named_and_change_nothing(stage):
    scene, take, body = stage

    def refuse(words):
        before = whole_file.snapshot()
        with pytest.raises(FootholdError, match=words):
            bake(stage)
        assert not whole_file.diff(before, whole_file.snapshot())

    table = roles.load(body)
    roles.store(body, {r: b for r, b in table.items() if r != "hips"})
    refuse("hips")
    roles.store(body, {**table, "head": "no such bone"})
    refuse("no such bone")
    roles.store(body, {**table, "head": table["neck"]})
    refuse("neck")
    roles.store(body, table)
    body.scale = (0.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    refuse("Body.*scale")
    body.scale = (1.0, 1.0, 1.0)
    curve = compat.fcurves(take.animation_data.action, take)[0]
    curve.keyframe_points[12].co.y = float("inf")
    refuse("frame 13")
    one = bpy.data.actions.new("one frame")
    compat.assign(take, one)
    take.pose.bones["hips"].keyframe_insert("location", frame=1)
    refuse("one frame")


def test_a_flip_of_the_take_is_turned_back_and_told(stage):
    scene, take, body = stage
    clean = bake(stage, action_name="clean").action
    for curve in compat.fcurves(take.animation_data.action, take):
        if '"forearm.R"].rotation_quaternion' in curve.data_path:
            for key in list(curve.keyframe_points)[29:31]:
                key.co.y = {0: 0.0, 1: 0.0, 2: 1.0, 3: 0.0}[curve.array_index]
            curve.update()
    report = bake(stage, action_name="repaired")
    assert [(f["bone"], f["first"], f["last"]) for f in report.flips] == [("forearm.R", 30, 31)]
    a, b = (values(bpy.data.actions[n], body) for n in (clean, "repaired"))
    assert max(np.abs(a[k] - b[k]).max() for k in a) < 0.05
