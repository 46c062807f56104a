"""A picture of a contact script: bars of all contacts over time, and the histograms that the thresholds stand on."""

from typing import NamedTuple

import numpy as np

from . import script as scripts

_WIDTH, _LEFT, _RIGHT, _LANE, _TOP, _GAP = 1400, 130, 30, 22, 44, 34
_HIGH, _COLUMNS = 150, 2
_INK, _PALE, _PAPER, _ZONE, _LINE = "#1c1f24", "#c9cdd3", "#f3f4f6", "#d8ecd9", "#b3261e"
COLOURS = {"plant": "#3f7d4e", "grip": "#c2641f", "clasp": "#7a4fa3", "rest-on": "#3a6ea5"}


class Drawing(NamedTuple):
    """Shapes on a sheet, the y axis downwards, in the order in which they are painted."""

    width: int
    height: int
    shapes: list  # ("rect", x, y, width, height, colour) or ("text", x, y of the baseline, words, size, colour)


def draw(script):
    """The Drawing of a ContactScript."""
    effectors = [e for e in scripts.EFFECTORS if any(c.effector == e for c in script.contacts)]
    histograms = signals_of(script.evidence)
    lanes = _TOP + _LANE * max(1, len(effectors))
    rows = -(-len(histograms) // _COLUMNS)
    height = lanes + 2 * _GAP + rows * (_HIGH + 2 * _GAP)
    shapes = [("rect", 0, 0, _WIDTH, height, _PAPER)]
    _bars(shapes, script, effectors, lanes)
    for i, (name, one) in enumerate(histograms):
        wide = (_WIDTH - _LEFT - _RIGHT - (_COLUMNS - 1) * 2 * _GAP) / _COLUMNS
        x = _LEFT + (i % _COLUMNS) * (wide + 2 * _GAP)
        _histogram(shapes, name, one, x, lanes + 3 * _GAP + (i // _COLUMNS) * (_HIGH + 2 * _GAP), wide)
    return Drawing(_WIDTH, height, shapes)


def _bars(shapes, script, effectors, bottom):
    wide = _WIDTH - _LEFT - _RIGHT
    duration = max(script.duration, 1e-6)
    x = _LEFT
    for kind, colour in COLOURS.items():
        shapes.append(("rect", x, 14, 12, 12, colour))
        shapes.append(("text", x + 18, 25, kind, 13, _INK))
        x += 110
    shapes.append(("text", x, 25, f"{len(script.contacts)} contacts, {script.frames} frames at {script.fps:g} fps", 13,
                   _INK))
    for i, effector in enumerate(effectors):
        y = _TOP + i * _LANE
        shapes.append(("rect", _LEFT, y + _LANE - 1, wide, 1, _PALE))
        shapes.append(("text", 12, y + 16, effector, 13, _INK))
        for contact in (c for c in script.contacts if c.effector == effector):
            start = _LEFT + wide * contact.start / duration
            long = max(wide * (contact.end - contact.start) / duration, 1.5)
            shapes.append(("rect", start, y + 3, long, _LANE - 7, _PALE if contact.mute else COLOURS[contact.kind]))
            if long > 9 * len(contact.surface) and contact.surface != "floor":
                shapes.append(("text", start + 4, y + 15, contact.surface, 11, "#ffffff"))
    step = next(s for s in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 3600) if duration / s <= 16)
    for n in range(int(duration / step) + 1):
        x = _LEFT + wide * n * step / duration
        shapes.append(("rect", x, _TOP - 6, 1, bottom - _TOP + 10, _PALE))
        shapes.append(("text", x - 8, bottom + 20, f"{n * step:g} s", 12, _INK))


def _histogram(shapes, name, one, x, y, wide):
    """One signal's histogram over a logarithmic axis, its empty zone and its threshold."""
    edges, counts = one["edges"], one["counts"]
    shapes.append(("text", x, y - 8, sentence(name, one), 13, _INK if one["clear"] else _LINE))
    count = len(counts)

    def at(value):
        """Where a value lies along the axis: between the edges, which are evenly spaced on it."""
        k = next((k for k in range(count) if value < edges[k + 1]), count - 1)
        return x + wide * (k + min(max((value - edges[k]) / (edges[k + 1] - edges[k]), 0.0), 1.0)) / count

    if one["clear"]:
        shapes.append(("rect", at(one["zone"][0]), y, at(one["zone"][1]) - at(one["zone"][0]), _HIGH, _ZONE))
    most = max(max(counts), 1)
    for k, n in enumerate(counts):
        if n:
            high = max(_HIGH * (n / most) ** 0.5, 1.0)  # by the root, so that a nearly empty zone is still seen
            shapes.append(("rect", x + wide * k / count, y + _HIGH - high, wide / count - 1, high, "#6b7280"))
    if one["clear"]:
        shapes.append(("rect", at(one["threshold"]), y, 2, _HIGH, _LINE))
    shapes.append(("rect", x, y + _HIGH, wide, 1, _INK))
    for k in range(0, count + 1, 8):
        shapes.append(("text", x + wide * k / count - 8, y + _HIGH + 16, f"{edges[k]:.2g}", 11, _INK))


def svg(drawing):
    """A Drawing as SVG text."""
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{drawing.width}" height="{drawing.height}" '
           f'viewBox="0 0 {drawing.width} {drawing.height}" font-family="sans-serif">']
    for kind, *shape in drawing.shapes:
        if kind == "rect":
            x, y, wide, high, colour = shape
            out.append(f'<rect x="{x:.2f}" y="{y:.2f}" width="{wide:.2f}" height="{high:.2f}" fill="{colour}"/>')
        else:
            x, y, words, size, colour = shape
            words = words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
            out.append(f'<text x="{x:.2f}" y="{y:.2f}" font-size="{size}" fill="{colour}">{words}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def picture(evidence, size=256):
    """The histograms of a script's evidence below one another, pixels (size, size, 4), 0 to 1, bottom row first.

    Small enough for a panel: bars, the empty zone and the threshold, without words. Rows from the top in the order of
    `signals_of`; clear where there is nothing to show.
    """
    out = np.zeros((size, size, 4), np.float32)
    listed = signals_of(evidence)
    high = size // max(len(listed), 2)
    for row, (_, one) in enumerate(listed):
        top = size - row * high
        strip = out[top - high + 4:top - 4]
        strip[:] = _rgba(_PAPER)
        counts, edges = np.array(one["counts"], float), np.array(one["edges"])
        across = np.linspace(0.0, len(counts), size, endpoint=False)
        if one["clear"]:
            values = np.exp(np.interp(across, np.arange(len(edges)), np.log(edges)))
            strip[:, (values >= one["zone"][0]) & (values <= one["zone"][1])] = _rgba(_ZONE)
        bars = np.sqrt(counts / max(counts.max(), 1.0))[across.astype(int)] * len(strip)
        strip[np.arange(len(strip))[:, None] < bars] = _rgba("#6b7280")
        if one["clear"]:
            at = int(np.interp(np.log(one["threshold"]), np.log(edges), np.arange(len(edges))) / len(counts) * size)
            strip[:, max(at - 1, 0):at + 1] = _rgba(_LINE)
    return out


def signals_of(evidence):
    """(name, histogram) of the signals in a script's evidence that have one."""
    return [(name, one) for name, one in evidence.items() if isinstance(one, dict) and "edges" in one]


def sentence(name, one):
    """What a histogram shows, in a sentence."""
    if not one["clear"]:
        return f"{name}: no empty zone between the humps"
    return (f"{name}: threshold {one['threshold']:.3g} {one['unit']}, in the zone from {one['zone'][0]:.3g} to "
            f"{one['zone'][1]:.3g}")


def _rgba(colour):
    return np.array([int(colour[i:i + 2], 16) / 255.0 for i in (1, 3, 5)] + [1.0], np.float32)
