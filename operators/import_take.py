"""Bringing takes, bodies and rests in."""

from pathlib import Path

from bpy.props import EnumProperty, StringProperty
from bpy.types import FileHandler, Operator
from bpy_extras.io_utils import ImportHelper

from ..solvers.errors import FootholdError
from . import job, prepare
from .bridge import files, rates, read, roles
from .runner import Change, needs_either, needs_motion
from .settings import SIDES

_ALL = ";".join(f"*{kind}" for kind in files.IMPORTS)
_KINDS = (
    ("ALL", "All", "Every kind of file that Foothold reads"),
    ("BVH", "BVH", "Motion capture as text"),
    ("FBX", "FBX", "Mixamo, MotionBuilder, Unreal, Unity and many others"),
    ("GLTF", "glTF", "glTF and GLB"),
    ("VRM", "VRM", "Avatars of VRM 0.x and 1.0, with the roles of their bones"),
    ("BLEND", ".blend", "Another Blender file"),
)
_GLOBS = {"ALL": _ALL, "GLTF": "*.glb;*.gltf", **{kind: f"*.{kind.lower()}" for kind in ("BVH", "FBX", "VRM", "BLEND")}}


def _filter(self, context):
    """Show only files of the chosen kind in the browser that is open."""
    self.filter_glob = _GLOBS[self.kind]
    space = context.space_data
    if space is not None and space.type == "FILE_BROWSER" and space.params is not None:
        space.params.filter_glob = self.filter_glob


class _Import(Change, ImportHelper):
    """Mixin of operators that import a file; `use` says what becomes of it."""

    bl_options = {"REGISTER", "UNDO"}

    # not kept from one import to the next: a path that is set when the operator starts is that of a dropped file
    filepath: StringProperty(name="File", subtype="FILE_PATH", options={"SKIP_SAVE", "HIDDEN"},
                             description="The file to import")
    filter_glob: StringProperty(default=_ALL, options={"HIDDEN", "SKIP_SAVE"})
    kind: EnumProperty(name="Kind", items=_KINDS, update=_filter, options={"SKIP_SAVE"},
                       description="Which files the browser shows")

    def use(self, context, imported):
        """Make something of what came; returns a sentence, or raises FootholdError, and all that came goes again."""
        raise NotImplementedError

    def invoke(self, context, event):
        """Ask for the file, unless it was dropped."""
        if self.properties.is_property_set("filepath") and self.filepath:
            return self.execute(context)
        return ImportHelper.invoke(self, context, event)

    def draw(self, _context):
        """The browser's side panel."""
        self.layout.prop(self, "kind", expand=False)

    def change(self, context):
        imported = files.import_file(self.filepath)
        try:
            told = self.use(context, imported)
        except FootholdError:
            files.remove(imported)
            raise
        prepare.compare(context)
        return f"{Path(self.filepath).name}: {told}"


class FOOTHOLD_OT_import_take(_Import, Operator):
    """Import a take"""

    bl_idname = "foothold.import_take"
    bl_label = "Import Take"
    bl_description = ("Import the recorded motion: BVH, FBX, glTF/GLB, VRM or .blend. It comes in metres, upright and "
                      "frame for frame; the scene keeps its frame rate and range. A T-pose file beside it is found")

    def use(self, context, imported):
        if not imported.actions:
            raise FootholdError(f"{self.filepath}: the file holds no motion. As a body it can be imported.")
        settings, take = context.scene.foothold, imported.armatures[0]
        with prepare.by_hand():
            settings.take, settings.take_rest.kind, settings.use_range = take, "FILE", False
            settings.take_rest.armature = None
        found = prepare.detect_roles(context, take)
        told = (f"{imported.frames} frames at {imported.fps:g} a second, {len(found.roles)} bones mapped")
        try:
            prepare.offer_range(settings)
            told += f"; rest: {prepare.guess_rest(settings, self.filepath)}"
        except FootholdError as error:  # it has no hips, say: that is mended in the panel
            self.report({"WARNING"}, str(error))
        return told


class FOOTHOLD_OT_import_body(_Import, Operator):
    """Import a body"""

    bl_idname = "foothold.import_body"
    bl_label = "Import Body"
    bl_description = "Import the character that shall play the take: FBX, glTF/GLB, VRM, .blend or BVH"

    def use(self, context, imported):
        body = imported.armatures[0]
        with prepare.by_hand():
            context.scene.foothold.body = body
        return f"{len(prepare.detect_roles(context, body).roles)} bones mapped"


class FOOTHOLD_OT_import_rest(_Import, Operator):
    """Import a file to use as the rest"""

    bl_idname = "foothold.import_rest"
    bl_label = "Import Rest"
    bl_description = ("Import the file in whose first frame the skeleton stands as the motion was authored, such as "
                      "the T-pose that came with the take. It is hidden: only its pose counts")

    target: EnumProperty(name="Of", items=SIDES, options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context):
        return needs_either(cls, context)

    def use(self, context, imported):
        settings, other = context.scene.foothold, imported.armatures[0]
        armature = settings.take if self.target == "TAKE" else settings.body
        if armature is None:
            raise FootholdError(f"Choose a {self.target.lower()} first.")
        choice = job.RestChoice("armature", armature=other)
        skeleton = read.read_skeleton(armature)
        job.read_rest(armature, skeleton, job.role_indices(armature, skeleton), choice)  # tells what does not fit
        prepare.set_aside(other, imported)
        prepare.set_rest(settings.take_rest if self.target == "TAKE" else settings.body_rest, choice)
        return f"its first frame is the {self.target.lower()}'s rest"


class FOOTHOLD_OT_match_scene(Change, Operator):
    """Give the scene the take's frame rate and range"""

    bl_idname = "foothold.match_scene"
    bl_label = "Match Scene to Take"
    bl_description = "Give the scene the take's frame rate and range, so that it plays as fast as it was recorded"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return needs_motion(cls, context)

    def change(self, context):
        scene = context.scene
        action = prepare.plays(scene.foothold.take)
        scene.frame_start, scene.frame_end = read.frame_span(action)
        rates.give_scene(scene, job.action_fps(action, scene))


def _tab_is_open(context):
    """Whether a file was dropped into a 3D view that shows this tab: elsewhere Blender's own importers answer."""
    area = context.area
    return area is not None and area.type == "VIEW_3D" and any(
        region.type == "UI" and region.width > 1 and region.active_panel_category == "Foothold"
        for region in area.regions)


class FOOTHOLD_FH_take(FileHandler):
    """Files dropped as takes"""

    bl_idname = "FOOTHOLD_FH_take"
    bl_label = "Foothold: Take"
    bl_import_operator = "foothold.import_take"
    bl_file_extensions = ";".join(files.IMPORTS)

    @classmethod
    def poll_drop(cls, context):
        return _tab_is_open(context)


class FOOTHOLD_FH_body(FileHandler):
    """Files dropped as bodies"""

    bl_idname = "FOOTHOLD_FH_body"
    bl_label = "Foothold: Body"
    bl_import_operator = "foothold.import_body"
    bl_file_extensions = ";".join(files.IMPORTS)

    @classmethod
    def poll_drop(cls, context):
        return _tab_is_open(context)


def scene_differs(scene):
    """How the scene plays otherwise than its take was recorded, as a sentence; "" where it does not."""
    action = prepare.plays(scene.foothold.take)
    if action is None:
        return ""
    plays, rate = rates.of_scene(scene), job.action_fps(action, scene)
    if abs(rate - plays) > 0.005:
        return f"The scene plays at {plays:g} fps"
    if (scene.frame_start, scene.frame_end) != tuple(int(frame) for frame in action.frame_range):
        return f"The scene plays frames {scene.frame_start} to {scene.frame_end}"
    return ""


def take_line(settings):
    """What the take is, for the panel."""
    action = prepare.plays(settings.take)
    if action is None:
        return "It plays no action"
    first, last = action.frame_range
    rate = f", {action['foothold_fps']:g} fps" if "foothold_fps" in action else ""
    return f"Frames {first:g} to {last:g}{rate}"


def mapped(armature):
    """How many bones of an armature have a role, or None where nobody has looked yet."""
    return len(roles.load(armature)) if roles.KEY in armature else None


CLASSES = (FOOTHOLD_OT_import_take, FOOTHOLD_OT_import_body, FOOTHOLD_OT_import_rest, FOOTHOLD_OT_match_scene,
           FOOTHOLD_FH_take, FOOTHOLD_FH_body)
