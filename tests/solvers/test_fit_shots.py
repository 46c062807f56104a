"""A take that is cut: each of its shots is fitted as if it were all there is."""

import numpy as np
import pytest
from test_fit_ground import Scene

from foothold.solvers import turnovers
from foothold.solvers.contacts import script as scripts
from foothold.solvers.fit.fit import fit
from foothold.solvers.fit.wish import Wish
from foothold.solvers.skeleton import Motion

FPS, LONG = 20.0, 81
JUMP = np.array([0.4, -0.6, 0.0])


@pytest.fixture(scope="module")
def scene():
    return Scene("on one leg")


def before_it(scene, frames, off):
    """(motion, palms, script) of the scene after so many frames of its first pose, `off` (3,) from where it begins."""
    motion = Motion(*(np.concatenate([values[:1].repeat(frames, axis=0), values]) for values in scene.motion))
    motion.positions[:frames] += off
    palms = {side: np.concatenate([path[:1].repeat(frames, axis=0) + off, path]) for side, path in scene.palms.items()}
    late = [scripts.replace(c, start=c.start + frames / FPS, end=c.end + frames / FPS) for c in scene.script.contacts]
    return motion, palms, scripts.replace(scene.script, frames=frames + LONG, contacts=tuple(late))


@pytest.mark.parametrize("frames", [1, 30])
def test_a_shot_is_fitted_as_by_itself(scene, frames):
    motion, palms, script = before_it(scene, frames, JUMP)
    whole = fit(scene.body, script, motion, palms, FPS)
    alone = fit(scene.body, scene.script, scene.motion, scene.palms, FPS)
    assert alone.offset.any() or any(moved.any() for moved in alone.moved.values())
    assert np.array_equal(whole.pose.rotations[frames:], alone.pose.rotations)
    assert np.array_equal(whole.pose.hips[frames:], alone.pose.hips)
    assert np.array_equal(whole.offset[frames:], alone.offset) and not whole.offset[:frames].any()
    assert {limb: path[frames:].tolist() for limb, path in whole.moved.items()} == \
        {limb: path.tolist() for limb, path in alone.moved.items()}
    assert whole.script.contacts[0].start == pytest.approx(script.contacts[0].start)


def test_a_shot_that_touches_nothing_rises_as_it_is(scene):
    """A pose that the take begins with, under its floor: no limb bends to get over it, but the way of the body."""
    under = 0.1
    motion, palms, script = before_it(scene, 1, JUMP - [0.0, 0.0, under])
    whole = fit(scene.body, script, motion, palms, FPS)
    raw = fit(scene.body, scripts.replace(script, contacts=()), motion, palms, FPS)
    assert np.array_equal(whole.pose.rotations[0], raw.pose.rotations[0])
    low = scene.lowest(scene.before)[0]
    assert whole.offset[0] == pytest.approx([0.0, 0.0, under - low], abs=1e-3)
    assert whole.offset[1:, 2].max() < 0.5 * under, "and nothing of it goes over the cut"


def test_frames_are_told_as_of_the_whole_clip(scene):
    motion, palms, script = before_it(scene, 30, JUMP)
    contact = script.contacts[0]
    middle = int(round(0.5 * (contact.start + contact.end) * FPS))
    joint = scene.figure.roles["thigh.R"]
    turned = np.array([np.cos(0.4), np.sin(0.4), 0.0, 0.0])
    out = fit(scene.body, script, motion, palms, FPS, wishes=[Wish(joint, middle, turned, None)])
    assert out.broken and {one.frame for one in out.broken} == {middle}


def test_a_cut_is_no_turnover():
    way = np.zeros((60, 3))
    way[:20, 0], way[20:, 0] = 0.05, -0.05
    assert turnovers.find(way).tolist() == [[10, 29]]
    assert turnovers.find(way, [slice(0, 20), slice(20, 60)]).tolist() == []
    way[40:, 0] = 0.05
    assert turnovers.find(way, [slice(0, 20), slice(20, 60)]).tolist() == [[30, 49]]
