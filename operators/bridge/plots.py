"""Writing drawings as pictures: SVG as text, PNG painted with Blender's own font."""

import tempfile
from pathlib import Path

import numpy as np

from ...solvers.contacts import plot
from ...solvers.errors import FootholdError
from . import render


def save(path, drawing):
    """Write a plot.Drawing as .svg or .png; FootholdError where the place cannot be written."""
    if Path(path).suffix.lower() == ".svg":
        try:
            Path(path).write_text(plot.svg(drawing), encoding="utf-8")
        except OSError as error:
            raise FootholdError(f"{path}: cannot be written ({error.strerror}): choose another place.") from None
        return
    temporary = render.Temporary()
    try:
        with tempfile.TemporaryDirectory(prefix="foothold") as folder:
            render.save_pixels(_painted(drawing, folder, temporary), str(path), temporary)
    finally:
        temporary.drop(list(temporary.blocks))


def _painted(drawing, folder, temporary):
    """Pixels (H, W, 3), bottom row first."""
    sheet = np.ones((drawing.height, drawing.width, 3), np.float32)
    for kind, *shape in drawing.shapes:
        if kind == "rect":
            x, y, wide, high, colour = shape
            left, right = int(round(x)), max(int(round(x + wide)), int(round(x)) + 1)
            top, bottom = int(round(y)), max(int(round(y + high)), int(round(y)) + 1)
            sheet[max(drawing.height - bottom, 0):drawing.height - top, max(left, 0):right] = _rgb(colour)
        else:
            x, y, words, size, colour = shape
            coverage = render.text(words, size, folder, temporary)
            low = drawing.height - int(round(y)) - int(0.4 * size)  # text stands on its baseline
            render.ink(sheet, coverage, max(int(round(x)), 0), max(low, 0), _rgb(colour))
    return sheet


def _rgb(colour):
    return tuple(int(colour[i:i + 2], 16) / 255.0 for i in (1, 3, 5))
