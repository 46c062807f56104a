"""Reading the contact script off a take, played on its own skeleton."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .. import rotation
from ..anatomy import SIDES
from ..errors import FootholdError
from . import feet, grips, performer, pole, script, segments, signals, touch
from . import floor as floors

_RATE = 30.0  # samples a second of a contact's path
_SWING = 0.6  # seconds of a foot's coming down or going up at most
_SLIDE = (0.015, 0.05, 0.2)  # metres over the floor, m/s upwards, seconds: what a foot that slides keeps to
_HAND_DOWN = (0.12, 0.1)  # metres of a palm over the floor and seconds, of a hand that stands on it
_FACES_UP = 0.5  # of a palm's way out that points up: the back of such a hand lies on the floor
_LYING = (0.06, 0.3)  # metres from the floor and seconds, of what else lies on it
_UP = np.array([0.0, 0.0, 1.0])
_SAME_PLACE = 0.12  # metres that holds of one fixed place lie apart
_TELLING = 3  # holds of fixed places that a take has at least: one or two may be chance
_LEGS = (0.015, 0.4)  # metres from a pole's surface and seconds, of legs and trunk that hold it
_DOUBT = np.radians(1.0)  # of a pole's lean, that halves the confidence in it
_PRIORITY = {"grip": 3.0, "plant": 2.0, "clasp": 1.5, "rest-on": 1.0}


class _Found(NamedTuple):
    """A contact before it is written down; frames with fractions."""

    effector: str
    surface: str
    kind: str
    first: float
    last: float
    approach: float
    release: float
    patch: str
    path: dict  # column -> (F,) over the whole clip
    tilt: np.ndarray | None  # (F,) degrees, of grips
    confidence: float
    parts: tuple = ()
    own: np.ndarray | None = None  # (F, 3) the path in the axes of a surface that may move


def extract(figure, motion, fps, prop="auto", surface=None):
    """The ContactScript of a take: the world-space `motion` of a transfer.Figure at `fps` frames a second.

    `prop` is "auto" (a pole is looked for), "none", or a script.Prop. Of a prop that is no cylinder at rest, `surface`
    gives the distances: a function of a path (F, 3) that returns signed distances (F,) and the path in the prop's own
    axes (F, 3), which slides are read off. Raises FootholdError where the take has no hips or fewer than two frames.
    """
    frames = len(motion.positions)
    if "hips" not in figure.roles:
        raise FootholdError("The take has no bone in the role 'hips': map it in the Roles table.")
    if frames < 2:
        raise FootholdError("The take has one frame only: contacts need a motion.")
    figure, motion, factor = performer.standard_size(figure, motion)
    if isinstance(prop, script.Prop):
        prop = _resized(prop, factor)
    if surface is not None:
        surface = _resized_surface(surface, factor)
    found, props, notes, evidence = [], [], [], {}
    body, hips = floors.parts(figure, motion), motion.positions[:, figure.roles["hips"]]
    grounded = floors.is_pinned(body, hips) and not _has_floor(figure, motion, body, hips, fps)
    if grounded:
        notes.append("The hips never move in this take, though the lowest of the body does: the file lacks her way up "
                     "and down. What is lowest is put onto the floor in each frame, of hers and of any other body.")
        motion = floors.put_down(figure, motion)
        body, hips = floors.parts(figure, motion), motion.positions[:, figure.roles["hips"]]
    floor, slides = _read_feet(feet.tread(figure, motion, fps), body, hips, figure, factor, fps, found, notes, evidence)
    palms = performer.palms(figure)
    if not palms:
        notes.append("No hand is mapped with its forearm: grips and touches were not looked for.")
    one = _read_prop(prop, surface, palms, motion, hips, fps, found, props, notes, evidence)
    if one is not None:
        palms = one.palms
        _read_limbs(figure, motion, one, props[0].name, fps, found)
    busy = {side: _mask(found, f"hand.{side}", frames) for side in palms}
    for touched in touch.find(figure, motion, palms, busy, fps):
        found.append(_touched(touched))
    if floor is not None and (grounded or not slides):
        _read_floor_hands(palms, motion, floor, grounded, fps, found)
        _read_lying(body, floor, grounded, fps, found)
    if prop == "auto" and one is None and palms:
        _read_places(palms, motion, hips, fps, found, props)
    contacts = []
    for item in sorted(found, key=lambda f: (f.first, f.effector, f.surface)):
        contacts.append(_written(item, fps, script.fresh_id(contacts, item.effector), 1.0 / factor))
    return script.rounded(script.ContactScript(
        fps, frames, tuple(_resized(p, 1.0 / factor) for p in props), tuple(contacts),
        None if floor is None else floor / factor, (), tuple(notes), _resized_evidence(evidence, 1.0 / factor),
        grounded and floor is not None))


# Sizes: everything is looked for on a performer of the standard size, and written down at her own

def _resized(prop, factor):
    return replace(prop, point=tuple(factor * v for v in prop.point), radius=factor * prop.radius,
                   size=tuple(factor * v for v in prop.size))


def _resized_surface(surface, factor):
    def resized(path):
        distance, own = surface(path / factor)
        return factor * distance, factor * own
    return resized


def _resized_evidence(evidence, factor):
    out = {}
    for name, one in evidence.items():
        out[name] = dict(one)
        if "edges" in one:
            out[name].update(threshold=factor * one["threshold"], zone=[factor * v for v in one["zone"]],
                             edges=[factor * v for v in one["edges"]])
    return out


# The floor

def _has_floor(figure, motion, body, hips, fps):
    """Whether anything tells a floor under a performer, or she has no soles that could."""
    trodden = feet.tread(figure, motion, fps)
    return (trodden is None or feet.floor_of(trodden, body, fps) is not None
            or floors.find(figure, body, hips, fps) is not None)


def _read_feet(trodden, body, hips, figure, factor, fps, found, notes, evidence):
    """Adds plants and slides; returns (the floor's height or None, whether what carries her slides over it)."""
    if trodden is None:
        notes.append("No foot is mapped: plants were not looked for.")
        return None, False
    evidence["foot speed"] = _histogram(trodden.threshold, "m/s")
    if not trodden.threshold.clear:
        notes.append("Feet: the speeds of the soles show no empty zone between standing and moving: edges of "
                     "plants are less sure.")
    floor, slides = feet.floor_of(trodden, body, fps), False
    if floor is None:
        other = floors.find(figure, body, hips, fps)
        notes += _told_floor(other, factor)
        if other is None:
            return None, False
        floor, slides = other.height, other.slides
    soles = feet.untrodden(trodden) if slides else feet.soles(trodden, body, floor, fps)
    _add_soles(soles, trodden, floor, fps, found)
    return floor, slides


def _told_floor(other, factor):
    """Notes about a floor that no standing sole tells, a floor.Found or None."""
    if other is None:
        return ["The take never stands: no floor was found, and no plant."]
    off = 1000.0 * other.off / factor
    if not other.share:
        return [f"Nothing rests on a floor: the file's ground is taken for it, {off:.0f} mm from the lowest of the "
                "body. No plant was read off."]
    read = (f"The soles tell no floor: it was read off the lowest of the body, which rests within {off:.0f} mm in "
            f"{100.0 * other.share:.0f} % of the frames.")
    return [read, "What rests on it slides, as on a treadmill: no plant was read off."] if other.slides else [read]


def _add_soles(soles, trodden, floor, fps, found):
    """Adds plants, feet that lie and slides of Soles."""
    frames = len(soles[0].path)
    down = {side: np.zeros(frames, bool) for side in SIDES}
    for side, first, last, parts in feet.plants(soles, trodden.shots):
        sole = next(s for s in soles if s.name == f"{parts[0][0]}.{side}")
        rows = slice(int(round(first)), int(round(last)) + 1)
        down[side][rows] = True
        speed = float(np.median(np.min([s.speed[rows] for s in soles if s.name.endswith(side)], axis=0)))
        ways = [segments.way(signals.smooth(sole.path[:, 2], fps, 0.02), int(round(t)), step, int(_SWING * fps))
                for t, step in ((first, -1), (last, 1))]
        sure = float(np.clip(1.0 - speed / trodden.threshold.zone[1], 0.1, 1.0))
        if abs(float(np.median(sole.path[rows, 2])) - floor) < floors.NEAR and feet.lies(trodden, side, parts, rows):
            found.append(_Found(f"foot.{side}", "floor", "rest-on", first, last, *ways, parts[0][0], _xyz(sole.path),
                                None, sure))
        else:
            found.append(_Found(f"foot.{side}", "floor", "plant", first, last, *ways, "sole", _xyz(sole.path), None,
                                sure, tuple(parts)))
    height, climb, shortest = _SLIDE
    for sole in soles:
        side = sole.name[-1]
        rise = signals.velocity(signals.smooth(sole.path[:, 2], fps, 0.02), fps)
        base = float(np.median(sole.path[sole.down, 2])) if sole.down.any() else floor
        sliding = (np.abs(sole.path[:, 2] - base) < height) & (np.abs(rise) < climb) & ~down[side]
        for first, last in segments.runs(segments.long_enough(sliding, int(shortest * fps))):
            down[side][first:last + 1] = True
            found.append(_Found(f"foot.{side}", "floor", "rest-on", first, last, 0.0, 0.0,
                                sole.name.split(".")[0], _xyz(sole.path), None, 0.5))


def _read_lying(body, floor, grounded, fps, found):
    """Adds what else lies on the floor and stays there: legs, pelvis, back, head, forearms.

    A body that is `grounded` from frame to frame stays at its height; along the floor it may go anywhere.
    """
    (near, shortest), still = _LYING, _UP if grounded else 1.0
    for effector in sorted({_effector(part.name) for part in body} & set(script.EFFECTORS)):
        own = [part.path for part in body if _effector(part.name) == effector]
        down = [np.abs(path[:, 2] - floor) < near for path in own]
        if not np.any(down):
            continue
        rests = [touch.still_runs(still * path, mask, fps, shortest) for path, mask in zip(own, down)]
        path = own[int(np.argmax([(runs[:, 1] - runs[:, 0]).sum() for runs in rests]))]
        mask = np.zeros(len(path), bool)
        for first, last in np.concatenate(rests):
            mask[first:last + 1] = True
        for first, last in segments.runs(mask):
            found.append(_Found(effector, "floor", "rest-on", first, last, 0.0, 0.0, "", _xyz(path), None, 0.4))


def _effector(name):
    """Whose contact a part of the body's is."""
    part, _, side = name.partition(".")
    return {"hips": "pelvis", "chest": "back", "belly": "back"}.get(part, name)


def _read_floor_hands(palms, motion, floor, grounded, fps, found):
    """Adds hands that stand on the floor, or slide over it where she is `grounded`: cartwheels, crawls."""
    still, shortest = (_UP, _LYING[1]) if grounded else (1.0, _HAND_DOWN[1])
    for side, palm in palms.items():
        path = performer.place(palm, motion)
        height = path[:, 2] - floor
        up = rotation.rotate(motion.rotations[:, palm.joint], palm.out)[:, 2]
        near = (np.abs(height) < _HAND_DOWN[0]) & (up < _FACES_UP) & ~_mask(found, f"hand.{side}", len(path))
        runs = touch.still_runs(still * path, near, fps, shortest)
        if grounded:
            found += [_Found(f"hand.{side}", "floor", "rest-on", first, last, 0.0, 0.0, "palm", _xyz(path), None, 0.5)
                      for first, last in runs]
            continue
        for one in touch.intervals(side, "floor", palm.joint, path, height, runs, fps):
            found.append(_Found(f"hand.{side}", "floor", "plant", one.first, one.last, one.approach, one.release,
                                "palm", _xyz(path), None, 0.7))


# Props

def _read_prop(prop, surface, palms, motion, hips, fps, found, props, notes, evidence):
    """Adds the prop and the hands' grips on it; returns its Pole where it is a cylinder."""
    if prop == "none" or not palms:
        return None
    if prop == "auto":
        one, told = pole.find(palms, motion, hips, fps)
        evidence["pole"] = {"found": one is not None, "told": told}
        if one is None:
            notes.append(told[0].upper() + told[1:] + ".")
            return None
        props.append(_pole_prop(one, told))
    else:
        one = None
        if surface is None:
            if prop.kind != "cylinder":
                raise FootholdError(f"Prop '{prop.name}' is a {prop.kind}: pick an object of the scene for it.")
            prop = _on_its_foot(prop)
            one = pole.given(palms, motion, np.array(prop.point), np.array(prop.axis), prop.radius, fps)
        props.append(prop)
    notes += script.unkept(props)
    owns = dict.fromkeys(palms)
    if one is not None:
        palms = one.palms
        off = {side: pole.distance(one, performer.place(palm, motion)) - one.radius for side, palm in palms.items()}
        paths = {side: _about(one, performer.place(palm, motion)) for side, palm in palms.items()}
    else:
        seen = {side: surface(performer.place(palm, motion)) for side, palm in palms.items()}
        off = {side: distance for side, (distance, _) in seen.items()}
        owns = {side: own for side, (_, own) in seen.items()}
        paths = {side: {**_xyz(performer.place(palm, motion)), "gap": off[side]} for side, palm in palms.items()}
    threshold = grips.threshold(np.abs(d) for d in off.values())
    evidence[f"hands from {props[-1].name}"] = _histogram(threshold, "m")
    near = threshold.value if threshold.clear else grips.FALLBACK
    held = grips.find(np.stack([off[side] for side in palms], axis=-1), near, fps)
    if not threshold.clear:
        notes.append(f"Hands and '{props[-1].name}': their distances show no empty zone between holding and free: "
                     + ("grips are less sure." if any(held) else "no grip was read off."))
    for (side, palm), holds in zip(palms.items(), held):
        for hold in holds:
            found.append(_Found(f"hand.{side}", props[-1].name, "grip", hold.first, hold.last, hold.approach,
                                hold.release, "palm", paths[side], _tilt(motion, palm, one),
                                float(np.clip(1.0 - hold.off / near, 0.1, 1.0)) * (1.0 if threshold.clear else 0.6),
                                own=owns[side]))
    return one


def _foot(point, axis):
    """Where an axis comes through the height zero of the take's world; of one that lies, its own point."""
    return point - axis * (point[2] / axis[2]) if abs(axis[2]) > 0.1 else point


def _on_its_foot(prop):
    """A given cylinder as its contacts are told about it: its axis upwards, its point at its foot."""
    axis = np.array(prop.axis) * (-1.0 if prop.axis[2] < 0.0 else 1.0)
    return replace(prop, axis=tuple(axis.tolist()), point=tuple(_foot(np.array(prop.point), axis).tolist()))


def _pole_prop(one, told):
    return script.Prop(
        "pole", "cylinder", tuple(_foot(one.point, one.axis)), tuple(one.axis), one.radius,
        confidence=float(np.clip((1.0 - one.residual / 0.02) / (1.0 + (one.doubt / _DOUBT) ** 2), 0.1, 1.0)), evidence={
            "told": told, "samples": one.samples, "residual_mm": 1000.0 * one.residual,
            "held_over_m": one.spread, "tilt_deg": float(np.degrees(np.arccos(min(one.axis[2], 1.0)))),
            "tilt_give_or_take_deg": 2.0 * float(np.degrees(one.doubt)),
            "radius": "estimated together with the palms' places; hands of another thickness would shift it",
            "falsified_by": "a hand that is still beside this line while the body moves, or that passes through it"})


def _about(one, path):
    """Columns height, azimuth and gap of a path (F, 3) about a Pole; height counts from the axis' foot, azimuth in
    degrees from the world's +X (+Y for an axis along X), counterclockwise seen from the axis' end."""
    off = path - _foot(one.point, one.axis)
    height = off @ one.axis
    first = np.array([1.0, 0.0, 0.0]) if abs(one.axis[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    first = rotation.normalize(first - (first @ one.axis) * one.axis)
    second = np.cross(one.axis, first)
    azimuth = np.degrees(np.unwrap(np.arctan2(off @ second, off @ first)))
    return {"height": height, "azimuth": azimuth, "gap": pole.distance(one, path) - one.radius}


def _tilt(motion, palm, one):
    """Degrees (F,) between a hand and a Pole's axis."""
    if one is None:
        return None
    along = rotation.rotate(motion.rotations[:, palm.joint], palm.along)
    return np.degrees(np.arccos(np.clip(along @ one.axis, -1.0, 1.0)))


def _read_limbs(figure, motion, one, name, fps, found):
    """Adds legs and trunk that lie on a pole and stay there; a forearm does whenever its hand holds."""
    near, shortest = _LEGS
    for capsule in touch.capsules(figure):
        effector = _effector(capsule.name)
        if effector.split(".")[0] not in ("pelvis", "back", "thigh", "knee", "shin"):
            continue
        a, b = (motion.positions[:, capsule.joint] + rotation.rotate(motion.rotations[:, capsule.joint], end)
                for end in (capsule.a, capsule.b))
        away, place = _segment_gap(a, b, one)
        away = away - capsule.radius - one.radius
        mask = segments.long_enough(np.abs(signals.smooth(away, fps, 0.03)) < near, int(shortest * fps))
        for first, last in segments.runs(mask):
            found.append(_Found(effector, name, "rest-on", first, last, 0.0, 0.0, "", _about(one, place), None, 0.4))


def _segment_gap(a, b, one):
    """(distances (F,) of segments from a Pole's axis, the segments' nearest points (F, 3))."""
    way, off = b - a, a - one.point
    way_flat = way - (way @ one.axis)[:, None] * one.axis
    off_flat = off - (off @ one.axis)[:, None] * one.axis
    part = np.clip(-np.sum(off_flat * way_flat, axis=-1) / np.maximum(np.sum(way_flat ** 2, axis=-1), 1e-12), 0.0, 1.0)
    return np.linalg.norm(off_flat + part[:, None] * way_flat, axis=-1), a + part[:, None] * way


def _read_places(palms, motion, hips, fps, found, props):
    """Adds holds of fixed places: a hand that is still while the body moves, and lies on nothing that is known."""
    places = []
    for hold in pole.holds(palms, motion, hips, fps):
        path = performer.place(palms[hold.side], motion)
        taken = _mask(found, f"hand.{hold.side}", len(path))
        for (first, last), place, room in zip(hold.runs, hold.places, touch.rooms(hold.runs, len(path))):
            if taken[first:last + 1].mean() < 0.5:
                places.append((hold.side, path, (first, last), room, place))
    if len(places) < _TELLING:
        return
    groups = []
    for item in places:
        near = next((g for g in groups if np.linalg.norm(np.mean([p[-1] for p in g], axis=0) - item[-1])
                     < _SAME_PLACE), None)
        if near is None:
            groups.append([item])
        else:
            near.append(item)
    for n, group in enumerate(groups, 1):
        name = f"place {n}"
        middle = np.mean([p[-1] for p in group], axis=0)
        size = np.maximum(np.ptp([p[-1] for p in group], axis=0), 0.03)
        props.append(script.Prop(name, "place", tuple(middle), size=tuple(size), confidence=0.6, evidence={
            "holds": len(group), "seconds": float(sum(last - first + 1 for *_, (first, last), _, _ in group) / fps),
            "told": "a fixed place that hands hold while the body moves; what stands there is not known"}))
        for side in sorted({item[0] for item in group}):
            _, (path, *_), runs, within, _ = zip(*(item for item in group if item[0] == side))
            away = np.linalg.norm(path - middle, axis=-1)
            for one in touch.intervals(side, name, 0, path, away, runs, fps, within):
                found.append(_Found(f"hand.{side}", name, "grip", one.first, one.last, one.approach, one.release,
                                    "palm", _xyz(path), None, 0.6))


# Writing down

def _touched(one):
    kind = "clasp" if one.surface.startswith("hand.") else "rest-on"
    return _Found(f"hand.{one.side}", one.surface, kind, one.first, one.last, one.approach, one.release, "palm",
                  {**_xyz(one.path)}, None, float(np.clip(0.9 - 6.0 * abs(one.gap) * (kind == "rest-on"), 0.2, 0.9)))


def _mask(found, effector, frames):
    """Frames (F,) in which an effector touches something."""
    mask = np.zeros(frames, bool)
    for item in found:
        if effector in (item.effector, item.surface):
            mask[int(item.first):int(item.last) + 2] = True
    return mask


def _xyz(path):
    return dict(zip("xyz", path.T))


def _histogram(threshold, unit):
    return {"unit": unit, "threshold": threshold.value, "clear": threshold.clear, "zone": list(threshold.zone),
            "edges": threshold.edges.tolist(), "counts": threshold.counts.tolist()}


def _written(item, fps, name, size):
    """A script.Contact of what was found: its path sampled, at the performer's own size, its licence read off it."""
    first, last = _frames(item.first, item.last)
    count = max(2, int(np.ceil((last - first) / fps * _RATE)) + 1)
    at = np.linspace(first, last, count)
    frames = np.arange(len(next(iter(item.path.values()))))
    path = {"time": (at / fps).tolist()}
    path.update({column: (np.interp(at, frames, signals.smooth(values, fps, _grain(fps)))
                          * (1.0 if column == "azimuth" else size)).tolist()
                 for column, values in item.path.items()})
    return script.Contact(name, item.effector, item.surface, item.kind, first / fps, last / fps, item.approach / fps,
                          item.release / fps, item.patch, path, _licence(item, path, at, fps, size),
                          _PRIORITY[item.kind], item.confidence,
                          parts=tuple(script.Part(part, *(np.clip(_frames(a, b), first, last) / fps).tolist())
                                      for part, a, b in item.parts))


def _grain(fps):
    """Seconds over which a path of `fps` frames a second is averaged to be told at fewer samples: what trembles from
    frame to frame would else be told as a sway of the whole (aliasing)."""
    return 0.5 * np.sqrt(max(_RATE ** -2 - fps ** -2, 0.0))


def _frames(first, last):
    """The first and last frame inside an interval of frames with fractions: a contact is there at every frame of it."""
    inner = np.ceil(first - 0.1), np.floor(last + 0.1)
    return inner if inner[0] <= inner[1] else (np.round(first), np.round(first))


def _licence(item, path, at, fps, size):
    """The ranges about the start of the path that the capture itself used."""
    out = {"time": [-item.approach / fps, item.release / fps]}
    if "height" in path:
        for column in ("height", "azimuth"):
            values = np.array(path[column])
            out[column] = [float(values.min() - values[0]), float(values.max() - values[0])]
        out["slide"] = [0.0, float(np.abs(np.diff(path["height"])).sum())]
    elif "x" in path:
        columns = item.own.T if item.own is not None else [item.path[c] for c in "xyz"]
        places = np.stack([size * np.interp(at, np.arange(len(column)), column) for column in columns], axis=-1)
        ways = np.diff(places, axis=0)
        out["slide"] = [0.0, float(np.linalg.norm(ways, axis=-1).sum())]
    if item.tilt is not None:
        tilt = np.interp(at, np.arange(len(item.tilt)), item.tilt)
        out["tilt"] = [float(tilt.min() - tilt[0]), float(tilt.max() - tilt[0])]
    return out
