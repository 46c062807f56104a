"""What is used of a grip's licence where a hand does not reach: both hands on a pole, arms shorter than the
performer's, the root kept in its place by the feet."""

from dataclasses import replace

import numpy as np
import pytest
from test_fit import seen
from test_fit_two_hands import _FPS, _HELD, _RADIUS, held

from foothold.solvers import rotation
from foothold.solvers.contacts import performer
from foothold.solvers.contacts.script import Contact, ContactScript, Prop
from foothold.solvers.fit import reach
from foothold.solvers.fit.body import body_of
from foothold.solvers.fit.fit import Options, fit

_APART = 0.1  # metres by which the hands are farther up and down
_ALL = {"height": [-0.03, 0.03], "azimuth": [-26.0, 26.0], "tilt": [-30.0, 30.0]}


def fitted(stretched=0.97, apart=_APART, **licence):
    """(plan, Fitted, its motion)."""
    plan, script, motion, palms = held(stretched)
    contacts = tuple(replace(c, licence=licence, path={**c.path, "height": [
        h + apart * (1.0 if c.effector == "hand.L" else -1.0) for h in c.path["height"]]}) for c in script.contacts)
    out = fit(body_of(plan, None), replace(script, contacts=contacts), motion, palms, _FPS, Options("pose"))
    return plan, out, seen(out.plan, out.pose, motion)


def missed(out):
    """Millimetres that the lower hand misses."""
    return sum(miss.millimetres for miss in out.misses if miss.contact == "hand.R:1")


@pytest.mark.parametrize("name", _ALL)
def test_each_licence_brings_a_hand_nearer_and_what_was_used_is_told(name):
    _, without, _ = fitted()
    plan, out, motion = fitted(**{name: _ALL[name]})
    assert missed(without) > 30.0 and missed(out) < missed(without) - 4.0
    (used,) = out.spent.values()
    assert list(out.spent) == ["hand.R:1"] and list(used) == [name] and abs(used[name]) > 0.0
    scale = out.plan.scale[1] if name == "height" else 1.0
    assert scale * _ALL[name][0] - 1e-9 <= used[name] <= scale * _ALL[name][1] + 1e-9
    before, after = (next(c for c in one.script.contacts if c.id == "hand.R:1") for one in (without, out))
    for column in ("height", "azimuth"):
        moved = np.array(after.path[column]) - before.path[column]
        sway = np.ptp(before.path[column])  # what the band cuts off of her path's own
        assert moved == pytest.approx(used[name] if column == name else 0.0, abs=sway + 1e-9)


def test_a_tilted_hand_lies_otherwise_by_what_was_used():
    """Degrees between hand and pole, more by as much as is told; the palm still faces the pole."""
    (plan, _, before), (_, out, after) = fitted(), fitted(tilt=_ALL["tilt"])
    palm = performer.palms(plan.body)["R"]

    def angles(motion):
        turns = motion.rotations[_HELD, palm.joint]
        return np.degrees(np.arccos(rotation.rotate(turns, palm.along)[:, 2])), rotation.rotate(turns, palm.out)

    (was, _), (now, out_of) = angles(before), angles(after)
    assert now - was == pytest.approx(out.spent["hand.R:1"]["tilt"], abs=1e-6)
    assert out_of @ [0.0, -1.0, 0.0] == pytest.approx(1.0, abs=1e-9)


def test_all_of_them_go_together():
    best = min(missed(fitted(**{name: _ALL[name]})[1]) for name in _ALL)
    _, out, _ = fitted(**_ALL)
    assert missed(out) < best and list(out.spent["hand.R:1"])[0] == "height"


def test_in_reach_nothing_is_used_bit_for_bit():
    _, without, _ = fitted(0.7, 0.0)
    _, out, _ = fitted(0.7, 0.0, time=[-0.3, 0.3], **_ALL)
    assert not without.misses and not out.spent
    assert np.array_equal(out.pose.rotations, without.pose.rotations)
    assert np.array_equal(out.pose.hips, without.pose.hips)


# One contact at a time

def spent(gaps, licence, before=(), ways=None, back=(0.0, 0.0, 1.0)):
    """(Contact, what was used) of a grip at 1.2 m over 2 s, whose hand misses it by `gaps` at 10 frames a second."""
    grip = Contact("g", "hand.L", "pole", "grip", 1.0, 3.0, path={
        "time": [1.0, 3.0], "height": [1.2, 1.2], "azimuth": [90.0, 90.0]}, licence=licence)
    script = ContactScript(10.0, 61, (Prop("pole", radius=_RADIUS),), (grip,), 0.0)
    short = reach.Short(grip, np.array(gaps), ways or {}, np.array(back))
    laid, used = reach.spend(script, script, [short], {"g": dict(before)}, 10.0)
    return laid.contacts[0], used.get("g", {})


def test_a_way_that_leads_aside_is_not_gone():
    ways = reach.ways(Prop("pole"), *np.array([[0.0, 0.02, 1.2], [0.0, 1.0, 0.0], [0.0, 0.1, 1.2]]), 1.0)
    contact, used = spent([0.01] * 21, _ALL, ways=ways, back=(0.0, 1.0, 0.0))
    assert not used and contact.path["height"] == [1.2, 1.2]
    contact, used = spent([0.01] * 21, _ALL, ways=ways)
    assert used == {"height": pytest.approx(0.01)} and contact.path["height"] == pytest.approx([1.21, 1.21])
    _, used = spent([0.05] * 21, _ALL, ways=ways)
    assert used["height"] == pytest.approx(0.03), "the licence, and no more"


def test_a_round_wrist_goes_round_by_its_distance():
    """10 cm from the axis 1 cm aside are 5.73 degrees."""
    ways = reach.ways(Prop("pole"), *np.array([[0.0, 0.02, 1.2], [0.0, 1.0, 0.0], [0.0, 0.1, 1.2]]), 1.0)
    contact, used = spent([0.01] * 21, _ALL, ways=ways, back=(-1.0, 0.0, 0.0))
    assert used["azimuth"] == pytest.approx(np.degrees(0.1)) and contact.path["azimuth"][0] == 90.0 + used["azimuth"]


def test_a_tilt_stays_within_its_licence_however_often():
    ways = {"tilt": np.array([0.0, 0.0, 0.001])}
    assert spent([0.02] * 21, {"tilt": [-5.0, 25.0]}, ways=ways)[1] == {"tilt": pytest.approx(20.0)}
    assert spent([0.02] * 21, {"tilt": [-5.0, 25.0]}, {"tilt": 20.0}, ways)[1] == {"tilt": pytest.approx(5.0)}


@pytest.mark.parametrize("first, last, licence, used", [(2, 0, 0.2, 0.2), (0, 3, 0.3, 0.3), (2, 1, 0.2, 0.3),
                                                        (3, 0, 0.2, 0.0), (0, 3, 0.2, 0.0)])
def test_ends_that_are_out_of_reach_are_cut_off_within_the_licence(first, last, licence, used):
    gaps = np.zeros(21)
    gaps[:first], gaps[21 - last:] = 0.05, 0.05
    contact, told = spent(gaps, {"time": [-licence, licence]})
    assert told == ({"time": pytest.approx(used)} if used else {})
    cut = (0.1 * first, 0.1 * last) if used else (0.0, 0.0)
    assert (contact.start, contact.end) == pytest.approx((1.0 + cut[0], 3.0 - cut[1]))


def test_what_is_out_of_reach_amid_or_throughout_is_not_cut():
    amid = np.where(np.arange(21) == 10, 0.05, 0.0)
    for gaps in (amid, np.full(21, 0.05)):
        contact, told = spent(gaps, {"time": [-3.0, 3.0]})
        assert not told and (contact.start, contact.end) == (1.0, 3.0)
