"""The table of roles: detect, pick, mirror, clear, save and load."""

from types import SimpleNamespace

import numpy as np
from bpy.props import EnumProperty, StringProperty
from bpy.types import Operator
from bpy_extras.io_utils import ExportHelper, ImportHelper

from ..solvers import humanoid
from ..solvers.errors import FootholdError
from . import prepare
from .bridge import compat, roles
from .runner import Change
from .settings import SIDES

GROUPS = humanoid.GROUPS
_NEAR = 0.02  # of the skeleton's size; how near a mirrored joint must lie to count as the other side's


def _faults(armature, table):
    """The faults of a table, of which only the bones' names matter."""
    return humanoid.validate(table, SimpleNamespace(names=armature.data.bones.keys()))


def table(armature):
    """(role -> bone of an armature as stored, faults as sentences); ({}, [...]) where nothing can be read."""
    if roles.KEY not in armature:
        return {}, []
    try:
        found = roles.load(armature)
    except FootholdError as error:
        return {}, [str(error)]
    return found, _faults(armature, found)


def groups(found):
    """title -> roles to show: all of the known ones, and further members of chains that this table has."""
    known = {role for group in GROUPS.values() for role in group}
    more = [role for role in found if role not in known]
    out = {}
    for title, group in GROUPS.items():
        own = {role.split(".")[0] + (".twist" if ".twist." in role else "") for role in group}
        out[title] = (*group, *(r for r in more if r.split(".")[0] + (".twist" if ".twist." in r else "") in own))
    return out


def lacking(found):
    """Roles without which a body does not follow as a whole, as a sentence; "" where none lacks."""
    names = humanoid.missing(found)
    return f"No bone for: {', '.join(names)}" if names else ""


def mirrored_bone(armature, name):
    """The bone of the other side: by its name, else by its place in the rest; None where there is none."""
    names = set(armature.data.bones.keys())
    by_name = humanoid.mirror_bone(name, names)
    if by_name is not None:
        return by_name
    bones = [b for b in armature.data.bones if b.name != name]
    heads = np.array([b.head_local for b in bones]).reshape(-1, 3)
    own = np.array(armature.data.bones[name].head_local)
    if not bones or abs(own[0]) < _NEAR * np.ptp(heads, axis=0).max():
        return None
    off = np.linalg.norm(heads - own * (-1.0, 1.0, 1.0), axis=1)
    at = int(np.argmin(off))
    return bones[at].name if off[at] < _NEAR * np.ptp(heads, axis=0).max() else None


class _OnRoles(Change):
    """Mixin of operators that change the table of take or body."""

    bl_options = {"REGISTER", "UNDO"}
    target: EnumProperty(name="Of", items=SIDES)
    writes = True

    def armature(self, context):
        """The armature that is meant."""
        found = getattr(context.scene.foothold, self.target.lower())
        if found is None:
            raise FootholdError(f"Choose a {self.target.lower()} first.")
        if self.writes and not found.is_editable:
            raise FootholdError(f"'{found.name}' is linked and cannot keep a table: make a library override of it, or "
                                "append it.")
        return found

    def execute(self, context):
        """As every change; the rests are compared anew where the table is another."""
        done = super().execute(context)
        if self.writes and done == {"FINISHED"}:
            prepare.compare(context)
        return done


class _OnRole(_OnRoles):
    """Mixin of operators on one row."""

    role: StringProperty(name="Role", description="The row of the table")

    def armature(self, context):
        if not humanoid.is_role(self.role):
            raise FootholdError(f"'{self.role}' is not a role: choose one of the table, such as 'forearm.L'.")
        return super().armature(context)

    def bone(self, armature):
        """The row's bone."""
        bone = roles.load(armature).get(self.role)
        if bone is None:
            raise FootholdError(f"'{self.role}' has no bone yet: pick one first.")
        if bone not in armature.data.bones:
            raise FootholdError(f"'{armature.name}' has no bone '{bone}': pick another for '{self.role}'.")
        return bone


class FOOTHOLD_OT_detect_roles(_OnRoles, Operator):
    """Map the bones"""

    bl_idname = "foothold.detect_roles"
    bl_label = "Detect Roles"
    bl_description = ("Map the bones by what the file says, by their names, and by the shape of the skeleton. Replaces "
                      "the table")

    def change(self, context):
        armature = self.armature(context)
        found = prepare.detect_roles(context, armature)
        if not found.roles:
            raise FootholdError(f"Nothing in '{armature.name}' looks like a body: pick the bones by hand, or choose "
                                "another armature.")
        for line in found.conflicts:
            self.report({"WARNING"}, line)
        return f"{len(found.roles)} bones mapped ({found.family or 'by shape'})"


class FOOTHOLD_OT_pick_role(_OnRole, Operator):
    """Give this role to the active bone"""

    bl_idname = "foothold.pick_role"
    bl_label = "Pick Active Bone"
    bl_description = "Give this role to the bone that is active in the viewport. Another role of that bone is cleared"

    def change(self, context):
        armature = self.armature(context)
        bone = compat.active_bone(armature)
        if bone is None:
            raise FootholdError(f"Select a bone of '{armature.name}' in the viewport first.")
        before = roles.load(armature)
        other = next((r for r, b in before.items() if b == bone and r != self.role), None)
        roles.store(armature, {**{r: b for r, b in before.items() if b != bone}, self.role: bone})
        return f"{self.role}: {bone}" + (f" (it was {other}, which now has no bone)" if other else "")


class FOOTHOLD_OT_clear_role(_OnRole, Operator):
    """Take the bone out of this role"""

    bl_idname = "foothold.clear_role"
    bl_label = "Clear Role"
    bl_description = "Take the bone out of this role: it gets no keys"

    def change(self, context):
        armature = self.armature(context)
        roles.store(armature, {r: b for r, b in roles.load(armature).items() if r != self.role})


class FOOTHOLD_OT_show_role(_OnRole, Operator):
    """Make this bone the active one"""

    bl_idname = "foothold.show_role"
    bl_label = "Show Bone"
    bl_description = "Select this bone in the viewport and make it the active one"
    writes = False

    def change(self, context):
        armature = self.armature(context)
        name = self.bone(armature)
        for bone in compat.selected_pose_bones(armature):
            compat.select_bone(armature, bone, False)
        compat.select_bone(armature, name)
        armature.data.bones.active = armature.data.bones[name]
        return "" if armature.mode == "POSE" else f"'{name}' is the active bone; Pose Mode shows it"


class FOOTHOLD_OT_mirror_role(_OnRole, Operator):
    """Give the other side the mirrored bone"""

    bl_idname = "foothold.mirror_role"
    bl_label = "Mirror Role"
    bl_description = "Give this role's other side the bone that is this one's mirror image, by name or by place"

    def change(self, context):
        armature = self.armature(context)
        bone, other_role = self.bone(armature), humanoid.mirror_role(self.role)
        if other_role == self.role:
            raise FootholdError(f"'{self.role}' has no other side.")
        other = mirrored_bone(armature, bone)
        if other is None:
            raise FootholdError(f"'{bone}' has no mirror image in '{armature.name}': pick the bone for '{other_role}'.")
        before = roles.load(armature)
        roles.store(armature, {**{r: b for r, b in before.items() if b != other}, other_role: other})
        return f"{other_role}: {other}"


class FOOTHOLD_OT_mirror_roles(_OnRoles, Operator):
    """Fill empty roles from the other side"""

    bl_idname = "foothold.mirror_roles"
    bl_label = "Mirror Roles"
    bl_description = "Fill the empty roles of either side with the mirror images of the other's bones"

    def change(self, context):
        armature = self.armature(context)
        after = roles.load(armature)
        count = len(after)
        for role, bone in list(after.items()):
            other_role = humanoid.mirror_role(role)
            if other_role in after or bone not in armature.data.bones:
                continue
            other = mirrored_bone(armature, bone)
            if other is not None and other not in after.values():
                after[other_role] = other
        roles.store(armature, after)
        return f"{len(after) - count} roles filled"


class FOOTHOLD_OT_clear_roles(_OnRoles, Operator):
    """Empty the table"""

    bl_idname = "foothold.clear_roles"
    bl_label = "Clear All Roles"
    bl_description = "Take all bones out of the table"

    def change(self, context):
        roles.store(self.armature(context), {})


class FOOTHOLD_OT_save_roles(_OnRoles, Operator, ExportHelper):
    """Save the table"""

    bl_idname = "foothold.save_roles"
    bl_label = "Save Roles"
    bl_description = "Save the table as JSON, for the next character with such a rig and for the command line"
    bl_options = {"REGISTER"}
    filename_ext = ".json"
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})
    writes = False

    def change(self, context):
        humanoid.dump_roles(self.filepath, roles.load(self.armature(context)))
        return f"Saved as {self.filepath}"


class FOOTHOLD_OT_load_roles(_OnRoles, Operator, ImportHelper):
    """Load a table"""

    bl_idname = "foothold.load_roles"
    bl_label = "Load Roles"
    bl_description = "Load a table from JSON. It must fit this skeleton"
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})

    def change(self, context):
        armature = self.armature(context)
        found = humanoid.load_roles(self.filepath)
        faults = _faults(armature, found)
        if faults:
            raise FootholdError(f"{self.filepath}: {faults[0]}")
        roles.store(armature, found)
        return f"{len(found)} roles loaded"


CLASSES = (FOOTHOLD_OT_detect_roles, FOOTHOLD_OT_pick_role, FOOTHOLD_OT_clear_role, FOOTHOLD_OT_show_role,
           FOOTHOLD_OT_mirror_role, FOOTHOLD_OT_mirror_roles, FOOTHOLD_OT_clear_roles, FOOTHOLD_OT_save_roles,
           FOOTHOLD_OT_load_roles)
