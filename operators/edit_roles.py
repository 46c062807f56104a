"""The table of roles: detect, pick, mirror, clear, save and load."""

from bpy.props import EnumProperty, StringProperty
from bpy.types import Operator
from bpy_extras.io_utils import ExportHelper, ImportHelper

from ..solvers import humanoid
from ..solvers.errors import FootholdError
from .bridge import compat, read, roles

SIDES = (("TAKE", "Take", "The recorded motion"), ("BODY", "Body", "The character"))
GROUPS = humanoid.GROUPS


def detect_roles(armature):
    """Detect and store the roles of an armature; returns the humanoid.Detection."""
    found = roles.detect(armature)
    roles.store(armature, found.roles)
    return found


def table(armature):
    """(role -> bone of an armature as stored, faults as sentences); ({}, [...]) where nothing can be read."""
    if roles.KEY not in armature:
        return {}, []
    try:
        found = roles.load(armature)
        return found, humanoid.validate(found, read.read_skeleton(armature))
    except FootholdError as error:
        return {}, [str(error)]


class _OnRoles:
    """Mixin of operators that change the table of take or body."""

    bl_options = {"REGISTER", "UNDO"}
    target: EnumProperty(items=SIDES)

    def armature(self, context):
        """The armature that is meant."""
        found = getattr(context.scene.foothold, self.target.lower())
        if found is None:
            raise FootholdError(f"Choose a {self.target.lower()} first.")
        return found

    def change(self, context):
        """Change the table; may raise FootholdError."""
        raise NotImplementedError

    def execute(self, context):
        try:
            told = self.change(context)
        except FootholdError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        context.window_manager.foothold_rests = ""
        if told:
            self.report({"INFO"}, told)
        return {"FINISHED"}


class FOOTHOLD_OT_detect_roles(_OnRoles, Operator):
    """Map the bones by their names and by the shape of the skeleton"""

    bl_idname = "foothold.detect_roles"
    bl_label = "Detect Roles"

    def change(self, context):
        found = detect_roles(self.armature(context))
        for conflict in found.conflicts:
            self.report({"WARNING"}, conflict)
        return f"{len(found.roles)} bones mapped ({found.family or 'by shape'})"


class FOOTHOLD_OT_pick_role(_OnRoles, Operator):
    """Give this role to the active bone in the viewport"""

    bl_idname = "foothold.pick_role"
    bl_label = "Pick Active Bone"
    role: StringProperty()

    def change(self, context):
        armature = self.armature(context)
        bone = compat.active_bone(armature)
        if bone is None:
            raise FootholdError(f"Select a bone of '{armature.name}' in the viewport first.")
        found = {r: b for r, b in roles.load(armature).items() if b != bone}
        roles.store(armature, {**found, self.role: bone})
        return f"{self.role}: {bone}"


class FOOTHOLD_OT_clear_role(_OnRoles, Operator):
    """Take the bone out of this role"""

    bl_idname = "foothold.clear_role"
    bl_label = "Clear Role"
    role: StringProperty()

    def change(self, context):
        armature = self.armature(context)
        roles.store(armature, {r: b for r, b in roles.load(armature).items() if r != self.role})


class FOOTHOLD_OT_mirror_roles(_OnRoles, Operator):
    """Fill empty roles of one side from the other, where the bones' names are mirror images"""

    bl_idname = "foothold.mirror_roles"
    bl_label = "Mirror Roles"

    def change(self, context):
        armature = self.armature(context)
        before = roles.load(armature)
        names = {b.name for b in armature.data.bones}
        free = names - set(before.values())
        after = dict(before)
        for role, bone in before.items():
            other = humanoid.mirror_bone(bone, names)
            if humanoid.mirror_role(role) not in after and other in free:
                after[humanoid.mirror_role(role)] = other
        roles.store(armature, after)
        return f"{len(after) - len(before)} roles filled"


class FOOTHOLD_OT_save_roles(_OnRoles, Operator, ExportHelper):
    """Save the table of roles as JSON"""

    bl_idname = "foothold.save_roles"
    bl_label = "Save Roles"
    bl_options = {"REGISTER"}
    filename_ext = ".json"
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})

    def change(self, context):
        humanoid.dump_roles(self.filepath, roles.load(self.armature(context)))


class FOOTHOLD_OT_load_roles(_OnRoles, Operator, ImportHelper):
    """Load a table of roles from JSON"""

    bl_idname = "foothold.load_roles"
    bl_label = "Load Roles"
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})

    def change(self, context):
        armature = self.armature(context)
        found = humanoid.load_roles(self.filepath)
        faults = humanoid.validate(found, read.read_skeleton(armature))
        if faults:
            raise FootholdError(f"{self.filepath}: {faults[0]}")
        roles.store(armature, found)
        return f"{len(found)} roles loaded"


CLASSES = (FOOTHOLD_OT_detect_roles, FOOTHOLD_OT_pick_role, FOOTHOLD_OT_clear_role, FOOTHOLD_OT_mirror_roles,
           FOOTHOLD_OT_save_roles, FOOTHOLD_OT_load_roles)
