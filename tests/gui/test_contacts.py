"""Contacts in a real window: the part of the tab, bars over the timeline, marks in the viewport, hover and click."""

import pathlib
import re

import pytest

DEMO = pathlib.Path(__file__).resolve().parents[2] / "demo"
GREEN, ORANGE = (92, 184, 92), (242, 153, 51)  # plants and grips, as overlay.COLOURS has them

SCENE = f"""
for ob in list(bpy.data.objects): bpy.data.objects.remove(ob)
for action in list(bpy.data.actions): bpy.data.actions.remove(action)
import json, sys
name = "bl_ext.user_default.foothold."
scripts = sys.modules[name + "operators.bridge.scripts"]
with bpy.context.temp_override(window=window):
    bpy.ops.foothold.import_take(filepath={str(DEMO / "take.bvh")!r})
    bpy.ops.foothold.match_scene()
    scene = bpy.context.scene
    settings = scene.foothold_contacts
    bpy.ops.foothold.contacts_extract()
    action = scene.foothold.take.animation_data.action
    first, last = action.frame_range
    scene.frame_start, scene.frame_end = int(first), int(last)
    settings.active = ""
    bpy.ops.ed.undo_push(message="Extracted")
for area in window.screen.areas:
    if area.type == "DOPESHEET_EDITOR":
        region = next(r for r in area.regions if r.type == "WINDOW")
        with bpy.context.temp_override(window=window, area=area, region=region):
            bpy.ops.action.view_all()
result = [(c.id, c.kind) for c in scripts.load(action).contacts]
"""
# the bars as they are drawn, in pixels of the screen from the top left: id -> [kind, x, y]
BARS = """
import sys
overlay = sys.modules["bl_ext.user_default.foothold.operators.bridge.overlay"]
area = next(a for a in window.screen.areas if a.type == "DOPESHEET_EDITOR")
region = next(r for r in area.regions if r.type == "WINDOW")
with bpy.context.temp_override(window=window, area=area, region=region):
    shown = overlay.bars(bpy.context)[1]
result = {b.ident: [b.kind, region.x + 0.5 * (max(b.left, 0) + min(b.right, region.width)),
                    window.height - region.y - 0.5 * (b.low + b.high)] for b in shown if b.right - b.left > 8}
"""
ACTIVE = "result = bpy.context.scene.foothold_contacts.active"
HOVERED = """
import sys
result = sys.modules["bl_ext.user_default.foothold.operators.bridge.overlay"].hovered()
"""


def pixels(window, picture, x, y, wide=9, high=5):
    """Colours around a pixel of a picture: a set of (red, green, blue)."""
    told = window._tool("convert", str(picture), "-crop", f"{wide}x{high}+{int(x - wide // 2)}+{int(y - high // 2)}",
                        "+repage", "-depth", "8", "txt:-")
    found = re.findall(r"#([0-9A-Fa-f]{2})([0-9A-Fa-f]{2})([0-9A-Fa-f]{2})", told)
    return {tuple(int(part, 16) for part in colour) for colour in found}


def is_like(colour, wanted, near=60):
    return sum(abs(a - b) for a, b in zip(colour, wanted)) < near


def quiet(window):
    """Blender has printed no error."""
    printed = window.printed()
    assert "Traceback" not in printed and "Error:" not in printed, printed[-3000:]


@pytest.fixture(scope="module")
def contacts(window):
    """The window with the demo's take and its contacts, as extracted."""
    found = window.run(SCENE, timeout=200)
    assert {kind for _, kind in found} >= {"grip"}, found
    window.settle(1.5)
    return window


def unfold(window, part, workspace):
    """Show the tab with one part open (all as they come by default: part None) in a workspace new to the tab."""
    window.run(f"""
import sys
ui = sys.modules["bl_ext.user_default.foothold.ui"]
ui.unregister()
for cls in ui.CLASSES:
    if issubclass(cls, ui.panels.Part):
        kept = cls.__dict__.get("usual", cls.__dict__.get("bl_options", set()))
        cls.usual = kept
        cls.bl_options = kept if {part!r} is None else set() if cls.bl_label == {part!r} else {{"DEFAULT_CLOSED"}}
ui.register()
window.workspace = bpy.data.workspaces[{workspace!r}]
""")
    window.settle(1.5)
    assert window.open_tab("Foothold")
    window.settle(1.5)


def colours(window, picture, left, top, right, bottom):
    """How many pixels of a rectangle of a picture have which colour."""
    told = window._tool("convert", str(picture), "-crop", f"{right - left}x{bottom - top}+{left}+{top}", "+repage",
                        "-depth", "8", "-format", "%c", "histogram:info:-")
    found = re.findall(r"(\d+): .*#([0-9A-Fa-f]{2})([0-9A-Fa-f]{2})([0-9A-Fa-f]{2})", told)
    return {tuple(int(part, 16) for part in colour): int(count) for count, *colour in found}


def test_the_part_of_the_tab_lists_contacts_and_shows_their_thresholds(contacts):
    contacts.run("""
shown = bpy.context.window_manager.foothold_contacts
shown.thresholds = True
bpy.context.scene.foothold_contacts.active = shown.rows[0].ident if len(shown.rows) else ""
""")
    unfold(contacts, "Contacts", "Texture Paint")
    rows = contacts.until("result = len(bpy.context.window_manager.foothold_contacts.rows)")
    assert rows > 3
    picture = contacts.picture("contacts_panel")
    seen = colours(contacts, picture, *contacts.sidebar())
    for part, wanted in (("paper", (243, 244, 246)), ("empty zone", (216, 236, 217)), ("bars", (107, 114, 128))):
        assert sum(n for c, n in seen.items() if is_like(c, wanted, 24)) > 200, part
    contacts.run("bpy.context.scene.foothold_contacts.active = ''")
    unfold(contacts, None, "Layout")
    quiet(contacts)


def test_bars_are_drawn_where_the_hit_test_has_them(contacts):
    bars = contacts.run(BARS)
    assert len(bars) > 3, bars
    picture = contacts.picture("contacts_bars")
    for ident, (kind, x, y) in list(bars.items())[:12]:
        if kind in ("plant", "grip"):
            wanted = GREEN if kind == "plant" else ORANGE
            assert any(is_like(c, wanted) for c in pixels(contacts, picture, x, y)), (ident, kind, x, y)
    quiet(contacts)


def test_hover_marks_and_click_chooses_a_bar_and_passes_through_beside_it(contacts):
    bars = contacts.run(BARS)
    ident, (_, x, y) = max(bars.items())
    contacts.move(x, y)
    contacts.settle(0.8)
    assert contacts.run(HOVERED) == ident
    contacts.click(x, y)
    assert contacts.run(ACTIVE) == ident
    contacts.picture("contacts_bar_chosen")
    other, (_, x, y) = min(bars.items())
    contacts.click(x, y)
    assert contacts.run(ACTIVE) == other
    contacts.key("ctrl+z")
    contacts.settle(1.0)
    assert contacts.run(ACTIVE) == ident, "a choice is one undo step"
    quiet(contacts)


def test_marks_follow_the_scrub_and_a_click_chooses_one(contacts):
    where = contacts.run("""
import sys
from mathutils import Vector
name = "bl_ext.user_default.foothold.operators."
overlay, scripts = sys.modules[name + "bridge.overlay"], sys.modules[name + "bridge.scripts"]
shapes = sys.modules[name + "bridge.overlay_shapes"]
scene = bpy.context.scene
take = scene.foothold.take
action = take.animation_data.action
script = scripts.load(action)
grip = max((c for c in script.contacts if c.kind == "grip"), key=lambda c: c.end - c.start)
scene.frame_set(round(scripts.clock(action, script).frame(0.5 * (grip.start + grip.end))))
scene.foothold_contacts.active = ""
area = max((a for a in window.screen.areas if a.type == "VIEW_3D"), key=lambda a: a.width * a.height)
region = next(r for r in area.regions if r.type == "WINDOW")
data = area.spaces.active.region_3d
hand = next(m for m in overlay.marks(bpy.context) if m.ident == grip.id).effector
data.view_location, data.view_distance = Vector(hand), 3.0
area.tag_redraw()
result = grip.id
""")
    contacts.settle(1.5)
    x, y = contacts.run(f"""
import sys
name = "bl_ext.user_default.foothold.operators."
overlay, shapes = sys.modules[name + "bridge.overlay"], sys.modules[name + "bridge.overlay_shapes"]
area = max((a for a in window.screen.areas if a.type == "VIEW_3D"), key=lambda a: a.width * a.height)
region = next(r for r in area.regions if r.type == "WINDOW")
mark = next(m for m in overlay.marks(bpy.context) if m.ident == {where!r})
at, _ = shapes.project(area.spaces.active.region_3d.perspective_matrix, mark.effector, region.width, region.height)
result = [region.x + at[0, 0], window.height - region.y - at[0, 1]]
""")
    picture = contacts.picture("contacts_marks")
    assert any(is_like(c, ORANGE) for c in pixels(contacts, picture, x, y)), (x, y)
    contacts.move(x, y)
    contacts.settle(0.8)
    assert contacts.run(HOVERED) == where
    contacts.click(x, y)
    assert contacts.run(ACTIVE) == where
    contacts.picture("contacts_mark_chosen")
    quiet(contacts)
