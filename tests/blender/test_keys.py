"""Writing keys into actions, and what a second bake leaves alone."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

import whole_file  # noqa: E402

from foothold.operators.bridge import compat, keys  # noqa: E402
from foothold.operators.bridge import record as memory  # noqa: E402
from foothold.solvers.errors import FootholdError  # noqa: E402

FRAMES = np.arange(1.0, 41.0)
QUATERNION = 'pose.bones["{}"].rotation_quaternion'
HIPS, SPINE = QUATERNION.format("Hips"), QUATERNION.format("Spine")
LOCATION = 'pose.bones["Hips"].location'


@pytest.fixture
def body():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    data = bpy.data.armatures.new("Body")
    obj = bpy.data.objects.new("Body", data)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for i, name in enumerate(("Hips", "Spine", "Head", 'Od"d')):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail, bone.parent = (0, 0, i), (0, 0, i + 1), parent
        parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    return obj


def channels(frames=FRAMES, seed=0, bones=("Hips", "Spine")):
    """Channels of smooth but different motion; the same seed and frame give the same values."""
    out = []
    for j, bone in enumerate(bones):
        phase = np.asarray(frames)[:, None] * 0.1 + np.arange(4) + j + 10.0 * seed
        turn = np.sin(phase) + [3.0, 0.0, 0.0, 0.0]
        turn /= np.linalg.norm(turn, axis=-1, keepdims=True)
        out.append(keys.KeyChannel(QUATERNION.format(bone), bone, turn))
        if bone == "Hips":
            out.append(keys.KeyChannel(LOCATION, bone, np.cos(phase[:, :3])))
    return out


def bake(body, frames=FRAMES, name="Bake", **how):
    """(the action, what was written) of a bake into the action of that name."""
    action = keys.baked_action(name) or bpy.data.actions.new(name)
    written = keys.write_keys(body, action, frames, channels(frames, **how))
    compat.assign(body, action)
    return action, written


def curve(action, body, path, index):
    return next((c for c in compat.fcurves(action, body) if (c.data_path, c.array_index) == (path, index)), None)


def point(action, body, path, index, frame):
    found = curve(action, body, path, index)
    return None if found is None else next((k for k in found.keyframe_points if k.co[0] == np.float32(frame)), None)


def everything(action, body):
    """{(path, index): {frame: all that the key holds}}; handles that nothing depends on are left out."""
    out = {}
    for c in compat.fcurves(action, body):
        held = out[c.data_path, c.array_index] = {}
        for k in c.keyframe_points:
            held[k.co[0]] = (k.co[1], k.interpolation, k.type)
    return out


def whole_key(k):
    return tuple(tuple(v) if hasattr(v, "__len__") and not isinstance(v, str) else v
                 for v in (getattr(k, name) for name in keys._FIELDS))


def expected(body, frames=FRAMES, **how):
    """What a fresh bake gives, as `everything`."""
    action = bpy.data.actions.new("Fresh")
    keys.write_keys(body, action, frames, channels(frames, **how))
    out = everything(action, body)
    bpy.data.actions.remove(action)
    return out


def without(held, path, *frames):
    """The same without the keys of a property at some frames."""
    gone = [np.float32(f) for f in frames]
    return {at: {f: k for f, k in found.items() if at[0] != path or f not in gone} for at, found in held.items()}


# Fresh bakes

def test_fresh_keys_are_as_given(body):
    action, written = bake(body)
    assert written == (0, ())
    for channel in channels():
        for i in range(channel.values.shape[1]):
            found = curve(action, body, channel.data_path, i)
            assert found.group.name == "Hips" or found.group.name == "Spine"
            points = found.keyframe_points
            co = np.empty(2 * len(points), np.float32)
            points.foreach_get("co", co)
            assert np.array_equal(co[0::2], FRAMES.astype(np.float32))
            assert np.array_equal(co[1::2], channel.values[:, i].astype(np.float32))
            assert {k.type for k in points} == {"GENERATED"} and {k.interpolation for k in points} == {"LINEAR"}
    assert keys.edits(action) == [] and keys.is_baked(action)


def test_second_bake_equals_the_first_bit_for_bit(body):
    action, _ = bake(body)
    first = everything(action, body)
    data = bytes(action[keys.KEY][str(action.slots[0].handle)])
    assert bake(body)[1] == (0, ())
    assert everything(action, body) == first
    assert bytes(action[keys.KEY][str(action.slots[0].handle)]) == data


def test_other_settings_give_a_fresh_bake(body):
    action, _ = bake(body)
    frames = np.arange(10.0, 61.0, 2.5)
    bake(body, frames, seed=1, bones=("Hips", "Head"))
    assert everything(action, body) == expected(body, frames, seed=1, bones=("Hips", "Head"))
    assert [g.name for g in compat.channelbag(action, body).groups] == ["Hips", "Head"]


def test_object_level_and_odd_names(body):
    action = bpy.data.actions.new("Bake")
    odd = f'pose.bones["{bpy.utils.escape_identifier(chr(79) + "d" + chr(34) + "d")}"].location'
    for _ in range(2):
        keys.write_keys(body, action, FRAMES, [keys.KeyChannel("location", "Object Transforms", np.ones((40, 3))),
                                               keys.KeyChannel(odd, 'Od"d', np.ones((40, 3)))])
    assert len(compat.fcurves(action, body)) == 6 and keys.edits(action) == []
    point(action, body, odd, 1, 7).co[1] = 4.0
    assert keys.edits(action) == [keys.Edit(odd, 7.0, "set")]
    assert keys.forget_edits(action, bones=['Od"d']) == 1


def test_only_the_action_changes(body):
    action, _ = bake(body)
    compat.assign(body, None)  # or the pose follows the new keys, as it should
    before = whole_file.snapshot()
    keys.write_keys(body, action, FRAMES, channels(seed=1))
    assert len(bpy.data.actions) == 1
    assert [line for line in whole_file.diff(before, whole_file.snapshot())
            if not line.startswith('actions["Bake"]')] == []


def test_unrecorded_writing_replaces_and_remembers_nothing(body):
    action = bpy.data.actions.new("Preview")
    for seed in (0, 1):
        assert keys.write_keys(body, action, FRAMES, channels(seed=seed), record=False) == (0, ())
    assert everything(action, body) == expected(body, seed=1)
    assert not keys.is_baked(action) and keys.baked_action("Preview") is None


# Her edits

def set_value(action, body):
    k = point(action, body, HIPS, 2, 10)
    k.co_ui[1] = 0.75
    curve(action, body, HIPS, 2).update()


def insert_over(action, body):
    bone = body.pose.bones["Hips"]
    bone.rotation_quaternion = (0.5, 0.5, 0.5, 0.5)
    bone.keyframe_insert("rotation_quaternion", frame=10)


def set_kind(action, body):
    k = point(action, body, HIPS, 1, 10)
    k.co_ui[1] = 0.25
    k.type = "EXTREME"


def ease(action, body):
    k = point(action, body, HIPS, 2, 10)
    k.interpolation = "BEZIER"
    k.handle_right_type = "FREE"
    k.handle_right = (10.9, 0.3)


def ease_by_menu(action, body):
    k = point(action, body, HIPS, 0, 10)
    k.interpolation, k.easing, k.amplitude, k.period = "ELASTIC", "EASE_IN", 0.4, 3.0


def hold(action, body):
    for i in range(4):
        point(action, body, HIPS, i, 10).interpolation = "CONSTANT"


def add(action, body):
    for i in range(4):
        value = curve(action, body, HIPS, i).evaluate(10.4)
        curve(action, body, HIPS, i).keyframe_points.insert(10.5, value, keyframe_type="JITTER")


def add_one(action, body):
    curve(action, body, HIPS, 3).keyframe_points.insert(200.0, 0.1)


def delete(action, body):
    for i in range(4):
        c = curve(action, body, HIPS, i)
        c.keyframe_points.remove(point(action, body, HIPS, i, 10))


def delete_one(action, body):
    c = curve(action, body, HIPS, 3)
    c.keyframe_points.remove(point(action, body, HIPS, 3, 10))


def move(action, body):
    for i in range(4):
        point(action, body, HIPS, i, 10).co_ui[0] = 10.5
        curve(action, body, HIPS, i).update()


def move_far(action, body):
    for i in range(4):
        point(action, body, HIPS, i, 10).co_ui[0] = 99.0
        curve(action, body, HIPS, i).update()


def move_onto(action, body):
    for i in range(4):
        c = curve(action, body, HIPS, i)
        c.keyframe_points.remove(point(action, body, HIPS, i, 12))
        point(action, body, HIPS, i, 10).co_ui[0] = 12.0
        c.update()


def double(action, body):
    for i in range(4):
        c = curve(action, body, HIPS, i)
        c.keyframe_points.add(1)
        c.keyframe_points[-1].co = (10.0, 0.3)
        c.update()


# edit -> (kinds as `edits` tells them, frames of hers, frames that stay empty)
EDITS = {
    set_value: (["set"], [10], []), insert_over: (["set"], [10], []), set_kind: (["set"], [10], []),
    ease: (["eased"], [10], []), ease_by_menu: (["eased"], [10], []), hold: (["eased"], [10], []),
    add: (["added"], [10.5], []), add_one: (["added"], [200], []), delete: (["deleted"], [], [10]),
    delete_one: (["set"], [10], []), move: (["moved"], [10.5], [10]), move_far: (["moved"], [99], [10]),
    move_onto: (["moved"], [12], [10]), double: (["set"], [10], []),
}


def hers_now(action, body, frames):
    """All that the keys of HIPS hold at her frames."""
    wanted = [np.float32(f) for f in frames]
    return [(i, whole_key(k)) for i in range(4) if curve(action, body, HIPS, i)
            for k in curve(action, body, HIPS, i).keyframe_points if k.co[0] in wanted]


@pytest.mark.parametrize("edit", EDITS, ids=lambda e: e.__name__)
def test_her_edit_survives_every_bake_and_nothing_else_does(body, edit):
    kinds, kept, emptied = EDITS[edit]
    action, _ = bake(body)
    edit(action, body)
    mine = hers_now(action, body, kept)
    assert bool(mine) == bool(kept)
    told = keys.edits(action)
    assert [e.kind for e in told] == kinds and [e.frame for e in told] == (kept or emptied)
    assert [e.origin for e in told] == ([10.0] if kinds == ["moved"] else [None])
    settings = [dict(seed=1), dict(seed=0), dict(frames=np.arange(2.0, 31.0, 2.0), seed=2),
                dict(frames=np.arange(20.0, 30.0)), dict(bones=("Spine",)), dict(seed=3)]
    for how in settings:
        written = bake(body, **how)[1]
        assert written.edits == 1
        assert hers_now(action, body, kept) == mine
        fresh = without(expected(body, **how), HIPS, *kept, *emptied)
        assert without(everything(action, body), HIPS, *kept) == {
            at: fresh.get(at, {}) for at in everything(action, body)}
        assert {at for at, found in fresh.items() if found} <= set(everything(action, body))
        assert [(e.kind, e.frame) for e in keys.edits(action)] == [(e.kind, e.frame) for e in told]
    # and goes only when she lets it go
    assert keys.forget_edits(action, bones=["Spine"]) == 0
    assert keys.forget_edits(action, frame_range=(300, 400)) == 0
    assert keys.forget_edits(action, bones=["Hips"], frame_range=(10, 200)) == 1
    assert keys.edits(action) == []
    assert hers_now(action, body, kept) == mine
    assert bake(body)[1].edits == 0
    assert everything(action, body) == expected(body)


def test_edit_that_equals_the_new_bake_stays_hers(body):
    action, _ = bake(body, seed=0)
    values = channels(seed=1)[0].values.astype(np.float32)
    for i in range(4):
        point(action, body, HIPS, i, 10).co[1] = values[9, i]
    bake(body, seed=1)
    bake(body, seed=2)
    assert [point(action, body, HIPS, i, 10).co[1] for i in range(4)] == list(values[9])


def test_edits_of_edits(body):
    action, _ = bake(body)
    move(action, body)  # 10 -> 10.5
    bake(body, seed=1)
    for i in range(4):
        point(action, body, HIPS, i, 10.5).co_ui[0] = 10.75
        curve(action, body, HIPS, i).update()
    assert keys.edits(action) == [keys.Edit(HIPS, 10.75, "moved", 10.0)]
    bake(body, seed=2)
    for i in range(4):
        c = curve(action, body, HIPS, i)
        c.keyframe_points.remove(point(action, body, HIPS, i, 10.75))
    assert keys.edits(action) == [keys.Edit(HIPS, 10.0, "deleted")]
    bake(body, seed=3)
    assert everything(action, body) == without(expected(body, seed=3), HIPS, 10)
    for i in range(4):
        curve(action, body, HIPS, i).keyframe_points.insert(10.0, 0.5)
    assert keys.edits(action) == [keys.Edit(HIPS, 10.0, "set")]
    bake(body, seed=4)
    assert point(action, body, HIPS, 0, 10).co[1] == 0.5


def test_negative_zero_and_handles_of_linear_keys_are_no_edits(body):
    action = bpy.data.actions.new("Bake")
    keys.write_keys(body, action, FRAMES, [keys.KeyChannel(LOCATION, "Hips", np.full((40, 3), -0.0))])
    for i in range(3):
        found = curve(action, body, LOCATION, i)
        co = np.empty(80, np.float32)
        found.keyframe_points.foreach_get("co", co)
        found.keyframe_points.foreach_set("co", co + np.float32(0.0))
        found.keyframe_points[4].handle_left_type = "FREE"
        found.keyframe_points[4].handle_left = (3.9, 7.0)
        found.keyframe_points[4].select_control_point = False
    assert keys.edits(action) == []


def test_blender_moving_automatic_handles_is_no_edit(body):
    action, _ = bake(body)
    point(action, body, HIPS, 2, 10).interpolation = "BEZIER"
    curve(action, body, HIPS, 2).update()
    mine = whole_key(point(action, body, HIPS, 2, 10))
    for seed in (1, 2):
        bake(body, seed=seed)
        assert whole_key(point(action, body, HIPS, 2, 10)) == mine
        curve(action, body, HIPS, 2).update()  # as any edit in the graph editor does
        mine = whole_key(point(action, body, HIPS, 2, 10))
        assert [(e.frame, e.kind) for e in keys.edits(action)] == [(10.0, "eased")]


def test_left_handle_behind_a_bezier_key_is_an_edit(body):
    action, _ = bake(body)
    point(action, body, HIPS, 2, 10).interpolation = "BEZIER"
    k = point(action, body, HIPS, 2, 11)
    k.handle_left_type = "FREE"
    k.handle_left = (10.2, 0.9)
    assert [(e.frame, e.kind) for e in keys.edits(action)] == [(10.0, "eased"), (11.0, "eased")]
    mine = whole_key(k)
    bake(body, seed=1)
    assert whole_key(point(action, body, HIPS, 2, 11)) == mine


def test_deleted_curve_stays_deleted_until_forgotten(body):
    action, _ = bake(body)
    bag = compat.channelbag(action, body)
    for i in range(4):
        bag.fcurves.remove(curve(action, body, HIPS, i))
    written = bake(body, seed=1)[1]
    assert curve(action, body, HIPS, 0) is None
    assert any("deleted by hand" in note for note in written.notes) and written.edits == 40
    bake(body, np.arange(1.0, 51.0))  # frames that she never saw are baked
    assert [k.co[0] for k in curve(action, body, HIPS, 0).keyframe_points] == list(range(41, 51))
    assert keys.forget_edits(action) == 40
    bake(body)
    assert everything(action, body) == expected(body)


def test_one_component_deleted_leaves_the_others_as_found(body):
    action, _ = bake(body)
    compat.channelbag(action, body).fcurves.remove(curve(action, body, HIPS, 3))
    mine = hers_now(action, body, FRAMES)
    bake(body, seed=1)
    assert hers_now(action, body, FRAMES) == mine and curve(action, body, HIPS, 3) is None


def test_what_is_not_keys_stays(body):
    action, _ = bake(body)
    found = curve(action, body, SPINE, 1)
    found.mute, found.lock, found.hide, found.extrapolation = True, True, True, "LINEAR"
    found.color_mode, found.color = "CUSTOM", (1.0, 0.5, 0.0)
    found.modifiers.new("NOISE").strength = 0.5
    own = compat.new_fcurve(compat.channelbag(action, body), 'pose.bones["Head"].scale', 0, "Hers")
    own.keyframe_points.insert(5.0, 2.0)
    for how in (dict(seed=1), dict(bones=("Hips",)), dict(seed=2)):
        bake(body, **how)
        found = curve(action, body, SPINE, 1)
        assert (found.mute, found.lock, found.hide, found.extrapolation) == (True, True, True, "LINEAR")
        assert tuple(found.color) == (1.0, 0.5, 0.0) and found.modifiers[0].strength == 0.5
        assert point(action, body, 'pose.bones["Head"].scale', 0, 5).co[1] == 2.0


def test_change_of_rotation_mode(body):
    action, _ = bake(body)
    set_value(action, body)
    mine = hers_now(action, body, [10])
    euler = 'pose.bones["Hips"].rotation_euler'
    keys.write_keys(body, action, FRAMES, [keys.KeyChannel(euler, "Hips", np.ones((40, 3)))])
    assert hers_now(action, body, FRAMES) == mine
    assert len(curve(action, body, euler, 2).keyframe_points) == 40 and curve(action, body, SPINE, 0) is None


def test_keys_that_were_there_before_the_first_bake_are_hers(body):
    action = bpy.data.actions.new("Bake")
    bag = compat.channelbag(action, body, ensure=True)
    compat.new_fcurve(bag, LOCATION, 1, "Hips").keyframe_points.insert(7.0, 3.0)
    written = keys.write_keys(body, action, FRAMES, channels())
    assert written.edits == 1 and "no bake is known" in written.notes[0]
    assert point(action, body, LOCATION, 1, 7).co[1] == 3.0 and point(action, body, LOCATION, 0, 7) is None
    assert keys.write_keys(body, action, FRAMES, channels(seed=1)) == (1, ())


def test_renamed_bone(body):
    action, _ = bake(body)
    set_value(action, body)
    body.data.bones["Hips"].name = "Pelvis"
    assert curve(action, body, HIPS, 0) is None
    assert [(e.data_path, e.frame) for e in keys.edits(action)] == [(QUATERNION.format("Pelvis"), 10.0)]
    new = [c._replace(data_path=c.data_path.replace("Hips", "Pelvis"), group=c.group.replace("Hips", "Pelvis"))
           for c in channels(seed=1)]
    written = keys.write_keys(body, action, FRAMES, new)
    assert written.edits == 1 and "'Hips' is called 'Pelvis'" in written.notes[0]
    assert point(action, body, QUATERNION.format("Pelvis"), 2, 10).co[1] == 0.75
    assert keys.write_keys(body, action, FRAMES, new) == (1, ())


def test_record_travels(body, tmp_path):
    action, _ = bake(body)
    set_value(action, body)
    action.name = "Other"
    assert len(keys.edits(action)) == 1
    copied = action.copy()
    assert keys.edits(copied) == keys.edits(action)
    keys.write_keys(body, copied, FRAMES, channels(seed=1))
    assert len(keys.edits(action)) == 1
    compat.assign(body, None)
    action.use_fake_user = True
    keys.write_keys(body, action, FRAMES, channels(seed=1))
    told = keys.edits(action)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "kept.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "kept.blend"))
    again = bpy.data.actions["Other"]
    assert keys.edits(again) == told and len(told) == 1
    assert len(again.slots) == 1
    keys.write_keys(bpy.data.objects["Body"], again, FRAMES, channels())
    assert len(again.slots) == 1 and keys.edits(again) == told


@pytest.mark.parametrize("damage", ["cut", "flip", "text", "version", "gone"])
def test_lost_record_makes_all_keys_hers(body, damage):
    action, _ = bake(body)
    handle = str(action.slots[0].handle)
    data = bytes(action[keys.KEY][handle])
    if damage == "gone":
        del action[keys.KEY]
    elif damage == "text":
        action[keys.KEY] = "hello"
    else:
        del action[keys.KEY][handle]
        action[keys.KEY][handle] = {"cut": data[:-8], "flip": data[:-1] + bytes([data[-1] ^ 1]),
                                    "version": data.replace(b'"version":1', b'"version":9')}[damage]
    before = everything(action, body)
    written = keys.write_keys(body, action, np.arange(1.0, 51.0), channels(np.arange(1.0, 51.0), seed=1))
    assert written.edits == 120 and "yours" in written.notes[0]
    after = everything(action, body)
    assert all(after[at][f] == k for at, found in before.items() for f, k in found.items())
    assert len(after[HIPS, 0]) == 50
    assert keys.forget_edits(action) == 120
    bake(body)
    assert everything(action, body) == expected(body)


def test_forgetting_a_lost_record_takes_the_keys_as_baked(body):
    action, _ = bake(body)
    del action[keys.KEY]
    assert keys.forget_edits(action, bones=["Spine"]) == 40
    assert keys.write_keys(body, action, FRAMES, channels(seed=1)).edits == 80
    assert everything(action, body)[SPINE, 0] == expected(body, seed=1)[SPINE, 0]


def test_two_bodies_in_one_action(body):
    other = body.copy()
    bpy.context.scene.collection.objects.link(other)
    action, _ = bake(body)
    keys.write_keys(other, action, FRAMES, channels(seed=1))
    compat.assign(other, action)
    assert len(action.slots) == 2
    assert everything(action, body) == expected(body) and everything(action, other) == expected(body, seed=1)
    point(action, other, HIPS, 0, 3).co[1] = 9.0
    assert bake(body)[1].edits == 0
    assert keys.write_keys(other, action, FRAMES, channels()).edits == 1


def test_samples_are_left_alone(body):
    action, _ = bake(body)
    curve(action, body, SPINE, 0).convert_to_samples(1, 40)
    written = bake(body, seed=1)[1]
    assert "samples" in written.notes[0] and len(curve(action, body, SPINE, 0).sampled_points)


def test_fresh_keys_yield_to_hers_nearby(body):
    action, _ = bake(body)
    for i in range(4):
        curve(action, body, HIPS, i).keyframe_points.insert(45.002, 0.1)
    bake(body, np.arange(1.0, 51.0))
    near = [k.co[0] for k in curve(action, body, HIPS, 0).keyframe_points if 44.5 < k.co[0] < 45.5]
    assert near == [np.float32(45.002)]


def test_sign_follows_hers(body):
    action, _ = bake(body)
    for i in range(4):
        found = curve(action, body, HIPS, i)
        for frame in (10, 11, 12):
            k = point(action, body, HIPS, i, frame)
            k.co[1] = -k.co[1]
    bake(body)
    values = np.array([[k.co[1] for k in curve(action, body, HIPS, i).keyframe_points] for i in range(4)]).T
    assert np.all(np.sum(values[1:] * values[:-1], axis=-1) > 0.9)
    assert found.keyframe_points[0].co[1] == -np.float32(channels()[0].values[0, 3])


# All or nothing

@pytest.mark.parametrize("call", range(0, 11, 3))
@pytest.mark.parametrize("where", ["_write_plain", "_store", "_tidy"])
def test_failure_leaves_the_action_as_it_was(body, monkeypatch, where, call):
    action, _ = bake(body)
    ease(action, body)
    add(action, body)
    own = compat.new_fcurve(compat.channelbag(action, body), 'pose.bones["Head"].scale', 0, "Hers")
    own.keyframe_points.insert(1, 2)
    bpy.context.view_layer.update()
    before = whole_file.snapshot()
    original, calls = getattr(keys, where), []

    def failing(*args):
        calls.append(1)
        if len(calls) > call or where != "_write_plain":
            raise MemoryError("no room")
        return original(*args)

    monkeypatch.setattr(keys, where, failing)
    with pytest.raises(MemoryError):
        keys.write_keys(body, action, np.arange(5.0, 60.0), channels(np.arange(5.0, 60.0), 1, ("Head", "Hips")))
    assert whole_file.diff(before, whole_file.snapshot()) == []
    monkeypatch.undo()
    assert bake(body, seed=1)[1].edits == 2


@pytest.mark.parametrize("where", ["_write_plain", "_store", "_tidy"])
def test_failure_of_a_first_bake_leaves_the_action_empty(body, monkeypatch, where):
    action = bpy.data.actions.new("Bake")
    before = whole_file.snapshot()
    monkeypatch.setattr(keys, where, lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        keys.write_keys(body, action, FRAMES, channels())
    assert whole_file.diff(before, whole_file.snapshot()) == []


@pytest.mark.parametrize("frames, change, word", [
    (FRAMES, lambda c: c._replace(values=np.where(np.arange(40)[:, None] == 4, np.nan, c.values)), "frame 5"),
    (FRAMES, lambda c: c._replace(values=c.values * 1e60), "frame 1"),
    (FRAMES[:-1], lambda c: c, "40 values for 39 frames"),
    (FRAMES[::-1], lambda c: c, "rising"),
    (FRAMES * 1e-9 + 5000.0, lambda c: c, "rising"),
    (FRAMES, lambda c: c._replace(data_path=LOCATION), "twice"),
], ids=["nan", "too large", "count", "falling", "too close", "twice"])
def test_input_that_cannot_be_written(body, frames, change, word):
    action, _ = bake(body)
    before = whole_file.snapshot()
    with pytest.raises(FootholdError, match=word):
        keys.write_keys(body, action, frames, [change(c) if c.data_path == HIPS else c for c in channels()])
    assert whole_file.diff(before, whole_file.snapshot()) == []


# The record by itself

def test_align_is_the_same_rotation():
    frames = np.arange(10.0)
    quaternions = channels(frames)[0].values
    assert np.array_equal(memory.align(quaternions, frames, frames[3:6], -quaternions[3:6], "rotation_quaternion"),
                          -quaternions)
    hers = np.concatenate([-quaternions[3:4], quaternions[4:6]])
    assert memory.align(quaternions, frames, frames[3:6], hers, "rotation_quaternion") is quaternions
    euler = quaternions[:, :3]
    shifted = memory.align(euler, frames, frames[2:4] + 0.3, euler[2:4] + [6.0, -13.0, 0.1], "rotation_euler")
    assert np.allclose(shifted - euler, [2 * np.pi, -4 * np.pi, 0.0])
    axis_angle = np.concatenate([np.full((10, 1), 0.5), euler], axis=1)
    hers = -axis_angle[2:3] + [2 * np.pi, 0, 0, 0]
    assert np.allclose(memory.align(axis_angle, frames, frames[2:3], hers, "rotation_axis_angle")[2], hers[0])
    assert memory.align(euler, frames, frames[2:4], -euler[2:4], "location") is euler


def test_bytes_round_trip_and_size():
    count = 1000
    edits = np.zeros(2, memory._EDIT)
    given = memory.Record(np.arange(count, dtype=np.float32), ("a", 'b"é'),
                          np.arange(2 * count, dtype=np.uint32).reshape(2, count), {"c": edits}, ("G",))
    data = memory.to_bytes(given)
    assert len(data) < 4 * count * 3 + 300
    back = memory.from_bytes(data)
    assert np.array_equal(back.frames, given.frames) and np.array_equal(back.sums, given.sums)
    assert back.paths == given.paths and back.groups == given.groups and np.array_equal(back.edits["c"], edits)
    for bad in (b"", data[:5], data[:40], data + b"x", None, "text", memory._MAGIC + b"\xff\xff\xff\xff"):
        with pytest.raises(ValueError):
            memory.from_bytes(bad)


def test_checksums_see_every_bit_and_place():
    values = np.random.default_rng(1).normal(size=(5000, 4)).astype(np.float32)
    sums = memory.checksum(values)
    assert len(np.unique(sums)) > 4990
    for i in range(4):
        nudged = values.copy()
        nudged[:, i] = np.nextafter(values[:, i], np.float32(9.0))
        assert np.all(memory.checksum(nudged) != sums)
    assert np.mean(memory.checksum(values[:, ::-1].copy()) == sums) < 0.001
    parts = [memory.Keys(i, np.arange(5000, dtype=np.float32), values[:, i], None) for i in (3, 1, 0, 2)]
    assert np.array_equal(memory.state(parts).full, sums)
    scattered = [p._replace(frames=p.frames[::-1].copy(), values=p.values[::-1].copy()) for p in parts]
    assert np.array_equal(memory.state(scattered).full, sums)


# What differs between versions

def test_borrowed_action_gives_everything_back(body):
    bake(body)
    bpy.context.scene.frame_set(10)
    body.pose.bones["Head"].location = (1.0, 2.0, 3.0)
    body.pose.bones["Hips"].location = (4.0, 5.0, 6.0)  # posed and not keyed
    before = whole_file.snapshot()
    with compat.borrowed_action(body, "Preview") as preview:
        keys.write_keys(body, preview, FRAMES, channels(seed=1), record=False)
        bpy.context.scene.frame_set(20)
        bpy.context.scene.frame_set(10)
        assert body.pose.bones["Hips"].location[0] != 4.0
    assert whole_file.diff(before, whole_file.snapshot()) == []
    compat.assign(body, None)
    with pytest.raises(ValueError), compat.borrowed_action(body, "Preview"):
        raise ValueError
    assert body.animation_data.action is None and len(bpy.data.actions) == 1


def test_borrowed_action_without_animation_data(body):
    before = whole_file.snapshot()
    with compat.borrowed_action(body, "Preview"):
        pass
    assert whole_file.diff(before, whole_file.snapshot()) == []


def test_bone_selection(body):
    for bone in body.pose.bones:
        compat.select_bone(body, bone, False)
    compat.select_bone(body, "Spine")
    assert [b.name for b in compat.selected_pose_bones(body)] == ["Spine"]


def test_slots_go_to_their_owners(body):
    action, _ = bake(body)
    body.name = "Renamed"
    assert compat.slot_of(action, body).identifier == "OBBody"
    compat.assign(body, None)
    assert compat.slot_of(action, body).identifier == "OBBody"
    assert len(compat.fcurves(action, body)) == 11
    assert compat.fcurves(bpy.data.actions.new("Empty"), body) == ()


def test_whole_file_sees_small_changes(body):
    bake(body)
    changes = [lambda: setattr(body, "location", (0.0, 0.0, 1e-6)),
               lambda: setattr(point(bpy.data.actions["Bake"], body, HIPS, 0, 5), "period", 0.1),
               lambda: compat.select_bone(body, "Head", False) or compat.select_bone(body, "Spine", True),
               lambda: body.__setitem__("note", 1), lambda: body.pose.bones["Head"].__setitem__("note", 1),
               lambda: setattr(bpy.context.scene.render, "fps_base", 1.001),
               lambda: body.pose.bones["Head"].constraints.new("IK"), lambda: body.select_set(True),
               lambda: bpy.context.scene.frame_set(3), lambda: bpy.data.objects.new("Lost", None),
               lambda: bpy.ops.object.mode_set(mode="POSE")]
    before = whole_file.snapshot()
    for change in changes:
        change()
        after = whole_file.snapshot()
        assert whole_file.diff(before, after)
        before = after
    assert whole_file.diff(before, whole_file.snapshot()) == []


# Many edits, many bakes

class Hand:
    """Edits an action at random and remembers, apart from all code under test, what must stay."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.kept = {}  # (path, frame) -> {component: value} that stay
        self.empty = set()  # (path, frame) that stay empty

    def pick(self, action, body):
        path = (HIPS, SPINE, LOCATION)[self.random.integers(3)]
        points = curve(action, body, path, 0).keyframe_points
        return path, points[int(self.random.integers(len(points)))].co[0]

    def curves(self, action, body, path):
        return [c for c in compat.fcurves(action, body) if c.data_path == path]

    def hold(self, action, body, path, frame):
        self.kept[path, frame] = {c.array_index: k.co[1] for c in self.curves(action, body, path)
                                  for k in c.keyframe_points if k.co[0] == frame}
        self.empty.discard((path, frame))

    def edit(self, action, body):
        path, frame = self.pick(action, body)
        what = self.random.choice(["set", "delete", "add", "move"])
        to = float(np.float32(frame + self.random.uniform(0.1, 0.4)))
        for c in self.curves(action, body, path):
            k = next((k for k in c.keyframe_points if k.co[0] == frame), None)
            if what == "set" and c.array_index == 1 and k is not None:
                k.co[1] += 0.01
            elif what == "delete" and k is not None:
                c.keyframe_points.remove(k)
            elif what == "move" and k is not None:
                k.co[0] = to
                c.update()
            elif what == "add":
                c.keyframe_points.insert(to, c.evaluate(to))
        if what in ("set", "add"):
            self.hold(action, body, path, frame if what == "set" else to)
            return
        self.kept.pop((path, frame), None)
        self.empty.add((path, frame))  # a frame between the grid's has no fresh key anyway
        if what == "move":
            self.hold(action, body, path, to)

    def expect(self, fresh):
        """{(path, component): {frame: value}} of a fresh bake with these edits."""
        out = {at: {f: k[0] for f, k in held.items()} for at, held in fresh.items()}
        for path, frame in [*self.empty, *self.kept]:
            for i in range(4):
                out.get((path, i), {}).pop(frame, None)
        for (path, frame), values in self.kept.items():
            for i, value in values.items():
                out.setdefault((path, i), {})[frame] = value
        return out


@pytest.mark.parametrize("seed", range(4))
def test_many_edits_over_many_bakes(body, seed):
    action, _ = bake(body)
    hand = Hand(seed)
    for turn in range(8):
        for _ in range(6):
            hand.edit(action, body)
        first, step = hand.random.integers(1, 8), hand.random.integers(1, 3)
        how = dict(frames=np.arange(float(first), 41.0, float(step)), seed=0.01 * turn)
        bake(body, **how)
        found = {at: {f: k[0] for f, k in held.items()} for at, held in everything(action, body).items()}
        assert found == hand.expect(expected(body, **how))
    assert keys.count_edits(action) == len(keys.edits(action))
    keys.forget_edits(action)
    bake(body)
    assert everything(action, body) == expected(body)


def test_undo_takes_the_record_along(body):
    bake(body)
    action = bpy.data.actions["Bake"]
    bpy.ops.ed.undo_push(message="baked")
    set_value(action, body)
    bpy.ops.ed.undo_push(message="edited")
    bake(body, seed=1)
    bpy.ops.ed.undo_push(message="baked again")
    bpy.ops.ed.undo()
    body, action = bpy.data.objects["Body"], bpy.data.actions["Bake"]
    assert keys.edits(action) == [keys.Edit(HIPS, 10.0, "set")]
    assert everything(action, body)[SPINE, 0] == expected(body)[SPINE, 0]
    bpy.ops.ed.undo()
    assert keys.edits(bpy.data.actions["Bake"]) == []
