"""What the stage "contacts" has moved of a transferred motion: the root, and limb by limb, as plain data."""

import numpy as np

from ..solvers import anatomy, rotation, transfer

_LIMBS = {"hand": ("shoulder", "upper_arm", "forearm", "hand"), "foot": ("thigh", "shin", "foot", "toe")}


def figures(fitted, plan, motion):
    """name -> {"mm", "degrees"}, each {"max", "mean"} over the frames, of a fit.Fitted against the take's motion as a
    transfer.Plan has it.

    "root" is the whole body's way. A limb, named by its end, has the millimetres by which its end was moved besides,
    and the degrees of whichever of its bones was turned most at a frame; "trunk" has the latter only.
    """
    before, _ = transfer.world_pose(plan, motion)
    turned = dict(zip(fitted.plan.answered, rotation.angle(before.rotations, fitted.pose.rotations).T))
    out = {"root": {"mm": _of(1000.0 * rotation.norm(fitted.pose.hips - before.hips))}}
    for name, roles in _parts(turned).items():
        out[name] = {"mm": _of(1000.0 * fitted.moved[name])} if name in fitted.moved else {}
        out[name]["degrees"] = _of(np.degrees(np.max([turned[role] for role in roles], axis=0)))
    return out


def _parts(roles):
    """name of a limb's end or "trunk" -> those of the roles that belong to it."""
    parts = {f"{end}.{side}": [f"{part}.{side}" for part in limb] for end, limb in _LIMBS.items()
             for side in anatomy.SIDES}
    parts["trunk"] = ["hips", *anatomy.torso(roles), *anatomy.neck(roles), "head"]
    parts = {name: [role for role in part if role in roles] for name, part in parts.items()}
    return {name: part for name, part in parts.items() if part}


def _of(values):
    return {"max": round(float(values.max()), 1), "mean": round(float(values.mean()), 2)}
