"""Figures of motions whose answers are known on paper."""

import json

import numpy as np
import pytest

from foothold.solvers import report, rotation
from foothold.solvers.errors import FootholdError
from foothold.solvers.skeleton import Motion

ROLES = ("hips", "spine", "chest", "neck", "head", "upper_arm.L", "forearm.L", "hand.L", "thigh.L", "shin.L", "foot.L")
PARENTS = np.array([-1, 0, 1, 2, 3, 2, 5, 6, 0, 8, 9])
OFFSETS = np.array([[0, 0, 1.0], [0, 0, 0.1], [0, 0, 0.2], [0, 0, 0.2], [0, 0, 0.1], [0.2, 0, 0.15], [0.3, 0, 0],
                    [0.25, 0, 0], [0.1, 0, -0.05], [0, 0, -0.4], [0, 0, -0.4]])


def side(turns=None, root=None, frames=60, size=1.0, rolls=None):
    """A figure whose bones do the world turns `turns` (role -> (F, 4)) and whose hips follow `root` (F, 3).

    `rolls` (J, 4) is what its bones' own axes are at rest.
    """
    joints = len(ROLES)
    done = np.tile(rotation.IDENTITY, (frames, joints, 1))
    for role, turn in (turns or {}).items():
        done[:, ROLES.index(role)] = turn
    positions = np.empty((frames, joints, 3))
    positions[:, 0] = size * OFFSETS[0] if root is None else root
    for j in range(1, joints):
        lever = rotation.rotate(done[:, PARENTS[j]], size * OFFSETS[j])
        positions[:, j] = positions[:, PARENTS[j]] + lever
    rest = np.tile(rotation.IDENTITY, (joints, 1)) if rolls is None else rolls
    return report.Side(Motion(positions, rotation.continuous(rotation.mul(done, rest))), ROLES, PARENTS,
                       {role: j for j, role in enumerate(ROLES)}, np.ones(joints, bool))


def spin(axis, degrees):
    return rotation.exp(np.radians(degrees)[:, None] * np.array(axis, float))


def wander(frames=60, seed=1):
    """Smooth world turns for every role and a way for the hips."""
    draw = np.random.default_rng(seed)
    t = np.linspace(0.0, 1.0, frames)[:, None]
    turns = {}
    for role in ROLES:
        wave = sum(draw.normal(size=3) * np.sin(2 * np.pi * k * t + draw.uniform(0, 6, 3)) for k in (1, 2))
        turns[role] = rotation.exp(0.5 * wave)
    root = np.concatenate([t, 0.5 * np.sin(4 * t), 1.0 + 0.05 * np.sin(30 * t)], axis=1)
    return turns, root


def test_the_same_motion_has_no_fault_and_nothing_to_tell():
    turns, root = wander()
    found = report.report(side(turns, root), side(turns, root), 60.0)
    metrics = found["metrics"]
    assert found["faults"] == [] and found["faults_total"] == 0
    assert metrics["angular_speed_deg_per_s"]["frames_over"] == 0
    assert metrics["acceleration_m_per_s2"]["ratio"] == 1.0
    assert metrics["limb_direction_deg"]["std"] == 0.0
    assert metrics["twist_deg"]["std"] < 1e-6
    assert metrics["root_path"]["rms_percent_of_leg"] < 1e-9
    assert metrics["root_path"]["bob_amplitude_ratio"] == pytest.approx(1.0)
    assert found["summary"].endswith("no faults.")


def test_the_report_is_plain_json_and_always_the_same():
    turns, root = wander()
    args = side(turns, root), side({**turns, "hand.L": wander(seed=2)[0]["hand.L"]}, root), 60.0
    first, second = (json.dumps(report.report(*args), allow_nan=False) for _ in range(2))
    assert first == second
    assert json.loads(first)["foothold_report"] == report.VERSION


def test_other_bone_axes_and_other_proportions_change_nothing_in_time():
    turns, root = wander()
    draw = np.random.default_rng(5)
    rolls = rotation.normalize(draw.normal(size=(len(ROLES), 4)))
    metrics = report.report(side(turns, root), side(turns, 1.3 * root, size=1.3, rolls=rolls), 60.0)["metrics"]
    assert metrics["limb_direction_deg"]["std"] < 1e-6
    assert metrics["twist_deg"]["std"] < 1e-6
    assert metrics["relative_rotation_deg"]["std"] < 1e-6
    assert metrics["root_path"]["horizontal_scale"] == pytest.approx(1.3)
    assert metrics["root_path"]["leg_ratio"] == pytest.approx(1.3)
    assert metrics["acceleration_m_per_s2"]["ratio"] == pytest.approx(1.0)


@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0, 29.97])
def test_a_spin_has_its_speed_at_any_frame_rate(fps):
    frames = int(fps)
    degrees = 900.0 * np.arange(frames) / fps
    still, spinning = side(frames=frames), side({"head": spin((0, 0, 1), degrees)}, frames=frames)
    found = report.report(still, spinning, fps)
    row = found["metrics"]["angular_speed_deg_per_s"]["bones"]["head"]
    assert row["body"]["median"] == pytest.approx(900.0) and row["body"]["worst"] == pytest.approx(900.0)
    assert row["take"]["worst"] == 0.0 and row["limit"] == 720.0
    assert row["frames_over"] == frames - 1
    spun = [f for f in found["faults"] if f["metric"] == "angular_speed_deg_per_s"]
    assert [(f["bone"], f["limit"]) for f in spun] == [("head", 720.0)]


def test_a_bone_may_turn_half_again_as_fast_as_in_the_take():
    slow, fast = (spin((0, 0, 1), speed * np.arange(60) / 60.0) for speed in (800.0, 1150.0))
    bones = report.report(side({"head": slow}), side({"head": fast}), 60.0)["metrics"]["angular_speed_deg_per_s"]
    assert bones["frames_over"] == 0 and bones["bones"]["head"]["limit"] == pytest.approx(1200.0)
    faster = spin((0, 0, 1), 1250.0 * np.arange(60) / 60.0)
    bones = report.report(side({"head": slow}), side({"head": faster}), 60.0)["metrics"]["angular_speed_deg_per_s"]
    assert bones["frames_over"] == 59


def test_a_flip_is_found_at_its_frame_with_the_frame_number_of_the_scene():
    degrees = np.zeros(60)
    degrees[20] = 170.0
    found = report.report(side(), side({"forearm.L": spin((0, 1, 0), degrees)}), 60.0, frames=np.arange(101, 161))
    fast = [f for f in found["faults"] if f["metric"] == "angular_speed_deg_per_s"]
    assert {f["frame"] for f in fast} <= {121, 122} and {f["bone"] for f in fast} == {"forearm.L"}
    assert found["metrics"]["angular_speed_deg_per_s"]["bones"]["forearm.L"]["body"]["worst_frame"] == 121
    bent = [f for f in found["faults"] if f["metric"] == "limb_direction_std_deg"]
    assert [(f["role"], f["frame"]) for f in bent] == [("forearm.L", 121)]
    assert [f["severity"] for f in found["faults"]] == sorted((f["severity"] for f in found["faults"]), reverse=True)


def test_twice_the_amplitude_is_twice_the_acceleration():
    swing = np.sin(np.linspace(0.0, 20.0, 200))[:, None] * np.array([0.1, 0.0, 0.0])
    rest = OFFSETS[0]
    found = report.report(side(root=rest + swing, frames=200), side(root=rest + 2.0 * swing, frames=200), 60.0)
    pull = found["metrics"]["acceleration_m_per_s2"]
    assert pull["ratio"] == pytest.approx(2.0)
    assert {role: row["ratio"] for role, row in pull["joints"].items()} == pytest.approx(
        {"hips": 2.0, "hand.L": 2.0, "foot.L": 2.0})
    assert any(f["metric"] == "acceleration_ratio" and f["role"] == "hips" for f in found["faults"])


def test_arms_that_are_long_swing_as_hard_as_a_performers_of_that_length(monkeypatch):
    swing = spin((0, 1, 0), 40.0 * np.sin(np.arange(120) / 8.0))
    turns = {"upper_arm.L": swing, "forearm.L": swing, "hand.L": swing}
    longer = OFFSETS.copy()
    longer[[ROLES.index("forearm.L"), ROLES.index("hand.L")]] *= 1.5
    take = side(turns, frames=120)
    monkeypatch.setitem(globals(), "OFFSETS", longer)
    found = report.report(take, side(turns, frames=120), 60.0)
    row = found["metrics"]["acceleration_m_per_s2"]["joints"]["hand.L"]
    assert row["ratio_in_proportion"] == pytest.approx(1.0) and found["faults"] == []
    rows = [what["joints"]["hand.L"]["body"]["p99"] for what in (
        found["metrics"]["acceleration_m_per_s2"], report.report(take, take, 60.0)["metrics"]["acceleration_m_per_s2"])]
    assert rows[0] == pytest.approx(1.5 * rows[1]), "which is harder than the take's own"


def test_a_body_of_other_lengths_that_turns_as_the_take_does_shakes_no_more(monkeypatch):
    """Legs, trunk and arms are longer each by its own factor, and the way as much as the legs."""
    turns, root = wander()
    take, longer = side(turns, root), OFFSETS.copy()
    longs = {"shin": 1.5, "foot": 1.5, "toe": 1.5, "forearm": 0.7, "hand": 0.8}
    for j in range(1, len(ROLES)):
        longer[j] *= longs.get(ROLES[j].split(".")[0], 2.0)
    monkeypatch.setitem(globals(), "OFFSETS", longer)
    found = report.report(take, side(turns, 1.5 * root), 60.0)["metrics"]["acceleration_m_per_s2"]
    assert {role: row["ratio_in_proportion"] for role, row in found["joints"].items()} == pytest.approx(
        {"hips": 1.0, "hand.L": 1.0, "foot.L": 1.0})
    shaken = {**turns, "spine": rotation.mul(turns["spine"], spin((1, 0, 0), 2.0 * (-1.0) ** np.arange(60)))}
    worse = report.report(take, side(shaken, 1.5 * root), 60.0)["metrics"]["acceleration_m_per_s2"]
    hand = worse["joints"]["hand.L"]
    assert hand["ratio_in_proportion"] > 1.3, "a trunk that shakes is told by the hands that it carries"


def test_acceleration_is_in_metres_per_second_squared():
    t = np.arange(90) / 30.0
    fall = np.stack([0 * t, 0 * t, -0.5 * 9.81 * t * t], axis=1)
    assert np.allclose(report.acceleration(fall, 30.0), 9.81)


def test_a_constant_offset_has_a_mean_but_no_deviation():
    turns, root = wander()
    lean = rotation.exp(np.radians(10.0) * np.array([0.0, 1.0, 0.0]))
    bent = {**turns, "forearm.L": rotation.mul(turns["forearm.L"], lean)}
    metrics = report.report(side(turns, root), side(bent, root), 60.0)["metrics"]
    row = metrics["limb_direction_deg"]["roles"]["forearm.L"]
    assert row["mean"] == pytest.approx(10.0) and row["worst"] == pytest.approx(10.0) and row["std"] < 1e-9
    assert metrics["twist_deg"]["roles"]["forearm.L"]["std"] < 1e-6


def test_a_rest_of_another_pose_is_named():
    turns, root = wander()
    lean = rotation.exp(np.radians(80.0) * np.array([0.0, 1.0, 0.0]))
    found = report.report(side(turns, root), side({**turns, "forearm.L": rotation.mul(turns["forearm.L"], lean)}, root),
                          60.0)
    assert [(f["metric"], f["role"]) for f in found["faults"]] == [("limb_direction_mean_deg", "forearm.L")]
    assert "rest" in found["notes"][0]


def test_a_twist_about_the_limb_is_seen_by_the_twist_alone():
    turns, root = wander()
    amount = 20.0 * np.sin(np.linspace(0.0, 40.0, 60))
    rolled = {**turns, "forearm.L": rotation.mul(turns["forearm.L"], spin((1, 0, 0), amount))}
    found = report.report(side(turns, root), side(rolled, root), 60.0)
    metrics = found["metrics"]
    assert metrics["limb_direction_deg"]["roles"]["forearm.L"]["std"] < 1e-9
    assert metrics["twist_deg"]["worst_role"] == "forearm.L"
    assert metrics["twist_deg"]["roles"]["forearm.L"]["std"] == pytest.approx(amount.std(), rel=1e-6)
    assert [f["role"] for f in found["faults"] if f["metric"] == "twist_std_deg"] == ["forearm.L"]
    fitted = report.report(side(turns, root), side(rolled, root), 60.0, pure_transfer=False)
    assert not any(f["metric"] == "twist_std_deg" for f in fitted["faults"])


def test_a_twist_beyond_half_a_turn_is_unwrapped():
    amount = np.linspace(0.0, 720.0, 200)
    found = report.twist(side(frames=200), side({"forearm.L": spin((1, 0, 0), amount)}, frames=200),
                         report.Pair("forearm.L", "forearm.L", True))
    assert found.max() - found.min() == pytest.approx(720.0)


def test_a_path_is_fitted_by_scale_and_offset_before_it_counts():
    _, root = wander()
    shifted = np.concatenate([0.8 * root[:, :2] + 3.0, 1.1 * root[:, 2:] - 0.2], axis=1)
    path = report.report(side(root=root), side(root=shifted), 60.0)["metrics"]["root_path"]
    assert path["horizontal_scale"] == pytest.approx(0.8) and path["vertical_scale"] == pytest.approx(1.1)
    assert path["rms_percent_of_leg"] < 1e-9
    assert path["bob_amplitude_ratio"] == pytest.approx(1.1)


def test_what_no_scale_explains_is_in_percent_of_a_leg():
    frames = 240
    t = np.linspace(0.0, 2.0 * np.pi, frames, endpoint=False)
    root = np.stack([np.cos(t), np.sin(t), np.ones(frames)], axis=1)
    strayed = root + np.stack([0.08 * np.cos(5 * t), np.zeros(frames), np.zeros(frames)], axis=1)
    found = report.report(side(root=root, frames=frames), side(root=strayed, frames=frames), 60.0)
    path = found["metrics"]["root_path"]
    assert path["rms_percent_of_leg"] == pytest.approx(100.0 * 0.08 / np.sqrt(2.0) / 0.8, rel=1e-6)
    assert path["vertical_rms_percent_of_leg"] == pytest.approx(0.0, abs=1e-9)
    assert any(f["metric"] == "root_path_rms_percent_of_leg" for f in found["faults"])


def test_the_path_is_that_of_the_thighs_wherever_a_rig_has_its_hips():
    """Legs that go exactly the same way, below hips 10 cm farther up on a pelvis that nods by 40 degrees."""
    nod = spin((1.0, 0.0, 0.0), 40.0 * np.sin(np.linspace(0.0, 9.0, 60)))
    root = np.array([0.0, 0.0, 1.0]) + 0.3 * np.sin(np.linspace(0.0, 5.0, 60))[:, None] * [1.0, 1.0, 0.2]
    low, high = two_legs(side({"hips": nod}, root)), two_legs(side({"hips": nod}, root))
    high.motion.positions[:, 0] += rotation.rotate(nod, [0.0, 0.03, 0.1])
    metrics = report.report(low, high, 60.0)["metrics"]
    path = metrics["root_path"]
    hips = metrics["acceleration_m_per_s2"]["joints"]["hips"]
    assert hips["ratio_in_proportion"] == pytest.approx(1.0), "nor does it shake more"
    assert path["rms_percent_of_leg"] < 1e-9 and path["bob_amplitude_ratio"] == pytest.approx(1.0)
    one_legged = high._replace(roles={r: j for r, j in high.roles.items() if r != "thigh.R"})
    metrics = report.report(low, one_legged, 60.0)["metrics"]
    path = metrics["root_path"]
    assert metrics["acceleration_m_per_s2"]["joints"]["hips"]["ratio_in_proportion"] > 1.1
    assert path["rms_percent_of_leg"] > 2.0, "then it is that of the hips"


def two_legs(one):
    """The Side with a right thigh beside its left one, 20 cm apart along the pelvis."""
    j = one.roles["thigh.L"]
    across = one.motion.positions[:, j] - rotation.rotate(one.motion.rotations[:, 0], [0.2, 0.0, 0.0])
    motion = Motion(np.concatenate([one.motion.positions, across[:, None]], axis=1),
                    np.concatenate([one.motion.rotations, one.motion.rotations[:, j:j + 1]], axis=1))
    return report.Side(motion, (*one.names, "thigh.R"), np.append(one.parents, 0),
                       {**one.roles, "thigh.R": len(one.names)}, np.append(one.rendered, True))


def test_a_body_that_stays_put_is_not_praised_for_its_path():
    _, root = wander()
    put = np.concatenate([np.zeros((60, 2)), root[:, 2:]], axis=1)
    found = report.report(side(root=root), side(root=put), 60.0)
    assert found["metrics"]["root_path"]["horizontal_scale"] == pytest.approx(0.0)
    assert any("in place" in note for note in found["notes"])


def test_bobbing_is_told_from_climbing():
    t = np.arange(600) / 60.0
    assert report.bob(0.3 * t, 60.0) == pytest.approx(0.0, abs=1e-9)
    wave = 0.3 * t + 0.05 * np.sin(2.0 * np.pi * 2.0 * t)
    assert report.bob(wave, 60.0) == pytest.approx(0.05 / np.sqrt(2.0), rel=0.05)
    coarse = wave[::2]
    assert report.bob(coarse, 30.0) == pytest.approx(report.bob(wave, 60.0), rel=0.05)


def test_nothing_to_do_means_every_bit():
    keys = {"a": np.linspace(0, 1, 12, dtype=np.float32).reshape(3, 4), "b": np.zeros(3, np.float32)}
    same = {k: v.copy() for k, v in keys.items()}
    assert report.same_bits(keys, same)["equal"]
    same["a"][1, 2] = np.nextafter(same["a"][1, 2], np.float32(2))
    found = report.same_bits(keys, same)
    assert not found["equal"] and found["first"] == {"channel": "a", "index": [1, 2]}
    assert not report.same_bits(np.zeros(2), -np.zeros(2))["equal"]
    assert not report.same_bits(np.zeros(2, np.float32), np.zeros(2))["equal"]
    assert report.same_bits({"a": np.zeros(1)}, {"b": np.zeros(1)})["missing"] == ["a", "b"]
    assert report.same_bits(np.array([np.nan]), np.array([np.nan]))["equal"]


def test_chains_of_unequal_length_meet_at_their_ends():
    short = {"hips": 0, "spine": 1, "neck": 2}
    long = {"hips": 0, "spine": 1, "spine.1": 2, "spine.2": 3, "chest": 4, "neck": 5, "neck.1": 6}
    found = {p.role: (p.source_role, p.exact) for p in report.pairs(short, long)}
    assert found["chest"] == ("spine", True) and found["spine.1"] == ("spine", False)
    assert found["neck.1"] == ("neck", True) and found["neck"] == ("neck", False)
    found = {p.role: (p.source_role, p.exact) for p in report.pairs(long, short)}
    assert found["spine"] == ("chest", True) and found["neck"] == ("neck.1", True)
    middle = {"hips": 0, "spine": 1, "spine.1": 2, "chest": 3}
    found = {p.role: (p.source_role, p.exact) for p in report.pairs(middle, long)}
    assert found["spine"] == ("spine", True) and found["chest"] == ("chest", True) and not found["spine.1"][1]


def test_a_hand_has_a_direction_only_where_both_have_the_finger():
    pair = report.Pair("hand.L", "hand.L", True)
    bare, fingers = {"hand.L": 0}, {"hand.L": 0, "middle.1.L": 1, "index.1.L": 2}
    assert report.limb_ends(pair, bare, fingers) is None
    assert report.limb_ends(pair, {"hand.L": 0, "index.1.L": 1}, fingers) == ("index.1.L", "index.1.L")
    assert report.limb_ends(pair, fingers, fingers) == ("middle.1.L", "middle.1.L")


def test_one_frame_has_directions_but_no_speeds():
    found = report.report(side(frames=1), side(frames=1), 60.0)
    metrics = found["metrics"]
    assert metrics["angular_speed_deg_per_s"]["frames_over"] is None
    assert metrics["acceleration_m_per_s2"]["ratio"] is None
    assert metrics["limb_direction_deg"]["std"] == 0.0
    json.dumps(found, allow_nan=False)


def test_an_unmapped_bone_answers_to_the_bone_it_hangs_from():
    body = side()
    roles = {role: j for role, j in body.roles.items() if role not in ("hand.L", "head")}
    bones = report.report(side(), body._replace(roles=roles), 60.0)["metrics"]["angular_speed_deg_per_s"]["bones"]
    assert bones["hand.L"]["role"] is None and bones["hand.L"]["take_bones"] == ["forearm.L"]


def test_only_bones_that_move_a_mesh_are_rendered():
    body = side()
    rendered = np.array([role == "head" for role in ROLES])
    bones = report.report(side(), body._replace(rendered=rendered), 60.0)["metrics"]["angular_speed_deg_per_s"]["bones"]
    assert list(bones) == ["head"]


def test_cost_is_passed_on():
    assert report.report(side(), side(), 60.0, cost={"frames_per_s": 5.0})["cost"] == {"frames_per_s": 5.0}


def test_bad_input_is_named():
    broken = side()
    broken.motion.positions[7, 6] = np.nan
    with pytest.raises(FootholdError, match="forearm.L.*body.*frame 8"):
        report.report(side(), broken, 60.0)
    with pytest.raises(FootholdError, match="take.*hips"):
        report.report(side()._replace(roles={}), side(), 60.0)
    with pytest.raises(FootholdError, match="60 frames.*50"):
        report.report(side(), side(frames=50), 60.0)
    with pytest.raises(FootholdError, match="frame rate"):
        report.report(side(), side(), 0.0)


def test_a_cut_of_the_take_is_no_speed():
    """A pose that the take begins with turns into the motion at once: neither the body's speed there nor a limit."""
    take, body = side(*wander()), side(*wander())
    for one in (take, body):
        one.motion.positions[0] += [0.5, 1.0, 0.2]
        one.motion.rotations[0] = rotation.mul(rotation.exp(np.array([0.0, 2.0, 0.0])), one.motion.rotations[0])
    j = body.roles["hand.L"]
    body.motion.rotations[30:, j] = rotation.mul(rotation.exp(np.array([0.0, 1.0, 0.0])), body.motion.rotations[30:, j])
    found = report.report(take, body, 60.0, np.arange(1, 61))
    speeds = found["metrics"]["angular_speed_deg_per_s"]
    hand = speeds["bones"][body.names[j]]
    own = report.angular_speed(take.motion.rotations[1:, take.roles["hand.L"]][:, None], 60.0).max()
    assert speeds["frames_over"] == hand["frames_over"] == 1 and hand["limit"] == pytest.approx(max(1.5 * own, 720.0))
    assert hand["body"]["worst_frame"] == 31
