"""The bake as one road: read, solve, write. The panel and the command line both walk it, so their keys are the same."""

import itertools
import time
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import bpy
import numpy as np

from ..solvers import rest, rotation, transfer
from ..solvers.contacts.extract import extract
from ..solvers.contacts.script import within
from ..solvers.errors import FootholdError
from ..solvers.fit.fit import Options
from ..solvers.skeleton import backward, branch, forward, identity_channels, rest_motion
from . import fitting
from .bridge import compat, evaluate, keys, plans, rates, read, samples, scripts, told
from .bridge import roles as role_store
from .bridge.evaluate import part

STAGES = ("transfer", "contacts")
AWRY = np.radians(0.1)  # a bone that evaluates this far from its keys is reported


@dataclass(frozen=True)
class RestChoice:
    """What a motion is authored against: the file's rest, a frame, another action or armature, or the pose as it is."""

    kind: str = "file"  # "file", "frame", "action", "armature", "pose"
    frame: int = 0
    action: object = None  # bpy.types.Action, for "action"; for "armature" and "frame" the one played if None
    armature: object = None  # bpy.types.Object


@dataclass(frozen=True)
class BakeSettings:
    """All that a bake depends on besides the scene."""

    take: object  # armature object with an action
    body: object  # armature object
    take_rest: RestChoice = RestChoice()
    body_rest: RestChoice = RestChoice()
    first: int | None = None  # frames of the timeline; None: the take's own
    last: int | None = None
    step: int = 1
    travel: transfer.Travel = transfer.Travel()
    action_name: str = ""
    take_action: object = None  # None: the one that the take plays
    stages: tuple = STAGES[:1]  # of STAGES
    fit: Options = Options()  # of the stage "contacts"
    script: object = None  # contacts.script.ContactScript; None: the one kept with the take's action, or extracted now


@dataclass
class BakeReport:
    """What a bake did, as plain data."""

    action: str = ""
    frames: int = 0
    scale: tuple = (1.0, 1.0)
    disagreement: list = field(default_factory=list)  # of the two rests, (role, degrees), worst first
    left_over: list = field(default_factory=list)  # what of it no alignment takes away, likewise
    flips: list = field(default_factory=list)  # of the take, repaired
    awry: list = field(default_factory=list)  # (bone, degrees, reason): evaluates otherwise than keyed
    contacts: dict = field(default_factory=dict)  # what the stage "contacts" did; empty where it is off
    edits: int = 0  # hand edits kept
    notes: list = field(default_factory=list)
    seconds: dict = field(default_factory=dict)  # stage -> how long it took


class TakeData(NamedTuple):
    """A take, read: of its bones those that have a role, and what they hang from."""

    figure: transfer.Figure
    samples: samples.Samples
    standing_ankle: float
    frames: np.ndarray  # (F,) timeline frames
    origin: np.ndarray  # (3,) the point that stands still when the way is scaled
    flips: list


def require_armature(thing, word):
    """The armature object, or a FootholdError that says which one is missing."""
    if thing is None or thing.type != "ARMATURE":
        raise FootholdError(f"Choose an armature as the {word}.")
    return thing


def take_action(armature):
    """The action that an armature plays, or a FootholdError."""
    data = armature.animation_data
    if data is None or data.action is None:
        raise FootholdError(f"'{armature.name}' has no action: choose one that holds the motion.")
    return data.action


def check(settings):
    """Raise FootholdError for whatever would stop the bake before anything is read."""
    take, body = require_armature(settings.take, "take"), require_armature(settings.body, "body")
    if take == body:
        raise FootholdError(f"'{body.name}' is both take and body: choose two armatures.")
    if body.library is not None:
        raise FootholdError(f"'{body.name}' is linked from {body.library.filepath}: make a library override of it, or "
                            "append it.")
    if body.override_library is not None and body.override_library.is_system_override:
        raise FootholdError(f"'{body.name}' is a library override that is not editable: make it editable first.")
    if "contacts" in settings.stages and settings.travel.in_place:
        raise FootholdError("A body that stays in place cannot keep its contacts, which lie along the way: let it "
                            "travel, or leave out the stage 'contacts'.")
    if take.data == body.data:
        raise FootholdError(f"'{take.name}' and '{body.name}' share one armature: make the body's a copy of its own.")
    action = settings.take_action or take_action(take)
    first, last = read.frame_span(action)
    if not len(compat.fcurves(action, take)):
        raise FootholdError(f"Action '{action.name}' has no keys for '{take.name}'.")
    if last <= first:
        raise FootholdError(f"Action '{action.name}' has one frame only: it can serve as a rest, not as a take.")
    for word, value in (("first", settings.first), ("last", settings.last)):
        if value is not None and not first <= value <= last:
            raise FootholdError(f"The {word} frame {value} lies outside '{action.name}', which has frames {first} to "
                                f"{last}.")
    start, end = span(settings, action)
    if end < start:
        raise FootholdError(f"The range {start}:{end} runs backwards: name its first frame first.")
    if settings.step < 1:
        raise FootholdError("The step must be 1 or more.")
    if start + settings.step > end:
        raise FootholdError(f"The range {start}:{end} in steps of {settings.step} leaves one frame only, and a bake "
                            "needs two: choose a longer range or a smaller step.")


def span(settings, action):
    """First and last frame of a bake: as set, or else the take's own."""
    first, last = read.frame_span(action)
    return (first if settings.first is None else settings.first, last if settings.last is None else settings.last)


def action_fps(action, scene):
    """Frames a second of an action: as imported, or else the scene's."""
    return float(action.get("foothold_fps", rates.of_scene(scene)))


def role_indices(armature, skeleton):
    """role -> bone index of an armature; FootholdError where the hips or a named bone are missing."""
    roles = role_store.load(armature)
    index = {name: j for j, name in enumerate(skeleton.names)}
    for role, bone in roles.items():
        if bone not in index:
            raise FootholdError(f"Role '{role}' names the bone '{bone}', which '{armature.name}' does not have.")
    holders = {}
    for role, bone in roles.items():
        if holders.setdefault(bone, role) != role:
            raise FootholdError(f"'{armature.name}': bone '{bone}' has two roles, '{holders[bone]}' and '{role}': "
                                "clear one of them in the Roles table.")
    if "hips" not in roles:
        raise FootholdError(f"'{armature.name}' has no bone in the role 'hips': map it in the Roles table.")
    return {role: index[bone] for role, bone in roles.items()}


def _pose_now(armature, skeleton):
    evaluated = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrices = np.array([[evaluated.pose.bones[name].matrix for name in skeleton.names]])
    return backward(skeleton, matrices)


def _action_rest(armature, skeleton, action, frame=None):
    """World pose of an action's first (or a given) frame; what it does not key stands in the file's rest."""
    first, last = read.frame_span(action)
    frame = first if frame is None else frame
    if not first <= frame <= last:
        raise FootholdError(f"Frame {frame} lies outside '{action.name}', which has frames {first} to {last}.")
    at = np.array([float(frame)])
    return samples.from_curves(armature, skeleton, action, at, identity_channels(len(skeleton.names))).motion()


def same_bones(wanted, names):
    """Whether a skeleton with these bone names has at least nine in ten of the wanted ones: it is the same rig."""
    return len(wanted & names) >= 0.9 * len(wanted)


def _other_roles(other, other_skeleton, skeleton, roles):
    """Roles of a rest's armature: by equal names where it has this skeleton's bones, else its own."""
    index = {name: j for j, name in enumerate(other_skeleton.names)}
    named = {role: index[skeleton.names[j]] for role, j in roles.items() if skeleton.names[j] in index}
    if same_bones({skeleton.names[j] for j in roles.values()}, set(index)):
        return named
    return role_indices(other, other_skeleton)


def compare_rests(take, body):
    """(disagreement, what of it will show) of two Figures' rests: lists of (role, degrees), worst first."""
    poses = take.rest.positions[0], take.roles, body.rest.positions[0], body.roles
    return rest.disagreement(*poses), rest.left_over(*poses)


def large(left_over):
    """The rows that will show as wrong limbs: arms and legs, whose direction is posture and not how a rig is built."""
    return [(role, degrees) for role, degrees in left_over
            if degrees > rest.LARGE and role.split(".")[0] in ("upper_arm", "forearm", "thigh", "shin")]


def disagreement_sentence(rows):
    """What a large left-over disagreement of the rests will look like, in a sentence for the artist."""
    worst = ", ".join(f"{role} {degrees:.0f}" for role, degrees in rows[:4])
    return (f"The two rests disagree: {worst} degrees. The body will hold these limbs wrong by as much through the "
            "whole take. Choose a rest in which both stand alike, such as a T-pose.")


def read_rest(armature, skeleton, roles, choice, action=None):
    """The chosen rest of an armature as a Motion of one frame; only the mapped bones matter in it."""
    own = rest_motion(skeleton)
    if choice.kind == "file":
        return own
    if choice.kind == "pose":
        return forward(skeleton, _pose_now(armature, skeleton))
    if choice.kind == "frame":
        return _action_rest(armature, skeleton, choice.action or action or take_action(armature), choice.frame)
    if choice.kind == "action":
        if choice.action is None:
            raise FootholdError("Choose the action that holds the rest.")
        return _action_rest(armature, skeleton, choice.action, choice.frame or None)
    other = require_armature(choice.armature, "rest")
    other_skeleton = read.read_skeleton(other, fallback=skeleton)
    other_roles = _other_roles(other, other_skeleton, skeleton, roles)
    played = choice.action or (other.animation_data and other.animation_data.action)
    pose = _action_rest(other, other_skeleton, played) if played else rest_motion(other_skeleton)
    return rest.transplant(own, roles, rest_motion(other_skeleton), pose, other_roles)


def read_take_steps(scene, settings):
    """Read the take; a generator that yields the part done and returns TakeData."""
    armature = settings.take
    whole = read.read_skeleton(armature)
    action = settings.take_action or take_action(armature)
    skeleton, _ = branch(whole, role_indices(armature, whole).values())
    roles = role_indices(armature, skeleton)
    first, last = span(settings, action)
    frames = np.arange(first, last + 1, dtype=float)[::settings.step]
    if evaluate.reason(armature) is None:
        found = samples.from_curves(armature, skeleton, action, frames)
        yield 0.5
    else:
        found = yield from part(evaluate.samples_steps(scene, armature, skeleton, frames), 0.0, 0.8)
    found, turned = found.repaired(action_fps(action, scene) / settings.step)
    yield 0.9
    pose = read_rest(armature, skeleton, roles, settings.take_rest, action)
    origin = skeleton.world[:3, 3] if found.world.ndim == 2 else np.zeros(3)
    log = [{"bone": skeleton.names[f.joint], "first": int(frames[f.first]), "last": int(frames[f.last]),
            "degrees": round(f.degrees, 1)} for f in turned]
    figure = transfer.Figure(skeleton, roles, pose)
    return TakeData(figure, found, _standing_ankle(found, figure), frames, origin, log)


def _standing_ankle(found, figure):
    """`transfer.standing_ankle` of a take; only its legs are posed for it. Zero where it has none."""
    leg = transfer.leg_length(figure.rest.positions[0], figure.roles)
    if leg is None:
        return 0.0
    feet = {role: figure.roles[role] for role in ("foot.L", "foot.R") if role in figure.roles}
    legs, kept = found.part(feet.values())
    feet = {role: int(np.searchsorted(kept, j)) for role, j in feet.items()}
    return transfer.standing_ankle(np.concatenate([transfer.ankle_height(legs.motion(rows).positions, feet)
                                                   for rows in samples.stretches(legs.count)]), leg)


def read_figure(armature, choice):
    """The Figure of an armature with a RestChoice."""
    skeleton = read.read_skeleton(armature)
    roles = role_indices(armature, skeleton)
    return transfer.Figure(skeleton, roles, read_rest(armature, skeleton, roles, choice))


def read_body(settings):
    """The body's figure and the pose that its bones hold."""
    figure = read_figure(settings.body, settings.body_rest)
    return figure, read.read_held(settings.body, figure.skeleton)


def key_channels(body, skeleton, result, before=None):
    """The KeyChannels of a Transfer, in the order of the bones, each rotation in its bone's own mode.

    `before` (data path -> values of one frame) are the keys before this stretch, which it goes on from.
    """
    before = before or {}
    out = []
    for j, name in enumerate(skeleton.names):
        bone = body.pose.bones[name]
        prefix = f'pose.bones["{bpy.utils.escape_identifier(name)}"].'
        if j in result.locations:
            out.append(keys.KeyChannel(prefix + "location", name, result.locations[j]))
        if j in result.rotations:
            path = prefix + read.rotation_path(bone)
            stored = read.to_stored(result.rotations[j], bone.rotation_mode, before.get(path))
            out.append(keys.KeyChannel(path, name, stored))
    if result.offset is not None:
        parent = read.parent_matrix(body)
        way = np.array(body.location) + result.offset @ np.linalg.inv(parent[:3, :3]).T
        out.append(keys.KeyChannel("location", "Object Transforms", way))
    return out


def _default_name(settings):
    action = settings.take_action or take_action(settings.take)
    return settings.action_name or f"{action.name} on {settings.body.name}"


def fitting_name(name, tail=""):
    """`name` and `tail`, the name cut so that Blender keeps both whole: it counts bytes, and no two letters weigh the
    same."""
    most = bpy.types.ID.bl_rna.properties["name"].length_max - 1
    return name.encode()[:most - len(tail.encode())].decode(errors="ignore") + tail


def _target(name):
    """(the action to bake into or None, its name): of that name, or numbered where an action of hers has it."""
    for number in itertools.count():
        candidate = fitting_name(name, f".{number:03d}" if number else "")
        action = keys.baked_action(candidate)
        if action is not None or not any(a.name == candidate and a.library is None for a in bpy.data.actions):
            return action, candidate


def bake_steps(scene, settings):
    """Bake; a generator that yields the part done and returns a BakeReport.

    Nothing in the file changes before the last step. Closing the generator stops the bake.
    """
    found = yield from part(solve_steps(scene, settings), 0.0, 0.95)
    report = finish(settings, *found)
    yield 1.0
    return report


def solve_steps(scene, settings):
    """Read and solve; a generator that yields the part done and returns what `finish` writes."""
    check(settings)
    started = time.perf_counter()
    take = yield from part(read_take_steps(scene, settings), 0.0, 0.5)
    body, held = read_body(settings)
    read_seconds = time.perf_counter() - started
    plan = transfer.plan(take.figure, body, held, take.standing_ankle, settings.travel, take.origin,
                         body.skeleton.world[:3, 3])
    pose, kept, script = None, {}, None
    if "contacts" in settings.stages:
        script = yield from part(_script_steps(scene, settings, take), 0.5, 0.55)
        fitted, kept = yield from part(fitting.fit_steps(settings.body, plan, take, script, script.fps, settings.fit,
                                                         _target(_default_name(settings))[0]), 0.55, 0.6)
        plan, pose = fitted.plan, fitted.pose
        script = replace(fitted.script, fps=settings.step * script.fps,
                         frames=int(take.frames[-1] - take.frames[0]) + 1)
    channels, awry = (yield from part(_keys_steps(settings.body, plan, take, pose), 0.6, 0.7)), []
    if evaluate.reason(settings.body) is not None:
        channels, awry = yield from part(_as_seen_steps(scene, settings.body, plan, take, pose, channels), 0.7, 1.0)
    report = BakeReport(frames=len(take.frames), scale=plan.scale, flips=take.flips, awry=awry, contacts=kept)
    report.disagreement, report.left_over = compare_rests(take.figure, body)
    report.seconds = {"read": read_seconds, "transfer": time.perf_counter() - started - read_seconds}
    return take.frames, channels, report, script, plan


def _script_steps(scene, settings, take):
    """The ContactScript of the frames that are baked: the one given, else the take's own, else extracted now; a
    generator of the part done."""
    action = settings.take_action or take_action(settings.take)
    fps = action_fps(action, scene)
    script = settings.script or scripts.load(action)
    if script is None:
        whole = replace(settings, first=None, last=None, step=1)
        whole = take if whole == settings else (yield from read_take_steps(scene, whole))
        script = extract(whole.figure, whole.samples.motion(), fps)
    yield 1.0
    start = (take.frames[0] - read.frame_span(action)[0]) / fps
    return within(script, start, len(take.frames), fps / settings.step)


def _played(plan, take, pose, given):
    """The transfer of a take, stretch by stretch: yields (rows, Transfer). `pose` is the whole clip's WorldPose where a
    stage has changed it; `given` (F, 4) as in `transfer.play`."""
    before = None
    for rows in samples.stretches(len(take.frames)):
        seen = {j: q[rows].astype(float) for j, q in given.items()}
        motion = take.samples.motion(rows, transfer.placed(plan))
        if pose is None:
            result, before = transfer.play(plan, motion, before, seen)
        else:
            part_of = transfer.WorldPose(pose.rotations[rows], pose.hips[rows])
            result, before = transfer.keys(plan, part_of, motion, before, seen)
        yield rows, result


def _keys_steps(body, plan, take, pose=None, given=None):
    """The KeyChannels of a whole take, as Blender stores them; a generator of the part done that returns them."""
    count = len(take.frames)
    out, last = {}, {}
    for rows, result in _played(plan, take, pose, given or {}):
        for channel in key_channels(body, plan.body.skeleton, result, last):
            path, values = channel.data_path, channel.values
            if path not in out:
                out[path] = channel._replace(values=samples.array(count, values.shape[1]))
            out[path].values[rows] = values
            last[path] = values[-1]
        yield rows.stop / count
    return list(out.values())


def finish(settings, frames, channels, report, script, plan):
    """Write what was solved; returns the completed BakeReport.

    `script` is the ContactScript laid out in the body's world, or None, and `plan` the transfer.Plan: both are kept
    with the baked action.
    """
    started = time.perf_counter()
    action, report.edits, report.notes = write(settings, frames, channels)
    report.action = action.name
    if script is not None:
        scripts.store(action, script)
    else:
        scripts.remove(action)
    told.store(action, report.contacts)
    plans.store(action, plan, settings.take_action or take_action(settings.take))
    report.seconds["write"] = time.perf_counter() - started
    return report


def _as_seen_steps(scene, armature, plan, take, pose, channels):
    """Solve the children of bones that constraints or drivers move against what is seen, from the trunk outwards.

    Plays the keys from a temporary action; yields the part done and returns the KeyChannels and the bones that do not
    follow their keys, as (bone, degrees, reason).
    """
    skeleton = plan.body.skeleton
    given, awry = {}, {}
    with compat.borrowed_action(armature, "Foothold preview") as preview:
        for turn in range(4):
            keys.write_keys(armature, preview, take.frames, channels, record=False)
            seen = yield from part(_seen_steps(scene, armature, plan.body, take.frames), turn / 4.0, (turn + 1) / 4.0)
            new = {j: off for j, off in _off(plan, take, pose, given, seen).items() if off > AWRY}
            awry = new
            fresh = set(new) - set(given)
            if not fresh:
                break
            # bones nearest to the root first: what hangs from them may be off for no fault of its own
            given.update({j: seen[j] for j in fresh if not fresh & set(_ancestors(skeleton, j))})
            done = (turn + 1) / 4.0
            channels = yield from part(_keys_steps(armature, plan, take, pose, given), done, done)
    return channels, [(skeleton.names[j], round(float(np.degrees(off)), 2), _why(armature, skeleton.names[j]))
                      for j, off in sorted(awry.items(), key=lambda item: -item[1])]


def _seen_steps(scene, armature, body, frames):
    """Armature-space rotations of the mapped bones as they are seen, bone index -> (F, 4) float32; a generator."""
    bones = sorted(body.roles.values())
    order = [armature.pose.bones.find(body.skeleton.names[j]) for j in bones]
    seen = {j: samples.array(len(frames), 4) for j in bones}

    def receive(_, rows, worlds, matrices):
        linear = matrices[:, order, :3, :3]
        turns = rotation.from_matrix(linear / np.linalg.norm(linear, axis=-2)[..., None, :])
        for k, j in enumerate(bones):
            seen[j][rows] = turns[:, k]

    yield from evaluate.steps(scene, [armature], frames, receive)
    return seen


def _off(plan, take, pose, given, seen):
    """By how many radians mapped bones are at most seen elsewhere than wanted: bone index -> radians."""
    into = rotation.conj(rotation.from_matrix(rotation.orthonormal(plan.body.skeleton.world[:3, :3])))
    off = {}
    for rows, result in _played(plan, take, pose, given):
        for j, wanted in result.rotations_world.items():
            angle = rotation.angle(seen[j][rows].astype(float), rotation.mul(into, wanted)).max()
            off[j] = max(off.get(j, 0.0), float(angle))
    return off


def _ancestors(skeleton, j):
    while skeleton.parents[j] >= 0:
        j = skeleton.parents[j]
        yield j


def _why(armature, name):
    bone = armature.pose.bones[name]
    live = [c.name for c in bone.constraints if not c.mute and c.influence > 0.0]
    if live:
        return f"constraint '{live[0]}'"
    prefix = f'pose.bones["{bpy.utils.escape_identifier(name)}"]'
    data = armature.animation_data
    if data is not None and any(d.data_path.startswith(prefix) for d in data.drivers):
        return "driver"
    return "moved by the rig above or beside it"


def write(settings, frames, channels):
    """Write the keys into the body's baked action of that name, or a new one, and let the body play it.

    Returns (action, number of hand edits kept, notes). The action that the body played before stays in the file.
    """
    action, name = _target(_default_name(settings))
    body = settings.body
    new = action is None
    if new:
        action = bpy.data.actions.new(name)
    try:
        written = keys.write_keys(body, action, frames, channels)
    except Exception:
        if new:
            bpy.data.actions.remove(action)
        raise
    compat.replace_action(body, action)
    return action, written.edits, list(written.notes)


def run(steps):
    """Walk a generator to its end and return its value."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            return stop.value
