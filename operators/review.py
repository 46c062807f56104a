"""Looking at a bake: figures, the worst frames, contact sheets."""

import json

from bpy.props import IntProperty, StringProperty
from bpy.types import Operator
from bpy_extras.io_utils import ExportHelper

from .bridge import measure, render
from .runner import Steps, needs


class FOOTHOLD_OT_measure(Steps, Operator):
    """Play take and body frame by frame as Blender evaluates them, and compare"""

    bl_idname = "foothold.measure"
    bl_label = "Measure"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context):
        return needs(cls, context, "take", "body")

    def steps(self, context):
        settings = context.scene.foothold
        return (yield from measure.measure_steps(context.scene, settings.take, settings.body))

    def done(self, context, result):
        context.window_manager.foothold_report = json.dumps(result)
        self.report({"INFO"}, result["summary"])


class FOOTHOLD_OT_jump(Operator):
    """Go to this frame"""

    bl_idname = "foothold.jump"
    bl_label = "Go There"
    bl_options = {"INTERNAL"}
    frame: IntProperty()

    def execute(self, context):
        context.scene.frame_set(self.frame)
        return {"FINISHED"}


class FOOTHOLD_OT_save_report(Operator, ExportHelper):
    """Save the measured figures as JSON"""

    bl_idname = "foothold.save_report"
    bl_label = "Save Report"
    filename_ext = ".json"
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})

    @classmethod
    def poll(cls, context):
        if not context.window_manager.foothold_report:
            cls.poll_message_set("Measure first")
            return False
        return True

    def execute(self, context):
        try:
            with open(self.filepath, "w", encoding="utf-8") as file:
                json.dump(json.loads(context.window_manager.foothold_report), file, indent=1, ensure_ascii=False)
        except OSError as error:
            self.report({"ERROR"}, f"{self.filepath}: cannot be written ({error.strerror}): choose another place.")
            return {"CANCELLED"}
        return {"FINISHED"}


class FOOTHOLD_OT_contact_sheet(Steps, Operator, ExportHelper):
    """Render the take beside the body at frames spread over the range, into one PNG"""

    bl_idname = "foothold.contact_sheet"
    bl_label = "Contact Sheet"
    bl_options = {"REGISTER"}
    filename_ext = ".png"
    filter_glob: StringProperty(default="*.png", options={"HIDDEN"})

    @classmethod
    def poll(cls, context):
        return needs(cls, context, "take", "body")

    def invoke(self, context, event):
        return ExportHelper.invoke(self, context, event)

    def steps(self, context):
        settings = context.scene.foothold
        yield from render.contact_sheet_steps(self.filepath, context.scene, settings.take, settings.body)

    def done(self, context, result):
        self.report({"INFO"}, f"Contact sheet: {self.filepath}")


CLASSES = (FOOTHOLD_OT_measure, FOOTHOLD_OT_jump, FOOTHOLD_OT_save_report, FOOTHOLD_OT_contact_sheet)
