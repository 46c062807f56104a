"""Hands and feet that nothing leads are kept out of a pole, too; what comes near to hold it is not pushed away."""

import numpy as np
import pytest
from bodies import THICK, skinned
from test_fit_clear import _FPS, _FRAMES, _PARTS, _RADIUS, _TOUCHES, Scene

from foothold.solvers.contacts.script import Contact
from foothold.solvers.fit import net, obstacle
from foothold.solvers.fit.body import body_of

_X, _Y, _Z = np.eye(3)
_AXES = {"hand": _Z, "foot": _Y}  # of a pole that the rest of the body does not come near
_DEPTH = 0.02  # metres


class End(Scene):
    """A performer whose left hand or foot sways sideways into a pole."""

    def __init__(self, monkeypatch, part, led=("hand.R", "foot.R")):
        self.part = part
        monkeypatch.setitem(_PARTS, part, (_X, _AXES[part]))
        monkeypatch.setitem(THICK, part, 0.0)
        super().__init__(part, _DEPTH, led)

    def middle(self, part):
        """World place (3,) of the outermost of its skin while it is nearest: before a hand, amid a foot."""
        own = self.skin.bones[:, 0] == self.figure.skeleton.names.index(f"{part}.L")
        points = skinned(body_of(self.plan, self.skin).bound, self.skin, self.before)[_FRAMES // 2, own]
        return np.array([points[:, 0].max(), points[:, 1].min() + 0.01, points[:, 2].mean()])

    def depth(self, motion):
        """How far (F,) the part has to go to be beside the pole; all of its edges are looked at."""
        names = self.figure.skeleton.names
        own = np.isin(self.skin.bones[:, :1], [names.index(f"{self.part}.L")])
        skin = self.skin._replace(weights=np.where(own, self.skin.weights, 0.0))
        whole = net.net(self.body.bound, skin, net.edges_of(skin))
        frames = len(motion.positions)
        return obstacle.push(obstacle.pole_of(self.pole), whole, motion, np.broadcast_to(-_X, (frames, 3)),
                             np.ones(frames, bool), np.zeros(frames)).amount


@pytest.mark.parametrize("part", ["hand", "foot"])
def test_what_nothing_leads_passes_beside_the_pole(monkeypatch, part):
    scene = End(monkeypatch, part)
    out, motion = scene.fit()
    assert 0.005 < scene.depth(scene.before).max() < 0.1
    assert scene.depth(motion).max() == 0.0 and not out.left
    assert scene.fastest(motion) < 6.0, "120 degrees a second"
    assert np.abs(out.offset).max() < 1e-9, "a free limb does not move the body"


def test_a_hand_that_holds_the_pole_is_not_pushed_away(monkeypatch):
    """It may be as deep as it is, before and after too."""
    scene = End(monkeypatch, "hand")
    start, end = _TOUCHES[0] / _FPS, _TOUCHES[1] / _FPS
    times = [start, end]
    palm = scene.palms["L"][_TOUCHES[0]]
    path = {"time": times, "height": [float(palm[2] - scene.pole.point[2])] * 2, "azimuth": [180.0] * 2,
            "gap": [0.0] * 2}
    grip = Contact("grip", "hand.L", "pole", "grip", start, end, 0.4, 0.4, "palm", path, priority=3.0)
    out, motion = scene.fit(contacts=(*scene.script.contacts, grip))
    assert not out.misses and not out.left
    vertices = skinned(scene.body.bound, scene.skin, motion)
    assert np.isfinite(vertices).all()
    rows = slice(_TOUCHES[0], _TOUCHES[1] + 1)
    away = np.linalg.norm((motion.positions[rows, scene.figure.roles["hand.L"]] - scene.pole.point)[:, :2], axis=-1)
    assert away.max() < _RADIUS + 0.12
