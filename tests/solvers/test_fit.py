"""The parts of the fit against what must hold of each."""

from dataclasses import replace

import numpy as np
import pytest
from figures import build, dance, layout, play

from foothold.solvers import rotation, transfer
from foothold.solvers.contacts import performer
from foothold.solvers.contacts.script import Contact, ContactScript, Part, Prop, rounded
from foothold.solvers.fit import limbs, root
from foothold.solvers.fit.body import body_of
from foothold.solvers.fit.fit import fit
from foothold.solvers.skeleton import identity_channels


def arm(frames=200, seed=1, straight=False):
    """Joints (F, 3) of a limb that moves smoothly, and its hinge's axis."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 2.0 * np.pi, frames)[:, None]
    turn = rotation.exp(0.7 * np.sin(t + rng.uniform(0, 6, 3)))
    bend = (0.02 * np.sin(3.0 * t[:, 0]) if straight else 0.8 + 0.6 * np.sin(2.0 * t[:, 0]))
    hinge = rotation.rotate(turn, np.array([0.0, 0.0, 1.0]))
    shoulder = 0.1 * np.sin(t * np.array([1.0, 2.0, 1.0]))
    elbow = shoulder + rotation.rotate(turn, np.array([0.28, 0.0, 0.0]))
    lower = rotation.mul(turn, rotation.exp(bend[:, None] * np.array([0.0, 0.0, 1.0])))
    return shoulder, elbow, elbow + rotation.rotate(lower, np.array([0.24, 0.0, 0.0])), hinge


def solved(shoulder, elbow, wrist, hinge, target):
    axis = limbs.hinge(elbow - shoulder, wrist - elbow, hinge)
    upper, lower, gap = limbs.solve(shoulder, elbow, wrist, axis, target)
    new_elbow = shoulder + rotation.rotate(upper, elbow - shoulder)
    return new_elbow, new_elbow + rotation.rotate(lower, wrist - elbow), upper, lower, gap


@pytest.mark.parametrize("straight", [False, True])
def test_the_end_comes_to_the_target_and_lengths_stay(straight):
    shoulder, elbow, wrist, hinge = arm(straight=straight)
    target = shoulder + 0.8 * (wrist - shoulder) + np.array([0.04, -0.06, 0.02])
    new_elbow, new_wrist, *_, gap = solved(shoulder, elbow, wrist, hinge, target)
    assert np.linalg.norm(new_wrist - target, axis=-1).max() < 1e-9 and gap.max() < 1e-9
    assert np.abs(np.linalg.norm(new_elbow - shoulder, axis=-1) - 0.28).max() < 1e-12
    assert np.abs(np.linalg.norm(new_wrist - new_elbow, axis=-1) - 0.24).max() < 1e-12


def test_a_limb_that_is_there_already_stays():
    shoulder, elbow, wrist, hinge = arm()
    _, _, upper, lower, _ = solved(shoulder, elbow, wrist, hinge, wrist)
    assert max(rotation.angle(upper).max(), rotation.angle(lower).max()) < 1e-7


def test_what_is_out_of_reach_is_pointed_at_and_told():
    shoulder, elbow, wrist, hinge = arm()
    way = rotation.normalize(wrist - shoulder)
    new_elbow, new_wrist, *_, gap = solved(shoulder, elbow, wrist, hinge, shoulder + 0.6 * way)
    assert gap == pytest.approx(0.6 - 0.52 * 0.9995, abs=1e-6)
    assert rotation.vector_angle(new_wrist - shoulder, way).max() < 1e-6


def test_nothing_pops_near_straight():
    """A limb that stretches, bends the other way by a hair and comes back, led along a smooth path."""
    shoulder, elbow, wrist, hinge = arm(600, straight=True)
    t = np.linspace(0.0, 1.0, 600)[:, None]
    target = shoulder + (0.97 + 0.028 * np.sin(12.0 * t)) * (wrist - shoulder)
    _, _, upper, lower, _ = solved(shoulder, elbow, wrist, hinge, target)
    for turns in (upper, lower):
        steps = rotation.angle(turns[1:], turns[:-1])
        assert steps.max() < np.radians(3.0)


def test_the_bend_stays_in_the_performers_plane():
    shoulder, elbow, wrist, hinge = arm()
    target = shoulder + 0.8 * (wrist - shoulder)
    new_elbow, new_wrist, *_ = solved(shoulder, elbow, wrist, hinge, target)
    before = rotation.normalize(rotation.cross(elbow - shoulder, wrist - elbow))
    after = rotation.normalize(rotation.cross(new_elbow - shoulder, new_wrist - new_elbow))
    assert rotation.dot(before, after).min() > 0.999


# The root

def ball(frames, centre, radius, first, last):
    mask = np.zeros(frames, bool)
    mask[first:last] = True
    return root.Ball(mask, np.broadcast_to(np.asarray(centre, float), (frames, 3)), np.full(frames, radius))


def missed(one, place):
    """How far (F,) an offset lies outside a Ball."""
    return np.where(one.frames, np.linalg.norm(place - one.centre, axis=-1) - one.radius, 0.0)


def test_without_need_the_root_stays_bit_for_bit():
    assert not root.offset([ball(300, (0.1, 0.0, 0.0), 0.2, 50, 250)], 300, 60.0).any()


def test_the_offset_lies_in_every_ball_and_is_as_small_as_can_be():
    balls = [ball(600, (0.3, 0.0, 0.0), 0.2, 100, 300), ball(600, (0.0, 0.25, 0.0), 0.2, 250, 500)]
    place = root.offset(balls, 600, 60.0)
    assert max(missed(one, place).max() for one in balls) < 1e-3
    assert np.linalg.norm(place[200]) == pytest.approx(0.1, abs=0.01)  # no further in than it has to be
    assert np.linalg.norm(place[450]) == pytest.approx(0.05, abs=0.01)
    assert np.linalg.norm(place[:10], axis=-1).max() < 0.012 and np.linalg.norm(place[-10:], axis=-1).max() < 0.012
    second = np.diff(place, n=2, axis=0) * 60.0 ** 2
    assert np.linalg.norm(second, axis=-1).max() < 6.0  # m/s2: it begins before it is needed


def test_what_cannot_be_is_told():
    balls = [ball(300, (0.5, 0.0, 0.0), 0.1, 100, 200), ball(300, (-0.5, 0.0, 0.0), 0.1, 100, 200)]
    place = root.offset(balls, 300, 60.0)
    assert np.isfinite(place).all()
    assert all(missed(one, place)[150] == pytest.approx(0.4, abs=0.02) for one in balls)


def test_the_offset_lies_on_the_right_side_of_a_half_and_within_a_ball():
    across, frames = np.tile([0.6, 0.8, 0.0], (400, 1)), np.arange(400)
    half = root.Half((frames >= 150) & (frames < 250), across, np.full(400, 0.07))
    one = ball(400, (0.2, 0.0, 0.0), 0.15, 100, 300)
    place = root.offset([one, half], 400, 60.0)
    assert (place[150:250] @ [0.6, 0.8, 0.0]).min() > 0.069 and missed(one, place).max() < 1e-3
    assert np.linalg.norm(place[200]) == pytest.approx(0.0764, abs=0.004)  # the nearest place that is in both


def test_the_cosine_transform_goes_there_and_back():
    values = np.random.default_rng(2).normal(size=(37, 3))
    assert np.abs(root._cosine(root._cosine(values), back=True) - values).max() < 1e-12
    k = np.cos(np.pi * 5 * (np.arange(64) + 0.5) / 64)[:, None]
    assert np.flatnonzero(np.abs(root._cosine(k)[:, 0]) > 1e-9).tolist() == [5]


# The whole fit

def performed(**layout_of_body):
    """(plan, script, pose, motion, source palms, fps) of a performer who sways with bent arms and knees, her contacts,
    and a body of other proportions."""
    source, fps, frames = build(), 60.0, 360
    channels = dance(source, frames, amount=0.05)
    channels.location[:] *= 0.1
    channels.location[:, source.roles["hips"], 2] -= 0.06
    for side, sign in (("L", -1.0), ("R", 1.0)):
        for role, bend in (("forearm", (0.0, 0.0, 1.4 * sign)), ("thigh", (-0.4, 0.0, 0.0)), ("shin", (0.8, 0.0, 0.0)),
                           ("foot", (-0.4, 0.0, 0.0))):
            j = source.roles[f"{role}.{side}"]
            channels.rotation[:, j] = rotation.mul(rotation.exp(np.array(bend)), channels.rotation[:, j])
    motion = play(source, channels)
    palms = {side: performer.place(palm, motion) for side, palm in performer.palms(source).items()}
    times = np.arange(frames) / fps

    def path(values, first, last, names):
        rows = slice(first, last + 1)
        return {"time": times[rows].tolist(), **{name: values[rows, i].tolist() for i, name in enumerate(names)}}

    stick = Prop("stick", point=tuple(palms["R"][200] - (0.05, 0.03, 0.0)), radius=0.03)
    off = palms["R"] - np.array(stick.point)
    around = np.stack([off[:, 2], np.degrees(np.unwrap(np.arctan2(off[:, 1], off[:, 0])))], axis=-1)
    soles = performer.feet(source)
    ankles = {side: performer.place(soles[f"ball.{side}"], motion) for side in "LR"}
    floor = float(min(a[:, 2].min() for a in ankles.values()))
    contacts = [
        Contact("hand.L:1", "hand.L", "ledge", "grip", 1.0, 3.0, path=path(palms["L"], 60, 180, "xyz"), priority=3.0),
        Contact("hand.R:1", "hand.R", "stick", "grip", 2.5, 4.5, path=path(around, 150, 270, ("height", "azimuth")),
                priority=3.0)]
    for side, spans in (("L", [(0, 100), (150, 359)]), ("R", [(60, 250), (300, 359)])):
        for n, (a, b) in enumerate(spans):
            parts = (Part("heel", times[a], times[b]), Part("ball", times[min(a + 10, b)], times[b]))
            where = {"time": [times[a], times[b]], "x": [0.0, 0.0], "y": [0.0, 0.0], "z": [floor, floor]}
            contacts.append(Contact(f"foot.{side}:{n}", f"foot.{side}", "floor", "plant", times[a], times[b],
                                    path=where, parts=parts, priority=2.0))
    script = rounded(ContactScript(fps, frames, (stick, Prop("ledge", "box")), tuple(contacts), floor))
    body = build(layout(**layout_of_body), seed=9)
    held = identity_channels(len(body.skeleton.names))
    leg = transfer.leg_length(source.rest.positions[0], source.roles)
    stood = transfer.standing_ankle(transfer.ankle_height(motion.positions, source.roles), leg)
    plan = transfer.plan(source, body, held, stood)
    return plan, script, transfer.world_pose(plan, motion)[0], motion, palms, fps


def seen(plan, pose, motion):
    return transfer.played(plan.body, plan.held, transfer.keys(plan, pose, motion)[0])


BODIES = {"same": {}, "short arms": {"arm": 0.85}, "long arms": {"arm": 1.2}, "short legs": {"leg": 0.8},
          "all of it": {"arm": 0.88, "leg": 1.15, "spine": 4}}


@pytest.mark.parametrize("name", BODIES)
def test_hands_hold_and_feet_stand_on_any_body(name):
    plan, script, pose, motion, palms, fps = performed(**BODIES[name])
    fitted = fit(body_of(plan, None), script, motion, palms, fps)
    assert not fitted.misses
    after = seen(fitted.plan, fitted.pose, motion)
    laid, stick = fitted.script, fitted.script.props[0]
    ledge = next(c for c in laid.contacts if c.surface == "ledge")
    assert np.abs(np.array(stick.point) - script.props[0].point)[:2].max() < 1e-9, "the prop stays where it is"
    soles, hands = performer.feet(plan.body), performer.palms(plan.body)
    for contact in script.contacts:
        side, rows = contact.effector[-1], slice(round(contact.start * fps), round(contact.end * fps) + 1)
        if contact.kind == "plant":
            ball = performer.place(soles[f"ball.{side}"], after)[rows][15:]
            assert np.ptp(ball[:, :2], axis=0).max() < 1e-6 and np.abs(ball[:, 2] - laid.floor).max() < 1e-6
            continue
        palm = performer.place(hands[side], after)[rows]
        if contact.surface == "stick":
            assert np.abs(np.linalg.norm((palm - stick.point)[:, :2], axis=-1) - stick.radius).max() < 1e-6
        else:
            wanted = np.stack([ledge.path[axis] for axis in "xyz"], axis=-1)
            assert np.abs(palm - wanted).max() < 2e-5


def test_lengths_stay_and_nothing_pops():
    plan, script, pose, motion, palms, fps = performed(**BODIES["all of it"])
    before, fitted = seen(plan, pose, motion), fit(body_of(plan, None), script, motion, palms, fps)
    after = seen(fitted.plan, fitted.pose, motion)
    roles = plan.body.roles
    for a, b in (("upper_arm", "forearm"), ("forearm", "hand"), ("thigh", "shin"), ("shin", "foot")):
        for side in "LR":
            for m in (before, after):
                length = np.linalg.norm(m.positions[:, roles[f"{b}.{side}"]] - m.positions[:, roles[f"{a}.{side}"]],
                                        axis=-1)
                assert np.ptp(length) < 1e-9
            turns = after.rotations[:, roles[f"{a}.{side}"]]
            assert np.degrees(rotation.angle(turns[1:], turns[:-1])).max() * fps < 720.0
    assert np.linalg.norm(np.diff(fitted.offset, n=2, axis=0), axis=-1).max() * fps ** 2 < 8.0


def test_an_empty_script_changes_nothing_bit_for_bit():
    plan, script, pose, motion, palms, fps = performed(arm=0.9)
    for empty in (replace(script, contacts=()), replace(script, contacts=tuple(replace(c, mute=True)
                                                                              for c in script.contacts))):
        fitted = fit(body_of(plan, None), empty, motion, palms, fps)
        assert np.array_equal(fitted.pose.rotations, pose.rotations) and np.array_equal(fitted.pose.hips, pose.hips)


def test_far_from_contacts_the_motion_is_the_transferred_one():
    plan, script, pose, motion, palms, fps = performed(arm=0.9)
    only = replace(script, contacts=tuple(c for c in script.contacts if c.effector == "hand.L" and c.kind == "grip"))
    fitted = fit(body_of(plan, None), only, motion, palms, fps)
    (grip,) = only.contacts
    far = np.arange(len(pose.hips)) / fps > grip.end + 0.5
    assert far.any() and rotation.angle(fitted.pose.rotations, pose.rotations)[far].max() < 1e-6


@pytest.mark.parametrize("gap", [0.5, 4.0])
def test_the_standing_height_is_kept_to_the_next_step_and_given_up_where_there_is_none(gap):
    """Between steps the root goes on as it stands; who lies for long before she stands, or after, lies as she did."""
    plan, script, pose, motion, palms, fps = performed(leg=0.8, arm=1.1)
    stands = [c for c in script.contacts if c.effector == "foot.L"]
    first = replace(stands[0], start=0.0, end=0.5, parts=())
    second = replace(stands[1], start=0.5 + gap, end=1.0 + gap, parts=())
    heights = fit(body_of(plan, None), replace(script, contacts=(first, second)), motion, palms, fps).offset[:, 2]
    first_end, second_start = 30, int(round((0.5 + gap) * fps))
    between, ends = heights[(first_end + second_start) // 2], heights[[first_end, second_start]]
    assert np.abs(heights[:30]).max() > 5e-3
    if gap < 1.0:
        assert ends.min() - 1e-3 < between < ends.max() + 1e-3
        assert np.abs(heights[int((1.0 + gap + 1.5) * fps):]).max() < 1e-6
    else:
        assert abs(between) < 1e-6


def test_what_no_body_can_reach_is_told():
    plan, script, pose, motion, palms, fps = performed(arm=0.9)
    grips = [c for c in script.contacts if c.kind == "grip"]
    apart = [replace(c, start=2.5, end=3.0) for c in grips]
    apart[1] = replace(apart[1], path={**apart[1].path, "height": [h + 2.5 for h in apart[1].path["height"]]})
    fitted = fit(body_of(plan, None), replace(script, contacts=tuple(apart)), motion, palms, fps)
    assert fitted.misses and all(miss.millimetres > 50.0 for miss in fitted.misses)
    assert {miss.surface for miss in fitted.misses} == {"stick", "ledge"}
