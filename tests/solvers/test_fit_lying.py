"""Knees, backs and forearms that lie on the floor: a body of tubes a few centimetres over it, as a thinner one is."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from test_fit_ground import _FPS, _HELD, Scene

from foothold.solvers import rotation
from foothold.solvers.contacts.script import Contact
from foothold.solvers.fit.fit import fit

_OVER = 0.03  # metres that the lowest is over the floor, where it should lie on it
_ROWS = slice(_HELD[0], _HELD[1] + 1)
# who lies on what: the pose, its contacts' effectors, and the roles whose skin then touches
_LIES = {"sitting": (("thigh.L", "thigh.R"), ("thigh.L", "thigh.R")),
         "lying": (("back",), ("hips", "chest")),
         "on a knee": (("knee.L",), ("shin.L", "thigh.L"))}


@cache
def laid(name, stands):
    """(Scene, Fitted without the contacts, Fitted with them, the body's motion in each)."""
    scene = Scene(name)
    effectors, roles = _LIES[name]
    low = scene.lowest(scene.before)[_ROWS].min()
    up = np.array([0.0, 0.0, _OVER - low])
    motion = scene.motion._replace(positions=scene.motion.positions + up)
    span = tuple(frame / _FPS for frame in _HELD)
    lying = tuple(Contact(e, e, "floor", "rest-on", *span) for e in effectors)
    script = replace(scene.script, contacts=scene.script.contacts if stands else ())
    out = [fit(scene.body, replace(script, contacts=script.contacts + more), motion, scene.palms, _FPS)
           for more in ((), lying)]
    return scene, *out, *(scene.played(one.pose) for one in out)


def gaps(scene, motion, roles):
    """Heights (T,) of the lowest skin of some roles while they should lie."""
    return scene.lowest(motion, roles)[_ROWS]


_ALL = pytest.mark.parametrize("name, stands", [*((name, False) for name in _LIES), ("on a knee", True)])


@_ALL
def test_what_lies_on_the_floor_touches_it(name, stands):
    scene, _, out, was, motion = laid(name, stands)
    assert gaps(scene, was, _LIES[name][1]).min() > 0.5 * _OVER
    low = gaps(scene, motion, _LIES[name][1])
    assert low.max() < 2e-3 and scene.lowest(motion).min() > -5e-5 and not out.left, np.round(1e3 * low, 1)
    assert not [miss for miss in out.misses if miss.millimetres > 2.0]


@_ALL
def test_nothing_jerks_on_the_way_down(name, stands):
    scene, _, out, was, motion = laid(name, stands)
    for turns, hers in zip(motion.rotations.transpose(1, 0, 2), was.rotations.transpose(1, 0, 2)):
        steps, own = (np.degrees(rotation.angle(q[1:], q[:-1])).max() for q in (turns, hers))
        assert steps < own + 8.0
    assert np.linalg.norm(np.diff(out.offset, n=2, axis=0), axis=-1).max() * _FPS ** 2 < 3.0  # m/s2


def test_who_stands_meanwhile_stays():
    scene, _, out, _, motion = laid("on a knee", True)
    places = scene.sole(motion)
    assert np.abs(places - places[0]).max() < 1e-6 and np.abs(places[..., 2].min(axis=1)).max() < 1e-6


def test_what_cannot_come_down_is_told():
    """An elbow under a shoulder that nothing brings lower."""
    scene = Scene("on an elbow")
    span = tuple(frame / _FPS for frame in _HELD)
    up = scene.motion._replace(positions=scene.motion.positions + [0.0, 0.0, 0.1])
    contact = Contact("e", "elbow.L", "floor", "rest-on", *span)
    out = fit(scene.body, replace(scene.script, contacts=(contact,)), up, scene.palms, _FPS)
    low = gaps(scene, scene.played(out.pose), ("upper_arm.L", "forearm.L"))
    (miss,) = out.misses
    assert low.min() > 0.05
    assert (miss.contact, miss.millimetres) == ("e", pytest.approx(1e3 * low.max(), abs=0.1))
