"""A motion as Blender stores it, held for all frames and turned into poses a stretch at a time.

Poses in double precision are many times the size of the keys that they come from. Who walks a take in stretches needs
memory for its keys and for one stretch of poses, however long the take is.
"""

import re
from typing import NamedTuple

import bpy
import numpy as np

from ...solvers import flips, rotation
from ...solvers.errors import FootholdError
from ...solvers.skeleton import Channels, Skeleton, branch, clip, forward
from . import compat, read

STRETCH = 4096  # frames; Python's own time a stretch shows below, memory above

POSE_PATH = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]\.(\w+)$')
_BEYOND = 1e30  # Blender turns an infinite key into its largest number when one is set by hand


def stretches(count):
    """Slices that cover `count` frames."""
    return [slice(start, min(start + STRETCH, count)) for start in range(0, count, STRETCH)]


def array(count, size):
    """An empty (count, size) array of stored values, each component together in memory, as F-curves are."""
    return np.empty((size, count), np.float32).T


class Samples(NamedTuple):
    """Stored values of an armature's bones at F frames; joints that a part does not name hold still."""

    skeleton: Skeleton
    count: int  # F
    held: Channels  # one frame: the pose of what is not sampled
    modes: dict  # joint -> Blender's rotation mode of its values
    location: dict  # joint -> (F, 3) float32
    rotation: dict  # joint -> (F, 3 or 4) float32
    scale: dict  # joint -> (F, 3) float32
    world: np.ndarray  # the object's matrix, (4, 4), or (F, 4, 4) where it moves

    def channels(self, rows=slice(None)):
        """The Channels of a stretch of frames."""
        count = len(range(self.count)[rows])
        turned = clip(count, *self.held.rotation.shape[1:])
        turned[:] = self.held.rotation
        for mode in sorted(set(self.modes.values())):
            joints = [j for j in self.rotation if self.modes[j] == mode]
            raw = clip(count, len(joints), self.rotation[joints[0]].shape[1])
            for k, j in enumerate(joints):
                raw[:, k] = self.rotation[j][rows]
            turned[:, joints] = rotation.continuous(read.to_quaternions(raw, mode))
        return Channels(_filled(self.held.location, self.location, rows, count), turned,
                        _filled(self.held.scale, self.scale, rows, count))

    def motion(self, rows=slice(None), placed=None):
        """The world-space Motion of a stretch of frames; `placed` as in `skeleton.forward`."""
        world = self.world if self.world.ndim == 2 else self.world[rows]
        return forward(self.skeleton, self.channels(rows), world, placed)

    def part(self, joints):
        """(Samples of what the poses of `joints` depend on, its joints' indices (K,) here)."""
        skeleton, kept = branch(self.skeleton, joints)
        keyed = [{new: values[old] for new, old in enumerate(kept) if old in values}
                 for values in (self.modes, self.location, self.rotation, self.scale)]
        return Samples(skeleton, self.count, Channels(*(part[:, kept] for part in self.held)), *keyed,
                       self.world), kept

    def repaired(self, fps):
        """(Samples with every flip of the capture turned back, the flips)."""
        modes, turned, found = dict(self.modes), dict(self.rotation), []
        for joint in sorted(self.rotation):
            if _steady(self.rotation[joint], self.modes[joint]):
                continue
            turns = read.to_quaternions(self.rotation[joint].astype(float), modes[joint])
            repaired, flipped = flips.repair(turns[:, None], fps)
            if flipped:
                modes[joint], turned[joint] = "QUATERNION", array(self.count, 4)
                turned[joint][:] = repaired[:, 0]
                found.extend(flip._replace(joint=joint) for flip in flipped)
        return self._replace(modes=modes, rotation=turned), found


def _steady(values, mode):
    """Whether angles (F, 3) never step far enough for a flip: the rotation between two steps by no more than they."""
    return mode in rotation.EULER_ORDERS and np.abs(np.diff(values, axis=0)).sum(axis=1).max(initial=0.0) < flips.TURN


def _filled(held, keyed, rows, count):
    """(count, J, C) values: of the keyed joints their own, of the others the held pose (1, J, C)."""
    if not keyed:
        return np.broadcast_to(held, (count,) + held.shape[1:])
    out = clip(count, *held.shape[1:])
    out[:] = held
    for j, values in keyed.items():
        out[:, j] = values[rows]
    return out


def from_curves(armature, skeleton, action, frames, held=None):
    """The Samples of an action's F-curves at `frames` (F,).

    What it does not key keeps the pose `held`, Channels of one frame; None for the pose that the bones hold now.

    Raises FootholdError for keys that are not finite, naming bone and frame.
    """
    held = read.read_held(armature, skeleton) if held is None else held
    index = {name: j for j, name in enumerate(skeleton.names)}
    location, turned, scale, modes = {}, {}, {}, {}
    for curve in compat.fcurves(action, armature):
        match = POSE_PATH.match(curve.data_path)
        if curve.mute or not match:
            continue
        name = bpy.utils.unescape_identifier(match.group(1))
        j = index.get(name)
        if j is None:
            continue
        bone, channel = armature.pose.bones[name], match.group(2)
        if channel == read.rotation_path(bone):
            part, modes[j] = turned, bone.rotation_mode
        elif channel in ("location", "scale"):
            part = location if channel == "location" else scale
        else:
            continue
        if j not in part:
            now = (np.array(getattr(bone, channel)) if part is turned else
                   (held.location if part is location else held.scale)[0, j])
            part[j] = array(len(frames), len(now))
            part[j][:] = now
        part[j][:, curve.array_index] = _finite(read.sample_curve(curve, frames), frames, curve,
                                                f"Action '{action.name}': bone '{name}' has a {channel}")
    for values in scale.values():
        read.even_out(values)
    return Samples(skeleton, len(frames), held, modes, location, turned, scale, _world(armature, action, frames))


def _finite(values, frames, curve, owner):
    """The values (F,) of a curve, or a FootholdError that names its `owner` and the frame."""
    sound = np.abs(values) < _BEYOND
    if sound.all():
        return values
    bad = next((key.co.x for key in curve.keyframe_points if not abs(key.co.y) < _BEYOND), frames[np.argmin(sound)])
    raise FootholdError(f"{owner} that is not a number at frame {bad:g}: delete that key.")


def _world(armature, action, frames):
    """The object's world matrices (F, 4, 4) from its own F-curves, or (4, 4) where it stands still."""
    paths = ("location", "scale", read.rotation_path(armature))
    curves = [c for c in compat.fcurves(action, armature) if not c.mute and c.data_path in paths]
    world = read.world_matrix(armature)
    if not curves or not read.is_sound(world):
        return world
    values = {path: np.repeat(np.array(getattr(armature, path))[None], len(frames), axis=0) for path in paths}
    for curve in curves:
        owner = f"Action '{action.name}': the object '{armature.name}' has a {curve.data_path}"
        values[curve.data_path][:, curve.array_index] = _finite(read.sample_curve(curve, frames), frames, curve, owner)
    basis = np.tile(np.eye(4), (len(frames), 1, 1))
    turn = rotation.to_matrix(read.to_quaternions(values[paths[2]], armature.rotation_mode))
    basis[:, :3, :3] = turn * values["scale"][:, None, :]
    basis[:, :3, 3] = values["location"]
    found = read.parent_matrix(armature) @ basis
    return found[0] if np.array_equal(found, np.broadcast_to(found[:1], found.shape)) else found
