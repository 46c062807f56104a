"""Hovering and clicking the contacts that are drawn: bars in the dope sheet, marks in the viewport."""

import bpy
from bpy.props import StringProperty
from bpy.types import Gizmo, GizmoGroup, Operator

from . import contact_settings
from .bridge import overlay

_items = []  # (keymap, item) that are ours


class FOOTHOLD_OT_contacts_choose(Operator):
    """Choose this contact"""

    bl_idname = "foothold.contacts_choose"
    bl_label = "Choose Contact"
    bl_options = {"INTERNAL", "UNDO"}

    contact: StringProperty(name="Contact", options={"SKIP_SAVE"})

    def execute(self, context):
        context.scene.foothold_contacts.active = self.contact
        return {"FINISHED"}


class FOOTHOLD_OT_contacts_pick(Operator):
    """Choose the contact whose bar is clicked"""

    bl_idname = "foothold.contacts_pick"
    bl_label = "Pick Contact"
    bl_options = {"INTERNAL", "UNDO"}

    @classmethod
    def poll(cls, context):
        return context.area is not None and context.area.type == "DOPESHEET_EDITOR"

    def invoke(self, context, event):
        """What hits no bar goes on to the dope sheet's own keymap."""
        ident = overlay.bar_at(context, event.mouse_region_x, event.mouse_region_y)
        if not ident:
            return {"PASS_THROUGH"}
        context.scene.foothold_contacts.active = ident
        return {"FINISHED"}


class FOOTHOLD_OT_contacts_hover(Operator):
    """Mark the contact whose bar lies under the mouse"""

    bl_idname = "foothold.contacts_hover"
    bl_label = "Hover over Contacts"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context):
        return FOOTHOLD_OT_contacts_pick.poll(context)

    def invoke(self, context, event):
        """Runs at each movement of the mouse in the dope sheet and never keeps an event for itself."""
        if overlay.hover(overlay.bar_at(context, event.mouse_region_x, event.mouse_region_y)):
            contact_settings.redraw(context)
        return {"PASS_THROUGH"}


class FOOTHOLD_GT_contact_marks(Gizmo):
    """The marks in the viewport, as far as the mouse is concerned; the overlay draws them"""

    bl_idname = "FOOTHOLD_GT_contact_marks"

    def draw(self, _context):
        """The overlay has done it."""

    def test_select(self, context, location):
        """0 where the mouse is at a mark."""
        ident = overlay.mark_at(context, *location)
        if overlay.hover(ident):
            contact_settings.redraw(context)
        return 0 if ident else -1

    def invoke(self, _context, _event):
        """A click."""
        bpy.ops.foothold.contacts_choose("EXEC_DEFAULT", True, contact=overlay.hovered())
        return {"FINISHED"}

    def modal(self, _context, _event, _tweak):
        """Nothing is dragged."""
        return {"FINISHED"}


class FOOTHOLD_GGT_contact_marks(GizmoGroup):
    """Hover and click on the marks in the viewport"""

    bl_idname = "FOOTHOLD_GGT_contact_marks"
    bl_label = "Contacts"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"PERSISTENT", "SHOW_MODAL_ALL"}

    @classmethod
    def poll(cls, context):
        return bool(overlay.shown(context.scene))

    def setup(self, _context):
        """One gizmo stands for all marks."""
        self.gizmos.new(FOOTHOLD_GT_contact_marks.bl_idname)


CLASSES = (FOOTHOLD_OT_contacts_choose, FOOTHOLD_OT_contacts_pick, FOOTHOLD_OT_contacts_hover,
           FOOTHOLD_GT_contact_marks, FOOTHOLD_GGT_contact_marks)


def register():
    """Bind the dope sheet's left button and mouse movement, and draw."""
    overlay.register()
    keyconfig = bpy.context.window_manager.keyconfigs.addon
    if bpy.app.background or keyconfig is None:
        return
    keymap = keyconfig.keymaps.new("Dopesheet", space_type="DOPESHEET_EDITOR")
    for operator, kind, value in ((FOOTHOLD_OT_contacts_pick, "LEFTMOUSE", "PRESS"),
                                  (FOOTHOLD_OT_contacts_hover, "MOUSEMOVE", "ANY")):
        _items.append((keymap, keymap.keymap_items.new(operator.bl_idname, kind, value)))


def unregister():
    """Take the bindings away, and draw no longer."""
    while _items:
        keymap, item = _items.pop()
        keymap.keymap_items.remove(item)
    overlay.unregister()
