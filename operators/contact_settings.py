"""What the artist sets about contacts, kept with the scene; and the rows that the panel lists, kept for now only.

The contacts themselves live on the take's action (see bridge/scripts.py). Whatever changes them, an edit, an undo,
another take, another file, the rows are made anew as soon as they no longer tell what is there.
"""

import contextlib

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import PropertyGroup

from ..solvers.contacts import edit
from ..solvers.contacts.script import EFFECTORS
from ..solvers.errors import FootholdError
from . import prepare
from .bridge import scripts

PROPS = (
    ("AUTO", "Found", "Find the pole in the take, if there is one"),
    ("NONE", "None", "The take touches no prop"),
    ("OBJECT", "Object", "An object of the scene is the prop"),
)


def current(context):
    """(action, ContactScript) of the chosen take; None for each that is not there. Raises FootholdError."""
    action = prepare.plays(context.scene.foothold.take)
    return action, scripts.load(action) if action is not None else None


def quietly(context):
    """As `current`, but an unreadable script is None too: the panel tells of it, others need not."""
    with contextlib.suppress(FootholdError):
        return current(context)
    return prepare.plays(context.scene.foothold.take), None


def in_rows(script):
    """Contacts in the order of the list: by effector, then by time."""
    return sorted(script.contacts, key=lambda c: (EFFECTORS.index(c.effector), c.start, c.end, c.id))


def active_contact(context):
    """The Contact that is chosen, or None."""
    _, script = quietly(context)
    ident = context.scene.foothold_contacts.active
    return next((c for c in script.contacts if c.id == ident), None) if script is not None else None


def interval(context, contact):
    """First and last frame of the timeline, with fractions, of a contact of the chosen take."""
    clock = scripts.clock(*current(context))
    return clock.frame(contact.start), clock.frame(contact.end)


def other_surfaces(context):
    """What the chosen contact could be with instead: names of surfaces."""
    contact = active_contact(context)
    if contact is None:
        return []
    return [name for name in edit.surfaces(current(context)[1]) if name not in (contact.surface, contact.effector)]


def redraw(context):
    """Have all editors drawn again that show contacts."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type in ("VIEW_3D", "DOPESHEET_EDITOR"):
                area.tag_redraw()


def stamp(context):
    """A short text that changes with all that the rows tell."""
    action = prepare.plays(context.scene.foothold.take)
    if action is None:
        return ""
    return f"{action.name}\n{tuple(action.frame_range)}\n{hash(scripts.text_of(action))}"


def sync(context):
    """Make the rows anew."""
    shown = context.window_manager.foothold_contacts
    shown.rows.clear()
    shown.stamp, shown.fault = stamp(context), ""
    try:
        action, script = current(context)
        clock = scripts.clock(action, script) if script is not None else None
    except FootholdError as error:
        shown.fault = str(error)
        return
    for contact in in_rows(script) if script is not None else ():
        row = shown.rows.add()
        row.name = f"{contact.effector} {contact.surface}"
        row.ident, row.effector, row.surface, row.kind = contact.id, contact.effector, contact.surface, contact.kind
        row.first, row.last = clock.frame(contact.start), clock.frame(contact.end)
        row.confidence, row.mute, row.hers = contact.confidence, contact.mute, contact.source == "artist"


def show(context):
    """Have panel and editors show what is there now."""
    sync(context)
    redraw(context)


def _sync_now():
    show(bpy.context)


def is_synced(context):
    """Whether the rows tell what is there; where not, they will when drawing, which may change nothing, is over."""
    if context.window_manager.foothold_contacts.stamp == stamp(context):
        return True
    if not bpy.app.background and not bpy.app.timers.is_registered(_sync_now):
        bpy.app.timers.register(_sync_now, first_interval=0.0)
    return False


def _chosen(_self, context):
    redraw(context)


def _surfaces(_settings, context, text):
    """The names of surfaces that begin or go on with what was typed."""
    _, script = quietly(context)
    names = edit.surfaces(script) if script is not None else ("floor", *edit.BODY_PARTS)
    return [name for name in names if text.lower() in name.lower()]


class FootholdContacts(PropertyGroup):
    """Settings of the panel Contacts."""

    prop: EnumProperty(name="Prop", items=PROPS, description="What the take holds on to besides the floor")
    object: PointerProperty(name="Object", type=bpy.types.Object, description="Object that stands for the prop")
    active: StringProperty(name="Contact", update=_chosen, description="Id of the contact that is chosen")
    mirror: BoolProperty(name="Mirror", description="Do the same to the other side's contact that overlaps most")
    show_bars: BoolProperty(name="Bars", default=True, update=_chosen,
                            description="Draw the contacts as bars over timeline and dope sheet")
    show_markers: BoolProperty(name="Markers", default=True, update=_chosen,
                               description="Draw the contacts of the current frame in the viewport")
    show_targets: BoolProperty(name="Targets", default=True, update=_chosen,
                               description="Draw in the viewport where the baked body has to touch, with a line from "
                               "its own hand or foot")
    effector: EnumProperty(name="Who", items=[(name, name, "") for name in EFFECTORS], default="hand.R",
                           description="Who touches in a contact that is added")
    surface: StringProperty(name="What", default="floor", search=_surfaces,
                            description="What a contact that is added touches: the floor, a prop, a part of the body")

    def wanted_prop(self):
        """What an extraction shall take as the prop: "auto", "none" or the object."""
        if self.prop != "OBJECT":
            return self.prop.lower()
        if self.object is None:
            raise FootholdError("Choose the object that stands for the prop, or let it be found.")
        return self.object


class FootholdContactRow(PropertyGroup):
    """One contact in the list."""

    ident: StringProperty()
    effector: StringProperty()
    surface: StringProperty()
    kind: StringProperty()
    first: FloatProperty()  # frames of the timeline
    last: FloatProperty()
    confidence: FloatProperty()
    mute: BoolProperty()
    hers: BoolProperty()  # the artist's


def _get_at(shown):
    ident = bpy.context.scene.foothold_contacts.active
    return next((i for i, row in enumerate(shown.rows) if row.ident == ident), -1)


def _set_at(shown, at):
    if 0 <= at < len(shown.rows):
        bpy.context.scene.foothold_contacts.active = shown.rows[at].ident


class FootholdContactsShown(PropertyGroup):
    """What the panel Contacts shows for now."""

    rows: CollectionProperty(type=FootholdContactRow)
    at: IntProperty(name="Contact", get=_get_at, set=_set_at, description="Contacts by effector")
    stamp: StringProperty()
    fault: StringProperty()  # why there are no rows
    thresholds: BoolProperty(name="Thresholds", description="Show the histograms that the thresholds stand on")


CLASSES = (FootholdContacts, FootholdContactRow, FootholdContactsShown)


def register():
    """Hang the settings on scenes and the rows on the window manager."""
    bpy.types.Scene.foothold_contacts = PointerProperty(type=FootholdContacts)
    bpy.types.WindowManager.foothold_contacts = PointerProperty(type=FootholdContactsShown)


def unregister():
    """Take both away; the contacts stay on their actions."""
    if bpy.app.timers.is_registered(_sync_now):
        bpy.app.timers.unregister(_sync_now)
    del bpy.types.Scene.foothold_contacts, bpy.types.WindowManager.foothold_contacts
