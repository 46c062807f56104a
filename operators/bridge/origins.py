"""Which stage of the bake brought in the faults of a measured scene: `solvers.stages` for what Blender plays."""

import numpy as np

from ...solvers import contact_probe, report, stages
from ...solvers.errors import FootholdError
from ...solvers.skeleton import Motion, rest_motion
from . import evaluate, keys, plans

_CHUNK = 1_000_000  # vertices that are placed at once


def told_steps(found, take, body, sides, script, seen, frames, fps):
    """A report of `solvers.report` in which each fault tells under "stage" where it is from, and under "before" what
    its figure was at the stages before; a generator of the part done that returns it.

    `take` and `body` are the armatures, `sides` the report.Sides that were recorded of them, `script` the laid out
    ContactScript or None, `seen` (contact_report.Observed, flesh.Skin) of the body, or None. Where the stages cannot be
    told, "stage" is None and a note says why.
    """
    action = body.animation_data.action if body.animation_data else None
    if action is None or not plans.is_there(action):
        return _told(found, None, "a bake of this Foothold wrote no motion that the body plays")
    if script is None:
        return _told(found, ["transfer"] * len(found["faults"]), "; ".join(_edited(action, "transfer")))
    try:
        plan, names = plans.load(action, take, body)
    except FootholdError as error:
        return _told(found, None, str(error))
    source = _ordered(sides[0].motion, sides[0].names, names)
    moved = stages.transferred(plan, source)
    yield 0.1
    own = plan.body.skeleton.names
    before = sides[1]._replace(motion=_ordered(moved, own, sides[1].names))
    over = stages.turned_over(sides[1], before, frames, fps)
    found = report.with_faults(found, over)
    found["metrics"]["turnovers"] = {"count": len(over)}
    found["limits"]["turnover_mm"] = stages.TURNOVER
    faults, played, performer = found["faults"], None, None
    if seen is not None:
        observed, skin = seen
        played = yield from evaluate.part(_transferred_steps(observed, skin, moved, stages.asked(faults, frames)), 0.1,
                                          0.9)
        performer = stages.performed(plan, source, frames, observed.times)
    figures = stages.earlier(faults, sides[0], before, script, played, performer, fps, frames)
    for fault, values in zip(faults, figures):
        fault["before"] = values
    return _told(found, [stages.brought_in(fault, values) for fault, values in zip(faults, figures)],
                 _doubts(action, body))


def _doubts(action, body):
    """What the stages are told without, as words for the artist; "" where there is nothing of the kind."""
    words, reason = _edited(action, "contacts"), evaluate.reason(body)
    if reason is not None:
        words.append(f"the motion before the contacts is worked out from keys alone, and {reason}")
    return "; ".join(words)


def _edited(action, last):
    """That her edits count to the last stage, as a list of words; empty where there are none."""
    edits = keys.count_edits(action)
    return [f"your edits ({edits}) count to the stage '{last}'"] if edits else []


def _transferred_steps(observed, skin, motion, mask):
    """An Observed body in its transferred motion, its skin seen in the frames of a mask (F,) only; a generator of the
    part done."""
    whole = stages.bound(skin, rest_motion(observed.figure.skeleton))
    rows, out = np.flatnonzero(mask), []
    for part in np.array_split(rows, max(len(rows) * len(skin.points) // _CHUNK, 1)):
        out += [contact_probe.look(observed.probe, points) for points in stages.placed(skin, whole, motion, part)]
        yield len(out) / max(len(rows), 1)
    return observed._replace(motion=motion, seen=stages.spread(out, mask, observed.seen))


def _ordered(motion, names, wanted):
    """A Motion of joints `names` as one of those `wanted`, in their order."""
    order = [names.index(name) for name in wanted]
    return Motion(motion.positions[:, order], motion.rotations[:, order])


def _told(found, told, note=""):
    """A report with the stages of its faults, None for all of them where `told` is None; the note is for the artist."""
    for i, fault in enumerate(found["faults"]):
        fault["stage"] = told[i] if told else None
        fault.setdefault("before", {})
    found["stages"] = stages.counts(found["faults"])
    if found["faults"] and note:
        found["notes"].append(f"Which stage brought the faults in is not told: {note}" if told is None else
                              f"Of the stages: {note}.")
    sentences = found.get("contacts", {}).get("summary"), report.summary(found), stages.sentence(found)
    return {**found, "summary": " ".join(sentence for sentence in sentences if sentence)}
