"""Props as obstacles: how far skin has to be moved, and which way, to be outside of them.

Whatever a prop is, it is one or more things that tell the same: on which side of it a line is (`ways`), whether it is
near (`is_near`), and which places of skin have how far to go along a way to be out of it (`met`).
"""

from typing import NamedTuple

import numpy as np

from .. import rotation
from ..contacts.script import not_solid
from . import piece

MARGIN = 0.0015  # metres that skin keeps from a prop; what is stored is rounded
_NEAR = 0.03  # metres beyond which nothing is looked at


class Pole(NamedTuple):
    """An endless cylinder in the world."""

    name: str
    point: np.ndarray  # (3,) on the axis
    axis: np.ndarray  # (3,) unit
    radius: float

    def across(self, points):
        """Vectors (..., 3) from the axis to points, at a right angle to it."""
        off = points - self.point
        return off - np.sum(off * self.axis, axis=-1, keepdims=True) * self.axis

    def beside(self, start, end):
        """Vectors (F, 3) from the axis to the nearest point of segments from `start` to `end` (F, 3)."""
        a, b = self.across(start), self.across(end)
        way = b - a
        part = np.clip(-np.sum(a * way, axis=-1) / np.maximum(np.sum(way * way, axis=-1), 1e-12), 0.0, 1.0)
        return a + part[:, None] * way

    def ways(self, lines):
        """The way (F, 3) out to the side of some lines, pairs of ends (F, 3); nearer ones count for more."""
        ways = np.stack([self.beside(a, b) for a, b in lines])
        far = np.maximum(np.linalg.norm(ways, axis=-1, keepdims=True), 1e-3)
        return np.sum(ways / far ** 3, axis=0)

    def is_near(self, metres, start, end):
        """Which frames (F,) have segments from `start` to `end` (F, 3) no farther from its surface than some metres."""
        return rotation.norm(self.beside(start, end)) < self.radius + metres

    def met(self, skin, motion, way, gap, rows):
        """(which of the rows (N,), places (N, 3), metres (N,)): the places of the edges of a net.Net that have farthest
        to go along `way` (R, 3), square to the axis, to be outside of it by `gap` (R,).

        Along its axis a pole is a circle. Behind any point of a triangle, as seen along `way`, lies one of its edges,
        so that edges alone tell.
        """
        first = rotation.normalize(np.cross(self.axis, np.eye(3)[np.argmin(np.abs(self.axis))]))
        across = np.stack([first, np.cross(self.axis, first)])
        x, y = (skin.along(motion, axis, rows) - self.point @ axis for axis in across)
        u, v = (way @ across.T).T[..., None]
        ahead, aside = u * x + v * y, u * y - v * x
        clear = np.maximum(self.radius + gap, 0.0)
        seen = clear[:, None] + skin.longest
        at, edges = skin.edges_at((np.abs(aside) < seen) & (ahead < seen))
        ends = skin.ends[edges]
        part, needs = _deepest(aside[at[:, None], ends], ahead[at[:, None], ends], clear[at])
        inside = needs > 0.0
        at, edges, part, needs = at[inside], edges[inside], part[inside], needs[inside]
        return at, skin.on_edges(motion, rows[at], edges, part), needs


class Push(NamedTuple):
    """What it takes to bring skin out of a thing."""

    amount: np.ndarray  # (F,) metres along `way`, zero where nothing is inside
    place: np.ndarray  # (F, 3) the place that has farthest to go


def pole_of(prop):
    """The Pole of a script.Prop that is a cylinder."""
    return Pole(prop.name, np.array(prop.point), np.array(prop.axis), prop.radius)


def of(props):
    """The things (a list of Pole and piece.Piece) that the solid ones of some script.Props are."""
    return [thing for prop in props if not not_solid(prop)
            for thing in ([pole_of(prop)] if prop.kind == "cylinder" else piece.pieces_of(prop))]


def side_of(thing, lines, source, laid):
    """The way (F, 3) out of a thing that is `laid` out as this script.Prop, to the side on which some lines, pairs of
    ends (F, 3), are beside the Prop `source` that it was laid out from."""
    if laid.kind == "cylinder":
        return pole_of(source).ways(lines)
    return thing.ways(piece.carried(source, laid, lines))


def steady(ways, fps, seconds=0.1):
    """Unit directions (F, 3), smoothed a little in time; near ways count for less, as they tell less."""
    reach = max(int(3.0 * seconds * fps), 1)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / (seconds * fps)) ** 2)
    padded = np.concatenate([ways[:1].repeat(reach, axis=0), ways, ways[-1:].repeat(reach, axis=0)])
    return rotation.normalize(np.stack([np.convolve(padded[:, i], kernel, mode="valid") for i in range(3)], axis=-1))


def push(thing, skin, motion, way, near, gap, weigh=None):
    """The Push that brings a net.Net out of a thing along `way` (F, 3), unit and for a pole square to its axis, and to
    `gap` (F,) metres from its surface.

    Only frames that are `near` (F,) bool are looked at. All of the skin has to come to the side of the thing that `way`
    points to: what lies beyond it, as seen from there, has come through it. `weigh` (metres (N,), places (N, 3), frames
    (N,)) -> (N,) tells what has farthest to go, where that is not the metres themselves.
    """
    amount, place = np.zeros(len(way)), np.zeros((len(way), 3))
    listed = np.flatnonzero(near)
    for rows in np.array_split(listed, max(len(listed) * skin.count // 1_000_000, 1)):
        if not len(rows):
            continue
        at, places, needs = thing.met(skin, motion, way[rows], gap[rows], rows)
        if not len(at):
            continue
        far = needs if weigh is None else weigh(needs, places, rows[at])
        order = np.lexsort((far, at))  # the last of each frame has farthest to go
        last = order[np.flatnonzero(np.diff(at[order], append=-1))]
        amount[rows[at[last]]], place[rows[at[last]]] = needs[last], places[last]
    return Push(amount, place)


def is_near(thing, skin_radius, start, end):
    """Which frames (F,) have segments from `start` to `end` (F, 3) so near that skin about them can be in a thing."""
    return thing.is_near(skin_radius + _NEAR, start, end)


def _deepest(aside, ahead, radius):
    """(parts (N,) of the way along edges, metres (N,)): where an edge has farthest to go out of a circle, and how far.

    `aside` and `ahead` (N, 2) are its ends in the plane of the circle of `radius` (N,), which it leaves ahead.
    What is needed, a half chord of the circle less the place ahead, is concave along an edge: greatest where the
    circle's tangent is parallel to it, or at the end that is nearer to there. Zero where the edge passes the circle by.
    """
    side, forward = aside[:, 1] - aside[:, 0], ahead[:, 1] - ahead[:, 0]
    tangent = -radius * np.copysign(forward, forward * side) / np.maximum(np.hypot(side, forward), 1e-12)
    flat = np.abs(side) < 1e-12
    part = np.where(flat, forward < 0.0, np.clip((tangent - aside[:, 0]) / np.where(flat, 1.0, side), 0.0, 1.0))
    where = aside[:, 0] + part * side
    chord = np.sqrt(np.maximum(radius * radius - where * where, 0.0))
    return part, np.where(np.abs(where) < radius, chord - ahead[:, 0] - part * forward, 0.0)
