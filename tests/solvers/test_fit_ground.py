"""Bodies of tubes whose knees, trunk, hands and feet would sink into the floor."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from bodies import flesh_of, skinned
from figures import build

from foothold.solvers import rotation, transfer
from foothold.solvers.contacts import performer
from foothold.solvers.contacts.script import Contact, ContactScript, Prop
from foothold.solvers.fit import ease, ground
from foothold.solvers.fit.body import body_of
from foothold.solvers.fit.fit import fit
from foothold.solvers.skeleton import forward, identity_channels

_FPS, _FRAMES, _HELD = 20.0, 81, (32, 48)
_UNDER = 0.03  # metres that the lowest part is under the floor, while she is lowest


def both(role, *turn):
    """The same turn about X of both sides."""
    return {f"{role}.L": (*turn, 0.0, 0.0), f"{role}.R": (*turn, 0.0, 0.0)}


# pose (rotation vectors in degrees), the parts that sink, who stands
_POSES = {
    "on a knee": ({"shin.L": (95.0, 0.0, 0.0), "foot.L": (80.0, 0.0, 0.0), "thigh.R": (-100.0, 0.0, 0.0),
                   "shin.R": (100.0, 0.0, 0.0)}, ("shin.L", "thigh.L"), "foot.R"),
    "sitting": ({**both("thigh", -95.0), **both("shin", 10.0)}, ("hips", "thigh.L", "thigh.R"), ""),
    "lying": ({"hips": (-90.0, 0.0, 0.0), **both("thigh", -20.0), **both("shin", 30.0)}, ("hips", "chest"), ""),
    "with a hand down": ({"spine": (85.0, 0.0, 0.0), "upper_arm.L": (0.0, 15.0, -90.0), **both("thigh", -130.0),
                          **both("shin", 150.0), **both("foot", -20.0)}, ("hand.L",), "foot.R"),
    "on an elbow": ({"spine": (85.0, 0.0, 0.0), "upper_arm.L": (0.0, 15.0, -90.0), "forearm.L": (0.0, 0.0, -90.0),
                     **both("thigh", -135.0), **both("shin", 150.0), **both("foot", -15.0)},
                    ("upper_arm.L", "forearm.L"), "foot.R"),
    "on one leg": ({"thigh.R": (-20.0, 0.0, 0.0), "shin.R": (40.0, 0.0, 0.0), "foot.R": (-20.0, 0.0, 0.0)},
                   ("foot.L", "toe.L"), "foot.R")}


class Scene:
    """A performer who goes down into a pose and comes up again, and a body of the same bones with flesh about them."""

    def __init__(self, name):
        pose, parts, self.stands = _POSES[name]
        source, self.figure = build(), build(seed=4)
        part = np.clip(np.minimum(np.arange(_FRAMES), np.arange(_FRAMES)[::-1]) / 30.0, 0.0, 1.0)
        part = part ** 3 * (10.0 - part * (15.0 - 6.0 * part))
        channels = identity_channels(len(source.skeleton.names), _FRAMES)
        for role, turn in pose.items():
            channels.rotation[:, source.roles[role]] = rotation.exp(part[:, None] * np.radians(turn))
        self.plan = transfer.plan(source, self.figure, identity_channels(len(self.figure.skeleton.names)), 0.09)
        self.skin = flesh_of(self.figure)
        self.body = body_of(self.plan, self.skin)
        self.motion = forward(source.skeleton, channels)
        low = self.lowest(self.played(transfer.world_pose(self.plan, self.motion)[0]), parts)
        high = min(low[_FRAMES // 2], low[_HELD[0]]) + _UNDER
        channels.location[:, source.roles["hips"], 2] = -part * high
        self.motion = forward(source.skeleton, channels)
        self.before = self.played(transfer.world_pose(self.plan, self.motion)[0])
        self.palms = {s: performer.place(p, self.motion) for s, p in performer.palms(source).items()}
        span = tuple(frame / _FPS for frame in _HELD)
        rows = slice(_HELD[0], _HELD[1] + 1)
        path = {"time": (np.arange(_HELD[0], _HELD[1] + 1) / _FPS).tolist(),
                **dict(zip("xyz", self.palms["R"][rows].T.tolist()))}
        touch = (Contact("c", "foot.R", "floor", "plant", *span) if self.stands
                 else Contact("c", "hand.R", "ledge", "grip", *span, path=path))
        self.script = ContactScript(_FPS, _FRAMES, (Prop("ledge", "box"),), (touch,), 0.0)

    def played(self, pose):
        """The body's world Motion in a pose."""
        return transfer.played(self.figure, self.plan.held, transfer.keys(self.plan, pose, self.motion)[0])

    def lowest(self, motion, roles=None):
        """Height (F,) of the lowest vertex of some roles, of all by default."""
        own = np.ones(len(self.skin.points), bool)
        if roles is not None:
            own = np.isin(self.skin.bones[:, 0], [self.figure.skeleton.names.index(role) for role in roles])
        return skinned(self.body.bound, self.skin, motion)[:, own, 2].min(axis=1)

    def sole(self, motion):
        """World places (T, N, 3) of the skin of the foot that stands."""
        own = [self.figure.skeleton.names.index(role) for role in (self.stands, f"toe.{self.stands[-1]}")]
        return skinned(self.body.bound, self.skin, motion)[_HELD[0]:_HELD[1] + 1, np.isin(self.skin.bones[:, 0], own)]


@cache
def fitted(name):
    """(Scene, Fitted, the body's motion)."""
    scene = Scene(name)
    out = fit(scene.body, scene.script, scene.motion, scene.palms, _FPS)
    return scene, out, scene.played(out.pose)


@pytest.mark.parametrize("name", _POSES)
def test_what_would_sink_lies_on_the_floor(name):
    scene, out, motion = fitted(name)
    low = scene.lowest(motion)
    assert scene.lowest(scene.before).min() < -0.9 * _UNDER
    assert low.min() > -5e-5 and not out.left, [round(1e3 * h, 2) for h in low]


@pytest.mark.parametrize("name", [name for name, (_, _, stands) in _POSES.items() if stands])
def test_who_stands_stays(name):
    scene, out, motion = fitted(name)
    places = scene.sole(motion)
    assert not out.misses
    assert np.abs(places - places[0]).max() < 1e-6 and np.abs(places[..., 2].min(axis=1)).max() < 1e-6


@pytest.mark.parametrize("name", _POSES)
def test_nothing_jerks(name):
    scene, out, motion = fitted(name)
    for turns, hers in zip(motion.rotations.transpose(1, 0, 2), scene.before.rotations.transpose(1, 0, 2)):
        steps, own = (np.degrees(rotation.angle(q[1:], q[:-1])).max() for q in (turns, hers))
        assert steps < own + 8.0
    assert np.linalg.norm(np.diff(out.offset, n=2, axis=0), axis=-1).max() * _FPS ** 2 < 3.0  # m/s2


def test_a_hand_begins_to_rise_before_it_would_sink():
    scene, out, motion = fitted("with a hand down")
    assert not out.offset.any(), "the root has nothing to do with it"
    sinks = np.flatnonzero(scene.lowest(scene.before, ("hand.L",)) < 0.0)
    wrist = scene.figure.roles["hand.L"]
    raised = (motion.positions - scene.before.positions)[:, wrist, 2]
    assert raised[[sinks[0] - 2, sinks[-1] + 2]].min() > 1e-3
    assert (raised >= -1e-9).all() and raised[0] == raised[-1] == 0.0


def test_between_two_stands_a_foot_rises_in_what_time_there_is():
    """A need in the midst of a gap that is no longer than a fade: a slow rise has no room there, a quicker one has."""
    frames, fade = 200, 60.0
    held = np.ones(frames, bool)
    held[80:121] = False
    need = np.maximum(0.02 - 0.001 * np.abs(np.arange(frames) - 100.0), 0.0) * (np.abs(np.arange(frames) - 100) < 12)

    def led(share):
        time = np.full(frames, share * fade)
        return ease.spread(held[:, None].astype(float), held, time, time)[:, 0]

    rise = ground._rise(need, led, 24.0)
    assert (rise >= need).all() and (rise[held] == 0.0).all() and rise.max() < 1.5 * need.max()
    slow = np.maximum(ease.above(need, 24.0) * (1.0 - led(1.0)), need)
    jerk = [np.abs(np.diff(one, 2)).max() for one in (rise, slow)]
    assert jerk[0] < 0.5 * jerk[1] and jerk[0] < 0.004


@pytest.mark.parametrize("name", _POSES)
def test_a_floor_without_a_contact_that_counts_is_still_a_floor(name):
    scene = fitted(name)[0]
    muted = tuple(replace(c, mute=True) for c in scene.script.contacts)
    script = replace(scene.script, props=(), contacts=muted)
    out = fit(scene.body, script, scene.motion, scene.palms, _FPS)
    assert scene.lowest(scene.played(out.pose)).min() > -5e-5 and not out.left and not out.misses


@pytest.mark.parametrize("name", _POSES)
def test_over_a_floor_that_is_nowhere_touched_no_bit_changes(name):
    scene = fitted(name)[0]
    script = replace(scene.script, contacts=(replace(scene.script.contacts[0], mute=True),))
    for over in (1e-3, -1e-3):
        up = np.array([0.0, 0.0, over - scene.lowest(scene.before).min()])
        motion = scene.motion._replace(positions=scene.motion.positions + up)
        pose = transfer.world_pose(scene.plan, motion)[0]
        out = fit(scene.body, script, motion, scene.palms, _FPS)
        same = np.array_equal(out.pose.rotations, pose.rotations) and np.array_equal(out.pose.hips, pose.hips)
        assert same == (over > 0.0)


@pytest.mark.parametrize("bones", [True, False])
@pytest.mark.parametrize("name", _POSES)
def test_who_lacks_her_height_is_put_onto_the_floor_by_the_bodys_own_skin(name, bones):
    """Her hips are held where they are; the body is as thick as it is. Without skin, its bones are near the floor."""
    scene = fitted(name)[0]
    up = scene.motion.positions[:, :1] * np.array([0.0, 0.0, 1.0])
    motion = scene.motion._replace(positions=scene.motion.positions - up + [0.0, 0.0, 0.3])
    script = replace(scene.script, contacts=(), grounded=True)
    out = fit(scene.body if bones else body_of(scene.plan, None), script, motion, scene.palms, _FPS)
    low = scene.lowest(scene.played(out.pose))
    assert not out.left and not out.misses
    if bones:
        assert low.min() > -5e-5 and low.max() < 3e-3, [round(1e3 * h, 2) for h in low]
        assert np.array_equal(out.pose.rotations, transfer.world_pose(scene.plan, motion)[0].rotations)
    else:
        assert np.abs(low).max() < 0.1
