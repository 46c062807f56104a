"""Times and memory of a transfer, beside what Blender needs only to write the same keys; one run, one process.

    python tools/bench.py [--frames 14373] [--bones 60] [--repeat 3]

Makes its own rigs: a take with dense quaternion keys and a body with other proportions and other bone axes.
"""

import argparse
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "operators"))
import batch  # noqa: E402

batch.load_foothold()

import bpy  # noqa: E402
import numpy as np  # noqa: E402

from foothold.operators import job  # noqa: E402
from foothold.operators.bridge import compat, keys, read, roles  # noqa: E402
from foothold.solvers import rotation  # noqa: E402

_TRUNK = (("hips", None, (0, 0, 0.94)), ("spine", "hips", (0, 0, 0.1)), ("spine.1", "spine", (0, 0, 0.12)),
          ("chest", "spine.1", (0, 0, 0.13)), ("neck", "chest", (0, 0, 0.15)), ("head", "neck", (0, 0, 0.09)))
_SIDE = (("shoulder", "chest", (0.03, 0, 0.11)), ("upper_arm", "shoulder", (0.14, 0, 0)),
         ("forearm", "upper_arm", (0.28, 0, 0)), ("hand", "forearm", (0.24, 0, 0)), ("thigh", "hips", (0.09, 0, -0.05)),
         ("shin", "thigh", (0, 0, -0.4)), ("foot", "shin", (0, 0, -0.4)), ("toe", "foot", (0, -0.13, -0.06)))
_FINGERS = ("thumb", "index", "middle", "ring", "little")


def rig(name, bones, size, seed):
    """A T-pose humanoid with exactly `bones` bones, fingers first, then leaves that nobody maps."""
    rows = [(r, p, np.array(o, float)) for r, p, o in _TRUNK]
    for side, mirror in (("L", 1), ("R", -1)):
        rows += [(f"{r}.{side}", p if p in ("chest", "hips") else f"{p}.{side}", np.array(o, float) * (mirror, 1, 1))
                 for r, p, o in _SIDE]
        for i, finger in enumerate(_FINGERS):
            for n in (1, 2, 3):
                above = f"hand.{side}" if n == 1 else f"{finger}.{n - 1}.{side}"
                rows.append((f"{finger}.{n}.{side}", above, np.array((mirror * 0.03, 0.02 * (i - 2) * (n == 1), 0))))
    rows = rows[:bones] + [(f"leaf {i}", "head", np.array((0, 0, 0.1))) for i in range(bones - len(rows))]
    data = bpy.data.armatures.new(name)
    armature = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    rng = np.random.default_rng(seed)
    made = {}
    for role, above, offset in rows:
        bone = made[role] = data.edit_bones.new(role)
        bone.head = (np.array(made[above].head) if above else 0.0) + offset * size
        bone.tail = np.array(bone.head) + (rng.normal(size=3) * 0.05 if seed else (0, 0, 0.1))
        bone.roll = rng.uniform(-3, 3) if seed else 0.0
        bone.parent = made[above] if above else None
    bpy.ops.object.mode_set(mode="OBJECT")
    roles.store(armature, {role: role for role, _, _ in rows if not role.startswith("leaf")})
    return armature


def dance(armature, frames):
    """An action with smooth random rotations on every bone, and a way on the hips."""
    action = bpy.data.actions.new("Dance")
    rng = np.random.default_rng(1)
    time_line = np.linspace(0.0, frames / 60.0, frames)[:, None]
    channels = []
    for bone in armature.pose.bones:
        wave = sum(rng.normal(size=3) * 0.3 / k * np.sin(k * time_line + rng.uniform(0, 6, 3)) for k in (1, 2, 3))
        channels.append(keys.KeyChannel(f'pose.bones["{bone.name}"].rotation_quaternion', bone.name,
                                        rotation.continuous(rotation.exp(wave))))
    channels.append(keys.KeyChannel('pose.bones["hips"].location', "hips", 0.3 * np.sin(
        time_line * np.array([0.4, 0.9, 0.7]))))
    keys.write_keys(armature, action, np.arange(1.0, frames + 1.0), channels, record=False)
    compat.assign(armature, action)


def only_write(armature, frames, channels):
    """Seconds that Blender needs to make these keys and nothing else."""
    action = bpy.data.actions.new("Only write")
    slot = action.slots.new("OBJECT", armature.name)
    strip = action.layers.new("Layer").strips.new(type="KEYFRAME")
    bag = strip.channelbag(slot, ensure=True)
    co = np.empty((len(frames), 2), np.float32)
    co[:, 0] = frames
    linear = np.full(len(frames), compat.LINEAR, np.int32)
    generated = np.full(len(frames), compat.GENERATED, np.int32)
    columns = [(c.data_path, i, np.ascontiguousarray(c.values[:, i], np.float32))
               for c in channels for i in range(c.values.shape[1])]
    started = time.perf_counter()
    for path, i, values in columns:
        curve = bag.fcurves.new(path, index=i)
        curve.keyframe_points.add(len(frames))
        co[:, 1] = values
        curve.keyframe_points.foreach_set("co", co.ravel())
        curve.keyframe_points.foreach_set("interpolation", linear)
        curve.keyframe_points.foreach_set("type", generated)
        curve.update()
    seconds = time.perf_counter() - started
    bpy.data.actions.remove(action)
    return seconds


def peak():
    """Peak memory of the process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def main():
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--frames", type=int, default=14373)
    options.add_argument("--bones", type=int, default=60)
    options.add_argument("--repeat", type=int, default=3)
    args = options.parse_args()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    take, body = rig("take", args.bones, 1.0, 0), rig("body", args.bones, 0.8, 7)
    dance(take, args.frames)
    bpy.context.view_layer.update()
    settings = job.BakeSettings(take, body)
    print(f"Blender {bpy.app.version_string}, numpy {np.__version__}, {args.frames} frames x {args.bones} bones")
    before = peak()
    for turn in range(args.repeat):
        started = time.perf_counter()
        data = job.run(job.read_take_steps(scene, settings))
        read_seconds = time.perf_counter() - started
        figure, held = job.read_body(settings)
        started = time.perf_counter()
        result = job.transfer.transfer(data.figure, data.motion, figure, held)
        channels = job.key_channels(body, figure.skeleton, result)
        solve_seconds = time.perf_counter() - started
        floor = only_write(body, data.frames, channels)
        del data, result, channels
        started = time.perf_counter()
        report = job.run(job.bake_steps(scene, settings))
        whole = time.perf_counter() - started
        bpy.data.actions.remove(bpy.data.actions[report.action])
        print(f"run {turn + 1}: read {read_seconds:.2f} s, solve {solve_seconds:.2f} s, only writing {floor:.2f} s, "
              f"whole bake {whole:.2f} s = {whole / floor:.2f} x writing, {args.frames / whole:,.0f} frames/s, "
              f"peak {peak():.0f} MB (before {before:.0f})")
    assert read.frame_span(take.animation_data.action) == (1, args.frames)


if __name__ == "__main__":
    main()
