"""What is looked at on a body's skin, frame by frame, to tell how it keeps its contacts.

Everything is picked once on the skin at rest, as vertices that stay the same; `look` then reduces one frame of them to
a few numbers. The sole stands where its heel or ball is, a point that vertices about it carry with fixed weights. Props
are met by faces, not by vertices alone, so that coarse and dense meshes of one shape give the same depth.
"""

from typing import NamedTuple

import numpy as np

from . import anatomy, mesh, rotation
from .anatomy import SIDES
from .contacts import performer, script
from .fit import flesh

PARTS = ("torso", "head", *(f"{part}.{side}" for part in ("thigh", "shin", "upper_arm", "forearm") for side in SIDES))
_ALONE = (0.99, 0.97, 0.94, 0.9, 0.8, 0.65, 0.5, 0.0)  # weights from which one bone carries a vertex alone
_EVEN = 0.1  # of the length of a sole: what is so near its point counts alike
_TRUE = 5e-4  # metres that a point may be off where the vertices have it
_HEAVY = 0.7  # weight of one vertex at most: more would make much of its bending


class Carried(NamedTuple):
    """A point that vertices carry: the sum of their places by weights that sum to 1."""

    vertices: np.ndarray  # (V,)
    weights: np.ndarray  # (V,)


class Probe(NamedTuple):
    """What to look at on a body's skin."""

    count: int  # N vertices of the skin
    body: np.ndarray  # (B,) vertices of the body by their roles; what bones carry beside it (armour, tools) is left out
    starts: np.ndarray  # (R,) where in `body` those of each role start
    roles: list  # R roles that have skin
    feet: dict  # side -> (V,) vertices of foot and toes
    soles: dict  # "heel.L", "ball.L", ... -> Carried
    faces: np.ndarray  # (T, 3) vertices of the faces that may not be inside a prop
    parts: np.ndarray  # (T,) indices into PARTS
    props: tuple  # script.Prop that a depth can be told for
    solids: tuple  # triangles (M, 3, 3) of each that is a box or a mesh, else None


class Seen(NamedTuple):
    """One frame of what a Probe looks at, or with a leading axis many; metres, in the world."""

    low: np.ndarray  # (R,) height of the lowest vertex of each role, in the Probe's order
    feet: np.ndarray  # (sides,) height of the lowest vertex of each foot, in the Probe's order
    soles: np.ndarray  # (soles, 3) in the Probe's order
    depths: np.ndarray  # (props, PARTS) how deep a part lies in a prop, 0 outside


def probe(figure, skin, props=()):
    """The Probe of a Figure whose Skin stands at rest."""
    own, roles = flesh.owners(figure, skin)
    body = np.argsort(own, kind="stable")[np.sum(own < 0):]
    shown, starts = np.unique(own[body], return_index=True)
    points = flesh.soles(figure, skin).points
    feet = {side: np.flatnonzero(_are(own, roles, (f"foot.{side}", f"toe.{side}"))) for side in SIDES}
    soles = {name: _sole(figure, skin, points, name, feet[name[-1]]) for name in points if len(feet[name[-1]])}
    part_of = np.array([_part(role) for role in roles] + [-1])[own]  # (N,)
    faces = skin.faces[(part_of[skin.faces] >= 0).all(axis=1)]
    feet = {side: found for side, found in feet.items() if len(found)}
    props = tuple(prop for prop in props if not script.not_solid(prop))
    return Probe(len(own), body, starts, [roles[i] for i in shown], feet, soles, faces, part_of[faces[:, 0]],
                 props, tuple(_solid(prop) for prop in props))


def look(probe, points):
    """One frame, as Seen, of all vertices (N, 3) of the skin."""
    heights = points[:, 2]
    return Seen(np.minimum.reduceat(heights[probe.body], probe.starts) if len(probe.body) else np.empty(0),
                np.array([heights[found].min() for found in probe.feet.values()]),
                np.array([one.weights @ points[one.vertices] for one in probe.soles.values()]).reshape(-1, 3),
                np.array([_depths(probe, prop, solid, points) for prop, solid in zip(probe.props, probe.solids)]
                         ).reshape(-1, len(PARTS)))


def _are(own, roles, wanted):
    return np.isin(own, [roles.index(role) for role in wanted if role in roles])


def _part(role):
    """The place in PARTS of what a role's skin counts for, -1 for hands and feet."""
    if role in PARTS:
        return PARTS.index(role)
    if role in ("jaw", "eye.L", "eye.R") or role in anatomy.neck([role]):
        return PARTS.index("head")
    if role == "hips" or role in anatomy.torso([role]) or role.split(".")[0] == "shoulder":
        return PARTS.index("torso")
    return -1


def _sole(figure, skin, points, name, own):
    """A point of the sole as Carried by the skin of its foot, nearer skin more than farther.

    What other bones carry along bends away from the point: only vertices count that its bone carries alone, or as
    nearly alone as there are enough of about it.
    """
    place = performer.place(points[name], figure.rest)[0]
    size = np.linalg.norm(place - performer.place(points[_other(name)], figure.rest)[0])
    off = skin.points[own] - place
    share = np.sum(skin.weights[own] * (skin.bones[own] == points[name].joint), axis=1)
    sets = [mask for mask in (share >= least for least in _ALONE) if mask.any()]
    for mask in sets:  # the last are all vertices of the foot: they carry it as well as it goes
        weights = _weights(off[mask], _EVEN + np.linalg.norm(off[mask], axis=1) / size)
        if np.linalg.norm(weights @ off[mask]) < _TRUE and np.abs(weights).max() < _HEAVY:
            break
    return Carried(own[mask], weights)


def _other(name):
    part, side = name.split(".")
    return f"{'ball' if part == 'heel' else 'heel'}.{side}"


def _weights(off, doubt):
    """Weights (V,) of sum 1 by which points at `off` (V, 3) from a place have it as their mean.

    Of all such weights they are those with the least sum of squares, each times the square of its point's `doubt` (V,).
    They keep the place where it belongs however the points turn together.
    """
    system = np.concatenate([off.T, np.ones((1, len(off)))]) / doubt
    return np.linalg.lstsq(system, np.array([0.0, 0.0, 0.0, 1.0]), rcond=1e-6)[0] / doubt


def _solid(prop):
    """The triangles (M, 3, 3) of a box or a mesh, None of another prop."""
    if prop.kind == "box":
        points, faces = mesh.box(prop)
        return points[faces]
    return np.add(prop.point, prop.points)[np.array(prop.faces)] if prop.kind == "mesh" else None


def _depths(probe, prop, solid, points):
    """How deep each of PARTS (P,) lies in a prop at most, metres; 0 outside.

    A cylinder has no ends here, a plane is solid behind its normal without an end. A part that a cylinder's axis runs
    through is as deep as its radius.
    """
    if solid is not None:
        return mesh.depths(points[probe.faces], probe.parts, len(PARTS), solid)
    out = np.zeros(len(PARTS))
    if prop.kind == "plane":
        behind = (np.array(prop.point) - points) @ np.array(prop.axis)
        np.maximum.at(out, probe.parts, behind[probe.faces].max(axis=1))
        return out
    near, distance = _near_axis(points, probe.faces, np.array(prop.point), np.array(prop.axis), prop.radius)
    np.maximum.at(out, probe.parts[near], prop.radius - distance)
    return out


def _near_axis(points, faces, point, axis, radius):
    """(which of the faces (T, 3) may be nearer to an axis than `radius`, their distances from it in metres).

    Along the axis nothing matters: seen so, the faces are triangles of a plane and the axis is a point of it.
    """
    first = rotation.normalize(np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))]))
    corners = ((points - point) @ np.stack([first, np.cross(axis, first)], axis=-1))[faces]  # (T, 3, 2)
    near = np.flatnonzero(((corners.min(axis=1) < radius) & (corners.max(axis=1) > -radius)).all(axis=1))
    return near, _from_origin(corners[near])


def _from_origin(triangles):
    """Distances (T,) of the origin from triangles (T, 3, 2) of a plane, 0 inside."""
    sides = np.roll(triangles, -1, axis=1) - triangles
    part = -np.sum(triangles * sides, axis=-1) / np.maximum(np.sum(sides * sides, axis=-1), 1e-18)
    foot = triangles + np.clip(part, 0.0, 1.0)[..., None] * sides
    distance = np.linalg.norm(foot, axis=-1).min(axis=1)
    turn = triangles[..., 0] * sides[..., 1] - triangles[..., 1] * sides[..., 0]  # which side of each edge it is on
    return np.where((turn > 0.0).all(axis=1) | (turn < 0.0).all(axis=1), 0.0, distance)
