"""The tab "Foothold" in the 3D view's sidebar, in the order of the work."""

from bpy.types import Panel

from ..operators import bake, edit_roles, import_take, prepare, review
from . import lists
from .text import sentence

_TAB = "FOOTHOLD_PT_main"


class _Tab:
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Foothold"


class Part(_Tab):
    """A part of the work: its header says by an icon how far it is."""

    bl_parent_id = _TAB

    def state(self, context):
        """"DONE", "OPEN" or "WRONG"."""
        raise NotImplementedError

    def draw_header(self, context):
        icons = {"DONE": "CHECKMARK", "OPEN": "RADIOBUT_OFF", "WRONG": "ERROR"}
        self.layout.label(text="", icon=icons[self.state(context)])


def _next_step(context):
    """What to do next, as a sentence."""
    settings, shown = context.scene.foothold, context.window_manager.foothold
    lacking = prepare.hinders(settings)
    if lacking:
        return lacking
    for armature in (settings.take, settings.body):
        if edit_roles.table(armature)[1]:
            return f"Mend the roles of '{armature.name}'"
    if shown.rests_stamp == prepare.stamp(settings) and shown.rests_sentence:
        return "The two rests disagree: pick another rest, or bake and see"
    action = prepare.plays(settings.body)
    if action is not None and "foothold_baked" in action:
        return "Scrub and review. After any change bake again: your edits stay"
    return "Ready: press Bake"


class FOOTHOLD_PT_main(_Tab, Panel):
    """Says what to do next"""

    bl_idname = _TAB
    bl_label = "Foothold"

    def draw(self, context):
        progress = context.window_manager.foothold.progress
        if progress >= 0.0:
            self.layout.progress(factor=progress, text=f"{progress:.0%}, ESC stops it")
            return
        sentence(self.layout, context, _next_step(context), "INFO")


class FOOTHOLD_PT_take(Part, Panel):
    """The recorded motion and the character"""

    bl_idname = "FOOTHOLD_PT_take"
    bl_label = "Take"

    def state(self, context):
        return "OPEN" if prepare.missing(context.scene.foothold) else "DONE"

    def draw(self, context):
        layout, settings = self.layout, context.scene.foothold
        self._draw_armature(settings, "take", "foothold.import_take")
        if settings.take is not None:
            layout.label(text=import_take.take_line(settings), icon="BLANK1")
            self._draw_rate(context)
        self._draw_armature(settings, "body", "foothold.import_body")

    def _draw_armature(self, settings, word, operator):
        chosen = getattr(settings, word)
        column = self.layout.column(align=True)
        row = column.row(align=True)
        row.prop(settings, word, text=word.title(), icon="ARMATURE_DATA" if word == "take" else "OUTLINER_OB_ARMATURE")
        if chosen is not None:
            row.operator(operator, text="", icon="IMPORT")
        else:
            column.operator(operator, text=f"Import {word.title()}…", icon="IMPORT")

    def _draw_rate(self, context):
        told = import_take.scene_differs(context.scene)
        if told:
            sentence(self.layout, context, told, "TIME")
            self.layout.operator("foothold.match_scene")


class FOOTHOLD_PT_rest(Part, Panel):
    """Which pose the motion is authored against"""

    bl_idname = "FOOTHOLD_PT_rest"
    bl_label = "Rest"

    def state(self, context):
        settings, shown = context.scene.foothold, context.window_manager.foothold
        if settings.take is None or settings.body is None or shown.rests_stamp != prepare.stamp(settings):
            return "OPEN"
        return "WRONG" if shown.rests_sentence or shown.rests_error else "DONE"

    def draw(self, context):
        layout, settings = self.layout, context.scene.foothold
        if settings.take is None and settings.body is None:
            sentence(layout, context, "First choose a take and a body")
            return
        if settings.take is not None:
            self._draw_rest("TAKE", settings.take_rest)
            row = layout.row(align=True)
            row.operator("foothold.guess_rest", icon="VIEWZOOM")
            row.operator("foothold.find_t_pose")
        if settings.body is not None:
            self._draw_rest("BODY", settings.body_rest)
        self._draw_comparison(context)

    def _draw_rest(self, target, rest):
        column = self.layout.column(align=True)
        column.prop(rest, "kind", text=f"{target.title()}'s")
        row = column.row(align=True)
        if rest.kind == "FRAME":
            row.prop(rest, "frame")
            row.operator("foothold.rest_here", text="", icon="TIME").target = target
        elif rest.kind == "ACTION":
            row.prop(rest, "action", text="")
        elif rest.kind == "ARMATURE":
            row.prop(rest, "armature", text="")
            row.operator("foothold.import_rest", text="", icon="IMPORT").target = target

    def _draw_comparison(self, context):
        layout, settings, shown = self.layout, context.scene.foothold, context.window_manager.foothold
        if settings.take is None or settings.body is None:
            return
        if shown.rests_stamp != prepare.stamp(settings):
            layout.operator("foothold.compare_rests")
            return
        if shown.rests_error:
            sentence(layout, context, shown.rests_error, "ERROR", alert=True)
        elif shown.rests_sentence:
            sentence(layout, context, shown.rests_sentence, "ERROR", alert=True)
        elif shown.rests:
            worst = shown.rests[0].degrees
            sentence(layout, context, "The rests match" if worst < 1.0 else "The rests are aligned to each other",
                     "CHECKMARK")
        if shown.rests:
            # two names, because Blender keeps under each whether it is folded: only what is wrong opens by itself
            wrong = bool(shown.rests_sentence)
            header, body = layout.panel("foothold_rests_wrong" if wrong else "foothold_rests", default_closed=not wrong)
            header.label(text="Disagreement by Limb")
            header.operator("foothold.compare_rests", text="", icon="FILE_REFRESH", emboss=False)
            if body is not None:
                body.template_list("FOOTHOLD_UL_rests", "", shown, "rests", shown, "rests_at", rows=5, maxrows=5)


class FOOTHOLD_PT_roles(Part, Panel):
    """Which bone is what"""

    bl_idname = "FOOTHOLD_PT_roles"
    bl_label = "Roles"
    bl_options = {"DEFAULT_CLOSED"}

    def state(self, context):
        settings = context.scene.foothold
        state = "DONE"
        for armature in (settings.take, settings.body):
            found, faults = edit_roles.table(armature) if armature is not None else ({}, [])
            if faults:
                return "WRONG"
            if not found or edit_roles.lacking(found):
                state = "OPEN"
        return state

    def draw(self, context):
        layout, settings, shown = self.layout, context.scene.foothold, context.window_manager.foothold
        layout.row().prop(shown, "side", expand=True)
        armature = getattr(settings, shown.side.lower())
        if armature is None:
            sentence(layout, context, f"First choose a {shown.side.lower()}")
            return
        row = layout.row(align=True)
        for operator, text, icon in (("foothold.detect_roles", "Detect", "VIEWZOOM"),
                                     ("foothold.mirror_roles", "Mirror", "MOD_MIRROR"),
                                     ("foothold.load_roles", "", "FILE_FOLDER"),
                                     ("foothold.save_roles", "", "FILE_TICK"), ("foothold.clear_roles", "", "TRASH")):
            row.operator(operator, text=text, icon=icon).target = shown.side
        found, faults = edit_roles.table(armature)
        for fault in faults:
            sentence(layout, context, fault, "ERROR", alert=True)
        if not found and not faults:
            sentence(layout, context, "Not mapped yet: Detect does it, or the bake", "INFO")
        elif edit_roles.lacking(found):
            sentence(layout, context, edit_roles.lacking(found), "INFO")
        for doubt in prepare.doubts(context, armature):
            sentence(layout, context, doubt, "QUESTION")
        lists.draw_roles(layout, shown.side, found, {fault.split(":")[0] for fault in faults})


class FOOTHOLD_PT_bake(Part, Panel):
    """Keys on the body"""

    bl_idname = "FOOTHOLD_PT_bake"
    bl_label = "Bake"

    def state(self, context):
        action = prepare.plays(context.scene.foothold.body)
        return "DONE" if action is not None and "foothold_baked" in action else "OPEN"

    def draw(self, context):
        layout, settings = self.layout, context.scene.foothold
        row = layout.row()
        row.scale_y = 1.6
        row.operator("foothold.bake", icon="ARMATURE_DATA")
        layout.use_property_split, layout.use_property_decorate = True, False
        self._draw_stages(settings)
        header, body = layout.panel("foothold_bake_options", default_closed=True)
        header.label(text="Options")
        if body is not None:
            self._draw_options(body, settings)
        self._draw_ab(settings)
        layout.operator("foothold.forget_edits")

    def _draw_stages(self, settings):
        column = self.layout.column()
        column.prop(settings, "stage_contacts")
        if settings.stage_contacts:
            column.prop(settings, "prefer")
            column.prop(settings, "prop_size")
        column.prop(settings, "scale")
        if settings.scale == "NUMBER":
            numbers = column.column(align=True)
            numbers.prop(settings, "horizontal")
            numbers.prop(settings, "vertical")

    def _draw_options(self, layout, settings):
        layout.prop(settings, "action_name")
        layout.prop(settings, "use_range")
        if settings.use_range:
            column = layout.column(align=True)
            column.prop(settings, "first")
            column.prop(settings, "last")
        layout.prop(settings, "step")
        layout.prop(settings, "carrier")
        layout.prop(settings, "in_place")

    def _draw_ab(self, settings):
        column = self.layout.column(align=True)
        column.operator("foothold.bake_ab")
        playing = bake.ab_playing(settings) if settings.body is not None else None
        if playing is None:
            return
        row = column.row(align=True)
        for side, text, _ in bake.SIDES:
            row.operator("foothold.play_ab", text=text, depress=playing == side).side = side


class FOOTHOLD_PT_review(Part, Panel):
    """Figures and pictures of the bake"""

    bl_idname = "FOOTHOLD_PT_review"
    bl_label = "Review"

    def _is_told(self, context):
        shown = context.window_manager.foothold
        return bool(shown.report) and shown.report_of == review.report_of(context.scene.foothold)

    def state(self, context):
        if not self._is_told(context):
            return "OPEN"
        return "WRONG" if len(context.window_manager.foothold.faults) else "DONE"

    def draw(self, context):
        layout, shown = self.layout, context.window_manager.foothold
        row = layout.row(align=True)
        row.operator("foothold.measure", icon="DRIVER_DISTANCE")
        row.operator("foothold.contact_sheet", icon="IMAGE_DATA")
        self._draw_bake(context)
        if not self._is_told(context):
            if shown.report:
                sentence(layout, context, "The last figures are of another bake: measure again", "INFO")
            return
        self._draw_lines(context, layout, shown.report_lines.splitlines())
        if len(shown.faults):
            lists.draw_stages(layout, review.stage_counts(shown))
            layout.template_list("FOOTHOLD_UL_faults", "", shown, "faults", shown, "faults_at", rows=5, maxrows=10)
        layout.operator("foothold.save_report", icon="FILE_TICK")

    def _draw_bake(self, context):
        """What the bake itself had to tell about the contacts."""
        found = review.told_of(context.scene.foothold)
        missed = review.misses(found)
        if missed:
            header, body = self.layout.panel("foothold_misses")
            header.label(text=f"Not Kept: {len(missed)}", icon="ERROR")
            if body is not None:
                lists.draw_misses(body, missed)
        lines = review.moved_lines(found)
        if lines:
            header, body = self.layout.panel("foothold_moved", default_closed=True)
            header.label(text="Moved for Contacts, at Most")
            if body is not None:
                self._draw_lines(context, body, lines)
        lines = review.licence_lines(found)
        if lines:
            header, body = self.layout.panel("foothold_licence", default_closed=True)
            header.label(text=f"Licence Used: {len(lines)}")
            if body is not None:
                self._draw_lines(context, body, lines)

    @staticmethod
    def _draw_lines(context, layout, lines):
        column = layout.column(align=True)
        for line in lines:
            name, tab, figure = line.partition("\t")
            if not tab:
                sentence(column, context, line)
                continue
            split = column.split(factor=0.45)
            split.scale_y = 0.8
            split.label(text=name)
            split.label(text=figure)


CLASSES = (FOOTHOLD_PT_main, FOOTHOLD_PT_take, FOOTHOLD_PT_rest, FOOTHOLD_PT_roles, FOOTHOLD_PT_bake,
           FOOTHOLD_PT_review)
