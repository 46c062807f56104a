"""The histograms that a script's thresholds stand on, as a picture for the panel."""

import bpy.utils.previews

from ..solvers.contacts import plot

_drawn = {}  # the collection of previews, under the name of what its one picture shows


def icon(evidence, stamp):
    """The icon of the picture of a script's evidence; made anew where the `stamp` is another than before.

    0 where there is nothing to show, or no window that could show it.
    """
    if not plot.signals_of(evidence) or bpy.app.background:
        return 0
    if stamp not in _drawn:
        forget()
        previews = _drawn[stamp] = bpy.utils.previews.new()
        pixels = plot.picture(evidence)
        preview = previews.new("evidence")
        preview.image_size = pixels.shape[1], pixels.shape[0]
        preview.image_pixels_float.foreach_set(pixels.ravel())
    return _drawn[stamp]["evidence"].icon_id


def sentences(evidence):
    """What the picture's rows show, from the top."""
    return [plot.sentence(name, one) for name, one in plot.signals_of(evidence)]


def forget():
    """Drop the picture."""
    while _drawn:
        bpy.utils.previews.remove(_drawn.popitem()[1])

