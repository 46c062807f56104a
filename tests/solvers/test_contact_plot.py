"""The pictures of a contact script show what is in it."""

import xml.etree.ElementTree as xml

import numpy as np
import pytest
from puppet import with_pole

from foothold.solvers.contacts import plot
from foothold.solvers.contacts.extract import extract


@pytest.fixture(scope="module")
def found():
    puppet, _ = with_pole()
    return extract(puppet.figure, puppet.motion, puppet.fps)


def test_every_contact_has_its_bar_at_its_time(found):
    drawing = plot.draw(found)
    colours = [shape[5] for shape in drawing.shapes if shape[0] == "rect"]
    for kind in {c.kind for c in found.contacts}:
        bars = [s for s in drawing.shapes if s[0] == "rect" and s[5] == plot.COLOURS[kind] and s[4] != 12]
        assert len(bars) == sum(c.kind == kind for c in found.contacts)
    grip = next(c for c in found.contacts if c.effector == "hand.L" and c.kind == "grip")
    left = min(s[1] for s in drawing.shapes if s[0] == "rect" and s[5] == plot.COLOURS["grip"] and s[4] != 12)
    whole = [s for s in drawing.shapes if s[0] == "rect" and s[5] == plot.COLOURS["plant"] and s[4] != 12]
    begin, end = min(s[1] for s in whole), max(s[1] + s[3] for s in whole)
    assert (left - begin) / (end - begin) == pytest.approx(grip.start / found.duration, abs=0.01)
    assert len(colours) > 50


def test_the_svg_is_sound_and_says_the_threshold(found):
    text = plot.svg(plot.draw(found))
    root = xml.fromstring(text)
    words = [node.text for node in root.iter() if node.tag.endswith("text")]
    hands = found.evidence["hands from pole"]
    assert any(f"threshold {hands['threshold']:.3g} m" in word for word in words)
    assert "hand.L" in words and "foot.R" in words


def test_the_small_picture_marks_the_threshold_in_its_zone(found):
    pixels = plot.picture(found.evidence, 256)
    assert pixels.shape == (256, 256, 4) and pixels.dtype == np.float32
    red = (pixels[..., 0] > 0.6) & (pixels[..., 1] < 0.3)
    green = (pixels[..., 1] > pixels[..., 0] + 0.03) & (pixels[..., 3] == 1.0)
    listed = plot.signals_of(found.evidence)
    row = [name for name, _ in listed].index("hands from pole")
    strip = slice(256 - (row + 1) * 128 + 4, 256 - row * 128 - 4)
    (at,) = {int(np.median(np.flatnonzero(line))) for line in red[strip]}
    zone = np.flatnonzero(green[strip].any(axis=0))
    assert zone.min() - 1 <= at <= zone.max() + 1
    assert not plot.picture({}, 64).any()
