"""The tab "Foothold" in the 3D view's sidebar, in the order of the work."""

from bpy.types import Panel

from ..operators import edit_roles
from ..operators.settings import stored


class _Tab:
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Foothold"


def _next_step(settings):
    """What to do next, as a sentence."""
    if settings.take is None:
        return "Import a take, or choose an armature that plays one"
    if settings.take.animation_data is None or settings.take.animation_data.action is None:
        return "The take plays no action: give it one"
    if settings.body is None:
        return "Choose the armature of your character as the body"
    if settings.take == settings.body:
        return "Take and body are the same armature: choose two"
    baked = settings.body.animation_data and settings.body.animation_data.action
    if baked and "foothold_baked" in baked:
        return "Scrub and review; bake again after any change"
    return "Ready: press Bake"


class FOOTHOLD_PT_main(_Tab, Panel):
    """Says what to do next"""

    bl_idname = "FOOTHOLD_PT_main"
    bl_label = "Foothold"

    def draw(self, context):
        layout, settings = self.layout, context.scene.foothold
        layout.label(text=_next_step(settings), icon="INFO")
        progress = context.window_manager.foothold_progress
        if progress >= 0.0:
            layout.progress(factor=progress, text=f"{progress:.0%}, ESC stops")


class FOOTHOLD_PT_take(_Tab, Panel):
    """The recorded motion and the character"""

    bl_label = "Take"
    bl_parent_id = "FOOTHOLD_PT_main"

    def draw(self, context):
        layout, settings = self.layout, context.scene.foothold
        for target, label in (("TAKE", "Take"), ("BODY", "Body")):
            row = layout.row(align=True)
            row.prop(settings, target.lower(), text=label)
            row.operator("foothold.import_file", text="", icon="IMPORT").target = target
        take = settings.take
        action = take.animation_data.action if take is not None and take.animation_data else None
        if action is not None:
            first, last = action.frame_range
            fps = action.get("foothold_fps")
            rate = f", {fps:g} fps" if fps else ""
            layout.label(text=f"{action.name}: frames {first:g} to {last:g}{rate}")
        layout.operator("foothold.match_scene")


class FOOTHOLD_PT_rest(_Tab, Panel):
    """Which pose the motion is authored against"""

    bl_label = "Rest"
    bl_parent_id = "FOOTHOLD_PT_main"

    def draw(self, context):
        layout, settings = self.layout, context.scene.foothold
        for target, rest in (("TAKE", settings.take_rest), ("BODY", settings.body_rest)):
            column = layout.column(align=True)
            column.prop(rest, "kind", text=target.title())
            if rest.kind == "FRAME":
                row = column.row(align=True)
                row.prop(rest, "frame")
                row.operator("foothold.rest_here", text="", icon="TIME").target = target
            elif rest.kind in ("ACTION", "ARMATURE"):
                column.prop(rest, rest.kind.lower(), text="")
        row = layout.row(align=True)
        row.operator("foothold.guess_rest")
        row.operator("foothold.find_t_pose")
        self._draw_comparison(layout, context)

    def _draw_comparison(self, layout, context):
        told = stored(context.window_manager.foothold_rests)
        layout.operator("foothold.compare_rests")
        if told is None:
            return
        if "error" in told:
            _draw_text(layout, told["error"], "ERROR")
            return
        if told["sentence"]:
            _draw_text(layout, told["sentence"], "ERROR")
        else:
            layout.label(text="The rests match, or are aligned", icon="CHECKMARK")
        column = layout.column(align=True)
        for role, degrees in told["rows"][:8]:
            row = column.split(factor=0.65)
            row.label(text=role)
            row.label(text=f"{degrees:.1f}°")


def _draw_text(layout, text, icon):
    """A sentence over several lines, because labels do not wrap."""
    words, line, column = text.split(), "", layout.column(align=True)
    for word in words:
        if len(line) + len(word) > 38:
            column.label(text=line, icon=icon)
            line, icon = "", "BLANK1"
        line = f"{line} {word}".strip()
    column.label(text=line, icon=icon)


class FOOTHOLD_PT_roles(_Tab, Panel):
    """Which bone is what"""

    bl_label = "Roles"
    bl_parent_id = "FOOTHOLD_PT_main"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        if context.scene.foothold.take is None and context.scene.foothold.body is None:
            self.layout.label(text="Choose a take or a body first")


class _Roles(_Tab):
    bl_parent_id = "FOOTHOLD_PT_roles"
    bl_options = {"DEFAULT_CLOSED"}
    target = ""

    @classmethod
    def poll(cls, context):
        return getattr(context.scene.foothold, cls.target.lower()) is not None

    def draw(self, context):
        layout, armature = self.layout, getattr(context.scene.foothold, self.target.lower())
        found, faults = edit_roles.table(armature)
        row = layout.row(align=True)
        row.operator("foothold.detect_roles", text="Detect").target = self.target
        row.operator("foothold.mirror_roles", text="Mirror").target = self.target
        row.operator("foothold.load_roles", text="", icon="FILE_FOLDER").target = self.target
        row.operator("foothold.save_roles", text="", icon="FILE_TICK").target = self.target
        for fault in faults:
            _draw_text(layout, fault, "ERROR")
        if not found:
            layout.label(text="Not mapped yet: a bake detects the roles")
        for title, group in edit_roles.GROUPS.items():
            self._draw_group(layout, title, group, found)

    def _draw_group(self, layout, title, group, found):
        mapped = sum(role in found for role in group)
        header, body = layout.panel(f"foothold_{self.target}_{title}", default_closed=mapped == 0)
        header.label(text=f"{title} ({mapped})")
        if body is None:
            return
        column = body.column(align=True)
        for role in group:
            row = column.row(align=True)
            split = row.split(factor=0.4)
            split.label(text=role)
            split.label(text=found.get(role, "–"))
            for operator, icon in (("foothold.pick_role", "EYEDROPPER"), ("foothold.clear_role", "X")):
                button = row.operator(operator, text="", icon=icon)
                button.target, button.role = self.target, role


class FOOTHOLD_PT_roles_take(_Roles, Panel):
    """Roles of the take"""

    bl_label = "Take's Bones"
    target = "TAKE"


class FOOTHOLD_PT_roles_body(_Roles, Panel):
    """Roles of the body"""

    bl_label = "Body's Bones"
    target = "BODY"


class FOOTHOLD_PT_bake(_Tab, Panel):
    """Keys on the body"""

    bl_label = "Bake"
    bl_parent_id = "FOOTHOLD_PT_main"

    def draw(self, context):
        layout, settings = self.layout, context.scene.foothold
        layout.use_property_split, layout.use_property_decorate = True, False
        layout.prop(settings, "action_name")
        layout.prop(settings, "use_range")
        if settings.use_range:
            column = layout.column(align=True)
            column.prop(settings, "first")
            column.prop(settings, "last")
        layout.prop(settings, "step")
        layout.prop(settings, "carrier")
        layout.prop(settings, "in_place")
        layout.prop(settings, "own_scale")
        if settings.own_scale:
            column = layout.column(align=True)
            column.prop(settings, "horizontal")
            column.prop(settings, "vertical")
        row = layout.row()
        row.scale_y = 1.6
        row.operator("foothold.bake", icon="ARMATURE_DATA")
        row = layout.row(align=True)
        row.operator("foothold.bake_ab")
        row.operator("foothold.swap_ab", text="", icon="UV_SYNC_SELECT")
        layout.operator("foothold.forget_edits")


class FOOTHOLD_PT_review(_Tab, Panel):
    """Figures and pictures of the bake"""

    bl_label = "Review"
    bl_parent_id = "FOOTHOLD_PT_main"

    def draw(self, context):
        layout = self.layout
        row = layout.row(align=True)
        row.operator("foothold.measure")
        row.operator("foothold.contact_sheet", icon="IMAGE_DATA")
        report = stored(context.window_manager.foothold_report)
        if report is None:
            return
        _draw_text(layout, report["summary"], "CHECKMARK" if not report["faults"] else "ERROR")
        column = layout.column(align=True)
        for fault in report["faults"][:10]:
            if fault["frame"] is not None:
                what = fault["role"] or fault["bone"] or ""
                text = f"{fault['frame']}: {what} {fault['metric']} {fault['value']:.3g}"
                column.operator("foothold.jump", text=text).frame = int(fault["frame"])
        layout.operator("foothold.save_report")


CLASSES = (FOOTHOLD_PT_main, FOOTHOLD_PT_take, FOOTHOLD_PT_rest, FOOTHOLD_PT_roles, FOOTHOLD_PT_roles_take,
           FOOTHOLD_PT_roles_body, FOOTHOLD_PT_bake, FOOTHOLD_PT_review)
