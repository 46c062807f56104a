"""Bringing takes and bodies in."""

from pathlib import Path

from bpy.props import EnumProperty, StringProperty
from bpy.types import Operator
from bpy_extras.io_utils import ImportHelper

from ..solvers.errors import FootholdError
from . import guess, job
from .bridge import files, roles
from .edit_roles import detect_roles
from .pick_rest import compare, set_rest


class FOOTHOLD_OT_import(Operator, ImportHelper):
    """Import a take or a body: BVH, FBX, glTF/GLB, VRM or .blend. It comes in metres, upright, frame for frame; the
    scene keeps its frame rate and range"""

    bl_idname = "foothold.import_file"
    bl_label = "Import"
    bl_options = {"REGISTER", "UNDO"}

    filter_glob: StringProperty(default=";".join(f"*{kind}" for kind in files.IMPORTS), options={"HIDDEN"})
    target: EnumProperty(items=(("TAKE", "Take", "The recorded motion"), ("BODY", "Body", "The character")))

    def execute(self, context):
        try:
            imported = files.import_file(self.filepath)
            if self.target == "TAKE" and not imported.actions:
                files.remove(imported)
                raise FootholdError(f"{self.filepath}: the file holds no motion. As a body it can be imported.")
        except FootholdError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        settings = context.scene.foothold
        armature = imported.armatures[0]
        setattr(settings, self.target.lower(), armature)
        detect_roles(armature)
        told = f"{Path(self.filepath).name}: {len(roles.load(armature))} bones mapped"
        if self.target == "TAKE":
            told += f", {imported.frames} frames at {imported.fps:g} a second"
            try:
                choice, _rest = guess.rest_of(armature, self.filepath)
                set_rest(settings.take_rest, choice)
            except FootholdError as error:  # no hips, say: the panel shows it under Roles
                self.report({"WARNING"}, str(error))
        compare(context)
        self.report({"INFO"}, told)
        return {"FINISHED"}


class FOOTHOLD_OT_match_scene(Operator):
    """Give the scene the take's frame rate and range"""

    bl_idname = "foothold.match_scene"
    bl_label = "Match Scene to Take"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        take = context.scene.foothold.take
        if take is None or take.animation_data is None or take.animation_data.action is None:
            cls.poll_message_set("Choose a take with an action first")
            return False
        return True

    def execute(self, context):
        scene = context.scene
        action = scene.foothold.take.animation_data.action
        fps = job.action_fps(action, scene)
        scene.render.fps = max(1, round(fps))
        scene.render.fps_base = scene.render.fps / fps
        scene.frame_start, scene.frame_end = (int(f) for f in action.frame_range)
        return {"FINISHED"}


CLASSES = (FOOTHOLD_OT_import, FOOTHOLD_OT_match_scene)
