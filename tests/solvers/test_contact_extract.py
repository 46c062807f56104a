"""Contacts read off performers whose contacts are known by construction."""

from dataclasses import replace

import numpy as np
import pytest
from puppet import Puppet, ease, on_pole, with_pole

from foothold.solvers import rotation
from foothold.solvers.contacts import extract as contact_extract
from foothold.solvers.contacts import feet, floor, grips, performer, script
from foothold.solvers.contacts.extract import extract
from foothold.solvers.errors import FootholdError

POINT, AXIS, RADIUS = np.array([0.4, -0.3, 0.0]), np.array([0.03, -0.02, 1.0]), 0.022


def read(puppet, **options):
    return extract(puppet.figure, puppet.motion, puppet.fps, **options)


def of(found, effector, kind):
    return [c for c in found.contacts if c.effector == effector and c.kind == kind]


def intervals(found, effector, kind):
    return [(c.start, c.end) for c in of(found, effector, kind)]


@pytest.fixture(scope="module")
def pole():
    puppet, grips = with_pole()
    return puppet, grips, read(puppet)


def test_a_pole_is_found_where_it_is(pole):
    _, _, found = pole
    (prop,) = found.props
    axis = AXIS / np.linalg.norm(AXIS)
    assert np.degrees(np.arccos(np.clip(np.dot(prop.axis, axis), -1, 1))) < 0.05
    for height in (1.2, 1.5, 1.8):
        mine = np.array(prop.point) + np.array(prop.axis) * (height - prop.point[2]) / prop.axis[2]
        true = POINT + AXIS * (height - POINT[2]) / AXIS[2]
        assert np.linalg.norm(mine - true) < 0.001
    assert abs(prop.radius - RADIUS) < 0.003 and prop.source == "capture" and prop.evidence["samples"] > 300


def test_a_pole_is_doubted_where_its_holds_do_not_tell_its_lean(pole):
    """Hands that hold it from one side each and hardly turn about it."""
    puppet = Puppet(8.0)
    puppet.sway()
    for side, height, sign in (("L", 1.3, 1.0), ("R", 1.7, -1.0)):
        held, turns = on_pole(POINT, AXIS, RADIUS, height + 0.0 * puppet.time, sign * 5.0 * puppet.time + 90.0)
        puppet.lead_palm(side, puppet.reached(held, sign, 1.0, 7.0), turns)
    noise = np.random.default_rng(2).normal(size=(12, *puppet.positions.shape[1:]))
    puppet.positions += 0.002 * np.repeat(noise, 41, axis=0)[:puppet.frames]
    (doubtful,), (sure,) = read(puppet).props, pole[2].props
    assert sure.confidence > 0.9 and doubtful.confidence < 0.75
    assert doubtful.evidence["tilt_give_or_take_deg"] > 3.0 * sure.evidence["tilt_give_or_take_deg"]
    assert "give or take" in doubtful.evidence["told"]


def test_grips_are_found_to_the_frame(pole):
    puppet, grips, found = pole
    for effector, start, end in grips:
        (one,) = intervals(found, effector, "grip")
        assert one == pytest.approx((start, end), abs=1.5 / puppet.fps)
    assert {c.surface for c in found.contacts if c.kind == "grip"} == {"pole"}
    first = of(found, "hand.L", "grip")[0]
    assert 0.3 <= first.approach <= 0.7 and 0.3 <= first.release <= 0.9  # the body sways on after the release


def test_the_path_on_the_pole_is_what_the_hand_did(pole):
    _, _, found = pole
    path = of(found, "hand.L", "grip")[0].path
    turned = np.array(path["azimuth"])
    assert turned[-1] - turned[0] == pytest.approx(140.0, abs=1.5)
    wanted = 1.3 + 0.25 * ease(np.array(path["time"]) - 2.0)
    assert np.ptp(np.array(path["height"]) - wanted * np.linalg.norm([0, 0, 1.0])) < 0.002
    licence = of(found, "hand.L", "grip")[0].licence
    assert licence["height"][1] == pytest.approx(0.25, abs=0.01) and licence["azimuth"][1] == pytest.approx(140, abs=2)


@pytest.mark.parametrize("given", [True, False])
def test_a_pole_that_is_given_is_believed(given):
    puppet, grips = with_pole()
    prop = script.Prop("stick", "cylinder", tuple(POINT), tuple(AXIS / np.linalg.norm(AXIS)), RADIUS, source="artist")
    found = read(puppet, prop=prop if given else "none")
    if not given:
        assert not found.props and not [c for c in found.contacts if c.kind == "grip"]
        return
    assert found.props[0].point == tuple(POINT) and found.props[0].source == "artist"
    for effector, start, end in grips:
        (one,) = intervals(found, effector, "grip")
        assert one == pytest.approx((start, end), abs=2.0 / puppet.fps)


@pytest.mark.parametrize("upside_down", [False, True])
@pytest.mark.parametrize("along", [0.0, 1.7, -3.0])
def test_heights_on_a_given_pole_count_from_its_point_along_its_axis(along, upside_down):
    """Whichever point on the axis is given, and whichever way the axis points."""
    puppet, _ = with_pole()
    axis = AXIS / np.linalg.norm(AXIS)
    prop = script.Prop("stick", "cylinder", tuple(POINT + along * axis), tuple(-axis if upside_down else axis), RADIUS)
    found = read(puppet, prop=prop)
    (given,) = found.props
    for effector, _, height in (("hand.L", 0, 1.3), ("hand.R", 0, 1.7)):
        path = of(found, effector, "grip")[0].path
        place = np.array(given.point) + path["height"][0] * np.array(given.axis)
        assert place == pytest.approx(POINT + height * AXIS, abs=0.003)


def test_what_hands_do_on_a_prop_that_moves_is_told_in_the_world_and_slides_on_the_prop():
    puppet = Puppet(5.0)
    lift = 1.0 + 0.2 * puppet.time
    away = (1.0 - puppet.between(0.8, 1.3)) + puppet.between(3.0, 3.5)
    puppet.lead_palm("R", np.stack([-0.4 + 0.0 * lift, -0.3 + 0.0 * lift, lift + 0.5 * away], axis=-1))

    def surface(path):
        own = path - lift[:, None] * np.array([0.0, 0.0, 1.0])
        return own[:, 2], own

    (one,) = of(read(puppet, prop=script.Prop("lift", "plane", source="artist"), surface=surface), "hand.R", "grip")
    assert np.array(one.path["z"]) == pytest.approx(1.0 + 0.2 * np.array(one.path["time"]), abs=2e-3)
    assert one.licence["slide"][1] < 0.01


def test_a_take_without_a_free_hand_says_that_its_grips_are_less_sure():
    puppet = Puppet(4.0)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        puppet.lead_palm(side, np.tile([0.3 * sign, -0.3, 1.2], (puppet.frames, 1)))

    def table(path):
        return path[:, 2] - 1.2, path

    found = read(puppet, prop=script.Prop("table", "plane", source="artist"), surface=table)
    assert of(found, "hand.L", "grip") and any("table" in n and "less sure" in n for n in found.notes)
    found = read(puppet, prop=script.Prop("far", "cylinder", (9.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.02))
    assert not of(found, "hand.L", "grip") and any("far" in n and "no grip" in n for n in found.notes)


def test_a_prop_of_any_shape_is_told_by_its_distances():
    """A hand that lies on a plane that rises."""
    puppet = Puppet(5.0)
    height = 1.0 + 0.1 * puppet.time
    away = (1.0 - puppet.between(0.8, 1.3)) + puppet.between(3.0, 3.5)
    puppet.lead_palm("R", np.stack([-0.4 + 0.0 * height, -0.3 + 0.0 * height, height + 0.5 * away], axis=-1))

    def surface(path):
        own = path - height[:, None] * np.array([0.0, 0.0, 1.0])
        return own[:, 2], own

    found = read(puppet, prop=script.Prop("lift", "plane", source="artist"), surface=surface)
    (one,) = intervals(found, "hand.R", "grip")
    assert one == pytest.approx((1.3, 3.0), abs=2.0 / puppet.fps)
    assert not intervals(found, "hand.L", "grip")


@pytest.mark.parametrize("fps", [29.97, 60.0, 100.0, 120.0])
def test_plants_are_found_to_the_frame(fps):
    puppet = Puppet(6.0, fps)
    puppet.sway(0.1, 3.0)
    steps = {"L": [(1.0, 1.6), (3.0, 3.6)], "R": [(2.0, 2.6), (4.0, 4.6)]}
    for side, listed in steps.items():
        for start, end in listed:
            puppet.step(side, start, end)
    found = read(puppet)
    for side, listed in steps.items():
        ends = [0.0, *[t for step in listed for t in step], 6.0]
        wanted = list(zip(ends[0::2], ends[1::2]))
        got = intervals(found, f"foot.{side}", "plant")
        assert len(got) == len(wanted)
        for one, true in zip(got, wanted):
            assert one == pytest.approx(true, abs=max(2.0 / fps, 0.04))
        for contact in of(found, f"foot.{side}", "plant"):
            if contact.end < 5.9:
                assert 0.2 <= contact.release <= 0.4  # half a step goes up
            assert {p.part for p in contact.parts} == {"heel", "ball"}
            assert min(p.start for p in contact.parts) == contact.start
            assert max(p.end for p in contact.parts) == contact.end


def test_a_foot_that_glides_along_the_floor_does_not_stand_however_feet_wander():
    """Standing feet that wander by centimetres, slowly, tell nothing about how far one that leaves may glide."""
    puppet = Puppet(6.0)
    puppet.sway(0.1, 3.0)
    puppet.step("L", 1.0, 1.6, lift=0.0)
    puppet.step("R", 3.0, 3.6, lift=0.0)
    for side in "LR":
        for role in (f"foot.{side}", f"toe.{side}"):
            puppet.positions[:, puppet.joint(role), 0] += 0.03 * np.sin(2.0 * np.pi * puppet.time / 2.5)
    found = read(puppet)
    for side, start, end in (("L", 1.0, 1.6), ("R", 3.0, 3.6)):
        before, after = intervals(found, f"foot.{side}", "plant")
        assert before[1] == pytest.approx(start, abs=0.1) and after[0] == pytest.approx(end, abs=0.1)


def test_a_foot_that_comes_and_goes_along_the_floor_stands_while_it_is_slow():
    """It is below the limit all the while, and wanders so far that its place alone does not tell when it goes."""
    limit, frame = 0.25, np.arange(361)
    sway = 0.04 * np.sin(2.0 * np.pi * frame / 240.0)  # at 0.06 m/s at most
    speed = limit * np.clip(np.maximum(60.0 - frame, frame - 300.0) / 60.0, 0.0, 0.99)
    path = np.zeros((361, 3))
    path[:, 0], path[:, 1] = sway, np.cumsum(speed) / 60.0
    trodden = feet.Tread({"ball.L": path}, {"ball.L": speed}, {"ball.L": np.ones(361, bool)}, {"L": np.ones(361)},
                         np.full(361, limit), None, [slice(0, 361)])
    (sole,) = feet.soles(trodden, [floor.Part("foot.L", path)], 0.0, 60.0)
    ((first, last),) = sole.spans
    slow = np.flatnonzero(speed < 0.6 * limit)
    assert (first, last) == pytest.approx((slow[0], slow[-1]), abs=1.0)


@pytest.mark.parametrize("at", [1, 90])
def test_no_foot_stands_over_a_cut(at):
    """A pose that jumps into the motion: by a frame it stands for no time, else it stands up to the cut."""
    puppet = Puppet(5.0)
    puppet.sway(0.1, 3.0)
    puppet.positions[:at] += np.array([0.01, 0.0, 0.0])
    for role, j in puppet.figure.roles.items():
        if role.split(".")[0] not in ("foot", "toe"):
            puppet.positions[:at, j, 1] += 0.4
    found = read(puppet)
    for side in "LR":
        spans = [(round(start * 60.0), round(end * 60.0)) for start, end in intervals(found, f"foot.{side}", "plant")]
        assert spans == ([(0, at - 1)] if at > 1 else []) + [(at, puppet.frames - 1)]


def test_a_floor_at_any_height_is_found():
    puppet = Puppet(5.0)
    puppet.step("L", 1.0, 1.6)
    puppet.positions[..., 2] += 1.7
    found = read(puppet)
    low = found.floor
    puppet.positions[..., 2] -= 1.7
    assert low - read(puppet).floor == pytest.approx(1.7, abs=1e-4)


def test_a_step_up_a_box_is_a_plant_and_a_foot_held_in_the_air_is_none():
    puppet = Puppet(8.0)
    puppet.step("L", 1.0, 1.6, (0.0, -0.3, 0.2))
    puppet.step("R", 2.2, 2.8, (0.0, -0.3, 0.2))
    puppet.step("R", 4.0, 4.6, (0.0, -0.2, 0.15))  # and there it hangs
    found = read(puppet)
    assert intervals(found, "foot.L", "plant")[-1] == pytest.approx((1.6, 8.0), abs=0.05)
    assert intervals(found, "foot.R", "plant")[-1] == pytest.approx((2.8, 4.0), abs=0.05)


def test_a_take_that_never_stands_says_so_and_plants_nothing():
    puppet = Puppet(4.0)
    puppet.sway(0.02)
    swing = 0.5 * np.sin(4.0 * puppet.time)
    for role in ("foot.L", "toe.L", "foot.R", "toe.R"):
        puppet.positions[:, puppet.joint(role), 1] += swing
        puppet.positions[:, puppet.joint(role), 2] += 0.3 * np.cos(4.0 * puppet.time + 1.0)
    found = read(puppet)
    assert found.floor is None and not [c for c in found.contacts if c.kind == "plant"]
    assert any("never stands" in note for note in found.notes)


@pytest.mark.parametrize("period", [1.2, 1.6, 2.4])
@pytest.mark.parametrize("climb", [0.0, 0.15])
def test_feet_that_hang_are_slow_for_moments_and_do_not_stand(period, climb):
    puppet = Puppet(8.0)
    puppet.positions[..., 2] += 0.5 + climb * puppet.time[:, None]
    for side, late in (("L", 0.0), ("R", 1.1)):
        angle = 2.0 * np.pi * puppet.time / period + late
        off = np.stack([0.05 * np.sin(1.3 * angle), 0.3 * np.sin(angle), 0.1 * np.cos(angle) ** 2], axis=-1)
        for role in (f"foot.{side}", f"toe.{side}"):
            puppet.positions[:, puppet.joint(role)] += off
    found = read(puppet)
    assert found.floor is None and not [c for c in found.contacts if c.effector.startswith("foot")]
    assert any("never stands" in note for note in found.notes)


def test_feet_that_are_held_up_while_others_swing_below_do_not_stand():
    """A pose with a leg held over the head for longer than any foot is still lower down."""
    puppet = Puppet(6.0)
    puppet.sway(0.02)
    puppet.positions[..., 2] += 0.5
    for role in ("foot.L", "toe.L"):
        puppet.positions[:, puppet.joint(role), 2] += 1.5
    swing = 0.5 * np.sin(4.0 * puppet.time)
    for role in ("foot.R", "toe.R"):
        puppet.positions[:, puppet.joint(role), 1] += swing
        puppet.positions[:, puppet.joint(role), 2] += 0.3 * np.cos(4.0 * puppet.time + 1.0)
    assert read(puppet).floor is None


def test_hands_that_hold_each_other_and_hips_are_found():
    puppet = Puppet(8.0)
    puppet.sway(0.1, 2.3)
    hips = puppet.positions[:, puppet.joint("hips")]
    for side, sign in (("L", 1.0), ("R", -1.0)):
        clasp = hips + np.array([0.02 * sign, 0.14, 0.0])  # against the back of the hips
        resting = hips + np.array([0.175 * sign, 0.0, 0.07])
        free = hips + np.array([0.5 * sign, -0.1, 0.1])
        to, back = puppet.between(1.0, 1.5), puppet.between(3.0, 3.5)
        down, up = puppet.between(4.5, 5.0), puppet.between(6.5, 7.0)
        a, b = (to * (1.0 - back))[:, None], (down * (1.0 - up))[:, None]
        puppet.lead_palm(side, a * clasp + b * resting + (1.0 - a - b) * free)
    found = read(puppet)
    (clasp,) = of(found, "hand.L", "clasp")
    assert clasp.surface == "hand.R" and (clasp.start, clasp.end) == pytest.approx((1.5, 3.0), abs=0.1)
    for side in "LR":
        (one,) = of(found, f"hand.{side}", "rest-on")
        assert one.surface == "hips" and (one.start, one.end) == pytest.approx((5.0, 6.5), abs=0.1)
    assert not [c for c in found.contacts if c.kind == "grip"]


def test_a_walk_holds_nothing():
    puppet = Puppet(6.0)
    puppet.sway(0.2, 1.0)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for n in range(4):
            start = 0.5 + 1.2 * n + (0.6 if side == "R" else 0.0)
            puppet.step(side, start, start + 0.5)
        hips = puppet.positions[:, puppet.joint("hips")]
        swing = 0.35 * np.sin(2.0 * np.pi * puppet.time / 1.2) * sign
        puppet.lead_palm(side, hips + np.stack([0.32 * sign + 0.0 * swing, swing, 0.1 * np.abs(swing)], axis=-1))
    found = read(puppet)
    assert not found.props and {c.kind for c in found.contacts} == {"plant"}
    assert any(note.startswith("No pole") for note in found.notes)


def test_hands_that_hold_a_bar_hold_fixed_places():
    puppet = Puppet(12.0)
    puppet.sway(0.4)
    spans = {"L": [(1.5, 5.0), (7.0, 11.0)], "R": [(1.5, 11.0)]}
    for side, sign in (("L", 1.0), ("R", -1.0)):
        path = np.array([0.25 * sign, -0.1, 2.1])
        held = puppet.reached(path, sign, *spans[side][0])
        for start, end in spans[side][1:]:
            again = puppet.reached(path, sign, start, end)
            held = np.where(puppet.time[:, None] < start - 0.5, held, again)
        puppet.lead_palm(side, held)
    found = read(puppet)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        grips = of(found, f"hand.{side}", "grip")
        assert [(c.start, c.end) for c in grips] == [pytest.approx(span, abs=0.1) for span in spans[side]]
        (surface,) = {c.surface for c in grips}
        (prop,) = [p for p in found.props if p.name == surface]
        assert np.linalg.norm(np.array(prop.point) - [0.25 * sign, -0.1, 2.1]) < 0.02


def hanging(shift, sway=0.008, tremor=0.0):
    """A puppet that hangs on a bar. Its left hand sways by 8 mm, amid which, at 4 s, it comes to hang `shift` metres
    beside, and trembles by `tremor` metres to and fro from frame to frame."""
    puppet = Puppet(8.0)
    puppet.sway(0.4)
    shifted = puppet.between(3.9, 4.1)[:, None] * [shift, 0.0, 0.0]
    swung = sway * np.sin(2.0 * np.pi * puppet.time / 0.8 + 3.2)[:, None] * [0.6, 0.0, 0.8]
    trembled = tremor * (-1.0) ** np.arange(puppet.frames)[:, None] * [0.0, 0.0, 1.0]
    left = np.array([0.25, -0.1, 2.1]) + shifted + swung + trembled
    puppet.lead_palm("L", puppet.reached(left, 1.0, 1.5, 6.5))
    right = [puppet.reached(np.array([-0.25, -0.1, 2.1]), -1.0, *span) for span in ((1.5, 3.0), (5.0, 6.5))]
    puppet.lead_palm("R", np.where(puppet.time[:, None] < 4.0, *right))
    return puppet


@pytest.mark.parametrize("shift", [0.02, 0.03, 0.04, 0.06])
def test_holds_beside_one_another_never_overlap_in_time(shift):
    """However far each wanders by itself: where the hand goes on to the next, the one has ended."""
    found = sorted((round(60 * start), round(60 * end))
                   for start, end in intervals(read(hanging(shift)), "hand.L", "grip"))
    assert found[0][0] == pytest.approx(90, abs=4) and found[-1][1] == pytest.approx(390, abs=4)
    assert all(before[1] < after[0] for before, after in zip(found[:-1], found[1:]))


def test_a_hold_that_is_not_left_is_one():
    """The hand is quick for a moment, and yet is no farther off than it sways."""
    assert len(intervals(read(hanging(0.02)), "hand.L", "grip")) == 1


def test_what_trembles_from_frame_to_frame_is_no_sway_of_a_path():
    """A path is told thirty times a second: at every second frame, where a tremor is all to one side."""
    told = read(hanging(0.0, sway=0.0, tremor=0.004))
    (path,) = [c.path for c in of(told, "hand.L", "grip")]
    assert np.abs(np.array(path["z"])[3:-3] - 2.1).max() < 0.001


def test_one_hand_that_is_still_once_holds_nothing():
    puppet = Puppet(8.0)
    puppet.sway(0.4)
    puppet.lead_palm("L", puppet.reached(np.array([0.25, -0.1, 2.1]), 1.0, 2.0, 3.0))
    puppet.lead_palm("R", puppet.reached(np.array([-0.25, -0.1, 2.1]), -1.0, 20.0, 21.0))
    found = read(puppet)
    assert not found.props and not [c for c in found.contacts if c.kind == "grip"]


@pytest.mark.parametrize("size, turn, move", [(1.4, 0.9, (3.0, -2.0, 0.0)), (0.55, -2.2, (-7.0, 1.0, 1.3)),
                                              (100.0, 0.0, (0.0, 0.0, 0.0))])
def test_size_place_and_heading_change_the_coordinates_only(pole, size, turn, move):
    puppet, _, before = pole
    about = rotation.exp(np.array([0.0, 0.0, turn]))
    motion = puppet.motion
    motion = motion._replace(positions=size * rotation.rotate(about, motion.positions) + np.array(move),
                             rotations=rotation.mul(about, motion.rotations))
    rest = puppet.figure.rest
    figure = puppet.figure._replace(rest=rest._replace(positions=size * rest.positions))
    after = extract(figure, motion, puppet.fps)
    assert [(c.effector, c.surface, c.kind, c.start, c.end) for c in after.contacts] == \
           [(c.effector, c.surface, c.kind, c.start, c.end) for c in before.contacts]
    assert after.floor == pytest.approx(size * before.floor + move[2], abs=2e-5 * size)
    (was,), (now,) = before.props, after.props
    assert now.radius == pytest.approx(size * was.radius, abs=2e-5 * size)
    assert np.abs(rotation.rotate(about, np.array(was.axis)) - now.axis).max() < 1e-4
    grip_was, grip_now = of(before, "hand.L", "grip")[0].path, of(after, "hand.L", "grip")[0].path
    assert np.ptp(np.array(grip_now["azimuth"]) - np.array(grip_was["azimuth"])) < 0.1
    assert np.ptp(np.array(grip_now["height"]) - size * np.array(grip_was["height"])) < 5e-5 * max(size, 1.0)


@pytest.mark.parametrize("fps", [29.97, 100.0])
def test_another_frame_rate_moves_edges_by_at_most_one_frame(pole, fps):
    _, _, before = pole
    after = read(with_pole(fps=fps)[0])
    for effector in ("hand.L", "hand.R"):
        (a,), (b,) = intervals(before, effector, "grip"), intervals(after, effector, "grip")
        assert b == pytest.approx(a, abs=1.0 / fps + 1.0 / 60.0)


def test_the_same_take_gives_the_same_bytes(pole):
    puppet, _, found = pole
    assert script.to_json(found) == script.to_json(read(puppet))
    assert script.from_json(script.to_json(found)) == found
    assert script.from_json(script.to_file_text(found)) == found


@pytest.mark.parametrize("along, out", [(0.012, 0.0), (-0.012, 0.0), (0.0, 0.008), (0.0, -0.006), (0.012, 0.008)])
def test_hands_of_another_shape_are_found_out_from_the_pole(along, out):
    """The palm lies further along the hand and out of it than laid out: the axis is found all the same."""
    puppet = Puppet(8.0)
    puppet.sway()
    for side, start, height, sign in (("L", 1.0, 1.3, 1.0), ("R", 2.0, 1.7, -1.0)):
        palm = performer.palms(puppet.figure)[side]
        t = np.clip(puppet.time, start, 6.5)
        heights = height + 0.25 * puppet.between(start + 1.0, start + 2.0)
        held, turns = on_pole(POINT, AXIS, RADIUS, heights, sign * (60.0 * t + 90.0))
        turns = rotation.mul(turns, palm_towards(puppet, palm, (0.0, sign, 0.3 * sign), (-1.0, 0.0, 0.0)))
        puppet.lead_palm(side, puppet.reached(held, sign, start, 6.5), turns)
        puppet.positions[:, palm.joint] -= rotation.rotate(puppet.rotations[:, palm.joint],
                                                           along * palm.along + out * palm.out)
    (prop,) = read(puppet).props
    at = np.array(prop.point) + np.array(prop.axis) * (1.5 - prop.point[2]) / prop.axis[2]
    assert np.linalg.norm(at - (POINT + AXIS * 1.5)) < 0.005
    assert np.degrees(np.arccos(np.clip(prop.axis @ AXIS / np.linalg.norm(AXIS), -1.0, 1.0))) < 0.3
    assert abs(prop.radius - RADIUS) < 0.004


def palm_towards(puppet, palm, along, out):
    """The turn (4,) of a hand at rest after which its fingers point `along` and its palm faces `out`."""
    at_rest = rotation.rotate(puppet.figure.rest.rotations[0, palm.joint], np.array([palm.along, palm.out]))
    now, then = (np.stack([a, b, np.cross(a, b)], axis=-1) for a, b in
                 (at_rest, rotation.normalize(np.array([along, out]))))
    return rotation.from_matrix(rotation.orthonormal(then @ now.T))


def test_what_cannot_be_read_is_named(pole):
    puppet, _, _ = pole
    roles = {r: j for r, j in puppet.figure.roles.items() if r != "hips"}
    with pytest.raises(FootholdError, match="hips"):
        extract(puppet.figure._replace(roles=roles), puppet.motion, 60.0)
    one = puppet.motion._replace(positions=puppet.positions[:1], rotations=puppet.rotations[:1])
    with pytest.raises(FootholdError, match="one frame"):
        extract(puppet.figure, one, 60.0)
    box = script.Prop("crate", "box", size=(1.0, 1.0, 1.0), source="artist")
    with pytest.raises(FootholdError, match="crate.*object"):
        read(puppet, prop=box)
    handless = {r: j for r, j in puppet.figure.roles.items() if not r.startswith(("hand", "forearm", "middle"))}
    found = extract(puppet.figure._replace(roles=handless), puppet.motion, 60.0)
    assert any("No hand" in note for note in found.notes)


def test_the_thresholds_are_told_with_their_histograms(pole):
    _, _, found = pole
    assert {"foot speed", "hands from pole", "pole"} <= set(found.evidence)
    hands = found.evidence["hands from pole"]
    assert hands["clear"] and hands["zone"][0] <= hands["threshold"] <= hands["zone"][1]
    assert len(hands["edges"]) == len(hands["counts"]) + 1 and sum(hands["counts"]) == 2 * found.frames
    assert replace(found, evidence={}) != found


def test_a_performer_with_one_hand_holds_a_pole_with_it():
    puppet, grips = with_pole()
    roles = {r: j for r, j in puppet.figure.roles.items() if r != "hand.R"}
    found = extract(puppet.figure._replace(roles=roles), puppet.motion, puppet.fps)
    assert [p.name for p in found.props] == ["pole"]
    assert intervals(found, "hand.L", "grip")[0] == pytest.approx(grips[0][1:], abs=0.05)


def held_at(puppet, side, places):
    """Lead a palm to places, (start, end, place) each, and beside the hips between them."""
    sign = 1.0 if side == "L" else -1.0
    path = None
    for start, end, place in places:
        one = puppet.reached(np.array(place), sign, start, end)
        path = one if path is None else np.where(puppet.time[:, None] < start - 0.5, path, one)
    puppet.lead_palm(side, path)


def test_hands_that_hold_many_things_hold_no_pole():
    """Both hands meet on one upright line once, and hold other places for most of the time."""
    puppet = Puppet(16.0)
    puppet.sway(0.4)
    held_at(puppet, "L", [(1.0, 2.5, (0.0, -0.3, 1.3)), (4.0, 8.0, (0.5, 0.2, 1.5)), (9.5, 14.0, (0.4, -0.4, 1.9))])
    held_at(puppet, "R", [(1.0, 2.5, (0.0, -0.3, 1.7)), (4.0, 8.0, (-0.5, 0.1, 1.4)), (9.5, 14.0, (-0.4, -0.2, 1.8))])
    found = read(puppet)
    assert not [p for p in found.props if p.kind == "cylinder"]
    assert any("elsewhere" in note for note in found.notes)
    assert len([c for c in found.contacts if c.kind == "grip"]) == 6


def test_hands_that_hold_each_other_say_nothing_against_a_pole():
    puppet, grips = with_pole(20.0)
    clasped = (puppet.between(9.0, 9.5) * (1.0 - puppet.between(19.0, 19.5)))[:, None]
    for side, sign in (("L", 1.0), ("R", -1.0)):
        path = performer.place(performer.palms(puppet.figure)[side], puppet.motion)
        puppet.lead_palm(side, path + clasped * (np.array([0.02 * sign, 0.5, 1.0]) - path))
    found = read(puppet)
    assert [p.name for p in found.props] == ["pole"] and of(found, "hand.L", "clasp")
    for effector, start, end in grips:
        assert intervals(found, effector, "grip") == [pytest.approx((start, end), abs=1.5 / puppet.fps)]


def test_a_body_that_hardly_moves_tells_nothing_about_still_hands():
    puppet = Puppet(10.0)
    puppet.sway(0.02, 0.5)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        held_at(puppet, side, [(1.0, 3.0, (0.3 * sign, -0.3, 1.3)), (4.5, 6.0, (0.3 * sign, -0.3, 1.6)),
                               (7.5, 9.0, (0.3 * sign, -0.3, 1.9))])
    assert not read(puppet).props


def test_a_moment_below_the_floor_is_not_the_floor():
    puppet = Puppet(6.0)
    puppet.step("L", 2.0, 2.6)
    floor = read(puppet).floor
    dip = -0.12 * puppet.between(3.0, 3.1) * (1.0 - puppet.between(3.25, 3.35))
    for role in ("foot.R", "toe.R"):
        puppet.positions[:, puppet.joint(role), 2] += dip
    assert read(puppet).floor == pytest.approx(floor, abs=0.003)


def test_palms_face_down_in_a_t_pose_and_lie_beyond_the_wrist():
    figure = Puppet(1.0).figure
    for side, palm in performer.palms(figure).items():
        wrist = figure.rest.positions[0, palm.joint]
        place = performer.place(palm, figure.rest)[0]
        sign = 1.0 if side == "L" else -1.0
        assert place[2] < wrist[2] - 0.01 and 0.04 < sign * (place[0] - wrist[0]) < 0.12


def test_a_part_that_no_frame_sees_lies_within_its_plant():
    path = dict(zip("xyz", np.zeros((3, 60))))
    found = contact_extract._Found("foot.L", "floor", "plant", 5.4, 20.0, 0.0, 0.0, "sole", path, None, 1.0,
                                   (("heel", 5.4, 5.6), ("ball", 5.4, 20.0)))
    plant = contact_extract._written(found, 1.0, "foot.L:1", 1.0)
    assert all(plant.start <= part.start <= part.end <= plant.end for part in plant.parts)


def test_a_clean_hold_ends_where_the_hand_leaves_for_a_moment():
    """A palm that lies still within a tenth of a millimetre, and leaves by 3 cm for a third of a second: two holds,
    however far away the hand is in the rest of the clip."""
    time = np.arange(0.0, 12.0, 1.0 / 120.0)
    away = 0.032 * np.clip(1.0 - ((time - 6.0) / 0.18) ** 2, 0.0, None) ** 2  # from 5.82 s to 6.18 s
    away += 0.6 * np.clip((time - 10.0) / 1.0, 0.0, 1.0)
    away += 1e-4 * np.sin(40.0 * time)
    holds, = grips.find(away[:, None], 0.038, 120.0)  # the middle of a zone that is empty from 1 to 12 cm
    assert [(round(h.first), round(h.last)) for h in holds][0][0] == 0 and len(holds) == 2
    assert abs(holds[0].last / 120.0 - 5.82) < 0.05 and abs(holds[1].first / 120.0 - 6.18) < 0.05
