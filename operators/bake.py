"""The bake, the comparison of two rests, and giving up one's own edits."""

from bpy.types import Operator

from ..solvers.errors import FootholdError
from . import job
from .bridge import compat, keys, roles
from .edit_roles import detect_roles
from .runner import Steps, needs


def keep_roles(settings):
    """Store the roles that a bake has detected by itself, so that the table and the review show them."""
    for armature in (settings.take, settings.body):
        if roles.KEY not in armature:
            detect_roles(armature)


def tell(operator, report):
    """Report a bake to the artist."""
    operator.report({"INFO"}, f"'{report.action}': {report.frames} frames"
                    + (f", {report.edits} of your edits kept" if report.edits else ""))
    shown = job.large(report.left_over)
    if shown:
        operator.report({"WARNING"}, job.disagreement_sentence(shown))
    for flip in report.flips:
        operator.report({"INFO"}, f"The take's '{flip['bone']}' flips at frames {flip['first']} to {flip['last']}: "
                                  "turned back")
    for bone, degrees, reason in report.awry:
        operator.report({"WARNING"}, f"'{bone}' does not follow its keys, by up to {degrees:g} degrees: {reason}")
    for note in report.notes:
        operator.report({"WARNING"}, note)


class FOOTHOLD_OT_bake(Steps, Operator):
    """Bake the take onto the body: keys on a new action of the body, and nothing else. What you changed by hand since
    the last bake stays as it is"""

    bl_idname = "foothold.bake"
    bl_label = "Bake"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return needs(cls, context, "take", "body")

    def steps(self, context):
        return (yield from job.bake_steps(context.scene, context.scene.foothold.bake_settings()))

    def done(self, context, result):
        keep_roles(context.scene.foothold)
        tell(self, result)


def ab_names(settings):
    """Names of the two actions of a comparison: with the file's rest and with the picked one."""
    base = f"{settings.take.name} on {settings.body.name}"[:50]
    return f"{base} (file's rest)", f"{base} (picked rest)"


class FOOTHOLD_OT_bake_ab(Steps, Operator):
    """Bake twice, with the file's rest and with the picked one, to see what the rest does"""

    bl_idname = "foothold.bake_ab"
    bl_label = "A/B of the Rests"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        if not needs(cls, context, "take", "body"):
            return False
        if context.scene.foothold.take_rest.kind == "FILE":
            cls.poll_message_set("Pick another rest than the file's: there is nothing to compare")
            return False
        return True

    def steps(self, context):
        settings = context.scene.foothold
        by_file, picked = ab_names(settings)
        first = settings.bake_settings(take_rest=job.RestChoice(), action_name=by_file)
        job.check(settings.bake_settings())
        # solve both before the first is written
        solved = []
        for i, wanted in enumerate((first, settings.bake_settings(action_name=picked))):
            solved.append((wanted, (yield from job.part(job.solve_steps(context.scene, wanted), i / 2, (i + 1) / 2))))
        return [job.finish(wanted, *found) for wanted, found in solved][-1]

    def done(self, context, result):
        keep_roles(context.scene.foothold)
        tell(self, result)


class FOOTHOLD_OT_swap_ab(Operator):
    """Let the body play the other of the two bakes"""

    bl_idname = "foothold.swap_ab"
    bl_label = "Swap A/B"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        if not needs(cls, context, "take", "body"):
            return False
        if any(keys.baked_action(name) is None for name in ab_names(context.scene.foothold)):
            cls.poll_message_set("Bake A/B of the rests first")
            return False
        return True

    def execute(self, context):
        settings = context.scene.foothold
        by_file, picked = (keys.baked_action(name) for name in ab_names(settings))
        playing = settings.body.animation_data.action
        compat.assign(settings.body, by_file if playing == picked else picked)
        self.report({"INFO"}, settings.body.animation_data.action.name)
        return {"FINISHED"}


class FOOTHOLD_OT_forget_edits(Operator):
    """Give up your edits of the selected bones, or of all bones if none is selected: the next bake replaces them"""

    bl_idname = "foothold.forget_edits"
    bl_label = "Forget My Edits"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        if not needs(cls, context, "body"):
            return False
        data = context.scene.foothold.body.animation_data
        if data is None or data.action is None or not keys.is_baked(data.action):
            cls.poll_message_set("The body plays no baked action")
            return False
        return True

    def execute(self, context):
        body = context.scene.foothold.body
        chosen = [b.name for b in compat.selected_pose_bones(body)] if body.mode == "POSE" else []
        try:
            count = keys.forget_edits(body.animation_data.action, chosen or None)
        except FootholdError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"{count} edits forgotten; the next bake replaces them")
        return {"FINISHED"}


CLASSES = (FOOTHOLD_OT_bake, FOOTHOLD_OT_bake_ab, FOOTHOLD_OT_swap_ab, FOOTHOLD_OT_forget_edits)
