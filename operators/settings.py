"""What the artist sets in the panel, kept with the scene. Role maps are not here: they live on the armatures.

What is only shown (comparisons, figures, progress) hangs on the window manager: it is no part of the file, and no undo
brings an old one back.
"""

import json

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

from ..solvers.fit.fit import Options
from ..solvers.transfer import Travel
from . import job, prepare

SIDES = (("TAKE", "Take", "The recorded motion"), ("BODY", "Body", "The character that shall play it"))
RESTS = (
    ("FILE", "File's Rest", "The rest pose of the armature, as its file has it. Often not what a take was recorded "
                            "against"),
    ("ARMATURE", "Another File", "The first frame of another armature, such as the T-pose file that came with "
                                 "the take"),
    ("ACTION", "Another Action", "The first frame of another action of this armature"),
    ("FRAME", "A Frame", "A frame of its own action in which it stands in a T-pose"),
    ("POSE", "Current Pose", "The pose that it shows now"),
)
PREFER = (  # those of solvers.fit.fit.PREFER
    ("BALANCE", "Balance", "The body moves so that hands and feet both get to what they touch, as far as it can"),
    ("GRIP", "Hands", "The body moves so that the hands get to what they hold; legs reach as far as they can"),
    ("POSE", "Pose", "The body keeps the take's pose over its feet; arms reach as far as they can"),
)
SCALES = (
    ("STATURE", "Stature", "The length of the body's legs against the performer's: steps fit the legs"),
    ("SOURCE", "Source", "As large as the take's own: things stay where they were, steps are the performer's"),
    ("NUMBER", "Number", "Numbers of your own for the way on the floor and for the height"),
)


def is_armature(_settings, thing):
    """Whether an object can be a take or a body."""
    return thing.type == "ARMATURE"


def moves_objects(_settings, action):
    """Whether an action can hold the pose of an armature."""
    return any(slot.target_id_type in ("OBJECT", "UNSPECIFIED") for slot in action.slots)


class FootholdRest(PropertyGroup):
    """Which pose counts as rest."""

    kind: EnumProperty(name="Rest", items=RESTS, default="FILE", update=prepare.rest_chosen,
                       description="The pose that the motion is authored against. Nothing is applied to the rig")
    frame: IntProperty(name="Frame", default=1, update=prepare.rest_chosen, description="Frame that shows the rest")
    action: PointerProperty(name="Action", type=bpy.types.Action, poll=moves_objects, update=prepare.rest_chosen,
                            description="Action whose first frame shows the rest")
    armature: PointerProperty(name="Armature", type=bpy.types.Object, poll=is_armature, update=prepare.rest_chosen,
                              description="Armature whose action shows the rest in its first frame")

    def choice(self):
        """The job.RestChoice."""
        return job.RestChoice(self.kind.lower(), self.frame if self.kind == "FRAME" else 0,
                              self.action if self.kind == "ACTION" else None,
                              self.armature if self.kind == "ARMATURE" else None)


class FootholdSettings(PropertyGroup):
    """The panel's settings."""

    take: PointerProperty(name="Take", type=bpy.types.Object, poll=is_armature, update=prepare.take_chosen,
                          description="Armature that plays the recorded motion. Its bones are mapped and its rest is "
                                      "guessed as soon as it is chosen")
    body: PointerProperty(name="Body", type=bpy.types.Object, poll=is_armature, update=prepare.body_chosen,
                          description="Armature of the character that shall play it. Its bones are mapped as soon as "
                                      "it is chosen")
    take_rest: PointerProperty(type=FootholdRest)
    body_rest: PointerProperty(type=FootholdRest)
    use_range: BoolProperty(name="Only a Part", description="Bake only a part of the take's frames")
    first: IntProperty(name="First", default=1, description="First frame to bake")
    last: IntProperty(name="Last", default=250, description="Last frame to bake")
    step: IntProperty(name="Step", default=1, min=1, soft_max=10,
                      description="Key every Nth frame; 1 keeps all that the take does")
    carrier: EnumProperty(name="Way On", default="HIPS", description="What carries the way through the world", items=(
        ("HIPS", "Hips", "Keys on the hips"),
        ("ROOT", "Root Bone", "The way on the floor goes onto the root bone, as game engines want it"),
        ("OBJECT", "Object", "The way on the floor goes onto the armature object")))
    in_place: BoolProperty(name="In Place", description="Leave out the way on the floor; rise and fall stay")
    scale: EnumProperty(name="Scale", items=SCALES, default="STATURE", description="How large the body's way is "
                        "against the take's, and with it how far apart lies what it touches")
    horizontal: FloatProperty(name="Way", default=1.0, min=0.01, soft_max=3.0,
                              description="Scale of the way on the floor")
    vertical: FloatProperty(name="Height", default=1.0, min=0.01, soft_max=3.0,
                            description="Scale of the rise and fall of the hips")
    stage_contacts: BoolProperty(name="Contacts", default=True, description="Let feet stand and hands hold as the "
                                 "take's contacts say. They are read off the take where it has none yet. Off: limbs "
                                 "turn as the take's, and touch what they happen to touch")
    prefer: EnumProperty(name="Prefer", items=PREFER, default="BALANCE", description="What the body gives way to where "
                         "it cannot keep all of its contacts")
    prop_size: FloatProperty(name="Prop Thickness", default=1.0, min=0.05, soft_max=3.0, description="How thick what "
                             "the body holds is, times what the performer held")
    action_name: StringProperty(name="Action", description="Name of the baked action; the take's and the body's names "
                                "if empty. Baking again under the same name keeps your edits")

    def bake_settings(self, **other):
        """The job.BakeSettings; keyword arguments replace single ones."""
        scale = {"STATURE": (None, None), "SOURCE": (1.0, 1.0), "NUMBER": (self.horizontal, self.vertical)}[self.scale]
        travel = Travel(self.carrier.lower(), self.in_place, *scale)
        values = {"take": self.take, "body": self.body, "take_rest": self.take_rest.choice(),
                  "body_rest": self.body_rest.choice(), "first": self.first if self.use_range else None,
                  "last": self.last if self.use_range else None, "step": self.step, "travel": travel,
                  "action_name": self.action_name, "stages": job.STAGES if self.stage_contacts else job.STAGES[:1],
                  "fit": Options(self.prefer.lower(), self.prop_size)}
        return job.BakeSettings(**{**values, **other})


class FootholdRestRow(PropertyGroup):
    """How far the two rests differ in one limb; its `name` is the role."""

    degrees: FloatProperty()
    stays: FloatProperty()  # degrees that no alignment of standing rests takes away
    large: BoolProperty()  # it will show


class FootholdFault(PropertyGroup):
    """A place where the bake strays from the take; its `name` is the role or bone."""

    metric: StringProperty()
    value: FloatProperty()
    frame: FloatProperty()
    contact: StringProperty()  # its id, "" where it is of none
    stage: StringProperty()  # that brought it in, "" where that cannot be told
    sentence: StringProperty()  # all that there is to tell


class FootholdShown(PropertyGroup):
    """What the panel shows for now."""

    progress: FloatProperty(default=-1.0)  # below zero: nothing is at work
    side: EnumProperty(name="Table", items=SIDES, description="Whose bones the table shows")
    doubts: StringProperty()  # JSON, see prepare.detect_roles
    rests: CollectionProperty(type=FootholdRestRow)
    rests_at: IntProperty(name="Limb", description="Differences of the two rests, worst first")
    rests_sentence: StringProperty()
    rests_error: StringProperty()
    rests_stamp: StringProperty()
    report: StringProperty()  # JSON of solvers.report
    report_of: StringProperty()
    report_lines: StringProperty()  # what it comes to, a sentence a line
    faults: CollectionProperty(type=FootholdFault)
    faults_at: IntProperty(name="Fault", description="Places where the body strays from the take, worst first")

    def measured(self):
        """The last report as plain data, or None."""
        return json.loads(self.report) if self.report else None


CLASSES = (FootholdRest, FootholdSettings, FootholdRestRow, FootholdFault, FootholdShown)


def register():
    """Hang the settings on scenes, and what is only shown for now on the window manager."""
    bpy.types.Scene.foothold = PointerProperty(type=FootholdSettings)
    bpy.types.WindowManager.foothold = PointerProperty(type=FootholdShown)


def unregister():
    """Take everything away again; what was set stays in the files."""
    prepare.stop_waiting()
    del bpy.types.Scene.foothold, bpy.types.WindowManager.foothold
