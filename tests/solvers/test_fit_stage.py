"""The take's world in the body's: props, floor, paths and licences."""

from dataclasses import replace

import numpy as np
import pytest
from figures import build, dance, layout, play

from foothold.solvers import transfer
from foothold.solvers.contacts.script import Contact, ContactScript, Prop
from foothold.solvers.fit import hands, stage
from foothold.solvers.skeleton import identity_channels

_AXIS = tuple(np.array([0.3, -0.2, 1.0]) / np.linalg.norm([0.3, -0.2, 1.0]))
_POLE = Prop("pole", point=(0.5, -0.4, 0.2), axis=_AXIS, radius=0.02)
_BOX = Prop("box", "box", point=(-1.0, 0.6, 0.3), size=(0.4, 0.5, 0.6))
_GRIP = Contact("g", "hand.L", "pole", "grip", 1.0, 3.0,
                path={"time": [1.0, 2.0, 3.0], "height": [1.0, 1.2, 1.4], "azimuth": [10.0, 20.0, 60.0]},
                licence={"height": [-0.1, 0.2], "slide": [0.0, 0.05], "azimuth": [-26.0, 26.0], "tilt": [-5.0, 5.0]})
_ON_BOX = Contact("b", "hand.R", "box", "grip", 0.5, 1.0, licence={"slide": [-0.1, 0.1]},
                  path={"time": [0.5, 1.0], "x": [-1.0, -0.9], "y": [0.6, 0.7], "z": [0.6, 0.62]})
_PLANT = Contact("p", "foot.L", "floor", "plant", 0.0, 1.0,
                 path={"time": [0.0, 1.0], "x": [0.1, 0.1], "y": [0.0, 0.0], "z": [0.0, 0.2]})
_KNEE = Contact("k", "hand.L", "knee.L", "rest-on", 0.0, 0.5,
                path={"time": [0.0], "x": [0.01], "y": [0.02], "z": [0.03]})
_SCRIPT = ContactScript(60.0, 241, (_POLE, _BOX), (_PLANT, _KNEE, _ON_BOX, _GRIP), 0.0)


def planned(travel=transfer.Travel(), body_origin=(0.0, 0.0, 0.0), **of_body):
    """(plan, motion) of a take on a body of other proportions."""
    source, body = build(), build(layout(**of_body), seed=8)
    motion = play(source, dance(source, 40))
    held = identity_channels(len(body.skeleton.names))
    return transfer.plan(source, body, held, 0.09, travel, np.zeros(3), np.array(body_origin)), motion


def laid(plan, script, lowest=0.0, size=1.0):
    """(the plan about the prop that is touched longest, the Stage, the script laid out there)."""
    plan = stage.centred(plan, script)
    own = stage.stage_of(plan, script, lowest)
    return plan, own, stage.laid_out(script, own, size)


@pytest.mark.parametrize("travel", [transfer.Travel(), transfer.Travel(horizontal=1.0),
                                    transfer.Travel(horizontal=0.5, vertical=1.3)])
def test_the_prop_that_is_held_longest_stays_where_it_is_held(travel):
    plan, _, out = laid(planned(travel, leg=0.8)[0], _SCRIPT)
    before, _ = hands.on_cylinder(_POLE, np.array([1.2]), np.zeros(1))
    after, _ = hands.on_cylinder(out.props[0], np.array([np.mean(out.contacts[-1].path["height"])]), np.zeros(1))
    assert after[0, :2] == pytest.approx(before[0, :2], abs=1e-12)
    assert plan.scale[0] != 1.0 or out.props[1].point[:2] == pytest.approx(_BOX.point[:2], abs=1e-12)


def test_a_body_that_begins_elsewhere_takes_the_prop_along():
    _, _, out = laid(planned(body_origin=(2.0, -1.0, 0.0), leg=0.8)[0], _SCRIPT)
    before, _ = hands.on_cylinder(_POLE, np.array([1.2]), np.zeros(1))
    after, _ = hands.on_cylinder(out.props[0], np.array([np.mean(out.contacts[-1].path["height"])]), np.zeros(1))
    assert after[0, :2] == pytest.approx(before[0, :2] + [2.0, -1.0], abs=1e-12)


def amid_thighs(figure, motion):
    """World path (F, 3) of the middle between the thigh joints."""
    return motion.positions[:, [figure.roles[f"thigh.{side}"] for side in "LR"]].mean(axis=1)


def test_thighs_and_props_lie_to_each_other_as_in_the_take_scaled():
    """The same way for the root and for what it goes to, or proportions would move a grip."""
    plan, motion = planned(transfer.Travel(horizontal=0.6, vertical=0.9), leg=0.8)
    plan, own, out = laid(plan, _SCRIPT)
    hers, its = amid_thighs(plan.source, motion), transfer.carried_path(plan, motion)
    grip, _ = hands.on_cylinder(_POLE, np.array(_GRIP.path["height"]), np.zeros(3))
    there, _ = hands.on_cylinder(out.props[0], np.array(out.contacts[-1].path["height"]), np.zeros(3))
    for k in range(3):
        assert its[:, :2] - there[k, :2] == pytest.approx(0.6 * (hers[:, :2] - grip[k, :2]), abs=1e-9)
        assert np.ptp(its[:, 2] - there[k, 2] - 0.9 * (hers[:, 2] - grip[k, 2])) < 1e-9


@pytest.mark.parametrize("scale", [(0.5, 0.9), (1.4, 1.1), (1.0, 1.0)])
def test_places_on_a_tilted_axis_are_those_of_the_take_scaled(scale):
    plan, own, out = laid(planned(transfer.Travel(horizontal=scale[0], vertical=scale[1]))[0], _SCRIPT)
    pole, grip = out.props[0], out.contacts[-1]
    before, _ = hands.on_cylinder(_POLE, np.array(_GRIP.path["height"]), np.zeros(3))
    after, _ = hands.on_cylinder(pole, np.array(grip.path["height"]), np.zeros(3))
    about, floor = plan.source_origin[:2], out.floor
    assert after[:, :2] == pytest.approx(about + scale[0] * (before[:, :2] - about), abs=1e-12)
    assert after[:, 2] == pytest.approx(floor + scale[1] * before[:, 2], abs=1e-12)
    assert np.linalg.norm(pole.axis) == pytest.approx(1.0, abs=1e-12)
    longer = np.linalg.norm(np.array(_AXIS) * (scale[0], scale[0], scale[1]))
    assert grip.licence["height"] == pytest.approx([-0.1 * longer, 0.2 * longer], abs=1e-12)
    assert grip.licence["slide"] == pytest.approx([0.0, 0.05 * longer], abs=1e-12)
    for name in ("azimuth", "tilt"):
        assert grip.licence[name] == _GRIP.licence[name]
    assert grip.path["azimuth"] == _GRIP.path["azimuth"] and grip.path["time"] == _GRIP.path["time"]


def test_places_on_boxes_and_floor_go_along_and_those_on_the_body_stay():
    plan, own, out = laid(planned(transfer.Travel(horizontal=0.5, vertical=0.8))[0], _SCRIPT, lowest=0.03)
    plant, knee, on_box, _ = out.contacts
    about = plan.source_origin[:2]
    for one, was in ((plant, _PLANT), (on_box, _ON_BOX)):
        before = np.stack([was.path[a] for a in "xyz"], axis=-1)
        after = np.stack([one.path[a] for a in "xyz"], axis=-1)
        assert after[:, :2] == pytest.approx(about + 0.5 * (before[:, :2] - about), abs=1e-12)
        assert after[:, 2] == pytest.approx(0.03 + 0.8 * before[:, 2], abs=1e-12)
    assert knee == _KNEE
    assert out.props[1].point[2] == pytest.approx(0.03 + 0.8 * 0.3, abs=1e-12)


def test_a_pole_stays_as_thick_as_it_is_and_a_box_goes_with_the_places_on_it_unless_asked():
    plan, _ = planned(transfer.Travel(horizontal=0.5, vertical=0.8))
    pole, box = laid(plan, _SCRIPT)[2].props
    assert pole.radius == _POLE.radius and box.size == pytest.approx((0.2, 0.25, 0.48))
    pole, box = laid(plan, _SCRIPT, size=1.5)[2].props
    assert pole.radius == pytest.approx(0.03) and box.size == pytest.approx((0.3, 0.375, 0.72))


@pytest.mark.parametrize("script", [
    replace(_SCRIPT, contacts=()), replace(_SCRIPT, contacts=(_PLANT, _KNEE)), replace(_SCRIPT, props=()),
    replace(_SCRIPT, contacts=(replace(_GRIP, mute=True), _PLANT))])
def test_where_no_prop_is_touched_the_plan_is_as_it_was(script):
    plan, _ = planned(leg=0.8)
    assert stage.centred(plan, script) is plan


def test_a_muted_contact_does_not_make_a_prop_the_middle():
    plan, _ = planned(leg=0.8)
    script = replace(_SCRIPT, contacts=(_ON_BOX, replace(_GRIP, mute=True)))
    assert stage.centred(plan, script).source_origin[:2] == pytest.approx(_BOX.point[:2], abs=1e-12)


def test_an_equal_body_has_the_same_world():
    plan, _ = planned()
    plan, own, out = laid(plan, _SCRIPT)
    points = np.random.default_rng(3).normal(size=(20, 3))
    assert own.place(points) == pytest.approx(points, abs=1e-9)
    assert out.floor == pytest.approx(0.0, abs=1e-9)
    for one, was in zip(out.props, _SCRIPT.props):
        assert one.point == pytest.approx(was.point, abs=1e-9) and one.axis == pytest.approx(was.axis, abs=1e-12)


@pytest.mark.parametrize("lift", [0.0, 1.0, -0.7])
@pytest.mark.parametrize("sole", [0.0, -0.02, 0.05])
def test_the_floor_lies_under_the_soles_of_a_body_that_stands(sole, lift):
    """Wherever its rest hangs; the soles are `sole` over the place 9 cm under the ankles."""
    plan, _ = planned(leg=0.8)
    parts = layout(leg=0.8)
    parts["hips"] = (None, (0.0, 0.0, 0.78 + lift))
    plan = transfer.plan(plan.source, build(parts), identity_channels(len(parts)), 0.09)
    assert stage.stage_of(plan, _SCRIPT, lift + sole).body_floor == pytest.approx(sole, abs=1e-12)


def test_without_soles_the_floor_goes_with_the_heights_of_the_thighs():
    plan, motion = planned(transfer.Travel(vertical=0.9), leg=0.8)
    own = stage.stage_of(plan, replace(_SCRIPT, floor=0.1), None)
    hers = amid_thighs(plan.source, motion)[:, 2] - 0.1
    assert transfer.carried_path(plan, motion)[:, 2] - own.body_floor == pytest.approx(0.9 * hers, abs=1e-12)


def test_a_take_without_floor_has_none():
    plan, _ = planned(leg=0.8)
    for lowest in (None, 0.0):
        _, own, out = laid(plan, replace(_SCRIPT, floor=None), lowest)
        assert out.floor is None and own.source_floor == plan.source_origin[2] and np.isfinite(own.body_floor)
