"""The contact script's text: what goes in comes out, and what is wrong is named."""

import json
from dataclasses import replace

import numpy as np
import pytest

from foothold.solvers.contacts import plot, script
from foothold.solvers.contacts.script import Contact, ContactScript, Part, Prop, Removed
from foothold.solvers.errors import FootholdError


@pytest.fixture
def whole():
    return script.rounded(ContactScript(
        59.94, 601, (Prop("pole", point=(0.1, -0.2, 0.0), radius=0.0225), Prop("lid", "mesh", object="Lid.001")),
        (Contact("foot.L:1", "foot.L", "floor", "plant", 0.5, 1.25, parts=(Part("heel", 0.5, 1.0),
                                                                            Part("ball", 0.55, 1.25))),
         Contact("hand.L:1", "hand.L", "pole", "grip", 0.0, 3.0, 0.4, 0.5, "palm",
                 {"time": [0.0, 3.0], "height": [1.2, 1.4], "azimuth": [0.0, 720.5], "gap": [0.0, 0.001]},
                 {"height": [0.0, 0.2], "tilt": [-5.0, 12.0]}, 3.0, 0.97),
         Contact("hand.R:1", "hand.R", "hips", "rest-on", 4.0, 5.0, source="artist", mute=True)),
        0.012, (Removed("foot.R", "floor", 2.0, 2.5),), ("Feet: so so.",), {"foot speed": {"clear": True}}))


def test_text_and_back_is_the_same(whole):
    for text in (script.to_json(whole), script.to_file_text(whole)):
        assert script.from_json(text) == whole
    assert script.to_json(script.from_json(script.to_json(whole))) == script.to_json(whole)


def test_the_names_that_programs_rely_on(whole):
    data = json.loads(script.to_file_text(whole))
    assert data["version"] == 1 and data["fps"] == 59.94
    assert {"name", "kind", "point", "axis", "radius"} <= set(data["props"][0])
    assert {"effector", "surface", "kind", "start", "end"} <= set(data["contacts"][0])
    plant = next(c for c in data["contacts"] if c["kind"] == "plant")
    assert plant["parts"] == [{"part": "heel", "start": 0.5, "end": 1.0}, {"part": "ball", "start": 0.55, "end": 1.25}]


def test_contacts_stand_in_order_of_time(whole):
    assert [c.start for c in whole.contacts] == sorted(c.start for c in whole.contacts)


def test_the_least_that_a_hand_written_script_needs():
    text = """{"version": 1, "fps": 30, "frames": 91, "props": [{"name": "bar", "kind": "cylinder", "axis": [3, 0, 0],
               "point": [0, 0, 2], "radius": 0.02}],
               "contacts": [{"effector": "hand.L", "surface": "bar", "kind": "grip", "start": 1, "end": 2}]}"""
    found = script.from_json(text)
    assert found.props[0].axis == (1.0, 0.0, 0.0)
    assert found.contacts[0].priority == 1.0 and found.contacts[0].source == "capture"


WRONG = {
    "version": (("version",), 2, "version 2"),
    "no fps": (("fps",), None, "fps"),
    "fps": (("fps",), 0, "fps"),
    "a nan": (("fps",), float("nan"), "fps"),
    "props": (("props",), {}, "props"),
    "prop kind": (("props", 0, "kind"), "torus", r"props\[0\].kind.*torus.*cylinder"),
    "prop name": (("props", 1, "name"), "pole", r"props\[1\].name.*pole"),
    "prop called a body part": (("props", 0, "name"), "hips", r"props\[0\].name"),
    "radius": (("props", 0, "radius"), 0.0, r"props\[0\].radius"),
    "axis": (("props", 0, "axis"), [0, 0, 0], r"props\[0\].axis"),
    "point": (("props", 0, "point"), [0, 0], r"props\[0\].point"),
    "effector": (("contacts", 0, "effector"), "paw.L", r"contacts\[0\].effector.*paw"),
    "surface": (("contacts", 1, "surface"), "bar", r"contacts\[1\].surface.*bar.*pole, lid"),
    "itself": (("contacts", 0, "surface"), "hand.L", r"contacts\[0\].surface.*itself"),
    "kind": (("contacts", 2, "kind"), "kick", r"contacts\[2\].kind.*kick"),
    "start": (("contacts", 0, "start"), "soon", r"contacts\[0\].start.*soon"),
    "end before start": (("contacts", 2, "end"), 3.0, r"contacts\[2\].end.*before"),
    "end after the take": (("contacts", 2, "end"), 99.0, r"contacts\[2\].end.*after"),
    "mute": (("contacts", 2, "mute"), 1, r"contacts\[2\].mute"),
    "confidence": (("contacts", 0, "confidence"), 1.2, r"contacts\[0\].confidence"),
    "a word too many": (("contacts", 0, "colour"), "red", r"contacts\[0\].colour"),
    "id": (("contacts", 1, "id"), "hand.L:1", r"contacts\[1\].id.*twice"),
    "path column": (("contacts", 0, "path", "depth"), [1, 2], r"contacts\[0\].path.depth"),
    "path length": (("contacts", 0, "path", "gap"), [1], r"contacts\[0\].path.*lengths"),
    "licence": (("contacts", 0, "licence", "height"), [0.3, 0.2], r"contacts\[0\].licence.height.*low"),
    "part": (("contacts", 1, "parts", 0, "part"), "toe", r"contacts\[1\].parts\[0\].part.*toe"),
    "part outside": (("contacts", 1, "parts", 1, "end"), 1.5, r"contacts\[1\].parts\[1\].*within.*0.5 to 1.25"),
    "part backwards": (("contacts", 1, "parts", 0, "end"), 0.4, r"contacts\[1\].parts\[0\].end.*before"),
    "parts": (("contacts", 1, "parts"), "both", r"contacts\[1\].parts: must be a list"),
    "path backwards": (("contacts", 0, "path", "time"), [3.0, 0.0], r"contacts\[0\].path.time: goes back"),
    "huge": (("contacts", 0, "start"), 10 ** 400, r"contacts\[0\].start"),
    "huge in a path": (("contacts", 0, "path", "gap", 1), 1e300, r"contacts\[0\].path.gap\[1\].*1e\+300"),
    "endless": (("floor",), float("inf"), "floor"),
    "frames": (("frames",), 10 ** 400, "frames"),
    "half a letter": (("contacts", 0, "patch"), "\ud800", r"contacts\[0\].patch.*letter"),
    "half a letter in a note": (("notes", 0), "\ud800", r"notes\[0\].*letter"),
    "a word too many at the top": (("prop",), [], "prop: is not known; there are fps, frames, props"),
    "a word too many in a prop": (("props", 0, "radios"), 1.0, r"props\[0\].radios.*radius"),
    "a word too many in a part": (("contacts", 1, "parts", 0, "kind"), "heel", r"contacts\[1\].parts\[0\].kind"),
    "removed": (("removed", 0, "effector"), "paw.L", r"removed\[0\].effector.*paw"),
    "removed backwards": (("removed", 0, "end"), 1.0, r"removed\[0\].end.*before"),
    "evidence": (("evidence", "foot speed", "edges"), [0.1, 0.2], r"evidence.foot speed.counts"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named(whole, case):
    path, value, told = WRONG[case]
    data = script.to_dict(whole)
    at = data
    for key in path[:-1]:
        at = at[key]
    if value is None:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    with pytest.raises(FootholdError, match=f"take.json: .*{told}"):
        script.from_json(json.dumps(data), "take.json")


HISTOGRAM = {"unit": "m", "threshold": 0.02, "clear": True, "zone": [0.01, 0.03], "edges": [0.01, 0.02, 0.04],
             "counts": [3, 4]}


@pytest.mark.parametrize("key, value", [
    ("edges", [0.01]), ("edges", [0.0, 0.01, 0.02]), ("edges", [0.02, 0.01, 0.03]), ("edges", "all"),
    ("edges", [0.01, None, 0.04]), ("counts", [3]), ("counts", [3, -1]), ("counts", ["3", 4]), ("zone", [0.01]),
    ("zone", [0.03, 0.01]), ("threshold", 0.0), ("threshold", "low"), ("unit", 1), ("clear", 1)])
def test_a_histogram_that_cannot_be_drawn_is_named(whole, key, value):
    data = script.to_dict(whole)
    data["evidence"] = {"hands": dict(HISTOGRAM)}
    (name, one), = plot.signals_of(script.from_dict(data).evidence)
    assert plot.sentence(name, one) and plot.picture({name: one}).any()
    data["evidence"]["hands"][key] = value
    with pytest.raises(FootholdError, match=f"evidence.hands.{key}"):
        script.from_dict(data)


def test_directions_are_written_so_that_their_angles_are_right():
    for axis in np.random.default_rng(1).normal(size=(200, 3)):
        axis /= np.linalg.norm(axis)
        pole = script.rounded(ContactScript(30.0, 10, (Prop("pole", axis=tuple(axis), radius=0.02),))).props[0]
        assert np.degrees(np.arccos(min(pole.axis @ axis, 1.0))) < 0.005


def test_contacts_without_ids_get_fresh_ones():
    row = {"kind": "rest-on", "start": 1, "end": 2}
    text = json.dumps({"version": 1, "fps": 30, "frames": 91, "props": [], "contacts": [
        {"effector": "hand.L", "surface": "hips", **row}, {"effector": "hand.L", "surface": "belly", **row},
        {"effector": "hand.L", "surface": "floor", "id": "hand.L:1", **row}]})
    found = script.from_json(text)
    assert len({c.id for c in found.contacts}) == 3
    assert next(c.id for c in found.contacts if c.surface == "floor") == "hand.L:1"
    assert script.from_json(text) == found


@pytest.mark.parametrize("text", ["[" * 100000, "", "{", "[]", "null", '{"version": 1}', '{"version": true}'])
def test_what_is_no_script_is_refused(text):
    with pytest.raises(FootholdError, match="^scene.json: "):
        script.from_json(text, "scene.json")


def test_mirrored_names():
    assert script.mirrored("hand.L") == "hand.R" and script.mirrored("foot.R") == "foot.L"
    assert script.mirrored("pole") == "pole" and script.mirrored("hips") == "hips"


def test_numbers_are_written_to_ten_micrometres():
    text = script.to_json(ContactScript(30.0, 10, (Prop("pole", point=(1.0 / 3.0, -1e-9, 2.0), radius=0.02),)))
    assert json.loads(text)["props"][0]["point"] == [0.33333, 0.0, 2.0] and "-0.0" not in text


def test_a_part_of_a_take_has_its_part_of_the_script(whole):
    part = script.within(whole, 1.0, 101, 50.0)
    assert part.duration == 2.0 and [c.id for c in part.contacts] == ["hand.L:1", "foot.L:1"]
    grip, plant = part.contacts
    assert (grip.start, grip.end) == (0.0, 2.0) and grip.path["time"] == [-1.0, 2.0]
    assert (plant.start, plant.end) == (0.0, 0.25) and [p.part for p in plant.parts] == ["heel", "ball"]
    assert (plant.parts[0].start, plant.parts[0].end) == (0.0, 0.0)
    assert script.within(whole, 0.0, whole.frames, whole.fps) == whole


def test_a_path_without_times_stays_as_it_is_in_a_part_of_a_take(whole):
    """One place for as long as the contact lasts."""
    grip = whole.contacts[0]
    assert grip.id == "hand.L:1"
    still = replace(grip, path={"height": [1.2], "azimuth": [0.0], "gap": [0.0]})
    part = script.within(script.rounded(replace(whole, contacts=(still,))), 1.0, 101, 50.0)
    assert part.contacts[0].path == still.path
