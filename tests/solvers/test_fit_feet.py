"""Feet of boxes whose every corner is followed: what stands stays, and the lowest is at the floor.

The foot's box reaches from the heel to the toe joint, that of the toes from there on; both are 8 cm wide.
"""

import numpy as np
import pytest
from figures import build
from skins import box, skin_of

from foothold.solvers import rotation, transfer
from foothold.solvers.contacts.script import Contact, Part
from foothold.solvers.fit import feet
from foothold.solvers.fit.body import body_of
from foothold.solvers.skeleton import identity_channels

_FPS, _FLOOR = 60.0, 0.25
_MOST = 1e-6  # metres


class Foot:
    """A left foot and its motion: ankle (F, 3), how it is turned at every frame against standing flat."""

    def __init__(self, frames, seed=7, tilt=0.0, toes=True):
        """With `tilt` in degrees it hangs with its toes down at rest: a sole that does not lie flat."""
        figure = build(seed=seed)
        self.frames, self.time = frames, np.arange(frames) / _FPS
        ankle, joint = (figure.rest.positions[0, figure.roles[f"{role}.L"]] for role in ("foot", "toe"))
        turn = rotation.exp(np.array([np.radians(tilt), 0.0, 0.0]))
        pieces = []
        for side, sign in (("L", 1.0), ("R", -1.0)):
            at = ankle * (sign, 1.0, 1.0)
            ahead = joint[1] - ankle[1]
            pieces += [(f"foot.{side}", box(at + [-0.04, ahead, -0.09], at + [0.04, 0.06, 0.05], turn, at)),
                       (f"toe.{side}", box(at + [-0.04, ahead - 0.06, -0.09], at + [0.04, ahead, -0.05], turn, at))]
        self.skin, self.figure = skin_of(figure, *pieces), figure
        roles = {r: j for r, j in figure.roles.items() if toes or not r.startswith("toe")}
        figure = figure._replace(roles=roles)
        plan = transfer.plan(figure, figure, identity_channels(len(figure.skeleton.names)), ankle[2])
        self.sole = body_of(plan, self.skin).soles["L"]
        self.at_rest = {"foot": (ankle, figure.rest.rotations[0, figure.skeleton.names.index("foot.L")]),
                        "toe": (joint, figure.rest.rotations[0, figure.skeleton.names.index("toe.L")])}
        own = [j for j, name in enumerate(figure.skeleton.names) if name in ("foot.L", "toe.L")]
        self.own = np.isin(self.skin.bones[:, 0], own)
        self.on_toe = self.skin.bones[self.own, 0] == figure.skeleton.names.index("toe.L")
        self.ankle = np.tile(ankle * (1.0, 1.0, 0.0) + [0.0, 0.0, _FLOOR + 0.12], (frames, 1))

    def yaw(self, degrees):
        """World rotations (F, 4) about the vertical."""
        return rotation.exp(np.radians(np.broadcast_to(degrees, self.frames))[:, None] * [0.0, 0.0, 1.0])

    def pitch(self, degrees):
        """Toes up by so much."""
        return rotation.exp(np.radians(np.broadcast_to(degrees, self.frames))[:, None] * [-1.0, 0.0, 0.0])

    def stand(self, contacts, turn, toe=None, ankle=0.0):
        """Let the fit have it: the transferred foot is turned by `turn` (F, 4) against its rest, its toes by `toe`."""
        self.ankle = self.ankle + ankle
        self.before = (rotation.mul(turn, self.at_rest["foot"][1]),
                       rotation.mul(turn if toe is None else toe, self.at_rest["toe"][1]))
        self.standing = feet.stands(contacts, self.frames, _FPS, "L")
        self.foot, self.toe = feet.oriented(self.sole, *self.before, self.standing, _FPS)
        self.demands = feet.demands(self.sole, "L", contacts, _FLOOR, self.ankle, self.foot, self.toe, self.standing,
                                    _FPS)
        self.places = [self.place(d.target, self.foot[d.rows], self.toe[d.rows]) for d in self.demands]
        return self

    def place(self, ankle, foot, toe):
        """World places (T, V, 3) of all corners, from where they are at rest."""
        (start, turn), (joint, turn_toe) = self.at_rest["foot"], self.at_rest["toe"]
        if not self.sole.turns:  # the toes hang from the foot as they do at rest
            toe = rotation.mul(foot, rotation.mul(rotation.conj(turn), turn_toe))

        def on_foot(point):
            return ankle + rotation.rotate(rotation.mul(foot, rotation.conj(turn)), point - start)

        out = []
        for point, is_toe in zip(self.skin.points[self.own], self.on_toe):
            lever = rotation.rotate(rotation.mul(toe, rotation.conj(turn_toe)), point - joint)
            out.append(on_foot(joint) + lever if is_toe else on_foot(point))
        return np.stack(out, axis=1)

    def point(self, name, k=0):
        """World places (T, 3) of the foot's heel or ball under a Demand."""
        demand = self.demands[k]
        heel, ball = self.sole.heel, self.sole.ball
        foot, toe = self.foot[demand.rows], self.toe[demand.rows]
        if name == "heel":
            return demand.target + rotation.rotate(foot, heel)
        return demand.target + rotation.rotate(foot, self.sole.toe) + rotation.rotate(toe, ball)

    def steps(self):
        """The most that foot and toes turn from frame to frame, degrees."""
        return max(np.degrees(rotation.angle(q[1:], q[:-1])).max() for q in (self.foot, self.toe))


def plant(start, end, *parts, z=_FLOOR, name="p"):
    """A Contact of the left foot from frame to frame; parts as (part, first, last)."""
    parts = tuple(Part(part, a / _FPS, b / _FPS) for part, a, b in parts)
    return Contact(name, "foot.L", "floor", "plant", start / _FPS, end / _FPS, parts=parts,
                   path={"time": [start / _FPS], "x": [0.0], "y": [0.0], "z": [z]})


def wobble(frames, size, seed=4):
    """Rotations (F, 4) that waver about nothing by some degrees."""
    rng = np.random.default_rng(seed)
    time = np.linspace(0.0, 2.0 * np.pi, frames)[:, None]
    return rotation.exp(np.radians(size) * np.sin(3.0 * time + rng.uniform(0.0, 6.0, 3)))


def low(places):
    """How far (T,) the lowest corner is over the floor."""
    return places[..., 2].min(axis=1) - _FLOOR


def drift(places):
    """How far places (T, ..., 3) get from where they were first, at most."""
    return float(np.abs(places - places[:1]).max())


@pytest.mark.parametrize("tilt", [0.0, 20.0])
@pytest.mark.parametrize("toes", [True, False])
def test_a_wavering_foot_lies_flat_and_still_while_heel_and_ball_are_down(tilt, toes):
    foot = Foot(120, tilt=tilt, toes=toes)
    sway = 0.05 * np.sin(np.linspace(0.0, 6.0, 120))[:, None] * [1.0, 0.5, 0.3]
    foot.stand([plant(30, 90)], rotation.mul(foot.yaw(35.0), wobble(120, 12.0)), ankle=sway)
    (places,), (demand,) = foot.places, foot.demands
    assert (demand.first, demand.last, demand.limb) == (30, 90, "foot.L")
    assert drift(places) < _MOST and np.abs(low(places)).max() < _MOST
    soles = np.sort(places[0, :, 2])[:8] - _FLOOR  # the undersides of both boxes
    assert np.abs(soles).max() < (2e-3 if tilt else _MOST)  # heel and ball of a sole that hangs are found so nearly
    assert demand.target[:, :2].mean(axis=0) == pytest.approx(foot.ankle[30:91, :2].mean(axis=0), abs=1e-9)
    way = places[0, :8].mean(axis=0) - places[0, 8:].mean(axis=0)  # from the toes back to the heel
    mean = np.mean(np.degrees(np.unwrap(np.arctan2(*(rotation.rotate(foot.before[0], rotation.rotate(
        rotation.conj(foot.at_rest["foot"][1]), np.array([0.0, 1.0, 0.0])))[30:91, [0, 1]].T)))))
    assert np.degrees(np.arctan2(way[0], way[1])) == pytest.approx(mean, abs=0.5), "it points as hers did, in the mean"
    own = np.degrees(rotation.angle(foot.before[0][1:], foot.before[0][:-1])).max()
    assert foot.steps() < own + 1.9 * (20.0 + tilt) / (0.4 * _FPS), "no faster than it wavers, and comes to lie"


def test_a_foot_that_rolls_over_its_heel_turns_about_it():
    """Heel first, toes up by 25 degrees, then flat sooner than hers is: the heel is in one place throughout."""
    foot = Foot(120)
    lift = 25.0 * (1.0 - np.clip((foot.time * _FPS - 30.0) / 40.0, 0.0, 1.0))
    heading = foot.yaw(-20.0 + 15.0 * np.sin(0.08 * np.arange(120.0)))
    foot.stand([plant(30, 90, ("heel", 30, 90), ("ball", 56, 90))], rotation.mul(heading, foot.pitch(lift)))
    (places,) = foot.places
    assert np.degrees(rotation.angle(foot.foot[30], foot.foot[70])) > 10.0, "it does roll"
    assert drift(foot.point("heel")[:, :2]) < _MOST and np.abs(low(places)).max() < _MOST
    assert drift(places[26:]) < _MOST, "flat, all of it stays"
    assert foot.steps() < 4.0


def test_a_foot_that_rolls_over_its_ball_leaves_the_toes_on_the_floor():
    foot = Foot(120)
    lift = -50.0 * np.clip((foot.time * _FPS - 60.0) / 30.0, 0.0, 1.0)
    foot.stand([plant(30, 90, ("heel", 30, 60), ("ball", 30, 90))], rotation.mul(foot.yaw(15.0), foot.pitch(lift)))
    (places,) = foot.places
    assert np.degrees(rotation.angle(foot.foot[60], foot.foot[90])) > 35.0
    assert np.abs(low(places)).max() < _MOST
    assert drift(foot.point("ball")) < _MOST
    assert drift(places[:, foot.on_toe]) < _MOST, "the toes lie where they lay"
    assert foot.steps() < 5.0


def bends(foot):
    """By how many degrees (F,) the toes are bent against a foot that stands flat."""
    flat = rotation.mul(rotation.conj(foot.sole.flat_foot), foot.sole.flat_toe)
    return np.degrees(rotation.angle(foot.toe, rotation.mul(foot.foot, flat)))


@pytest.mark.parametrize("lift", [40.0, 59.0, 85.0])
def test_on_tiptoe_the_toes_bend_no_more_than_toes_can(lift):
    foot = Foot(90)
    foot.stand([plant(20, 70, ("ball", 20, 70))], rotation.mul(foot.yaw(10.0), foot.pitch(-lift)))
    (places,) = foot.places
    assert np.abs(low(places)).max() < _MOST and drift(foot.point("ball")[:, :2]) < _MOST
    assert bends(foot)[20:71] == pytest.approx(min(lift, 60.0), abs=1e-6)
    assert drift(places) < _MOST


def test_a_foot_that_pivots_on_its_ball_turns_about_it():
    foot = Foot(150)
    turn = 120.0 * np.clip((foot.time * _FPS - 40.0) / 60.0, 0.0, 1.0)
    lift = foot.pitch(-20.0)
    foot.stand([plant(20, 130, ("ball", 20, 130))], rotation.mul(foot.yaw(turn), lift))
    (places,) = foot.places
    assert np.degrees(rotation.angle(foot.foot[20], foot.foot[130])) == pytest.approx(120.0, abs=1e-6)
    assert drift(foot.point("ball")) < _MOST and np.abs(low(places)).max() < _MOST
    toes = places[:, foot.on_toe].mean(axis=1) - places[:, ~foot.on_toe].mean(axis=1)
    headings = np.degrees(np.unwrap(np.arctan2(toes[:, 1], toes[:, 0])))
    assert headings - headings[0] == pytest.approx(turn[20:131], abs=1e-6), "its toes go along"
    assert foot.steps() < 2.5


@pytest.mark.parametrize("first, second", [(("heel", 20, 49), ("ball", 50, 80)), (("ball", 20, 49), ("heel", 50, 80)),
                                           (("heel", 20, 45), ("ball", 55, 80))])
def test_from_one_part_to_the_other_each_stays_while_it_is_down(first, second):
    foot = Foot(100)
    lift = 25.0 - 50.0 * np.clip((foot.time * _FPS - 20.0) / 60.0, 0.0, 1.0)
    foot.stand([plant(20, 80, first, second)], foot.pitch(lift if first[0] == "heel" else -lift))
    (places,) = foot.places
    assert np.abs(low(places)).max() < _MOST
    if second[1] > first[2] + 1:
        second = ("ball", first[2] + 1, second[2])  # between the two it rests on the ball
    for part, a, b in (first, second):
        assert drift(foot.point(part)[a - 20:b - 19, :2]) < _MOST
    assert np.linalg.norm(np.diff(foot.demands[0].target, axis=0), axis=-1).max() < 0.02, "nothing jumps"


@pytest.mark.parametrize("over", [0.1, 0.4])
def test_a_foot_on_a_step_stands_at_its_height(over):
    foot = Foot(60)
    foot.stand([plant(10, 50, z=_FLOOR + over)], wobble(60, 8.0))
    assert low(foot.places[0]) == pytest.approx(over, abs=_MOST)


def test_what_a_capture_says_of_a_soles_own_height_is_no_step():
    foot = Foot(60)
    foot.stand([plant(10, 50, z=_FLOOR + 0.05)], wobble(60, 8.0))
    assert np.abs(low(foot.places[0])).max() < _MOST


def test_a_foot_that_slides_goes_its_way_on_the_floor():
    foot = Foot(90)
    slide = Contact("s", "foot.L", "floor", "rest-on", 20 / _FPS, 70 / _FPS)
    way = np.linspace(0.0, 1.0, 90)[:, None] * [0.4, -0.2, 0.1]
    foot.stand([slide], rotation.mul(foot.yaw(30.0), wobble(90, 10.0)), ankle=way)
    (demand,) = foot.demands
    assert np.array_equal(demand.target[:, :2], foot.ankle[20:71, :2])
    assert np.abs(low(foot.places[0])).max() < _MOST
    assert np.array_equal(foot.foot, foot.before[0]), "it is turned as hers is"


@pytest.mark.parametrize("into", [True, False])
def test_a_foot_that_slides_into_a_stand_comes_to_where_that_is(into):
    """She creeps on by 5 cm while she stands, so that the stand, amid of them, is 2.5 cm from where the slide ends."""
    foot = Foot(160)
    slides, stands = ((0, 99), (100, 159)) if into else ((60, 159), (0, 59))
    far = np.where(np.arange(160) < 100, 0.004 * (np.arange(160) - 100.0), 5e-2 / 59.0 * (np.arange(160) - 100.0))
    way = (far if into else far[::-1])[:, None] * [1.0, 0.0, 0.0]
    slide = Contact("s", "foot.L", "floor", "rest-on", slides[0] / _FPS, slides[1] / _FPS)
    foot.stand([slide, plant(*stands)], foot.yaw(0.0), ankle=way)
    found = {d.contact.id: d for d in foot.demands}
    target = np.concatenate([found[name].target for name in (("s", "p") if into else ("p", "s"))])[:, :2]
    off = (target - foot.ankle[:, :2])[::1 if into else -1, 0]
    assert off[100] == pytest.approx(0.025, abs=1e-3) and np.abs(np.diff(off[:100])).max() < 3e-3
    assert abs(off[100] - off[99]) < 2e-3 and np.abs(off[:70]).max() < 1e-9, "before that it goes its own way"


def test_two_plants_right_after_each_other_are_one_stand():
    foot = Foot(160)
    sway = 0.02 * np.sin(np.linspace(0.0, 9.0, 160))[:, None] * [1.0, 0.4, 0.0]
    contacts = [plant(20, 70, name="a"), plant(75, 140, ("ball", 75, 140), name="b")]
    lift = -30.0 * np.clip((foot.time * _FPS - 76.0) / 20.0, 0.0, 1.0)
    foot.stand(contacts, foot.pitch(lift), ankle=sway)
    balls = [foot.point("ball", k) for k in (0, 1)]
    assert drift(np.concatenate(balls)) < _MOST
    assert all(np.abs(low(places)).max() < _MOST for places in foot.places)
    mean = np.concatenate([foot.ankle[20:71], foot.ankle[75:141]])[:, :2].mean(axis=0)
    ways = np.concatenate([d.target for d in foot.demands])[:, :2].mean(axis=0)
    assert ways == pytest.approx(mean, abs=1e-9), "amid where hers was"


def test_plants_apart_stand_each_where_hers_do():
    foot = Foot(200)
    step = np.where(np.arange(200)[:, None] < 90, 0.0, [[0.0, -0.5, 0.0]])
    foot.stand([plant(20, 80, name="a"), plant(120, 180, name="b")], foot.yaw(0.0), ankle=step)
    first, second = foot.demands
    assert second.target[0] - first.target[0] == pytest.approx([0.0, -0.5, 0.0], abs=1e-9)


def test_where_nothing_stands_nothing_turns():
    foot = Foot(50)
    foot.stand([], wobble(50, 30.0))
    assert foot.demands == [] and foot.foot is foot.before[0] and foot.toe is foot.before[1]
    foot = Foot(300)
    foot.stand([plant(20, 60)], wobble(300, 30.0))
    far = np.arange(300) > 60 + 0.5 * _FPS
    assert np.array_equal(foot.foot[far], foot.before[0][far]) and np.array_equal(foot.toe[far], foot.before[1][far])
