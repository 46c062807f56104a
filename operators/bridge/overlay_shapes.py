"""What is drawn of a contact script, as plain geometry: bars over time, marks in space. Nothing here draws."""

from typing import NamedTuple

import numpy as np

from ...solvers import mesh
from ...solvers.contacts.script import BODY_PARTS, EFFECTORS
from ...solvers.fit import hands

BAR, GAP = 15.0, 2.0  # pixels of a row of bars and between two, at scale 1
TOP, BOTTOM = 28.0, 22.0  # pixels that belong to the frame numbers and to the scroll bar
_LEAST = 3.0  # pixels; a bar or row that were thinner could be neither seen nor hit
_DOT = 7.0  # pixels around a mark that count as hitting it
_SAMPLES = 33  # points of a ring or an arc
_UPRIGHT = 0.7  # of an axis that goes down to the floor
_BEYOND = 0.3  # metres that a pole is drawn beyond its highest and lowest grip
_SPAN = (0.0, 2.0)  # metres of a pole that nobody holds

# Which roles' joints an effector lies between, and which role's bone a part of the body is.
_JOINTS = {"hand": ("hand",), "foot": ("foot",), "knee": ("shin",), "shin": ("shin", "foot"),
           "thigh": ("thigh", "shin"), "elbow": ("forearm",), "forearm": ("forearm", "hand"),
           "pelvis": ("hips",), "back": ("chest",), "head": ("head",)}
_PARTS = {"knee": "shin", "belly": "spine"}


class View(NamedTuple):
    """A region that shows time from left to right."""

    first: float  # frame at its left edge
    last: float  # frame at its right edge
    width: float  # pixels
    height: float
    scale: float = 1.0  # of the interface

    def x(self, frame):
        """The pixel of a frame."""
        return (frame - self.first) * self.width / (self.last - self.first)


class Lane(NamedTuple):
    """The rows of one effector."""

    effector: str
    low: float  # pixels
    high: float


class Bar(NamedTuple):
    """One contact as a rectangle in pixels; from `near` to `left` it comes, from `right` to `far` it goes."""

    ident: str
    kind: str
    mute: bool
    near: float
    left: float
    right: float
    far: float
    low: float
    high: float


class Mark(NamedTuple):
    """One contact at one time, in the world."""

    ident: str
    kind: str
    strength: float  # 1 while it touches, less while it comes or goes
    effector: object  # (3,) or None
    surface: object  # (3,) or None
    lines: tuple  # of (N, 3): what its licence lets it be, and the prop's ring at it


# Bars

def rows(script):
    """effector -> list of rows, each a list of contacts that do not overlap; only effectors that touch, in order."""
    out = {}
    for effector in EFFECTORS:
        for contact in (c for c in script.contacts if c.effector == effector):
            lane = out.setdefault(effector, [])
            free = next((row for row in lane if row[-1].end <= contact.start), None)
            if free is None:
                lane.append([contact])
            else:
                free.append(contact)
    return out


def layout(script, clock, view):
    """(lanes, bars) of a script in a View: the first effector on top, all of them above the lower edge.

    Bars outside the view are left out. Where the view is too low for rows of full height, they are thinner.
    """
    lanes, bars = [], []
    table = rows(script)
    count = sum(map(len, table.values()))
    room = view.height - (TOP + BOTTOM) * view.scale
    if not count or view.last <= view.first or room < count * _LEAST:
        return lanes, bars
    pitch = min(BAR * view.scale, room / count)
    gap = min(GAP * view.scale, 0.3 * pitch)
    high = BOTTOM * view.scale + count * pitch
    for effector, lane in table.items():
        lanes.append(Lane(effector, high - pitch * len(lane), high))
        for row in lane:
            for contact in row:
                bar = _bar(contact, clock, view, high - pitch + gap, high)
                if bar.far >= 0.0 and bar.near <= view.width:
                    bars.append(bar)
            high -= pitch
    return lanes, bars


def _bar(contact, clock, view, low, high):
    near, left, right, far = (view.x(clock.frame(t)) for t in (
        contact.start - contact.approach, contact.start, contact.end, contact.end + contact.release))
    if right - left < _LEAST:
        middle = 0.5 * (left + right)
        left, right = middle - 0.5 * _LEAST, middle + 0.5 * _LEAST
    return Bar(contact.id, contact.kind, contact.mute, min(near, left), left, right, max(far, right), low, high)


def hit(bars, x, y):
    """The id of the bar at a pixel, "" where there is none; of two the one whose middle is nearer."""
    found = [b for b in bars if b.left <= x <= b.right and b.low <= y <= b.high]
    return min(found, key=lambda b: abs(x - 0.5 * (b.left + b.right))).ident if found else ""


# Marks

def on_cylinder(prop, height, azimuth, gap=0.0):
    """Points (N, 3) on a cylinder at heights along its axis and azimuths in degrees, `gap` metres off its surface."""
    height, azimuth, gap = (part.ravel() for part in np.broadcast_arrays(height, azimuth, gap))
    middle, normal = hands.on_cylinder(prop, height, azimuth)
    return middle + (prop.radius + gap)[:, None] * normal


def path_at(contact, time):
    """The contact's path at a time as {column: value}; {} where it has none."""
    path = contact.path
    times = path.get("time")
    if not times:
        return {key: column[0] for key, column in path.items() if column and key != "time"}
    return {key: float(np.interp(time, times, column)) for key, column in path.items() if key != "time"}


def span(script, prop):
    """(lowest, highest) height in metres along a cylinder's axis that is worth showing: what is touched, and from there
    to the floor where the axis goes down to it."""
    held = [h for c in script.contacts if c.surface == prop.name for h in c.path.get("height", ())]
    low, high = (min(held) - _BEYOND, max(held) + _BEYOND) if held else _SPAN
    if script.floor is not None and abs(prop.axis[2]) > _UPRIGHT:
        foot = (script.floor - prop.point[2]) / prop.axis[2]
        low, high = min(low, foot), max(high, foot)
    return low, high


def box_corners(prop):
    """The corners (8, 3) of a box: first its lower face around, then its upper one."""
    return mesh.box(prop)[0][[0, 4, 6, 2, 1, 5, 7, 3]]


def prop_lines(script, prop):
    """Lines, (N, 3) each, that show a prop: a pole's axis and its rings, a box's edges, a square of a plane."""
    if prop.kind == "cylinder":
        low, high = span(script, prop)
        around = np.linspace(0.0, 360.0, _SAMPLES)
        axis = np.asarray(prop.point) + np.outer([low, high], prop.axis)
        return [axis, on_cylinder(prop, low, around), on_cylinder(prop, high, around)]
    if prop.kind == "mesh":
        return []  # its object is there to be seen
    if prop.kind == "plane":
        square = np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0), (-1, -1, 0)], float)
        return [np.asarray(prop.point) + square @ np.array(prop.axes)]
    low, high = np.split(box_corners(prop), 2)
    return [rim[[0, 1, 2, 3, 0]] for rim in (low, high)] + [np.stack(edge) for edge in zip(low, high)]


def marks(script, time, joints, bones):
    """The Marks of all contacts that count at a time, those that come and go included.

    `joints` role -> (3,) and `bones` role -> (4, 4) are the performer's at that time, in the world.
    """
    out = []
    for contact in script.contacts:
        if contact.mute:
            continue
        strength = _strength(contact, time)
        if strength > 0.0:
            out.append(_mark(script, contact, min(max(time, contact.start), contact.end), strength, joints, bones))
    return out


def _strength(contact, time):
    """1 while a contact touches, falling to 0 over its approach and its release."""
    if time < contact.start:
        return max(1.0 - (contact.start - time) / contact.approach, 0.0) if contact.approach > 0.0 else 0.0
    if time > contact.end + 1e-4:
        return max(1.0 - (time - contact.end) / contact.release, 0.0) if contact.release > 0.0 else 0.0
    return 1.0


def effector_point(effector, joints):
    """Where an effector is, (3,), or None where a joint of it has no bone."""
    part, _, side = effector.partition(".")
    names = [f"{role}.{side}" if side else role for role in _JOINTS[part]]
    if not all(name in joints for name in names):
        return None
    return np.mean([joints[name] for name in names], axis=0)


def _mark(script, contact, time, strength, joints, bones):
    at, start = path_at(contact, time), path_at(contact, contact.start)
    effector = effector_point(contact.effector, joints)
    prop = next((p for p in script.props if p.name == contact.surface), None)
    surface, lines = None, []
    if prop is not None and "height" in at:
        surface = on_cylinder(prop, at["height"], at.get("azimuth", 0.0), at.get("gap", 0.0))[0]
        lines = [on_cylinder(prop, at["height"], np.linspace(0.0, 360.0, _SAMPLES)),
                 *_range_on_cylinder(prop, contact.licence, start, at)]
    elif all(axis in at for axis in "xyz"):
        surface = np.array([at["x"], at["y"], at["z"]])
        if contact.surface in BODY_PARTS:
            part, _, side = contact.surface.partition(".")
            role = _PARTS.get(part, part) + (f".{side}" if side else "")
            surface = bones[role][:3, :3] @ surface + bones[role][:3, 3] if role in bones else None
        slide = max((abs(v) for v in contact.licence.get("slide", ())), default=0.0)
        if surface is not None and slide > 0.0:
            around = np.radians(np.linspace(0.0, 360.0, _SAMPLES))
            lines = [surface + slide * np.stack([np.cos(around), np.sin(around), 0.0 * around], axis=-1)]
    elif contact.surface == "floor" and script.floor is not None and effector is not None:
        surface = np.array([*effector[:2], script.floor])
    return Mark(contact.id, contact.kind, strength, effector, surface, tuple(lines))


def _range_on_cylinder(prop, licence, start, at):
    """The heights and the azimuths that a licence allows; both count from the start of the path."""
    lines = []
    if "height" in licence:
        lines.append(on_cylinder(prop, start["height"] + np.array(licence["height"]), at.get("azimuth", 0.0)))
    if "azimuth" in licence and "azimuth" in start:
        low, high = (start["azimuth"] + v for v in licence["azimuth"])
        lines.append(on_cylinder(prop, at["height"], np.linspace(low, high, _SAMPLES), 0.5 * prop.radius))
    return lines


def project(matrix, points, width, height):
    """(pixels (N, 2), seen (N,)) of world points (N, 3); those behind the eye are not seen."""
    points = np.asarray(points, float).reshape(-1, 3)
    shown = np.concatenate([points, np.ones((len(points), 1))], axis=1) @ np.asarray(matrix, float).T
    seen = shown[:, 3] > 1e-6
    depth = np.where(seen, shown[:, 3], 1.0)[:, None]
    return (0.5 + 0.5 * shown[:, :2] / depth) * (width, height), seen


def hit_mark(found, matrix, width, height, x, y, scale=1.0):
    """The id of the Mark whose dot or surface point lies at a pixel, the nearest one; "" where there is none."""
    best, ident = _DOT * scale, ""
    for mark in found:
        for point in (mark.effector, mark.surface):
            if point is None:
                continue
            pixels, seen = project(matrix, point, width, height)
            off = float(np.hypot(pixels[0, 0] - x, pixels[0, 1] - y))
            if seen[0] and off < best:
                best, ident = off, mark.ident
    return ident
