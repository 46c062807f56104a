"""Measuring a scene: what take and body do as Blender shows it, frame by frame."""

import numpy as np

from ...solvers import contact_probe, contact_report, flips, report
from ...solvers.errors import FootholdError
from ...solvers.fit import flesh
from ...solvers.rotation import continuous, from_matrix, orthonormal
from ...solvers.skeleton import Motion, rest_motion, to_world
from ...solvers.transfer import Figure
from . import evaluate, origins, rates, read, scripts, skin, surfaces
from .roles import KEY as ROLES_PROPERTY
from .roles import stored


def read_roles(armature):
    """The role map of an armature, role -> bone name, from its custom property.

    Raises FootholdError where it is absent, unreadable, names a bone that is not there, or has no hips.
    """
    if armature is None or armature.type != "ARMATURE":
        raise FootholdError(f"'{armature.name if armature else 'Nothing'}' is not an armature: choose one.")
    if ROLES_PROPERTY not in armature:
        raise FootholdError(f"Armature '{armature.name}' has no role map (custom property '{ROLES_PROPERTY}'): detect "
                            "its roles first.")
    roles = stored(armature)
    roles = {role: name for role, name in roles.items() if name}
    for role, name in roles.items():
        if name not in armature.data.bones:
            raise FootholdError(f"Armature '{armature.name}' has no bone '{name}', which its role map names for "
                                f"'{role}': correct the Roles table.")
    if "hips" not in roles:
        raise FootholdError(f"Armature '{armature.name}' has no bone in the role 'hips': map it in the Roles table.")
    return roles


def frames_of(scene, armatures, frame_range=None):
    """The whole frames (F,) to look at: `frame_range` (first, last), else those that all actions of the armatures
    share, else the scene's."""
    if frame_range is None:
        actions = [a.animation_data.action for a in armatures if a.animation_data and a.animation_data.action]
        spans = [action.frame_range for action in actions if action.frame_range[1] > action.frame_range[0]]
        frame_range = max((s[0] for s in spans), default=0), min((s[1] for s in spans), default=-1)
        if frame_range[1] < frame_range[0]:
            frame_range = scene.frame_start, scene.frame_end
    first, last = int(np.ceil(frame_range[0] - 1e-4)), int(np.floor(frame_range[1] + 1e-4))
    if last < first:
        raise FootholdError(f"The frame range {first} to {last} is empty: give a first frame before the last.")
    return np.arange(first, last + 1)


class _Recorder:
    """Collects one armature's evaluated bones as world-space arrays."""

    def __init__(self, armature, count):
        bones = armature.pose.bones
        self.armature = armature
        self.names = tuple(bone.name for bone in bones)
        self.parents = np.array([bones.find(bone.parent.name) if bone.parent else -1 for bone in bones])
        self.positions, self.rotations = np.empty((count, len(bones), 3)), np.empty((count, len(bones), 4))

    def add(self, rows, worlds, matrices):
        turns = from_matrix(orthonormal(matrices[..., :3, :3]))
        still = np.array_equal(worlds, np.broadcast_to(worlds[0], worlds.shape))
        motion = to_world(worlds[0] if still else worlds, matrices[..., :3, 3], turns)
        self.positions[rows], self.rotations[rows] = motion

    def side(self, roles):
        index = {name: j for j, name in enumerate(self.names)}
        rendered = np.array([self.armature.data.bones[name].use_deform for name in self.names])
        return report.Side(Motion(self.positions, continuous(self.rotations)), self.names, self.parents,
                           {role: index[name] for role, name in roles.items()}, rendered)


def record_steps(scene, armatures, frames):
    """Evaluate armatures at `frames` (F,): a generator of the part done, 0 to 1, that returns a list of _Recorder."""
    for armature in armatures:
        if not len(armature.data.bones):
            raise FootholdError(f"Armature '{armature.name}' has no bones: choose another.")
    recorders = [_Recorder(armature, len(frames)) for armature in armatures]
    yield from evaluate.steps(scene, armatures, frames, lambda i, *arrays: recorders[i].add(*arrays))
    return recorders


def measure_steps(scene, take, body, frame_range=None, keys=None, cost=None, pure_transfer=None):
    """`measure` as a generator that yields the part done, 0 to 1, and returns the report.

    Closing it early leaves the file as it was.
    """
    roles = read_roles(take), read_roles(body)
    frames = frames_of(scene, (take, body), frame_range)
    script, clock = laid_out_script(body)
    steps = record_steps(scene, (take, body), frames)
    recorders = yield from (steps if script is None else evaluate.part(steps, 0.0, 0.3))
    take_side, body_side = (recorder.side(r) for recorder, r in zip(recorders, roles))
    fps = rates.of_scene(scene)
    motion, repaired = flips.repair_motion(take_side.motion, take_side.parents, fps)
    take_side = take_side._replace(motion=motion)
    pure = script is None if pure_transfer is None else pure_transfer
    found = report.report(take_side, body_side, fps, frames, keys, cost, pure)
    found["take"]["armature"], found["body"]["armature"] = take.name, body.name
    found["take"]["flips"] = [{"bone": take_side.names[f.joint], "first": int(frames[f.first]),
                               "last": int(frames[f.last]), "degrees": round(f.degrees, 1), "stage": "take"}
                              for f in repaired]
    if repaired:
        found["notes"].append(f"{len(repaired)} flips of the take's own were turned back before comparing.")
    seen = None
    if script is not None:
        seen = yield from evaluate.part(_observe_steps(scene, body, body_side, script, clock, frames), 0.3, 0.9)
        if seen is None:
            found["notes"].append(f"'{body.name}' has no mesh to be seen: how it keeps its contacts was not measured.")
        else:
            found = contact_report.join(found, contact_report.report(script, seen[0]))
    return (yield from evaluate.part(origins.told_steps(found, take, body, (take_side, body_side), script, seen, frames,
                                                        fps), 0.9, 1.0))


def laid_out_script(body):
    """(ContactScript in the body's world, its Clock) that was kept with the action that an armature plays; None, None
    where there is none."""
    action = body.animation_data and body.animation_data.action
    script = scripts.load(action) if action else None
    return (None, None) if script is None else (script, scripts.clock(action, script))


def _observe_steps(scene, armature, side, script, clock, frames):
    """(contact_report.Observed, flesh.Skin) of the body at `frames` (F,), of which `side` was recorded, or None where
    it has no skin; a generator of the part done."""
    skeleton = read.read_skeleton(armature)
    order = [side.names.index(name) for name in skeleton.names]
    motion = Motion(side.motion.positions[:, order], side.motion.rotations[:, order])
    figure = Figure(skeleton, {role: order.index(j) for role, j in side.roles.items()}, rest_motion(skeleton))
    at_rest = skin.read_skin(armature, skeleton)
    if at_rest is None:
        return None
    probe = contact_probe.probe(figure, at_rest, script.props)
    seen = yield from surfaces.seen_steps(scene, armature, probe, frames)
    return contact_report.Observed(figure, motion, flesh.palms(figure, at_rest)[0], probe, seen, frames,
                                   clock.time(frames)), at_rest


def measure(scene, take, body, frame_range=None, progress=None, **options):
    """The report (`solvers.report.report`) of the armature objects `take` and `body` as they play in `scene`.

    Both carry their roles as JSON in the custom property `foothold_roles`. Where the body's action keeps a contact
    script, as a bake with the stage "contacts" leaves it, the report has a section "contacts". Each fault tells which
    stage of the bake it is from (`origins`), where the take still plays what was baked. Every frame of
    `frame_range` (first, last; what both actions have where left out) is evaluated with constraints, drivers and all;
    `progress` is called with the part done. `options` go to `measure_steps`. Nothing in the file changes, not even the
    current frame.
    """
    steps = measure_steps(scene, take, body, frame_range, **options)
    while True:
        try:
            done = next(steps)
        except StopIteration as end:
            return end.value
        if progress:
            progress(done)
