"""Stages that faults are from, on puppets whose earlier motions are known by construction."""

import numpy as np
import pytest
from figures import build, dance, layout, play
from puppet import Puppet
from test_contact_report import POLE, moved, observed, plant, posed, skin_for

from foothold.solvers import contact_probe, contact_report, report, stages, transfer, turnovers
from foothold.solvers.contacts.script import Contact, ContactScript, in_order
from foothold.solvers.skeleton import identity_channels

GRIP = Contact("hand.L:1", "hand.L", "pole", "grip", 0.2, 0.6,
               path={"time": [0.2, 0.6], "height": [1.4, 1.4], "azimuth": [0.0, 0.0]})


def script_of(puppet):
    return ContactScript(puppet.fps, puppet.frames, (POLE,),
                         tuple(in_order([plant("L"), plant("R", 0.1, 0.7), GRIP])), 0.0)


def troubled(seed):
    """A Puppet that slides, sinks, floats and passes through the pole, another one for each seed."""
    draw, puppet = np.random.default_rng(seed), Puppet(1.0)
    for side in "LR":
        moved(puppet, (f"foot.{side}", f"toe.{side}"), draw.normal(size=3) * 0.02, start=0.3, end=0.4 + 0.1 * seed)
    moved(puppet, ("chest", "forearm.L"), (0.4, -0.9, 0.0), start=0.5, end=0.6 + 0.05 * seed)
    return puppet


# What the figure of a fault was in another motion

@pytest.mark.parametrize("seed", range(4))
def test_asked_again_of_the_same_motion_every_fault_has_its_own_figure(seed):
    puppet = troubled(seed)
    script, body = script_of(puppet), observed(puppet, (POLE,), first=7)
    faults = contact_report.report(script, body)["faults"]
    assert {"skate_drift_mm", "skate_speed_mm_per_s", "float_mm", "prop_penetration_mm",
            "contact_lost_percent"} <= {fault["metric"] for fault in faults}
    assert contact_report.again(script, body, faults) == pytest.approx([fault["value"] for fault in faults])


def test_asked_again_of_another_motion_it_has_what_happens_there_in_those_frames():
    late, early = Puppet(1.0), Puppet(1.0)
    moved(late, ("foot.L", "toe.L"), (0.0, 0.0, -0.002), start=0.5, end=0.6)
    moved(early, ("foot.L", "toe.L"), (0.0, 0.0, -0.007), start=0.55, end=0.58)
    moved(early, ("foot.L", "toe.L"), (0.0, 0.0, -0.05), start=0.1, end=0.2)
    moved(early, ("foot.R", "toe.R"), (0.0, 0.0, -0.03), start=0.1, end=0.9)
    script = ContactScript(60.0, late.frames, (), (), 0.0)
    (fault,) = contact_report.report(script, observed(late))["faults"]
    assert (fault["first"], fault["last"], fault["value"]) == (31, 37, pytest.approx(2.0))
    assert contact_report.again(script, observed(early), [fault]) == pytest.approx([7.0]), "that foot, in those frames"
    assert contact_report.again(script, observed(Puppet(1.0)), [fault]) == pytest.approx([0.0])


def test_speed_acceleration_and_way_are_asked_again_likewise():
    from test_report import side, spin, wander

    turns, root = wander()
    turns["head"] = spin((0.0, 0.0, 1.0), np.concatenate([np.zeros(30), np.linspace(0.0, 900.0, 30)]))
    fast = side(turns, root + 0.1 * np.sin(np.arange(60))[:, None])
    still = side(*wander())
    frames = np.arange(11, 71)
    faults = report.report(still, fast, 60.0, frames, pure_transfer=False)["faults"]
    assert {"angular_speed_deg_per_s", "acceleration_ratio", "root_path_rms_percent_of_leg"} <= {
        fault["metric"] for fault in faults}
    assert report.again(faults, still, fast, 60.0, frames) == pytest.approx([fault["value"] for fault in faults])
    for fault, value in zip(faults, report.again(faults, still, still, 60.0, frames)):
        assert value < fault["limit"]


# Motions of the stages before

@pytest.fixture(scope="module")
def played():
    """(transfer.Plan onto a body of other proportions, the take's motion, the transferred one)."""
    source, body = build(seed=3), build(layout(arm=0.8, leg=0.7), seed=5)
    motion = play(source, dance(source, 40))
    plan = transfer.plan(source, body, identity_channels(len(body.skeleton.names)), 0.0)
    return plan, motion, stages.transferred(plan, motion)


def test_the_skin_of_the_transferred_motion_is_where_its_bones_carry_it(played):
    plan, _, motion = played
    skin = skin_for(plan.body)
    probe = contact_probe.probe(plan.body, skin, (POLE,))
    truth = [contact_probe.look(probe, points) for points in posed(plan.body, skin, motion)]
    mask = np.zeros(40, bool)
    mask[[0, 7, 8, 39]] = True
    whole = stages.bound(skin, plan.body.rest)
    seen = [contact_probe.look(probe, points) for points in stages.placed(skin, whole, motion, np.flatnonzero(mask))]
    out = stages.spread(seen, mask, contact_probe.Seen(*(np.stack(values) for values in zip(*truth))))
    for values, *right in zip(out, *truth):
        assert values[mask] == pytest.approx(np.array(right)[mask], abs=1e-9)
        assert np.isnan(values[~mask]).all()


def test_skin_that_no_bone_carries_stays_where_it_is(played):
    plan, _, motion = played
    skin = skin_for(plan.body)
    loose = skin._replace(points=np.concatenate([skin.points, [[0.1, 0.2, 0.3]]]),
                          bones=np.concatenate([skin.bones, [[-1] * 4]]),
                          weights=np.concatenate([skin.weights, [[0.0] * 4]]), rigid=np.append(skin.rigid, False))
    points = stages.placed(loose, stages.bound(loose, plan.body.rest), motion, np.array([5, 20]))
    assert points[:, -1] == pytest.approx(np.array([[0.1, 0.2, 0.3]] * 2), abs=1e-12)
    assert points[:, :-1] == pytest.approx(posed(plan.body, skin, motion)[[5, 20]], abs=1e-9)


@pytest.mark.parametrize("size", (1.0, 0.6))
def test_a_performer_who_slides_is_told_in_the_bodys_millimetres(played, size):
    plan = played[0]._replace(scale=(size, 1.0))
    take = Puppet(1.0)
    moved(take, ("foot.L", "toe.L"), (0.006, 0.008, 0.0), start=0.8)
    performer = stages.performed(plan._replace(source=take.figure), take.motion, np.arange(1, 62), take.time)
    script = ContactScript(60.0, 61, (), (plant("L"), plant("R")), 0.0)
    drifts = {(piece.contact, piece.role): piece.values.max() for piece in contact_report._drifts(script, performer)}
    assert drifts["foot.L:1", "heel.L"] == pytest.approx(10.0 * size) == drifts["foot.L:1", "ball.L"]
    assert drifts["foot.R:1", "heel.R"] == pytest.approx(0.0, abs=1e-9)


def test_corrections_that_turn_over_are_faults_with_their_joint_and_length():
    from test_report import side, wander

    before = side(*wander())
    after = side(*wander())
    j = after.roles["hand.L"]
    after.motion.positions[20:25, j, 0] += 0.05
    after.motion.positions[25:30, j, 0] -= 0.04
    (fault,) = stages.turned_over(after, before, np.arange(1, 61), 60.0)
    assert (fault["metric"], fault["role"], fault["limit"]) == ("turnover_mm", "hand.L", 1000.0 * turnovers.LENGTH)
    assert fault["value"] == pytest.approx(50.0) and 21 <= fault["frame"] <= 25
    assert fault["first"] <= 21 and fault["last"] >= 26
    assert stages.turned_over(before, before, np.arange(1, 61), 60.0) == []


# Which stage it is

@pytest.mark.parametrize("before, stage", [
    ({}, "contacts"), ({"transfer": 0.0}, "contacts"), ({"transfer": 0.9}, "contacts"), ({"transfer": 4.9}, "contacts"),
    ({"transfer": 5.1}, "transfer"), ({"transfer": 300.0}, "transfer"), ({"take": 0.0, "transfer": 5.1}, "transfer"),
    ({"take": 6.0, "transfer": 0.0}, "take"), ({"take": 6.0, "transfer": 9.0}, "take"), ({"take": 4.0}, "contacts")])
def test_a_fault_is_from_the_first_stage_that_has_half_of_it_and_more_than_the_limit(before, stage):
    assert stages.brought_in({"value": 10.0, "limit": 1.0}, before) == stage


def test_half_of_a_fault_within_the_limit_is_none():
    assert stages.brought_in({"value": 1.1, "limit": 1.0}, {"transfer": 0.95}) == "contacts"


def test_each_fault_is_asked_of_the_motions_that_can_tell_it(played):
    late, early, take = troubled(1), troubled(2), troubled(3)
    script = script_of(late)
    frames = np.arange(1, late.frames + 1)
    plan = played[0]._replace(source=take.figure, scale=(1.0, 1.0))
    faults = contact_report.report(script, observed(late, (POLE,)))["faults"]
    found = stages.earlier(faults, None, None, script, observed(early, (POLE,)),
                           stages.performed(plan, take.motion, frames, take.time), 60.0, frames)
    again = contact_report.again(script, observed(early, (POLE,)), faults)
    for fault, before, value in zip(faults, found, again):
        assert before["transfer"] == value
        assert ("take" in before) == fault["metric"].startswith("skate")
    assert any(before.get("take", 0.0) > 1.0 for before in found)
    mask = stages.asked(faults, frames)
    assert all(mask[fault["first"] - 1:fault["last"]].all() for fault in faults)


def test_the_counts_and_the_sentence_name_each_stage():
    faults = [{"stage": stage} for stage in ("contacts", "take", "contacts", None)]
    assert stages.counts(faults) == {"take": 1, "contacts": 2}
    told = {"stages": {"take": 1, "contacts": 2}, "faults": faults, "faults_total": 4}
    assert stages.sentence(told) == "Stages that brought in these faults: take 1, contacts 2."
    assert "the worst 4 faults" in stages.sentence({**told, "faults_total": 300})
    assert stages.sentence({**told, "stages": {}}) == ""
