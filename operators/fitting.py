"""The stage "contacts" of a bake: the body's own motion against the contact script."""

import bpy
import numpy as np

from ..solvers.contacts import performer
from ..solvers.contacts.script import REGIONS, unkept
from ..solvers.fit.body import body_of
from ..solvers.fit.fit import Options, fit
from ..solvers.fit.level import levelled
from ..solvers.fit.wish import Wish
from . import moved
from .bridge import keys, samples, skin

# licence -> (what a report calls it, how many of its units a script's is, digits)
_UNITS = {"height": ("height_mm", 1000.0, 1), "azimuth": ("azimuth_degrees", 1.0, 1),
          "tilt": ("tilt_degrees", 1.0, 1), "time": ("time_s", 1.0, 3)}


def fit_steps(armature, plan, take, script, fps, options=Options(), action=None):
    """(fit.Fitted, what was done as plain data) of a read take; a generator of the part done.

    `armature` is the body's, whose skin tells where palms and soles are and how thick it is; `take` a job.TakeData,
    `script` the ContactScript of just its frames, at `fps`. `action` is the one that is baked into, where there is one
    yet: what a person changed in it are wishes.
    """
    body = body_of(plan, skin.read_skin(armature, plan.body.skeleton))
    yield 0.3
    motion = take.samples.motion()
    body = levelled(body, script, motion, fps)
    palms = {side: performer.place(palm, motion) for side, palm in performer.palms(take.figure).items()}
    yield 0.5
    asked = wishes(armature, plan, action, take.frames) if action is not None else []
    fitted = fit(body, script, motion, palms, fps, options, asked)
    before = fitted.plan._replace(turned_rest=plan.turned_rest)  # as the transfer alone has it: without level feet
    notes = [*body.notes, *unkept(script.props)]
    return fitted, {**_told(fitted, take.frames, notes), "moved": moved.figures(fitted, before, motion)}


def wishes(armature, plan, action, frames):
    """The wish.Wishes (a list) in an action: poses of bones that are baked, at frames that are, and that she has set.

    A key that she has deleted asks for nothing.
    """
    bones = {plan.body.skeleton.names[plan.body.roles[role]] for role in plan.answered}
    bones.add(plan.body.skeleton.names[plan.carrier])
    asked = {}  # (bone, frame) -> {"rotation", "location"}
    for edit in keys.edits(action):
        found = samples.POSE_PATH.match(edit.data_path)
        if found and edit.kind != "deleted" and edit.frame in frames:
            name, channel = bpy.utils.unescape_identifier(found.group(1)), found.group(2)
            if name in bones and channel.split("_")[0] in ("rotation", "location"):
                asked.setdefault((name, edit.frame), set()).add(channel.split("_")[0])
    times = np.unique([frame for _, frame in asked])
    if not len(times):
        return []
    held = samples.from_curves(armature, plan.body.skeleton, action, times, plan.held).channels()
    out = []
    for (name, frame), channels in sorted(asked.items()):
        joint, at = plan.body.skeleton.names.index(name), int(np.searchsorted(times, frame))
        out.append(Wish(joint, int(np.searchsorted(frames, frame)),
                        held.rotation[at, joint] if "rotation" in channels else None,
                        held.location[at, joint] if "location" in channels else None))
    return out


def _told(fitted, frames, notes):
    """What the fit did, as plain data. What is not kept names the body's own bone, besides the role."""
    contacts = {contact.id: contact for contact in fitted.script.contacts}
    names = fitted.plan.body.skeleton.names

    def row(frame, bone, millimetres, **what):
        return {**what, "bone": bone, "frame": int(frames[frame]), "mm": round(millimetres, 1)}

    return {"count": sum(not c.mute for c in fitted.script.contacts), "notes": notes,
            "misses": [row(m.frame, _bone(fitted, m.effector), m.millimetres, contact=m.contact, effector=m.effector,
                           surface=m.surface) for m in fitted.misses],
            "inside": [row(i.frame, _bone(fitted, i.part), i.millimetres, part=i.part, surface=i.surface)
                       for i in fitted.left],
            "licence": {contact: {_UNITS[name][0]: round(_UNITS[name][1] * amount, _UNITS[name][2])
                                  for name, amount in used.items()} for contact, used in fitted.spent.items()},
            "broken_by_edits": [row(b.frame, names[b.bone], b.millimetres, contact=b.contact,
                                    effector=contacts[b.contact].effector, surface=contacts[b.contact].surface)
                                for b in fitted.broken]}


def _bone(fitted, part):
    """The name of the body's bone that stands for a role, an effector of contacts or the trunk."""
    roles = fitted.plan.body.roles
    region, _, side = part.partition(".")
    listed = [part, *(f"{name}.{side}" for name in REGIONS.get(region, ())), "chest", "hips"]
    return fitted.plan.body.skeleton.names[roles[next(role for role in listed if role in roles)]]
