"""What the fit knows of a body before the first frame: palms, soles, and the skin of its parts."""

from typing import NamedTuple

import numpy as np

from .. import rotation
from ..anatomy import SIDES, torso
from ..contacts import performer
from ..skeleton import Motion, rest_motion
from ..transfer import Plan
from . import flesh, sole, surface

LIMBS = {"hand": ("upper_arm", "forearm"), "foot": ("thigh", "shin")}


class Body(NamedTuple):
    """A body that is about to be fitted."""

    plan: Plan
    bound: Motion  # its skeleton at rest, in the world, one frame
    skin: flesh.Skin | None
    soles: dict  # side -> sole.Sole, of feet that can be turned and led
    palms: dict  # side -> performer.Palm, likewise
    standing: float | None  # height in metres of the soles in the figure's own rest
    notes: list  # sentences about what could not be measured

    def turns(self, role, rotations):
        """World rotations (F, 4) of a role's bone, out of those (F, K, 4) of all that are answered."""
        return rotations[:, self.plan.answered.index(role)]


def lengths(figure, limb):
    """(upper, lower) lengths in metres of the limb that ends in a role, at rest; None where joints are missing."""
    part, side = limb.split(".")
    roles = [f"{name}.{side}" for name in (*LIMBS[part], part)]
    if any(role not in figure.roles for role in roles):
        return None
    root, middle, end = (figure.rest.positions[0, figure.roles[role]] for role in roles)
    return float(np.linalg.norm(middle - root)), float(np.linalg.norm(end - middle))


def body_of(plan, skin):
    """The Body of a transfer.Plan; `skin` is its flesh.Skin, or None where it has no mesh."""
    bound = rest_motion(plan.body.skeleton)
    figure = plan.body._replace(rest=bound)
    limbs = [f"{part}.{side}" for part in LIMBS for side in SIDES]
    led = {limb for limb in limbs if lengths(plan.body, limb)
           and all(f"{name}.{limb[-1]}" in plan.answered for name in (limb[:-2], *LIMBS[limb[:-2]]))}
    palms, notes = flesh.palms(figure, skin)
    measured = flesh.soles(figure, skin)
    soles = {side: sole.sole(figure, bound, skin, measured.points, side, plan.answered)
             for side in SIDES if f"foot.{side}" in led}
    standing = min((float(performer.place(point, plan.body.rest)[0, 2]) for point in measured.points.values()),
                   default=None)
    return Body(plan, bound, skin, soles, {side: palm for side, palm in palms.items() if f"hand.{side}" in led},
                standing, notes + measured.notes)


def part_surface(body, roles, keep=None):
    """The surface.Surface of the skin that counts for some roles; None where there is none."""
    if body.skin is None:
        return None
    own = flesh.of(body.plan.body._replace(rest=body.bound), body.skin, roles)
    own = own if keep is None else own & keep
    return surface.bind(body.bound, body.skin, own) if own.any() else None


def trunk_roles(figure):
    """The roles of trunk and head."""
    return ("hips", *torso(figure.roles), *(r for r in figure.roles if r.split(".")[0] in ("neck", "head")))


def hinge(body, rotations, upper, lower):
    """World axes (F, 3) about which an elbow or knee bends: across the limb and the way that the performer faces."""
    plan = body.plan
    source = plan.source if upper in plan.source.roles and lower in plan.source.roles else plan.body
    rest = source.rest.positions[0]
    along = rest[source.roles[lower]] - rest[source.roles[upper]]
    ahead = -performer.axes(source)[1]
    k = plan.answered.index(upper)
    delta = rotation.mul(rotations[:, k], rotation.conj(plan.turned_rest[k]))
    return rotation.rotate(delta, rotation.normalize(np.cross(along, ahead)))
