"""How high a body stands on straight legs, whatever the rests do with theirs."""

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


@pytest.mark.parametrize("source, body", [(20.0, 0.0), (0.0, 20.0), (20.0, 20.0), (35.0, 10.0)])
@pytest.mark.parametrize("leg", [1.0, 0.7])
def test_spread_legs_of_a_rest_count_as_long_as_they_are(source, body, leg):
    stands = transfer.standing_heights(spread(source), _ANKLE, spread(body, leg), 0.0, 0.0)
    assert stands == pytest.approx((_ANKLE + 0.8, _ANKLE + 0.8 * leg), abs=1e-9), "amid the thighs"


def test_a_rest_that_hangs_in_the_air_stands_where_the_take_does():
    stands = transfer.standing_heights(spread(20.0, lift=1.0), 0.3, spread(0.0, 0.8, lift=-2.0), 0.0, 0.0)
    assert stands == pytest.approx((0.3 + 0.8, 0.3 + 0.64), abs=1e-9)


def test_a_rest_with_toes_under_the_floor_stands_where_the_take_does():
    """Toe joints lie 6 cm under the ankles and so 3 cm over the floor; lowered by 5 cm they are inside of it."""
    stands = transfer.standing_heights(spread(0.0, lift=-0.05), 0.2, spread(0.0), 0.0, 0.0)
    assert stands == pytest.approx((0.2 + 0.8, _ANKLE + 0.8), abs=1e-9)


@pytest.mark.parametrize("origin, lift", [(0.0, 0.0), (0.94, 0.0), (1.5, 1.5)])
def test_a_body_stands_on_the_floor_of_the_world_or_of_its_object(origin, lift):
    """An armature's object may lie at its feet, or as Biped has it at its hips, and may stand on a stage."""
    stands = transfer.standing_heights(spread(0.0, lift=3.0), 0.2, spread(0.0, lift=lift), 0.0, origin)
    assert stands[1] == pytest.approx(lift + _ANKLE + 0.8, abs=1e-9)


@pytest.mark.parametrize("size", [1.0, 0.01])
def test_the_take_stands_where_its_lower_ankle_mostly_is(size):
    """One who stands a quarter of the time, jumps, hangs in the air, and has a few frames of faults below the floor."""
    draw = np.random.default_rng(3)
    stood = 0.4 + 0.005 * draw.normal(size=200)
    rolled = 0.4 + draw.uniform(0.0, 0.12, 100)  # over the ball of the foot
    aloft, faults = 0.5 + draw.uniform(0.0, 1.5, 500), np.full(5, 0.1)
    found = transfer.standing_ankle(size * np.concatenate([aloft, stood, faults, rolled]), size * 0.8)
    assert found == pytest.approx(size * 0.4, abs=size * 0.005)


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
