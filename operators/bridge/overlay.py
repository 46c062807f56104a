"""Contacts drawn over dope sheet and timeline as bars, and in the viewport as marks at the current frame: on the take
what it touches, on the body what it has to touch.

All is derived from the scripts kept with the actions that both play, while drawing (their reading is cached by their
text). Nothing is drawn, and nothing fails, where there is no armature or no script that can be read.
"""

import blf
import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader

from ...solvers.errors import FootholdError
from . import overlay_shapes, roles, scripts

COLOURS = {"plant": (0.36, 0.72, 0.36), "grip": (0.95, 0.60, 0.20), "clasp": (0.70, 0.48, 0.90),
           "rest-on": (0.33, 0.62, 0.92)}
PROP = (0.85, 0.85, 0.85, 0.7)
_LANE = (0.0, 0.0, 0.0, 0.35)
_PALE, _NEAR = 0.25, 0.35  # opacity of what is muted, and of coming and going
_WHITE, _HOVER = (1.0, 1.0, 1.0, 1.0), (1.0, 1.0, 1.0, 0.6)
_MODES = ("TIMELINE", "DOPESHEET", "ACTION", "SHAPEKEY")
_HATCH = 8.0  # pixels between two strokes through what is muted
_hover = [""]  # id of the contact under the mouse
_handlers = []


def hovered():
    """The id of the contact under the mouse, or ""."""
    return _hover[0]


def hover(ident):
    """Note what is under the mouse; whether that is another than before."""
    changed, _hover[0] = _hover[0] != ident, ident
    return changed


def of_scene(scene):
    """(armature, script, clock) of the chosen take, or None where there is nothing to draw."""
    return _of_armature(scene.foothold.take)


def of_body(scene):
    """(armature, script as it was laid out for it, clock) of the chosen body while it plays a bake, or None."""
    body = scene.foothold.body
    return _of_armature(body) if body is not None and body != scene.foothold.take else None


def _of_armature(armature):
    data = armature.animation_data if armature is not None else None
    if data is None or data.action is None:
        return None
    try:
        script = scripts.load(data.action)
        return (armature, script, scripts.clock(data.action, script)) if script is not None else None
    except FootholdError:
        return None  # the panel tells it


def shown(scene):
    """What of_scene and of_body give, as far as there is something and the panel's switches are on."""
    settings = scene.foothold_contacts
    found = [of_scene(scene) if settings.show_markers else None, of_body(scene) if settings.show_targets else None]
    return [one for one in found if one is not None]


# Bars

def bars(context):
    """(lanes, bars) of overlay_shapes in the dope sheet's region of a context; ([], []) where none are shown."""
    found = of_scene(context.scene)
    space, region = context.space_data, context.region
    if found is None or not context.scene.foothold_contacts.show_bars:
        return [], []
    if space is None or space.type != "DOPESHEET_EDITOR" or space.mode not in _MODES or region.type != "WINDOW":
        return [], []
    first, last = (region.view2d.region_to_view(x, 0)[0] for x in (0, region.width))
    view = overlay_shapes.View(first, last, region.width, region.height, context.preferences.system.ui_scale)
    return overlay_shapes.layout(found[1], found[2], view)


def bar_at(context, x, y):
    """The id of the bar at a pixel of the dope sheet's region, or ""."""
    return overlay_shapes.hit(bars(context)[1], x, y)


def _draw_bars():
    context = bpy.context
    lanes, shown = bars(context)
    if not lanes:
        return
    active, scale = context.scene.foothold_contacts.active, context.preferences.system.ui_scale
    faces, strokes = _Faces(), _Strokes()
    for lane in lanes:
        faces.rectangle(0.0, lane.low, context.region.width, lane.high, _LANE)
    for bar in shown:
        colour = COLOURS[bar.kind]
        faces.rectangle(bar.left, bar.low, bar.right, bar.high, (*colour, _PALE if bar.mute else 0.85))
        third = (bar.high - bar.low) / 3.0
        for left, right in ((bar.near, bar.left), (bar.right, bar.far)):
            if right > left and not bar.mute:
                faces.rectangle(left, bar.low + third, right, bar.high - third, (*colour, _NEAR))
        if bar.mute:
            left, right = max(bar.left, 0.0), min(bar.right, context.region.width)
            for x in np.arange(left, right, _HATCH * scale):
                strokes.line([(x, bar.low), (min(x + bar.high - bar.low, right), bar.high)], (*colour, 0.8))
        if bar.ident in (active, hovered()):
            corners = [(bar.left, bar.low), (bar.right, bar.low), (bar.right, bar.high), (bar.left, bar.high),
                       (bar.left, bar.low)]
            strokes.line(corners, _WHITE if bar.ident == active else _HOVER)
    gpu.state.blend_set("ALPHA")
    faces.draw()
    strokes.draw(context.region, 1.5 * scale)
    gpu.state.blend_set("NONE")
    _draw_names(lanes, scale)


def _draw_names(lanes, scale):
    """The effectors' names at the left edge, where the rows are high enough to read them."""
    size = 11.0 * scale
    blf.size(0, size)
    blf.color(0, 1.0, 1.0, 1.0, 0.9)
    for lane in lanes:
        if lane.high - lane.low >= size:
            blf.position(0, 6.0 * scale, lane.high - size, 0.0)
            blf.draw(0, lane.effector)


# Marks

def _pose(armature):
    """(role -> (3,) joint, role -> (4, 4) bone without size), in the world, as the armature stands now."""
    try:
        table = roles.stored(armature) if roles.KEY in armature else {}
    except FootholdError:
        return {}, {}
    joints, bones = {}, {}
    world = np.array(armature.matrix_world)
    for role, name in table.items():
        bone = armature.pose.bones.get(name)
        if bone is not None:
            matrix = world @ np.array(bone.matrix)
            matrix[:3, :3] /= np.maximum(np.linalg.norm(matrix[:3, :3], axis=0), 1e-12)
            joints[role], bones[role] = matrix[:3, 3], matrix
    return joints, bones


def marks(context):
    """The Marks of the current frame, or [] where none are shown."""
    frame = context.scene.frame_current_final
    return [mark for armature, script, clock in shown(context.scene)
            for mark in overlay_shapes.marks(script, clock.time(frame), *_pose(armature))]


def mark_at(context, x, y):
    """The id of the mark at a pixel of the viewport's region, or ""."""
    region = context.region
    return overlay_shapes.hit_mark(marks(context), context.region_data.perspective_matrix, region.width, region.height,
                                   x, y, context.preferences.system.ui_scale)


def _draw_marks():
    context = bpy.context
    found = shown(context.scene)
    space, region = context.space_data, context.region
    if not found or not space.overlay.show_overlays:
        return
    active, scale = context.scene.foothold_contacts.active, context.preferences.system.ui_scale
    faces, strokes = _Faces(), _Strokes()

    def pixels(points):
        return overlay_shapes.project(context.region_data.perspective_matrix, points, region.width, region.height)

    def line(points, colour):
        at, seen = pixels(points)
        strokes.line(at, colour, seen)

    for _, script, _ in found:
        for prop in script.props:
            for points in overlay_shapes.prop_lines(script, prop):
                line(points, PROP)
    for mark in marks(context):
        colour = (*COLOURS[mark.kind], 0.3 + 0.7 * mark.strength)
        for points in mark.lines:
            line(points, colour)
        ends = [point for point in (mark.effector, mark.surface) if point is not None]
        if len(ends) == 2:
            line(ends, colour)
        for point, radius in zip((mark.effector, mark.surface), (5.0, 3.0)):
            if point is None:
                continue
            at, seen = pixels(point)
            if not seen[0]:
                continue
            if mark.ident in (active, hovered()):
                faces.disc(*at[0], (radius + 2.0) * scale, _WHITE if mark.ident == active else _HOVER)
            faces.disc(*at[0], radius * scale, colour)
    gpu.state.blend_set("ALPHA")
    strokes.draw(region, 1.5 * scale)
    faces.draw()
    gpu.state.blend_set("NONE")


class _Faces:
    """Coloured triangles in pixels, drawn at once."""

    def __init__(self):
        self.points, self.colours = [], []

    def rectangle(self, left, low, right, high, colour):
        self.points += [(left, low), (right, low), (right, high), (left, low), (right, high), (left, high)]
        self.colours += [colour] * 6

    def disc(self, x, y, radius, colour, corners=16):
        angles = np.linspace(0.0, 2.0 * np.pi, corners + 1)
        rim = np.stack([x + radius * np.cos(angles), y + radius * np.sin(angles)], axis=-1)
        for one, other in zip(rim[:-1], rim[1:]):
            self.points += [(x, y), tuple(one), tuple(other)]
        self.colours += [colour] * 3 * corners

    def draw(self):
        if self.points:
            shader = gpu.shader.from_builtin("FLAT_COLOR")
            batch_for_shader(shader, "TRIS", {"pos": self.points, "color": self.colours}).draw(shader)


class _Strokes:
    """Coloured lines in pixels, drawn at once."""

    def __init__(self):
        self.points, self.colours = [], []

    def line(self, points, colour, seen=None):
        """A line through points (N, 2), as far as both ends of a stretch are seen."""
        for i in range(len(points) - 1):
            if seen is None or (seen[i] and seen[i + 1]):
                self.points += [(*points[i], 0.0), (*points[i + 1], 0.0)]
                self.colours += [colour] * 2

    def draw(self, region, width):
        if self.points:
            shader = gpu.shader.from_builtin("POLYLINE_FLAT_COLOR")
            shader.uniform_float("viewportSize", (region.width, region.height))
            shader.uniform_float("lineWidth", width)
            batch_for_shader(shader, "LINES", {"pos": self.points, "color": self.colours}).draw(shader)


def register():
    """Draw from now on; without a window there is nothing to draw on."""
    if bpy.app.background:
        return
    for space, draw in ((bpy.types.SpaceDopeSheetEditor, _draw_bars), (bpy.types.SpaceView3D, _draw_marks)):
        _handlers.append((space, space.draw_handler_add(draw, (), "WINDOW", "POST_PIXEL")))


def unregister():
    """Draw no longer."""
    while _handlers:
        space, handler = _handlers.pop()
        space.draw_handler_remove(handler, "WINDOW")
    hover("")
