"""A clip that is cut is fitted shot by shot: no correction comes or goes, and nothing is smoothed, over a cut."""

from dataclasses import replace

import numpy as np

from .. import cuts, transfer
from ..contacts import script as scripts
from ..skeleton import Motion


def parted(plan, motion, pose, script, laid, palms, wishes, fps):
    """(Motion, WorldPose, ContactScript, the one laid out, palms, wishes) of each shot, frames counted from its own
    first; of a take without cuts just what is given."""
    found = cuts.shots(cuts.joints(motion, plan.source.roles), fps)
    if len(found) == 1:
        return [(motion, pose, script, laid, palms, wishes)]
    out = []
    for rows in found:
        span = rows.start / fps, rows.stop - rows.start, fps
        out.append((Motion(*(values[rows] for values in motion)),
                    transfer.WorldPose(*(values[rows] for values in pose)),
                    scripts.within(script, *span), scripts.within(laid, *span),
                    {side: path[rows] for side, path in palms.items()},
                    [wish._replace(frame=wish.frame - rows.start) for wish in wishes
                     if rows.start <= wish.frame < rows.stop]))
    return out


def joined(parts, laid, fps):
    """The fit.Fitted of a whole clip from those of its shots; `laid` is the whole ContactScript laid out."""
    if len(parts) == 1:
        return parts[0]
    long = [len(part.offset) for part in parts]
    begins = np.cumsum([0, *long[:-1]]).tolist()

    def listed(name):
        return [one._replace(frame=one.frame + begin)
                for part, begin in zip(parts, begins) for one in getattr(part, name)]

    def pooled(values):
        return np.concatenate([np.zeros(n) if one is None else one for one, n in zip(values, long)])

    changed = {contact.id: (contact, begin / fps, part.spent[contact.id])
               for part, begin in zip(parts, begins) for contact in part.script.contacts if contact.id in part.spent}
    contacts = tuple(_spent(contact, *changed[contact.id]) if contact.id in changed else contact
                     for contact in laid.contacts)
    return parts[0]._replace(
        pose=transfer.WorldPose(*(np.concatenate(values) for values in zip(*(part.pose for part in parts)))),
        script=replace(laid, contacts=contacts), offset=np.concatenate([part.offset for part in parts]),
        moved={limb: pooled([part.moved.get(limb) for part in parts])
               for limb in dict.fromkeys(limb for part in parts for limb in part.moved)},
        misses=listed("misses"), left=listed("left"), broken=listed("broken"),
        spent={name: used for part in parts for name, used in part.spent.items()})


def _spent(contact, own, begin, used):
    """A Contact with what its shot, which begins after `begin` seconds, has `used` of its licence: `own` there."""
    path = {**contact.path, **{name: own.path[name] for name in used if name in own.path}}
    if "time" not in used:
        return replace(contact, path=path)
    return replace(contact, path=path, start=begin + own.start, end=begin + own.end)
