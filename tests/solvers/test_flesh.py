"""Palms, soles and thickness on bodies of boxes and tubes whose measures are known."""

import numpy as np
import pytest
from figures import build, layout
from skins import box, skin_of, tube

from foothold.solvers import rotation
from foothold.solvers.contacts import performer
from foothold.solvers.fit import flesh
from foothold.solvers.skeleton import rest_motion
from foothold.solvers.transfer import Figure


def head_of(figure, role):
    return figure.rest.positions[0, figure.roles[role]]


def without(figure, *roles):
    """The figure with some roles unmapped."""
    return Figure(figure.skeleton, {r: j for r, j in figure.roles.items() if r not in roles}, figure.rest)


def moved(figure, skin, matrix):
    """Figure and skin as the object's matrix (4, 4), a turn and a shift, takes them."""
    skeleton = figure.skeleton._replace(world=matrix @ figure.skeleton.world)
    return (Figure(skeleton, figure.roles, rest_motion(skeleton)),
            skin._replace(points=skin.points @ matrix[:3, :3].T + matrix[:3, 3]))


def shoes(figure, turn=0.0, sole=0.0):
    """Box feet from 6 cm behind the ankle to 18 cm ahead of it, turned out by `turn`, their soles at height `sole`."""
    pieces = []
    for side, sign in (("L", 1.0), ("R", -1.0)):
        ankle = head_of(figure, f"foot.{side}")
        out = rotation.exp(np.array([0.0, 0.0, sign * turn]))
        back = box((ankle[0] - 0.04, ankle[1] - 0.12, sole), (ankle[0] + 0.04, ankle[1] + 0.06, ankle[2] + 0.05), out,
                   ankle)
        toes = box((ankle[0] - 0.04, ankle[1] - 0.18, sole), (ankle[0] + 0.04, ankle[1] - 0.12, ankle[2]), out, ankle)
        pieces += [(f"foot.{side}", back), (f"toe.{side}", toes)]
    return pieces


def place(figure, point):
    return performer.place(point, figure.rest)[0]


@pytest.mark.parametrize("seed", [None, 3, 4])
@pytest.mark.parametrize("sole", [0.0, 0.04, -0.5])
def test_box_feet_stand_where_they_are(seed, sole):
    figure = build(seed=seed)
    found = flesh.soles(figure, skin_of(figure, *shoes(figure, sole=sole)))
    assert found.notes == []
    for side in "LR":
        ankle = head_of(figure, f"foot.{side}")
        assert found.lowest[side] == pytest.approx(sole, abs=1e-9)
        assert found.points[f"heel.{side}"].joint == figure.roles[f"foot.{side}"]
        assert found.points[f"ball.{side}"].joint == figure.roles[f"toe.{side}"]
        heel, ball = (place(figure, found.points[f"{part}.{side}"]) for part in ("heel", "ball"))
        assert heel == pytest.approx([ankle[0], ankle[1] + 0.06 - 0.24 / 8.0, sole], abs=1e-6)
        assert ball == pytest.approx([ankle[0], ankle[1] - 0.13, sole], abs=1e-6)  # under the toe joint


def test_a_foot_without_toe_joint_is_read_off_its_shape():
    figure = build(seed=5)
    skin = skin_of(figure, *shoes(figure, turn=np.radians(25.0)))
    bare = without(figure, "toe.L", "toe.R")  # its toe bones' skin counts for the foot
    found = flesh.soles(bare, skin)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        ankle = head_of(figure, f"foot.{side}")
        way = rotation.rotate(rotation.exp(np.array([0.0, 0.0, sign * np.radians(25.0)])), np.array([0.0, -1.0, 0.0]))
        assert found.points[f"ball.{side}"].joint == figure.roles[f"foot.{side}"]
        for part, ahead in (("heel", -0.03), ("ball", 0.72 * 0.24 - 0.06)):
            want = ankle + ahead * way - [0.0, 0.0, ankle[2]]
            assert place(figure, found.points[f"{part}.{side}"]) == pytest.approx(want, abs=1e-6)


def test_feet_turned_out_keep_their_own_heading():
    parts = layout()
    turn = np.radians(30.0)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        parts[f"toe.{side}"] = (f"foot.{side}", (sign * 0.13 * np.sin(turn), -0.13 * np.cos(turn), -0.06))
    figure = build(parts, seed=6)
    found = flesh.soles(figure, skin_of(figure, *shoes(figure, turn=turn)))
    for side in "LR":
        toe = head_of(figure, f"toe.{side}")
        assert place(figure, found.points[f"ball.{side}"]) == pytest.approx([*toe[:2], 0.0], abs=1e-6)


def test_the_toe_joint_says_where_a_broad_foot_points():
    figure = build(seed=22)
    pieces = []
    for side in "LR":
        ankle = head_of(figure, f"foot.{side}")
        pieces.append((f"foot.{side}", box(ankle - [0.3, 0.18, ankle[2]], ankle + [0.3, 0.06, 0.0])))
    found = flesh.soles(figure, skin_of(figure, *pieces))
    ankle = head_of(figure, "foot.L")
    assert place(figure, found.points["heel.L"]) == pytest.approx([ankle[0], ankle[1] + 0.03, 0.0], abs=1e-6)


def test_the_shaft_of_a_boot_is_no_heel():
    figure = build(seed=23)
    plain = skin_of(figure, *shoes(figure))
    shafts = []
    for side in "LR":
        ankle = head_of(figure, f"foot.{side}")
        shafts.append((f"foot.{side}", box(ankle + [-0.1, -0.1, 0.02], ankle + [0.1, 0.2, 0.2])))
    booted = flesh.soles(figure, skin_of(figure, *shoes(figure), *shafts)).points
    for name, point in flesh.soles(figure, plain).points.items():
        assert booted[name].offset == pytest.approx(point.offset, abs=1e-9)


def test_a_high_heel_stands_on_its_tip():
    figure = build(seed=7)
    pieces = []
    for side in "LR":
        ankle = head_of(figure, f"foot.{side}")
        tip = (ankle[0] - 0.005, ankle[1] + 0.04, 0.0), (ankle[0] + 0.005, ankle[1] + 0.05, 0.08)
        arch = (ankle[0] - 0.04, ankle[1] - 0.1, 0.06), (ankle[0] + 0.04, ankle[1] + 0.06, 0.1)
        front = (ankle[0] - 0.04, ankle[1] - 0.18, 0.0), (ankle[0] + 0.04, ankle[1] - 0.1, 0.02)
        pieces += [(f"foot.{side}", box(*tip)), (f"foot.{side}", box(*arch)), (f"toe.{side}", box(*front))]
    found = flesh.soles(figure, skin_of(figure, *pieces))
    for side in "LR":
        ankle = head_of(figure, f"foot.{side}")
        assert place(figure, found.points[f"heel.{side}"]) == pytest.approx([ankle[0], ankle[1] + 0.045, 0.0], abs=1e-6)
        assert place(figure, found.points[f"ball.{side}"])[2] == pytest.approx(0.0, abs=1e-9)


def test_a_foot_on_tiptoe_has_its_heel_in_the_air():
    """A rest with pointed feet and no shoe: the heel's skin is measured where it is, not on the floor."""
    figure = build(seed=8)
    pitch = rotation.exp(np.array([np.radians(30.0), 0.0, 0.0]))
    pieces = []
    for side in "LR":
        ankle = head_of(figure, f"foot.{side}")
        pieces.append((f"foot.{side}", box(ankle - [0.04, 0.18, 0.08], ankle + [0.04, 0.06, 0.02], pitch, ankle)))
    skin = skin_of(figure, *pieces)
    found = flesh.soles(figure, skin)
    for side in "LR":
        heel, ball = (place(figure, found.points[f"{part}.{side}"]) for part in ("heel", "ball"))
        assert heel[2] > found.lowest[side] + 0.05
        assert heel[2] > ball[2] > found.lowest[side] - 1e-9


def test_feet_without_skin_take_the_performers_proportions_and_say_so():
    figure = build(seed=9)
    skin = skin_of(figure, *(piece for piece in shoes(figure) if piece[0].endswith(".L")))
    found, guess = flesh.soles(figure, skin), performer.feet(figure)
    assert len(found.notes) == 1 and "foot.R" in found.notes[0] and list(found.lowest) == ["L"]
    for name in ("heel.R", "ball.R"):
        assert found.points[name].joint == guess[name].joint
        assert found.points[name].offset == pytest.approx(guess[name].offset)
    nothing = flesh.soles(figure, None)
    assert sorted(nothing.points) == sorted(guess) and len(nothing.notes) == 2


def hand(figure, side, roll=0.0, thick=0.015, fingers=True):
    """A box hand 18 cm long and 8 cm wide, its palm `thick` under the bone, rolled about the arm."""
    wrist = head_of(figure, f"hand.{side}")
    sign = 1.0 if side == "L" else -1.0
    turn = rotation.exp(np.array([roll, 0.0, 0.0]))
    low, high = wrist - [0.0, 0.04, thick], wrist + [sign * (0.18 if fingers else 0.09), 0.04, 0.012]
    return box(np.minimum(low, high), np.maximum(low, high), turn, wrist), rotation.rotate(turn, (0.0, 0.0, -1.0))


@pytest.mark.parametrize("seed", [None, 10, 11])
@pytest.mark.parametrize("roll", [0.0, 0.4])
def test_the_palm_of_a_box_hand_is_its_face(seed, roll):
    """Without mapped fingers: the place from the hand's length, the side from how it lies."""
    figure = without(build(seed=seed), "middle.1.L", "middle.1.R")
    made = {side: hand(figure, side, roll) for side in "LR"}
    skin = skin_of(figure, *((f"hand.{side}", mesh) for side, (mesh, _) in made.items()))
    found, notes = flesh.palms(figure, skin)
    assert notes == [] and set(found) == {"L", "R"}
    for side, (_, out) in made.items():
        palm, sign = found[side], 1.0 if side == "L" else -1.0
        turn = figure.rest.rotations[0, palm.joint]
        want = head_of(figure, f"hand.{side}") + [sign * 0.75 * 0.54 * 0.18, 0.0, 0.0] + 0.015 * out
        assert palm.joint == figure.roles[f"hand.{side}"]
        assert place(figure, palm) == pytest.approx(want, abs=1e-6)
        assert rotation.rotate(turn, palm.out) == pytest.approx(out, abs=1e-6)
        assert rotation.rotate(turn, palm.along) == pytest.approx([sign, 0.0, 0.0], abs=1e-6)


def test_knuckles_tell_where_the_palm_is_and_how_it_lies():
    parts, roll = layout(), 0.3
    across = rotation.rotate(rotation.exp(np.array([roll, 0.0, 0.0])), np.array([0.0, 0.03, 0.0]))
    for side in "LR":
        middle = np.array(parts[f"middle.1.{side}"][1])
        parts[f"index.1.{side}"] = f"hand.{side}", tuple(middle - across)
        parts[f"ring.1.{side}"] = f"hand.{side}", tuple(middle + across)
    figure = build(parts, seed=12)
    made = {side: hand(figure, side, roll, fingers=False) for side in "LR"}
    found, notes = flesh.palms(figure, skin_of(figure, *((f"hand.{s}", mesh) for s, (mesh, _) in made.items())))
    assert notes == []
    for side, (_, out) in made.items():
        want = head_of(figure, f"hand.{side}") + [(1.0 if side == "L" else -1.0) * 0.75 * 0.09, 0.0, 0.0] + 0.015 * out
        assert place(figure, found[side]) == pytest.approx(want, abs=1e-6)


def test_palms_swing_with_the_arms():
    """In an A-pose they face the thighs, as the performer's do."""
    figure = without(build(layout(arms_down=50.0), seed=13), "middle.1.L", "middle.1.R")
    pieces, outs = [], {}
    for side, sign in (("L", 1.0), ("R", -1.0)):
        (points, faces), out = hand(figure, side)
        swing = rotation.exp(np.array([0.0, sign * np.radians(50.0), 0.0]))
        wrist = head_of(figure, f"hand.{side}")
        pieces.append((f"hand.{side}", (wrist + rotation.rotate(swing, points - wrist), faces)))
        outs[side] = rotation.rotate(swing, out)
        assert sign * outs[side][0] < -0.7  # towards the body
    found, _ = flesh.palms(figure, skin_of(figure, *pieces))
    for side, out in outs.items():
        assert rotation.rotate(figure.rest.rotations[0, found[side].joint], found[side].out) == pytest.approx(out,
                                                                                                             abs=1e-6)
        assert (place(figure, found[side]) - head_of(figure, f"hand.{side}")) @ out == pytest.approx(0.015, abs=1e-6)


def test_what_a_hand_holds_is_not_its_palm():
    figure = build(seed=14)
    mesh, _ = hand(figure, "L")
    wrist = head_of(figure, "hand.L")
    sword = box(wrist + [0.05, -0.02, -0.3], wrist + [0.08, 0.02, 0.6])
    plain = flesh.palms(figure, skin_of(figure, ("hand.L", mesh)))[0]["L"]
    armed = flesh.palms(figure, skin_of(figure, ("hand.L", mesh), ("hand.L", sword, True)))[0]["L"]
    assert np.array_equal(plain.offset, armed.offset)
    robot, _ = flesh.palms(figure, skin_of(figure, ("hand.L", mesh, True)))  # a robot's hand is rigid and all it has
    assert robot["L"].offset == pytest.approx(plain.offset)


def test_hands_without_skin_take_the_performers_proportions_and_say_so():
    figure = build(seed=15)
    guess = performer.palms(figure)
    for skin in (None, skin_of(figure, ("hand.R", hand(figure, "R")[0]))):
        found, notes = flesh.palms(figure, skin)
        assert "hand.L" in notes[0] and len(notes) == (2 if skin is None else 1)
        assert np.array_equal(found["L"].offset, guess["L"].offset)


@pytest.mark.parametrize("seed", [None, 16, 17])
def test_tubes_are_as_thick_as_they_were_made(seed):
    figure = build(seed=seed)
    pieces = [(role, tube(head_of(figure, role), head_of(figure, end), radii))
              for role, end, radii in (("upper_arm.L", "forearm.L", (0.05, 0.04)), ("shin.R", "foot.R", (0.06, 0.06)),
                                       ("neck", "head", (0.07, 0.05)))]
    skin = skin_of(figure, *pieces)
    parts = np.array([0.0, 0.25, 0.5, 1.0])
    assert flesh.thickness(figure, skin, "upper_arm.L", parts) == pytest.approx(0.05 - 0.01 * parts, abs=1e-6)
    assert flesh.thickness(figure, skin, "shin.R", parts) == pytest.approx(0.06, abs=1e-6)
    assert flesh.thickness(figure, skin, "neck", 0.5) == pytest.approx([0.06], abs=1e-6)
    assert np.isnan(flesh.thickness(figure, skin, "thigh.L", parts)).all()
    assert np.isnan(flesh.thickness(figure, None, "thigh.L", parts)).all()


def test_a_few_stray_faces_do_not_thicken_a_limb():
    figure = build()
    ends = head_of(figure, "forearm.L"), head_of(figure, "hand.L")
    spike = tube(0.5 * sum(ends), 0.5 * sum(ends) + [0.0, 0.0, 0.3], (0.001, 0.001), 3)
    skin = skin_of(figure, ("forearm.L", tube(*ends, (0.04, 0.04), 48)), ("forearm.L", spike))
    assert flesh.thickness(figure, skin, "forearm.L", 0.5) == pytest.approx([0.04], abs=1e-6)


def test_skin_counts_for_the_role_that_weighs_most_together():
    """A twist bone and a helper without a role count for their limb."""
    parts = layout()
    parts["forearm.twist.1.L"] = "forearm.L", (0.12, 0.0, 0.0)
    parts["helper"] = "forearm.L", (0.1, 0.02, 0.0)
    figure = build(parts, seed=18, extra=("helper",))
    ends = head_of(figure, "forearm.L"), head_of(figure, "hand.L")
    shares = {"hand.L": 0.4, "forearm.L": 0.2, "forearm.twist.1.L": 0.3, "helper": 0.1}
    skin = skin_of(figure, (shares, tube(*ends, (0.03, 0.03))))
    own, roles = flesh.owners(figure, skin)
    assert {roles[i] for i in own} == {"forearm.L"}
    assert flesh.thickness(figure, skin, "forearm.L", 0.5) == pytest.approx([0.03], abs=1e-6)


def test_the_trunk_is_measured_to_each_side():
    figure = build(seed=19)
    hips, chest, neck, head = (head_of(figure, role) for role in ("hips", "chest", "neck", "head"))
    trunk = box([-0.15, -0.12, hips[2] - 0.15], [0.17, 0.08, neck[2]])
    skull = box(head + [-0.07, -0.1, -0.02], head + [0.07, 0.06, 0.2])
    skin = skin_of(figure, ({"chest": 0.6, "spine": 0.4}, trunk), ("head", skull))
    back, lean = performer.axes(figure)[1], np.radians(5.0)
    assert rotation.vector_angle(back, np.array([0.0, 1.0, 0.0])) < lean  # the trunk's own axes lean a little
    side, front, behind = flesh.thickness(figure, skin, "chest", [0.2, 0.8]).T
    assert side == pytest.approx(0.17, abs=1e-6)
    assert front == pytest.approx(0.12 + chest[1], abs=0.01) and behind == pytest.approx(0.08 - chest[1], abs=0.01)
    side, front, behind = flesh.thickness(figure, skin, "head", 0.5)[0]
    assert (side, front, behind) == pytest.approx((0.07, 0.1, 0.06), abs=0.01)
    assert np.isfinite(flesh.thickness(figure, skin_of(figure, ("hips", trunk)), "hips", [-0.5, 0.5])).all()


def test_the_trunk_is_measured_whole_whichever_bone_has_it():
    figure = build(seed=24)
    low, high = head_of(figure, "hips")[2], head_of(figure, "neck")[2]
    skin = skin_of(figure, ("chest", box([-0.1, -0.1, low], [0.0, 0.1, high])),
                   ("spine", box([0.0, -0.1, low], [0.16, 0.1, high])))
    for role in ("chest", "spine"):
        assert flesh.thickness(figure, skin, role, 0.5)[0, 0] == pytest.approx(0.16, abs=1e-6)


def test_another_place_and_scale_of_the_object_change_nothing_but_the_floor():
    figure = build(seed=20)
    skin = skin_of(figure, *shoes(figure), ("hand.L", hand(figure, "L")[0]), ("hand.R", hand(figure, "R")[0]))
    matrix = np.eye(4)
    matrix[:3, :3] = rotation.to_matrix(rotation.exp(np.array([0.0, 0.0, 1.1])))
    matrix[:3, 3] = 3.0, -2.0, 0.7
    other, there = moved(figure, skin, matrix)
    a, b = flesh.soles(figure, skin), flesh.soles(other, there)
    assert b.lowest["L"] == pytest.approx(a.lowest["L"] + 0.7)
    for name in a.points:
        assert b.points[name].offset == pytest.approx(a.points[name].offset, abs=1e-9)
    a, b = flesh.palms(figure, skin)[0], flesh.palms(other, there)[0]
    for side in "LR":
        assert b[side].offset == pytest.approx(a[side].offset, abs=1e-9)


def divided(skin, part):
    """The skin with each triangle of `part` (T,) bool divided into three."""
    middles, count = skin.points[skin.faces[part]].mean(axis=1), len(skin.points)
    new = count + np.arange(len(middles))
    faces = [np.stack([skin.faces[part][:, i], skin.faces[part][:, (i + 1) % 3], new], axis=1) for i in range(3)]
    first = skin.faces[part][:, 0]
    return flesh.Skin(np.concatenate([skin.points, middles]), np.concatenate([skin.faces[~part], *faces]),
                      *(np.concatenate([rows, rows[first]]) for rows in (skin.bones, skin.weights, skin.rigid)))


@pytest.mark.parametrize("every", [1, 3])
def test_the_mesh_does_not_matter_to_the_measure(every):
    """The same body with some of its triangles divided has the same soles and palms."""
    figure = without(build(seed=21), "middle.1.L", "middle.1.R")
    hands = [(f"hand.{side}", hand(figure, side, 0.3)[0]) for side in "LR"]
    skin = skin_of(figure, *shoes(figure), *hands)
    fine = divided(skin, np.arange(len(skin.faces)) % every == 0)
    fine = divided(fine, np.arange(len(fine.faces)) % every == 0)
    one, other = ({**flesh.soles(figure, s).points, **flesh.palms(figure, s)[0]} for s in (skin, fine))
    assert len(one) == 6
    for name in one:
        assert other[name].offset == pytest.approx(one[name].offset, abs=1e-6)


def test_the_spread_of_an_outline_is_that_of_its_line():
    """Six times the integral of x x' along a rectangle's sides, 2 a by 2 b: of x x it is 4 a a (b + a / 3)."""
    a, b = 0.04, 0.015
    points, faces = box((-a, -b, 0.0), (a, b, 0.1))
    sizes, ways = flesh._spread(points[faces] + (1.0, 2.0, 0.0), np.array([0.0, 0.0, 1.0]), np.array([0.03, 0.06]))
    want = [0.0, 4.0 * b * b * (a + b / 3.0), 4.0 * a * a * (b + a / 3.0)]
    assert sizes == pytest.approx(2 * 6.0 * np.array(want), rel=1e-9, abs=1e-15)
    assert np.abs(ways[:, 2]) == pytest.approx([1.0, 0.0, 0.0], abs=1e-9)
