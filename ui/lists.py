"""Lists of the panel: differences of the rests, the roles in their groups, faults of a bake."""

from bpy.types import UIList

from ..operators import edit_roles, review

_STAGES = {"take": "ARMATURE_DATA", "transfer": "CON_TRANSFORM", "contacts": "CON_FLOOR"}  # stage -> icon
_MOST = 12  # rows of contacts that are not kept


class FOOTHOLD_UL_rests(UIList):
    """How far the two rests differ, limb by limb, worst first"""

    def draw_item(self, _context, layout, _data, item, _icon, _active, _property, _index):
        row = layout.split(factor=0.5)
        row.alert = item.large
        row.label(text=item.name, icon="ERROR" if item.large else "DOT" if item.stays > 0.05 else "CHECKMARK")
        numbers = row.row()
        numbers.alignment = "RIGHT"
        words = f"match {item.degrees:.1f}°" if item.degrees <= 0.05 else f"{item.degrees:.1f}°"
        if item.stays <= 0.05 < item.degrees:
            words += " (aligned)"
        numbers.label(text=words)

    def filter_items(self, _context, _data, _property):
        """As they come: worst first."""
        return [], []


class FOOTHOLD_UL_faults(UIList):
    """Where the body strays from the take, worst first; a click on the frame goes there"""

    def draw_item(self, _context, layout, _data, item, _icon, _active, _property, _index):
        row = layout.row(align=True)
        _draw_jump(row, item.frame, item.contact, item.sentence)
        split = row.split(factor=0.36)
        split.label(text=item.name)
        words = split.row()
        words.label(text=review.fault_words(item.metric, item.value))
        words.label(text="", icon=_STAGES.get(item.stage, "BLANK1"))


def draw_stages(layout, counts):
    """What the icons of FOOTHOLD_UL_faults say: `counts` as of `review.stage_counts`."""
    column = layout.column(align=True)
    for stage, count in counts.items():
        column.label(text=f"From {stage}: {count}", icon=_STAGES[stage])


def _draw_jump(row, frame, contact, told):
    """A button that goes to a frame and chooses a contact; its tooltip is `told`."""
    jump = row.row()
    jump.ui_units_x = 2.6
    button = jump.operator("foothold.jump_to_fault", text=f"{frame:g}")
    button.frame, button.contact, button.told = frame, contact, told


def draw_misses(layout, missed):
    """Contacts that the body cannot keep, as buttons that go there; `missed` as of `review.misses`."""
    column = layout.column(align=True)
    for miss in missed[:_MOST]:
        row = column.row(align=True)
        _draw_jump(row, miss.frame, miss.contact, miss.sentence)
        split = row.split(factor=0.65)
        split.label(text=miss.words)
        split.label(text=f"{miss.millimetres:.0f} mm" if miss.millimetres >= 10.0 else f"{miss.millimetres:.1f} mm")
    if len(missed) > _MOST:
        column.label(text=f"and {len(missed) - _MOST} more, none over {missed[_MOST].millimetres:.1f} mm")


def draw_roles(layout, side, found, at_fault=()):
    """The table of roles in groups that fold; `found` role -> bone of the armature on that side."""
    for title, group in edit_roles.groups(found).items():
        mapped = sum(role in found for role in group)
        header, body = layout.panel(f"foothold_{side}_{title}", default_closed=title != "Torso")
        header.label(text=title)
        count = header.row()
        count.alignment = "RIGHT"
        count.label(text=f"{mapped} of {len(group)}" if mapped else "none")
        if body is not None:
            column = body.column(align=True)
            for role in group:
                _draw_role(column, side, role, found.get(role), role in at_fault)


def _draw_role(column, side, role, bone, at_fault):
    row = column.row(align=True)
    row.alert = at_fault
    split = row.split(factor=0.36, align=True)
    split.label(text=role)
    if bone is None:
        missing = split.row()
        missing.active = False
        missing.label(text="no bone")
    else:
        _button(split, "foothold.show_role", side, role, text=bone)
    _button(row, "foothold.pick_role", side, role, icon="EYEDROPPER")
    tail = row.row(align=True)
    tail.enabled = bone is not None
    mirror = tail.row(align=True)
    mirror.enabled = role.endswith((".L", ".R"))
    _button(mirror, "foothold.mirror_role", side, role, icon="MOD_MIRROR")
    _button(tail, "foothold.clear_role", side, role, icon="X")


def _button(layout, operator, side, role, text="", icon="NONE"):
    button = layout.operator(operator, text=text, icon=icon)
    button.target, button.role = side, role


CLASSES = (FOOTHOLD_UL_rests, FOOTHOLD_UL_faults)
