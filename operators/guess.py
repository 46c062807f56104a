"""Guesses that the artist may overrule: which rest a take is authored against, and what carries its way."""

import re
from pathlib import Path

import numpy as np

from ..solvers import rest
from ..solvers.errors import FootholdError
from ..solvers.skeleton import rest_motion
from . import job
from .bridge import files, read, samples

_T_POSE = re.compile(r"(^|[^a-z])t[\W_]*pose([^a-z]|$)", re.IGNORECASE)


def t_pose_neighbours(path):
    """Files beside `path` whose name says T-pose, of a kind that can be imported, the same kind first."""
    path = Path(path)
    found = [p for p in sorted(path.absolute().parent.iterdir())
             if p.suffix.lower() in files.IMPORTS and _T_POSE.search(p.stem) and p.name != path.name]
    return sorted(found, key=lambda p: p.suffix.lower() != path.suffix.lower())


def sampled(armature, action):
    """(Samples, role -> bone index) of an action from its first frame to its last."""
    skeleton = read.read_skeleton(armature)
    first, last = read.frame_span(action)
    return (samples.from_curves(armature, skeleton, action, np.arange(first, last + 1, dtype=float)),
            job.role_indices(armature, skeleton))


def stances(found, roles):
    """The Stance of every frame of Samples; None where it cannot be judged."""
    parts = [rest.stances(found.motion(rows).positions, roles) for rows in samples.stretches(found.count)]
    return None if None in parts else rest.Stance(*(np.concatenate(part) for part in zip(*parts)))


def t_pose_frames(armature, action):
    """Timeline frames of an action, best first, in which the figure stands in a T-pose."""
    found = stances(*sampled(armature, action))
    first, _ = read.frame_span(action)
    return [] if found is None else [first + int(i) for i in rest.t_pose_frames(found)]


def _best_frame(armature, action):
    """The frame that stands in a T-pose best, else the one that stands best at all, else None."""
    found = stances(*sampled(armature, action))
    for choose in (rest.t_pose_frames, rest.standing_frames) if found is not None else ():
        best = choose(found)
        if len(best):
            return read.frame_span(action)[0] + int(best[0])
    return None


def rest_of(armature, path=None):
    """(RestChoice, Imported or None) that fits a take best.

    In this order: a file beside it that is called T-pose and has its bones, the file's own rest if that is a standing
    pose, a T-pose frame of the take, a frame in which it stands straight, the file's rest whatever it is.
    """
    skeleton = read.read_skeleton(armature)
    roles = job.role_indices(armature, skeleton)
    bones = {skeleton.names[j] for j in roles.values()}
    for neighbour in t_pose_neighbours(path) if path else ():
        try:
            imported = files.import_file(str(neighbour))
        except FootholdError:
            continue  # a neighbour that cannot be read was only a guess
        other = max(imported.armatures, key=lambda o: len(o.data.bones))
        if imported.actions and job.same_bones(bones, set(other.data.bones.keys())):
            return job.RestChoice("armature", armature=other), imported
        files.remove(imported)
    if rest.stance(rest_motion(skeleton).positions[0], roles).stands:
        return job.RestChoice("file"), None
    if armature.animation_data is None or armature.animation_data.action is None:
        return job.RestChoice("file"), None
    frame = _best_frame(armature, job.take_action(armature))
    return (job.RestChoice("file") if frame is None else job.RestChoice("frame", frame=frame)), None


def travel_carrier(found, roles):
    """What carries the way of a take's Samples: "hips", "root", "object" or "nothing"."""
    if found.world.ndim == 3 and np.ptp(found.world[:, :3, 3], axis=0).max() > 1e-3:
        return "object"
    skeleton, hips = found.skeleton, roles["hips"]
    size = max(float(np.linalg.norm(skeleton.rest[hips, :3, 3])), 1e-6)
    moving = {j for j, values in found.location.items() if np.ptp(values, axis=0).max() > 1e-3 * size}
    above = skeleton.parents[hips]
    while above >= 0:
        if above in moving:
            return "root"
        above = skeleton.parents[above]
    return "hips" if hips in moving else "nothing"
