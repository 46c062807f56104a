"""What is read from Blender equals what Blender evaluates."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from foothold.operators.bridge import read  # noqa: E402
from foothold.solvers import rotation  # noqa: E402
from foothold.solvers.errors import FootholdError  # noqa: E402
from foothold.solvers.skeleton import backward, forward  # noqa: E402

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
    channels = read.read_channels(chain, skeleton, action, np.array([frame]))
    motion = forward(skeleton, channels, read.read_world(chain, action, np.array([frame])))
    truth = evaluated(chain, frame)
    order = [chain.pose.bones.find(name) for name in skeleton.names]
    assert np.abs(motion.positions[0] - truth[order, :3, 3]).max() < 1e-5
    turned = truth[order, :3, :3] / np.linalg.norm(truth[order, :3, :3], axis=-2)[:, None]
    assert rotation.angle(motion.rotations[0], rotation.from_matrix(turned)).max() < 1e-5


def test_backward_finds_the_channels_again(chain):
    skeleton = read.read_skeleton(chain)
    frames = np.arange(1.0, 22.0)
    channels = read.read_channels(chain, skeleton, chain.animation_data.action, frames)
    matrices = np.empty((len(frames), len(skeleton.names), 4, 4))
    worlds = np.empty((len(frames), 4, 4))
    for _ in read.evaluate_steps(bpy.context.scene, chain, skeleton, frames, worlds, matrices):
        pass
    found = backward(skeleton, matrices)
    assert rotation.angle(found.rotation, channels.rotation).max() < 1e-5
    free = ~skeleton.connected
    assert np.abs(found.location[:, free] - channels.location[:, free]).max() < 1e-5


def test_reading_leaves_the_scene_alone(chain):
    scene = bpy.context.scene
    scene.frame_set(7)
    before = [tuple(v for row in b.matrix_basis for v in row) for b in chain.pose.bones]
    skeleton = read.read_skeleton(chain)
    frames = np.arange(1.0, 22.0)
    steps = read.evaluate_steps(scene, chain, skeleton, frames, np.empty((21, 4, 4)), np.empty((21, 6, 4, 4)))
    next(steps)
    steps.close()
    assert scene.frame_current == 7
    assert before == [tuple(v for row in b.matrix_basis for v in row) for b in chain.pose.bones]


def test_a_key_that_is_no_number_is_named(chain):
    action = chain.animation_data.action
    curve = next(c for c in read.compat.fcurves(action, chain) if c.data_path.endswith('"bone 1"].location'))
    curve.keyframe_points[1].co.y = float("nan")
    with pytest.raises(FootholdError, match="bone 1.*frame 11"):
        read.read_channels(chain, read.read_skeleton(chain), action, np.arange(1.0, 22.0))


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
    worlds = read.read_world(chain, chain.animation_data.action, frames)
    for world, frame in zip(worlds, frames):
        evaluated(chain, frame)
        assert np.abs(world - np.array(chain.matrix_world)).max() < 1e-6


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "ZXY", "AXIS_ANGLE"])
def test_stored_rotations_are_continuous_and_right(mode):
    turn = rotation.continuous(rotation.exp(np.linspace(0.1, 15.0, 300)[:, None] * np.array([0.2, 0.5, 0.84])))
    stored = read.to_stored(turn, mode)
    assert rotation.angle(read.to_quaternions(stored, mode), turn).max() < 1e-6
    assert np.abs(np.diff(stored, axis=0)).max() < 0.5
