"""Soles whose skin hangs from several bones: what stays is the skin, followed vertex by vertex."""

from dataclasses import replace

import numpy as np
import pytest
from skins import box, skin_of
from test_fit import performed, seen

from foothold.solvers import rotation
from foothold.solvers.contacts.script import Part
from foothold.solvers.fit import feet, sole
from foothold.solvers.fit.body import body_of
from foothold.solvers.fit.fit import fit

_MOST = 1e-4  # metres


def shoes(figure, heel, ball):
    """Shoes of a heel and a ball box, each carried by {part: weight}, and a tip over the floor; gives the Skin and
    "heel.L" -> its lowest vertices."""
    rest, pieces, lows = figure.rest.positions[0], [], {}
    for side in "LR":
        ankle, toe = (rest[figure.roles[f"{part}.{side}"]] for part in ("foot", "toe"))
        joint = toe[1] - ankle[1]
        for part, shares, back, front, low in (("heel", heel, 0.06, 0.01, -0.1),
                                               ("ball", ball, joint + 0.02, joint - 0.02, -0.1),
                                               ("tip", {"toe": 1.0}, joint - 0.02, joint - 0.09, -0.07)):
            lows[f"{part}.{side}"] = 8 * len(pieces) + np.array([0, 2, 4, 6])
            pieces.append(({f"{name}.{side}": share for name, share in shares.items()},
                           box(ankle + (-0.04, front, low), ankle + (0.04, back, -0.05))))
    return skin_of(figure, *pieces), lows


def blended(figure, skin, motion):
    """World places (F, N, 3) of a skin of several bones: the weighted means of where the bones have it."""
    out = np.zeros((len(motion.positions), len(skin.points), 3))
    rest = figure.rest
    for bones, weights in zip(skin.bones.T, skin.weights.T):
        own = rotation.rotate(rotation.conj(rest.rotations[0, bones]), skin.points - rest.positions[0, bones])
        out += weights[:, None] * (motion.positions[:, bones] + rotation.rotate(motion.rotations[:, bones], own))
    return out


def rolled(script, fps):
    """A ContactScript whose plants stand on the heel for their first half only, and then on the ball alone."""
    out = []
    for contact in script.contacts:
        if contact.kind == "plant":
            middle = round(0.5 * (contact.start + contact.end) * fps) / fps
            contact = replace(contact, parts=(Part("heel", contact.start, middle - 1.0 / fps),
                                              Part("ball", middle, contact.end)))
        out.append(contact)
    return replace(script, contacts=tuple(out))


def wander(places, script, lows, fps):
    """How far in metres the middles of the lowest vertices get from where they stood first, along the floor."""
    out = []
    for contact in (c for c in script.contacts if c.kind == "plant"):
        for part in contact.parts:
            rows = slice(round(part.start * fps), round(part.end * fps) + 1)
            middle = places[rows, lows[f"{part.part}.{contact.effector[-1]}"]].mean(axis=1)[:, :2]
            out.append(np.linalg.norm(middle - middle[0], axis=1).max())
    return out


@pytest.mark.parametrize("heel, ball", [
    ({"foot": 1.0}, {"toe": 1.0}), ({"foot": 0.83, "shin": 0.17}, {"toe": 0.75, "foot": 0.25}),
    ({"foot": 0.7, "shin": 0.3}, {"toe": 0.5, "foot": 0.4, "shin": 0.1})])
def test_skin_that_several_bones_carry_stays_where_it_stands(heel, ball):
    plan, script, pose, motion, palms, fps = performed(leg=0.9)
    script, (skin, lows) = rolled(script, fps), shoes(plan.body, heel, ball)
    fitted = fit(body_of(plan, skin), script, motion, palms, fps)
    before, after = (wander(blended(plan.body, skin, seen(plan, told, motion)), script, lows, fps)
                     for told in (pose, fitted.pose))
    assert min(before) > 0.01, "there is something to hold"
    assert max(after) < _MOST


def flat_throughout(heel, ball):
    """(How far heels and balls get, as of `wander`, of a body with such `shoes` that stands on both all the time, the
    Fitted, the plan)."""
    plan, script, _, motion, palms, fps = performed(leg=0.9)
    script = replace(script, contacts=tuple(
        replace(c, parts=tuple(Part(part, c.start, c.end) for part in ("heel", "ball")))
        for c in script.contacts if c.kind == "plant"))
    skin, lows = shoes(plan.body, heel, ball)
    fitted = fit(body_of(plan, skin), script, motion, palms, fps)
    places = blended(plan.body, skin, seen(fitted.plan, fitted.pose, motion))
    return wander(places, script, lows, fps), places, fitted


def test_heel_and_ball_share_what_their_skin_goes_apart(monkeypatch):
    """While both stand, a shin that carries some of the heel draws it along: no ankle can keep both where toes cannot
    make up for it."""
    monkeypatch.setattr(feet, "_TOES_UP", 0.0)
    after, *_ = flat_throughout({"foot": 0.7, "shin": 0.3}, {"toe": 1.0})
    for heel, ball in zip(after[::2], after[1::2]):
        assert heel > 0.0003 and heel == pytest.approx(ball, rel=0.05)
    assert max(after) > 5.0 * _MOST


def test_toes_that_have_the_ball_keep_it_where_it_stands_while_the_heel_does():
    after, places, fitted = flat_throughout({"foot": 0.7, "shin": 0.3}, {"toe": 1.0})
    assert max(after) < _MOST
    floor = fitted.script.floor
    assert places[..., 2].min() > floor - _MOST, "toes rise for it, and never go into the floor"


def test_a_sole_that_hangs_from_foot_and_toes_alone_asks_for_no_turn(monkeypatch):
    asked = []
    monkeypatch.setattr(feet, "apart", lambda *given, known=feet.apart: asked.append(known(*given)) or asked[-1])
    flat_throughout({"foot": 1.0}, {"toe": 1.0})
    assert asked and max(np.abs(turns).max() for both in asked for turns in both) < 1e-9


def test_what_a_bone_has_of_the_skin_that_stands_goes_round_with_it():
    plan, *_ = performed()
    own = body_of(plan, shoes(plan.body, {"foot": 1.0}, {"foot": 0.4, "toe": 0.6})[0]).soles["L"]
    rest, roles = plan.body.rest, plan.body.roles
    turn, turns = rotation.exp(np.array([0.3, -0.1, 0.2])), rest.rotations.copy()
    turns[0, roles["toe.L"]] = rotation.mul(turn, turns[0, roles["toe.L"]])
    before, after = (sole.stood(own, motion, rest.positions[:, roles["foot.L"]])[1]
                     for motion in (rest, rest._replace(rotations=turns)))
    has = sole.on_bone(own, "ball", rest, roles["toe.L"])
    assert np.linalg.norm(has) > 0.01 and after - before == pytest.approx(rotation.rotate(turn, has) - has, abs=1e-12)
    assert not sole.on_bone(own, "ball", rest, None).any() and not sole.on_bone(own, "heel", rest, roles["toe.L"]).any()


def stretching(deep=0.04):
    """(Levers to heel, ball, what the toes have of that, standing): while both stand they come 2 mm nearer, and part by
    as much again, and the way between them goes round by a degree."""
    frames = 200
    change = np.sin(np.linspace(0.0, np.pi, frames))
    heel, ball = np.tile([0.0, 0.05, -0.1], (frames, 1)), np.tile([0.0, -0.15, -0.1], (frames, 1))
    ball[:, 1] += 0.002 * change
    ball = rotation.rotate(rotation.exp(np.radians(change)[:, None] * [0.0, 0.0, 1.0]), ball - heel) + heel
    both = np.zeros(frames, bool)
    both[60:150] = True
    return heel, ball, np.tile([0.0, 0.0, -deep], (frames, 1)), [(None, slice(60, 150), both, both)]


def test_toes_rise_by_what_heel_and_ball_come_nearer():
    heel, ball, on_toes, standing = stretching()
    yaws, bends = feet.apart(heel, ball, on_toes, standing, 60.0)
    rows = slice(60, 150)
    turn = rotation.exp(yaws[:, None] * [0.0, 0.0, 1.0])
    ahead = rotation.rotate(rotation.exp(bends[:, None] * rotation.normalize(np.cross(ball - heel, [0.0, 0.0, 1.0]))),
                            on_toes) - on_toes
    way = rotation.rotate(turn, ball + ahead - heel)[rows, :2]
    assert np.ptp(way, axis=0).max() < 1e-5 and np.ptp((ball - heel)[rows, :2], axis=0).min() > 5e-4
    assert bends.min() >= 0.0 and np.degrees(bends.max()) < 3.0
    assert not bends[:20].any() and not bends[180:].any(), "it comes and goes beside the stand"


def test_toes_whose_joint_lies_on_the_floor_do_nothing_and_none_rise_far():
    assert not feet.apart(*stretching(deep=0.005), 60.0)[1].any()
    heel, ball, on_toes, standing = stretching()
    ball[100] += (0.0, -0.1, 0.0)
    assert np.degrees(feet.apart(heel, ball, on_toes, standing, 60.0)[1].max()) == pytest.approx(10.0)
