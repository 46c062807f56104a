"""Times and memory of a transfer, beside what Blender needs only to write the same keys, measured in the same run.

    python tools/bench.py [--frames 14373] [--bones 60] [--repeat 3] [--fit]

Then the memory of a bake beside that of its keys, for takes as long, twice and four times as long.

Makes its own rigs: a take with dense quaternion keys and a body with other proportions and other bone axes.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "operators"))
import batch  # noqa: E402

batch.load_foothold()

import bpy  # noqa: E402
import numpy as np  # noqa: E402

from foothold.operators import fitting, guess, job, tasks  # noqa: E402
from foothold.operators.bridge import compat, files, keys, roles  # noqa: E402
from foothold.solvers import rotation, transfer  # noqa: E402
from foothold.solvers.contacts.extract import extract  # noqa: E402

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


def _status(field):
    """A field of this process's memory in MB: VmRSS is what it holds now, VmHWM the most since `_forget_peak`."""
    line = next(row for row in Path("/proc/self/status").read_text().splitlines() if row.startswith(field))
    return int(line.split()[1]) / 1024.0


def _forget_peak():
    Path("/proc/self/clear_refs").write_text("5")


def stage(args, frames):
    """(scene, settings) of a take of so many frames and a body."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    take, body = rig("take", args.bones, 1.0, 0), rig("body", args.bones, 0.8, 7)
    dance(take, frames)
    bpy.context.view_layer.update()
    return bpy.context.scene, job.BakeSettings(take, body)


def times(args):
    """Print what a bake takes, beside the writing of its keys alone."""
    scene, settings = stage(args, args.frames)
    print(f"Blender {bpy.app.version_string}, numpy {np.__version__}, {args.frames} frames x {args.bones} bones")
    before = _status("VmRSS")
    for turn in range(args.repeat):
        frames, channels, *_ = job.run(job.solve_steps(scene, settings))
        floor = only_write(settings.body, frames, channels)
        del channels
        _forget_peak()
        started = time.perf_counter()
        report = job.run(job.bake_steps(scene, settings))
        whole = time.perf_counter() - started
        bpy.data.actions.remove(bpy.data.actions[report.action])
        parts = ", ".join(f"{word} {seconds:.2f} s" for word, seconds in report.seconds.items())
        print(f"run {turn + 1}: {parts}; whole bake {whole:.2f} s = {whole / floor:.2f} x only writing "
              f"({floor:.2f} s), {args.frames / whole:,.0f} frames/s, peak {_status('VmHWM'):.0f} MB "
              f"(before {before:.0f})", flush=True)


def memory(args):
    """Print by how many MB the process grows at its peak, of one bake or of only writing the same keys."""
    scene, settings = stage(args, args.frames)
    if args.memory == "write":
        frames, channels, *_ = job.run(job.solve_steps(scene, settings))
    before = _status("VmRSS")
    _forget_peak()
    if args.memory == "bake":
        job.run(job.bake_steps(scene, settings))
    else:
        only_write(settings.body, frames, channels)
    print(_status("VmHWM") - before)


def growth(args):
    """Print how the memory of a bake grows beside that of its keys, each figure from a process of its own."""
    table = {}
    for frames in (args.frames, 2 * args.frames, 4 * args.frames):
        command = [sys.executable, __file__, "--bones", str(args.bones), "--frames", str(frames), "--memory"]
        table[frames] = [float(subprocess.run([*command, what], check=True, capture_output=True, text=True)
                               .stdout.splitlines()[-1]) for what in ("bake", "write")]
        print(f"{frames} frames: a bake takes {table[frames][0]:.0f} MB, its keys alone {table[frames][1]:.0f} MB",
              flush=True)
    first, last = min(table), max(table)
    bake, keys_alone = (1024.0 * (b - a) / (last - first) for a, b in zip(table[first], table[last]))
    print(f"growth: {bake:.1f} KB a frame, of which the keys themselves {keys_alone:.1f}")


def contact_times(args):
    """Print how long it takes to read the contacts off a take, and that it grows with the frames alone."""
    for frames in (args.frames, 2 * args.frames):
        scene, settings = stage(args, frames)
        take = job.run(job.read_take_steps(scene, settings))
        motion = take.samples.motion()
        started = time.perf_counter()
        found = extract(take.figure, motion, 60.0)
        seconds = time.perf_counter() - started
        print(f"contacts: {frames} frames in {seconds:.2f} s, {frames / seconds:,.0f} frames/s, "
              f"{len(found.contacts)} found, peak {_status('VmHWM'):.0f} MB", flush=True)


def repeated(found, frames):
    """Samples of a take played forwards and backwards until it has so many frames."""
    there = np.arange(found.count)
    rows = np.resize(np.concatenate([there, there[::-1]]), frames)
    return found._replace(count=frames, **{name: {j: values[rows] for j, values in getattr(found, name).items()}
                                           for name in ("location", "rotation", "scale")})


def fit_times(args):
    """Print how long the fit takes: the demo's pole take, repeated, on the demo's body with its skin."""
    demo = Path(__file__).resolve().parent.parent / "demo"
    for frames in (args.frames, 2 * args.frames):
        scene = tasks.fresh_scene()
        loaded = tasks.load_take(demo / "take.bvh")
        body = next(o for o in files.import_file(demo / "body.blend").objects if o.type == "ARMATURE")
        tasks.load_roles(None, ("take", loaded.armature), ("body", body))
        choice, _ = guess.rest_of(loaded.armature, demo / "take.bvh")
        settings = job.BakeSettings(loaded.armature, body, choice)
        take = job.run(job.read_take_steps(scene, settings))
        take = take._replace(samples=repeated(take.samples, frames), frames=np.arange(1.0, frames + 1.0))
        figure, held = job.read_body(settings)
        plan = transfer.plan(take.figure, figure, held, take.standing_ankle)
        script = extract(take.figure, take.samples.motion(), 30.0)
        _forget_peak()
        started = time.perf_counter()
        fitted, told = job.run(fitting.fit_steps(body, plan, take, script, 30.0))
        seconds = time.perf_counter() - started
        print(f"fit: {frames} frames, {told['count']} contacts in {seconds:.2f} s, {frames / seconds:,.0f} frames/s, "
              f"{len(fitted.misses)} missed, peak {_status('VmHWM'):.0f} MB", flush=True)


def main():
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--frames", type=int, default=14373)
    options.add_argument("--bones", type=int, default=60)
    options.add_argument("--repeat", type=int, default=3)
    options.add_argument("--memory", choices=("bake", "write"), help="only measure this one's memory")
    options.add_argument("--fit", action="store_true", help="only time the fit")
    args = options.parse_args()
    if args.memory:
        return memory(args)
    if args.fit:
        return fit_times(args)
    times(args)
    contact_times(args)
    fit_times(args)
    growth(args)


if __name__ == "__main__":
    main()
