"""The tab in the sidebar. It shows and calls; it works nothing out."""

import bpy

from . import panels


def register():
    """Register the panels."""
    for cls in panels.CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    """The reverse."""
    for cls in reversed(panels.CLASSES):
        bpy.utils.unregister_class(cls)
