"""The shell that limbs are kept out of, the distance from it, and the smallest correction that keeps outside."""

import numpy as np
import pytest
from figures import build, dance, play
from skins import skin_of

from foothold.solvers import rotation, transfer
from foothold.solvers.clearance import chain as chains
from foothold.solvers.clearance import depth, need, path, refine, shell
from foothold.solvers.fit.body import body_of
from foothold.solvers.skeleton import identity_channels

_HEIGHT = 1.7


def ball(centre, radius, rings=40, inside_out=False):
    """A sphere: points (N, 3), faces (T, 3)."""
    tilt, turn = np.linspace(0.0, np.pi, rings), np.linspace(0.0, 2.0 * np.pi, 2 * rings, endpoint=False)
    t, u = np.meshgrid(tilt, turn, indexing="ij")
    points = centre + radius * np.stack([np.sin(t) * np.cos(u), np.sin(t) * np.sin(u), np.cos(t)], -1).reshape(-1, 3)
    i, j = (a.ravel() for a in np.meshgrid(np.arange(rings - 1), np.arange(2 * rings), indexing="ij"))
    a, b, wide = i * 2 * rings + j, i * 2 * rings + (j + 1) % (2 * rings), 2 * rings
    faces = np.concatenate([np.stack([a, a + wide, b], 1), np.stack([b, a + wide, b + wide], 1)])
    return points, faces[:, ::-1] if inside_out else faces


def body(*pieces):
    """A body.Body with these pieces of skin on its hips."""
    figure = build()
    plan = transfer.plan(figure, figure, identity_channels(len(figure.skeleton.names)), 0.0)
    return body_of(plan, skin_of(figure, *(("hips", piece) for piece in pieces)))


def directions(count=200):
    """Unit directions (count, 3), drawn at random."""
    return rotation.normalize(np.random.default_rng(3).normal(size=(count, 3)))


def far(found, own, points):
    return depth.distances(found, *shell.posed(found, own.bound), points[None])


def test_distances_from_a_round_belly_are_true_inside_and_out():
    own = body(ball(np.zeros(3), 0.16))
    found = shell.shell(own, ["hips"], [], _HEIGHT)
    for off in (-0.05, -0.01, 0.0, 0.01, 0.05):
        told, ways = far(found, own, (0.16 + off) * directions())
        assert np.abs(told[0] - off).max() < 2.5e-3
        assert rotation.dot(ways[0], directions()).min() > 0.99


def test_sliding_over_it_does_not_jitter():
    own = body(ball(np.zeros(3), 0.16))
    found = shell.shell(own, ["hips"], [], _HEIGHT)
    turn = np.linspace(0.0, np.pi, 600)
    told, _ = far(found, own, 0.165 * np.stack([np.cos(turn), 0.3 * np.ones(600), np.sin(turn)], -1) / np.sqrt(1.09))
    assert np.abs(np.diff(told[0])).max() < 3e-4  # a step of 0.9 mm


def test_skin_under_clothes_and_inside_out_is_left_out_or_turned():
    outer, inner = ball(np.zeros(3), 0.16), ball(np.zeros(3), 0.15)
    for pieces in ((outer, inner), (ball(np.zeros(3), 0.16, inside_out=True),),
                   (outer, ball(np.zeros(3), 0.158, inside_out=True))):
        own = body(*pieces)
        found = shell.shell(own, ["hips"], [], _HEIGHT)
        told, _ = far(found, own, 0.165 * directions())
        assert np.abs(told[0] - 0.005).max() < 3e-3
        assert (np.linalg.norm(shell.posed(found, own.bound)[0][0], axis=-1) > 0.156).all()


def test_patches_go_with_the_bones_that_carry_the_skin():
    figure = build()
    motion = play(figure, dance(figure, 40))
    plan = transfer.plan(figure, figure, identity_channels(len(figure.skeleton.names)), 0.0)
    own = body_of(plan, skin_of(figure, ({"hips": 0.5, "spine": 0.5}, ball(np.array([0.0, 0.0, 1.0]), 0.1))))
    found = shell.shell(own, ["hips", "spine"], [], _HEIGHT)
    rest, _ = shell.posed(found, own.bound)
    places, _ = shell.posed(found, motion)
    wanted = 0.0
    for role in ("hips", "spine"):
        j = figure.roles[role]
        local = rotation.rotate(rotation.conj(own.bound.rotations[0, j]), rest[0] - own.bound.positions[0, j])
        wanted = wanted + 0.5 * (motion.positions[:, None, j] + rotation.rotate(motion.rotations[:, None, j], local))
    assert np.abs(places - wanted).max() < 1e-9


def test_what_follows_the_limb_is_nothing_to_be_kept_out_of():
    figure = build()
    plan = transfer.plan(figure, figure, identity_channels(len(figure.skeleton.names)), 0.0)
    pieces = (({"chest": 0.9, "upper_arm.L": 0.1}, ball(np.zeros(3), 0.1)),
              ({"chest": 0.8, "upper_arm.L": 0.2}, ball(np.array([1.0, 0.0, 0.0]), 0.1)))
    found = shell.shell(body_of(plan, skin_of(figure, *pieces)), ["chest"], ["upper_arm.L"], _HEIGHT)
    assert np.linalg.norm(shell.posed(found, plan.body.rest)[0][0], axis=-1).max() < 0.12


def chain(frames=1, bend=1.2):
    """A bent arm of 0.3 and 0.25 m with three samples on its hand."""
    start, axis = np.zeros((frames, 3)), np.tile([0.0, 0.0, 1.0], (frames, 1))
    middle = start + [0.3, 0.0, 0.0]
    end = middle + 0.25 * np.array([np.cos(bend), np.sin(bend), 0.0])
    beyond = np.tile(np.random.default_rng(1).normal(size=(3, 3)) * 0.03, (frames, 1, 1))
    return chains.Chain(start, middle, end, axis, np.tile(rotation.exp(np.array([0.3, 0.2, 0.1])), (frames, 1)),
                        np.array([0.8]), np.array([0.3, 0.7]), beyond, np.zeros(6))


def test_a_correction_moves_the_end_and_a_swing_only_the_elbow():
    arm = chain(5)
    change = np.random.default_rng(2).normal(size=(5, 4)) * 0.03
    elbow, wrist = chains.moved(arm, change)
    assert np.abs(wrist - arm.end - rotation.rotate(arm.axes, change[:, :3])).max() < 1e-9
    assert np.abs(rotation.norm(elbow) - 0.3).max() < 1e-9
    assert np.abs(rotation.norm(wrist - elbow) - 0.25).max() < 1e-9
    swung, still = chains.moved(arm, np.tile([0.0, 0.0, 0.0, 0.05], (5, 1)))
    assert np.abs(still - arm.end).max() < 1e-9 and rotation.norm(swung - arm.middle).min() > 0.01
    for now, before in zip(chains.moved(arm, np.zeros((5, 4))), (arm.middle, arm.end)):
        assert np.array_equal(now, before)


def test_how_samples_follow_is_what_a_small_correction_does():
    arm, rng = chain(4), np.random.default_rng(5)
    change, more = rng.normal(size=(4, 4)) * 0.02, rng.normal(size=(4, 4)) * 1e-5
    ways = rotation.normalize(rng.normal(size=(4, 6, 3)))
    before, after = (chains.samples(arm, *chains.moved(arm, c)) for c in (change, change + more))
    told = np.einsum("fsn,fn->fs", chains.followed(arm, change, ways), more)
    assert np.abs(rotation.dot(after - before, ways) - told).max() < 2e-8


def solved(needs, given=None, together=None, gradients=None):
    frames, limbs = needs.shape[:2]
    if gradients is None:
        gradients = np.tile([1.0, 0.0, 0.0, 0.0], (frames, limbs, 1, 1))
    zero = np.zeros((frames, limbs, 4))
    return refine.smallest(gradients, needs, zero > 1.0 if given is None else given,
                           np.zeros(frames, bool) if together is None else together, zero, 1.0, zero, 60.0)


def test_the_smallest_correction_meets_what_is_needed_and_begins_before():
    needs = np.full((240, 1, 1), -1.0)
    needs[110:130] = 0.04
    out = solved(needs)[:, 0]
    assert out[110:130, 0].min() > 0.0395 and out[:, 0].max() < 0.045
    assert out[100, 0] > 0.005 and np.abs(out[:50]).max() < 2e-3 and np.abs(out[:, 1:]).max() < 1e-6
    assert np.abs(np.diff(out[:, 0], 2)).max() * 3600.0 < 4.0  # metres a second, squared


def test_nothing_needed_is_nothing_done():
    assert not solved(np.full((60, 2, 3), -0.01), gradients=np.ones((60, 2, 3, 4))).any()


def test_what_is_given_stays_and_clasped_hands_go_together():
    needs = np.full((200, 2, 1), -1.0)
    needs[90:110, 0] = 0.03
    together = np.zeros(200, bool)
    together[60:140] = True
    out = solved(needs, together=together)
    assert np.abs(out[together, 0, :3] - out[together, 1, :3]).max() < 1e-3 and out[90:110, 1, 0].min() > 0.028
    given = np.zeros((200, 2, 4), bool)
    given[:, 0] = True
    assert not solved(needs, given=given)[:, 0].any()


def test_ways_that_flicker_are_not_taken():
    """Two ways out, by turns a millimetre shorter: one is taken for good."""
    count, one = 40, np.array([0.05, 0.0, 0.0, 0.0])
    wobble = 0.001 * (-1.0) ** np.arange(count)[:, None]
    ways = np.stack([np.zeros((count, 4)), one * (1 + 20 * wobble), -one * (1 - 20 * wobble)], axis=1)
    left = np.tile([0.05, 0.0, 0.0], (count, 1))
    taken = path.chosen(ways, left, np.zeros((count, 3)), 0.1)[:, 0]
    assert (taken > 0.0).all() or (taken < 0.0).all()


def test_of_two_ways_that_cost_the_same_the_performers_side_is_taken():
    one = np.array([0.05, 0.0, 0.0, 0.0])
    ways, left = np.tile([np.zeros(4), one, -one], (20, 1, 1)), np.tile([0.05, 0.0, 0.0], (20, 1))
    for side in (1.0, -1.0):
        taken = path.chosen(ways, left, np.tile([side, 0.0, 0.0], (20, 1)), 0.1)
        assert (np.sign(taken[:, 0]) == side).all()


def test_what_is_wanted_is_no_more_than_there_is_far_from_faults():
    distances = np.full((300, 1), 0.002)
    distances[150] = -0.01
    told = need.wanted(distances, np.zeros(1), np.ones(1), np.zeros((300, 1), bool), 0.006, 60.0)[:, 0]
    assert told[150] == pytest.approx(0.006) and told[146:154].min() == pytest.approx(0.006)
    assert np.abs(told[:100] - 0.002).max() < 1e-12 and np.abs(told[200:] - 0.002).max() < 1e-12
    near = need.wanted(distances, np.zeros(1), np.full(1, -0.02), np.zeros((300, 1), bool), 0.006, 60.0)
    assert near.max() <= -0.02  # the rest pose is as deep


def test_a_ball_in_the_way_is_left_by_the_short_way():
    own = body(ball(np.zeros(3), 0.16))
    found = shell.shell(own, ["hips"], [], _HEIGHT)
    placed = shell.posed(found, own.bound)
    arm = chain(3, -0.6)
    arm = arm._replace(start=arm.start + [-0.4, 0.14, 0.0], middle=arm.middle + [-0.4, 0.14, 0.0],
                       end=arm.end + [-0.4, 0.14, 0.0], radii=np.full(6, 0.02))
    wanted = np.full((3, 6), 0.02)

    def distances(at, points):
        return depth.distances(found, *(np.repeat(values, len(at), axis=0) for values in placed), points)

    ways, left = path.ways_out(arm, distances, wanted, np.zeros(3, bool), _HEIGHT)
    assert left[:, 0].min() > 0.05
    clear = left < 1e-6
    assert clear[:, 1].all() and clear.sum(axis=1).min() > 8
    assert np.linalg.norm(ways[:, 1], axis=-1).max() < 0.3
