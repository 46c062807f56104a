"""World-delta transfer against what must hold whatever the rigs are."""

import numpy as np
import pytest
from figures import build, dance, layout, play

from foothold.solvers import anatomy, rest, rotation
from foothold.solvers.errors import FootholdError
from foothold.solvers.skeleton import Motion, identity_channels
from foothold.solvers.transfer import Travel, ankle_height, assemble, plan, played, standing_ankle, transfer
from foothold.solvers.transfer import play as stretch


def held(figure):
    return identity_channels(len(figure.skeleton.names))


def limb_errors(source, motion, body, out):
    want, have = rest.limb_directions(motion.positions, source.roles), rest.limb_directions(out.positions, body.roles)
    return {r: np.degrees(rotation.vector_angle(have[r], want[r])) for r in have if r in want}


def bake(source, motion, body, **options):
    result = transfer(source, motion, body, held(body), **options)
    return result, played(body, held(body), result)


@pytest.fixture
def source():
    return build(seed=11)


@pytest.fixture
def motion(source):
    return play(source, dance(source))


def test_onto_its_own_skeleton_the_keys_come_back(source, motion):
    channels = dance(source)
    result, _ = bake(source, motion, source)
    own = assemble(source.skeleton, held(source), result)
    assert rotation.angle(own.rotation, channels.rotation).max() < 1e-7
    assert np.abs(own.location - channels.location).max() < 1e-9


def test_twice_gives_the_same_bits(source, motion):
    body = build(layout(arm=0.8, leg=0.9, arms_down=45.0), seed=3)
    a, b = transfer(source, motion, body, held(body)), transfer(source, motion, body, held(body))
    for j in a.rotations:
        assert np.array_equal(a.rotations[j], b.rotations[j])


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_bone_axes_do_not_matter(source, motion, seed):
    plain, turned = build(layout(arm=0.8, leg=0.9)), build(layout(arm=0.8, leg=0.9), seed=seed)
    _, a = bake(source, motion, plain)
    _, b = bake(source, motion, turned)
    assert np.abs(a.positions - b.positions).max() < 1e-9


@pytest.mark.parametrize("arms_down", [0.0, 45.0, 70.0])
def test_limbs_point_where_the_takes_do_from_any_standing_rest(source, motion, arms_down):
    body = build(layout(arm=0.7, leg=0.8, arms_down=arms_down), seed=4)
    errors = limb_errors(source, motion, body, bake(source, motion, body)[1])
    for role in ("upper_arm.L", "forearm.R", "hand.L", "thigh.L", "shin.R"):
        assert errors[role].max() < 1e-5, role
    assert max(e.std() for e in errors.values()) < 1e-6


def test_a_rest_that_is_no_standing_pose_breaks_the_limbs(source, motion):
    """Frame zero of a dance taken for the rest: the error is what the two rests disagree by, in every frame."""
    crooked = source._replace(rest=type(motion)(motion.positions[40:41], motion.rotations[40:41]))
    assert not rest.stance(crooked.rest.positions[0], source.roles).stands
    body = build(layout(arm=0.8))
    errors = limb_errors(source, motion, body, bake(crooked, motion, body)[1])
    worst = max(errors, key=lambda r: errors[r].mean())
    shown = dict(rest.disagreement(crooked.rest.positions[0], source.roles, body.rest.positions[0], body.roles))
    assert errors[worst].mean() > 25.0
    assert abs(shown[worst] - errors[worst].mean()) < 1e-6 and errors[worst].std() < 1e-6


@pytest.mark.parametrize("spine,neck", [(1, 1), (2, 2), (4, 1), (5, 3)])
def test_unequal_chains_share_the_rotation_and_end_alike(source, motion, spine, neck):
    body = build(layout(spine=spine, neck=neck), seed=6)
    errors = limb_errors(source, motion, body, bake(source, motion, body)[1])
    for role in ("upper_arm.L", "shoulder.R", "forearm.L", "neck" if neck == 1 else "forearm.R"):
        assert errors[role].std() < 1e-6, role
    def steps(figure, moved):
        chain = [figure.roles[r] for r in anatomy.torso(figure.roles)]
        turned = rotation.mul(moved.rotations[:, chain], rotation.conj(figure.rest.rotations[:, chain]))
        return rotation.angle(turned[:, 1:], turned[:, :-1])

    if spine > 3:
        shared = steps(body, bake(source, motion, body)[1])
        assert shared.max() < 0.75 * steps(source, motion).max()


@pytest.mark.parametrize("world", [
    np.diag([0.01, 0.01, 0.01, 1.0]) @ np.array([[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1.0]]),
    np.diag([2.0, 2.0, 2.0, 1.0]), np.diag([1.0, 0.5, 1.5, 1.0])], ids=["fbx", "scaled", "uneven"])
def test_unapplied_transforms_change_nothing_in_the_world(source, motion, world):
    plain, odd = build(layout(arm=0.8)), build(layout(arm=0.8), world=world)
    _, a = bake(source, motion, plain)
    _, b = bake(source, motion, odd)
    even = np.allclose(np.abs(np.linalg.det(world[:3, :3])) ** (1 / 3), np.linalg.norm(world[:3, 0]))
    if even:
        assert np.abs(a.positions - b.positions).max() < 1e-8
    assert np.abs(a.positions[:, 0] - b.positions[:, 0]).max() < 1e-8


def test_a_body_that_stands_the_other_way_round_follows_the_take(source, motion):
    about = np.eye(4)
    about[:2, :2] = [[0.0, -1.0], [1.0, 0.0]]
    parts = {r: (p, tuple(about[:3, :3] @ np.array(o))) for r, (p, o) in layout(arm=0.8).items()}
    body = build(parts, seed=8)
    assert rest.disagreement(source.rest.positions[0], source.roles, body.rest.positions[0], body.roles)[0][1] < 1.0
    errors = limb_errors(source, motion, body, bake(source, motion, body)[1])
    assert max(e.max() for r, e in errors.items() if r.split(".")[0] in ("forearm", "thigh")) < 1e-5


def amid_thighs(figure, motion):
    """World path (F, 3) of the middle between the thigh joints."""
    return motion.positions[:, [figure.roles[f"thigh.{side}"] for side in "LR"]].mean(axis=1)


def test_the_way_and_the_height_scale_apart(source, motion):
    body = build(layout(leg=0.5))
    result, out = bake(source, motion, body, travel=Travel(horizontal=1.0))
    its, own = amid_thighs(body, out), amid_thighs(source, motion)
    assert np.abs(its[:, :2] - own[:, :2]).max() < 1e-9
    rise = own[:, 2] - amid_thighs(source, source.rest)[:, 2]
    assert np.allclose(its[:, 2] - amid_thighs(body, body.rest)[:, 2], 0.5 * rise)
    _, still = bake(source, motion, body, travel=Travel(in_place=True))
    assert np.abs(amid_thighs(body, still)[:, :2] - amid_thighs(body, body.rest)[:, :2]).max() < 1e-9
    assert np.ptp(amid_thighs(body, still)[:, 2]) > 0.01


@pytest.mark.parametrize("hips", [(0.0, 0.0, 0.1), (0.0, 0.04, 0.0), (0.01, -0.05, -0.12)])
def test_legs_go_the_same_way_wherever_a_rig_has_its_hips(source, motion, hips):
    """The pelvis turns by tens of degrees: a way taken at another place of it would swing the legs about."""
    parts = layout()
    move = np.array(hips) - np.array([0.0, 0.0, 0.05])  # of the hips' joint, which is 5 cm over the thighs
    parts["hips"] = (None, tuple(np.array(parts["hips"][1]) + move))
    for role, (parent, offset) in parts.items():
        if parent == "hips":
            parts[role] = (parent, tuple(np.array(offset) - move))
    body = build(parts, seed=21)
    assert np.degrees(rotation.angle(motion.rotations[:, 0], source.rest.rotations[0, 0])).max() > 20.0
    _, out = bake(source, motion, body)
    for role, j in body.roles.items():
        if role != "hips":
            assert np.abs(out.positions[:, j] - motion.positions[:, source.roles[role]]).max() < 1e-9, role


@pytest.mark.parametrize("lacking", ["source", "body"])
def test_without_thighs_the_hips_are_carried_over(source, motion, lacking):
    parts = layout(leg=0.8)
    parts["hips"] = (None, (0.0, 0.1, 1.2))
    figures = {"source": source, "body": build(parts, seed=22)}
    few = {role: j for role, j in figures[lacking].roles.items() if role != "thigh.R"}
    figures[lacking] = figures[lacking]._replace(roles=few)
    source, body = figures["source"], figures["body"]
    _, out = bake(source, motion, body)
    hips, own = out.positions[:, body.roles["hips"]], motion.positions[:, source.roles["hips"]]
    scale = 0.8
    assert np.allclose(hips[:, :2], scale * own[:, :2], atol=1e-9)
    assert np.ptp(hips[:, 2] - scale * own[:, 2]) < 1e-9


def test_thighs_that_move_on_the_pelvis_do_not_change_the_own_motion(source):
    channels = dance(source)
    channels.location[:, source.roles["thigh.L"]] = 0.02 * np.sin(np.arange(120.0))[:, None]
    parts = layout()
    for side in "LR":  # as Biped has them
        parts[f"thigh.{side}"] = ("spine", tuple(np.array(parts[f"thigh.{side}"][1]) - np.array(parts["spine"][1])))
    for figure, moved in ((source, channels), (build(parts, seed=9), None)):
        own = play(figure, moved or dance(figure))
        _, out = bake(figure, own, figure)
        joints = [j for role, j in figure.roles.items() if not (moved and role.split(".")[0] in ("thigh", "shin",
                                                                                                "foot", "toe"))]
        assert np.abs(out.positions[:, joints] - own.positions[:, joints]).max() < 1e-9


def test_a_rest_that_hangs_elsewhere_does_not_lift_the_body():
    """A BVH rest whose root is at the origin puts the feet far below the floor; the take itself stands on it."""
    sunk = build({r: (p, (0.0, 0.0, 0.0) if r == "hips" else o) for r, (p, o) in layout().items()}, seed=2)
    channels = dance(sunk, amount=0.2)
    channels.location[:, 0] *= 0.0
    standing = build()
    lift = np.zeros_like(channels.location)
    lift[:, 0] = rotation.rotate(rotation.conj(rotation.from_matrix(sunk.skeleton.rest[0, :3, :3])), [0.0, 0.0, 0.94])
    motion = play(sunk, channels._replace(location=channels.location + lift))
    _, out = bake(sunk, motion, standing)
    assert abs(np.quantile(out.positions[:, standing.roles["foot.L"], 2], 0.02) - 0.09) < 0.05


def test_a_pose_that_a_file_left_on_mapped_bones_does_not_stay_in_their_joints(source, motion):
    body = build(layout(arm=0.9, leg=0.8), seed=15)
    left = held(body)
    for role in ("thigh.L", "upper_arm.R", "neck"):
        left.location[0, body.roles[role]] = [0.05, -0.08, 0.06]
    out = played(body, left, transfer(source, motion, body, left))
    _, want = bake(source, motion, body)
    assert np.abs(out.positions - want.positions).max() < 1e-9


def test_clavicles_that_hang_from_the_neck_stay_on_the_chest(source, motion):
    parts = layout(arm=0.9)
    chest_to_neck = np.array(parts["neck"][1])
    for side in "LR":
        parts[f"shoulder.{side}"] = ("neck", tuple(np.array(parts[f"shoulder.{side}"][1]) - chest_to_neck))
    body, plain = build(parts, seed=9), build(layout(arm=0.9))
    _, out = bake(source, motion, body)
    _, want = bake(source, motion, plain)
    for role, j in plain.roles.items():
        assert np.abs(out.positions[:, body.roles[role]] - want.positions[:, j]).max() < 1e-8, role


def test_feet_that_hang_from_the_root_stay_on_their_shins(source, motion):
    parts = {"root": (None, (0.0, 0.0, 0.0)), **layout()}
    parts["hips"] = ("root", parts["hips"][1])
    plain = build(layout())
    for side in "LR":
        parts[f"foot.{side}"] = ("root", tuple(plain.rest.positions[0, plain.roles[f"foot.{side}"]]))
    body = build(parts, seed=10)
    _, out = bake(source, motion, body)
    _, want = bake(source, motion, plain)
    for role, j in plain.roles.items():
        assert np.abs(out.positions[:, body.roles[role]] - want.positions[:, j]).max() < 1e-8, role


def test_unmapped_bones_between_mapped_ones_keep_their_pose_and_do_no_harm(source, motion):
    parts = layout()
    parts = {r: (("helper", o) if r == "chest" else (p, o)) for r, (p, o) in parts.items()}
    order = {}
    for role, part in parts.items():
        if role == "chest":
            order["helper"] = ("spine.1", (0.01, 0.02, 0.0))
        order[role] = part
    body = build(order, seed=12, extra=("helper",))
    pose = held(body)
    helper = body.skeleton.names.index("helper")
    pose.rotation[0, helper] = rotation.exp(np.array([0.2, -0.3, 0.1]))
    result = transfer(source, motion, body, pose)
    assert helper not in result.rotations
    errors = limb_errors(source, motion, body, played(body, pose, result))
    assert errors["forearm.L"].max() < 1e-5 and errors["upper_arm.R"].std() < 1e-6


@pytest.mark.parametrize("carrier", ["root", "object"])
def test_root_and_object_carry_the_way_without_moving_the_result(source, motion, carrier):
    parts = {"root": (None, (0.0, 0.0, 0.0)), **layout(leg=0.8)}
    parts["hips"] = ("root", parts["hips"][1])
    body = build(parts, seed=13)
    result, out = bake(source, motion, body, travel=Travel(carrier=carrier))
    _, want = bake(source, motion, body)
    limbs = [j for r, j in body.roles.items() if r != "root"]
    assert np.abs(out.positions[:, limbs] - want.positions[:, limbs]).max() < 1e-8
    if carrier == "root":
        way = out.positions[:, body.roles["root"]]
        assert np.allclose(way[:, :2], want.positions[:, body.roles["hips"], :2]) and np.ptp(way[:, 2]) < 1e-9
    else:
        assert np.ptp(result.offset[:, 0]) > 0.1 and np.ptp(result.offset[:, 2]) == 0.0


def test_forearm_twist_bones_take_their_share_of_the_hands_roll():
    source = build(seed=11)
    channels = dance(source, amount=0.0)
    axis_world = np.array([1.0, 0.0, 0.0])
    roll = np.linspace(0.0, 1.4, 120)
    hand = source.roles["hand.L"]
    own = rotation.rotate(rotation.conj(source.rest.rotations[0, hand]), axis_world)
    channels.rotation[:, hand] = rotation.exp(roll[:, None] * own)
    parts = dict(layout())
    parts["forearm.twist.1.L"] = ("forearm.L", (0.12, 0.0, 0.0))
    body = build(parts, seed=14)
    _, out = bake(source, play(source, channels), body)
    turned = rotation.mul(out.rotations[:, body.roles["forearm.twist.1.L"]],
                          rotation.conj(body.rest.rotations[0, body.roles["forearm.twist.1.L"]]))
    assert np.allclose(rotation.twist_angle(turned, axis_world), 0.5 * roll, atol=1e-6)
    forearm = rotation.mul(out.rotations[:, body.roles["forearm.L"]],
                           rotation.conj(body.rest.rotations[0, body.roles["forearm.L"]]))
    assert rotation.angle(forearm).max() < 1e-7


def test_without_hips_it_says_what_to_map(source, motion):
    body = build()
    with pytest.raises(FootholdError, match="hips"):
        transfer(source, motion, body._replace(roles={"head": body.roles["head"]}), held(body))
    with pytest.raises(FootholdError, match="take.*hips"):
        transfer(source._replace(roles={"head": 5}), motion, body, held(body))


@pytest.mark.parametrize("carrier", ["hips", "object"])
def test_in_stretches_it_comes_out_as_at_once(carrier):
    source = build(seed=4)
    channels = dance(source, frames=300, amount=1.4)
    turning = rotation.exp(np.linspace(0.0, 9.0, 300)[:, None] * np.array([1.0, 0.0, 0.0]))
    channels.rotation[:, source.roles["hand.L"]] = turning  # its roll goes over half a turn more than once
    motion = play(source, channels)
    parts = layout(arm=0.8, leg=0.9)
    parts["forearm.twist.1.L"] = ("forearm.L", (0.1, 0.0, 0.0))
    body = build(parts, seed=8)
    whole = transfer(source, motion, body, held(body), Travel(carrier))
    stood = standing_ankle(ankle_height(motion.positions, source.roles), 0.8)
    planned, before, stretches = plan(source, body, held(body), stood, Travel(carrier)), None, []
    for rows in (slice(0, 70), slice(70, 71), slice(71, 200), slice(200, 300)):
        result, before = stretch(planned, Motion(motion.positions[rows], motion.rotations[rows]), before)
        stretches.append(result)
    for j, q in whole.rotations.items():
        assert np.abs(np.concatenate([s.rotations[j] for s in stretches]) - q).max() < 1e-12
    for j, p in whole.locations.items():
        assert np.abs(np.concatenate([s.locations[j] for s in stretches]) - p).max() < 1e-12
    if carrier == "object":
        assert np.abs(np.concatenate([s.offset for s in stretches]) - whole.offset).max() < 1e-12
