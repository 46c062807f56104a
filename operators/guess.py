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


def played(armature, action):
    """(frames (F,), world Motion, role -> bone index) of an action from its first frame to its last."""
    skeleton = read.read_skeleton(armature)
    first, last = read.frame_span(action)
    frames = np.arange(first, last + 1, dtype=float)
    motion = forward(skeleton, read.read_channels(armature, skeleton, action, frames),
                     read.read_world(armature, action, frames))
    return frames, motion, job.role_indices(armature, skeleton)


def t_pose_frames(armature, action):
    """Timeline frames of an action, best first, in which the figure stands in a T-pose."""
    frames, motion, roles = played(armature, action)
    return [int(frames[i]) for i in rest.t_pose_frames(motion.positions, roles)]


def _best_frame(armature, action):
    """The frame that stands in a T-pose best, else the one that stands best at all, else None."""
    frames, motion, roles = played(armature, action)
    for choose in (rest.t_pose_frames, rest.standing_frames):
        found = choose(motion.positions, roles)
        if len(found):
            return int(frames[found[0]])
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


