"""Stances, disagreement and poses carried from one skeleton to another."""

import numpy as np
import pytest
from figures import build, dance, layout, play

from foothold.solvers import rest, rotation
from foothold.solvers.skeleton import Motion, rest_motion


@pytest.mark.parametrize("down", [0.0, 20.0, 45.0, 80.0])
def test_a_standing_rest_is_known_with_its_arms(down):
    figure = build(layout(arms_down=down), seed=1)
    found = rest.stance(figure.rest.positions[0], figure.roles)
    assert found.stands and abs(found.arms_down - down) < 0.5
    assert abs(found.off_t_pose - down) < 1.0


def test_a_dance_pose_is_no_stance():
    figure = build()
    motion = play(figure, dance(figure, amount=1.2))
    assert not rest.stance(motion.positions[40], figure.roles).stands


def test_a_figure_turned_about_the_vertical_still_stands_and_agrees():
    figure = build(seed=2)
    turn = rotation.exp(np.array([0.0, 0.0, 2.0]))
    turned = rotation.rotate(turn, figure.rest.positions[0])
    assert rest.stance(turned, figure.roles).off_t_pose < 1.0
    rows = rest.disagreement(figure.rest.positions[0], figure.roles, turned, figure.roles)
    assert rows[0][1] < 1e-5


def test_matching_rests_disagree_by_nothing():
    figure = build()
    rows = rest.disagreement(figure.rest.positions[0], figure.roles, figure.rest.positions[0], figure.roles)
    assert len(rows) > 15 and rows[0][1] == 0.0


def test_disagreement_names_the_worst_limb_first():
    t_pose, a_pose = build(), build(layout(arms_down=45.0))
    rows = rest.disagreement(t_pose.rest.positions[0], t_pose.roles, a_pose.rest.positions[0], a_pose.roles)
    assert abs(rows[0][1] - 45.0) < 0.5 and rows[0][0].split(".")[0] in ("forearm", "hand", "upper_arm")
    assert [d for _, d in rows] == sorted((d for _, d in rows), reverse=True)


def test_t_pose_frames_are_found_best_first():
    figure = build(seed=3)
    channels = dance(figure, amount=1.5)
    channels.rotation[30:36] = rotation.IDENTITY
    small = rotation.exp(np.array([0.0, 0.0, 0.1]))
    channels.rotation[30, figure.roles["upper_arm.L"]] = small
    found = rest.t_pose_frames(rest.stances(play(figure, channels).positions, figure.roles))
    assert set(range(30, 36)) <= set(found.tolist()) and found[0] in range(31, 36)


def test_without_arms_or_legs_nothing_is_claimed():
    figure = build()
    roles = {r: j for r, j in figure.roles.items() if not r.startswith("thigh")}
    assert not rest.stance(figure.rest.positions[0], roles).stands
    assert rest.stances(figure.rest.positions, roles) is None


@pytest.mark.parametrize("seed", [3, 9])
def test_a_pose_carries_over_exactly_between_skeletons_that_rest_alike(seed):
    mine, theirs = build(seed=3), build(seed=seed)
    pose = play(theirs, dance(theirs))
    pose = Motion(pose.positions[50:51], pose.rotations[50:51])
    worn = rest.transplant(mine.rest, mine.roles, theirs.rest, pose, theirs.roles)
    for role, j in mine.roles.items():
        delta = rotation.mul(worn.rotations[0, j], rotation.conj(mine.rest.rotations[0, j]))
        want = rotation.mul(pose.rotations[0, theirs.roles[role]],
                            rotation.conj(theirs.rest.rotations[0, theirs.roles[role]]))
        assert rotation.angle(delta, want) < 1e-6, role


def test_a_pose_carries_over_by_direction_between_skeletons_that_rest_apart():
    """The T-pose file rests in its T-pose, the take in a dance pose, with other bone axes."""
    t_pose = build(seed=5)
    crooked = play(t_pose, dance(t_pose))
    own = Motion(crooked.positions[60:61], rotation.mul(crooked.rotations[60:61], rotation.normalize(
        np.random.default_rng(0).normal(size=(1, len(t_pose.roles), 4)))))
    worn = rest.transplant(own, t_pose.roles, rest_motion(t_pose.skeleton), t_pose.rest, t_pose.roles)
    before, after = (rest.limb_directions(p, t_pose.roles) for p in (own.positions, t_pose.rest.positions))
    for role in ("upper_arm.L", "forearm.R", "thigh.L", "shin.R", "spine"):
        j = t_pose.roles[role]
        delta = rotation.mul(worn.rotations[0, j], rotation.conj(own.rotations[0, j]))
        assert rotation.vector_angle(rotation.rotate(delta, before[role][0]), after[role][0]) < 1e-6


def test_feet_keep_their_soles_flat_when_rests_are_aligned():
    source, body = build(), build()
    lifted = body.rest.positions[0].copy()
    lifted[body.roles["toe.L"]] += [0.05, 0.0, 0.03]  # this rig's toe joint lies higher and further out
    turn = rest.alignment(source.rest.positions[0], source.roles, lifted, body.roles)["foot.L"]
    assert np.allclose(rotation.rotate(turn, np.array([0.0, 0.0, 1.0])), [0.0, 0.0, 1.0])
    have = rotation.rotate(turn, lifted[body.roles["toe.L"]] - lifted[body.roles["foot.L"]])
    assert abs(np.arctan2(have[0], -have[1])) < 1e-6


def test_an_a_pose_with_bent_elbows_stands_and_a_lopsided_pose_does_not():
    parts = layout(arms_down=45.0)
    for side, mirror in (("L", 1.0), ("R", -1.0)):
        parts[f"hand.{side}"] = (f"forearm.{side}", (mirror * 0.12, -0.16, -0.12))
    figure = build(parts)
    assert rest.stance(figure.rest.positions[0], figure.roles).stands
    parts["hand.L"] = ("forearm.L", (0.0, -0.05, 0.24))
    lopsided = build(parts)
    assert not rest.stance(lopsided.rest.positions[0], lopsided.roles).stands


def test_standing_frames_are_found_with_the_arms_down():
    figure = build(seed=3)
    channels = dance(figure, amount=1.5)
    channels.rotation[30:36] = rotation.IDENTITY
    for side, turn in (("L", 1.3), ("R", -1.3)):
        j = figure.roles[f"upper_arm.{side}"]
        axis = rotation.rotate(rotation.conj(figure.rest.rotations[0, j]), np.array([0.0, 1.0, 0.0]))
        channels.rotation[30:36, j] = rotation.exp(turn * axis)
    positions = play(figure, channels).positions
    assert rest.t_pose_frames(rest.stances(positions, figure.roles)).size == 0
    assert set(range(30, 36)) == set(rest.standing_frames(rest.stances(positions, figure.roles))[:6].tolist())
