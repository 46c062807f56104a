"""How a body keeps the contacts of a script: skating, floor, grips, props; figures, faults and one line for people.

Looks at nothing but what the body does, as it is seen: its skin (`contact_probe`), the points of its palms that its
hands carry, its joints, and a ContactScript laid out in its world. Lengths are millimetres as they are, not scaled to a
stature. The same input gives the same text.
"""

from typing import NamedTuple

import numpy as np

from . import contact_probe, rotation
from . import report as transfer_report
from .contacts import performer, script, segments
from .contacts.extract import extract
from .errors import FootholdError
from .report import WORST_FAULTS, fault, number, statistics
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
_STEP = 0.08  # metres over the floor from which a plant stands on something else: a sole's own height is no step
_EDGE = 2.0 / 60.0  # seconds by which the edge of a contact may be missed
_INSIDE = 0.1  # of a frame, by which a contact is rounded: it is there at the whole frames within its interval
_TRUNK = ("hips", "belly", "chest")
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
    notes = []
    grips, stands = _grips(contacts, body, notes), _stands(contacts, body)
    short = [_shortfall(body, touch) for touch in (*grips, *stands)]
    metrics, faults = {}, []
    for measured in (_skating(contacts, body), _floor(contacts, body), _floating(body, stands),
                     _agreement(contacts, body, notes), _gripping(contacts, body, grips, short), _reach(body, short),
                     _inside_props(contacts, body, notes)):
        metrics.update(measured[0])
        faults += measured[1]
    out = {"count": len(script.active(contacts)), "limits": dict(LIMITS), "metrics": metrics, "notes": notes,
           "faults": faults}
    return {**out, "summary": summary(out)}


def join(taken, found):
    """The report of `solvers.report` with that of the contacts in its section "contacts"; faults, notes and sentences
    of both together."""
    faults = taken["faults"] + found["faults"]
    faults.sort(key=lambda f: (-f["severity"], f["metric"], f["role"] or "", f["bone"] or "", f["frame"] or 0))
    out = {**taken, "contacts": {key: value for key, value in found.items() if key not in ("faults", "notes")},
           "notes": taken["notes"] + found["notes"], "faults_total": taken["faults_total"] + len(found["faults"]),
           "faults": faults[:WORST_FAULTS]}
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
           "contact": None, "role": None, "bone": None}
    if len(values):
        ends = np.cumsum([len(p.values) for p in pieces])
        worst = pieces[int(np.searchsorted(ends, np.argmax(values), "right"))]
        out.update(contact=worst.contact, role=worst.role, bone=worst.bone)
    return out


def _faults(metric, pieces):
    """A fault for the worst of each Piece that goes over the metric's limit."""
    out = []
    for piece in pieces:
        if len(piece.values) and piece.values.max() > LIMITS[metric]:
            at = int(np.argmax(piece.values))
            out.append({**fault(metric, piece.values[at], LIMITS[metric], piece.frames[at], piece.role, piece.bone),
                        "contact": piece.contact})
    return out


def _worst(piece, value=None):
    """The Piece of a Piece's largest value only; `value` stands in for it where given."""
    at = int(np.argmax(piece.values))
    return piece._replace(frames=piece.frames[at:at + 1],
                          values=piece.values[at:at + 1] if value is None else np.array([value]))


def _rows(span, times):
    """Which of the frames (F,) lie inside what has `start` and `end` in seconds, as indices."""
    slack = _INSIDE * (times[1] - times[0] if len(times) > 1 else 0.0) + 1e-9
    return np.flatnonzero((times >= span.start - slack) & (times <= span.end + slack))


def _bone(body, role):
    return body.figure.skeleton.names[body.figure.roles[role]] if role in body.figure.roles else None


def _piece(body, contact, rows, values, role=None):
    return Piece(contact.id, role or contact.effector, _bone(body, contact.effector), body.frames[rows], values)


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


def _skating(contacts, body):
    """Drift: how far a standing part is at most from its anchor along the floor; the anchor is the median of where it
    stands. Speed: how fast it goes on the average."""
    drifts, speeds = [], []
    fps = contacts.fps
    for contact, part, rows, path in _spans(contacts, body):
        if len(rows) < 2:
            continue
        flat = 1000.0 * path[:, :2]
        role = f"{part}.{contact.effector[-1]}"
        away = np.linalg.norm(flat - np.median(flat, axis=0), axis=1)
        drifts.append(_worst(_piece(body, contact, rows, away, role)))
        speeds.append(_piece(body, contact, rows[1:], fps * np.linalg.norm(np.diff(flat, axis=0), axis=1), role))
    means = [_worst(piece, float(piece.values.mean())) for piece in speeds]
    return ({"skate_drift_mm": _figure(drifts), "skate_speed_mm_per_s": _figure(speeds)},
            _faults("skate_drift_mm", drifts) + _faults("skate_speed_mm_per_s", means))


def _height(contacts, contact):
    """The height that a plant stands at: the floor, or a step over it; None where neither is known."""
    height = float(np.median(contact.path["z"])) if contact.path.get("z") else contacts.floor
    return height if contacts.floor is None or height - contacts.floor > _STEP else contacts.floor


def _stands(contacts, body):
    """The Touches of plants: the lowest skin of a foot, or a palm, that should be at the height of what it stands on.

    Where along the floor it should be is told by where it stands: there, it has only to stay (`_skating`).
    """
    out, order = [], list(body.probe.feet)
    for contact in script.active(contacts):
        limb, _, side = contact.effector.partition(".")
        rows, height = _rows(contact, body.times), _height(contacts, contact)
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


def _floating(body, stands):
    pieces = [_piece(body, s.contact, s.rows, 1000.0 * np.maximum(s.point[:, 2] - s.target[:, 2], 0.0)) for s in stands]
    return {"float_mm": _figure(pieces)}, _faults("float_mm", pieces)


def _floor(contacts, body):
    """How deep the deepest vertex of the body lies in the floor, and that of a foot in a step that it stands on."""
    if contacts.floor is None:
        return {"floor_penetration_mm": None}, []
    depth = 1000.0 * np.maximum(contacts.floor - body.seen.low, 0.0)
    pieces, deepest = [], depth.copy()
    for first, last in segments.runs(depth > 0.0):
        owner = _owner(body, first + int(np.argmax(depth[first:last + 1])))
        pieces.append(Piece(None, owner, _bone(body, owner), body.frames[first:last + 1], depth[first:last + 1]))
    for contact, rows, sunk in _in_steps(contacts, body):
        pieces.append(_piece(body, contact, rows, sunk))
        deepest[rows] = np.maximum(deepest[rows], sunk)
    out = {**_figure(pieces), **statistics(deepest, body.frames), "mean": float(deepest.mean()), "count": len(deepest),
           "frames_over": int((deepest > LIMITS["floor_penetration_mm"]).sum())}
    return {"floor_penetration_mm": out}, _faults("floor_penetration_mm", pieces)


def _in_steps(contacts, body):
    """(contact, rows, depth (N,) in millimetres) of feet that stand on a step, below its height."""
    for side, low in zip(body.probe.feet, body.seen.feet.T):
        for contact in script.active(contacts, f"foot.{side}"):
            height = _height(contacts, contact)
            if contact.kind == "plant" and height > contacts.floor:
                rows = _rows(contact, body.times)
                yield contact, rows, 1000.0 * np.maximum(height - low[rows], 0.0)


def _owner(body, row):
    """Whose the lowest vertex of a frame is."""
    return body.probe.roles[int(body.seen.lowest[row])]


# Grips

def _grips(contacts, body, notes):
    """The Touches of hands that hold a prop.

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
    notes += [f"Grips on '{name}' were not measured: its shape is not known from the script." for name in sorted(blind)]
    return out


def _on_cylinder(prop, points, height):
    """The places (N, 3) on a cylinder's surface at `height` (N,) that look at points (N, 3)."""
    axis, off = np.array(prop.axis), points - np.array(prop.point)
    radial = rotation.normalize(off - (off @ axis)[:, None] * axis)
    return np.array(prop.point) + height[:, None] * axis + prop.radius * radial


def _gripping(contacts, body, grips, short):
    """Palms against the surface, and along a cylinder's axis against the path, where they are in reach."""
    props = {prop.name: prop for prop in contacts.props}
    surface, along = [], []
    reach = {id(s.contact): s.values < LIMITS["reach_shortfall_mm"] for s in short}
    for grip in grips:
        kept = reach[id(grip.contact)]
        off = 1000.0 * (grip.point - grip.target)
        prop = props[grip.contact.surface]
        axis = np.array(prop.axis) if prop.kind == "cylinder" else np.zeros(3)
        surface.append(_piece(body, grip.contact, grip.rows[kept], np.linalg.norm(off - (off @ axis)[:, None] * axis,
                                                                                  axis=1)[kept]))
        along.append(_piece(body, grip.contact, grip.rows[kept], np.abs(off @ axis)[kept]))
    means = [_worst(piece, float(piece.values.mean())) for piece in (*surface, *along) if len(piece.values)]
    return ({"grip_surface_mm": _figure(surface), "grip_along_mm": _figure(along)},
            _faults("grip_surface_mm", surface) + _faults("grip_along_mm", along) + _faults("grip_mean_mm", means))


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


def _reach(body, short):
    pieces = [_piece(body, s.contact, s.rows, s.values) for s in short]
    out = _figure([_worst(piece) for piece in pieces])
    out["frames_short"] = int(sum((p.values > LIMITS["reach_shortfall_mm"]).sum() for p in pieces))
    out["contacts"] = [{"contact": s.contact.id, "effector": s.contact.effector, "surface": s.contact.surface,
                        "worst": float(s.values.max()), "worst_frame": number(body.frames[s.rows[np.argmax(s.values)]]),
                        "frames": int((s.values > LIMITS["reach_shortfall_mm"]).sum())}
                       for s in short if s.values.max() > LIMITS["reach_shortfall_mm"]]
    return {"reach_shortfall_mm": out}, _faults("reach_shortfall_mm", pieces)


# Props

def _inside_props(contacts, body, notes):
    """How deep parts of the body lie in props, but for what touches them on purpose."""
    notes += [f"What lies in '{prop.name}' was not measured: its shape is not known from the script."
              for prop in contacts.props if prop not in body.probe.props]
    pieces, deepest = [], np.zeros(len(body.frames))
    parts = {}
    for k, prop in enumerate(body.probe.props):
        meant = _meant(contacts, prop, body)
        for j, part in enumerate(contact_probe.PARTS):
            depth = np.where(meant[:, j], 0.0, 1000.0 * body.seen.depths[:, k, j])
            deepest = np.maximum(deepest, depth)
            parts[part] = max(parts.get(part, 0), int((depth > LIMITS["prop_penetration_mm"]).sum()))
            role = "chest" if part == "torso" and "chest" in body.figure.roles else part
            for first, last in segments.runs(depth > 0.0):
                rows = slice(first, last + 1)
                pieces.append(Piece(None, part, _bone(body, "hips" if role == "torso" else role), body.frames[rows],
                                    depth[rows]))
    if not body.probe.props:
        return {"prop_penetration_mm": None}, []
    out = {**_figure(pieces), **statistics(deepest, body.frames), "mean": float(deepest.mean()), "count": len(deepest),
           "frames_over": int((deepest > LIMITS["prop_penetration_mm"]).sum()),
           "parts": {part: count for part, count in parts.items() if count}}
    return {"prop_penetration_mm": out}, _faults("prop_penetration_mm", pieces)


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

def _agreement(contacts, body, notes):
    """Contacts extracted from the body's own motion against the script's, frame by frame.

    Edges may be missed by two frames of sixty a second. Muted contacts count neither way.
    """
    try:
        again = extract(body.figure, body.motion, contacts.fps, _sought(contacts))
    except FootholdError as error:
        notes.append(f"Contacts were not looked for again: {error}")
        return {"contact_agreement": None}, []
    times = body.times - body.times[0]
    wanted, found = _masks(script.active(contacts), body.times), _masks(again.contacts, times)
    muted = _masks([c for c in contacts.contacts if c.mute], body.times)
    kinds, total = {}, np.zeros(4)
    edge = int(round(_EDGE * contacts.fps))
    none = np.zeros(len(times), bool)
    for key in sorted({*wanted, *found}):
        counted = ~_wider(muted.get(key, none), edge)
        want, have = wanted.get(key, none) & counted, found.get(key, none) & counted
        counts = np.array([mask.sum() for mask in (have & _wider(want, edge), have, want & _wider(have, edge), want)])
        kinds[key[2]] = kinds.get(key[2], 0) + counts
        total = total + counts
    if not total.any():
        return {"contact_agreement": None}, []
    lost = []
    for contact in script.active(contacts):
        rows = _rows(contact, body.times)
        missed = ~_wider(found.get(_key(contact), none), edge)[rows]
        if missed.any():
            lost.append(Piece(contact.id, contact.effector, _bone(body, contact.effector),
                              body.frames[rows[missed][:1]], np.array([100.0 * missed.mean()])))
    return ({"contact_agreement": {**_scores(total), "kinds": {kind: _scores(c) for kind, c in sorted(kinds.items())}}},
            _faults("contact_lost_percent", lost))


def _sought(contacts):
    """What `extract` shall look for: the script's own cylinder, fixed places, or no prop."""
    cylinders = [prop for prop in contacts.props if prop.kind == "cylinder"]
    if cylinders:
        return cylinders[0]
    return "auto" if any(not prop.object for prop in contacts.props) else "none"


def _key(contact):
    """What makes two contacts the same; fixed places may be numbered otherwise, and where on another body's trunk the
    hips end and the belly begins is a matter of its joints."""
    surface = "place" if contact.surface.startswith("place ") else contact.surface
    surface = "trunk" if surface in _TRUNK else surface
    return contact.effector, surface, contact.kind


def _masks(listed, times):
    """Key of a contact -> frames (F,) in which it is there."""
    out = {}
    for contact in listed:
        out.setdefault(_key(contact), np.zeros(len(times), bool))[_rows(contact, times)] = True
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
