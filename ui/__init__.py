"""The tab in the sidebar. It shows and calls; it works nothing out."""

import bpy

from . import contacts_panel, lists, panels

# Parts of the tab stand in the order in which they are registered: contacts come before the bake.
_BAKE = panels.CLASSES.index(panels.FOOTHOLD_PT_bake)
CLASSES = (*lists.CLASSES, *panels.CLASSES[:_BAKE], *contacts_panel.CLASSES, *panels.CLASSES[_BAKE:])


def register():
    """Register lists and panels."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    """The reverse."""
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
