"""A body's trunk carries its shoulders as calmly as the performer's, whose bones shake against each other."""

from dataclasses import replace

import numpy as np
from figures import build, dance, layout, play
from test_fit import performed

from foothold.solvers import report, rotation, transfer
from foothold.solvers.fit import trunk
from foothold.solvers.fit.body import body_of
from foothold.solvers.fit.fit import fit
from foothold.solvers.skeleton import identity_channels

_FPS = 60.0


def divided(*parts, ahead=0.0):
    """The layout of a body with torso bones that are so long, metres from the hips upwards; `ahead` leans it."""
    out = layout(spine=len(parts) - 1)
    torso = [role for role in out if role.startswith("spine") or role == "chest"]
    for role, length in zip(torso, parts):
        out[role] = (out[role][0], (0.0, -ahead * length, length))
    for side in "LR":
        at = out[f"shoulder.{side}"]
        out[f"shoulder.{side}"] = (at[0], (at[1][0], -ahead * parts[-1], parts[-1]))
    return out


def shaken(source, frames=240, seed=4):
    """A motion whose hips, spine and chest shake against each other, about the way across, so that its shoulders stay
    calm, as markers have it."""
    channels = dance(source, frames, seed=seed, amount=0.15)
    noise = 0.02 * np.random.default_rng(seed).normal(size=frames)
    noise[:3] = noise[-3:] = 0.0
    at = source.rest.positions[0]
    heights = [at[source.roles[role], 2] for role in ("spine", "spine.1", "chest", "upper_arm.L")]
    lengths = np.diff(heights)

    def bend(role, by):
        j = source.roles[role]
        channels.rotation[:, j] = rotation.mul(channels.rotation[:, j], rotation.exp(by[:, None] * [1.0, 0.0, 0.0]))

    other = -noise * lengths[0] / lengths[2]
    for role, by in (("spine", noise), ("spine.1", -noise), ("chest", other), ("shoulder.L", -other),
                     ("shoulder.R", -other), ("neck", -other)):
        bend(role, by)
    return play(source, channels)


def planned(body, source=None):
    """(Plan, Motion of the source that shakes, WorldPose of the body)."""
    source = build() if source is None else source
    motion = shaken(source)
    plan = transfer.plan(source, body, identity_channels(len(body.skeleton.names)), 0.0)
    return plan, motion, transfer.world_pose(plan, motion)[0]


def seen(plan, pose, motion):
    return transfer.played(plan.body, plan.held, transfer.keys(plan, pose, motion)[0])


def side(figure, motion):
    return report.Side(motion, figure.skeleton.names, figure.skeleton.parents, figure.roles,
                       np.ones(len(figure.skeleton.names), bool))


def shaking(plan, pose, motion):
    """How hard the body's wrists accelerate against the source's in proportion, the worse of the two."""
    sides = side(plan.source, motion), side(plan.body, seen(plan, pose, motion))
    joints = report.report(*sides, _FPS)["metrics"]["acceleration_m_per_s2"]["joints"]
    return max(joints[f"hand.{letter}"]["ratio_in_proportion"] for letter in "LR")


def test_arms_on_a_trunk_that_is_divided_otherwise_swing_as_calmly_as_hers():
    for body in (build(divided(0.05, 0.08, 0.08, 0.27), seed=2), build(divided(0.2, 0.2, 0.06), seed=3),
                 build(divided(0.02, 0.06, 0.06, 0.06, 0.25), seed=4)):
        plan, motion, pose = planned(body)
        calm = trunk.calmed(plan, motion, pose, np.ones(len(pose.hips)), _FPS)
        assert shaking(plan, pose, motion) > 1.3
        assert shaking(plan, calm, motion) < 1.05
        off = np.degrees(rotation.angle(calm.rotations, pose.rotations))
        assert off.max() < 6.0 and off.mean(axis=0).max() < 1.5
        moved = [role for k, role in enumerate(plan.answered) if off[:, k].any()]
        assert set(moved) <= {role for role in moved if role.startswith("spine") or role == "chest"}
        assert np.array_equal(calm.hips, pose.hips)


def test_a_trunk_that_is_divided_alike_stays_bit_for_bit():
    for body in (build(seed=5), build(layout(arm=1.3, leg=1.1), seed=6)):
        plan, motion, pose = planned(body)
        assert np.array_equal(trunk.calmed(plan, motion, pose, np.ones(len(pose.hips)), _FPS).rotations, pose.rotations)


def test_one_that_rests_inclined_turns_with_the_body_however_fast():
    """A stiff performer spins about; a trunk that leans at rest leans the other way after half a turn, as it must."""
    source, body = build(), build(divided(0.12, 0.12, 0.12, 0.13, ahead=0.3), seed=7)
    channels = identity_channels(len(source.skeleton.names), 240)
    turns = 0.05 * np.arange(240) ** 1.4
    channels.rotation[:, source.roles["hips"]] = rotation.exp(turns[:, None] * [0.0, 0.0, 1.0])
    motion = play(source, channels)
    plan = transfer.plan(source, body, identity_channels(len(body.skeleton.names)), 0.0)
    pose, _ = transfer.world_pose(plan, motion)
    assert np.array_equal(trunk.calmed(plan, motion, pose, np.ones(len(pose.hips)), _FPS).rotations, pose.rotations)


def test_slow_leaning_is_left_alone():
    source = build()
    channels = identity_channels(len(source.skeleton.names), 400)
    lean = 0.4 * np.sin(2.0 * np.pi * np.arange(400) / 180.0)  # in three seconds
    for role, by in (("spine", 1.0), ("chest", -0.5)):
        channels.rotation[:, source.roles[role]] = rotation.exp(by * lean[:, None] * [1.0, 0.0, 0.0])
    motion = play(source, channels)
    body = build(divided(0.05, 0.08, 0.08, 0.27), seed=2)
    plan = transfer.plan(source, body, identity_channels(len(body.skeleton.names)), 0.0)
    pose, _ = transfer.world_pose(plan, motion)
    calm = trunk.calmed(plan, motion, pose, np.ones(len(pose.hips)), _FPS)
    assert np.degrees(rotation.angle(calm.rotations, pose.rotations)[10:-10]).max() < 0.15


def test_a_body_without_a_torso_or_arms_stays_as_it_is():
    for missing in (("spine", "spine.1", "chest"), ("upper_arm.L",)):
        plan, motion, pose = planned(build(divided(0.05, 0.08, 0.08, 0.27), extra=missing))
        assert trunk.calmed(plan, motion, pose, np.ones(len(pose.hips)), _FPS) is pose


def widened(figure_layout, times):
    """A layout whose hip joints stand so many times as far apart."""
    for side in "LR":
        role, (x, y, z) = figure_layout[f"thigh.{side}"]
        figure_layout[f"thigh.{side}"] = (role, (times * x, y, z))
    return figure_layout


def rolling(frames=240):
    """(Figure, Motion) of a performer whose pelvis leans slowly to the side, and is jerked there in two frames."""
    source = build()
    channels = identity_channels(len(source.skeleton.names), frames)
    lean = 0.2 * np.sin(2.0 * np.pi * np.arange(frames) / 180.0)
    lean[100:102] += 0.08
    channels.rotation[:, source.roles["hips"]] = rotation.exp(lean[:, None] * [0.0, 1.0, 0.0])
    return source, play(source, channels)


def test_a_wide_pelvis_throws_its_hip_joints_no_higher_than_hers_in_proportion():
    source, motion = rolling()
    body = build(widened(layout(leg=0.6), 1.8), seed=8)
    plan = transfer.plan(source, body, identity_channels(len(body.skeleton.names)), 0.0)
    pose, _ = transfer.world_pose(plan, motion)
    calm = trunk.calmed(plan, motion, pose, np.ones(len(pose.hips)), _FPS)
    thighs = [body.roles[f"thigh.{letter}"] for letter in "LR"]
    before, after = (seen(plan, one, motion).positions[:, thighs] for one in (pose, calm))
    hers = motion.positions[:, source.roles["thigh.L"], 2]
    jerks = [np.diff(path, 2)[90:110] for path in (0.6 * hers, before[:, 0, 2], after[:, 0, 2])]
    assert np.abs(jerks[1]).max() > 2.5 * np.abs(jerks[0]).max()
    assert np.abs(jerks[2]).max() < 1.25 * np.abs(jerks[0]).max()
    assert np.abs(after.mean(axis=1) - before.mean(axis=1)).max() < 1e-9  # the way is the same
    assert np.linalg.norm(after - before, axis=-1)[np.r_[20:80, 120:220]].max() < 0.004  # and so is the leaning


def test_a_narrow_pelvis_stays_as_it_is():
    source, motion = rolling()
    for body in (build(widened(layout(), 0.7), seed=9), build(layout(leg=1.3), seed=9), build(seed=9)):
        plan = transfer.plan(source, body, identity_channels(len(body.skeleton.names)), 0.0)
        pose, _ = transfer.world_pose(plan, motion)
        assert np.array_equal(trunk.calmed(plan, motion, pose, np.ones(len(pose.hips)), _FPS).rotations, pose.rotations)


def test_the_fit_calms_it_near_contacts_alone():
    plan, script, _, motion, palms, fps = performed()
    body = build(divided(0.05, 0.08, 0.08, 0.27), seed=2)
    plan = transfer.plan(plan.source, body, identity_channels(len(body.skeleton.names)), 0.0)
    motion = shaken(plan.source, len(motion.positions))
    pose, _ = transfer.world_pose(plan, motion)
    k, times = plan.answered.index("chest"), np.arange(len(motion.positions)) / fps
    first = min((c for c in script.contacts if c.effector.startswith("foot")), key=lambda c: c.start)
    script = replace(script, contacts=(replace(first, end=min(first.end, first.start + 0.3)),), props=())
    fitted = fit(body_of(plan, None), script, motion, palms, fps)
    calm = trunk.calmed(plan, motion, pose, np.ones(len(pose.hips)), fps).rotations[:, k]
    own, before = fitted.pose.rotations[:, k], pose.rotations[:, k]
    away = np.maximum(first.start - times, times - script.contacts[0].end)
    held, far = away < 0.0, away > 0.5 + 1.5 / fps
    assert rotation.angle(calm, before)[held].max() > 0.01
    assert held.sum() > 10 and far.sum() > 10
    assert np.abs(own[held] - calm[held]).max() < 1e-12
    assert np.array_equal(own[far], before[far])
    fitted = fit(body_of(plan, None), replace(script, contacts=(replace(first, mute=True),)), motion, palms, fps)
    assert np.array_equal(fitted.pose.rotations[:, k], before)
