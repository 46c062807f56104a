"""The contacts of a take: extract, edit, save and load."""

import math

from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty
from bpy.types import Operator
from bpy_extras.io_utils import ExportHelper, ImportHelper

from ..solvers.contacts import edit
from ..solvers.errors import FootholdError
from . import contact_settings, contacts, job
from .bridge import read, scripts
from .runner import Change, Steps, needs_motion

_SAME_RATE = 1e-5  # of the rate: 29.97 and 30000/1001 are one
EDGES = (("START", "Start", "Where the contact begins"), ("END", "End", "Where it ends"))


def empty_script(context):
    """A script without contacts for the chosen take."""
    action = job.take_action(context.scene.foothold.take)
    first, last = read.frame_span(action)
    return edit.empty(job.action_fps(action, context.scene), last - first + 1)


def needs_script(cls, context):
    """For `poll`: whether the take has contacts; tells the artist what is missing."""
    if not needs_motion(cls, context):
        return False
    if contact_settings.quietly(context)[1] is None:
        cls.poll_message_set("The take has no contacts yet: extract them, or add one")
        return False
    return True


def needs_contact(cls, context):
    """For `poll`: whether a contact is chosen; tells the artist what is missing."""
    if not needs_script(cls, context):
        return False
    if contact_settings.active_contact(context) is None:
        cls.poll_message_set("Choose a contact first")
        return False
    return True


class _OnScript(Change):
    """Mixin of operators that put another script in place of the take's."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return needs_script(cls, context)

    def edited(self, context, script, clock):
        """(new script, a sentence or nothing)."""
        raise NotImplementedError

    def change(self, context):
        action = job.take_action(context.scene.foothold.take)
        scripts.require_editable(action)
        script = scripts.load(action) or empty_script(context)
        after, told = self.edited(context, script, scripts.clock(action, script))
        scripts.store(action, after)
        contact_settings.show(context)
        return told


class _OnContact(_OnScript):
    """Mixin of operators on one contact, the chosen one unless another is named."""

    contact: StringProperty(name="Contact", options={"SKIP_SAVE"}, description="Id of the contact; empty for the "
                            "chosen one")

    @classmethod
    def poll(cls, context):
        return needs_contact(cls, context)

    def ident(self, context):
        """The contact's id."""
        return self.contact or context.scene.foothold_contacts.active

    def mirror(self, context):
        """Whether the other side gets the same."""
        return context.scene.foothold_contacts.mirror


class FOOTHOLD_OT_contacts_extract(Steps, Operator):
    """Read the contacts off the take"""

    bl_idname = "foothold.contacts_extract"
    bl_label = "Extract Contacts"
    bl_description = ("Find what the take touches, from when to when. What you added or changed stays, what you "
                      "deleted does not come back")
    bl_options = {"REGISTER", "UNDO"}

    keep: BoolProperty(name="Keep Edits", default=True, options={"SKIP_SAVE"},
                       description="Keep what you added, changed and deleted")

    @classmethod
    def poll(cls, context):
        return needs_motion(cls, context)

    def steps(self, context):
        scene = context.scene
        settings = scene.foothold.bake_settings()
        action = job.take_action(settings.take)
        scripts.require_editable(action)
        before = scripts.load(action) if self.keep else None
        script = yield from contacts.extract_steps(scene, settings, scene.foothold_contacts.wanted_prop())
        if before is not None:
            script = edit.merge_extracted(before, script)
        scripts.store(action, script)
        return script

    def done(self, context, result):
        contact_settings.show(context)
        hers = sum(c.source == "artist" for c in result.contacts)
        self.report({"INFO"}, f"{len(result.contacts)} contacts" + (f", {hers} of them yours" if hers else ""))


class FOOTHOLD_OT_contacts_add(_OnScript, Operator):
    """Add a contact"""

    bl_idname = "foothold.contacts_add"
    bl_label = "Add Contact"
    bl_description = "Add a contact that begins at the current frame"

    effector: StringProperty(name="Who", options={"SKIP_SAVE"}, description="Who touches; empty as set in the panel")
    surface: StringProperty(name="What", options={"SKIP_SAVE"}, description="What is touched; empty as set")
    frames: IntProperty(name="Frames", default=30, min=1, description="How long it lasts, as far as the take goes")

    @classmethod
    def poll(cls, context):
        return needs_motion(cls, context)

    def edited(self, context, script, clock):
        settings = context.scene.foothold_contacts
        frame = context.scene.frame_current_final
        start = clock.time(frame)
        if script.frames > 1 and not 0.0 <= start < script.duration:
            raise FootholdError(f"A contact that begins at frame {frame:g} does not fit the take: go to a frame from "
                                f"{clock.first} to {clock.first + script.frames - 2}.")
        end = min(start + self.frames / script.fps, script.duration)
        effector = self.effector or settings.effector
        after = edit.add(script, effector, self.surface or settings.surface, start, end, mirror=settings.mirror)
        before = {c.id for c in script.contacts}
        settings.active = next(c.id for c in after.contacts if c.id not in before and c.effector == effector)
        return after, ""


class FOOTHOLD_OT_contacts_split(_OnContact, Operator):
    """Split the contact"""

    bl_idname = "foothold.contacts_split"
    bl_label = "Split Contact"
    bl_description = "Make two contacts of it that meet at the current frame"

    def edited(self, context, script, clock):
        time = clock.time(context.scene.frame_current_final)
        return edit.split(script, self.ident(context), time, self.mirror(context)), ""


class FOOTHOLD_OT_contacts_merge(_OnContact, Operator):
    """Merge the contact with the next"""

    bl_idname = "foothold.contacts_merge"
    bl_label = "Merge with Next"
    bl_description = "Make one contact of it and the next one of the same effector on the same surface"

    def edited(self, context, script, clock):
        return edit.merge(script, self.ident(context), self.mirror(context)), ""


class FOOTHOLD_OT_contacts_delete(_OnContact, Operator):
    """Delete the contact"""

    bl_idname = "foothold.contacts_delete"
    bl_label = "Delete Contact"
    bl_description = "Delete the contact. Extracting again does not bring it back"

    def edited(self, context, script, clock):
        settings, ident = context.scene.foothold_contacts, self.ident(context)
        after = edit.delete(script, ident, self.mirror(context))
        if settings.active == ident:
            left = {c.id for c in after.contacts}
            order = [c.id for c in contact_settings.in_rows(script)]
            at = order.index(ident)
            settings.active = next((i for i in (*order[at:], *reversed(order[:at])) if i in left), "")
        return after, ""


class FOOTHOLD_OT_contacts_nudge(_OnContact, Operator):
    """Nudge an edge of the contact"""

    bl_idname = "foothold.contacts_nudge"
    bl_label = "Nudge Edge"
    bl_description = "Let the contact begin or end some frames earlier or later, as far as its neighbours let it"

    edge: EnumProperty(name="Edge", items=EDGES, default="END")
    frames: IntProperty(name="Frames", default=1, description="Frames later; below zero earlier")

    def edited(self, context, script, clock):
        return edit.nudge(script, self.ident(context), self.edge.lower(), self.frames / script.fps,
                          self.mirror(context)), ""


class FOOTHOLD_OT_contacts_retarget(_OnContact, Operator):
    """Let the contact touch another surface"""

    bl_idname = "foothold.contacts_retarget"
    bl_label = "Retarget Contact"
    bl_description = "Let the contact be with this surface instead"

    surface: StringProperty(name="What", description="The floor, a prop or a part of the body")

    def edited(self, context, script, clock):
        return edit.retarget(script, self.ident(context), self.surface, mirror=self.mirror(context)), ""


class FOOTHOLD_OT_contacts_mute(_OnContact, Operator):
    """Mute the contact"""

    bl_idname = "foothold.contacts_mute"
    bl_label = "Mute Contact"
    bl_description = "Let the contact count no longer, or again"

    @classmethod
    def poll(cls, context):
        return needs_script(cls, context)  # the rows' buttons name their own

    def edited(self, context, script, clock):
        contact = edit.find(script, self.ident(context))
        return edit.mute(script, contact.id, not contact.mute, self.mirror(context)), ""


class FOOTHOLD_OT_contacts_select(Change, Operator):
    """Choose another contact"""

    bl_idname = "foothold.contacts_select"
    bl_label = "Choose Contact"
    bl_description = "Choose the next or the previous contact of the list"
    bl_options = {"REGISTER", "UNDO"}

    step: IntProperty(name="Step", default=1, description="How many rows further; below zero back")

    @classmethod
    def poll(cls, context):
        if not needs_script(cls, context):
            return False
        if not contact_settings.current(context)[1].contacts:
            cls.poll_message_set("The take has no contacts: extract them, or add one")
            return False
        return True

    def change(self, context):
        settings = context.scene.foothold_contacts
        order = [c.id for c in contact_settings.in_rows(contact_settings.current(context)[1])]
        at = order.index(settings.active) if settings.active in order else (-1 if self.step > 0 else 0)
        settings.active = order[(at + self.step) % len(order)]


class FOOTHOLD_OT_contacts_jump(Change, Operator):
    """Go to an edge of the contact"""

    bl_idname = "foothold.contacts_jump"
    bl_label = "Go to Edge"
    bl_description = "Let the timeline go to the frame in which the contact begins or ends"
    bl_options = {"REGISTER"}

    edge: EnumProperty(name="Edge", items=EDGES)

    @classmethod
    def poll(cls, context):
        return needs_contact(cls, context)

    def change(self, context):
        action, script = contact_settings.current(context)
        contact = contact_settings.active_contact(context)
        frame = scripts.clock(action, script).frame(contact.start if self.edge == "START" else contact.end)
        context.scene.frame_set(round(frame))


class FOOTHOLD_OT_contacts_save(Change, Operator, ExportHelper):
    """Save the contacts"""

    bl_idname = "foothold.contacts_save"
    bl_label = "Save Contacts"
    bl_description = "Save the contacts as JSON, to keep, compare or play them on the command line"
    bl_options = {"REGISTER"}
    filename_ext = ".json"
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})

    @classmethod
    def poll(cls, context):
        return needs_script(cls, context)

    def change(self, context):
        scripts.save_file(self.filepath, contact_settings.current(context)[1])
        return f"Saved as {self.filepath}"


class FOOTHOLD_OT_contacts_load(Change, Operator, ImportHelper):
    """Load contacts"""

    bl_idname = "foothold.contacts_load"
    bl_label = "Load Contacts"
    bl_description = "Load contacts from JSON in place of those of the take"
    bl_options = {"REGISTER", "UNDO"}
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})

    @classmethod
    def poll(cls, context):
        return needs_motion(cls, context)

    def change(self, context):
        action = job.take_action(context.scene.foothold.take)
        script, own = scripts.load_file(self.filepath), empty_script(context)
        if script.frames != own.frames or not math.isclose(script.fps, own.fps, rel_tol=_SAME_RATE):
            raise FootholdError(f"{self.filepath}: it is for a take of {script.frames} frames at {script.fps:g} fps, "
                                f"and '{action.name}' has {own.frames} at {own.fps:g}: choose the file of this take.")
        scripts.store(action, script)
        contact_settings.show(context)
        return f"{len(script.contacts)} contacts loaded"


CLASSES = (FOOTHOLD_OT_contacts_extract, FOOTHOLD_OT_contacts_add, FOOTHOLD_OT_contacts_split,
           FOOTHOLD_OT_contacts_merge, FOOTHOLD_OT_contacts_delete, FOOTHOLD_OT_contacts_nudge,
           FOOTHOLD_OT_contacts_retarget, FOOTHOLD_OT_contacts_mute, FOOTHOLD_OT_contacts_select,
           FOOTHOLD_OT_contacts_jump, FOOTHOLD_OT_contacts_save, FOOTHOLD_OT_contacts_load)
