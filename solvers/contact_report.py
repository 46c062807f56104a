"""How a body keeps the contacts of a script: skating, floor, grips, props; figures, faults and one line for people.

Looks at nothing but what the body does, as it is seen: its skin (`contact_probe`), the points of its palms that its
hands carry, its joints, and a ContactScript laid out in its world. Lengths are millimetres as they are, not scaled to a
stature. The same input gives the same text.
"""

from typing import NamedTuple

import numpy as np

from . import contact_probe, contact_seen, rotation
from . import report as transfer_report
from .contacts import performer, script, segments
from .report import fault, number, statistics
from .skeleton import Motion
from .transfer import Figure

LIMITS = {
    "skate_drift_mm": 0.5,
    "skate_speed_mm_per_s": 1.0,
    "floor_penetration_mm": 0.5,
    "float_mm": 1.0,
    "contact_lost_percent": 50.0,  # frames of one contact that are not found again: edges alone are no loss
    "grip_surface_mm": 2.0,
    "grip_along_mm": 2.0,
    "grip_mean_mm": 0.5,
    "reach_shortfall_mm": 0.5,
    "prop_penetration_mm": 1.0,
}
_WORDS = {
    "skate_drift_mm": "soles drift by {:.2f} mm",
    "floor_penetration_mm": "{:.2f} mm in the floor",
    "float_mm": "{:.2f} mm over it",
    "grip_surface_mm": "palms {:.2f} mm off the surface",
    "grip_along_mm": "{:.2f} mm along it",
    "reach_shortfall_mm": "{:.1f} mm out of reach",
    "prop_penetration_mm": "{:.1f} mm in a prop",
}
_MEAN = ("skate_speed_mm_per_s", "grip_mean_mm", "contact_lost_percent")  # told by their mean, the others by the worst
_WHOLE = (*_MEAN, "skate_drift_mm")  # faults of a whole contact, the others of the frames that are over the limit
_EDGE = 2.0 / 60.0  # seconds by which the edge of a contact may be missed
_INSIDE = 0.1  # of a frame, by which a contact is rounded: it is there at the whole frames within its interval
_CHAINS = {"hand": ("upper_arm", "forearm", "hand"), "foot": ("thigh", "shin", "foot")}


class Observed(NamedTuple):
    """A body at F frames."""

    figure: Figure
    motion: Motion  # (F, J, ...) world space
    palms: dict  # side -> performer.Palm
    probe: contact_probe.Probe
    seen: contact_probe.Seen  # of F frames
    frames: np.ndarray  # (F,) their numbers in the timeline
    times: np.ndarray  # (F,) seconds of the script


class Piece(NamedTuple):
    """What one contact, or one part of the body, contributes to a figure."""

    contact: str | None  # its id
    surface: str  # what it touches, or lies in
    role: str
    bone: str | None
    frames: np.ndarray  # (N,)
    values: np.ndarray  # (N,)


class Touch(NamedTuple):
    """A point of the body that a contact asks to be somewhere, over the frames that it asks it for."""

    contact: script.Contact
    rows: np.ndarray  # (N,)
    point: np.ndarray  # (N, 3) where it is
    target: np.ndarray  # (N, 3) where it should be


def report(contacts, body):
    """All figures of an Observed body against a ContactScript laid out in its world, as a JSON-able dict."""
    metrics, faults, notes = {}, [], []
    for measured in (_skating, _floor, _floating, _agreement, _gripping, _reach, _inside_props):
        figures, wrong, *told = measured(contacts, body)
        metrics.update(figures)
        faults += wrong
        notes += [note for some in told for note in some]
    out = {"count": len(script.active(contacts)), "limits": dict(LIMITS), "metrics": metrics, "notes": notes,
           "faults": faults}
    return {**out, "summary": summary(out)}


def again(contacts, body, faults):
    """The figures that the places of `faults` have in another motion of the same body: a list of floats, None where
    there is none.

    Asked for is the same metric of the same contact or part, over the frames of each fault. `body` is the Observed body
    in that other motion; of its skin only those frames have to be seen.
    """
    pieces = {metric: _PIECES[metric](contacts, body) for metric in {fault["metric"] for fault in faults}}
    return [_at(fault, pieces[fault["metric"]]) for fault in faults]


def _at(fault, pieces):
    values = [p.values[(p.frames >= fault["first"]) & (p.frames <= fault["last"])] for p in pieces
              if (p.contact, p.surface, p.role) == (fault["contact"], fault["surface"], fault["role"])]
    values = np.concatenate([np.empty(0), *values])
    return _value(fault["metric"], values) if len(values) else None


def join(taken, found):
    """The report of `solvers.report` with that of the contacts in its section "contacts"; faults, notes and sentences
    of both together."""
    out = {**transfer_report.with_faults(taken, found["faults"]), "notes": taken["notes"] + found["notes"],
           "contacts": {key: value for key, value in found.items() if key not in ("faults", "notes")}}
    return {**out, "summary": f"{found['summary']} {transfer_report.summary(out)}"}


def summary(found):
    """One line for people."""
    metrics = found["metrics"]
    parts = [f"{found['count']} contacts"]
    for key, words in _WORDS.items():
        if metrics[key] is not None and metrics[key]["worst"] is not None:
            parts.append(words.format(metrics[key]["worst"]))
    if metrics["contact_agreement"] is not None:
        parts.append(f"F1 {metrics['contact_agreement']['f1']:.3f}")
    return ", ".join(parts) + "."


def _figure(pieces):
    """Statistics of all Pieces together, with the mean, and whose the worst is."""
    values = np.concatenate([np.empty(0), *(p.values for p in pieces)])
    frames = np.concatenate([np.empty(0), *(p.frames for p in pieces)])
    out = {**statistics(values, frames), "mean": float(values.mean()) if len(values) else None, "count": len(values),
           "contact": None, "surface": None, "role": None, "bone": None}
    if len(values):
        ends = np.cumsum([len(p.values) for p in pieces])
        worst = pieces[int(np.searchsorted(ends, np.argmax(values), "right"))]
        out.update(contact=worst.contact, surface=worst.surface, role=worst.role, bone=worst.bone)
    return out


def _value(metric, values):
    """What values (N,) over time come to."""
    return float(np.mean(values) if metric in _MEAN else np.max(values))


def _faults(metric, pieces):
    """A fault for each Piece that goes over the metric's limit, at its worst frame."""
    out = []
    for piece in pieces:
        if len(piece.values) and _value(metric, piece.values) > LIMITS[metric]:
            worst = piece.frames[int(np.argmax(piece.values))]
            over = piece.frames if metric in _WHOLE else piece.frames[piece.values > LIMITS[metric]]
            out.append({**fault(metric, _value(metric, piece.values), LIMITS[metric], worst, piece.role, piece.bone,
                                over), "contact": piece.contact, "surface": piece.surface})
    return out


def _cut(piece, rows):
    """Some rows of a Piece."""
    return piece._replace(frames=piece.frames[rows], values=piece.values[rows])


def _worst(piece):
    """The Piece of a Piece's largest value only."""
    at = int(np.argmax(piece.values))
    return _cut(piece, slice(at, at + 1))


def _runs(piece):
    """A Piece for each run of frames in which its values are above zero."""
    return [_cut(piece, slice(first, last + 1)) for first, last in segments.runs(piece.values > 0.0)]


def _rows(span, times):
    """Which of the frames (F,) lie inside what has `start` and `end` in seconds, as indices."""
    slack = _INSIDE * (times[1] - times[0] if len(times) > 1 else 0.0) + 1e-9
    return np.flatnonzero((times >= span.start - slack) & (times <= span.end + slack))


def _bone(body, role):
    return body.figure.skeleton.names[body.figure.roles[role]] if role in body.figure.roles else None


def _piece(body, contact, rows, values, role=None):
    return Piece(contact.id, contact.surface, role or contact.effector, _bone(body, contact.effector),
                 body.frames[rows], values)


def _palm(body, side):
    return performer.place(body.palms[side], body.motion)


# Plants

def _spans(contacts, body):
    """(contact, name of the part, rows, its path (N, 3)) of every part of a plant while it is down.

    A plant that does not say which part is down stands on its ball.
    """
    soles = {name: body.seen.soles[:, k] for k, name in enumerate(body.probe.soles)}
    for contact in script.active(contacts):
        limb, _, side = contact.effector.partition(".")
        if contact.kind != "plant":
            continue
        if limb == "hand" and side in body.palms:
            rows = _rows(contact, body.times)
            yield contact, "palm", rows, _palm(body, side)[rows]
        elif limb == "foot":
            for part in contact.parts or (script.Part("ball", contact.start, contact.end),):
                if f"{part.part}.{side}" in soles:
                    rows = _rows(part, body.times)
                    yield contact, part.part, rows, soles[f"{part.part}.{side}"][rows]


def _drifts(contacts, body):
    """How far standing parts are from their anchors along the floor; an anchor is the median of where a part stands."""
    out = []
    for contact, part, rows, path in _spans(contacts, body):
        if len(rows) > 1:
            flat = 1000.0 * path[:, :2]
            away = np.linalg.norm(flat - np.median(flat, axis=0), axis=1)
            out.append(_piece(body, contact, rows, away, f"{part}.{contact.effector[-1]}"))
    return out


def _speeds(contacts, body):
    """How fast standing parts go along the floor."""
    out = []
    for contact, part, rows, path in _spans(contacts, body):
        if len(rows) > 1:
            speed = 1000.0 * contacts.fps * np.linalg.norm(np.diff(path[:, :2], axis=0), axis=1)
            out.append(_piece(body, contact, rows[1:], speed, f"{part}.{contact.effector[-1]}"))
    return out


def _skating(contacts, body):
    drifts, speeds = _drifts(contacts, body), _speeds(contacts, body)
    return ({"skate_drift_mm": _figure([_worst(piece) for piece in drifts]), "skate_speed_mm_per_s": _figure(speeds)},
            _faults("skate_drift_mm", drifts) + _faults("skate_speed_mm_per_s", speeds))


def _stands(contacts, body):
    """The Touches of plants: the lowest skin of a foot, or a palm, that should be at the height of what it stands on.

    Where along the floor it should be is told by where it stands: there, it has only to stay (`_skating`).
    """
    out, order = [], list(body.probe.feet)
    for contact in script.active(contacts):
        limb, _, side = contact.effector.partition(".")
        rows, height = _rows(contact, body.times), contact_seen.height(contacts, contact)
        if contact.kind != "plant" or not len(rows) or height is None:
            continue
        if limb == "foot" and side in order:
            point = body.motion.positions[rows, body.figure.roles[contact.effector]]
            point = np.column_stack([point[:, :2], body.seen.feet[rows, order.index(side)]])
        elif limb == "hand" and side in body.palms:
            point = _palm(body, side)[rows]
        else:
            continue
        out.append(Touch(contact, rows, point, np.column_stack([point[:, :2], np.full(len(rows), height)])))
    return out


def _gaps(contacts, body):
    """How far what stands is over what it stands on."""
    return [_piece(body, s.contact, s.rows, 1000.0 * np.maximum(s.point[:, 2] - s.target[:, 2], 0.0))
            for s in _stands(contacts, body)]


def _floating(contacts, body):
    pieces = _gaps(contacts, body)
    return {"float_mm": _figure(pieces)}, _faults("float_mm", pieces)


def _sunk(contacts, body):
    """How deep the deepest vertex of each role lies in the floor, and that of a foot in a step that it stands on."""
    if contacts.floor is None:
        return []
    return [*_in_floor(contacts, body), *_in_steps(contacts, body)]


def _in_floor(contacts, body):
    return [Piece(None, "floor", role, _bone(body, role), body.frames, 1000.0 * np.maximum(contacts.floor - low, 0.0))
            for role, low in zip(body.probe.roles, body.seen.low.T)]


def _in_steps(contacts, body):
    """Feet that stand on a step, below its height."""
    out = []
    for side, low in zip(body.probe.feet, body.seen.feet.T):
        for contact in script.active(contacts, f"foot.{side}"):
            height = contact_seen.height(contacts, contact)
            if contact.kind == "plant" and height > contacts.floor:
                rows = _rows(contact, body.times)
                out.append(_piece(body, contact, rows, 1000.0 * np.maximum(height - low[rows], 0.0)))
    return out


def _floor(contacts, body):
    """A run of frames in the floor counts once: as that of the role which is deepest in it."""
    if contacts.floor is None:
        return {"floor_penetration_mm": None}, []
    roles, steps = _in_floor(contacts, body), _in_steps(contacts, body)
    deepest = np.max([np.zeros(len(body.frames)), *(piece.values for piece in roles)], axis=0)
    pieces = list(steps)
    for first, last in segments.runs(deepest > 0.0):
        rows = slice(first, last + 1)
        owner = max(roles, key=lambda piece: piece.values[rows].max())
        pieces.append(_cut(owner._replace(values=deepest), rows))
    for step in steps:
        rows = np.searchsorted(body.frames, step.frames)
        deepest[rows] = np.maximum(deepest[rows], step.values)
    return {"floor_penetration_mm": _over(body, "floor_penetration_mm", pieces, deepest)}, _faults(
        "floor_penetration_mm", pieces)


def _over(body, metric, pieces, deepest):
    """Statistics of the deepest (F,) of the whole body, with whose the worst is."""
    return {**_figure(pieces), **statistics(deepest, body.frames), "mean": float(deepest.mean()), "count": len(deepest),
            "frames_over": int((deepest > LIMITS[metric]).sum())}


# Grips

def _grips(contacts, body):
    """(Touches of hands that hold a prop, names of the props on which the script does not tell where a palm has to be).

    On a cylinder the palm should be on the surface, at the height of the path; how far round is left to it. At a place
    that is no known shape it should be where the path is.
    """
    props = {prop.name: prop for prop in contacts.props}
    out, blind = [], set()
    for contact in script.active(contacts):
        limb, _, side = contact.effector.partition(".")
        rows = _rows(contact, body.times)
        if contact.kind != "grip" or limb != "hand" or side not in body.palms or not len(rows):
            continue
        prop, point = props.get(contact.surface), _palm(body, side)[rows]
        if prop is not None and prop.kind == "cylinder" and "height" in contact.path:
            height = np.interp(body.times[rows], contact.path["time"], contact.path["height"])
            out.append(Touch(contact, rows, point, _on_cylinder(prop, point, height)))
        elif prop is not None and not prop.object and "x" in contact.path:
            place = [np.interp(body.times[rows], contact.path["time"], contact.path[axis]) for axis in "xyz"]
            out.append(Touch(contact, rows, point, np.stack(place, axis=-1)))
        else:
            blind.add(contact.surface)
    return out, sorted(blind)


def _on_cylinder(prop, points, height):
    """The places (N, 3) on a cylinder's surface at `height` (N,) that look at points (N, 3)."""
    axis, off = np.array(prop.axis), points - np.array(prop.point)
    radial = rotation.normalize(off - (off @ axis)[:, None] * axis)
    return np.array(prop.point) + height[:, None] * axis + prop.radius * radial


def _off(contacts, body):
    """(Palms off the surface, off the path along a cylinder's axis): Pieces of each."""
    props = {prop.name: prop for prop in contacts.props}
    surface, along = [], []
    for grip in _grips(contacts, body)[0]:
        off = 1000.0 * (grip.point - grip.target)
        prop = props[grip.contact.surface]
        axis = np.array(prop.axis) if prop.kind == "cylinder" else np.zeros(3)
        aside = np.linalg.norm(off - (off @ axis)[:, None] * axis, axis=1)
        surface.append(_piece(body, grip.contact, grip.rows, aside))
        along.append(_piece(body, grip.contact, grip.rows, np.abs(off @ axis)))
    return surface, along


def _gripping(contacts, body):
    """Palms where they are in reach."""
    grips, blind = _grips(contacts, body)
    kept = [_shortfall(body, grip).values < LIMITS["reach_shortfall_mm"] for grip in grips]
    surface, along = ([_cut(piece, rows) for piece, rows in zip(pieces, kept)] for pieces in _off(contacts, body))
    return ({"grip_surface_mm": _figure(surface), "grip_along_mm": _figure(along)},
            _faults("grip_surface_mm", surface) + _faults("grip_along_mm", along)
            + _faults("grip_mean_mm", surface + along),
            [f"Grips on '{name}' were not measured: a script tells where a palm lies on poles only." for name in blind])


# Reach

class Short(NamedTuple):
    """How far a contact is out of reach."""

    contact: script.Contact
    rows: np.ndarray  # (N,)
    values: np.ndarray  # (N,) millimetres that a stretched limb does not reach
    off: np.ndarray  # (N, 3) metres that the point is off its target


def _shortfall(body, touch):
    """The Short of a Touch: as far as its target is from the limb's root beyond what the limb is long.

    The hand or foot keeps the orientation that it has.
    """
    limb, _, side = touch.contact.effector.partition(".")
    chain = [body.figure.roles.get(f"{part}.{side}") for part in _CHAINS[limb]]
    off = touch.target - touch.point
    if None in chain:
        return Short(touch.contact, touch.rows, np.zeros(len(touch.rows)), off)
    root, middle, end = (body.motion.positions[:, j] for j in chain)
    length = float(np.median(np.linalg.norm(middle - root, axis=1) + np.linalg.norm(end - middle, axis=1)))
    wanted = np.linalg.norm(end[touch.rows] + off - root[touch.rows], axis=1) - length
    # what is there is in reach, whatever a stretched or scaled limb is long
    return Short(touch.contact, touch.rows, 1000.0 * np.clip(wanted, 0.0, np.linalg.norm(off, axis=1)), off)


def _shorts(contacts, body):
    """The Shorts of all that grips and stands."""
    return [_shortfall(body, touch) for touch in (*_grips(contacts, body)[0], *_stands(contacts, body))]


def _beyond(contacts, body):
    """How far contacts are out of reach."""
    return [_piece(body, s.contact, s.rows, s.values) for s in _shorts(contacts, body)]


def _reach(contacts, body):
    pieces = _beyond(contacts, body)
    out = _figure([_worst(piece) for piece in pieces])
    over = [piece for piece in pieces if piece.values.max() > LIMITS["reach_shortfall_mm"]]
    out["frames_short"] = int(sum((piece.values > LIMITS["reach_shortfall_mm"]).sum() for piece in pieces))
    out["contacts"] = [{"contact": piece.contact, "effector": piece.role, "surface": piece.surface,
                        "worst": float(piece.values.max()),
                        "worst_frame": number(piece.frames[int(np.argmax(piece.values))]),
                        "frames": int((piece.values > LIMITS["reach_shortfall_mm"]).sum())} for piece in over]
    return {"reach_shortfall_mm": out}, _faults("reach_shortfall_mm", pieces)


# Props

def _inside(contacts, body):
    """How deep parts of the body lie in props, but for what touches them on purpose."""
    out = []
    for k, prop in enumerate(body.probe.props):
        meant = _meant(contacts, prop, body)
        for j, part in enumerate(contact_probe.PARTS):
            depth = np.where(meant[:, j], 0.0, 1000.0 * body.seen.depths[:, k, j])
            role = "chest" if part == "torso" and "chest" in body.figure.roles else part
            out.append(Piece(None, prop.name, part, _bone(body, "hips" if role == "torso" else role), body.frames,
                             depth))
    return out


def _inside_props(contacts, body):
    notes = [f"What lies in '{prop.name}' was not measured: {script.not_solid(prop)}."
             for prop in contacts.props if script.not_solid(prop)]
    if not body.probe.props:
        return {"prop_penetration_mm": None}, [], notes
    parts = _inside(contacts, body)
    pieces = [run for part in parts for run in _runs(part)]
    counts = {}
    for part in parts:
        over = int((part.values > LIMITS["prop_penetration_mm"]).sum())
        counts[part.role] = max(counts.get(part.role, 0), over)
    out = _over(body, "prop_penetration_mm", pieces, np.max([part.values for part in parts], axis=0))
    out["parts"] = {part: count for part, count in counts.items() if count}
    return {"prop_penetration_mm": out}, _faults("prop_penetration_mm", pieces), notes


def _meant(contacts, prop, body):
    """Which parts (F, PARTS) touch a prop on purpose."""
    out = np.zeros((len(body.frames), len(contact_probe.PARTS)), bool)
    for contact in script.active(contacts):
        if contact.surface != prop.name:
            continue
        limb, dot, side = contact.effector.partition(".")
        inside = (body.times >= contact.start - _EDGE) & (body.times <= contact.end + _EDGE)
        for part in script.REGIONS.get(limb, ()):
            name = part if part in contact_probe.PARTS else f"{part}.{side}"
            out[inside, contact_probe.PARTS.index(name)] = True
    return out


# Found again

def _agreement(contacts, body):
    """Contacts that the body shows (`contact_seen`) against the script's, frame by frame.

    Edges may be missed by two frames of sixty a second. Muted contacts count neither way. What stands at a place that
    hands held is not known: there it counts only whether a hand is where it should be.
    """
    found, unseen = contact_seen.found(contacts, body), contact_seen.unseen(contacts)
    wanted = _masks([c for c in script.active(contacts) if c not in unseen], body.times)
    muted = _masks([*unseen, *(c for c in contacts.contacts if c.mute)], body.times)
    kinds, total = {}, np.zeros(4)
    edge = int(round(_EDGE * contacts.fps))
    none = np.zeros(len(body.times), bool)
    for key in sorted({*wanted, *found}):
        counted = ~_wider(muted.get(key, none), edge)
        want, have = wanted.get(key, none) & counted, found.get(key, none) & counted
        allowed = _wider(want, edge)
        if key[1] == "place":
            have = have & allowed
        counts = np.array([mask.sum() for mask in (have & allowed, have, want & _wider(have, edge), want)])
        kinds[key[2]] = kinds.get(key[2], 0) + counts
        total = total + counts
    notes = [f"What touches '{name}' was not looked for again: the skin does not tell."
             for name in sorted({c.surface for c in unseen})]
    if not total.any():
        return {"contact_agreement": None}, [], notes
    kinds = {kind: _scores(c) for kind, c in sorted(kinds.items()) if c.any()}
    return ({"contact_agreement": {**_scores(total), "kinds": kinds}},
            _faults("contact_lost_percent", _lost(contacts, body, found)), notes)


def _lost(contacts, body, found=None):
    """Contacts in percent: 100 in frames in which the body does not show them, 0 in the others."""
    found = contact_seen.found(contacts, body) if found is None else found
    edge, none = int(round(_EDGE * contacts.fps)), np.zeros(len(body.times), bool)
    unseen, out = contact_seen.unseen(contacts), []
    for contact in script.active(contacts):
        if contact not in unseen:
            rows = _rows(contact, body.times)
            missed = ~_wider(found.get(contact_seen.key(contact), none), edge)[rows]
            out.append(_piece(body, contact, rows, 100.0 * missed))
    return out


def _masks(listed, times):
    """Key of a contact -> frames (F,) in which it is there."""
    out = {}
    for contact in listed:
        out.setdefault(contact_seen.key(contact), np.zeros(len(times), bool))[_rows(contact, times)] = True
    return out


def _wider(mask, frames):
    """A mask (F,) with `frames` more on both sides of each run."""
    out = mask.copy()
    for step in range(1, frames + 1):
        out[step:] |= mask[:-step]
        out[:-step] |= mask[step:]
    return out


def _scores(counts):
    right, have, met, want = counts
    precision, recall = right / have if have else 1.0, met / want if want else 1.0
    both = precision + recall
    return {"precision": float(precision), "recall": float(recall),
            "f1": float(2.0 * precision * recall / both) if both else 0.0, "frames": int(want)}


_PIECES = {  # metric -> what it looks at, over all of the frames
    "skate_drift_mm": _drifts,
    "skate_speed_mm_per_s": _speeds,
    "floor_penetration_mm": _sunk,
    "float_mm": _gaps,
    "contact_lost_percent": _lost,
    "grip_surface_mm": lambda contacts, body: _off(contacts, body)[0],
    "grip_along_mm": lambda contacts, body: _off(contacts, body)[1],
    "grip_mean_mm": lambda contacts, body: sum(_off(contacts, body), []),
    "reach_shortfall_mm": _beyond,
    "prop_penetration_mm": _inside,
}
