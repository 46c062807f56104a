"""Hands that hold a prop, lie on the floor, hold each other, or lie on the body: how they turn and where they go."""

import numpy as np

from .. import rotation
from ..anatomy import SIDES
from . import ease
from .demand import Demand, rows_of

_GOES_ON = 0.15  # of that time, that a turn which changes at its end goes on changing
_AWAY = np.radians((90.0, 150.0))  # off what it holds, between which a palm comes to roll about the hand
_PLAY, _EASY = 13.0, 0.2  # degrees to each side, and seconds, in which a grip does not turn about its pole
_HALVINGS = 45  # of an error, until it is as small as rounding
_FADE = 0.5  # seconds in which a hand at least turns to what it holds, and back


def on_cylinder(prop, height, azimuth):
    """(places (T, 3) on the axis, unit normals (T, 3)) at heights and azimuths (degrees), as a script counts them."""
    first, second, axis = np.array(prop.axes)
    angle = np.radians(azimuth)[:, None]
    return (np.array(prop.point) + height[:, None] * axis,
            np.cos(angle) * first + np.sin(angle) * second)


def column(contact, name, times):
    """One column (T,) of a contact's path at some times: the cubic spline through its samples."""
    at, first = np.unique(contact.path["time"], return_index=True)
    values = np.array(contact.path[name])[first]
    if len(at) < 2:
        return np.full(len(times), values[0])
    slope = _slopes(values, at)
    k = np.clip(np.searchsorted(at, times, side="right") - 1, 0, len(at) - 2)
    step = at[k + 1] - at[k]
    u = np.clip((times - at[k]) / step, 0.0, 1.0)
    return ((1.0 + 2.0 * u) * (1.0 - u) ** 2 * values[k] + u * (1.0 - u) ** 2 * step * slope[k]
            + u * u * (3.0 - 2.0 * u) * values[k + 1] + u * u * (u - 1.0) * step * slope[k + 1])


def _slopes(values, at):
    """The slopes (N,) of the cubic spline through N >= 2 samples at times `at`, given those of the parabolas at its
    ends: with them the second derivative has no jump at a sample (de Boor 1978).

    The system is so diagonal that simple iteration (Jacobi's) halves the error each time.
    """
    slope = np.gradient(values, at, edge_order=min(2, len(at) - 1))
    step, rise = np.diff(at), np.diff(values) / np.diff(at)
    before, after = step[:-1], step[1:]
    wanted = 3.0 * (after * rise[:-1] + before * rise[1:])
    for _ in range(_HALVINGS):
        slope[1:-1] = (wanted - after * slope[:-2] - before * slope[2:]) / (2.0 * (before + after))
    return slope


def touches(contact, props, floor, rows, fps):
    """(places (T, 3) of a palm, normals (T, 3) of what it lies on or None) of a contact with a prop or the floor."""
    times = np.arange(rows.start, rows.stop) / fps
    prop = props.get(contact.surface)
    if prop is not None and prop.kind == "cylinder" and "height" in contact.path:
        azimuth = ease.slackened(column(contact, "azimuth", times), _PLAY, _EASY * fps)
        middle, normal = on_cylinder(prop, column(contact, "height", times), azimuth)
        return middle + prop.radius * normal, normal
    places = np.stack([column(contact, axis, times) for axis in "xyz"], axis=-1)
    if contact.surface == "floor":
        places[:, 2] = floor
        return places, np.broadcast_to([0.0, 0.0, 1.0], places.shape)
    return places, None


def absolute(script, frames, fps, side):
    """The contacts of a side's hand that count and whose place does not depend on the body, with their rows."""
    names = {prop.name for prop in script.props}
    return [(c, rows_of(c, frames, fps)) for c in script.contacts
            if not c.mute and c.effector == f"hand.{side}" and c.path.get("time")
            and (c.surface in names or c.surface == "floor" and script.floor is not None)]


def sense(prop, normals, hand, palm):
    """1 where turns about the normals (T, 3) of a cylinder lead a hand (T, 4) away from the way of its axis, or -1."""
    along = rotation.rotate(hand, palm.along)
    return -1.0 if np.median(rotation.cross(normals, along) @ np.array(prop.axis)) > 0.0 else 1.0


def oriented(palm, hand, faced, fps, tilts=()):
    """World rotations (F, 4) of a hand whose palm faces what it touches; `hand` (F, 4) is the transferred one.

    `faced` is a list of (Contact, rows, normals (T, 3) of what is touched or None). Turned by the shortest way, so that
    the fingers keep the slant at which the performer's lie; but for `tilts`, contact id -> (radians, Prop),
    by which a hand lies farther from the way of a cylinder's axis.
    """
    frames = len(hand)
    change, mask = np.zeros((frames, 3)), np.zeros(frames, bool)
    coming, going = np.zeros(frames), np.zeros(frames)
    for contact, rows, normal in faced:
        if normal is None:
            continue
        facing = _facing(palm, hand[rows], -normal)
        if contact.id in tilts:
            angle, prop = tilts[contact.id]
            angle *= sense(prop, normal, rotation.mul(facing, hand[rows]), palm)
            facing = rotation.mul(rotation.exp(angle * normal), facing)
        change[rows] = rotation.log(facing)
        mask[rows] = True
        coming[rows.start] = max(contact.approach, _FADE) * fps
        going[rows.stop - 1] = max(contact.release, _FADE) * fps
    return rotation.mul(rotation.exp(ease.spread(change, mask, coming, going, _GOES_ON)), hand) if mask.any() else hand


def _facing(palm, hand, way):
    """World rotations (T, 4) that turn a hand (T, 4) for its palm to face `way` (T, 3).

    By the shortest way; a palm that faces away has none, and rolls about the hand first, one way round throughout.
    """
    along, out = rotation.rotate(hand, palm.along), rotation.rotate(hand, palm.out)
    roll = np.unwrap(np.arctan2(rotation.dot(way, rotation.cross(along, out)), rotation.dot(way, out)))
    part = ease.smoothstep((rotation.vector_angle(out, way) - _AWAY[0]) / (_AWAY[1] - _AWAY[0]))
    rolled = rotation.exp((part * roll)[:, None] * along)
    return rotation.mul(rotation.between(rotation.rotate(rolled, out), way), rolled)


def demands(palm, side, wrist, hand, held, props, floor, fps):
    """Demands of a hand that holds something: the wrist, for the palm's middle to lie on the surface.

    `wrist` (F, 3) is the transferred one: a hand that slides over the floor goes along as it does by itself.
    """
    out = []
    for contact, rows in held:
        lever = rotation.rotate(hand[rows], palm.offset)
        places, _ = touches(contact, props, floor, rows, fps)
        if contact.kind == "rest-on" and contact.surface == "floor":
            places[:, :2] = (wrist[rows] + lever)[:, :2]
        out.append(Demand(contact, f"hand.{side}", rows.start, rows.stop - 1, places - lever))
    return out


# What goes with the body

def clasps(script, wrists, hands, palms, source_palms, size, fps):
    """Demands of hands that hold each other: the palms keep the way from one to the other that the performer's have.

    `wrists` and `hands` (side -> (F, 3) and (F, 4)) are as they are, `source_palms` side -> (F, 3) the performer's, and
    `size` the body's hands against hers. Both come towards each other by the same way.
    """
    out = []
    for contact in script.contacts:
        sides = contact.effector[-1], contact.surface[-1]
        if contact.mute or contact.kind != "clasp" or set(sides) != set(SIDES) or not set(sides) <= set(palms):
            continue
        rows = rows_of(contact, len(wrists[sides[0]]), fps)
        levers = [rotation.rotate(hands[s][rows], palms[s].offset) for s in sides]
        apart = size * (source_palms[sides[0]][rows] - source_palms[sides[1]][rows])
        middle = 0.5 * sum(wrists[s][rows] + lever for s, lever in zip(sides, levers))
        for s, sign, lever in zip(sides, (0.5, -0.5), levers):
            out.append(Demand(contact, f"hand.{s}", rows.start, rows.stop - 1, middle + sign * apart - lever))
    return out


def hand_size(source, body):
    """The body's forearms against the performer's: hands go with their size."""
    lengths = []
    for figure in (source, body):
        pose = figure.rest.positions[0]
        lengths.append(np.mean([np.linalg.norm(pose[figure.roles[f"hand.{s}"]] - pose[figure.roles[f"forearm.{s}"]])
                                for s in SIDES if f"hand.{s}" in figure.roles and f"forearm.{s}" in figure.roles]))
    return float(lengths[1] / lengths[0])
