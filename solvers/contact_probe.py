"""What is looked at on a body's skin, frame by frame, to tell how it keeps its contacts.

Everything is picked once on the skin at rest, as vertices that stay the same; `look` then reduces one frame of them to
a few numbers. The sole stands where its heel or ball is, a point that vertices about it carry with fixed weights; so is
the middle of a palm. Props and palms are met by faces, not by vertices alone, so that coarse and dense meshes of one
shape give the same depth and distance.
"""

from typing import NamedTuple

import numpy as np

from . import anatomy, mesh, rotation
from .anatomy import FINGERS, SIDES
from .contacts import performer, script
from .fit import flesh
from .fit.carried import carried, soles

PARTS = ("torso", "head", *(f"{part}.{side}" for part in ("thigh", "shin", "upper_arm", "forearm") for side in SIDES))

REACH = 0.05  # metres around a palm in which the skin of the body is looked for


class Probe(NamedTuple):
    """What to look at on a body's skin."""

    count: int  # N vertices of the skin
    body: np.ndarray  # (B,) vertices of the body by their roles; what bones carry beside it (armour, tools) is left out
    starts: np.ndarray  # (R,) where in `body` those of each role start
    roles: list  # R roles that have skin
    feet: dict  # side -> (V,) vertices of foot and toes
    soles: dict  # "heel.L", "ball.L", ... -> carried.Carried
    palms: dict  # side -> carried.Carried
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
    palms: np.ndarray  # (palms, PARTS) how far a part's surface is from the middle of a palm, REACH at most


def probe(figure, skin, props=()):
    """The Probe of a Figure whose Skin stands at rest."""
    own, roles = flesh.owners(figure, skin)
    body = np.argsort(own, kind="stable")[np.sum(own < 0):]
    shown, starts = np.unique(own[body], return_index=True)
    points = flesh.soles(figure, skin).points
    feet = {side: np.flatnonzero(_are(own, roles, (f"foot.{side}", f"toe.{side}"))) for side in SIDES}
    stood = {f"{part}.{side}": point for side, found in feet.items() if len(found) and f"heel.{side}" in points
             for part, point in soles(figure, skin, points, side, found).items()}
    part_of = np.array([PARTS.index(part(role)) if part(role) else -1 for role in roles] + [-1])[own]  # (N,)
    faces = skin.faces[(part_of[skin.faces] >= 0).all(axis=1)]
    feet = {side: found for side, found in feet.items() if len(found)}
    props = tuple(prop for prop in props if not script.not_solid(prop))
    return Probe(len(own), body, starts, [roles[i] for i in shown], feet, stood,
                 _palms(figure, skin, own, roles), faces, part_of[faces[:, 0]], props,
                 tuple(_solid(prop) for prop in props))


def look(probe, points):
    """One frame, as Seen, of all vertices (N, 3) of the skin."""
    heights = points[:, 2]
    return Seen(np.minimum.reduceat(heights[probe.body], probe.starts) if len(probe.body) else np.empty(0),
                np.array([heights[found].min() for found in probe.feet.values()]),
                np.array([one.weights @ points[one.vertices] for one in probe.soles.values()]).reshape(-1, 3),
                np.array([_depths(probe, prop, solid, points) for prop, solid in zip(probe.props, probe.solids)]
                         ).reshape(-1, len(PARTS)),
                _distances(probe, points))


def _are(own, roles, wanted):
    return np.isin(own, [roles.index(role) for role in wanted if role in roles])


def _palms(figure, skin, own, roles):
    """side -> Carried of the palms whose hands have skin."""
    out = {}
    for side, palm in flesh.palms(figure, skin)[0].items():
        hand = np.flatnonzero(_are(own, roles, (f"hand.{side}", *(f"{finger}.{n}.{side}" for finger in FINGERS
                                                                  for n in range(4)))))
        if len(hand):
            out[side] = carried(skin, hand, performer.place(palm, figure.rest)[0], palm.joint,
                                np.linalg.norm(palm.offset))
    return out


def part(role):
    """The one of PARTS that a role's skin counts for, None for hands and feet."""
    if role in PARTS:
        return role
    if role in ("jaw", "eye.L", "eye.R") or role in anatomy.neck([role]):
        return "head"
    if role == "hips" or role in anatomy.torso([role]) or role.split(".")[0] == "shoulder":
        return "torso"
    return None


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


def _distances(probe, points):
    """How far the surface of each of PARTS (P,) is from the middles of the palms, metres (palms, P), REACH at most."""
    out = np.full((len(probe.palms), len(PARTS)), REACH)
    for k, palm in enumerate(probe.palms.values()):
        off = points - palm.weights @ points[palm.vertices]
        near = _about(off, probe.faces)
        np.minimum.at(out[k], probe.parts[near], mesh.distances(np.zeros((len(near), 3)), off[probe.faces[near]])[0])
    return out


def _about(points, faces):
    """Which of the faces (T, 3) of points (N, 3) have a box that comes within REACH of the origin's coordinates."""
    near = np.arange(len(faces))
    for values in points.T:  # few are left after the first, and far less is gathered than all corners
        a, b, c = values[faces[near].T]
        near = near[(np.minimum(np.minimum(a, b), c) < REACH) & (np.maximum(np.maximum(a, b), c) > -REACH)]
    return near
