"""A body of tubes that sways against a pole and back: each part in turn is inside by a known depth, led or free.

Its joints are the performer's, who is as thin as a line: what is inside is the body's flesh.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from bodies import THICK, flesh_of, skinned
from figures import build, layout

from foothold.solvers import rotation, transfer
from foothold.solvers.contacts import performer
from foothold.solvers.contacts.script import Contact, ContactScript, Part, Prop
from foothold.solvers.fit.body import body_of
from foothold.solvers.fit.fit import fit
from foothold.solvers.skeleton import forward, identity_channels

_FPS, _FRAMES = 20.0, 61
_RADIUS = 0.025  # metres, of the pole
_TOUCHES = (25, 35)  # frames in which hands and feet are led
_X, _Y, _Z = np.eye(3)
# part: (which way the pole lies from it, the pole's axis)
_PARTS = {"hips": (_Y, _Z), "thigh": (_X, _Z), "shin": (_X, _Y), "upper_arm": (_X, _Y), "forearm": (_X, _Z)}


def posed(figure, sway, up=False):
    """World Motion of a figure that sways by `sway` (F, 3), its knees bent, its upper arms hanging and its forearms
    ahead, or else its hands `up` behind its head."""
    arm = -1.0 if up else 1.0
    channels = identity_channels(len(figure.skeleton.names), len(sway))
    channels.location[:, figure.roles["hips"]] = sway
    for side, sign in (("L", 1.0), ("R", -1.0)):
        pose = {"upper_arm": (0.0, 85.0 * sign * arm, 0.0), "forearm": (0.0, 0.0, -90.0 * sign * arm),
                "thigh": (-60.0, 0.0, 0.0), "shin": (100.0, 0.0, 0.0), "foot": (-40.0, 0.0, 0.0)}
        for role, turn in pose.items():
            channels.rotation[:, figure.roles[f"{role}.{side}"]] = rotation.exp(np.radians(turn))
    return forward(figure.skeleton, channels)


def sway_of(way, seconds):
    """From 30 cm away to the place and back (F, 3) in so many seconds each: against `way` at both ends."""
    time = np.arange(_FRAMES) / _FPS
    part = np.clip(np.minimum(time, time[-1] - time) / seconds, 0.0, 1.0)
    away = 1.0 - part ** 3 * (10.0 - part * (15.0 - 6.0 * part))
    return -0.3 * away[:, None] * np.asarray(way)


class Scene:
    """A performer, a body, and a pole that is `depth` metres deep in the body's part while it is nearest."""

    def __init__(self, part, depth, led, wider=0.0, seconds=1.1):
        """`led` are the limbs that hold or stand; `wider` metres are the body's shoulders broader than hers; `seconds`
        she takes to come near."""
        parts = layout()
        for side, sign in (("L", 1.0), ("R", -1.0)):
            parts[f"upper_arm.{side}"] = (f"shoulder.{side}", (sign * (0.14 + wider), 0.01, 0.02))
        source, figure = build(), build(parts, seed=4)
        self.away, axis = _PARTS[part]
        sway = sway_of(self.away, seconds)
        ankle = posed(source, sway).positions[0, source.roles["foot.L"], 2]
        self.motion = posed(source, sway + (0.09 - ankle) * _Z, up=part == "thigh")
        self.plan = transfer.plan(source, figure, identity_channels(len(figure.skeleton.names)), 0.09)
        self.skin = flesh_of(figure)
        self.body, self.figure, self.led = body_of(self.plan, self.skin), figure, led
        self.raw = transfer.world_pose(self.plan, self.motion)[0]
        self.before = self.played(self.plan, self.raw)
        self.pole = Prop("pole", point=tuple(self.middle(part) + (THICK[part] + _RADIUS - depth) * self.away),
                         axis=tuple(axis), radius=_RADIUS)
        self.palms = {s: performer.place(p, self.motion) for s, p in performer.palms(source).items()}
        self.script = ContactScript(_FPS, _FRAMES, (self.pole, Prop("ledge", "box")),
                                    tuple(self.contact(limb) for limb in led), 0.0)

    def middle(self, part):
        """World place (3,) amid a part of the left side while it is nearest."""
        ends = {"hips": ("hips", "chest"), "thigh": ("thigh.L", "shin.L"), "shin": ("shin.L", "foot.L"),
                "upper_arm": ("upper_arm.L", "forearm.L"), "forearm": ("forearm.L", "hand.L")}[part]
        a, b = (self.before.positions[_FRAMES // 2, self.figure.roles[role]] for role in ends)
        return a + (0.65 if part in ("thigh", "upper_arm") else 0.5) * (b - a)

    def contact(self, limb):
        """The limb stands on the floor, or holds the ledge where hers is, while all is nearest."""
        times = np.arange(_TOUCHES[0], _TOUCHES[1] + 1) / _FPS
        span = float(times[0]), float(times[-1])
        if limb.startswith("foot"):
            return Contact(limb, limb, "floor", "plant", *span, parts=(Part("heel", *span), Part("ball", *span)))
        path = self.palms[limb[-1]][_TOUCHES[0]:_TOUCHES[1] + 1]
        return Contact(limb, limb, "ledge", "grip", *span, priority=3.0,
                       path={"time": times.tolist(), **dict(zip("xyz", path.T.tolist()))})

    def played(self, plan, pose):
        """The body's world Motion in a pose of a plan."""
        return transfer.played(plan.body, plan.held, transfer.keys(plan, pose, self.motion)[0])

    def fit(self, **of_script):
        """(Fitted, the body's motion)."""
        out = fit(self.body, replace(self.script, **of_script), self.motion, self.palms, _FPS)
        return out, self.played(out.plan, out.pose)

    def inside(self, motion):
        """How deep (F, N) each vertex but those of hands and feet lies in the pole, below zero outside."""
        ends = [j for j, name in enumerate(self.figure.skeleton.names) if name.split(".")[0] in ("hand", "foot", "toe")]
        off = skinned(self.body.bound, self.skin, motion) - self.pole.point
        axis = np.array(self.pole.axis)
        far = np.linalg.norm(off - (off @ axis)[..., None] * axis, axis=-1)
        return np.where(np.isin(self.skin.bones[:, 0], ends), -1.0, self.pole.radius - far)

    def beyond(self, motion, part):
        """How far (F,) a part's vertices that the pole hides lie past its axis at most, seen along the way to it."""
        names = self.figure.skeleton.names
        own = [names.index(r) for r in (("hips", "chest") if part == "hips" else (f"{part}.L",))]
        off = skinned(self.body.bound, self.skin, motion)[:, np.isin(self.skin.bones[:, 0], own)] - self.pole.point
        hidden = np.abs(off @ np.cross(self.pole.axis, self.away)) < 0.5 * self.pole.radius
        return np.where(hidden, off @ self.away, -1.0).max(axis=1)

    def fastest(self, motion):
        """The most degrees that a bone turns from a frame to the next."""
        turns = motion.rotations
        return np.degrees(rotation.angle(turns[1:], turns[:-1])).max()

    def off_ledge(self, out, motion):
        """How far (metres) the palms are from where they hold the ledge, at most."""
        rows, off = slice(_TOUCHES[0], _TOUCHES[1] + 1), [0.0]
        for grip in (c for c in out.script.contacts if c.kind == "grip"):
            palm = performer.place(self.body.palms[grip.effector[-1]], motion)[rows]
            off.append(np.abs(palm - np.stack([grip.path[axis] for axis in "xyz"], axis=-1)).max())
        return max(off)

    def slid(self, motion):
        """How far (metres) the soles that stand are from one place, and their lowest from the floor, at most."""
        rows, names, off = slice(_TOUCHES[0], _TOUCHES[1] + 1), self.figure.skeleton.names, [0.0]
        for limb in (limb for limb in self.led if limb.startswith("foot")):
            own = [names.index(role) for role in (limb, f"toe.{limb[-1]}")]
            places = skinned(self.body.bound, self.skin, motion)[rows, np.isin(self.skin.bones[:, 0], own)]
            off += [np.abs(places - places[0]).max(), np.abs(places[..., 2].min(axis=1)).max()]
        return max(off)


@cache
def pushed(part, led):
    """(Scene, Fitted, the body's motion) of a part that is 3 cm deep in the pole."""
    scene = Scene(part, 0.03, ("hand.L", "hand.R", "foot.L", "foot.R") if led else ("hand.R", "foot.R"))
    return scene, *scene.fit()


_ALL = pytest.mark.parametrize("part, led", [(part, led) for part in _PARTS for led in (False, True)])


@_ALL
def test_what_was_inside_is_outside_on_the_side_that_it_came_from(part, led):
    scene, out, motion = pushed(part, led)
    before = scene.inside(scene.before).max(axis=1)
    assert 0.012 < before.max() <= 0.031 and (before[[0, -1]] < -0.1).all(), "it was inside, by what its rings tell"
    assert scene.inside(motion).max() < 0.0 and not out.left
    assert scene.beyond(motion, part).max() < 0.0


@_ALL
def test_what_holds_and_stands_stays_meanwhile(part, led):
    scene, out, motion = pushed(part, led)
    assert not out.misses
    assert scene.off_ledge(out, motion) < 1e-6 and scene.slid(motion) < 1e-6


@_ALL
def test_nothing_jerks_on_the_way_out(part, led):
    """She does not turn at all: what turns is the correction."""
    scene, out, motion = pushed(part, led)
    assert scene.fastest(scene.before) < 1e-9
    assert scene.fastest(motion) < 5.0, "100 degrees a second"
    assert np.linalg.norm(np.diff(out.offset, n=2, axis=0), axis=-1).max() * _FPS ** 2 < 1.0  # m/s2
    assert np.linalg.norm(out.offset, axis=-1).max() < 0.06


@pytest.mark.parametrize("part", ["upper_arm", "forearm"])
def test_the_side_is_the_performers_even_where_the_body_is_all_through(part):
    """The body's arm has its middle 1 cm beyond the pole's axis; hers is 6 cm farther in, on this side."""
    scene = Scene(part, THICK[part] + _RADIUS + 0.01, ("hand.R", "foot.R"), wider=0.06)
    assert scene.beyond(scene.before, part).max() > 0.04
    _, motion = scene.fit()
    assert scene.inside(motion).max() < 0.0 and scene.beyond(motion, part).max() < 0.0


def test_the_way_out_begins_before_it_is_needed():
    """She comes against the pole in a few frames: the arm has given way before, and turns no faster for it."""
    scene = Scene("forearm", 0.03, ("hand.R", "foot.R"), seconds=0.4)
    inside = scene.inside(scene.before).max(axis=1)
    _, motion = scene.fit()
    assert scene.inside(motion).max() < 0.0
    first = np.flatnonzero(inside > 0.0)[0]
    elbow = scene.figure.roles["forearm.L"]
    given = np.degrees(rotation.angle(motion.rotations[:, elbow], scene.before.rotations[:, elbow]))
    assert inside[first + 2] > 0.01, "all of it within three frames"
    assert given[first] > 0.5 * given.max()
    assert scene.fastest(motion) < 2.0


def test_a_pole_that_is_not_near_changes_nothing_bit_for_bit():
    scene = Scene("forearm", 0.03, ("hand.L", "foot.R"))
    far = replace(scene.pole, point=tuple(np.array(scene.pole.point) + 0.2 * scene.away))
    alone, _ = scene.fit(props=scene.script.props[1:])
    out, _ = scene.fit(props=(far, *scene.script.props[1:]))
    assert np.array_equal(out.pose.rotations, alone.pose.rotations) and np.array_equal(out.pose.hips, alone.pose.hips)
    assert not out.left


@pytest.mark.parametrize("part", _PARTS)
def test_beside_mute_contacts_a_pole_is_still_in_the_way(part):
    scene = Scene(part, 0.03, ("hand.L",))
    scene.script = replace(scene.script, contacts=tuple(replace(c, mute=True) for c in scene.script.contacts))
    out, motion = scene.fit()
    assert scene.inside(scene.before).max() > 0.012 and scene.inside(motion).max() < 0.0 and not out.left
    far = replace(scene.pole, point=tuple(np.array(scene.pole.point) + 0.2 * scene.away))
    out, _ = scene.fit(props=(far,))
    assert np.array_equal(out.pose.rotations, scene.raw.rotations) and np.array_equal(out.pose.hips, scene.raw.hips)
