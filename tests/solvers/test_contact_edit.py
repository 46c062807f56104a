"""What an artist does to a contact script, and that extracting again leaves it alone."""

from dataclasses import replace

import numpy as np
import pytest

from foothold.solvers.contacts import edit
from foothold.solvers.contacts.script import (
    Contact,
    ContactScript,
    Part,
    Prop,
    Removed,
    from_json,
    rounded,
    to_json,
)
from foothold.solvers.errors import FootholdError

FPS, FRAMES = 60.0, 601  # ten seconds
POLE = Prop("pole", "cylinder", (0.0, 0.1, 0.0), (0.0, 0.0, 1.0), 0.0225)


def path(start, end):
    """Columns of a grip that climbs and turns, a sample a frame, through +-180 degrees."""
    times = np.arange(round(start * FPS), round(end * FPS) + 1) / FPS
    return {"time": times.tolist(), "height": (1.0 + 0.1 * times).tolist(),
            "azimuth": ((170.0 + 40.0 * times + 180.0) % 360.0 - 180.0).tolist(), "gap": [0.0] * len(times)}


def grip(ident, effector, start, end, **other):
    return Contact(ident, effector, "pole", "grip", start, end, approach=0.2, release=0.3, path=path(start, end),
                   licence={"height": [-0.1, 0.2], "time": [-0.05, 0.05]}, confidence=0.8, **other)


def plant(ident, effector, start, end):
    return Contact(ident, effector, "floor", "plant", start, end,
                   path={"time": [start, end], "x": [0.0, 0.1], "y": [0.0, 0.0], "z": [0.0, 0.0]},
                   parts=(Part("heel", start, end - 0.2), Part("ball", start + 0.1, end)))


@pytest.fixture
def script():
    """Two grips a hand, a plant a foot."""
    return rounded(ContactScript(FPS, FRAMES, (POLE,), (
        grip("hand.R:1", "hand.R", 1.0, 3.0), grip("hand.R:2", "hand.R", 4.0, 6.0),
        grip("hand.L:1", "hand.L", 1.2, 3.4), grip("hand.L:2", "hand.L", 5.0, 7.0),
        plant("foot.R:1", "foot.R", 0.0, 2.0), plant("foot.L:1", "foot.L", 0.5, 2.5))))


def interval(script, ident):
    contact = edit.find(script, ident)
    return contact.start, contact.end


def sound(script):
    """It reads back as it is."""
    assert from_json(to_json(script)) == script
    return script


# Single edits

def test_add_takes_the_fitting_kind_and_is_the_artists(script):
    after = sound(edit.add(script, "hand.R", "pole", 7.0, 8.0))
    new = edit.find(after, "hand.R:3")
    assert (new.kind, new.source, new.start, new.end) == ("grip", "artist", 7.0, 8.0)
    assert [c for c in after.contacts if c != new] == list(script.contacts) and after.removed == ()


@pytest.mark.parametrize(("effector", "surface", "kind"), [
    ("foot.L", "floor", "plant"), ("hand.L", "floor", "rest-on"), ("hand.R", "hand.L", "clasp"),
    ("hand.R", "thigh.R", "rest-on"), ("thigh.L", "pole", "grip"), ("pelvis", "floor", "rest-on"),
    ("foot.L", "box", "plant"), ("hand.L", "box", "grip"), ("back", "box", "rest-on")])
def test_the_fitting_kind(script, effector, surface, kind):
    script = replace(script, props=(POLE, Prop("box", "box", size=(1.0, 1.0, 1.0))))
    assert edit.fitting_kind(script, effector, surface) == kind


@pytest.mark.parametrize(("arguments", "message"), [
    (("hand.R", "pole", 2.0, 3.5), "hand.R:1.*nudge"), (("hand.R", "moon", 8.0, 9.0), "moon.*choose"),
    (("tail", "pole", 8.0, 9.0), "tail"), (("hand.R", "hand.R", 8.0, 9.0), "itself"),
    (("hand.R", "pole", 9.0, 11.0), "lasts 10"), (("hand.R", "pole", 9.0, 9.0), "start before its end")])
def test_add_refuses_what_cannot_be(script, arguments, message):
    with pytest.raises(FootholdError, match=message):
        edit.add(script, *arguments)


def test_split_cuts_path_and_parts(script):
    after = sound(edit.split(script, "foot.R:1", 1.9))
    first, second = edit.find(after, "foot.R:1"), edit.find(after, "foot.R:2")
    assert first.parts == (Part("heel", 0.0, 1.8), Part("ball", 0.1, 1.9))
    assert second.parts == (Part("ball", 1.9, 2.0),)
    assert first.path["time"] == [0.0, 1.9] and second.path["time"] == [1.9, 2.0]
    assert first.path["x"] == [0.0, 0.095] and second.path["x"] == [0.095, 0.1]
    assert (first.source, second.source) == ("artist", "artist")


def test_split_between_frames_goes_the_short_way_round(script):
    # azimuth 170 + 40 t passes 180 degrees at 0.25 s of each turn; between two samples it must not go through zero
    one = rounded(replace(script, contacts=(replace(grip("hand.R:1", "hand.R", 1.0, 3.0), path={
        "time": [1.0, 3.0], "azimuth": [170.0, -170.0]}),)))
    first = edit.find(edit.split(one, "hand.R:1", 2.0), "hand.R:1")
    assert abs(abs(first.path["azimuth"][-1]) - 180.0) < 1e-6


def test_a_split_keeps_approach_and_release_outside(script):
    after = edit.split(script, "hand.R:1", 2.0)
    first, second = edit.find(after, "hand.R:1"), edit.find(after, "hand.R:3")
    assert (first.approach, first.release, second.approach, second.release) == (0.2, 0.0, 0.0, 0.3)


@pytest.mark.parametrize("time", [1.0, 3.0, 0.5, 9.0])
def test_split_outside_is_refused(script, time):
    with pytest.raises(FootholdError, match="hand.R:1.*inside"):
        edit.split(script, "hand.R:1", time)


def test_merge_takes_the_next_over_the_gap(script):
    after = sound(edit.merge(script, "hand.R:1"))
    contact = edit.find(after, "hand.R:1")
    assert (contact.start, contact.end, contact.approach, contact.release) == (1.0, 6.0, 0.2, 0.3)
    assert contact.path["time"] == [*edit.find(script, "hand.R:1").path["time"],
                                    *edit.find(script, "hand.R:2").path["time"]]
    assert "hand.R:2" not in [c.id for c in after.contacts]
    with pytest.raises(FootholdError, match="hand.R:1.*earlier"):
        edit.merge(after, "hand.R:1")


def test_merge_gives_the_wider_licence_and_the_weighted_confidence(script):
    contacts = [replace(c, licence={"height": [-0.3, 0.1], "tilt": [-5.0, 5.0]}, confidence=0.4, end=5.0)
                if c.id == "hand.R:2" else c for c in script.contacts]
    contact = edit.find(edit.merge(replace(script, contacts=tuple(contacts)), "hand.R:1"), "hand.R:1")
    # the second's heights count from its own start, which is 0.3 m over the first's
    assert contact.licence == {"height": [-0.1, 0.4], "time": [-0.05, 0.05], "tilt": [-5.0, 5.0]}
    assert contact.confidence == pytest.approx((0.8 * 2 + 0.4 * 1) / 3, abs=1e-5)


def test_delete_leaves_a_note_of_a_captured_one_only(script):
    after = sound(edit.delete(script, "hand.R:1"))
    assert after.removed == (Removed("hand.R", "pole", 1.0, 3.0),)
    added = edit.add(script, "hand.R", "pole", 7.0, 8.0)
    assert edit.delete(added, "hand.R:3") == script


def test_nudge_stops_at_take_neighbour_and_one_frame(script):
    assert interval(edit.nudge(script, "hand.R:1", "end", 0.5), "hand.R:1") == (1.0, 3.5)
    assert interval(edit.nudge(script, "hand.R:1", "end", 5.0), "hand.R:1") == (1.0, 4.0)
    assert interval(edit.nudge(script, "hand.R:1", "start", -5.0), "hand.R:1") == (0.0, 3.0)
    assert interval(edit.nudge(script, "hand.R:2", "start", -5.0), "hand.R:2") == (3.0, 6.0)
    assert interval(edit.nudge(script, "hand.R:2", "end", 50.0), "hand.R:2") == (4.0, 10.0)
    one_frame = edit.nudge(script, "hand.R:2", "start", 9.0)
    assert interval(one_frame, "hand.R:2") == pytest.approx((6 - 1 / 60, 6), abs=1e-5)
    at_edge = edit.nudge(script, "hand.R:2", "end", 50.0)
    with pytest.raises(FootholdError, match="end of 'hand.R:2' cannot move further"):
        edit.nudge(at_edge, "hand.R:2", "end", 0.1)
    with pytest.raises(FootholdError, match="middle"):
        edit.nudge(script, "hand.R:1", "middle", 0.1)


def test_nudge_cuts_the_path_and_takes_parts_at_the_edge_along(script):
    after = sound(edit.nudge(script, "foot.L:1", "end", 1.0))
    assert edit.find(after, "foot.L:1").parts == (Part("heel", 0.5, 2.3), Part("ball", 0.6, 3.5))
    assert edit.find(after, "foot.L:1").path["time"] == [0.5, 2.5], "it stays where it was, no sample is made up"
    after = edit.nudge(script, "hand.R:1", "start", 0.5)
    times = edit.find(after, "hand.R:1").path["time"]
    assert times[0] == 1.5 and times[-1] == 3.0 and len(times) == 91


def test_retarget_lets_go_of_a_path_in_other_axes(script):
    after = edit.find(sound(edit.retarget(script, "hand.R:1", "thigh.R")), "hand.R:1")
    assert (after.surface, after.kind, after.path, after.licence) == ("thigh.R", "rest-on", {},
                                                                      {"time": [-0.05, 0.05]})
    step = rounded(replace(script, props=(POLE, Prop("step", "box", size=(1.0, 1.0, 0.2)))))
    before = edit.find(step, "foot.R:1")
    after = edit.find(edit.retarget(step, "foot.R:1", "step"), "foot.R:1")
    assert (after.surface, after.kind, after.path, after.parts) == ("step", "plant", before.path, before.parts)
    with pytest.raises(FootholdError, match="already"):
        edit.retarget(script, "hand.R:1", "pole")
    with pytest.raises(FootholdError, match="choose"):
        edit.retarget(script, "hand.R:1", "moon")


def test_mute_and_back(script):
    muted = edit.mute(script, "hand.R:1")
    assert edit.find(muted, "hand.R:1").mute and edit.find(muted, "hand.R:1").source == "artist"
    assert not edit.find(edit.mute(muted, "hand.R:1", False), "hand.R:1").mute


def test_an_unknown_id_is_told(script):
    with pytest.raises(FootholdError, match="nobody:7"):
        edit.delete(script, "nobody:7")


def test_licences_about_the_path_keep_their_places_in_the_world(script):
    after = edit.split(script, "hand.R:1", 2.0)
    assert edit.find(after, "hand.R:1").licence["height"] == [-0.1, 0.2]
    assert edit.find(after, "hand.R:3").licence["height"] == [-0.2, 0.1], "0.1 m higher up"


def test_merging_counts_whole_turns_on(script):
    turned = [Contact(f"hand.R:{i}", "hand.R", "pole", "grip", t, t + 1.0,
                      path={"time": [t, t + 1.0], "azimuth": [a, a + 20.0]}, licence={"azimuth": [0.0, 20.0]})
              for i, (t, a) in enumerate(((1.0, 700.0), (4.0, -10.0)))]
    merged = edit.find(edit.merge(rounded(replace(script, contacts=tuple(turned))), "hand.R:0"), "hand.R:0")
    assert merged.path["azimuth"] == [700.0, 720.0, 710.0, 730.0] and merged.licence["azimuth"] == [0.0, 30.0]


# Mirror

def test_the_counterpart_is_the_one_that_overlaps_most(script):
    assert edit.counterpart(script, edit.find(script, "hand.R:1")).id == "hand.L:1"
    assert edit.counterpart(script, edit.find(script, "hand.R:2")).id == "hand.L:2"
    assert edit.counterpart(script, edit.find(script, "foot.L:1")).id == "foot.R:1"


def test_every_edit_can_be_mirrored(script):
    after = edit.nudge(script, "hand.R:1", "end", 0.5, mirror=True)
    assert (interval(after, "hand.R:1"), interval(after, "hand.L:1")) == ((1.0, 3.5), (1.2, 3.9))
    after = edit.split(script, "hand.R:1", 2.0, mirror=True)
    assert (interval(after, "hand.R:3"), interval(after, "hand.L:3")) == ((2.0, 3.0), (2.0, 3.4))
    after = edit.delete(script, "hand.R:1", mirror=True)
    assert {r.effector for r in after.removed} == {"hand.R", "hand.L"} and len(after.contacts) == 4
    after = edit.retarget(script, "hand.R:1", "thigh.R", mirror=True)
    assert edit.find(after, "hand.L:1").surface == "thigh.L"
    after = edit.merge(script, "hand.R:1", mirror=True)
    assert (interval(after, "hand.R:1"), interval(after, "hand.L:1")) == ((1.0, 6.0), (1.2, 7.0))
    after = edit.mute(script, "hand.R:1", mirror=True)
    assert [c.id for c in after.contacts if c.mute] == ["hand.R:1", "hand.L:1"]
    after = edit.add(script, "hand.R", "thigh.R", 8.0, 9.0, mirror=True)
    assert edit.find(after, "hand.L:3").surface == "thigh.L"


def test_a_mirror_that_cannot_be_changes_nothing(script):
    alone = edit.delete(script, "hand.L:1")
    with pytest.raises(FootholdError, match="hand.L overlaps.*Mirror"):
        edit.nudge(alone, "hand.R:1", "end", 0.1, mirror=True)
    with pytest.raises(FootholdError, match="hand.L:1.*inside"):
        edit.split(script, "hand.R:1", 1.1, mirror=True)


# Properties

def test_split_then_merge_gives_the_contact_back(script):
    rng = np.random.default_rng(0)
    for ident in ("hand.R:1", "hand.L:2", "foot.L:1"):
        before = edit.find(script, ident)
        for time in rng.uniform(before.start + 0.02, before.end - 0.02, 20):
            for at_frame in (True, False):
                time = round(time * FPS) / FPS if at_frame else time
                after = edit.find(sound(edit.merge(edit.split(script, ident, time), ident)), ident)
                if at_frame and len(before.path["time"]) > 2:
                    assert after == replace(before, source="artist")
                assert replace(after, path={}) == replace(before, source="artist", path={})
                if "x" in before.path:
                    assert np.interp(before.path["time"], after.path["time"], after.path["x"]) == pytest.approx(
                        before.path["x"], abs=1e-5)


def test_any_row_of_edits_leaves_a_sound_script_without_overlaps(script):
    rng = np.random.default_rng(1)
    done = 0
    for _ in range(300):
        ident = script.contacts[rng.integers(len(script.contacts))].id if script.contacts else ""
        mirror = bool(rng.integers(2))
        act = rng.integers(6)
        try:
            if act == 0:
                script = edit.add(script, rng.choice(["hand.L", "foot.R", "pelvis"]), rng.choice(["pole", "floor"]),
                                  *sorted(rng.uniform(0, 10, 2)), mirror=mirror)
            elif act == 1:
                script = edit.split(script, ident, rng.uniform(0, 10), mirror)
            elif act == 2:
                script = edit.merge(script, ident, mirror)
            elif act == 3:
                script = edit.nudge(script, ident, rng.choice(edit.EDGES), rng.normal(), mirror)
            elif act == 4:
                script = edit.retarget(script, ident, rng.choice(edit.surfaces(script)), mirror=mirror)
            elif len(script.contacts) > 4:
                script = edit.delete(script, ident, mirror)
        except FootholdError:
            continue
        done += 1
        sound(script)
        for contact in script.contacts:
            assert 0.0 <= contact.start < contact.end <= script.duration + 1e-4
            for before in edit.neighbours(script, contact)[0]:
                assert edit.shared(before, contact) < 1e-4, (before, contact)
            for time in contact.path.get("time", ()):
                assert contact.start - 1e-4 <= time <= contact.end + 1e-4
    assert done > 80


# Extracting again

def test_extracting_again_keeps_what_the_artist_did(script):
    mine = edit.nudge(script, "hand.R:1", "end", 0.25)
    mine = edit.delete(mine, "hand.R:2")
    mine = edit.mute(mine, "foot.L:1")
    mine = edit.add(mine, "pelvis", "floor", 8.0, 9.0)
    again = sound(edit.merge_extracted(mine, script))
    for contact in mine.contacts:
        if contact.source == "artist":
            assert edit.find(again, contact.id) == contact
    assert {c.id for c in again.contacts} == {"hand.R:1", "hand.L:1", "hand.L:2", "foot.R:1", "foot.L:1", "pelvis:1"}
    assert again.removed == mine.removed
    assert edit.merge_extracted(again, script) == again


def test_extracting_again_without_edits_is_the_new_script(script):
    new = replace(script, contacts=script.contacts[:3], notes=("less",), floor=0.1)
    assert edit.merge_extracted(script, new) == new


def test_what_was_moved_far_or_taken_over_and_deleted_does_not_come_back(script):
    moved = script
    for edge in ("end", "start"):
        moved = edit.nudge(moved, "hand.L:2", edge, 2.5)
    assert interval(moved, "hand.L:2") == (7.5, 9.5), "far from 5 to 7, where the capture has it"
    assert edit.merge_extracted(moved, script) == moved
    gone = edit.delete(edit.nudge(script, "hand.L:2", "end", 0.5), "hand.L:2")
    assert "hand.L:2" not in [c.id for c in edit.merge_extracted(gone, script).contacts]


def test_a_removed_touch_hides_only_its_own_surface(script):
    mine = edit.delete(script, "hand.R:1")
    new = rounded(replace(script, contacts=(replace(edit.find(script, "hand.R:1"), surface="thigh.R", kind="rest-on",
                                                    path={}),)))
    assert [c.surface for c in edit.merge_extracted(mine, new).contacts] == ["thigh.R"]


def test_the_half_of_the_shorter_decides(script):
    mine = edit.add(replace(script, contacts=()), "hand.R", "pole", 2.0, 4.0)
    for start, kept in ((2.9, 1), (3.1, 2)):
        new = rounded(replace(script, contacts=(replace(grip("c", "hand.R", start, start + 2.0)),)))
        assert len(edit.merge_extracted(mine, new).contacts) == kept


def test_ids_of_new_contacts_give_way(script):
    mine = edit.add(replace(script, contacts=()), "hand.R", "pole", 8.0, 9.0)
    assert [c.id for c in mine.contacts] == ["hand.R:1"]
    again = sound(edit.merge_extracted(mine, script))
    assert edit.find(again, "hand.R:1").source == "artist"
    assert len({c.id for c in again.contacts}) == 7


def test_props_of_the_artist_stay_and_needed_ones_too(script):
    hers = replace(POLE, radius=0.03, source="artist")
    mine = rounded(replace(script, props=(hers, Prop("step", "box", size=(1.0, 1.0, 1.0)), Prop("old", "plane"))))
    mine = edit.add(mine, "foot.R", "step", 8.0, 9.0)
    again = sound(edit.merge_extracted(mine, script))
    assert {p.name: (p.radius, p.source) for p in again.props} == {"pole": (0.03, "artist"), "step": (0.0, "capture")}


def test_objects_that_stood_for_props_give_way_to_what_is_there_now(script):
    """The pole's object has been moved; that of the step is not chosen any more, and the artist needs it; a third one
    nobody needs."""
    def stick(x):
        return replace(POLE, object="pole", source="artist", point=(x, 0.0, 0.0))
    others = [Prop(name, "box", size=(1.0, 1.0, 1.0), object=name, source="artist") for name in ("step", "crate")]
    mine = edit.add(rounded(replace(script, props=(stick(0.0), *others))), "foot.R", "step", 8.0, 9.0)
    again = sound(edit.merge_extracted(mine, rounded(replace(script, props=(stick(1.0),)))))
    assert {p.name: p.point[0] for p in again.props} == {"pole": 1.0, "step": 0.0}


def test_a_take_that_became_too_short_is_told(script):
    mine = edit.add(script, "hand.R", "pole", 8.0, 9.0)
    short = rounded(replace(script, frames=400, contacts=()))
    with pytest.raises(FootholdError, match="hand.R:3.*delete it or nudge"):
        edit.merge_extracted(mine, short)
