"""Reading BVH: the tree of joints, the numbers, and what the file leaves unsaid (rate, unit, up axis)."""

import re
from typing import NamedTuple

import numpy as np

from ...solvers import rotation
from ...solvers.errors import FootholdError
from . import rates, units

_HEAD = re.compile(r"head(?!.*top)|(^|[_: ])neck", re.IGNORECASE)
_FOOT = re.compile(r"foot|ankle|toe", re.IGNORECASE)


class Bvh(NamedTuple):
    """A BVH file. Joints come in file order, parents first, end sites among them (name None)."""

    path: str
    names: tuple  # J, None for an end site
    parents: np.ndarray  # (J,)
    offsets: np.ndarray  # (J, 3) file units
    channels: tuple  # J tuples of lower-case channel names
    values: np.ndarray  # (F, C) as written
    fps: float
    unit: float  # metres per file unit
    up: str  # "Y" or "Z"


def read(path, fps=None):
    """The Bvh of a file; `fps` replaces the file's own rate.

    Raises FootholdError, naming the file, on anything that cannot be played: no hierarchy, too few numbers, no frame,
    a number that is none (with joint and frame), a senseless frame time.
    """
    head, motion = _split(path, _text(path))
    names, parents, offsets, channels = _hierarchy(path, head)
    count = sum(len(c) for c in channels)
    if not count:
        raise FootholdError(f"{path}: no joint has a channel; export the take with its rotations")
    frames, rate, numbers = _motion(path, motion, fps)
    values = _values(path, numbers, frames, count, names, channels)
    unit = units.guess(units.longest_way(parents, offsets))
    bvh = Bvh(str(path), names, parents, offsets, channels, values, rate, unit, "Y")
    return bvh._replace(up=up_axis(bvh))


def local(bvh, frames=slice(None)):
    """Each joint's position (F, J, 3) against its parent in file units, and its rotation (F, J, 4).

    A position channel replaces the joint's offset on its axis.
    """
    values = bvh.values[frames]
    positions = np.tile(bvh.offsets, (len(values), 1, 1))
    rotations = np.tile(rotation.IDENTITY, (len(values), len(bvh.names), 1))
    column = 0
    for j, channels in enumerate(bvh.channels):
        for channel in channels:
            axis = "xyz".index(channel[0])
            if channel.endswith("position"):
                positions[:, j, axis] = values[:, column]
            else:
                turn = np.zeros((len(values), 3))
                turn[:, axis] = np.radians(values[:, column])
                rotations[:, j] = rotation.mul(rotations[:, j], rotation.exp(turn))
            column += 1
    return positions, rotations


def world(bvh, frames=slice(None)):
    """World positions (F, J, 3) of all joints in the file's own axes and units."""
    positions, rotations = local(bvh, frames)
    for j, parent in enumerate(bvh.parents):
        if parent >= 0:
            positions[:, j] = positions[:, parent] + rotation.rotate(rotations[:, parent], positions[:, j])
            rotations[:, j] = rotation.mul(rotations[:, parent], rotations[:, j])
    return positions


def up_axis(bvh):
    """ "Y", or "Z" where the body stands along Z in the median of the take.

    BVH is Y-up by custom, so Z needs proof: the way from feet to head lies along Z and hardly along Y, in the take and
    in the file's rest (a crawl may lie along Z; its rest does not).
    """
    heads = [j for j, name in enumerate(bvh.names) if name and _HEAD.search(name)][:1]
    feet = [j for j, name in enumerate(bvh.names) if name and _FOOT.search(name)]
    if not heads or not feet:
        return "Y"
    rest = bvh._replace(values=np.zeros((1, bvh.values.shape[1])))
    sampled = slice(None, None, max(len(bvh.values) // 200, 1))
    for positions in (world(bvh, sampled), _rest_positions(rest)):
        way = rotation.normalize(positions[:, heads[0]] - positions[:, feet].mean(axis=1))
        y, z = np.median(way, axis=0)[1:]
        if not (z > 0.7 and abs(y) < 0.5):
            return "Y"
    return "Z"


def _rest_positions(bvh):
    positions = bvh.offsets[None].copy()
    for j, parent in enumerate(bvh.parents):
        if parent >= 0:
            positions[:, j] += positions[:, parent]
    return positions


def _text(path):
    with open(path, "rb") as file:
        data = file.read()
    if not data.strip():
        raise FootholdError(f"{path}: the file is empty; export the take again")
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _split(path, text):
    start = text.lstrip()[:9].upper()
    if start != "HIERARCHY":
        raise FootholdError(f"{path}: this is not a BVH file (it does not begin with HIERARCHY)")
    found = re.search(r"^\s*MOTION\s*$", text, re.MULTILINE | re.IGNORECASE)
    if not found:
        raise FootholdError(f"{path}: the file breaks off before its MOTION section; export it again")
    return text[:found.start()], text[found.end():]


def _hierarchy(path, text):
    names, parents, offsets, channels, open_joints, current = [], [], [], [], [], -1
    for line in text.replace("{", "\n{\n").replace("}", "\n}\n").splitlines():
        words = line.split()
        if not words:
            continue
        word = words[0].upper()
        try:
            if word in ("ROOT", "JOINT", "END"):
                names.append(None if word == "END" else "_".join(words[1:]) or f"joint{len(names)}")
                parents.append(open_joints[-1] if open_joints else -1)
                offsets.append((0.0, 0.0, 0.0))
                channels.append(())
                current = len(names) - 1
            elif word == "{":
                open_joints.append(current)
            elif word == "}":
                open_joints.pop()
            elif word == "OFFSET":
                offsets[current] = tuple(float(w) for w in words[1:4])
                if len(words) < 4 or not np.all(np.isfinite(offsets[current])):
                    raise ValueError(line)
            elif word == "CHANNELS":
                channels[current] = _channels(words, line)
        except (ValueError, IndexError) as error:
            where = f"joint {names[current]}" if names and names[current] else "an end site" if names else "the start"
            raise FootholdError(f"{path}: cannot read \"{line.strip()}\" at {where}; export the take again") from error
    if not names or open_joints:
        raise FootholdError(f"{path}: the hierarchy is not complete; export the take again")
    return tuple(names), np.array(parents), np.array(offsets), tuple(channels)


def _channels(words, line):
    names = tuple(w.lower() for w in words[2:])
    if int(words[1]) != len(names) or any(not re.fullmatch("[xyz](position|rotation)", n) for n in names):
        raise ValueError(line)
    return names


def _motion(path, text, fps):
    found = re.match(r"\s*Frames\s*:\s*(\S+)\s+Frame\s+Time\s*:\s*(\S+)", text, re.IGNORECASE)
    if not found:
        raise FootholdError(f"{path}: MOTION lacks its \"Frames:\" and \"Frame Time:\" lines; export the take again")
    try:
        frames = int(found[1])
    except ValueError as error:
        raise FootholdError(f"{path}: \"Frames: {found[1]}\" is no number") from error
    if frames < 1:
        raise FootholdError(f"{path}: the take has no frame; export it again")
    if fps is None:
        try:
            fps = rates.from_frame_time(found[2])
        except ValueError as error:
            raise FootholdError(f"{path}: a frame time of {found[2]} s makes no sense; write the true one into the "
                                "file's \"Frame Time:\" line, such as 0.0083333 for 120 frames per second") from error
    return frames, float(fps), text[found.end():].split()


def _values(path, numbers, frames, count, names, channels):
    try:
        values = np.array(numbers, dtype=np.float64)
    except ValueError as error:
        raise FootholdError(f"{path}: not a number in the motion ({error}); export the take again") from error
    if len(values) < frames * count or len(values) % count:
        raise FootholdError(f"{path}: the motion is cut off: {frames} frames of {count} numbers are announced, "
                            f"{len(values)} numbers are there; export the take again")
    values = values.reshape(-1, count)
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        frame, column = bad[0]
        owner = np.repeat(np.arange(len(names)), [len(c) for c in channels])[column]
        raise FootholdError(f"{path}: joint {names[owner]} has no finite number at frame {frame + 1} "
                            f"({len(bad)} such numbers in all); repair or export the take again")
    return values
