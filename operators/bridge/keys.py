"""Writing keys: fast, all or nothing, and never over what a person has changed since the last bake."""

from typing import NamedTuple

import bpy
import numpy as np

from ...solvers.errors import FootholdError
from . import compat
from . import record as memory

KEY = "foothold_baked"  # custom property of the Action: {slot handle: bytes}
_TRANSFORMS = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle")

# all that Blender stores with a key, as `foreach_get` wants it
_FIELDS = {"co": (2, np.float32), "handle_left": (2, np.float32), "handle_right": (2, np.float32),
           "handle_left_type": (1, np.int32), "handle_right_type": (1, np.int32), "interpolation": (1, np.int32),
           "easing": (1, np.int32), "back": (1, np.float32), "amplitude": (1, np.float32), "period": (1, np.float32),
           "type": (1, np.int32), "select_control_point": (1, np.bool_), "select_left_handle": (1, np.bool_),
           "select_right_handle": (1, np.bool_)}


class KeyChannel(NamedTuple):
    """The values of one property over a bake's frames."""

    data_path: str  # 'pose.bones["Hips"].rotation_quaternion', or of the object itself: 'location'
    group: str  # name of the F-curves' group: the bone's
    values: np.ndarray  # (F, C) all components, C = 3 or 4


class Written(NamedTuple):
    """What `write_keys` did."""

    edits: int  # bone frames that are hers and were left alone
    notes: tuple  # plain sentences for the artist


class Edit(NamedTuple):
    """A place that a person has changed since a bake."""

    data_path: str
    frame: float
    kind: str  # "set", "moved", "deleted", "added" or "eased"
    origin: float | None = None  # where a moved key came from


class _Task(NamedTuple):
    """One F-curve to be written."""

    curve: object  # bpy.types.FCurve, or None for a new one
    path: str
    index: int
    group: str
    frames: np.ndarray  # (K,) float32 fresh keys
    values: np.ndarray  # (K,) float32
    hers: np.ndarray | None  # mask over the curve's keys of those that stay


# Reading what is there

def baked_action(name):
    """The local action of that name that a bake has written, or None."""
    for action in bpy.data.actions:
        if action.name == name and action.library is None and KEY in action:
            return action
    return None


def is_baked(action):
    """Whether a bake has written this action."""
    return KEY in action


def _load(action, slot):
    """(Record or None, what is wrong with it or None) of a slot."""
    held = action.get(KEY)
    if held is None or slot is None:
        return None, None
    if not hasattr(held, "keys"):
        return None, "it is not a record of a bake"
    data = held.get(str(slot.handle))
    if data is None and len(held.keys()) == 1 and len(action.slots) == 1:
        data = held[held.keys()[0]]  # the slot was made anew, as when it moves to another action
    if data is None:
        return None, None
    try:
        return memory.from_bytes(data), None
    except ValueError as error:
        return None, str(error)


def _store(action, slot, data):
    if not hasattr(action.get(KEY), "keys"):
        action[KEY] = {}
    held, name = action[KEY], str(slot.handle)
    if name in held:
        del held[name]  # Blender cuts bytes off at the first zero where it overwrites a property
    held[name] = data


def _by_path(bag):
    """{data path: {component: F-curve}} of a channelbag, or of None."""
    out = {}
    for curve in bag.fcurves if bag is not None else ():
        out.setdefault(curve.data_path, {})[curve.array_index] = curve
    return out


def _get(curve, field):
    width, dtype = _FIELDS[field]
    count = len(curve.keyframe_points)
    out = np.empty(width * count, dtype)
    curve.keyframe_points.foreach_get(field, out)
    return out.reshape(count, width) if width > 1 else out


def _read_curve(curve):
    """The record.Keys of an F-curve."""
    co = _get(curve, "co")
    interpolation = _get(curve, "interpolation")
    shape = None
    if np.any(interpolation != compat.LINEAR):
        types = np.stack([_get(curve, "handle_left_type"), _get(curve, "handle_right_type")], axis=-1)
        numbers = np.stack([_get(curve, name) for name in ("back", "amplitude", "period")], axis=-1)
        shape = memory.shape_words(interpolation, _get(curve, "easing"), types, _get(curve, "handle_left") - co,
                                   _get(curve, "handle_right") - co, numbers)
    return memory.Keys(curve.array_index, np.ascontiguousarray(co[:, 0]), np.ascontiguousarray(co[:, 1]), shape)


def _read(curves):
    """{component: record.Keys} of {component: F-curve}."""
    return {index: _read_curve(curve) for index, curve in curves.items()}


def _is_sampled(curves):
    return any(len(curve.sampled_points) for curve in curves.values())


def _follow_renames(held, by_path, owner):
    """(the record under the bones' present names, notes)."""
    gone = {memory.bone_part(p) for p in held.paths} - {memory.bone_part(p) for p in by_path} - {None}
    if not gone:
        return held, []

    def confirmed(part):
        return owner is None or _bone_name(part) not in owner.pose.bones

    strangers = {memory.bone_part(p) for p in by_path} - {memory.bone_part(p) for p in held.paths} - {None}
    states = {p: memory.state(_read(c).values()) for p, c in by_path.items() if memory.bone_part(p) in strangers}
    parts = memory.renamed(held, states, confirmed)
    notes = [f"Bone '{_bone_name(old)}' is called '{_bone_name(new)}' now: its keys go on as that bone's."
             for old, new in parts.items()]
    return memory.rename(held, parts), notes


def _bone_name(part):
    return bpy.utils.unescape_identifier(part[len('pose.bones["'):-2])


# Edits

def _edit_tables(action):
    """Yields (slot, record under present names, {data path: State}, {data path: edits}) of the slots that are baked."""
    for bag in compat.bags(action):
        held, _problem = _load(action, bag.slot)
        if held is None:
            continue
        by_path = _by_path(bag)
        held, _notes = _follow_renames(held, by_path, None)
        paths = dict.fromkeys((*held.paths, *held.edits))
        states = {p: memory.state(_read(by_path.get(p, {})).values()) for p in paths}
        yield bag.slot, held, states, {p: memory.hers(held, p, now) for p, now in states.items()}


def edits(action):
    """All that a person has changed in an action since it was baked: a list of Edit, by data path and frame.

    An action without a readable record has none to tell: all its keys count as hers.
    """
    out = []
    for _slot, _held, _states, table in _edit_tables(action):
        for path, listed in table.items():
            out.extend(Edit(path, float(e["frame"]), memory.KINDS[int(e["kind"])],
                            None if np.isnan(e["origin"]) else float(e["origin"])) for e in listed)
    return out


def count_edits(action):
    """How many places `edits` would list."""
    return sum(len(listed) for *_, table in _edit_tables(action) for listed in table.values())


def forget_edits(action, bones=None, frame_range=None):
    """Let the next bake replace what she has changed: of the bones named, in the frames (first, last); None means all.

    Changes no key. An action whose record is lost is taken as baked as it stands. Returns how many places it forgot.
    """
    total, stored = 0, []
    for slot, held, states, table in list(_edit_tables(action)):
        for path, listed in table.items():
            chosen = _chosen(path, listed, bones, frame_range)
            total += int(chosen.sum())
            held = memory.settle(held, path, states[path], listed, chosen)
        stored.append((slot, held))
    for bag in compat.bags(action):
        if bag.slot is None or _load(action, bag.slot)[0] is not None:
            continue
        held = memory.empty()
        for path, curves in _by_path(bag).items():
            if path.rpartition(".")[2] in _TRANSFORMS:
                now = memory.state(_read(curves).values())
                listed = memory.hers(held, path, now)
                chosen = _chosen(path, listed, bones, frame_range)
                total += int(chosen.sum())
                held = memory.settle(held, path, now, listed, chosen)
        stored.append((bag.slot, held))
    for slot, held in stored:
        _store(action, slot, memory.to_bytes(held))
    return total


def _chosen(path, listed, bones, frame_range):
    part = memory.bone_part(path)
    if bones is not None and (part is None or _bone_name(part) not in bones):
        return np.zeros(len(listed), bool)
    if frame_range is None:
        return np.ones(len(listed), bool)
    first, last = frame_range
    return np.logical_or.reduce([(listed[at] >= first) & (listed[at] <= last) for at in ("frame", "origin")])


# Writing

def write_keys(obj, action, frames, channels, record=True):
    """Write a bake into an action for `obj`: frames (F,) rising, and KeyChannels; returns a Written.

    All keys are linear and of type GENERATED. With `record` the action afterwards is what a fresh bake of these
    channels gives, with her edits in it: keys of earlier bakes that she did not touch are replaced or removed, what she
    set, moved, eased, added or deleted stays bit for bit. Where she touched one component of a property at a frame, all
    of them stay. F-curves of other properties, and modifiers, colours and the like, are not touched. Without `record`
    the channels' keys are replaced and nothing is remembered.

    Does not assign the action. Raises FootholdError for input that cannot be written; whatever is raised, the action is
    as before.
    """
    frames, channels = _checked(action, frames, channels)
    slot = compat.slot_of(action, obj, share=False)
    by_path = _by_path(compat.bag_of(action, slot) if slot is not None else None)
    if not record:
        tasks = [_Task(by_path.get(c.data_path, {}).get(i), c.data_path, i, c.group, frames, c.values[:, i], None)
                 for c in channels for i in range(c.values.shape[1])]
        _apply(obj, action, tasks, None, ())
        return Written(0, ())

    held, notes = _held(obj, action, slot, by_path)
    tasks, fresh = [], memory.Record(frames, (), None, {}, held.groups)
    paths, sums, table = [], np.zeros((len(channels), len(frames)), np.uint32), {}
    for channel in channels:
        curves = by_path.get(channel.data_path, {})
        if _is_sampled(curves):
            notes.append(f"The F-curves of {channel.data_path} are samples, not keys: left as they are.")
            continue
        line = sums[len(paths)]
        listed = _plan(tasks, held, curves, channel, frames, line)
        paths.append(channel.data_path)
        if len(listed):
            table[channel.data_path] = listed
    written = {c.data_path for c in channels}
    for path in dict.fromkeys((*held.paths, *held.edits)):
        if path not in written:
            listed = _plan_leaving(tasks, held, by_path.get(path, {}), path)
            if len(listed):
                table[path] = listed
    fresh = fresh._replace(paths=tuple(paths), sums=sums[:len(paths)], edits=table)
    _apply(obj, action, tasks, fresh, held.groups)
    return Written(sum(len(e) for e in table.values()), tuple(notes) + _note_deleted(action, fresh))


def _checked(action, frames, channels):
    """Frames and channels as float32, or a FootholdError."""
    if not action.is_editable or action.library is not None:
        raise FootholdError(f"Action '{action.name}' is linked and cannot be written: give the bake another name.")
    exact = np.asarray(frames, float)
    frames = exact.astype(np.float32)
    if exact.ndim != 1 or not len(exact) or not np.isfinite(frames).all() or not np.all(frames[1:] > frames[:-1]):
        raise FootholdError(f"Action '{action.name}': the frames to bake are not rising numbers.")
    out, seen = [], set()
    for channel in channels:
        with np.errstate(over="ignore"):  # what is too large becomes infinite and is refused
            values = np.asarray(channel.values, np.float32)
        if values.ndim != 2 or len(values) != len(frames):
            raise FootholdError(f"{channel.data_path}: {len(values)} values for {len(frames)} frames.")
        if channel.data_path in seen:
            raise FootholdError(f"{channel.data_path} is written twice: map two roles to two bones.")
        if not np.isfinite(values).all():
            at = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
            raise FootholdError(f"{channel.data_path}: the value at frame {frames[at]:g} is not a number.")
        seen.add(channel.data_path)
        out.append(channel._replace(values=values))
    return frames, out


def _held(obj, action, slot, by_path):
    """(the record to go by, notes); an empty record where none can be read, which makes every key hers."""
    held, problem = _load(action, slot)
    if held is not None:
        return _follow_renames(held, by_path, obj if obj.type == "ARMATURE" else None)
    if problem is not None:
        return memory.empty(), [f"The record of what was baked into '{action.name}' cannot be used ({problem}): all "
                                "keys in it count as yours and stay. Forget the edits to have them replaced."]
    if any(len(c.keyframe_points) for curves in by_path.values() for c in curves.values()):
        return memory.empty(), [f"'{action.name}' has keys that no bake is known to have written: they count as yours "
                                "and stay."]
    return memory.empty(), []


def _plan(tasks, held, curves, channel, frames, line):
    """Add the tasks of one channel; puts the checksums to remember into `line` (F,) and returns the edits kept."""
    path, values = channel.data_path, channel.values
    if not curves and path not in held.paths and path not in held.edits:
        line[:] = memory.checksum(values)
        tasks.extend(_Task(None, path, i, channel.group, frames, values[:, i], None) for i in range(values.shape[1]))
        return memory.no_edits()
    keys = _read(curves)
    listed = memory.hers(held, path, memory.state(keys.values()))
    at = frames
    if len(listed):
        her_frames, her_values = _complete(keys, listed, values.shape[1])
        values = memory.align(values, frames, her_frames, her_values, path.rpartition(".")[2]).astype(np.float32)
        free = memory.free_frames(frames, listed)
        line[free] = memory.checksum(values[free])
        at, values = frames[free], values[free]
    else:
        line[:] = memory.checksum(values)
    for i in range(values.shape[1]):
        mine = np.isin(keys[i].frames, listed["frame"]) if i in keys and len(listed) else None
        tasks.append(_Task(curves.get(i), path, i, channel.group, at, values[:, i],
                           mine if mine is not None and mine.any() else None))
    return listed


def _plan_leaving(tasks, held, curves, path):
    """Add the tasks that take the untouched keys of an earlier bake away; returns the edits kept."""
    keys = {} if _is_sampled(curves) else _read(curves)
    listed = memory.hers(held, path, memory.state(keys.values()))
    nothing = np.empty(0, np.float32)
    for i, found in keys.items():
        mine = np.isin(found.frames, listed["frame"])
        if not mine.all() or not len(mine):
            tasks.append(_Task(curves[i], path, i, "", nothing, nothing, mine if mine.any() else None))
    return listed


def _complete(keys, listed, components):
    """Her frames (K,) and values (K, C) where she has a key in every component."""
    found = listed["frame"][listed["kind"] != memory.DELETED]
    for i in range(components):
        found = found[np.isin(found, keys[i].frames)] if i in keys else found[:0]
    columns = []
    for i in range(components):
        if not len(found):
            break
        order = np.argsort(keys[i].frames, kind="stable")
        columns.append(keys[i].values[order][np.searchsorted(keys[i].frames[order], found)])
    return found, np.stack(columns, axis=-1).astype(float) if columns else np.empty((0, components))


def _note_deleted(action, fresh):
    """A word where she has deleted so much that the bake may seem to do nothing."""
    lost = [p for p, e in fresh.edits.items() if p in fresh.paths and not fresh.sums[fresh.paths.index(p)].any()
            and np.all(e["kind"] == memory.DELETED)]
    if not lost:
        return ()
    more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
    return (f"All keys of {lost[0]}{more} in '{action.name}' were deleted by hand and stay deleted. Forget the edits "
            "to have them baked again.",)


# Applying, with a way back

def _apply(obj, action, tasks, fresh, groups):
    """Carry out the tasks and store the record, or leave the action as it was."""
    before = {"slots": {s.handle for s in action.slots}, "layers": len(action.layers),
              "strips": len(action.layers[0].strips) if action.layers else 0}
    backup, kept_record = None, _copy_record(action)
    made, touched, own_groups = [], [], set()
    bag = slot = None
    try:
        if any(t.curve is not None and len(t.curve.keyframe_points) for t in tasks):
            backup = action.copy()
        slot = compat.slot_of(action, obj, ensure=True)
        had_bag = compat.bag_of(action, slot) is not None
        bag = compat.bag_of(action, slot, ensure=True)
        own_groups = {g.name for g in bag.groups}
        _write_all(bag, tasks, made, touched)
        new_groups = tuple(g.name for g in bag.groups if g.name not in own_groups)
        if fresh is not None:
            ours = tuple(dict.fromkeys((*groups, *new_groups)))
            _store(action, slot, memory.to_bytes(fresh._replace(groups=ours)))
            _tidy(bag, [t for t in tasks if t.curve is not None], ours)
        action.update_tag()
    except BaseException:
        if bag is not None:
            _undo(bag, slot, made, touched, backup, own_groups)
            if not had_bag:
                action.layers[0].strips[0].channelbags.remove(bag)
        _remove_new(action, before)
        _put_record(action, kept_record)
        raise
    finally:
        if backup is not None:
            bpy.data.actions.remove(backup)


def _write_all(bag, tasks, made, touched):
    """Write the keys; notes new F-curves in `made` and changed ones in `touched`."""
    buffers = {}
    for task in tasks:
        curve = task.curve
        if curve is None:
            if not len(task.frames):
                continue
            curve = compat.new_fcurve(bag, task.path, task.index, task.group)
            made.append(curve)
        else:
            touched.append(curve)
        if task.hers is not None:
            _write_among(curve, task)
            continue
        _write_plain(curve, task.frames, task.values, buffers)


def _write_plain(curve, frames, values, buffers):
    """Give an F-curve just these keys. `buffers` keeps arrays that the next F-curve can use again."""
    points, count = curve.keyframe_points, len(frames)
    if len(points):
        points.clear()
    if buffers.get("frames") is not frames:
        co = np.empty(2 * count, np.float32)
        co[0::2] = frames
        buffers.update(frames=frames, co=co, linear=np.full(count, compat.LINEAR, np.int32),
                       generated=np.full(count, compat.GENERATED, np.int32))
    if count:
        buffers["co"][1::2] = values
        points.add(count)
        points.foreach_set("co", buffers["co"])
        points.foreach_set("interpolation", buffers["linear"])
        points.foreach_set("type", buffers["generated"])
    curve.update()


def _write_among(curve, task):
    """Replace all keys of an F-curve but hers, which stay bit for bit."""
    points = curve.keyframe_points
    kept = {field: _get(curve, field)[task.hers] for field in _FIELDS}
    frames = np.concatenate([kept["co"][:, 0], task.frames])
    order = np.argsort(frames, kind="stable")
    hers = order < len(kept["co"])
    count = len(frames)
    co = np.empty((count, 2), np.float32)
    co[:, 0] = frames[order]
    co[~hers, 1] = task.values
    co[hers] = kept["co"]
    points.clear()
    points.add(count)
    points.foreach_set("co", co.ravel())
    _set(points, "interpolation", np.where(hers, 0, compat.LINEAR), hers, kept)
    _set(points, "type", np.where(hers, 0, compat.GENERATED), hers, kept)
    others = [f for f in _FIELDS if f not in ("co", "interpolation", "type", "handle_left", "handle_right")]
    for field in others:
        now = _get(curve, field)
        if not np.array_equal(now[hers], kept[field]):
            _set(points, field, now, hers, kept)
    curve.update()
    # updating moves handles that are automatic, and hers stay where they are
    for field in ("handle_left", "handle_right"):
        _set(points, field, _get(curve, field), hers, kept)


def _set(points, field, values, hers, kept):
    values = np.ascontiguousarray(values, _FIELDS[field][1])
    values[hers] = kept[field]
    points.foreach_set(field, values.ravel())


def _tidy(bag, tasks, groups):
    """Remove F-curves that ended up without keys, unless they have modifiers, and groups of bakes that are empty."""
    for task in tasks:
        if not len(task.curve.keyframe_points) and not len(task.curve.modifiers):
            bag.fcurves.remove(task.curve)
    for name in groups:
        group = bag.groups.get(name)
        if group is not None and not len(group.channels):
            bag.groups.remove(group)


def _undo(bag, slot, made, touched, backup, own_groups):
    """Bring a channelbag back to what it was before `_write_all`, `backup` being a copy of the action."""
    for curve in made:
        bag.fcurves.remove(curve)
    for group in [g for g in bag.groups if g.name not in own_groups]:
        bag.groups.remove(group)
    if backup is None:
        for curve in touched:
            curve.keyframe_points.clear()
        return
    old = next(b for b in compat.bags(backup) if b.slot_handle == slot.handle)
    sources = {(c.data_path, c.array_index): c for c in old.fcurves}
    for curve in touched:
        source = sources[curve.data_path, curve.array_index]
        kept = {field: _get(source, field) for field in _FIELDS}
        curve.keyframe_points.clear()
        curve.keyframe_points.add(len(kept["co"]))
        for field, values in kept.items():
            curve.keyframe_points.foreach_set(field, values.ravel())


def _copy_record(action):
    held = action.get(KEY)
    return {name: held[name] for name in held.keys()} if hasattr(held, "keys") else held


def _put_record(action, held):
    if KEY in action:
        del action[KEY]
    if held is not None:
        action[KEY] = held


def _remove_new(action, before):
    """Remove the slots, strips and layers that were made since `before`."""
    for slot in [s for s in action.slots if s.handle not in before["slots"]]:
        action.slots.remove(slot)
    if action.layers:
        while len(action.layers[0].strips) > before["strips"]:
            action.layers[0].strips.remove(action.layers[0].strips[-1])
    while len(action.layers) > before["layers"]:
        action.layers.remove(action.layers[-1])
