"""Feet of a rest whose soles do not lie level: what is constant about it is taken away for good."""

import numpy as np
import pytest
from bodies import flesh_of
from figures import build, layout

from foothold.solvers import rotation, transfer
from foothold.solvers.contacts.script import Contact, ContactScript
from foothold.solvers.fit.body import body_of
from foothold.solvers.fit.level import levelled
from foothold.solvers.skeleton import Motion, identity_channels

_FPS, _FRAMES = 60.0, 200
_STOOD = slice(40, 101)
_UP = np.array([0.0, 0.0, 1.0])


def tilted(side, roll=23.0, pitch=-8.0):
    """The turn (4,) of a foot that lies with its outer edge and its toes down at rest, mirrored on the right."""
    return rotation.exp(np.radians([pitch, roll if side == "L" else -roll, 0.0]))


def taken(still=_STOOD):
    """(source, its motion, script): its rest carries feet as `tilted` has them; they stand flat at the frames `still`,
    each heading somewhere, and swing freely otherwise."""
    source = build(seed=3)
    draw = np.random.default_rng(2)
    turns = np.tile(source.rest.rotations, (_FRAMES, 1, 1))
    time = np.linspace(0.0, 6.0, _FRAMES)
    swing = np.ones(_FRAMES)
    swing[still] = 0.0
    for side in "LR":
        heading = rotation.exp((0.3 * np.sin(time + draw.uniform(0.0, 6.0)))[:, None] * _UP)
        free = rotation.exp(swing[:, None] * 0.5 * np.sin(time)[:, None] * draw.normal(size=3))
        flat = rotation.mul(heading, rotation.conj(tilted(side)))  # what brings the rest's sole level, and about
        for role in (f"foot.{side}", f"toe.{side}"):
            turns[:, source.roles[role]] = rotation.mul(rotation.mul(free, flat), turns[:, source.roles[role]])
    positions = np.tile(source.rest.positions, (_FRAMES, 1, 1))
    contacts = tuple(Contact(f"foot.{s}:1", f"foot.{s}", "floor", "plant", still.start / _FPS, (still.stop - 1) / _FPS)
                     for s in "LR")
    return source, Motion(positions, turns), ContactScript(_FPS, _FRAMES, (), contacts, 0.0)


def planned(source, skinned=True):
    figure = build(layout(leg=0.9), seed=5)
    held = identity_channels(len(figure.skeleton.names))
    return body_of(transfer.plan(source, figure, held, 0.09), flesh_of(figure) if skinned else None)


def up_of_soles(body, motion):
    """Where the body's soles look up to, side -> (F, 3): its boxes lie level at rest."""
    pose, _ = transfer.world_pose(body.plan, motion)
    out = {}
    for role in ("foot.L", "foot.R", "toe.L", "toe.R"):
        at_rest = body.plan.body.rest.rotations[0, body.plan.body.roles[role]]
        out[role] = rotation.rotate(rotation.mul(body.turns(role, pose.rotations), rotation.conj(at_rest)), _UP)
    return out


def test_feet_lie_as_the_performers_all_the_time():
    source, motion, script = taken()
    before = planned(source)
    after = levelled(before, script, motion, _FPS)
    tilts, level = up_of_soles(before, motion), up_of_soles(after, motion)
    for role, up in level.items():
        hers = rotation.mul(motion.rotations[:, source.roles[role]],
                            rotation.conj(source.rest.rotations[0, source.roles[role]]))
        hers = rotation.rotate(rotation.mul(hers, tilted(role[-1])), _UP)  # of a sole that is tilted at rest
        assert np.degrees(rotation.vector_angle(tilts[role][_STOOD], _UP)).min() > 20.0
        assert np.degrees(rotation.vector_angle(up, hers)).max() < 0.01, "standing and free"


def test_headings_and_all_other_bones_stay():
    source, motion, script = taken()
    before = planned(source)
    after = levelled(before, script, motion, _FPS)
    feet = [k for k, role in enumerate(before.plan.answered) if role.split(".")[0] in ("foot", "toe")]
    rest = [k for k in range(len(before.plan.answered)) if k not in feet]
    one, other = (transfer.world_pose(body.plan, motion)[0].rotations for body in (before, after))
    assert np.array_equal(one[:, rest], other[:, rest])
    turn = rotation.mul(other[:, feet], rotation.conj(one[:, feet]))
    about_up = rotation.twist_angle(turn[_STOOD].reshape(-1, 4), _UP)
    assert np.degrees(np.abs(about_up)).max() < 3.0  # of two tilts that do not commute


@pytest.mark.parametrize("script", [ContactScript(_FPS, _FRAMES, (), (), 0.0), taken(slice(40, 42))[2]],
                         ids=["none", "two frames"])
def test_feet_that_hardly_stand_are_left_alone(script):
    source, motion, _ = taken()
    body = planned(source)
    assert np.array_equal(levelled(body, script, motion, _FPS).plan.turned_rest, body.plan.turned_rest)


def test_a_body_without_skin_stays_as_it_is():
    source, motion, script = taken()
    body = planned(source, skinned=False)
    assert levelled(body, script, motion, _FPS) is body


def test_some_frames_in_which_a_foot_is_not_flat_do_not_count():
    source, motion, script = taken(slice(40, 160))
    turn = rotation.exp(np.radians([40.0, 0.0, 0.0]))
    for side in "LR":
        motion.rotations[130:160, source.roles[f"foot.{side}"]] = rotation.mul(
            turn, motion.rotations[130:160, source.roles[f"foot.{side}"]])
    body = levelled(planned(source), script, motion, _FPS)
    up = up_of_soles(body, motion)
    assert np.degrees(rotation.vector_angle(up["foot.L"][40:130], _UP)).max() < 0.5
