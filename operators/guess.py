"""Guesses that the artist may overrule: which rest a take is authored against, and what carries its way."""

import re
from pathlib import Path

import numpy as np

from ..solvers import rest
from ..solvers.errors import FootholdError
from ..solvers.skeleton import forward, rest_motion
from . import job
from .bridge import files, read

_T_POSE = re.compile(r"(^|[^a-z])t[\W_]*pose([^a-z]|$)", re.IGNORECASE)


def t_pose_neighbours(path):
    """Files beside `path` whose name says T-pose, of a kind that can be imported, the same kind first."""
    path = Path(path)
    found = [p for p in sorted(path.absolute().parent.iterdir())
             if p.suffix.lower() in files.IMPORTS and _T_POSE.search(p.stem) and p.name != path.name]
    return sorted(found, key=lambda p: p.suffix.lower() != path.suffix.lower())


def t_pose_frames(armature, action):
    """Timeline frames of an action, best first, in which the figure stands in a T-pose."""
    return _frames_that(rest.t_pose_frames, armature, action)


def standing_frames(armature, action):
    """Timeline frames of an action, best first, in which the figure stands straight and symmetric."""
    return _frames_that(rest.standing_frames, armature, action)


def _frames_that(choose, armature, action):
    skeleton = read.read_skeleton(armature)
    roles = job.role_indices(armature, skeleton)
    first, last = read.frame_span(action)
    frames = np.arange(first, last + 1, dtype=float)
    motion = forward(skeleton, read.read_channels(armature, skeleton, action, frames),
                     read.read_world(armature, action, frames))
    return [int(frames[i]) for i in choose(motion.positions, roles)]


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
        same = len(bones & {b.name for b in other.data.bones}) >= 0.9 * len(bones)
        if same and imported.actions:
            return job.RestChoice("armature", armature=other), imported
        files.remove(imported)
    if rest.stance(rest_motion(skeleton).positions[0], roles).stands:
        return job.RestChoice("file"), None
    if armature.animation_data is None or armature.animation_data.action is None:
        return job.RestChoice("file"), None
    found = t_pose_frames(armature, job.take_action(armature)) or standing_frames(armature, job.take_action(armature))
    return (job.RestChoice("frame", frame=found[0]) if found else job.RestChoice("file")), None


def travel_carrier(armature, skeleton, action, roles):
    """What carries a take's way: "hips", "root", "object" or "nothing"."""
    hips = roles["hips"]
    first, last = read.frame_span(action)
    frames = np.arange(first, last + 1, dtype=float)
    world = read.read_world(armature, action, frames)
    if np.ndim(world) == 3 and np.ptp(world[:, :3, 3], axis=0).max() > 1e-3:
        return "object"
    channels = read.read_channels(armature, skeleton, action, frames)
    above = skeleton.parents[hips]
    size = max(float(np.linalg.norm(skeleton.rest[hips, :3, 3])), 1e-6)
    while above >= 0:
        if np.ptp(channels.location[:, above], axis=0).max() > 1e-3 * size:
            return "root"
        above = skeleton.parents[above]
    return "hips" if np.ptp(channels.location[:, hips], axis=0).max() > 1e-3 * size else "nothing"


