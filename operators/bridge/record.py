"""What a bake wrote, kept with the action, and what a person has changed since.

Blender does not mark a key that a person edits, so each bone and frame (strictly: each data path and frame) keeps a
32-bit checksum of all its components as baked. What differs from it is hers, and from then on it is listed as hers by
name, so that it stays hers whatever later bakes come out at. All here are pure functions of arrays.

Frames and values are float32, the bits that an F-curve stores. A checksum of 0 stands for "no key".
"""

import json
import re
import zlib
from typing import NamedTuple

import numpy as np

from . import compat

SET, MOVED, DELETED, ADDED, EASED = 1, 2, 3, 4, 5
KINDS = {SET: "set", MOVED: "moved", DELETED: "deleted", ADDED: "added", EASED: "eased"}
NEAR = 0.005  # frames; Blender holds keys closer than twice this for one

_MAGIC, _VERSION = b"FHBAKE\0\0", 1
_SEED = np.uint32(0x9E3779B9)
_BONE = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]')
_EDIT = np.dtype([("frame", "<f4"), ("origin", "<f4"), ("sum", "<u4"), ("kind", "<u4")])


class Record(NamedTuple):
    """What the last bake wrote and which places are hers."""

    frames: np.ndarray  # (F,) float32, rising
    paths: tuple  # (P,) data paths
    sums: np.ndarray  # (P, F) uint32, 0 where the bake has no key
    edits: dict  # data path -> (N,) _EDIT, by frame; origin is where a moved key came from, else NaN
    groups: tuple = ()  # names of the groups that bakes have made


class Keys(NamedTuple):
    """The keys of one F-curve."""

    index: int  # component
    frames: np.ndarray  # (K,) float32, as they lie in the curve
    values: np.ndarray  # (K,) float32
    shape: np.ndarray | None  # (K,) uint32, 0 where a key eases as baked; None where all do


class State(NamedTuple):
    """What the F-curves of one data path hold now, per frame that has any key."""

    frames: np.ndarray  # (U,) float32, rising
    plain: np.ndarray  # (U,) uint32 checksums of the values alone
    full: np.ndarray  # (U,) uint32 checksums of values and easing


def empty():
    """The Record of an action that no bake has written."""
    return Record(np.empty(0, np.float32), (), np.empty((0, 0), np.uint32), {})


# Checksums

def _mix(h, word, salt):
    """Mix words into hashes, both (N,) uint32, in place and wrapping; returns h."""
    h ^= word
    h += np.uint32(0x9E3779B1 * (salt + 1) & 0xFFFFFFFF)
    h *= np.uint32(0x85EBCA6B)
    h ^= h >> np.uint32(15)
    h *= np.uint32(0xC2B2AE35)
    h ^= h >> np.uint32(13)
    return h


def _bits(values):
    return (np.asarray(values, np.float32) + np.float32(0.0)).view(np.uint32)  # -0.0 counts as 0.0


def _never_zero(h):
    return np.maximum(h, np.uint32(1))


def checksum(values):
    """Checksums (F,) uint32 of keys as a bake writes them, values (F, C) float32 and all interpolation linear."""
    h = np.full(len(values), _SEED)
    for c in range(values.shape[1]):
        _mix(h, _bits(values[:, c]), c)
    return _never_zero(h)


def shape_words(interpolation, easing, types, left, right, numbers):
    """How keys ease, as (K,) uint32; 0 where a key eases as baked: linear, and no handle that anything depends on.

    interpolation, easing (K,) and types (K, 2) of the handles are Blender's enums; left and right (K, 2) are the
    handles relative to their keys, numbers (K, 3) back, amplitude and period. Handles that Blender places by itself
    count by their type only, because it moves them when a neighbour changes.
    """
    count, bezier = len(interpolation), interpolation == compat.BEZIER
    # a curve arrives at a key by the way of the key before it, so the left handle counts behind a Bezier key
    arrives = np.concatenate([[False], bezier[:-1]]) & (types[:, 0] != compat.AUTO_CLAMPED)
    rows = np.flatnonzero((interpolation != compat.LINEAR) | arrives)
    bezier, arrives, interpolation, easing = bezier[rows], arrives[rows], interpolation[rows], easing[rows]
    types, left, right, numbers = types[rows], left[rows], right[rows], numbers[rows]
    by_hand = np.isin(types, (compat.FREE, compat.ALIGNED))
    h, out = np.full(len(rows), _SEED), np.zeros(count, np.uint32)

    def put(word, where, salt):
        h[where] = _mix(h[where], np.asarray(word)[where].astype(np.uint32), salt)

    put(interpolation, interpolation != compat.LINEAR, 0)
    put(easing, interpolation > compat.BEZIER, 1)
    put(types[:, 1], bezier, 2)
    put(types[:, 0], arrives, 3)
    for axis in range(2):
        put(_bits(right[:, axis]), bezier & by_hand[:, 1], 4 + axis)
        put(_bits(left[:, axis]), arrives & by_hand[:, 0], 6 + axis)
    for i in range(3):
        put(_bits(numbers[:, i]), interpolation > compat.BEZIER, 8 + i)
    out[rows] = _never_zero(h)
    return out


def state(curves):
    """The State of one data path, from the Keys of its F-curves."""
    curves = sorted((k for k in curves if len(k.frames)), key=lambda k: k.index)
    if not curves:
        return State(np.empty(0, np.float32), np.empty(0, np.uint32), np.empty(0, np.uint32))
    first = curves[0].frames
    rising = bool(np.all(first[1:] > first[:-1]))
    if rising and all(np.array_equal(k.frames, first) for k in curves[1:]):
        plain = np.full(len(first), _SEED)
        for k in curves:
            _mix(plain, _bits(k.values), k.index)
        full = plain
        for k in curves:
            if k.shape is not None:
                full = np.where(k.shape != 0, _mix(full.copy(), k.shape, 16 + k.index), full)
        return State(first, _never_zero(plain), _never_zero(full))
    frames = np.unique(np.concatenate([k.frames for k in curves]))
    plain, full, twice = np.full(len(frames), _SEED), None, np.zeros(len(frames), bool)
    for k in curves:
        at = np.searchsorted(frames, k.frames)
        plain[at] = _mix(plain[at], _bits(k.values), k.index)
        twice |= np.bincount(at, minlength=len(frames)) > 1
    full = plain.copy()
    for k in curves:
        if k.shape is not None:
            eased = k.shape != 0
            at = np.searchsorted(frames, k.frames[eased])
            full[at] = _mix(full[at], k.shape[eased], 16 + k.index)
    plain[twice] ^= _SEED  # two keys on one frame are never as baked
    full[twice] ^= _SEED
    return State(frames, _never_zero(plain), _never_zero(full))


# Edits

def no_edits():
    """An empty array of edits."""
    return np.empty(0, _EDIT)


def _edit_array(frame, origin, sums, kind):
    out = np.empty(len(frame), _EDIT)
    out["frame"], out["origin"], out["sum"], out["kind"] = frame, origin, sums, kind
    return out[np.argsort(out["frame"], kind="stable")]


def row(record, path):
    """The checksums (F,) of a data path as baked; zeros for one that was not."""
    if path in record.paths:
        return record.sums[record.paths.index(path)]
    return np.zeros(len(record.frames), np.uint32)


def hers(record, path, now):
    """All edits of one data path, an array by frame: those known and those made since the last bake.

    Each is a place that a bake must leave as it is: for "moved" also its origin, which stays empty.
    """
    base, known = row(record, path), record.edits.get(path)
    if known is None and len(now.frames) == len(base) and np.array_equal(now.full, base) \
            and np.array_equal(now.frames, record.frames):
        return no_edits()
    known = no_edits() if known is None else known
    baked = record.frames[base != 0]
    frames = np.unique(np.concatenate([baked, now.frames, known["frame"]]))
    was, full, plain, told = (np.zeros(len(frames), np.uint32) for _ in range(4))
    origin = np.full(len(frames), np.nan, np.float32)
    was[np.searchsorted(frames, baked)] = base[base != 0]
    at = np.searchsorted(frames, now.frames)
    full[at], plain[at] = now.full, now.plain
    at = np.searchsorted(frames, known["frame"])
    told[at], origin[at] = known["kind"], known["origin"]
    was[at] = known["sum"]
    present, on_grid = full != 0, np.isin(frames, record.frames)

    kind = told.copy()
    fresh = told == 0
    kind[fresh & present & (was == 0)] = ADDED
    kind[fresh & ~present & (was != 0)] = DELETED
    changed = fresh & present & (was != 0) & (was != full)
    kind[changed] = np.where(plain[changed] == was[changed], EASED, SET)
    kind[(told == DELETED) & present] = SET
    kind[(told == EASED) & present & (full != was)] = SET
    kind[np.isin(told, (SET, EASED)) & ~present] = DELETED
    # what she put between the frames and took away again leaves nothing behind
    kind[np.isin(told, (ADDED, MOVED)) & ~present] = np.where(on_grid, DELETED, 0)[np.isin(told, (ADDED, MOVED))
                                                                                  & ~present]
    gone = ~present & (was != 0) & (told != DELETED)
    emptied = _pair_moves(frames, kind, origin, told, gone, was, full, plain, present & np.isin(kind, (ADDED, SET))
                          & (told == 0), on_grid)
    listed = kind != 0
    out = _edit_array(frames[listed], np.where(kind == MOVED, origin, np.nan)[listed], full[listed], kind[listed])
    if emptied:
        emptied = np.array([f for f in emptied if f not in out["frame"]], np.float32)
        more = _edit_array(emptied, np.full(len(emptied), np.nan), np.zeros(len(emptied), np.uint32),
                           np.full(len(emptied), DELETED))
        out = np.concatenate([out, more])
        out = out[np.argsort(out["frame"], kind="stable")]
    return out


def _pair_moves(frames, kind, origin, told, gone, was, full, plain, arrived, on_grid):
    """Find the keys that are gone from one frame and have come to another, and mark them in `kind` and `origin`.

    Returns the frames from which earlier moved keys came that are gone for good: these stay empty.
    """
    waiting = {}
    sums = np.concatenate([full[arrived], plain[arrived]])
    candidates = gone & np.isin(was, sums)
    for i in np.flatnonzero(candidates):
        waiting.setdefault(int(was[i]), []).append(i)
    matched = set()
    for i in np.flatnonzero(arrived):
        for key in (int(full[i]), int(plain[i])):
            if waiting.get(key):
                g = waiting[key].pop(0)
                matched.add(g)
                if told[g] == 0 or told[g] in (SET, EASED):
                    kind[i], origin[i], kind[g] = MOVED, frames[g], 0
                elif told[g] == MOVED:
                    kind[i], origin[i] = MOVED, origin[g]
                    kind[g] = DELETED if on_grid[g] else 0
                break
    return [origin[g] for g in np.flatnonzero(gone & (told == MOVED)) if g not in matched]


def places(edits):
    """Frames (N,) float32 at which a bake must not write: of the edits, and those that moved keys have left."""
    origin = edits["origin"]
    return np.unique(np.concatenate([edits["frame"], origin[~np.isnan(origin)]]))


def free_frames(frames, edits):
    """Which of the frames (F,) a bake may key, a mask: not her places, nor so near that the two would merge."""
    taken = places(edits)
    if not len(taken):
        return np.ones(len(frames), bool)
    right = np.minimum(np.searchsorted(taken, frames), len(taken) - 1)
    left = np.maximum(right - 1, 0)
    return np.minimum(np.abs(taken[right] - frames), np.abs(taken[left] - frames)) > NEAR


def align(values, frames, her_frames, her_values, channel):
    """Fresh values (F, C) by the same rotations, written in the way that most of her keys are.

    Quaternions and axis-angles change sign as a whole, angles shift by whole turns, so that no needless flip appears
    around the keys (K, C) that stay. `channel` is the property's name; other properties come back as they are.
    """
    if not len(her_frames) or not channel.startswith("rotation_"):
        return values
    inside = (her_frames >= frames[0]) & (her_frames <= frames[-1])
    if inside.any():
        her_frames, her_values = her_frames[inside], her_values[inside]
    right = np.clip(np.searchsorted(frames, her_frames), 0, len(frames) - 1)
    left = np.maximum(right - 1, 0)
    nearest = np.where(np.abs(frames[right] - her_frames) <= np.abs(frames[left] - her_frames), right, left)
    near = values[nearest]
    if channel != "rotation_euler":
        axis = slice(1, 4) if channel == "rotation_axis_angle" else slice(0, 4)
        dots = np.sum(near[:, axis] * her_values[:, axis], axis=-1)
        if np.sum(dots < 0.0) > np.sum(dots > 0.0):
            values, near = -values, -near
        if channel == "rotation_quaternion":
            return values
    turns = np.round(np.median((her_values - near) / (2.0 * np.pi), axis=0))
    if channel == "rotation_axis_angle":
        turns[1:] = 0.0
    return values + 2.0 * np.pi * turns if turns.any() else values


# Bones that were given another name

def bone_part(path):
    """The part of a data path that names its pose bone, or None."""
    match = _BONE.match(path)
    return match.group(0) if match else None


def renamed(record, states, gone=lambda part: True):
    """Bones that have another name than in the record, as {old part of the path: new part}.

    Blender renames the data paths with the bone. Taken for renamed is a recorded bone of which no F-curve is left and
    which `gone` confirms, if at least half of its keys lie as baked on a bone that the record does not know. `states`
    is {data path: State} of all bones that the record does not know.
    """
    rows = {path: i for i, path in enumerate(record.paths)}
    known, present = {}, {}
    for path in rows:
        known.setdefault(bone_part(path), []).append(path)
    for path in states:
        present.setdefault(bone_part(path), []).append(path)
    strangers = [part for part in present if part is not None and part not in known
                 and not any(bone_part(p) == part for p in record.edits)]
    out = {}
    for part, paths in known.items():
        if part is None or part in present or not gone(part):
            continue
        for stranger in strangers:
            same = total = 0
            for path in paths:
                base = record.sums[rows[path]]
                now = states.get(stranger + path[len(part):])
                total += int(np.sum(base != 0))
                if now is not None:
                    found = np.zeros(len(base), np.uint32)
                    hit = np.isin(now.frames, record.frames)
                    found[np.searchsorted(record.frames, now.frames[hit])] = now.full[hit]
                    same += int(np.sum((found == base) & (base != 0)))
            if total and 2 * same >= total:
                out[part] = stranger
                strangers.remove(stranger)
                break
    return out


def rename(record, parts):
    """The record with bones under their new names, `parts` as `renamed` gives them."""
    if not parts:
        return record

    def new(path):
        part = bone_part(path)
        return parts[part] + path[len(part):] if part in parts else path

    names = {_BONE.match(old).group(1): _BONE.match(to).group(1) for old, to in parts.items()}
    return record._replace(paths=tuple(new(p) for p in record.paths),
                           edits={new(p): e for p, e in record.edits.items()},
                           groups=tuple(dict.fromkeys((*record.groups, *(names.get(g, g) for g in record.groups)))))


def settle(record, path, now, edits, forgotten):
    """The record with some edits of a path forgotten: what lies there now counts as baked, the others are listed.

    `edits` are as from `hers`, `forgotten` a mask of them.
    """
    gone, kept = edits[forgotten], edits[~forgotten]
    spots = np.setdiff1d(places(gone), places(kept)) if len(gone) else np.empty(0, np.float32)
    frames = np.union1d(record.frames, spots)
    paths = record.paths if path in record.paths else (*record.paths, path)
    sums = np.zeros((len(paths), len(frames)), np.uint32)
    sums[:len(record.paths), np.searchsorted(frames, record.frames)] = record.sums
    line = sums[paths.index(path)]
    there = np.zeros(len(spots), np.uint32)
    hit = np.isin(spots, now.frames)
    there[hit] = now.full[np.searchsorted(now.frames, spots[hit])]
    line[np.searchsorted(frames, spots)] = there
    mine = np.intersect1d(places(kept), frames)
    line[np.searchsorted(frames, mine)] = 0
    table = dict(record.edits)
    table.pop(path, None)
    if len(kept):
        table[path] = kept
    return record._replace(frames=frames, paths=paths, sums=sums, edits=table)


# Bytes

def to_bytes(record):
    """A Record as bytes: a JSON header and the arrays, little-endian, with a checksum over all."""
    body = b"".join([np.ascontiguousarray(record.frames, "<f4").tobytes(),
                     np.ascontiguousarray(record.sums, "<u4").tobytes(),
                     *(np.ascontiguousarray(e).tobytes() for e in record.edits.values())])
    header = json.dumps({"version": _VERSION, "frames": len(record.frames), "paths": record.paths,
                         "edits": [[path, len(e)] for path, e in record.edits.items()], "groups": record.groups,
                         "crc": zlib.crc32(body)}, ensure_ascii=False, separators=(",", ":")).encode()
    return _MAGIC + len(header).to_bytes(4, "little") + header + body


def from_bytes(data):
    """The Record in `data`. Raises ValueError, saying what is wrong, for anything that is not a sound one."""
    if not isinstance(data, bytes) or data[:8] != _MAGIC:
        raise ValueError("it is not a record of a bake")
    size = int.from_bytes(data[8:12], "little")
    try:
        header = json.loads(data[12:12 + size])
        version, count, paths = header["version"], header["frames"], tuple(header["paths"])
        lengths, groups, crc = header["edits"], tuple(header["groups"]), header["crc"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError("its header cannot be read") from error
    if version != _VERSION:
        raise ValueError(f"it is of version {version}, this Foothold knows {_VERSION}")
    body = data[12 + size:]
    expected = 4 * count + 4 * count * len(paths) + _EDIT.itemsize * sum(n for _, n in lengths)
    if len(body) != expected or zlib.crc32(body) != crc:
        raise ValueError("it is damaged")
    frames = np.frombuffer(body, "<f4", count)
    sums = np.frombuffer(body, "<u4", count * len(paths), 4 * count).reshape(len(paths), count)
    edits, start = {}, 4 * count * (1 + len(paths))
    for path, n in lengths:
        edits[path] = np.frombuffer(body, _EDIT, n, start)
        start += n * _EDIT.itemsize
    return Record(frames, paths, sums, edits, groups)
