"""Which stage of a bake brought a fault in.

The figure that is at fault is taken again at the same place of earlier motions: of the performer's own, and of the body
as it was purely transferred. That is worked out here and not played by Blender: bones by forward kinematics, skin by
linear blend skinning (`fit.surface`). Constraints, drivers, shape keys and other modifiers have no part in it.
"""

import numpy as np

from . import contact_probe, contact_report, cuts, report, transfer, turnovers
from .contacts import performer as points_of
from .fit import surface

ORDER = ("take", "transfer", "contacts")
TURNOVER = 1000.0 * turnovers.LENGTH  # millimetres
_SHARE = 0.5  # of a figure: what an earlier motion has less of is another fault, however much over the limit
_OF_TAKE = ("skate_drift_mm", "skate_speed_mm_per_s")  # what can be told of a performer without a skin
_WATCHED = ("hips", "head", *(f"{part}.{side}" for part in ("forearm", "hand", "shin", "foot") for side in "LR"))


def transferred(plan, motion):
    """The body's world Motion, in its skeleton's order, as purely transferred by a transfer.Plan from the take's."""
    return transfer.played(plan.body, plan.held, transfer.play(plan, motion)[0])


def performed(plan, motion, frames, times):
    """The performer of a take's world Motion as a contact_report.Observed without a skin, as large as the body's way
    is: her heels, balls and palms."""
    size = plan.scale[0]
    motion = motion._replace(positions=size * motion.positions)
    rest = plan.source.rest
    figure = plan.source._replace(rest=rest._replace(positions=size * rest.positions))
    points = points_of.feet(figure)
    none, frame_count = np.empty(0, int), len(frames)
    soles = np.stack([np.empty((frame_count, 0))] * 3, axis=-1)
    if points:
        soles = np.stack([points_of.place(point, motion) for point in points.values()], axis=1)
    probe = contact_probe.Probe(0, none, none, [], {}, points, {}, np.empty((0, 3), int), none, (), ())
    seen = contact_probe.Seen(np.empty((frame_count, 0)), np.empty((frame_count, 0)), soles,
                              *[np.empty((frame_count, 0, len(contact_probe.PARTS)))] * 2)
    return contact_report.Observed(figure, motion, points_of.palms(figure), probe, seen, frames, times)


def asked(faults, frames):
    """Where the skin has to be seen to tell faults of the contact report again: a mask over the frames (F,)."""
    out = np.zeros(len(frames), bool)
    for fault in faults:
        if fault["metric"] in contact_report.LIMITS:
            out |= (frames >= fault["first"]) & (frames <= fault["last"])
    return out


def bound(skin, rest):
    """The surface.Surface of a whole flesh.Skin that stands as in `rest`, a Motion of one frame."""
    return surface.bind(rest, skin, np.ones(len(skin.points), bool))


def placed(skin, whole, motion, rows):
    """World places (N, V, 3) of a flesh.Skin, `whole` as `bound` gives it, in the frames `rows` (N,) of a Motion.

    What no bone carries stays where it is.
    """
    out = np.tile(skin.points, (len(rows), 1, 1))
    out[:, whole.vertices] = surface.places(whole, motion, rows)
    return out


def spread(seen, mask, like):
    """A list of contact_probe.Seen, of the frames of `mask` (F,), as one with a leading axis of F: not a number in the
    other frames. `like` is a whole Seen of the same Probe."""
    out = contact_probe.Seen(*(np.full(values.shape, np.nan) for values in like))
    for row, one in zip(np.flatnonzero(mask), seen):
        for values, value in zip(out, one):
            values[row] = value
    return out


def turned_over(side, before, frames, fps):
    """Faults, as plain data, of joints whose correction turns over (`turnovers`), with its length in millimetres.

    `side` is the body's report.Side and `before` that of its transferred motion, at `fps` frames a second.
    """
    out, shots = [], cuts.shots(cuts.joints(before.motion, before.roles), fps)
    for role in _WATCHED:
        if role in side.roles:
            j = side.roles[role]
            off = side.motion.positions[:, j] - before.motion.positions[:, j]
            for first, last in turnovers.find(off, shots):
                length = 1000.0 * np.linalg.norm(off[first:last + 1], axis=-1)
                out.append(report.fault("turnover_mm", length.max(), TURNOVER,
                                        frames[first + int(np.argmax(length))], role, side.names[j],
                                        frames[first:last + 1]))
    return out


def earlier(faults, take, before, contacts, played, performer, fps, frames):
    """What each of the faults was at the stages before the last: a list of dicts stage -> figure.

    `take` and `before` are the report.Sides of the take and the transferred body, `contacts` the laid out
    ContactScript, `played` and `performer` the contact_report.Observeds of the transferred body and the performer;
    None for the three where there are no contacts to tell of.
    """
    out = [{} for _ in faults]
    ways = [("transfer", report.LIMITS, lambda some: report.again(some, take, before, fps, frames))]
    if contacts is not None:
        ways += [("take", _OF_TAKE, lambda some: contact_report.again(contacts, performer, some)),
                 ("transfer", contact_report.LIMITS, lambda some: contact_report.again(contacts, played, some))]
    for stage, metrics, again in ways:
        rows = [i for i, fault in enumerate(faults) if fault["metric"] in metrics]
        for i, value in zip(rows, again([faults[i] for i in rows]) if rows else ()):
            if value is not None:
                out[i][stage] = value
    return out


def brought_in(fault, before):
    """The stage that a fault is from: the first in whose motion its figure is over its limit and at least half of what
    it comes to in the end. `before` is stage -> figure; a stage that has none cannot be told and is passed over."""
    for stage in ORDER[:-1]:
        if stage in before and before[stage] > max(fault["limit"], _SHARE * fault["value"]):
            return stage
    return ORDER[-1]


def counts(faults):
    """stage -> how many of the faults it brought in."""
    found = [fault["stage"] for fault in faults]
    return {stage: found.count(stage) for stage in ORDER if stage in found}


def sentence(told):
    """Which stages brought in the faults of a report, for people; "" where there is nothing to tell."""
    listed = len(told["faults"])
    which = f"the worst {listed} faults" if listed < told["faults_total"] else "these faults"
    words = ", ".join(f"{stage} {count}" for stage, count in told["stages"].items())
    return f"Stages that brought in {which}: {words}." if words else ""
