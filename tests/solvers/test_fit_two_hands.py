"""Both hands on a pole, 25 cm apart, by a performer with arms of 0.516 m and a body with arms of 0.466 m."""

import numpy as np
import pytest
from figures import build, layout
from test_fit import seen

from foothold.solvers import rotation, transfer
from foothold.solvers.contacts import performer
from foothold.solvers.contacts.script import Contact, ContactScript, Prop
from foothold.solvers.fit import limbs
from foothold.solvers.fit.body import body_of, lengths
from foothold.solvers.fit.fit import fit
from foothold.solvers.skeleton import Motion, identity_channels, rest_motion

_FPS, _FRAMES, _HELD = 60.0, 240, slice(60, 181)
_HERS, _OWN, _APART = 0.516, 0.466, 0.25  # metres
_RADIUS, _BAND = 0.0225, 0.03  # metres; the band is the licence's, to both sides


def armed(metres, **more):
    """A figure whose arms have a length in metres from shoulder to wrist."""
    return build(layout(arm=metres / sum(lengths(build(layout()), "hand.L"))), **more)


def held(stretched):
    """(plan, script, motion, palms): she stands and sways, her upper hand at a part of her arm's length, the lower one
    25 cm below on the same line."""
    source = armed(_HERS)
    sway = 0.01 * np.sin(np.linspace(0.0, 12.0, _FRAMES))[:, None] * (1.0, 0.5, 0.0)
    rest = rest_motion(source.skeleton)
    motion = Motion(rest.positions + sway[:, None], np.tile(rest.rotations, (_FRAMES, 1, 1)))
    shoulders = np.mean([rest.positions[0, source.roles[f"upper_arm.{s}"]] for s in "LR"], axis=0)
    half = np.abs(rest.positions[0, source.roles["upper_arm.L"], 0] - shoulders[0])
    up = 0.15
    ahead = np.sqrt((stretched * _HERS) ** 2 - half ** 2 - up ** 2)
    line = shoulders + [0.0, -ahead, 0.0]
    for side, height in (("L", up), ("R", up - _APART)):
        chain = [source.roles[f"{part}.{side}"] for part in ("upper_arm", "forearm", "hand")]
        start, middle, end = (motion.positions[:, j] for j in chain)
        axis = limbs.hinge(middle - start, end - middle, np.tile([0.0, 0.0, -1.0], (_FRAMES, 1)))
        upper, lower, gap = limbs.solve(start, middle, end, axis, np.tile(line + [0.0, 0.0, height], (_FRAMES, 1)))
        assert gap.max() < 1e-9
        elbow = start + rotation.rotate(upper, middle - start)
        wrist = elbow + rotation.rotate(lower, end - middle)
        moved = motion.positions.copy(), motion.rotations.copy()
        tips = [j for j in range(len(source.skeleton.names)) if _below(source.skeleton.parents, j, chain[2])]
        for joints, turn, was, now in (([chain[0]], upper, start, start), ([chain[1]], lower, middle, elbow),
                                       ([chain[2], *tips], lower, end, wrist)):
            for j in joints:
                moved[0][:, j] = now + rotation.rotate(turn, motion.positions[:, j] - was)
                moved[1][:, j] = rotation.mul(turn, motion.rotations[:, j])
        motion = Motion(*moved)
    palms = {side: performer.place(palm, motion) for side, palm in performer.palms(source).items()}
    middle = np.mean([palms[side][_HELD].mean(axis=0) for side in "LR"], axis=0)
    pole = Prop("pole", point=(middle[0], middle[1] - _RADIUS, 0.0), radius=_RADIUS)
    times = np.arange(_FRAMES)[_HELD] / _FPS
    contacts = tuple(Contact(f"hand.{side}:1", f"hand.{side}", "pole", "grip", times[0], times[-1], 0.3, 0.3, "palm", {
        "time": times.tolist(), "height": palms[side][_HELD, 2].tolist(), "azimuth": [90.0] * len(times),
        "gap": [0.0] * len(times)}, {"height": [-_BAND, _BAND]}, priority=3.0) for side in "LR")
    body = armed(_OWN, seed=6)
    plan = transfer.plan(source, body, identity_channels(len(body.skeleton.names)), 0.09)
    return plan, ContactScript(_FPS, _FRAMES, (pole,), contacts, 0.0), motion, palms


def _below(parents, joint, top):
    while joint >= 0 and joint != top:
        joint = parents[joint]
        if joint == top:
            return True
    return False


@pytest.mark.parametrize("stretched", [0.7, 0.9, 0.97])
def test_both_hands_are_on_the_pole_at_heights_within_the_licence(stretched):
    plan, script, motion, palms = held(stretched)
    assert np.ptp([np.mean(palms[side][_HELD, 2]) for side in "LR"]) == pytest.approx(_APART, abs=0.06)
    fitted = fit(body_of(plan, None), script, motion, palms, _FPS)
    assert not fitted.misses
    after, pole = seen(fitted.plan, fitted.pose, motion), fitted.script.props[0]
    for contact in script.contacts:
        side = contact.effector[-1]
        palm = performer.place(performer.palms(plan.body)[side], after)[_HELD]
        off = palm - np.array(pole.point)
        assert np.abs(np.linalg.norm(off[:, :2], axis=-1) - _RADIUS).max() < 1e-6
        wanted = fitted.plan.scale[1] * np.array(contact.path["height"])
        assert np.abs(palm[:, 2] - pole.point[2] - wanted).max() <= _BAND * fitted.plan.scale[1] + 1e-6
    assert np.linalg.norm(fitted.offset, axis=-1).max() < 0.12
    assert np.linalg.norm(np.diff(fitted.offset, n=2, axis=0), axis=-1).max() * _FPS ** 2 < 2.0  # m/s2
