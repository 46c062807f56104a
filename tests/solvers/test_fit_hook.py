"""What touches a pole on purpose lies at its own gap while it does: from too far away, and from inside."""

import numpy as np
import pytest
from test_fit_clear import _FPS, _TOUCHES, Scene

from foothold.solvers import rotation
from foothold.solvers.contacts.script import Contact
from foothold.solvers.fit import net, obstacle

_ROWS = slice(_TOUCHES[0], _TOUCHES[1] + 1)
_FREE = ("hand.R", "foot.R")


def touch(effector, gap):
    """A contact with the pole from frame 25 to 35 at a gap in metres; none tells no gap."""
    start, end = _TOUCHES[0] / _FPS, _TOUCHES[1] / _FPS
    path = {"time": [start, end], "gap": [gap, gap]} if gap is not None else {}
    return Contact("hook", effector, "pole", "rest-on", start, end, path=path)


def fitted(part, depth, gap, led=_FREE, effector=None):
    """(Scene, Fitted, gaps (F,) in metres of the part's skin from the pole) with a touch of the part."""
    scene = Scene(part, depth, led)
    out, motion = scene.fit(contacts=(*scene.script.contacts, touch(effector or f"{part}.L", gap)))
    names = scene.figure.skeleton.names
    own = [names.index(r) for r in (("hips", "chest") if part == "hips" else (f"{part}.L",))]
    skin = scene.skin._replace(weights=np.where(np.isin(scene.skin.bones[:, :1], own), scene.skin.weights, 0.0))
    pole = obstacle.pole_of(scene.pole)
    whole = net.net(scene.body.bound, skin, net.edges_of(skin))
    # the same gap, found by making the pole thicker until it touches
    frames = len(motion.positions)
    way = np.broadcast_to(-scene.away, (frames, 3))
    low, high = np.full(frames, -0.02), np.full(frames, 0.6)
    for _ in range(40):
        middle = 0.5 * (low + high)
        inside = obstacle.push(pole, whole, motion, way, np.ones(frames, bool), middle).amount > 0.0
        low, high = np.where(inside, low, middle), np.where(inside, middle, high)
    return scene, out, motion, low


@pytest.mark.parametrize("part", ["thigh", "shin", "forearm"])
@pytest.mark.parametrize("depth, gap", [(-0.05, 0.0), (0.03, 0.0), (0.03, -0.008), (-0.02, 0.01), (-0.03, None)])
def test_a_free_limb_lies_at_the_gap_of_its_touch(part, depth, gap):
    scene, out, motion, has = fitted(part, depth, gap)
    assert not out.misses and not out.left
    np.testing.assert_allclose(has[_ROWS], gap or 0.0, atol=3e-4)
    outside = np.ones(len(has), bool)
    outside[_TOUCHES[0] - 12:_TOUCHES[1] + 13] = False
    assert has[outside].min() > 0.0


@pytest.mark.parametrize("part", ["thigh", "shin", "forearm"])
def test_nothing_jerks_on_the_way(part):
    scene, _, motion, _ = fitted(part, -0.05, 0.0)
    assert scene.fastest(motion) < 6.0, "120 degrees a second at 20 frames a second"


@pytest.mark.parametrize("led", [_FREE, ("hand.L", "hand.R", "foot.L", "foot.R")])
def test_the_back_is_brought_to_the_pole(led):
    """The trunk 4 cm away: the root goes there, hands and feet stay where they hold and stand."""
    scene, out, motion, has = fitted("hips", -0.04, 0.0, led, "back")
    assert not out.misses and not out.left
    np.testing.assert_allclose(has[_ROWS], 0.0, atol=1e-3)
    assert scene.off_ledge(out, motion) < 1e-6 and scene.slid(motion) < 1e-6


def test_what_cannot_touch_is_told():
    """The pole is half a metre away: a shin does not get there, and what remains is told in millimetres."""
    _, out, _, has = fitted("shin", -0.5, 0.0)
    assert [miss.effector for miss in out.misses] == ["shin.L"] and out.misses[0].surface == "pole"
    assert out.misses[0].millimetres > 50.0


def test_another_side_is_left_alone():
    """A touch of the right thigh says nothing about the left one, which is kept out of the pole."""
    scene = Scene("thigh", 0.03, ("hand.R", "foot.L"))
    out, motion = scene.fit(contacts=(*scene.script.contacts, touch("forearm.L", -0.02)))
    assert scene.inside(motion).max() < 0.0
    assert rotation.angle(out.pose.rotations, scene.raw.rotations).max() > 0.0
