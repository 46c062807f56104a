"""The figures that a transfer must reach, on the pole takes and every body: as stored, evaluated by Blender."""

import json

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from foothold.operators import job  # noqa: E402
from foothold.operators.bridge import evaluate, files, keys, measure, read, roles, samples  # noqa: E402
from foothold.solvers import rest, rotation  # noqa: E402

BODIES = ("same_as_performer", "short_arms", "stocky", "tall", "chibi", "long_arms_short_legs", "fbx_scale",
          "twist_bones")


@pytest.fixture(scope="module")
def pole(data):
    """An empty file with seed1's take and its T-pose."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.render.fps = 60
    take = files.import_file(str(data / "pole/seed1/take.bvh")).armatures[0]
    t_pose = files.import_file(str(data / "pole/seed1/tpose.bvh")).armatures[0]
    for armature in (take, t_pose):
        roles.store(armature, roles.detect(armature).roles)
    return take, t_pose


def bring(data, name):
    body = files.import_file(str(data / f"bodies/{name}.blend")).armatures[0]
    roles.store(body, roles.detect(body).roles)
    return body


def bake(take, body, **settings):
    return job.run(job.bake_steps(bpy.context.scene, job.BakeSettings(take, body, **settings)))



@pytest.fixture(scope="module", params=BODIES)
def baked(request, data, pole):
    """(body, report with the T-pose, report with the file's rest), motions evaluated from the stored keys."""
    take, t_pose = pole
    body = bring(data, request.param)
    out = {}
    for word, choice in (("file", job.RestChoice("file")), ("t_pose", job.RestChoice("armature", armature=t_pose))):
        done = bake(take, body, take_rest=choice, action_name=f"{request.param} {word}")
        out[word] = done, seen(take, body)
    return body, out


def stored(armature, frames):
    """The Channels of what an armature plays."""
    skeleton = read.read_skeleton(armature)
    return samples.from_curves(armature, skeleton, armature.animation_data.action, frames).channels()


def seen(take, body):
    """Angles in degrees (F,) of source against body limb per role, and rolls about it, from the evaluated scene."""
    scene, frames = bpy.context.scene, np.arange(1, 1801, 7)
    found = []
    for armature in (take, body):
        world = np.empty((len(frames), len(armature.pose.bones), 4, 4))

        def receive(_, rows, worlds, matrices, world=world):
            world[rows] = worlds[:, None] @ matrices

        job.run(evaluate.steps(scene, [armature], frames, receive))
        index = {role: armature.pose.bones.find(bone) for role, bone in roles.load(armature).items()}
        turns = world[..., :3, :3] / np.linalg.norm(world[..., :3, :3], axis=-2)[..., None, :]
        found.append((world[..., :3, 3], rotation.from_matrix(turns), index))
    (sp, sq, si), (bp, bq, bi) = found
    want, have = rest.limb_directions(sp, si), rest.limb_directions(bp, bi)
    angles = {r: np.degrees(rotation.vector_angle(have[r], want[r])) for r in have if r in want}
    rolls = {}
    for role in angles:
        relative = rotation.mul(rotation.conj(sq[:, si[role]]), bq[:, bi[role]])
        axis = rotation.rotate(rotation.conj(sq[:, si[role]]), want[role])[0]
        rolls[role] = np.degrees(np.unwrap(rotation.twist_angle(relative, axis)))
    return angles, rolls


def test_with_the_t_pose_every_limb_is_constant_in_time(baked):
    body, out = baked
    done, (angles, rolls) = out["t_pose"]
    assert len(angles) >= 15 and not done.awry
    for role, angle in angles.items():
        assert angle.std() <= 0.01, (body.name, role)
        assert angle.max() - angle.mean() <= 0.02, (body.name, role)
        assert rolls[role].std() <= 0.5, (body.name, role)
    for role in ("upper_arm.L", "forearm.R", "thigh.L", "shin.R"):
        assert angles[role].max() < 0.05, (body.name, role)


def test_with_the_files_rest_the_limbs_are_wrong_by_what_was_shown(baked):
    body, out = baked
    done, (angles, _) = out["file"]
    shown = dict(done.disagreement)
    assert max(shown.values()) > 75.0
    worst = max(angles, key=lambda r: angles[r].mean())
    assert angles[worst].mean() > 75.0 and abs(angles[worst].mean() - shown[worst]) < 0.1
    assert sum(a.mean() > 20.0 for a in angles.values()) >= 6


def test_the_feet_stand_on_the_takes_floor(baked, data):
    """Median over the plants: what stands on the floor in the take stands there on the body, whatever its ankles."""
    body, out = baked
    frames = plant_frames(json.loads((data / "pole/seed1/truth.json").read_text()))
    lowest = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        for mesh in (o for o in bpy.context.scene.objects if o.type == "MESH" and o.find_armature() == body):
            evaluated = mesh.evaluated_get(depsgraph)
            co = np.empty(3 * len(evaluated.data.vertices), np.float32)
            evaluated.data.attributes["position"].data.foreach_get("vector", co)
            world = np.array(evaluated.matrix_world)
            lowest.append((co.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3])[:, 2].min())
    assert abs(np.median(lowest)) < 0.03, body.name


def plant_frames(truth):
    """A dozen timeline frames in the middle of flat plants."""
    spans = [(p["flat"]["start_frame"], p["flat"]["end_frame"]) for p in truth["plants"] if p.get("flat")]
    return sorted({(a + b) // 2 + 1 for a, b in spans})[:12]


def test_a_take_on_its_own_skeleton_gives_its_own_keys(data, pole):
    take, t_pose = pole
    twin = files.import_file(str(data / "pole/seed1/take.bvh")).armatures[0]
    roles.store(twin, roles.load(take))
    choice = job.RestChoice("armature", armature=t_pose)
    bake(take, twin, take_rest=choice, body_rest=choice, action_name="own")
    frames = np.arange(1.0, 1801.0)
    a, b = (stored(o, frames) for o in (take, twin))
    assert rotation.angle(a.rotation, b.rotation).max() < 1e-6
    assert np.abs(a.location - b.location).max() < 1e-6


def test_a_second_bake_gives_the_same_bits(data, pole):
    take, t_pose = pole
    body = bring(data, "stocky")
    choice = job.RestChoice("armature", armature=t_pose)
    bake(take, body, take_rest=choice, action_name="once")
    once = key_bytes(body)
    bake(take, body, take_rest=choice, action_name="once")
    assert key_bytes(body) == once
    bake(take, body, take_rest=choice, action_name="twice")
    assert key_bytes(body) == once


def key_bytes(armature):
    """All keys of the action that an armature plays, as bytes."""
    out = []
    for curve in keys.compat.fcurves(armature.animation_data.action, armature):
        co = np.empty(2 * len(curve.keyframe_points), np.float32)
        curve.keyframe_points.foreach_get("co", co)
        out.append((curve.data_path, curve.array_index, co.tobytes()))
    return sorted(out)


def test_the_report_says_the_same(baked, pole):
    take, _ = pole
    body, _ = baked
    report = measure.measure(bpy.context.scene, take, body, (1, 200))
    assert report["metrics"]


TAKES = ("takes/cmu_bvh60/02_05.bvh", "takes/cmu_cgspeed_bvh/01_01.bvh", "takes/cmu_fbx_isaacgym/55_01_cmu.fbx",
         "takes/animated_drawings/jesse_dance.bvh", "takes/kaykit_anims/Med_MovementAdvanced.glb")


@pytest.mark.parametrize("name", TAKES)
def test_real_takes_on_their_own_skeletons_give_their_own_keys(data, name):
    """Whatever the file's rest, its bones and its floor are: a body that is the same gets the same."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    take, twin = (files.import_file(str(data / name)).armatures[0] for _ in range(2))
    table = roles.detect(take).roles
    for armature in (take, twin):
        roles.store(armature, table)
    done = bake(take, twin, action_name="own")
    frames = np.arange(1.0, done.frames + 1.0)
    a, b = (stored(o, frames) for o in (take, twin))
    index = [read.read_skeleton(take).names.index(bone) for bone in table.values()]
    flipped = np.zeros(a.rotation.shape[:2], bool)
    for flip in done.flips:
        flipped[flip["first"] - 1:flip["last"], read.read_skeleton(take).names.index(flip["bone"])] = True
    off = np.where(flipped, 0.0, rotation.angle(a.rotation, b.rotation))
    assert off[:, index].max() < 1e-6
    hips, metres = index[list(table).index("hips")], np.linalg.norm(read.world_matrix(take)[:3, 0])
    assert metres * np.abs(a.location[:, hips] - b.location[:, hips]).max() < 1e-6
