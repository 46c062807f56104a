"""The tab in the sidebar. It shows and calls; it works nothing out."""

import bpy

from . import lists, panels

CLASSES = (*lists.CLASSES, *panels.CLASSES)


def register():
    """Register lists and panels."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    """The reverse."""
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
