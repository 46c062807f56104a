"""What is read from Blender equals what Blender evaluates."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from foothold.operators.bridge import evaluate, read, samples  # noqa: E402
from foothold.operators.job import run  # noqa: E402
from foothold.solvers import rotation  # noqa: E402
from foothold.solvers.errors import FootholdError  # noqa: E402

MODES = ("QUATERNION", "XYZ", "ZYX", "AXIS_ANGLE", "YXZ", "QUATERNION")


@pytest.fixture
def chain():
    """Six bones in a chain with odd rolls, modes and inheritance, on a turned and scaled object, and an action."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    data = bpy.data.armatures.new("chain")
    armature = bpy.data.objects.new("chain", data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    rng = np.random.default_rng(4)
    head, parent = np.zeros(3), None
    for i in range(6):
        bone = data.edit_bones.new(f"bone {i}")
        tail = head + rng.normal(size=3)
        bone.head, bone.tail, bone.roll = head, tail, rng.uniform(-3, 3)
        bone.parent = parent
        bone.use_connect = i in (2, 5)
        bone.use_inherit_rotation = i != 3
        bone.use_local_location = i != 4
        head = tail + (0.0 if i + 1 in (2, 5) else rng.normal(size=3) * 0.2)
        parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    armature.location, armature.rotation_euler, armature.scale = (1.0, 2.0, 3.0), (0.3, -0.4, 2.0), (0.7, 0.7, 0.7)
    for bone, mode in zip(armature.pose.bones, MODES):
        bone.rotation_mode = mode
        for frame in (1, 11, 21):
            if mode == "QUATERNION":
                bone.rotation_quaternion = rotation.normalize(rng.normal(size=4))
            elif mode == "AXIS_ANGLE":
                bone.rotation_axis_angle = (rng.uniform(-2, 2), *rotation.normalize(rng.normal(size=3)))
            else:
                bone.rotation_euler = rng.uniform(-1.5, 1.5, 3)
            bone.location = rng.normal(size=3) * 0.3
            bone.keyframe_insert(read.rotation_path(bone), frame=frame)
            bone.keyframe_insert("location", frame=frame)
    return armature


def evaluated(armature, frame):
    whole = int(np.floor(frame))
    bpy.context.scene.frame_set(whole, subframe=frame - whole)
    return np.array([armature.matrix_world @ bone.matrix for bone in armature.pose.bones])


@pytest.mark.parametrize("frame", [1.0, 4.0, 11.0, 17.5, 21.0])
def test_numpy_kinematics_equal_blenders(chain, frame):
    skeleton = read.read_skeleton(chain)
    action = chain.animation_data.action
    found = samples.from_curves(chain, skeleton, action, np.array([frame]))
    motion = found.motion()
    truth = evaluated(chain, frame)
    order = [chain.pose.bones.find(name) for name in skeleton.names]
    assert np.abs(motion.positions[0] - truth[order, :3, 3]).max() < 1e-5
    turned = truth[order, :3, :3] / np.linalg.norm(truth[order, :3, :3], axis=-2)[:, None]
    assert rotation.angle(motion.rotations[0], rotation.from_matrix(turned)).max() < 1e-5


def test_backward_finds_the_channels_again(chain):
    skeleton = read.read_skeleton(chain)
    frames = np.arange(1.0, 22.0)
    channels = samples.from_curves(chain, skeleton, chain.animation_data.action, frames).channels()
    steps = evaluate.samples_steps(bpy.context.scene, chain, skeleton, frames)
    found = run(steps)
    assert rotation.angle(found.channels().rotation, channels.rotation).max() < 1e-5
    free = ~skeleton.connected
    assert np.abs(found.channels().location[:, free] - channels.location[:, free]).max() < 1e-5
    assert np.abs(found.world - read.world_matrix(chain)).max() < 1e-6


def test_evaluating_leaves_the_scene_alone(chain):
    scene = bpy.context.scene
    scene.frame_set(7)
    before = [tuple(v for row in b.matrix_basis for v in row) for b in chain.pose.bones]
    skeleton = read.read_skeleton(chain)
    steps = evaluate.samples_steps(scene, chain, skeleton, np.arange(1.0, 22.0))
    next(steps)
    steps.close()
    assert scene.frame_current == 7 and list(bpy.data.scenes) == [scene]
    assert before == [tuple(v for row in b.matrix_basis for v in row) for b in chain.pose.bones]


def test_a_part_of_the_bones_and_of_the_frames_moves_as_the_whole(chain, monkeypatch):
    monkeypatch.setattr(samples, "STRETCH", 4)
    skeleton = read.read_skeleton(chain)
    whole = samples.from_curves(chain, skeleton, chain.animation_data.action, np.arange(1.0, 22.0))
    part, kept = whole.part([3])
    assert [skeleton.names[j] for j in kept] == [f"bone {i}" for i in range(4)]
    rows = samples.stretches(part.count)
    assert len(rows) == 6
    motions = [part.motion(r) for r in rows]
    assert np.abs(np.concatenate([m.positions for m in motions]) - whole.motion().positions[:, kept]).max() < 1e-12
    turns = np.concatenate([m.rotations for m in motions])
    assert rotation.angle(turns, whole.motion().rotations[:, kept]).max() < 1e-12


@pytest.mark.parametrize("mode", MODES[:5])
def test_rotations_are_stored_alike_in_stretches(mode):
    time = np.linspace(0.0, 12.0, 200)[:, None]
    turns = rotation.exp(time * np.array([0.9, 0.3, -0.5]) + np.sin(3.0 * time) * np.array([0.2, 1.1, 0.4]))
    turns[60:90] = rotation.IDENTITY
    turns = rotation.continuous(turns)
    whole = read.to_stored(turns, mode)
    parts, before = [], None
    for rows in (slice(0, 50), slice(50, 70), slice(70, 80), slice(80, 81), slice(81, 200)):
        parts.append(read.to_stored(turns[rows], mode, before))
        before = parts[-1][-1]
    parts = np.concatenate(parts)
    assert np.abs(parts - whole).max() < 1e-12
    assert rotation.angle(read.to_quaternions(parts, mode), turns).max() < 1e-7


def test_a_key_that_is_no_number_is_named(chain):
    action = chain.animation_data.action
    curve = next(c for c in read.compat.fcurves(action, chain) if c.data_path.endswith('"bone 1"].location'))
    curve.keyframe_points[1].co.y = float("nan")
    with pytest.raises(FootholdError, match="bone 1.*frame 11"):
        samples.from_curves(chain, read.read_skeleton(chain), action, np.arange(1.0, 22.0))


def test_a_zero_scale_is_named(chain):
    chain.scale = (0.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    with pytest.raises(FootholdError, match="chain.*scale"):
        read.read_skeleton(chain)


def test_an_animated_object_carries_its_motion(chain):
    chain.keyframe_insert("location", frame=1)
    chain.location = (5.0, 2.0, 3.0)
    chain.keyframe_insert("location", frame=21)
    frames = np.array([1.0, 9.0, 21.0])
    worlds = samples.from_curves(chain, read.read_skeleton(chain), chain.animation_data.action, frames).world
    for world, frame in zip(worlds, frames):
        evaluated(chain, frame)
        assert np.abs(world - np.array(chain.matrix_world)).max() < 1e-6


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "ZXY", "AXIS_ANGLE"])
def test_stored_rotations_are_continuous_and_right(mode):
    turn = rotation.continuous(rotation.exp(np.linspace(0.1, 15.0, 300)[:, None] * np.array([0.2, 0.5, 0.84])))
    stored = read.to_stored(turn, mode)
    assert rotation.angle(read.to_quaternions(stored, mode), turn).max() < 1e-6
    assert np.abs(np.diff(stored, axis=0)).max() < 0.5
