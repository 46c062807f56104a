"""Hands on poles, on the floor and on each other, by the places of their palms."""

import numpy as np
import pytest
from figures import build, layout

from foothold.solvers import rotation
from foothold.solvers.contacts import performer
from foothold.solvers.contacts.script import Contact, ContactScript, Prop
from foothold.solvers.fit import ease, hands

_FPS, _FRAMES = 60.0, 240
_PALM = performer.palms(build(seed=6))["L"]
_TILTED = Prop("pole", point=(0.3, -0.2, 0.4), axis=tuple(rotation.normalize(np.array([0.4, 0.5, 1.0]))), radius=0.03)
_POLES = (Prop("pole", point=(0.3, -0.2, 0.4), radius=0.022), _TILTED,
          Prop("pole", point=(0.1, 0.0, 1.2), axis=(1.0, 0.0, 0.0), radius=0.05))


def waving(seed, amount=1.2):
    """World rotations (F, 4) of a hand that turns about smoothly."""
    rng = np.random.default_rng(seed)
    time = np.linspace(0.0, 2.0 * np.pi, _FRAMES)[:, None]
    return rotation.exp(amount * np.sin(time + rng.uniform(0.0, 6.0, 3)))


def gripped(prop, first=60, last=180, turn=90.0):
    """A Contact along a prop that winds about it by `turn` degrees."""
    part = np.linspace(0.0, 1.0, 41)
    times = (first + (last - first) * part) / _FPS
    return Contact("g", "hand.L", prop.name, "grip", first / _FPS, last / _FPS,
                   path={"time": times.tolist(), "height": (0.7 + 0.2 * np.sin(5.0 * part)).tolist(),
                         "azimuth": (30.0 + turn * part).tolist()})


def held(contact, hand, props=(), floor=0.0):
    """(hand's rotations as the fit turns them (F, 4), the Demand, palm's places (T, 3), the way it faces (T, 3))."""
    script = ContactScript(_FPS, _FRAMES, tuple(props), (contact,), floor)
    named = {prop.name: prop for prop in props}
    ((_, rows),) = listed = hands.absolute(script, _FRAMES, _FPS, "L")
    faced = [(c, r, hands.touches(c, named, floor, r, _FPS)[1]) for c, r in listed]
    turned = hands.oriented(_PALM, hand, faced, _FPS)
    (demand,) = hands.demands(_PALM, "L", np.zeros((len(hand), 3)), turned, listed, named, floor, _FPS)
    assert demand.rows == rows and demand.limb == "hand.L"
    return (turned, demand, demand.target + rotation.rotate(turned[rows], _PALM.offset),
            rotation.rotate(turned[rows], _PALM.out))


@pytest.mark.parametrize("prop", _POLES)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_palm_lies_on_the_pole_and_faces_its_axis(prop, seed):
    contact = gripped(prop)
    _, demand, places, facing = held(contact, waving(seed), [prop])
    axis, off = np.array(prop.axis), places - prop.point
    across = off - (off @ axis)[:, None] * axis
    assert np.linalg.norm(across, axis=-1) == pytest.approx(prop.radius, abs=1e-12)
    assert np.degrees(rotation.vector_angle(facing, -across)).max() < 1e-6
    times = np.arange(demand.first, demand.last + 1) / _FPS
    wanted = 0.7 + 0.2 * np.sin(5.0 * (times - 1.0) / 2.0)
    assert off @ axis == pytest.approx(wanted, abs=1e-3), "at the height of the path, between its samples too"


@pytest.mark.parametrize("prop", _POLES[:2])
def test_a_palm_keeps_about_its_side_of_the_pole(prop):
    """It does not turn while the path stays within a grip's play, and follows by that much at most otherwise."""
    axis = np.array(prop.axis)
    first = rotation.normalize(np.array([1.0, 0.0, 0.0]) - axis[0] * axis)

    def azimuths(turn):
        _, _, places, _ = held(gripped(prop, turn=turn), waving(3), [prop])
        off = places - prop.point
        return np.degrees(np.unwrap(np.arctan2(off @ np.cross(axis, first), off @ first)))

    path = 30.0 + 200.0 * np.linspace(0.0, 1.0, 121)
    assert np.abs(azimuths(200.0) - path).max() < 13.0 + 1e-6
    still = azimuths(20.0)
    assert still == pytest.approx(40.0, abs=1e-6)


def test_the_hand_turns_by_the_shortest_way():
    """The fingers keep their slant: what is turned by is no more than what brings the palm to face the pole."""
    hand = waving(4)
    turned, demand, _, facing = held(gripped(_TILTED), hand, [_TILTED])
    before = rotation.rotate(hand, _PALM.out)[demand.rows]
    assert rotation.angle(turned, hand)[demand.rows] == pytest.approx(rotation.vector_angle(before, facing), abs=1e-9)


def test_the_hand_turns_there_and_back_smoothly_and_is_her_own_far_away():
    hand = waving(5)
    turned, *_ = held(gripped(_POLES[0], 100, 140, turn=10.0), hand, _POLES[:1])
    own = np.degrees(rotation.angle(hand[1:], hand[:-1])).max()
    most = np.degrees(rotation.angle(turned, hand)).max()
    steps = np.degrees(rotation.angle(turned[1:], turned[:-1]))
    assert steps.max() < own + 1.9 * most / (0.5 * _FPS) + 1.0
    assert np.abs(np.diff(steps)).max() < 2.0
    far = np.abs(np.arange(_FRAMES) - 120) > 20 + 0.5 * _FPS
    assert np.array_equal(turned[far], hand[far])


@pytest.mark.parametrize("kind", ["plant", "rest-on"])
@pytest.mark.parametrize("floor", [0.0, -0.4])
def test_the_palm_lies_on_the_floor(floor, kind):
    """Where hers stands; or, where hers slides, where its own arm takes it, the wrist being at the origin."""
    path = {"time": [1.0, 2.0], "x": [0.3, 0.4], "y": [0.1, 0.1], "z": [9.0, 9.0]}
    contact = Contact("f", "hand.L", "floor", kind, 1.0, 2.0, path=path)
    turned, demand, places, facing = held(contact, waving(6), floor=floor)
    assert places[:, 2] == pytest.approx(floor, abs=1e-12)
    assert facing @ [0.0, 0.0, -1.0] == pytest.approx(1.0, abs=1e-12)
    own = rotation.rotate(turned, _PALM.offset)[demand.rows, :2]
    hers = np.column_stack([np.linspace(0.3, 0.4, 61), np.full(61, 0.1)])
    assert places[:, :2] == pytest.approx(hers if kind == "plant" else own, abs=1e-12)


def test_on_a_thing_of_no_known_shape_the_palm_is_where_the_path_is_and_the_hand_as_hers():
    path = {"time": [1.0, 2.0], "x": [0.3, 0.4], "y": [0.1, 0.2], "z": [0.9, 1.1]}
    hand = waving(7)
    turned, _, places, _ = held(Contact("b", "hand.L", "box", "grip", 1.0, 2.0, path=path), hand, [Prop("box", "box")])
    assert np.array_equal(turned, hand)
    assert places[[0, 30, 60]] == pytest.approx(np.array([[0.3, 0.1, 0.9], [0.35, 0.15, 1.0], [0.4, 0.2, 1.1]]))


def test_only_contacts_that_count_and_stand_still_are_absolute():
    path = {"time": [0.0], "x": [0.0], "y": [0.0], "z": [0.0]}
    contacts = [Contact("other", "hand.R", "box", "grip", 0.0, 1.0, path=path),
                Contact("mute", "hand.L", "box", "grip", 0.0, 1.0, path=path, mute=True),
                Contact("knee", "hand.L", "knee.L", "rest-on", 0.0, 1.0, path=path),
                Contact("bare", "hand.L", "box", "grip", 0.0, 1.0),
                Contact("box", "hand.L", "box", "grip", 1.0, 2.0, path=path),
                Contact("floor", "hand.L", "floor", "rest-on", 0.0, 1.0, path=path)]
    for floor, wanted in ((0.0, ["box", "floor"]), (None, ["box"])):
        script = ContactScript(_FPS, 100, (Prop("box", "box"),), tuple(contacts), floor)
        assert [c.id for c, _ in hands.absolute(script, 100, _FPS, "L")] == wanted


# Clasps

@pytest.mark.parametrize("size", [1.0, 0.8])
def test_hands_that_hold_each_other_keep_their_way_from_one_to_the_other(size):
    figure = build(seed=6)
    palms = performer.palms(figure)
    rng = np.random.default_rng(8)
    time = np.linspace(0.0, 4.0, _FRAMES)[:, None]
    turns = {"L": waving(8), "R": waving(9)}
    wrists = {s: 0.3 * np.sin(time + rng.uniform(0.0, 6.0, 3)) for s in "LR"}
    hers = {s: 0.2 * np.cos(time + rng.uniform(0.0, 6.0, 3)) for s in "LR"}
    contact = Contact("c", "hand.R", "hand.L", "clasp", 1.0, 2.0)
    muted = Contact("m", "hand.L", "hand.R", "clasp", 2.0, 3.0, mute=True)
    script = ContactScript(_FPS, _FRAMES, (), (contact, muted), 0.0)
    out = {d.limb[-1]: d for d in hands.clasps(script, wrists, turns, palms, hers, size, _FPS)}
    assert set(out) == {"L", "R"} and all((d.first, d.last) == (60, 120) for d in out.values())
    rows = slice(60, 121)
    now = {s: out[s].target + rotation.rotate(turns[s][rows], palms[s].offset) for s in "LR"}
    were = {s: wrists[s][rows] + rotation.rotate(turns[s][rows], palms[s].offset) for s in "LR"}
    assert np.abs((now["L"] - now["R"]) - size * (hers["L"] - hers["R"])[rows]).max() < 1e-12
    assert np.abs((now["L"] + now["R"]) - (were["L"] + were["R"])).max() < 1e-12


def test_the_size_of_hands_is_that_of_the_forearms():
    assert hands.hand_size(build(), build(layout(arm=0.8), seed=2)) == pytest.approx(0.8, abs=1e-9)


# Paths through samples

def sampled(times, values):
    return Contact("c", "hand.L", "box", "grip", 0.0, 4.0, path={"time": list(times), "x": list(values)})


def test_a_path_goes_through_its_samples_and_holds_before_and_after():
    rng = np.random.default_rng(10)
    at = np.cumsum(rng.uniform(0.05, 0.4, 12))
    values = rng.normal(size=12)
    assert hands.column(sampled(at, values), "x", at) == pytest.approx(values, abs=1e-12)
    outside = hands.column(sampled(at, values), "x", np.array([at[0] - 1.0, at[-1] + 1.0]))
    assert outside == pytest.approx(values[[0, -1]], abs=1e-12)


def test_a_path_whose_samples_lie_on_a_parabola_is_that_parabola_within():
    at = np.array([0.0, 0.2, 0.5, 0.6, 1.1, 1.3, 1.4, 1.9])
    times = np.linspace(at[1], at[-2], 101)
    assert hands.column(sampled(at, at ** 2 - at), "x", times) == pytest.approx(times ** 2 - times, abs=1e-12)


def test_a_path_has_no_kinks():
    """Looked at more and more closely, its slope does not jump: the change of its steps shrinks with their square."""
    rng = np.random.default_rng(11)
    at = np.cumsum(rng.uniform(0.1, 0.4, 12))
    contact = sampled(at, rng.normal(size=12))
    bends = []
    for count in (1000, 4000, 16000):
        times = np.linspace(at[0], at[-1], count)
        bends.append(np.abs(np.diff(hands.column(contact, "x", times), n=2)).max() / (times[1] - times[0]) ** 2)
    assert bends[2] < 1.05 * bends[0]


@pytest.mark.parametrize("count", [1, 2])
def test_a_path_of_one_or_two_samples(count):
    contact = sampled([1.0, 3.0][:count], [0.4, 0.8][:count])
    values = hands.column(contact, "x", np.array([0.0, 1.0, 1.5, 2.0, 3.0, 9.0]))
    wanted = [0.4] * 6 if count == 1 else [0.4, 0.4, 0.5, 0.6, 0.8, 0.8]
    assert values == pytest.approx(wanted, abs=1e-12)


# Slack

def test_what_stays_within_its_play_does_not_move():
    values = 5.0 + np.sin(np.linspace(0.0, 30.0, 200))
    assert np.ptp(ease.slackened(values, 1.1, 20)) == 0.0
    assert np.array_equal(ease.slackened(np.array([3.0]), 1.0, 5), [3.0])


@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_led_with_slack_stays_within_it_and_moves_less(seed):
    rng = np.random.default_rng(seed)
    values = np.cumsum(rng.normal(size=400)) + np.where(np.arange(400) > 200, 40.0, 0.0)
    out = ease.slackened(values, 3.0, 20)
    assert np.abs(out - values).max() <= 3.0 + 1e-12
    assert np.abs(np.diff(out)).sum() < 0.5 * np.abs(np.diff(values)).sum()
