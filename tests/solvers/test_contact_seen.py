"""What a body shows of contacts, on skins of boxes whose every millimetre is known."""

from dataclasses import replace

import numpy as np
import pytest
from puppet import Puppet
from skins import box, skin_of
from test_contact_report import POLE, moved, observed, plant, posed, skin_for, turned

from foothold.solvers import contact_probe, contact_report, contact_seen, mesh, rotation
from foothold.solvers.contacts import performer
from foothold.solvers.contacts.script import Contact, ContactScript, Prop

_WIDE = 0.22  # metres from the middle to the side of the hips of flesh


def shown(puppet, *contacts, props=(), body=None):
    """The keys of what is shown, with their first and last frames."""
    body = observed(puppet, props) if body is None else body
    found = contact_seen.found(ContactScript(puppet.fps, puppet.frames, tuple(props), tuple(contacts), 0.0), body)
    return {key: (int(np.argmax(mask)), int(len(mask) - 1 - np.argmax(mask[::-1]))) for key, mask in found.items()
            if mask.any()}


def on_hips(puppet, gap):
    """An Observed puppet with wide hips, whose left palm is `gap` metres from their side after 0.5 s."""
    figure = puppet.figure
    hips, thigh = (figure.rest.positions[0, puppet.joint(role)] for role in ("hips", "thigh.L"))
    wrist = figure.rest.positions[0, puppet.joint("hand.L")]
    skin = skin_of(figure, ("hips", box(hips - (_WIDE, 0.1, 0.12), hips + (_WIDE, 0.1, 0.1))),
                   ("thigh.L", box(thigh - (0.07, 0.08, 0.4), thigh + (0.07, 0.08, -0.1))),
                   ("hand.L", box(wrist - (0.0, 0.04, 0.02), wrist + (0.18, 0.04, 0.02))))
    palm = performer.palms(figure)["L"]
    probe = contact_probe.probe(figure, skin)
    place = probe.palms["L"].weights @ skin.points[probe.palms["L"].vertices]
    side = hips + (_WIDE + gap, 0.0, -0.05)  # nearer to the thigh's bone than to the middle of the hips
    away = (1.0 - puppet.between(0.0, 0.5))[:, None] * (0.3, 0.0, 0.0)
    puppet.positions[:, palm.joint] += side + away - place
    rows = [contact_probe.look(probe, points) for points in posed(figure, skin, puppet.motion)]
    return contact_report.Observed(figure, puppet.motion, performer.palms(figure), probe,
                                   contact_probe.Seen(*(np.stack(v) for v in zip(*rows))), np.arange(puppet.frames),
                                   puppet.time)


def test_a_hand_on_wide_hips_lies_on_the_trunk():
    """Her thigh's bone is nearer than the middle of the hips: the skin tells."""
    puppet = Puppet(1.5)
    body = on_hips(puppet, 0.0)
    first, last = shown(puppet, body=body)["hand.L", "trunk", "rest-on"]
    assert abs(first - 30) <= 4 and last == puppet.frames - 1
    assert not any(key[1].startswith("leg") for key in shown(puppet, body=body))
    assert body.seen.palms[-1, 0] == pytest.approx([0.0] + 9 * [contact_probe.REACH], abs=1e-9)
    far = Puppet(1.5)
    assert ("hand.L", "trunk", "rest-on") not in shown(far, body=on_hips(far, 0.015))


def test_what_is_shown_does_not_go_by_what_is_asked():
    puppet = Puppet(1.0)
    moved(puppet, ("foot.L", "toe.L"), (0.0, 0.0, 0.1), start=0.5)
    asked = (plant("L"), replace(plant("R"), kind="rest-on"), Contact("h", "hand.L", "head", "rest-on", 0.0, 1.0))
    assert shown(puppet) == shown(puppet, *asked) == {("foot.L", "floor", "plant"): (0, 29),
                                                      ("foot.R", "floor", "plant"): (0, 60)}


@pytest.mark.parametrize("lift, there", [(0.0, True), (0.0008, True), (0.0015, False), (-0.0015, False)])
def test_a_sole_touches_within_a_millimetre(lift, there):
    puppet = Puppet(1.0)
    moved(puppet, ("foot.L", "toe.L"), (0.0, 0.0, lift))
    assert (("foot.L", "floor", "plant") in shown(puppet)) == there


def test_a_foot_that_slides_does_not_stand():
    puppet = Puppet(1.0)
    for role in ("foot.L", "toe.L"):
        puppet.positions[:, puppet.joint(role), 0] += 0.1 * puppet.time
    found = shown(puppet)
    assert ("foot.L", "floor", "plant") not in found and found["foot.L", "floor", "rest-on"] == (0, 60)


def test_a_foot_that_comes_down_on_the_edge_of_its_heel_stands():
    """The middle of the heel is over the floor then: the lowest skin tells."""
    puppet = Puppet(1.0)
    skin = skin_for(puppet.figure)
    heel = performer.place(contact_probe.flesh.soles(puppet.figure, skin).points["heel.L"], puppet.figure.rest)[0]
    tilt = np.radians(25.0) * (1.0 - puppet.between(0.3, 0.5))
    turned(puppet, ("foot.L", "toe.L"), heel, rotation.exp(tilt[:, None] * (-1.0, 0.0, 0.0)))
    own = np.isin(skin.bones[:, 0], [puppet.joint("foot.L"), puppet.joint("toe.L")])
    low = posed(puppet.figure, skin, puppet.motion)[:, own, 2].min(axis=1)
    for role in ("foot.L", "toe.L"):
        puppet.positions[:, puppet.joint(role), 2] -= low
    assert low.min() < -0.01 and shown(puppet)["foot.L", "floor", "plant"] == (0, 60)


@pytest.mark.parametrize("off, there", [(0.0, True), (0.0007, True), (0.002, False), (-0.002, False)])
def test_a_palm_holds_a_pole_within_a_millimetre(off, there):
    puppet = Puppet(1.0)
    path = np.tile(np.array(POLE.point) + (POLE.radius + off, 0.0, 1.1), (puppet.frames, 1))
    puppet.lead_palm("L", path + puppet.time[:, None] * (0.0, 0.0, 0.3))  # it may slide
    assert (("hand.L", "pole", "grip") in shown(puppet, props=(POLE,))) == there


def test_what_the_skin_cannot_tell_is_said_and_counts_neither_way():
    puppet, board = Puppet(1.0), Prop("board", "mesh", object="Board")
    grip = Contact("hand.L:1", "hand.L", "board", "grip", 0.0, 1.0, path={"time": [0.0], "x": [0.0], "y": [0.0],
                                                                        "z": [0.0]})
    script = ContactScript(60.0, puppet.frames, (board,), (plant("L"), plant("R"), grip), 0.0)
    found = contact_report.report(script, observed(puppet))
    assert found["metrics"]["contact_agreement"]["f1"] == 1.0
    assert any("board" in note and "looked for again" in note for note in found["notes"])


def test_distances_from_triangles_are_those_of_their_nearest_points():
    draw = np.random.default_rng(3)
    corners = draw.normal(size=(200, 3, 3))
    share = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 121)] * 2), axis=-1).reshape(-1, 2)
    share = share[share.sum(axis=1) <= 1.0]
    inside = np.column_stack([share, 1.0 - share.sum(axis=1)]) @ corners  # (200, S, 3), S all over each triangle
    brute = np.linalg.norm(inside, axis=-1).min(axis=1)
    found = mesh.distances(np.zeros((200, 3)), corners)[0]
    assert (found <= brute + 1e-12).all() and (brute - found).max() < 0.02
    flat = np.array([[[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [3.0, 0.0, 0.0]]])  # no area: its line is met
    assert mesh.distances(np.zeros((1, 3)), flat)[0] == pytest.approx([1.0])
