"""How high hips stand on straight legs, whatever the rests do with theirs."""

import numpy as np
import pytest
from figures import build, layout

from foothold.solvers import rotation, transfer
from foothold.solvers.skeleton import identity_channels, rest_motion

_DROP = 0.05  # metres from the hips down to the thighs, in `layout`
_ANKLE = 0.09  # height of the ankles of a straight figure


def spread(degrees, leg=1.0, lift=0.0):
    """A Figure whose legs are spread sideways by so much in its rest, its ankles at their height over the floor."""
    parts = layout(leg=leg)
    turn = np.radians(degrees)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for role, above in (("shin", "thigh"), ("foot", "shin")):
            parts[f"{role}.{side}"] = (f"{above}.{side}", (sign * 0.4 * leg * np.sin(turn), 0.0,
                                                           -0.4 * leg * np.cos(turn)))
    parts["hips"] = (None, (0.0, 0.0, _ANKLE + 0.8 * leg * np.cos(turn) + _DROP + lift))
    return build(parts, seed=11)


def height_on_straight_legs(figure):
    """Height of the hips over the ankles when the legs hang straight down, from the lengths of the bones."""
    at = {role: figure.rest.positions[0, j] for role, j in figure.roles.items()}
    legs = [np.linalg.norm(at[f"shin.{s}"] - at[f"thigh.{s}"]) + np.linalg.norm(at[f"foot.{s}"] - at[f"shin.{s}"])
            for s in "LR"]
    return _DROP + np.mean(legs)


@pytest.mark.parametrize("source, body", [(20.0, 0.0), (0.0, 20.0), (20.0, 20.0), (35.0, 10.0)])
@pytest.mark.parametrize("leg", [1.0, 0.7])
def test_spread_legs_of_a_rest_count_as_long_as_they_are(source, body, leg):
    source, body = spread(source), spread(body, leg)
    stands = transfer.standing_hips(source, _ANKLE, body, 0.0, 0.0)
    assert stands[0] == pytest.approx(_ANKLE + height_on_straight_legs(source), abs=1e-9)
    assert stands[1] == pytest.approx(_ANKLE + height_on_straight_legs(body), abs=1e-9)
    assert stands == pytest.approx((0.94, 0.14 + 0.8 * leg), abs=1e-9)


def test_a_rest_that_hangs_in_the_air_stands_where_the_take_does():
    source, body = spread(20.0, lift=1.0), spread(0.0, 0.8, lift=-2.0)
    stands = transfer.standing_hips(source, 0.3, body, 0.0, 0.0)
    assert stands[0] == pytest.approx(0.3 + 0.85, abs=1e-9)
    assert stands[1] == pytest.approx(0.3 + 0.05 + 0.64, abs=1e-9)


@pytest.mark.parametrize("leg", [1.0, 0.8])
def test_who_stands_straight_is_played_standing_straight(leg):
    """A take whose rest straddles, and whose performer puts her legs together and sinks by 10 cm onto bent knees."""
    source, body = spread(20.0), spread(0.0, leg)
    motion = rest_motion(source.skeleton)
    positions, rotations = motion.positions.repeat(2, axis=0), motion.rotations.repeat(2, axis=0)
    bend = np.array([0.0, np.arccos(1.0 - 0.1 / 0.8)])  # of thigh and shin against the vertical: 10 cm lower
    positions[:, source.roles["hips"], 2] = [0.94, 0.84]
    for side, sign in (("L", 1.0), ("R", -1.0)):
        together = rotation.exp(np.array([0.0, sign * np.radians(20.0), 0.0]))
        for role, way in (("thigh", -1.0), ("shin", 1.0)):
            turn = rotation.mul(rotation.exp(way * bend[:, None] * [1.0, 0.0, 0.0]), together)
            joint = source.roles[f"{role}.{side}"]
            rotations[:, joint] = rotation.mul(turn, rotations[:, joint])
    held = identity_channels(len(body.skeleton.names))
    plan = transfer.plan(source, body, held, _ANKLE)
    pose, _ = transfer.world_pose(plan, motion._replace(positions=positions, rotations=rotations))
    seen = transfer.played(body, held, transfer.keys(plan, pose, motion)[0]).positions
    for side in "LR":
        hip, knee, ankle = (seen[:, body.roles[f"{role}.{side}"]] for role in ("thigh", "shin", "foot"))
        assert ankle[:, 2] == pytest.approx(_ANKLE, abs=1e-9), "both stand on the floor"
        assert hip[0] - ankle[0] == pytest.approx([0.0, 0.0, 0.8 * leg], abs=1e-9)
        assert np.linalg.norm(knee[1] - hip[1]) == pytest.approx(0.4 * leg, abs=1e-9)
        assert hip[1, 2] - ankle[1, 2] == pytest.approx(0.7 * leg, abs=1e-9)
