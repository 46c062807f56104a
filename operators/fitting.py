"""The stage "contacts" of a bake: the body's own motion against the contact script."""

import numpy as np

from ..solvers import transfer
from ..solvers.contacts import performer
from ..solvers.fit.body import body_of
from ..solvers.fit.fit import Options, fit
from .bridge import skin


def fit_steps(armature, plan, take, script, fps, options=Options()):
    """(fit.Fitted, what was done as plain data) of a read take; a generator of the part done.

    `armature` is the body's, whose skin tells where palms and soles are and how thick it is; `take` a job.TakeData,
    `script` the ContactScript of just its frames, at `fps`.
    """
    body = body_of(plan, skin.read_skin(armature, plan.body.skeleton))
    yield 0.3
    motion = take.samples.motion(placed=[*transfer.placed(plan), *_hands(take.figure)])
    palms = {side: performer.place(palm, motion) for side, palm in performer.palms(take.figure).items()}
    yield 0.5
    fitted = fit(body, script, motion, palms, fps, options)
    return fitted, _told(fitted, take.frames, body.notes)


def _hands(figure):
    return [j for role, j in figure.roles.items() if role in ("hand.L", "hand.R")]


def _told(fitted, frames, notes):
    """What the fit did, as plain data."""
    return {"count": sum(not c.mute for c in fitted.script.contacts), "notes": notes,
            "root_mm": round(1000.0 * float(np.linalg.norm(fitted.offset, axis=-1).max()), 1),
            "moved_mm": {limb: round(1000.0 * float(way.max()), 1) for limb, way in fitted.moved.items()},
            "misses": [{"contact": m.contact, "effector": m.effector, "surface": m.surface,
                        "frame": int(frames[m.frame]), "mm": round(m.millimetres, 1)} for m in fitted.misses]}
