"""Sentences in a panel, over several lines, because labels do not wrap."""

import textwrap

_WIDTH = 6.6  # pixels of an average letter at scale 1
_MARGIN = 48.0  # pixels of a panel's borders and icon


def columns(context):
    """How many letters fit beside an icon in the region that is being drawn."""
    scale = context.preferences.system.ui_scale
    return max(int((context.region.width / scale - _MARGIN) / _WIDTH), 16)


def sentence(layout, context, text, icon="NONE", alert=False):
    """Draw a sentence; its icon stands at the first line."""
    column = layout.column(align=True)
    column.scale_y = 0.8
    column.alert = alert
    indent = "BLANK1" if icon != "NONE" else "NONE"
    for line in textwrap.wrap(text, columns(context)) or [""]:
        column.label(text=line, icon=icon)
        icon = indent
