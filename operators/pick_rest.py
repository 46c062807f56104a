"""Choosing the pose that a motion is authored against, and comparing it with the body's."""

from bpy.props import EnumProperty, IntProperty
from bpy.types import Operator

from ..solvers.errors import FootholdError
from . import guess, job, prepare
from .runner import Change, needs, needs_either, needs_motion
from .settings import SIDES


class FOOTHOLD_OT_compare_rests(Change, Operator):
    """Show how far the two rests disagree"""

    bl_idname = "foothold.compare_rests"
    bl_label = "Compare Rests"
    bl_description = "Show for every limb how far the take's rest and the body's rest disagree, worst first"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context):
        return needs(cls, context, "take", "body")

    def change(self, context):
        prepare.compare(context)
        shown = context.window_manager.foothold
        if shown.rests_error:
            raise FootholdError(shown.rests_error)


class FOOTHOLD_OT_guess_rest(Change, Operator):
    """Find the take's rest"""

    bl_idname = "foothold.guess_rest"
    bl_label = "Guess"
    bl_description = ("Find the take's rest: the T-pose file that came with it, the file's own rest if somebody can "
                      "stand in it, or the frame in which the performer stands best")
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return needs_motion(cls, context)

    def change(self, context):
        told = prepare.guess_rest(context.scene.foothold)
        prepare.compare(context)
        return f"Rest: {told}"


class FOOTHOLD_OT_find_t_pose(Change, Operator):
    """Find the frames in which the take stands in a T-pose"""

    bl_idname = "foothold.find_t_pose"
    bl_label = "Find T-Pose Frames"
    bl_description = ("Look through the take for frames in which the performer stands in a T-pose, use the best of "
                      "them as the rest and go there. Press again for the next best")
    bl_options = {"REGISTER", "UNDO"}

    number: IntProperty(name="Number", default=0, min=0, options={"SKIP_SAVE"},
                        description="Which of the stretches that were found, best first; 0 takes the next")

    @classmethod
    def poll(cls, context):
        return needs_motion(cls, context)

    def change(self, context):
        settings = context.scene.foothold
        chosen = settings.take_rest
        found = stretches(guess.t_pose_frames(settings.take, job.take_action(settings.take)))
        if not found:
            raise FootholdError("The take never stands in a T-pose: choose another file or action as its rest.")
        at = self.number - 1 if self.number else 0
        if not self.number and chosen.kind == "FRAME" and chosen.frame in found:
            at = found.index(chosen.frame) + 1
        frame = found[at % len(found)]
        prepare.set_rest(chosen, job.RestChoice("frame", frame=frame))
        context.scene.frame_set(frame)
        prepare.compare(context)
        others = ", ".join(str(f) for f in found if f != frame)
        return f"T-pose at frame {frame}" + (f"; also at {others}" if others else "")


def stretches(frames, apart=5, most=8):
    """The best frame of every stretch of frames, best first, as `frames` are; `apart` frames end a stretch."""
    stretch, number = {}, 0
    for before, frame in zip([None, *sorted(frames)], sorted(frames)):
        number += before is not None and frame - before > apart
        stretch[frame] = number
    best = {}
    for frame in frames:
        best.setdefault(stretch[frame], frame)
    return list(best.values())[:most]


class FOOTHOLD_OT_rest_here(Operator):
    """Use the current frame as the rest"""

    bl_idname = "foothold.rest_here"
    bl_label = "Current Frame"
    bl_description = "Use the frame that the timeline stands at as the rest"
    bl_options = {"REGISTER", "UNDO"}

    target: EnumProperty(items=SIDES)

    @classmethod
    def poll(cls, context):
        return needs_either(cls, context)

    def execute(self, context):
        settings = context.scene.foothold
        rest = settings.take_rest if self.target == "TAKE" else settings.body_rest
        prepare.set_rest(rest, job.RestChoice("frame", frame=context.scene.frame_current))
        prepare.compare(context)
        return {"FINISHED"}


CLASSES = (FOOTHOLD_OT_compare_rests, FOOTHOLD_OT_guess_rest, FOOTHOLD_OT_find_t_pose, FOOTHOLD_OT_rest_here)
