"""Soles whose skin hangs from several bones: what stays is the skin, followed vertex by vertex."""

from dataclasses import replace

import numpy as np
import pytest
from skins import box, skin_of
from test_fit import performed, seen

from foothold.solvers import rotation
from foothold.solvers.contacts.script import Part
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


def test_heel_and_ball_share_what_their_skin_goes_apart():
    """While both stand, a shin that carries some of the heel draws it along: no ankle can keep both."""
    plan, script, _, motion, palms, fps = performed(leg=0.9)
    script = replace(script, contacts=tuple(
        replace(c, parts=tuple(Part(part, c.start, c.end) for part in ("heel", "ball")))
        for c in script.contacts if c.kind == "plant"))
    skin, lows = shoes(plan.body, {"foot": 0.7, "shin": 0.3}, {"toe": 1.0})
    fitted = fit(body_of(plan, skin), script, motion, palms, fps)
    after = wander(blended(plan.body, skin, seen(fitted.plan, fitted.pose, motion)), script, lows, fps)
    for heel, ball in zip(after[::2], after[1::2]):
        assert heel > 0.0005 and heel == pytest.approx(ball, rel=0.05)
