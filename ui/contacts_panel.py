"""The part "Contacts" of the tab: what the take touches, from when to when, and the artist's hands on it."""

from bpy.types import Menu, Panel, UIList

from ..operators import contact_picture, contact_settings, prepare
from . import panels
from .text import sentence

ICONS = {"plant": "TRIA_DOWN_BAR", "grip": "VIEW_PAN", "clasp": "LINKED", "rest-on": "SNAP_FACE"}
_UNITS = {"height": " m", "slide": " m", "azimuth": "°", "tilt": "°", "time": " s"}


class FOOTHOLD_UL_contacts(UIList):
    """Contacts by effector: who touches what, in which frames, and how sure that is where there is doubt"""

    def draw_item(self, _context, layout, _data, item, _icon, _active, _property, _index):
        row = layout.row(align=True)
        shown = row.row()
        shown.active = not item.mute
        shown.label(text=f"{item.effector} {item.surface}", icon=ICONS[item.kind])
        numbers = shown.row()
        numbers.alignment = "RIGHT"
        doubt = "" if item.confidence > 0.9 else f"  {item.confidence:.0%}"
        numbers.label(text=f"{item.first:.0f}–{item.last:.0f}" + ("  yours" if item.hers else doubt))
        mute = row.operator("foothold.contacts_mute", text="", icon="HIDE_ON" if item.mute else "HIDE_OFF",
                            emboss=False)
        mute.contact = item.ident


class FOOTHOLD_MT_contact_surfaces(Menu):
    """Surfaces that the chosen contact can be with"""

    bl_idname = "FOOTHOLD_MT_contact_surfaces"
    bl_label = "Surface"

    def draw(self, context):
        for name in contact_settings.other_surfaces(context):
            self.layout.operator("foothold.contacts_retarget", text=name).surface = name


class FOOTHOLD_PT_contacts(panels.Part, Panel):
    """What the take touches"""

    bl_idname = "FOOTHOLD_PT_contacts"
    bl_label = "Contacts"
    bl_options = {"DEFAULT_CLOSED"}

    def state(self, context):
        if context.window_manager.foothold_contacts.fault:
            return "WRONG"
        return "DONE" if contact_settings.quietly(context)[1] is not None else "OPEN"

    def draw(self, context):
        layout, settings = self.layout, context.scene.foothold_contacts
        if prepare.plays(context.scene.foothold.take) is None:
            sentence(layout, context, "First choose a take that plays an action")
            return
        contact_settings.is_synced(context)  # if not, all of this is drawn once more
        row = layout.row(align=True)
        row.prop(settings, "prop")
        if settings.prop == "OBJECT":
            row.prop(settings, "object", text="")
        row = layout.row(align=True)
        row.operator("foothold.contacts_extract", text="Extract", icon="VIEWZOOM")
        row.operator("foothold.contacts_load", text="", icon="FILE_FOLDER")
        row.operator("foothold.contacts_save", text="", icon="FILE_TICK")
        shown = context.window_manager.foothold_contacts
        if shown.fault:
            sentence(layout, context, shown.fault, "ERROR", alert=True)
            return
        self._draw_list(shown, settings)
        _, script = contact_settings.quietly(context)
        if script is None:
            return
        contact = contact_settings.active_contact(context)
        if contact is not None:
            self._draw_contact(context, contact)
        self._draw_props(context, script)
        self._draw_evidence(context, script, shown)
        for note in script.notes:
            sentence(layout, context, note, "INFO")

    def _draw_list(self, shown, settings):
        layout = self.layout
        if len(shown.rows):
            layout.template_list("FOOTHOLD_UL_contacts", "", shown, "rows", shown, "at", rows=6, maxrows=12)
        row = layout.row(align=True)
        row.prop(settings, "effector", text="")
        row.prop(settings, "surface", text="")
        row.operator("foothold.contacts_add", text="", icon="ADD")
        row = layout.row(align=True)
        row.prop(settings, "show_bars", toggle=True, icon="NLA")
        row.prop(settings, "show_markers", toggle=True, icon="EMPTY_AXIS")
        row.prop(settings, "show_targets", toggle=True, icon="PIVOT_CURSOR")
        layout.prop(settings, "mirror", toggle=True, icon="MOD_MIRROR")

    def _draw_contact(self, context, contact):
        layout = self.layout
        row = layout.row(align=True)
        row.operator("foothold.contacts_split", text="Split")
        row.operator("foothold.contacts_merge", text="Merge")
        row.menu("FOOTHOLD_MT_contact_surfaces")
        row.operator("foothold.contacts_delete", text="", icon="TRASH")
        row.separator()
        for step, icon in ((-1, "TRIA_UP"), (1, "TRIA_DOWN")):
            row.operator("foothold.contacts_select", text="", icon=icon).step = step
        for edge, frame in zip(("START", "END"), contact_settings.interval(context, contact)):
            row = layout.row(align=True)
            self._nudge(row, edge, -1, "TRIA_LEFT")
            row.operator("foothold.contacts_jump", text=f"{edge.title()} {frame:.0f}").edge = edge
            self._nudge(row, edge, 1, "TRIA_RIGHT")
        header, body = layout.panel("foothold_contact", default_closed=True)
        header.label(text=f"{contact.kind}, {'yours' if contact.source == 'artist' else 'captured'}")
        if body is None:
            return
        self._pair(body, "Confidence", f"{contact.confidence:.0%}")
        self._pair(body, "Priority", f"{contact.priority:g}")
        self._pair(body, "Approach, release", f"{contact.approach:.2f} s, {contact.release:.2f} s")
        if contact.patch:
            self._pair(body, "Touches with", contact.patch)
        for name, (low, high) in contact.licence.items():
            self._pair(body, name.title(), f"{low:+.3g} to {high:+.3g}{_UNITS[name]}")

    @staticmethod
    def _nudge(row, edge, frames, icon):
        button = row.operator("foothold.contacts_nudge", text="", icon=icon)
        button.edge, button.frames = edge, frames

    def _draw_props(self, context, script):
        for prop in script.props:
            header, body = self.layout.panel(f"foothold_prop_{prop.name}", default_closed=True)
            header.label(text=f"{prop.name}: {prop.kind}", icon="MESH_CYLINDER" if prop.kind == "cylinder" else "CUBE")
            if body is None:
                continue
            self._pair(body, "Confidence", f"{prop.confidence:.0%}" if prop.source == "capture" else "yours")
            if prop.kind == "cylinder":
                self._pair(body, "Radius", f"{1000.0 * prop.radius:.1f} mm")
            for name, value in prop.evidence.items():
                title = name.replace("_", " ").capitalize()
                if isinstance(value, str):
                    sentence(body, context, f"{title}: {value}")
                else:
                    self._pair(body, title, f"{value:.4g}" if isinstance(value, float) else str(value))

    def _draw_evidence(self, context, script, shown):
        told = contact_picture.sentences(script.evidence)
        if not told:
            return
        header, body = self.layout.panel_prop(shown, "thresholds")
        header.label(text="Thresholds", icon="GRAPH")
        if body is None:
            return
        icon = contact_picture.icon(script.evidence, shown.stamp)
        if icon:
            body.template_icon(icon, scale=12.0)
        for row, words in enumerate(told, 1):
            sentence(body, context, f"{row}. {words}")

    @staticmethod
    def _pair(layout, name, words):
        split = layout.split(factor=0.45)
        split.scale_y = 0.8
        split.label(text=name)
        split.label(text=words)


CLASSES = (FOOTHOLD_UL_contacts, FOOTHOLD_MT_contact_surfaces, FOOTHOLD_PT_contacts)
