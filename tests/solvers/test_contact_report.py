"""Figures of contacts on bodies of boxes that stand, slide, sink and hold by known millimetres."""

import json
from dataclasses import replace

import numpy as np
import pytest
from puppet import Puppet, on_pole, with_pole
from skins import box, skin_of, tube

from foothold.solvers import contact_probe, contact_report, report, rotation, turnovers
from foothold.solvers.contacts import extract, performer, script
from foothold.solvers.contacts.script import Contact, ContactScript, Part, Prop

POLE = Prop("pole", "cylinder", (0.5, -1.0, 0.0), (0.0, 0.0, 1.0), 0.02)


def skin_for(figure):
    """Feet that stand on the floor, a trunk, an arm and a hand of boxes, a head that is a tube."""
    pieces = []
    for side, sign in (("L", 1.0), ("R", -1.0)):
        x = 0.09 * sign
        pieces += [(f"foot.{side}", box((x - 0.04, -0.13, 0.0), (x + 0.04, 0.06, 0.09))),
                   (f"toe.{side}", box((x - 0.04, -0.2, 0.0), (x + 0.04, -0.13, 0.03)))]
        elbow, wrist = (figure.rest.positions[0, figure.roles[f"{part}.{side}"]] for part in ("forearm", "hand"))
        tips = wrist + (0.18 * sign, 0.0, 0.0)
        for role, ends, wide, thick in (("forearm", (elbow, wrist), 0.03, 0.03), ("hand", (wrist, tips), 0.04, 0.02)):
            pieces.append((f"{role}.{side}", box(np.min(ends, axis=0) - (0.0, wide, thick),
                                                 np.max(ends, axis=0) + (0.0, wide, thick))))
    head = figure.rest.positions[0, figure.roles["head"]]
    pieces += [("chest", box((-0.15, -0.1, 1.0), (0.15, 0.1, 1.45))),
               ("head", tube(head, head + (0.0, 0.0, 0.2), (0.07, 0.07)))]
    return skin_of(figure, *pieces)


def posed(figure, skin, motion):
    """Places (F, N, 3) of a skin whose vertices have one bone each."""
    j = skin.bones[:, 0]
    own = rotation.rotate(rotation.conj(figure.rest.rotations[0, j]), skin.points - figure.rest.positions[0, j])
    return motion.positions[:, j] + rotation.rotate(motion.rotations[:, j], own)


def observed(puppet, props=(), first=1):
    """What is seen of a Puppet, its frames counted from `first`."""
    figure, motion = puppet.figure, puppet.motion
    skin = skin_for(figure)
    probe = contact_probe.probe(figure, skin, props)
    rows = [contact_probe.look(probe, points) for points in posed(figure, skin, motion)]
    return contact_report.Observed(figure, motion, performer.palms(figure), probe,
                                   contact_probe.Seen(*(np.stack(v) for v in zip(*rows))),
                                   np.arange(first, first + puppet.frames), puppet.time)


def plant(side="L", start=0.0, end=1.0, parts=("heel", "ball"), **other):
    return Contact(f"foot.{side}:1", f"foot.{side}", "floor", "plant", start, end,
                   parts=tuple(Part(part, start, end) for part in parts), **other)


def told(puppet, *contacts, props=()):
    """The report of a Puppet against contacts made by hand."""
    return contact_report.report(ContactScript(puppet.fps, puppet.frames, tuple(props), tuple(contacts), 0.0),
                                 observed(puppet, props))


def moved(puppet, roles, way, start=0.0, end=None):
    """Move joints by `way` (3,), metres, from `start` to `end` seconds."""
    rows = (puppet.time >= start - 1e-9) & (puppet.time <= (puppet.time[-1] if end is None else end) + 1e-9)
    for role in roles:
        puppet.positions[np.ix_(rows, [puppet.joint(role)])] += way


def turned(puppet, roles, about, turns):
    """Turn bones in the world by `turns` (F, 4) about places (3,)."""
    for role in roles:
        j = puppet.joint(role)
        puppet.positions[:, j] = about + rotation.rotate(turns, puppet.positions[:, j] - about)
        puppet.rotations[:, j] = rotation.mul(turns, puppet.rotations[:, j])


def faults_of(found, metric):
    return [f for f in found["faults"] if f["metric"] == metric]


def short(seconds=1.0):
    return Puppet(seconds)


# Soles

def test_who_stands_still_has_no_figure_above_zero():
    found = told(short(), plant("L"), plant("R"))
    metrics = found["metrics"]
    for name in ("skate_drift_mm", "skate_speed_mm_per_s", "floor_penetration_mm", "float_mm", "reach_shortfall_mm"):
        assert metrics[name]["worst"] == pytest.approx(0.0, abs=1e-9), name
    assert metrics["skate_drift_mm"]["count"] == 4  # heel and ball of both feet
    assert metrics["prop_penetration_mm"] is None and metrics["grip_surface_mm"]["worst"] is None
    assert not [f for f in found["faults"] if f["metric"] != "contact_lost_percent"]


def test_a_slide_is_told_with_its_plant_part_and_frame():
    puppet = short()
    moved(puppet, ("foot.L", "toe.L"), (0.003, 0.004, 0.0), start=0.8)
    found = told(puppet, plant("L"), plant("R"))
    drift = found["metrics"]["skate_drift_mm"]
    assert drift["worst"] == pytest.approx(5.0, abs=1e-6) and drift["median"] == pytest.approx(2.5, abs=1e-6)
    assert (drift["contact"], drift["worst_frame"]) == ("foot.L:1", 49) and drift["role"] in ("heel.L", "ball.L")
    assert drift["bone"] == "foot.L"
    # one jump of 5 mm in a second of each of two parts, none in the two others
    assert found["metrics"]["skate_speed_mm_per_s"]["mean"] == pytest.approx(2.5, rel=1e-6)
    assert {(f["contact"], f["role"], f["frame"]) for f in faults_of(found, "skate_drift_mm")} == {
        ("foot.L:1", "heel.L", 49), ("foot.L:1", "ball.L", 49)}
    assert [f["value"] for f in faults_of(found, "skate_speed_mm_per_s")] == pytest.approx([5.0, 5.0])


def test_only_the_part_that_stands_counts():
    """A foot that rolls over its ball: the heel goes up, the toes stay; what the heel does then is no skating."""
    puppet = short()
    about = puppet.figure.rest.positions[0, puppet.joint("toe.L")]
    turned(puppet, ["foot.L"], about, rotation.exp(puppet.between(0.3, 0.9)[:, None] * (0.7, 0.0, 0.0)))
    assert told(puppet, plant(parts=("ball",)))["metrics"]["skate_drift_mm"]["worst"] < 1e-6
    early = replace(plant(parts=("ball",)), parts=(Part("heel", 0.0, 0.3), Part("ball", 0.0, 1.0)))
    assert told(puppet, early)["metrics"]["skate_drift_mm"]["worst"] < 1e-6
    assert told(puppet, plant())["metrics"]["skate_drift_mm"]["worst"] > 15.0


def test_a_pivot_about_the_ball_moves_the_heel_alone():
    puppet = short()
    ball = performer.place(contact_probe.flesh.soles(puppet.figure, skin_for(puppet.figure)).points["ball.L"],
                           puppet.figure.rest)[0]
    turned(puppet, ("foot.L", "toe.L"), ball, rotation.exp(puppet.between(0.2, 0.8)[:, None] * (0.0, 0.0, 0.5)))
    assert told(puppet, plant(parts=("ball",)))["metrics"]["skate_drift_mm"]["worst"] < 1e-6
    assert told(puppet, plant(parts=("heel",)))["metrics"]["skate_drift_mm"]["worst"] > 20.0


def test_frames_outside_a_plant_do_not_count():
    puppet = short()
    moved(puppet, ("foot.L", "toe.L"), (0.05, 0.0, 0.0), start=0.5)
    found = told(puppet, plant(end=29 / 60))
    assert found["metrics"]["skate_drift_mm"]["worst"] < 1e-9 and found["metrics"]["float_mm"]["count"] == 30


# The floor

def test_sinking_and_floating_are_told_apart():
    puppet = short()
    moved(puppet, ("foot.L", "toe.L"), (0.0, 0.0, -0.007), start=0.2, end=0.2)
    moved(puppet, ("foot.R", "toe.R"), (0.0, 0.0, 0.005), start=0.4, end=0.5)
    found = told(puppet, plant("L"), plant("R"))
    sunk, gap = found["metrics"]["floor_penetration_mm"], found["metrics"]["float_mm"]
    assert sunk["worst"] == pytest.approx(7.0) and sunk["worst_frame"] == 13 and sunk["frames_over"] == 1
    assert sunk["role"] in ("foot.L", "toe.L") and sunk["median"] < 1e-9
    assert gap["worst"] == pytest.approx(5.0) and gap["contact"] == "foot.R:1" and 25 <= gap["worst_frame"] <= 31
    first = short()  # the worst is the first value of the second plant
    moved(first, ("foot.R", "toe.R"), (0.0, 0.0, 0.005), end=0.0)
    gap_at_once = told(first, plant("L"), plant("R"))["metrics"]["float_mm"]
    assert (gap_at_once["contact"], gap_at_once["worst_frame"]) == ("foot.R:1", 1)
    (fault,) = faults_of(found, "float_mm")
    assert fault["value"] == pytest.approx(5.0) and fault["limit"] == 1.0 and fault["severity"] == pytest.approx(5.0)
    assert len(faults_of(found, "floor_penetration_mm")) == 1


def test_all_of_the_body_may_not_sink():
    puppet = short()
    moved(puppet, ("head",), (0.0, 0.0, -1.8), start=0.9)
    sunk = told(puppet)["metrics"]["floor_penetration_mm"]
    head = puppet.figure.rest.positions[0, puppet.joint("head"), 2]
    assert sunk["worst"] == pytest.approx(1000.0 * (1.8 - head)) and sunk["role"] == "head" and sunk["bone"] == "head"


def test_a_step_carries_like_the_floor():
    puppet = short()
    moved(puppet, ("foot.L", "toe.L"), (0.0, 0.0, 0.2))
    on_step = plant(path={"time": [0.0, 1.0], "x": [0.0, 0.0], "y": [0.0, 0.0], "z": [0.2, 0.2]})
    metrics = told(puppet, on_step)["metrics"]
    assert metrics["float_mm"]["worst"] < 1e-9 and metrics["floor_penetration_mm"]["worst"] < 1e-9
    moved(puppet, ("foot.L", "toe.L"), (0.0, 0.0, -0.003), start=0.5, end=0.5)
    sunk = told(puppet, on_step)["metrics"]["floor_penetration_mm"]
    assert sunk["worst"] == pytest.approx(3.0) and sunk["contact"] == "foot.L:1" and sunk["worst_frame"] == 31
    # a sole's own height in the path is no step
    low = replace(on_step, path={**on_step.path, "z": [0.03, 0.03]})
    assert told(short(), low)["metrics"]["float_mm"]["worst"] < 1e-9


def test_without_a_floor_nothing_sinks():
    puppet = short()
    moved(puppet, ("foot.L", "toe.L"), (0.0, 0.0, 0.004), start=0.5)
    path = {"time": [0.0, 1.0], "x": [0.0, 0.0], "y": [0.0, 0.0], "z": [0.0, 0.0]}
    for stands, gap in ((plant(), None), (plant(path=path), 4.0)):
        found = contact_report.report(ContactScript(60.0, puppet.frames, (), (stands,), None), observed(puppet))
        assert found["metrics"]["floor_penetration_mm"] is None
        assert found["metrics"]["float_mm"]["worst"] == (None if gap is None else pytest.approx(gap))


# Grips

def holding(off=0.0, along=0.0, when=slice(None)):
    """A Puppet whose left palm is on POLE at the height 1.2, but for metres off its surface and along it."""
    puppet = short()
    place = np.tile([POLE.point[0], POLE.point[1] + POLE.radius, 1.2], (puppet.frames, 1))
    place[when] += (0.0, off, along)
    puppet.lead_palm("L", place)
    wrist = puppet.positions[:, puppet.joint("hand.L")]  # an arm as long as ever, bent, comes to it from above
    puppet.positions[:, puppet.joint("forearm.L")] = wrist + (0.0, 0.0, 0.24)
    puppet.positions[:, puppet.joint("upper_arm.L")] = wrist + (0.0, 0.2, 0.24)
    return puppet


def grip(**other):
    return Contact("hand.L:1", "hand.L", "pole", "grip", 0.0, 1.0,
                   path={"time": [0.0, 1.0], "height": [1.2, 1.2], "azimuth": [90.0, 90.0]}, **other)


@pytest.mark.parametrize("off", (0.003, -0.003))
def test_a_palm_beside_the_surface_is_off_by_that(off):
    found = told(holding(off=off, when=slice(20, 26)), grip(), props=[POLE])
    surface, along = (found["metrics"][f"grip_{word}_mm"] for word in ("surface", "along"))
    assert surface["worst"] == pytest.approx(3.0, abs=1e-6) and 21 <= surface["worst_frame"] <= 26
    assert surface["mean"] == pytest.approx(3.0 * 6 / 61, abs=1e-6) and along["worst"] < 1e-6
    assert surface["contact"] == "hand.L:1" and surface["bone"] == "hand.L"
    assert [f["metric"] for f in found["faults"] if f["metric"].startswith("grip")] == ["grip_surface_mm"]


def test_a_palm_beside_the_height_is_off_along_the_pole():
    found = told(holding(along=0.001), grip(), props=[POLE])
    assert found["metrics"]["grip_along_mm"]["median"] == pytest.approx(1.0, abs=1e-6)
    assert found["metrics"]["grip_surface_mm"]["worst"] < 1e-6
    (fault,) = faults_of(found, "grip_mean_mm")  # a millimetre is allowed, but not all the time
    assert fault["value"] == pytest.approx(1.0, abs=1e-6)


def test_how_far_round_a_pole_a_hand_holds_is_left_to_it():
    puppet = short()
    place, turns = on_pole(POLE.point, POLE.axis, POLE.radius, np.full(puppet.frames, 1.2), 40.0 * puppet.time)
    puppet.lead_palm("L", place, turns)
    metrics = told(puppet, grip(), props=[POLE])["metrics"]
    assert metrics["grip_surface_mm"]["worst"] < 1e-6 and metrics["grip_along_mm"]["worst"] < 1e-6


def test_what_is_out_of_reach_is_told_as_shortfall_and_not_as_error():
    puppet = holding(off=0.012, when=slice(30, 40))
    wrist = puppet.positions[:, puppet.joint("hand.L")]
    puppet.positions[:, puppet.joint("forearm.L")] = wrist + (0.0, 0.24, 0.0)
    puppet.positions[:, puppet.joint("upper_arm.L")] = wrist + (0.0, 0.52, 0.0)  # straight away from the pole
    found = told(puppet, grip(), props=[POLE])
    reach = found["metrics"]["reach_shortfall_mm"]
    assert reach["worst"] == pytest.approx(12.0, abs=1e-6) and reach["frames_short"] == 10
    assert reach["contacts"][0]["contact"] == "hand.L:1" and 31 <= reach["contacts"][0]["worst_frame"] <= 40
    assert found["metrics"]["grip_surface_mm"]["worst"] < 1e-6 and found["metrics"]["grip_surface_mm"]["count"] == 51
    assert len(faults_of(found, "reach_shortfall_mm")) == 1
    # the same gap of a bent arm is an error
    bent = told(holding(off=0.012, when=slice(30, 40)), grip(), props=[POLE])["metrics"]
    assert bent["reach_shortfall_mm"]["worst"] < 1e-6 and bent["grip_surface_mm"]["worst"] == pytest.approx(12.0)


def test_a_foot_that_a_straight_leg_does_not_bring_down_is_out_of_reach():
    puppet = short()
    moved(puppet, ("foot.L", "toe.L", "shin.L", "thigh.L"), (0.0, 0.0, 0.02), start=0.5)
    metrics = told(puppet, plant())["metrics"]
    assert metrics["reach_shortfall_mm"]["worst"] == pytest.approx(20.0, abs=1e-6)
    assert metrics["float_mm"]["worst"] == pytest.approx(20.0, abs=1e-6)


def test_a_place_that_is_no_known_shape_is_held_where_its_path_is():
    place = Prop("place 1", "place", (0.5, -1.0, 1.2), size=(0.03, 0.03, 0.03))
    path = {"time": [0.0, 1.0], "x": [0.5, 0.5], "y": [-0.98, -0.98], "z": [1.2, 1.2]}
    there = replace(grip(), surface="place 1", path=path)
    found = told(holding(off=0.004), there, props=[place])
    assert found["metrics"]["grip_surface_mm"]["median"] == pytest.approx(4.0, abs=1e-6)
    assert any("'place 1'" in note for note in found["notes"])
    crate = replace(place, name="crate", kind="box", object="Crate")
    found = told(holding(off=0.004), replace(there, surface="crate"), props=[crate])
    assert found["metrics"]["grip_surface_mm"]["worst"] is None
    assert any(note.startswith("Grips on 'crate'") for note in found["notes"])


# Props

def at_chest(depth, radius=0.02):
    """A pole whose surface lies `depth` metres inside the front of the chest, between its corners."""
    return Prop("pole", "cylinder", (0.02, -0.1 - radius + depth, 0.0), (0.0, 0.0, 1.0), radius)


def test_depth_in_a_pole_is_that_of_the_surface_not_of_the_vertices():
    for depth in (0.005, 0.018):
        inside = told(short(), props=[at_chest(depth)])["metrics"]["prop_penetration_mm"]
        assert inside["worst"] == pytest.approx(1000.0 * depth) and inside["role"] == "torso"
        assert inside["frames_over"] == 61 and inside["parts"] == {"torso": 61} and inside["bone"] == "chest"
    beside = told(short(), props=[at_chest(-0.001)])["metrics"]["prop_penetration_mm"]
    assert beside["worst"] == 0.0 and beside["frames_over"] == 0


def test_a_pole_within_the_trunk_is_not_overlooked():
    """Its axis touches no wall of the trunk, but comes out at its ends."""
    inside = told(short(), props=[replace(at_chest(0.0), point=(0.09, 0.0, 0.0))])["metrics"]["prop_penetration_mm"]
    assert inside["worst"] == pytest.approx(20.0)


def test_a_leaning_pole_is_as_deep_as_it_is():
    lean = np.radians(20.0)
    prop = Prop("pole", "cylinder", (0.0, -0.1 - 0.02 + 0.004, 1.2), (np.sin(lean), 0.0, np.cos(lean)), 0.02)
    assert told(short(), props=[prop])["metrics"]["prop_penetration_mm"]["worst"] == pytest.approx(4.0)


def test_runs_of_depth_are_faults_with_their_worst_frame():
    puppet = short()
    moved(puppet, ("chest",), (0.0, -0.006, 0.0), start=0.2, end=0.3)
    moved(puppet, ("chest",), (0.0, -0.009, 0.0), start=0.6, end=0.6)
    found = told(puppet, props=[at_chest(-0.002)])
    assert [(f["frame"], round(f["value"], 6), f["role"]) for f in faults_of(found, "prop_penetration_mm")] == [
        (13, 4.0, "torso"), (37, 7.0, "torso")]


def test_a_hand_in_a_prop_does_not_count_and_a_forearm_does():
    puppet = short()
    x, y, z = puppet.figure.rest.positions[0, puppet.joint("hand.L")]
    for along, part in ((0.05, None), (-0.1, "forearm.L")):
        prop = Prop("pole", "cylinder", (x + along, y - 0.04, 0.0), (0.0, 0.0, 1.0), 0.015)
        inside = told(puppet, props=[prop])["metrics"]["prop_penetration_mm"]
        assert inside["role"] == part and (inside["worst"] > 1.0) == (part is not None)


def test_what_touches_a_prop_on_purpose_is_no_fault():
    lying = Contact("back:1", "back", "pole", "rest-on", 0.0, 0.5)
    inside = told(short(), lying, props=[at_chest(0.005)])["metrics"]["prop_penetration_mm"]
    assert inside["frames_over"] == 61 - 33 and inside["worst_frame"] == 34  # half a second, and two frames
    elsewhere = told(short(), replace(lying, effector="thigh.L"), props=[at_chest(0.005)])
    assert elsewhere["metrics"]["prop_penetration_mm"]["frames_over"] == 61
    other = told(short(), replace(lying, surface="bar"), props=[at_chest(0.005), replace(POLE, name="bar")])
    assert other["metrics"]["prop_penetration_mm"]["frames_over"] == 61
    muted = told(short(), replace(lying, mute=True), props=[at_chest(0.005)])
    assert muted["metrics"]["prop_penetration_mm"]["frames_over"] == 61


# Found again

@pytest.fixture(scope="module")
def pole_dance():
    puppet, _ = with_pole()
    found = replace(extract.extract(puppet.figure, puppet.motion, puppet.fps), floor=0.0)  # the shoes'
    return puppet, found, observed(puppet, found.props)


def agreement(contacts, body):
    found = contact_report.report(contacts, body)
    return found["metrics"]["contact_agreement"], faults_of(found, "contact_lost_percent")


def test_contacts_are_found_again_in_the_motion_that_they_are_of(pole_dance):
    _, contacts, body = pole_dance
    scores, lost = agreement(contacts, body)
    assert scores["f1"] == 1.0 and scores["precision"] == 1.0 and scores["recall"] == 1.0 and not lost
    assert set(scores["kinds"]) == {c.kind for c in contacts.contacts}
    assert scores["frames"] == sum(int(round((c.end - c.start) * 60)) + 1 for c in contacts.contacts)


def test_edges_may_be_missed_by_two_frames():
    """A foot that is down and still for half a second, and the contact of one that comes down later."""
    puppet = short()
    moved(puppet, ("foot.L", "toe.L"), (0.0, 0.0, 0.1), end=14 / 60)
    body = observed(puppet)
    for frames, right in ((0, True), (2, True), (3, False)):
        late = ContactScript(60.0, puppet.frames, (), (plant("L", start=(15 + frames) / 60), plant("R")), 0.0)
        scores, _ = agreement(late, body)
        assert (scores["precision"] == 1.0) == right and scores["recall"] == 1.0


def test_a_contact_that_the_body_loses_is_named(pole_dance):
    puppet, contacts, body = pole_dance
    extra = replace(next(c for c in contacts.contacts if c.effector == "hand.R" and c.kind == "grip"), id="hand.R:9",
                    start=0.2, end=1.2, source="artist")
    scores, lost = agreement(replace(contacts, contacts=script.in_order((*contacts.contacts, extra))), body)
    (fault,) = lost
    assert fault["contact"] == "hand.R:9" and fault["value"] == pytest.approx(100.0) and fault["frame"] == 13
    assert scores["precision"] == 1.0 and scores["recall"] < 0.97
    assert scores["kinds"]["grip"]["f1"] < scores["kinds"]["plant"]["f1"] == 1.0


def test_what_is_muted_counts_neither_way(pole_dance):
    _, contacts, body = pole_dance
    quiet = [replace(c, mute=c.kind == "grip" and c.effector == "hand.L") for c in contacts.contacts]
    scores, lost = agreement(replace(contacts, contacts=tuple(quiet)), body)
    assert scores["f1"] == 1.0 and not lost
    without = [c for c in contacts.contacts if (c.kind, c.effector) != ("grip", "hand.L")]
    assert agreement(replace(contacts, contacts=tuple(without)), body)[0]["precision"] < 0.9


def test_where_nothing_is_asked_and_nothing_found_there_is_no_score():
    puppet = short()
    for side in "LR":
        moved(puppet, (f"foot.{side}", f"toe.{side}"), (0.0, 0.0, 0.05))
    found = told(puppet)
    assert found["metrics"]["contact_agreement"] is None and "F1" not in found["summary"]
    assert told(puppet, plant())["metrics"]["contact_agreement"]["f1"] == 0.0


def test_a_part_of_the_clip_is_measured_against_that_part(pole_dance):
    puppet, contacts, body = pole_dance
    rows = slice(60, 361)
    part = body._replace(motion=type(body.motion)(*(v[rows] for v in body.motion)),
                         seen=contact_probe.Seen(*(v[rows] for v in body.seen)), frames=body.frames[rows],
                         times=body.times[rows])
    found = contact_report.report(contacts, part)
    assert found["metrics"]["contact_agreement"]["f1"] == pytest.approx(1.0, abs=0.01)
    assert found["metrics"]["float_mm"]["worst_frame"] in body.frames[rows]
    assert found["metrics"]["grip_surface_mm"]["worst"] < 3.0


# The whole

def test_a_report_of_both_is_sorted_and_told_in_one_line():
    puppet = short()
    moved(puppet, ("foot.L", "toe.L"), (0.004, 0.0, 0.0), start=0.8)
    own = np.array([puppet.figure.skeleton.deforms]).ravel()
    side = report.Side(puppet.motion, puppet.figure.skeleton.names, puppet.figure.skeleton.parents,
                       puppet.figure.roles, own)
    taken = report.report(side, side, 60.0)
    found = told(puppet, plant())
    both = contact_report.join(taken, found)
    assert both["faults_total"] == len(taken["faults"]) + len(found["faults"]) == len(both["faults"])
    severities = [f["severity"] for f in both["faults"]]
    assert severities == sorted(severities, reverse=True) and both["faults"][0]["frame"] == 49
    assert both["contacts"]["metrics"] == found["metrics"] and "faults" not in both["contacts"]
    assert "soles drift by 4.00 mm" in both["summary"] and f"{both['faults_total']} faults" in both["summary"]
    assert set(taken) | {"contacts"} == set(both)


def test_the_same_input_gives_the_same_text(pole_dance):
    _, contacts, body = pole_dance
    texts = [json.dumps(contact_report.report(contacts, body), allow_nan=False) for _ in range(2)]
    assert texts[0] == texts[1]


def test_corrections_that_turn_over_are_counted():
    way = np.zeros((60, 3))
    way[10:30, 0] = 0.05
    assert len(turnovers.find(way)) == 0
    way[36:50, 0] = -0.05  # seven frames later, to the other side
    assert turnovers.find(way).tolist() == [[26, 39]]
    assert len(turnovers.find(0.5 * way)) == 0
    way[30:41] = 0.0  # twelve frames later
    assert len(turnovers.find(way)) == 0
    assert len(turnovers.find(way[:1])) == 0
