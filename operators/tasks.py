"""What each command of the command line does, in a scene of its own; each returns what `--json` prints."""

import contextlib
import os
import re
from pathlib import Path
from typing import NamedTuple

import bpy
import numpy as np

from ..solvers import humanoid, rest, transfer
from ..solvers.contacts import plot, script
from ..solvers.errors import FootholdError
from ..solvers.fit.fit import Options
from ..solvers.skeleton import rest_motion
from . import contacts, guess, job, resampling, review, scripted, terminal
from .bridge import compat, files, measure, plots, rates, read, render, samples, scripts
from .bridge import roles as role_store

TAKE, BODY = "Take", "Body"
_MOST = 10  # faults that are told line by line


def fresh_scene():
    """An empty file; add-ons and preferences stay as they are."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return bpy.context.scene


class Loaded(NamedTuple):
    """An armature out of a file."""

    armature: object
    action: object  # or None
    imported: object


def _main_armature(imported, moving=False):
    """The armature with the most bones, as the others are props; with `moving`, of those that play an action if any."""
    if not imported.armatures:
        raise FootholdError(f"{imported.path}: there is no armature in it.")
    playing = [o for o in imported.armatures if o.animation_data is not None and o.animation_data.action is not None]
    return max((moving and playing) or imported.armatures, key=lambda o: len(o.data.bones))


def load_take(path, action_name=None):
    """Import a take and let it play the named action, or its longest."""
    imported = files.import_file(path)
    armature = _main_armature(imported, moving=True)
    actions = [a for a in imported.actions if len(compat.fcurves(a, armature))]
    if not actions:
        raise FootholdError(f"{path}: the file holds no motion for '{armature.name}'.")
    if action_name:
        named = [a for a in actions if a.name == action_name]
        if not named:
            raise FootholdError(f"{path}: there is no action '{action_name}'; there is: "
                                + ", ".join(sorted(a.name for a in actions)))
        action = named[0]
    else:
        action = max(actions, key=lambda a: a.frame_range[1] - a.frame_range[0])
    compat.assign(armature, action)
    return Loaded(armature, action, imported)


def load_roles(args_map, *armatures):
    """Store roles on armatures, (word, armature) each: those of the map file, else those that came with the file, else
    detected ones."""
    given = {}
    if args_map:
        given = humanoid.load_role_tables(args_map, armatures[-1][0])
    for word, armature in armatures:
        skeleton = read.read_skeleton(armature)
        if word in given or role_store.KEY in armature:
            roles = given[word] if word in given else role_store.load(armature)
            faults = humanoid.validate(roles, skeleton)
            if faults:
                raise FootholdError(f"{args_map if word in given else armature.name}: {faults[0]}")
        else:
            found = role_store.detect(armature)
            roles = found.roles
            for conflict in found.conflicts:
                terminal.say(f"{word}: {conflict}")
        role_store.store(armature, roles)


def rest_choice(text, armature, path):
    """(RestChoice, Imported or None) of a rest given in words: file, pose, take:FRAME, auto, or a file's path."""
    if text in ("file", "pose"):
        return job.RestChoice(text), None
    if text == "auto":
        return guess.rest_of(armature, path)
    frame = re.fullmatch(r"(?:take|frame|body):(-?\d+)", text)
    if frame:
        return job.RestChoice("frame", frame=int(frame.group(1))), None
    if re.match(r"(?:take|frame|body):", text) and not Path(text).exists():
        raise FootholdError(f"'{text}' is no frame: write one such as take:12, or the name of a file.")
    imported = files.import_file(text)
    other = _main_armature(imported, moving=True)
    action = max((a for a in imported.actions if len(compat.fcurves(a, other))),
                 key=lambda a: a.frame_range[1] - a.frame_range[0], default=None)
    if action is not None:
        compat.assign(other, action)
    return job.RestChoice("armature", armature=other), imported


def _check_outputs(outputs, inputs):
    """Raise a FootholdError unless every (path, allowed suffixes or None) can be written, and none is also read."""
    taken = {os.path.realpath(path): "a file that is read" for path in inputs if path}
    for path, suffixes in outputs:
        suffix = Path(path).suffix
        if suffixes is not None and suffix.lower() not in suffixes:
            raise FootholdError(f"{path}: cannot write '{suffix}': choose one of {', '.join(suffixes)}.")
        files.check_target(path)
        if os.path.isfile(path) or not os.path.exists(path):  # two may well go to one device
            kind = taken.setdefault(os.path.realpath(path), None)
            if kind is not None:
                raise FootholdError(f"{path}: this is {kind}, and would be overwritten: choose another name.")
            taken[os.path.realpath(path)] = "another of the files to write"


@contextlib.contextmanager
def _no_remains(paths):
    """Deletes those of the files that were made inside when an exception leaves it."""
    made = [path for path in paths if not os.path.lexists(path)]
    try:
        yield
    except BaseException:
        for path in made:
            with contextlib.suppress(OSError):
                os.remove(path)
        raise


def bake_command(args):
    """`bake`; returns the report as plain data."""
    outputs = [(args.out, files.EXPORTS), (args.report, None), (args.sheet, (".png",))]
    outputs = [(path, suffixes) for path, suffixes in outputs if path]
    _check_outputs(outputs, (args.take, args.body, args.rest, args.body_rest, args.map, args.contacts))
    scene = fresh_scene()
    take = load_take(args.take, args.take_action)
    loaded_body = files.import_file(args.body)
    body = _main_armature(loaded_body)
    load_roles(args.map, ("take", take.armature), ("body", body))
    fps = job.action_fps(take.action, scene)
    temporary = []
    take_rest, imported = rest_choice(args.rest, take.armature, args.take)
    temporary.append(imported)
    told = _told(take_rest, args.rest)
    body_rest, imported = rest_choice(args.body_rest, body, args.body)
    temporary.append(imported)
    if args.fps and abs(args.fps - fps) > 1e-6:
        take_rest = _hold_rest(take, take_rest)
        resampling.resample_take(take.armature, take.action, fps, args.fps)
        fps = args.fps
    rates.give_scene(scene, fps)
    settings = job.BakeSettings(
        take.armature, body, take_rest, body_rest, args.range[0], args.range[1], args.step,
        transfer.Travel(args.travel, args.in_place, args.scale, args.height_scale), args.action,
        stages=tuple(args.stages), script=scripts.load_file(args.contacts) if args.contacts else None,
        fit=Options(args.fit or Options.prefer, args.prop_size or Options.prop_size))
    done = job.run(scripted.bake_steps(scene, settings))
    for imported in temporary:
        if imported is not None:
            files.remove(imported)
    _call(take.armature, TAKE)
    _call(body, BODY)
    baked = body.animation_data.action
    scene.frame_start, scene.frame_end = read.frame_span(baked)
    scene.frame_set(scene.frame_start)
    report = {"take": str(args.take), "body": str(args.body), "fps": fps, "rest": told,
              "action": done.action, "frames": done.frames,
              "scale": {"horizontal": done.scale[0], "vertical": done.scale[1]},
              "rest_disagreement_deg": _rows(done.disagreement), "rest_left_over_deg": _rows(done.left_over),
              "source_flips": done.flips, "awry": [list(row) for row in done.awry], "edits_kept": done.edits,
              "notes": done.notes, "stages": args.stages, "contacts": done.contacts, "cost": _cost(done)}
    _say(done)
    if args.report or args.json:
        report["metrics"] = measure.measure(scene, take.armature, body, cost=report["cost"],
                                            pure_transfer=args.stages == ["transfer"])
        _say_measured(report["metrics"])
    with _no_remains([path for path, _ in outputs]):
        if args.sheet:
            render.contact_sheet(args.sheet, scene, take.armature, body)
        _save(args.out, scene, body, fps)
        if args.report:
            terminal.write_json(args.report, report)
    terminal.say(f"{args.out}: {done.frames} frames at {fps:g} fps of '{take.action.name}' on '{args.body}'")
    return report


def _say(done):
    """What a bake has to tell."""
    if job.large(done.left_over):
        terminal.say(job.disagreement_sentence(job.large(done.left_over)))
    for bone, degrees, reason in done.awry:
        terminal.say(f"bone '{bone}' does not follow its keys, by up to {degrees:g} degrees: {reason}")
    for miss in review.misses(done.contacts):
        terminal.say(miss.sentence)
    for line in review.licence_lines(done.contacts):
        name, words = line.split("\t")
        terminal.say(f"contact '{name}' was moved within its licence: {words}")
    for note in (*done.contacts.get("notes", ()), *done.notes):
        terminal.say(note)


def _cost(done):
    """Frames a second of the whole bake and of each stage."""
    whole = sum(done.seconds.values())
    return {"seconds": {stage: round(s, 4) for stage, s in done.seconds.items()},
            "frames_per_second": round(done.frames / max(whole, 1e-9), 1)}


def _call(armature, name):
    """Name an armature, also where a mesh has that name already."""
    other = bpy.data.objects.get(name)
    if other is not None and other != armature:
        other.name = f"{name} of {armature.name}"
    armature.name = name


def _hold_rest(take, choice):
    """A rest that is a frame of the take, kept through a resampling as that frame of the old action."""
    if choice.kind != "frame":
        return choice
    return job.RestChoice("frame", frame=choice.frame, action=take.action)


def _rows(pairs):
    return [{"role": role, "degrees": round(degrees, 3)} for role, degrees in pairs]


def _told(choice, text):
    if text != "auto":
        return text
    return f"take:{choice.frame}" if choice.kind == "frame" else choice.armature.name if choice.armature else "file"


def _save(path, scene, body, fps):
    if Path(path).suffix.lower() == ".blend":
        files.save_blend(path)
        return
    meshes = [o for o in scene.objects if o.type == "MESH" and o.find_armature() == body]
    files.export_file(path, body, meshes, (scene.frame_start, scene.frame_end), fps)


def inspect_command(args):
    """`inspect`."""
    scene = fresh_scene()
    imported = files.import_file(args.file)
    armature = _main_armature(imported)
    skeleton = read.read_skeleton(armature)
    found = role_store.detect(armature)
    roles = {role: skeleton.names.index(bone) for role, bone in found.roles.items()}
    actions = [a for a in imported.actions if len(compat.fcurves(a, armature))]
    pose = rest.stance(rest_motion(skeleton).positions[0], roles)
    result = {"file": str(args.file), "kind": imported.kind, "fps": imported.fps, "armature": armature.name,
              "bones": len(skeleton.names), "family": found.family, "roles": found.roles,
              "unmapped": sorted(set(skeleton.names) - set(found.roles.values())),
              "conflicts": list(found.conflicts),
              "rest": {"stands": bool(pose.stands), "arms_down_deg": round(pose.arms_down, 1),
                       "off_a_standing_pose_deg": round(pose.error, 1), "arms_bent_deg": round(pose.bend, 1)},
              "actions": [_inspect_action(scene, armature, skeleton, roles, a) for a in actions]}
    longest = max(result["actions"], key=lambda a: a["frames"], default=None)
    result["frames"] = longest["frames"] if longest else 0
    result["travel"] = longest["travel"] if longest else None
    result["t_pose_frames"] = longest["t_pose_frames"] if longest else []
    if not args.json:
        terminal.say(f"{args.file}: {imported.kind}, {result['frames']} frames at {imported.fps:g} fps, "
                f"{result['bones']} bones ({found.family}), {len(found.roles)} mapped")
        for role, bone in found.roles.items():
            terminal.say(f"  {role:22} {bone}")
        for row in result["actions"]:
            terminal.say(f"  action '{row['name']}': frames {row['first']} to {row['last']}, T-pose at "
                    f"{row['t_pose_frames'][:5] or 'no frame'}")
    return result


def _inspect_action(scene, armature, skeleton, roles, action):
    first, last = read.frame_span(action)
    out = {"name": action.name, "first": first, "last": last, "frames": last - first + 1,
           "fps": job.action_fps(action, scene), "travel": None, "t_pose_frames": []}
    if "hips" in roles:
        found = samples.from_curves(armature, skeleton, action, np.arange(first, last + 1, dtype=float))
        hips, kept = found.part([roles["hips"]])
        at = int(np.searchsorted(kept, roles["hips"]))
        way = np.concatenate([hips.motion(rows).positions[:, at] for rows in samples.stretches(found.count)])
        out["travel"] = {"carrier": guess.travel_carrier(found, roles),
                         "horizontal_m": round(float(np.ptp(way[:, :2], axis=0).max()), 4),
                         "vertical_m": round(float(np.ptp(way[:, 2])), 4)}
        stances = guess.stances(found, roles)
        if stances is not None:
            out["t_pose_frames"] = [first + int(i) for i in rest.t_pose_frames(stances)[:20]]
    return out


def contacts_command(args):
    """`contacts`; returns a summary."""
    outputs = [(args.out, (".json",)), (args.plot, (".png", ".svg"))]
    outputs = [(path, suffixes) for path, suffixes in outputs if path]
    _check_outputs(outputs, (args.take, args.rest, args.map))
    scene = fresh_scene()
    take = load_take(args.take, args.take_action)
    load_roles(args.map, ("take", take.armature))
    take_rest, imported = rest_choice(args.rest, take.armature, args.take)
    told = _told(take_rest, args.rest)
    settings = job.BakeSettings(take.armature, None, take_rest)
    found = job.run(contacts.extract_steps(scene, settings, contacts.parse_prop(args.prop, args.take)))
    if imported is not None:
        files.remove(imported)
    with _no_remains([path for path, _ in outputs]):
        terminal.write_text(args.out, script.to_file_text(found))
        if args.plot:
            plots.save(args.plot, plot.draw(found))
    summary = {"take": str(args.take), "fps": found.fps, "frames": found.frames, "rest": told,
               "props": [{"name": p.name, "kind": p.kind, "point": list(p.point), "axis": list(p.axis),
                          "radius": p.radius} for p in found.props],
               "contacts": _counted(found.contacts), "notes": list(found.notes)}
    for note in found.notes:
        terminal.say(note)
    for prop in found.props:
        terminal.say(f"prop '{prop.name}': " + str(prop.evidence.get("told", prop.kind)))
    for row in summary["contacts"]:
        terminal.say(f"  {row['effector']:10} {row['kind']:8} {row['surface']:10} {row['count']:4} "
                     f"{row['seconds']:8.2f} s")
    terminal.say(f"{args.out}: {len(found.contacts)} contacts of '{take.action.name}'")
    return summary


def _counted(listed):
    """Per effector, kind and surface how many contacts there are and how long they last."""
    table = {}
    for contact in listed:
        row = table.setdefault((contact.effector, contact.kind, contact.surface), [0, 0.0])
        row[0] += 1
        row[1] += contact.end - contact.start
    return [{"effector": key[0], "kind": key[1], "surface": key[2], "count": count, "seconds": round(seconds, 3)}
            for key, (count, seconds) in sorted(table.items())]


def _open(path):
    if not Path(path).is_file():
        raise FootholdError(f"{path}: " + ("this is a folder; choose a baked .blend." if os.path.isdir(path) else
                                           "there is no such file."))
    try:
        bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
    except RuntimeError as error:
        raise FootholdError(f"{path}: Blender cannot open it ({str(error).strip()}): choose a baked .blend.") from None
    scene = bpy.context.scene
    found = {}
    for name in (TAKE, BODY):
        armature = bpy.data.objects.get(name)
        if armature is None or armature.type != "ARMATURE":
            raise FootholdError(f"{path}: it has no armature called '{name}': is it a baked scene?")
        data = armature.animation_data
        if data is None or data.action is None and not data.nla_tracks:
            raise FootholdError(f"{path}: its armature '{name}' has no action: is it a baked scene?")
        read.read_skeleton(armature)  # refuses what has no size
        found[name] = armature
    return scene, found[TAKE], found[BODY]


def measure_command(args):
    """`measure`."""
    _check_outputs([(args.report, None)] if args.report else [], [args.scene])
    scene, take, body = _open(args.scene)
    result = measure.measure(scene, take, body)
    if args.report:
        terminal.write_json(args.report, result)
    if not args.json:
        _say_measured(result)
    return result


def _say_measured(result):
    """What was measured, in a line, and the worst faults in a line each."""
    terminal.say(result["summary"])
    for fault in result["faults"][:_MOST]:
        terminal.say(review.fault_sentence(fault))
    if result["faults_total"] > _MOST:
        terminal.say(f"and {result['faults_total'] - _MOST} more faults: --report has them")


def render_command(args):
    """`render`."""
    _check_outputs([(args.out, (".png",))], [args.scene])
    scene, take, body = _open(args.scene)
    render.contact_sheet(args.out, scene, take, body)
    return {"sheet": str(args.out)}


COMMANDS = {"inspect": inspect_command, "contacts": contacts_command, "bake": bake_command,
            "measure": measure_command, "render": render_command}
