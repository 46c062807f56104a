"""How the take's world lies in the body's, and the contact script laid out there."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .. import transfer
from ..contacts import script


class Stage(NamedTuple):
    """How the take's world lies in the body's."""

    source_origin: np.ndarray  # (3,) the point that stands still but for the move to `body_origin`
    body_origin: np.ndarray  # (3,)
    horizontal: float
    vertical: float
    source_floor: float
    body_floor: float

    def place(self, points):
        """Points (..., 3) of the take's world in the body's."""
        out = np.array(points, float)
        out[..., :2] = self.body_origin[:2] + self.horizontal * (out[..., :2] - self.source_origin[:2])
        out[..., 2] = self.body_floor + self.vertical * (out[..., 2] - self.source_floor)
        return out

    def turn(self, direction):
        """(direction (3,) of the take's world in the body's, how many times longer it gets)."""
        out = np.asarray(direction, float) * (self.horizontal, self.horizontal, self.vertical)
        size = float(np.linalg.norm(out))
        return out / size, size

    def normal(self, direction):
        """A plane's normal (3,), unit, in the body's world."""
        out = np.asarray(direction, float) / (self.horizontal, self.horizontal, self.vertical)
        return out / np.linalg.norm(out)


def centred(plan, contacts):
    """A transfer.Plan whose way is scaled about the prop that is touched longest, so that this stays where it is.

    Without a touched prop the plan is returned as it is.
    """
    times = {prop.name: sum(c.end - c.start for c in script.active(contacts) if c.surface == prop.name)
             for prop in contacts.props}
    longest = max(times, key=times.get, default=None)
    if longest is None or times[longest] <= 0.0:
        return plan
    prop = next(prop for prop in contacts.props if prop.name == longest)
    heights = [h for c in script.active(contacts) if c.surface == longest for h in c.path.get("height", ())]
    point = np.array(prop.point) + (np.mean(heights) if heights else 0.0) * np.array(prop.axis)
    centre = np.append(point[:2], plan.source_origin[2])
    moved = np.append((plan.body_origin - plan.source_origin)[:2] + point[:2], plan.body_origin[2])
    return plan._replace(source_origin=centre, body_origin=moved)


def stage_of(plan, contacts, lowest):
    """The Stage of a transfer.Plan: heights count from the floors that both stand on.

    `lowest` is the height in metres of the body's soles in its rest.
    """
    source_floor = contacts.floor if contacts.floor is not None else float(plan.source_origin[2])
    if lowest is None:
        floor = plan.standing[1] - plan.scale[1] * (plan.standing[0] - source_floor)
    else:
        floor = plan.standing[1] - (transfer.straight_height(plan.body, plan.levers[1]) - lowest)
    return Stage(plan.source_origin, plan.body_origin, *plan.scale, source_floor, float(floor))


def laid_out(contacts, stage, prop_size=1.0):
    """The ContactScript in the body's world: props, floor, paths and licences where the body has to meet them.

    A pole stays as thick as it is, times `prop_size`: the body is another, the thing is the same. What hands lie on or
    a body sits on (boxes, meshes) goes with the world, so that places on it stay on it, and from its middle by
    `prop_size` besides. Paths on parts of the body are in the axes of bones, and stay.
    """
    props = [_laid(prop, stage, prop_size) for prop in contacts.props]
    longer = {prop.name: stage.turn(prop.axis)[1] for prop in contacts.props}
    floor = stage.body_floor if contacts.floor is not None else None
    return replace(contacts, props=tuple(props), floor=floor,
                   contacts=tuple(_moved(c, stage, longer) for c in contacts.contacts))


def _laid(prop, stage, prop_size):
    """A Prop in the body's world. A box stays one, which takes an upright one where the scale of heights differs."""
    axes = prop.axes
    size = tuple(prop_size * stage.turn(axis)[1] * s for axis, s in zip(axes, prop.size))
    points = stage.place(np.array(prop.point) + np.array(prop.points).reshape(-1, 3)) - stage.place(prop.point)
    axis = stage.normal(prop.axis) if prop.kind == "plane" else stage.turn(prop.axis)[0]
    return replace(prop, point=tuple(stage.place(prop.point)), axis=tuple(axis), radius=prop_size * prop.radius,
                   size=size, points=tuple(map(tuple, prop_size * points)),
                   across=tuple(stage.turn(axes[0])[0]) if prop.kind == "box" else ())


def _moved(contact, stage, longer):
    path, licence = dict(contact.path), dict(contact.licence)
    if contact.surface in longer and "height" in path:
        size = longer[contact.surface]
        path["height"] = [size * h for h in path["height"]]
        for name in ("height", "slide"):
            if name in licence:
                licence[name] = [size * value for value in licence[name]]
    elif (contact.surface == "floor" or contact.surface in longer) and "x" in path:
        placed = stage.place(np.stack([path[axis] for axis in "xyz"], axis=-1).reshape(-1, 3))
        path.update(zip("xyz", placed.T.tolist()))
    return replace(contact, path=path, licence=licence)
