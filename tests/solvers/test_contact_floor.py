"""Floors that no standing sole tells, under performers whose floor is known by construction."""

import numpy as np
import pytest
from figures import layout
from puppet import Puppet

from foothold.solvers import rotation
from foothold.solvers.contacts import floor, performer
from foothold.solvers.contacts.extract import extract

X, Y, Z = np.eye(3)
PARENTS = {role: parent for role, (parent, _) in layout().items()}
BACK, KNEE = 0.115, 0.055  # metres: half a pelvis and half a knee of an adult with legs of 0.8 m


def read(puppet):
    return extract(puppet.figure, puppet.motion, puppet.fps)


def plants(found):
    return [c for c in found.contacts if c.kind == "plant"]


def lying(found):
    return {c.effector for c in found.contacts if c.kind == "rest-on" and c.surface == "floor"}


def below(role):
    """A role and all that hangs from it."""
    return [role, *(r for child, parent in PARENTS.items() if parent == role for r in below(child))]


def turn(puppet, role, axis, degrees, about=None):
    """Turn a limb with all that hangs from it by degrees, one or (F,), about its own joint or a point (3,)."""
    about = puppet.positions[:, puppet.joint(role)].copy() if about is None else np.array(about)
    turns = rotation.exp(np.radians(np.broadcast_to(degrees, puppet.frames))[:, None] * axis)
    for r in below(role):
        j = puppet.joint(r)
        puppet.positions[:, j] = about + rotation.rotate(turns, puppet.positions[:, j] - about)
        puppet.rotations[:, j] = rotation.mul(turns, puppet.rotations[:, j])


def wave(puppet, period, amount, late=0.0):
    return amount * np.sin(2.0 * np.pi * puppet.time / period + late)


def put(puppet, role, height):
    """Move all up or down so that a role's joint is at a height in the first frame."""
    puppet.positions[..., 2] += height - puppet.positions[0, puppet.joint(role), 2]


def on_her_back(height=0.0, seconds=4.0, fps=60.0):
    """One who lies with her legs up and cycles."""
    puppet = Puppet(seconds, fps)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        turn(puppet, f"upper_arm.{side}", Y, 70.0 * sign)
    turn(puppet, "hips", X, -90.0)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        turn(puppet, f"thigh.{side}", X, -60.0 + wave(puppet, 0.9, 25.0, sign))
    put(puppet, "hips", height + BACK)
    return puppet


def in_place(speed, lift=0.12, period=1.0):
    """One who walks on a treadmill: soles go back along the floor at a speed in m/s, and forward through the air."""
    puppet = Puppet(8.0)
    puppet.positions[..., 2] += 0.4
    for role in ("hips", "spine", "chest"):
        puppet.positions[:, puppet.joint(role), 2] += wave(puppet, 0.5 * period, 0.02)
    for side, late in (("L", 0.0), ("R", 0.5)):
        stride(puppet, (f"foot.{side}", f"toe.{side}"), late, speed, lift, period)
    return puppet


def stride(puppet, roles, late, speed, lift, period):
    """Let joints go back along the floor for six tenths of the time, and lift them forward in the rest."""
    phase = (puppet.time / period + late) % 1.0
    swing = np.clip((phase - 0.6) / 0.4, 0.0, 1.0)
    far = 0.6 * period * speed
    along = np.where(phase < 0.6, speed * period * phase, far * (1.0 - swing * swing * (3.0 - 2.0 * swing)))
    for role in roles:
        puppet.positions[:, puppet.joint(role)] += np.stack(
            [0.0 * along, along - 0.5 * far, lift * np.sin(np.pi * swing) ** 2], axis=-1)


@pytest.mark.parametrize("fps", [29.97, 60.0, 120.0])
@pytest.mark.parametrize("height", [0.0, 1.7, -0.43])
def test_one_who_lies_lies_on_a_floor(height, fps):
    found = read(on_her_back(height, fps=fps))
    assert found.floor == pytest.approx(height, abs=0.03)
    assert {"pelvis", "back"} <= lying(found)
    assert not [c for c in found.contacts if c.effector.startswith("foot")]
    assert all(c.end - c.start > 3.5 for c in found.contacts if c.effector == "pelvis")
    assert any("soles tell no floor" in note for note in found.notes)


def test_one_who_lies_with_her_feet_held_up_does_not_stand_in_the_air():
    puppet = Puppet(4.0)
    turn(puppet, "hips", X, -90.0)
    for side in "LR":
        turn(puppet, f"thigh.{side}", X, -80.0)
        turn(puppet, f"shin.{side}", X, 80.0)
    turn(puppet, "chest", Z, wave(puppet, 2.0, 2.0))
    put(puppet, "hips", 0.8 + BACK)
    found = read(puppet)
    assert found.floor == pytest.approx(0.8, abs=0.03)
    assert not [c for c in found.contacts if c.effector.startswith("foot")]


def kneeling(height, seconds=4.0):
    """One who kneels upright with her insteps on the floor, and sways."""
    puppet = Puppet(seconds)
    for side in "LR":
        turn(puppet, f"shin.{side}", X, 90.0)
        turn(puppet, f"foot.{side}", X, 60.0)
    turn(puppet, "spine", X, wave(puppet, 1.3, 15.0))
    put(puppet, "shin.L", height + KNEE)
    return puppet


@pytest.mark.parametrize("height", [0.0, 2.31])
def test_one_who_kneels_rests_on_knees_and_shins_and_her_insteps_are_no_soles(height):
    found = read(kneeling(height))
    assert found.floor == pytest.approx(height, abs=0.02)
    assert {"knee.L", "knee.R"} <= lying(found)
    assert not [c for c in plants(found) if c.effector.startswith("foot")]


@pytest.mark.parametrize("height", [0.0, 0.77])
def test_push_ups_stand_on_hands_and_toes(height):
    puppet = Puppet(6.0)
    for side in "LR":  # the foot on its toes, which stay flat
        turn(puppet, f"toe.{side}", X, -80.0)
    put(puppet, "toe.L", height)
    toe = puppet.positions[0, puppet.joint("toe.L")] * [0.0, 1.0, 1.0]
    turn(puppet, "hips", X, 80.0 - 8.0 * (1.0 - np.cos(2.0 * np.pi * puppet.time / 1.5)), about=toe)
    put(puppet, "toe.L", height + 0.022)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        shoulder = puppet.positions[0, puppet.joint(f"upper_arm.{side}")]
        puppet.lead_palm(side, np.tile([0.3 * sign, shoulder[1], height], (puppet.frames, 1)))
    found = read(puppet)
    assert found.floor == pytest.approx(height, abs=0.03)
    for side in "LR":
        (hand,) = [c for c in plants(found) if c.effector == f"hand.{side}"]
        assert (hand.start, hand.end) == (0.0, 6.0)
        assert [(c.start, c.end) for c in found.contacts if c.effector == f"foot.{side}"] == [(0.0, 6.0)]
    assert not lying(found) & {"pelvis", "back", "knee.L", "knee.R"}


@pytest.mark.parametrize("speed, period", [(0.1, 4.0), (0.2, 2.0), (0.6, 1.0), (1.2, 1.0)])
def test_a_walk_in_place_has_a_floor_and_no_plants(speed, period):
    """However slowly the feet go back."""
    found = read(in_place(speed, period=period))
    assert found.floor == pytest.approx(0.4, abs=0.02)
    assert not plants(found) and {c.kind for c in found.contacts} <= {"rest-on"}
    assert any("treadmill" in note for note in found.notes)


@pytest.mark.parametrize("speed, period", [(0.1, 4.0), (0.4, 1.0)])
def test_a_crawl_in_place_has_a_floor_and_no_plants(speed, period):
    puppet = Puppet(8.0)
    turn(puppet, "hips", X, 90.0)
    for side in "LR":
        turn(puppet, f"thigh.{side}", X, -90.0)
        turn(puppet, f"shin.{side}", X, 90.0)
        turn(puppet, f"foot.{side}", X, 60.0)
    put(puppet, "shin.L", 1.1 + KNEE)
    for side, sign, late in (("L", 1.0, 0.0), ("R", -1.0, 0.5)):
        stride(puppet, below(f"shin.{side}"), late, speed, 0.08, period)
        puppet.lead_palm(side, np.tile([0.2 * sign, -0.45, 1.1], (puppet.frames, 1)))
        stride(puppet, below(f"hand.{side}"), late + 0.5, speed, 0.1, period)
    found = read(puppet)
    assert found.floor == pytest.approx(1.1, abs=0.06) and not plants(found)


def test_one_who_runs_over_a_files_ground_runs_on_it():
    """Feet that touch it for moments, in a file whose rest stands on it."""
    puppet = Puppet(4.0)
    for side, late in (("L", 0.0), ("R", np.pi)):
        for role in (f"foot.{side}", f"toe.{side}"):
            angle = 2.0 * np.pi * puppet.time / 0.6 + late
            puppet.positions[:, puppet.joint(role)] += np.stack(
                [0.0 * angle, 0.4 * np.cos(angle), 0.3 * (1.0 + np.sin(angle))], axis=-1)
    found = read(puppet)
    assert found.floor == pytest.approx(0.0, abs=0.03) and not plants(found)
    assert any("file's ground" in note for note in found.notes)
    puppet.positions[..., 2] += 0.6
    assert not found.grounded and read(puppet).grounded, "and wherever she is where the file has no ground there"


def hanging(puppet):
    """She swings about her hands."""
    for side, sign in (("L", 1.0), ("R", -1.0)):
        turn(puppet, f"upper_arm.{side}", Y, -85.0 * sign)
    turn(puppet, "hips", X, wave(puppet, 1.9, 20.0), about=[0.0, 0.0, 2.1])


def jumping(puppet):
    """Cut out of a jump: all of her flies."""
    puppet.positions[..., 2] += (3.0 * puppet.time - 4.9 * puppet.time ** 2)[:, None]


def swimming(puppet):
    turn(puppet, "hips", X, 85.0)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        turn(puppet, f"thigh.{side}", X, wave(puppet, 0.7, 25.0, sign))
        turn(puppet, f"upper_arm.{side}", X, 360.0 * sign * puppet.time / 1.4)
    puppet.positions[..., 2] += wave(puppet, 1.4, 0.06)[:, None]


@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0])
@pytest.mark.parametrize("moves, seconds", [(hanging, 6.0), (jumping, 0.6), (swimming, 6.0)])
def test_one_in_the_air_or_the_water_has_no_floor(moves, seconds, fps):
    puppet = Puppet(seconds, fps)
    puppet.positions[..., 2] += 0.9
    moves(puppet)
    found = read(puppet)
    assert found.floor is None and not found.contacts
    assert any("never stands" in note for note in found.notes)


def squatting(puppet):
    """One who bends one knee more and then the other; her hips are held where they are."""
    for side, late in (("L", 0.0), ("R", 0.6)):
        bent = 50.0 + wave(puppet, 1.0, 25.0, late)
        turn(puppet, f"thigh.{side}", X, -bent + wave(puppet, 1.0, 25.0, late + 1.6))
        turn(puppet, f"shin.{side}", X, 2.0 * bent)
        turn(puppet, f"foot.{side}", X, -bent)


@pytest.mark.parametrize("lift", [0.5, -3.0])
def test_a_take_that_lacks_its_height_is_put_onto_the_floor(lift):
    """The same contacts as where her way is there, and the ground of the file wherever her hips are held."""
    puppet = Puppet(6.0)
    puppet.positions[..., 2] += lift
    squatting(puppet)
    assert not np.ptp(puppet.positions[:, puppet.joint("hips")], axis=0).any()
    found = read(puppet)
    assert found.grounded and any("lacks her way up and down" in note for note in found.notes)
    sole = min(performer.place(point, puppet.figure.rest)[0, 2] for point in performer.feet(puppet.figure).values())
    assert found.floor == pytest.approx(sole, abs=1e-5)
    puppet.positions[..., 2] += (sole - floor.lowest(floor.parts(puppet.figure, puppet.motion)))[:, None]
    whole = read(puppet)
    assert not whole.grounded and whole.floor == pytest.approx(found.floor, abs=0.01)
    assert found.contacts and whole.contacts == found.contacts


def test_hands_of_push_ups_that_lack_their_height_rest_on_the_floor():
    """Prone, her arms bend and stretch: the hands come up to hips that stay, and slide a little."""
    puppet = Puppet(6.0)
    turn(puppet, "hips", X, 80.0)
    up = 0.08 * (1.0 - np.cos(2.0 * np.pi * puppet.time / 1.5))
    for side, sign in (("L", 1.0), ("R", -1.0)):
        shoulder = puppet.positions[0, puppet.joint(f"upper_arm.{side}")]
        path = np.tile([0.3 * sign, shoulder[1], shoulder[2] - 0.9], (puppet.frames, 1))
        puppet.lead_palm(side, path + np.multiply.outer(up, [0.0, 0.4, 1.0]))
    found = read(puppet)
    assert found.grounded
    for side in "LR":
        assert [(c.kind, c.start, c.end) for c in found.contacts if c.effector == f"hand.{side}"] \
            == [("rest-on", 0.0, 6.0)]


@pytest.mark.parametrize("moves", [squatting, lambda puppet: None])
def test_a_take_with_its_way_is_not_put_anywhere(moves):
    puppet = Puppet(6.0)
    moves(puppet)
    puppet.positions[..., 2] += (0.2 - floor.lowest(floor.parts(puppet.figure, puppet.motion)))[:, None]
    found = read(puppet)
    assert not found.grounded and not any("lacks" in note for note in found.notes)


@pytest.mark.parametrize("size, heading, move", [(0.55, -2.2, (-7.0, 1.0, 1.3)), (100.0, 1.0, (30.0, 20.0, 170.0))])
def test_size_place_and_heading_change_the_coordinates_only(size, heading, move):
    puppet = on_her_back(1.7)
    before = read(puppet)
    about = rotation.exp(heading * Z)
    motion = puppet.motion
    motion = motion._replace(positions=size * rotation.rotate(about, motion.positions) + np.array(move),
                             rotations=rotation.mul(about, motion.rotations))
    rest = puppet.figure.rest
    after = extract(puppet.figure._replace(rest=rest._replace(positions=size * rest.positions)), motion, puppet.fps)
    assert after.floor == pytest.approx(size * before.floor + move[2], abs=2e-5 * size)
    assert [(c.effector, c.kind, c.start, c.end) for c in after.contacts] == \
           [(c.effector, c.kind, c.start, c.end) for c in before.contacts]
