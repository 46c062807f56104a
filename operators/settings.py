"""What the artist sets in the panel, kept with the scene. Role maps are not here: they live on the armatures."""

import json

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty
from bpy.types import PropertyGroup

from ..solvers.transfer import Travel
from . import job

RESTS = (
    ("FILE", "File's Rest", "The rest pose of the armature, as its file has it. Often not what a take was recorded "
                            "against"),
    ("ARMATURE", "Another Armature", "The first frame of another armature's action, such as the T-pose that came with "
                                     "the take"),
    ("ACTION", "Another Action", "The first frame of another action of this armature"),
    ("FRAME", "A Frame", "A frame of its own action in which it stands in a T-pose"),
    ("POSE", "Current Pose", "The pose that it shows now"),
)


def is_armature(_settings, thing):
    """Whether an object can be a take or a body."""
    return thing.type == "ARMATURE"


def forget_comparison(_settings, context):
    """A comparison of two rests is no longer true once either of them changes."""
    context.window_manager.foothold_rests = ""


class FootholdRest(PropertyGroup):
    """Which pose counts as rest."""

    kind: EnumProperty(name="Rest", items=RESTS, default="FILE", update=forget_comparison,
                       description="The pose that the motion is authored against. Nothing is applied to the rig")
    frame: IntProperty(name="Frame", default=1, update=forget_comparison, description="Frame that shows the rest")
    action: PointerProperty(name="Action", type=bpy.types.Action, update=forget_comparison,
                            description="Action whose first frame shows the rest")
    armature: PointerProperty(name="Armature", type=bpy.types.Object, poll=is_armature, update=forget_comparison,
                              description="Armature whose action shows the rest in its first frame")

    def choice(self):
        """The job.RestChoice."""
        return job.RestChoice(self.kind.lower(), self.frame, self.action if self.kind == "ACTION" else None,
                              self.armature)


class FootholdSettings(PropertyGroup):
    """The panel's settings."""

    take: PointerProperty(name="Take", type=bpy.types.Object, poll=is_armature, update=forget_comparison,
                          description="Armature that plays the recorded motion")
    body: PointerProperty(name="Body", type=bpy.types.Object, poll=is_armature, update=forget_comparison,
                          description="Armature of the character that shall play it")
    take_rest: PointerProperty(type=FootholdRest)
    body_rest: PointerProperty(type=FootholdRest)
    use_range: BoolProperty(name="Range", description="Bake only a part of the take")
    first: IntProperty(name="First", default=1, description="First frame to bake")
    last: IntProperty(name="Last", default=250, description="Last frame to bake")
    step: IntProperty(name="Step", default=1, min=1, description="Key every Nth frame")
    carrier: EnumProperty(name="Way On", default="HIPS", description="What carries the way through the world", items=(
        ("HIPS", "Hips", "Keys on the hips"),
        ("ROOT", "Root Bone", "The way on the floor goes onto the root bone, as game engines want it"),
        ("OBJECT", "Object", "The way on the floor goes onto the armature object")))
    in_place: BoolProperty(name="In Place", description="Leave out the way on the floor; rise and fall stay")
    own_scale: BoolProperty(name="Own Scale", description="Set the scale of the way by hand instead of by leg length")
    horizontal: FloatProperty(name="Way", default=1.0, min=0.01, soft_max=3.0,
                              description="Scale of the way on the floor")
    vertical: FloatProperty(name="Height", default=1.0, min=0.01, soft_max=3.0,
                            description="Scale of the rise and fall of the hips")
    action_name: StringProperty(name="Action", description="Name of the baked action; the take's and the body's names "
                                "if empty. Baking again under the same name keeps your edits")

    def bake_settings(self, **other):
        """The job.BakeSettings; keyword arguments replace single ones."""
        travel = Travel(self.carrier.lower(), self.in_place, self.horizontal if self.own_scale else None,
                        self.vertical if self.own_scale else None)
        values = {"take": self.take, "body": self.body, "take_rest": self.take_rest.choice(),
                  "body_rest": self.body_rest.choice(), "first": self.first if self.use_range else None,
                  "last": self.last if self.use_range else None, "step": self.step, "travel": travel,
                  "action_name": self.action_name}
        return job.BakeSettings(**{**values, **other})


def stored(text):
    """JSON that an operator left for the panel; None where there is none."""
    return json.loads(text) if text else None


CLASSES = (FootholdRest, FootholdSettings)


def register():
    """Hang the settings on scenes, and what is only shown for now on the window manager."""
    bpy.types.Scene.foothold = PointerProperty(type=FootholdSettings)
    bpy.types.WindowManager.foothold_progress = FloatProperty(default=-1.0, options={"SKIP_SAVE"})
    bpy.types.WindowManager.foothold_rests = StringProperty(options={"SKIP_SAVE"})
    bpy.types.WindowManager.foothold_report = StringProperty(options={"SKIP_SAVE"})


def unregister():
    """Take everything away again; what was set stays in the files."""
    del bpy.types.Scene.foothold
    for name in ("foothold_progress", "foothold_rests", "foothold_report"):
        delattr(bpy.types.WindowManager, name)
