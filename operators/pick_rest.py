"""Choosing the pose that a motion is authored against, and comparing it with the body's."""

import json

from bpy.props import EnumProperty
from bpy.types import Operator

from ..solvers.errors import FootholdError
from . import guess, job
from .runner import needs

_SIDES = (("TAKE", "Take", "The recorded motion"), ("BODY", "Body", "The character"))


def set_rest(rest, choice):
    """Put a job.RestChoice into the panel's settings."""
    rest.kind = choice.kind.upper()
    if choice.kind == "frame":
        rest.frame = choice.frame
    if choice.armature is not None:
        rest.armature = choice.armature
        choice.armature.hide_set(True)


def compare(context):
    """Keep for the panel how far the two rests disagree; a FootholdError is kept as what is wrong."""
    settings, manager = context.scene.foothold, context.window_manager
    manager.foothold_rests = ""
    if settings.take is None or settings.body is None:
        return
    try:
        bake = settings.bake_settings()
        rows, left_over = job.compare_rests(job.read_figure(bake.take, bake.take_rest),
                                            job.read_figure(bake.body, bake.body_rest))
        shown = job.large(left_over)
        told = {"rows": rows, "sentence": job.disagreement_sentence(shown) if shown else ""}
    except FootholdError as error:
        told = {"error": str(error)}
    manager.foothold_rests = json.dumps(told)


class FOOTHOLD_OT_compare_rests(Operator):
    """Show for every limb how far the take's rest and the body's rest disagree, worst first"""

    bl_idname = "foothold.compare_rests"
    bl_label = "Compare Rests"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context):
        return needs(cls, context, "take", "body")

    def execute(self, context):
        compare(context)
        return {"FINISHED"}


class FOOTHOLD_OT_guess_rest(Operator):
    """Find the rest by itself: the file's own if it is a standing pose, else a frame in which the performer stands in a
    T-pose"""

    bl_idname = "foothold.guess_rest"
    bl_label = "Guess"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return needs(cls, context, "take")

    def execute(self, context):
        settings = context.scene.foothold
        try:
            choice, _imported = guess.rest_of(settings.take)
        except FootholdError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        set_rest(settings.take_rest, choice)
        compare(context)
        self.report({"INFO"}, f"Rest: frame {choice.frame}" if choice.kind == "frame" else "Rest: the file's own")
        return {"FINISHED"}


class FOOTHOLD_OT_find_t_pose(Operator):
    """Go to the frame in which the take comes nearest to a T-pose, and use it as the rest"""

    bl_idname = "foothold.find_t_pose"
    bl_label = "Find T-Pose Frame"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return needs(cls, context, "take")

    def execute(self, context):
        settings = context.scene.foothold
        try:
            found = guess.t_pose_frames(settings.take, job.take_action(settings.take))
            if not found:
                raise FootholdError("The take never stands in a T-pose: choose another file or action as rest.")
        except FootholdError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        settings.take_rest.frame, settings.take_rest.kind = found[0], "FRAME"
        context.scene.frame_set(found[0])
        compare(context)
        self.report({"INFO"}, f"{len(found)} frames in a T-pose; the best is {found[0]}")
        return {"FINISHED"}


class FOOTHOLD_OT_rest_here(Operator):
    """Use the current frame as the rest"""

    bl_idname = "foothold.rest_here"
    bl_label = "Current Frame"
    bl_options = {"REGISTER", "UNDO"}

    target: EnumProperty(items=_SIDES)

    def execute(self, context):
        settings = context.scene.foothold
        rest = settings.take_rest if self.target == "TAKE" else settings.body_rest
        rest.frame, rest.kind = context.scene.frame_current, "FRAME"
        compare(context)
        return {"FINISHED"}


CLASSES = (FOOTHOLD_OT_compare_rests, FOOTHOLD_OT_guess_rest, FOOTHOLD_OT_find_t_pose, FOOTHOLD_OT_rest_here)
