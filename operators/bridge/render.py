"""Contact sheets: the take as a stick figure beside the bodies, at frames spread over the clip, in one PNG.

Everything is drawn from copies in scenes of their own, so the artist's scene, its objects and its render settings are
never touched. Blue is left, orange is right.
"""

import os
import tempfile
from contextlib import contextmanager
from typing import NamedTuple

import blf
import bpy
import imbuf
import numpy as np

from ...solvers import rest, rotation
from ...solvers.errors import FootholdError
from . import evaluate, measure, prop_shapes

MIDDLE, LEFT, RIGHT = range(3)
_STICKS = ((0.30, 0.31, 0.33), (0.05, 0.27, 0.80), (0.90, 0.28, 0.03))  # linear, by side
_SKIN = ((0.52, 0.50, 0.48), (0.28, 0.46, 0.78), (0.85, 0.50, 0.24))
_TILES = ((0.95, 0.96, 0.97), (0.70, 0.72, 0.74))
_PROP = (0.24, 0.42, 0.30)
_BACKDROP = (0.80, 0.82, 0.84)
_LEGEND = (("left", (0.20, 0.45, 0.85)), ("right", (0.88, 0.45, 0.10)))
_INK, _WARNING, _PAPER = (0.10, 0.11, 0.13), (0.78, 0.08, 0.05), (0.95, 0.95, 0.95)  # as displayed
_TURN, _ELEVATION = np.radians(35.0), np.radians(14.0)
_COUNT = 12
_ASPECT = 0.8  # panel width to height
_GAP, _BAND = 8, 30  # pixels: between cells; height of a line of text


class Shape(NamedTuple):
    """A mesh as arrays."""

    points: np.ndarray  # (V, 3) world
    corners: np.ndarray  # (L,) vertex of each face corner
    starts: np.ndarray  # (P,) first corner of each face
    colours: np.ndarray  # (P,) index into a palette


class Look(NamedTuple):
    """One figure at one frame."""

    shape: Shape
    hips: np.ndarray  # (3,)
    joints: np.ndarray  # (J, 3)


def contact_sheet(path, scene, take, body, frames=None, columns=4, size=320, worst=(), props=None, floor=0.0,
                  progress=None):
    """Draw the armature `take` beside `body` at some frames of `scene` into one PNG at `path`.

    `body` may be several armatures, which then stand side by side (A beside B). `frames` are frame numbers, 12 spread
    evenly over the clip where left out; the frames `worst` are added and marked. `columns` cells lie in a row, `size`
    is the height of a figure's picture in pixels. `props` are cylinders (start (3,), end (3,), radius) in world
    space; where left out, each figure has those of its own contacts. `floor` is the height of the floor. Bodies without
    a mesh are drawn as sticks. Returns the frames drawn.
    Raises FootholdError where the path cannot be written or an armature has no bones.
    """
    steps = contact_sheet_steps(path, scene, take, body, frames, columns, size, worst, props, floor)
    while True:
        try:
            done = next(steps)
        except StopIteration as end:
            return end.value
        if progress:
            progress(done)


def contact_sheet_steps(path, scene, take, body, frames=None, columns=4, size=320, worst=(), props=None, floor=0.0):
    """`contact_sheet` as a generator of the part done, 0 to 1; closing it early leaves nothing behind."""
    path = _writable(path)
    bodies = list(body) if isinstance(body, (list, tuple)) else [body]
    armatures = [take, *bodies]
    roles = [_roles(armature) for armature in armatures]
    shown = _frames(scene, armatures, frames, worst)
    looks = yield from _look_steps(scene, armatures, roles, shown)
    forward = _forward(np.array([row[0].joints for row in looks]),
                       {role: take.pose.bones.find(bone) for role, bone in roles[0].items()})
    view = _View.fitted(looks, forward, floor)
    width, height = max(int(round(_ASPECT * size)), 16), max(int(size), 16)
    cells = []
    solids = [[prop_shapes.Pole(*prop) for prop in props] if props is not None else prop_shapes.of_armature(armature)
              for armature in armatures]
    with _studio(scene, width, height, view) as studio:
        for i, row in enumerate(looks):
            cells.append([studio.picture(look, _SKIN if k else _STICKS, own, floor)
                          for k, (look, own) in enumerate(zip(row, solids))])
            yield 0.2 + 0.8 * (i + 1) / len(looks)
        titles = ["take: " + take.name, *("body: " + b.name for b in bodies)]
        sheet = _compose(cells, shown, set(worst), titles, view.tile, columns, width, height, studio)
        save_pixels(sheet, path, studio.temporary)
    return shown


def _writable(path):
    path = os.path.abspath(bpy.path.abspath(os.fspath(path)))
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise FootholdError(f"{path}: the folder {folder} does not exist: make it, or choose another place.")
    if os.path.isdir(path) or not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise FootholdError(f"{path}: a picture cannot be written there: choose another place.")
    return path


def _roles(armature):
    """The role map of an armature; empty where it has none, because a picture can do without sides."""
    if armature is None or armature.type != "ARMATURE":
        raise FootholdError(f"'{armature.name if armature else 'Nothing'}' is not an armature: choose one.")
    if not len(armature.data.bones):
        raise FootholdError(f"Armature '{armature.name}' has no bones: choose another.")
    return measure.read_roles(armature) if measure.ROLES_PROPERTY in armature else {}


def _frames(scene, armatures, frames, worst):
    if frames is None:
        whole = measure.frames_of(scene, armatures)
        frames = whole[np.unique(np.linspace(0, len(whole) - 1, min(_COUNT, len(whole))).round().astype(int))]
    shown = sorted({float(f) for f in frames} | {float(f) for f in worst})
    if not shown:
        raise FootholdError("No frame was named: give at least one for the contact sheet.")
    return [int(f) if f.is_integer() else f for f in shown]


def meshes_of(scene, armature):
    """The mesh objects of a scene that an armature moves and that would be rendered."""
    out = []
    for ob in scene.objects:
        if ob.type != "MESH" or ob.hide_render or ob.display_type in {"BOUNDS", "WIRE"}:
            continue
        moved = any(m.type == "ARMATURE" and m.object == armature and m.show_viewport for m in ob.modifiers)
        above = ob.parent
        while above is not None and not moved:
            moved, above = above == armature, above.parent
        if moved:
            out.append(ob)
    return out


def _look_steps(scene, armatures, roles, frames):
    """Rows of Look, one a frame and figure: a generator of the part done, 0 to 0.2."""
    meshes = [[], *(meshes_of(scene, a) for a in armatures[1:])]
    sides = [_bone_sides(a, r) for a, r in zip(armatures, roles)]
    tints = {ob.name: _vertex_sides(ob, sides[k]) for k, group in enumerate(meshes) for ob in group}
    rows = []
    everything = list(dict.fromkeys([*armatures, *(ob for group in meshes for ob in group)]))
    with evaluate.stage(scene, everything) as stage:
        for i, frame in enumerate(frames):
            depsgraph = evaluate.set_frame(stage, frame)
            row = []
            for armature, side, role, group in zip(armatures, sides, roles, meshes):
                joints, sticks = _sticks(armature.evaluated_get(depsgraph), side, role)
                skins = [_snapshot(ob, depsgraph, tints[ob.name]) for ob in group]
                skins = [skin for skin in skins if len(skin.starts)]
                at = armature.pose.bones.find(role["hips"]) if "hips" in role else 0
                row.append(Look(_joined(skins) if skins else sticks, joints[at], joints))
            rows.append(row)
            yield 0.2 * (i + 1) / len(frames)
    return rows


def _bone_sides(armature, roles):
    """The side of every bone by name; a bone without a role is on the side of the bone that it hangs from."""
    of_bone = {bone: role for role, bone in roles.items()}
    sides = {}
    for bone in armature.data.bones:  # parents come before children
        role = of_bone.get(bone.name, "")
        above = sides.get(bone.parent.name, MIDDLE) if bone.parent else MIDDLE
        sides[bone.name] = LEFT if role.endswith(".L") else RIGHT if role.endswith(".R") else above
    return sides


def _vertex_sides(ob, sides):
    """The side (V,) of each vertex of an object's mesh, by the group that weighs most."""
    by_group = [sides.get(group.name, MIDDLE) for group in ob.vertex_groups]
    alone = sides.get(ob.parent_bone, MIDDLE) if ob.parent_type == "BONE" else MIDDLE
    out = np.full(len(ob.data.vertices), alone, np.int8)
    for vertex in ob.data.vertices if by_group else ():
        best = max(vertex.groups, key=lambda g: g.weight, default=None)
        if best is not None and best.group < len(by_group):
            out[vertex.index] = by_group[best.group]
    return out


def _snapshot(ob, depsgraph, tint):
    """The evaluated mesh of an object as a Shape in world space."""
    evaluated = ob.evaluated_get(depsgraph)
    mesh = evaluated.to_mesh()
    try:
        points = np.empty((len(mesh.vertices), 3), np.float32)
        corners, starts = np.empty(len(mesh.loops), np.int32), np.empty(len(mesh.polygons), np.int32)
        mesh.vertices.foreach_get("co", points.ravel())
        mesh.loops.foreach_get("vertex_index", corners)
        mesh.polygons.foreach_get("loop_start", starts)
    finally:
        evaluated.to_mesh_clear()
    world = np.array(evaluated.matrix_world)
    points = points.astype(float) @ world[:3, :3].T + world[:3, 3]
    # a modifier that adds vertices leaves no way to tell whose they are
    known = len(tint) == len(points) and len(starts)
    colours = tint[corners[starts]] if known else np.full(len(starts), MIDDLE, np.int8)
    return Shape(points, corners, starts, colours)


def _joined(shapes):
    """Several shapes as one."""
    points = np.cumsum([0] + [len(s.points) for s in shapes])
    corners = np.cumsum([0] + [len(s.corners) for s in shapes])
    return Shape(np.concatenate([s.points for s in shapes]),
                 np.concatenate([s.corners + n for s, n in zip(shapes, points)]),
                 np.concatenate([s.starts + n for s, n in zip(shapes, corners)]),
                 np.concatenate([s.colours for s in shapes]))


def _faces(points, faces, colour):
    """A Shape of faces with the same number of corners each."""
    faces = np.asarray(faces, np.int32)
    return Shape(np.asarray(points, float), faces.ravel(), np.arange(len(faces), dtype=np.int32) * faces.shape[1],
                 np.full(len(faces), colour, np.int8))


def tube(start, end, radii, colour, sides=8):
    """A closed tube between two points (3,), `radii` at its two ends."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    axis = rotation.normalize(end - start)
    across = rotation.normalize(np.cross(axis, [1.0, 0.0, 0.0] if abs(axis[0]) < 0.8 else [0.0, 1.0, 0.0]))
    turn = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)[:, None]
    ring = np.cos(turn) * across + np.sin(turn) * np.cross(axis, across)
    points = np.concatenate([start + radii[0] * ring, end + radii[1] * ring, [start, end]])
    i = np.arange(sides)
    j = (i + 1) % sides
    walls = np.concatenate([np.stack([i, j, j + sides], 1), np.stack([i, j + sides, i + sides], 1),
                            np.stack([j, i, np.full(sides, 2 * sides)], 1),
                            np.stack([i + sides, j + sides, np.full(sides, 2 * sides + 1)], 1)])
    return _faces(points, walls, colour)


def _prop(solid):
    """A prop_shapes.Pole or Box as a Shape."""
    if isinstance(solid, prop_shapes.Pole):
        return tube(solid.start, solid.end, (solid.radius, solid.radius), 0, 24)
    faces = [(3, 2, 1, 0), (4, 5, 6, 7), *((i, (i + 1) % 4, (i + 1) % 4 + 4, i + 4) for i in range(4))]
    return _faces(solid.corners, faces, 0)


def ball(centre, radius, colour, rings=8):
    """A sphere about a point (3,)."""
    polar = np.linspace(0.0, np.pi, rings + 1)[:, None]
    turn = np.linspace(0.0, 2.0 * np.pi, 2 * rings, endpoint=False)[None]
    points = np.stack(np.broadcast_arrays(np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn), np.cos(polar)),
                      -1)
    row, column = np.meshgrid(np.arange(rings), np.arange(2 * rings), indexing="ij")
    after, width = (column + 1) % (2 * rings), 2 * rings
    quads = np.stack([row * width + column, (row + 1) * width + column, (row + 1) * width + after,
                      row * width + after], -1)
    return _faces(np.asarray(centre) + radius * points.reshape(-1, 3), quads.reshape(-1, 4), colour)


def _sticks(evaluated, sides, roles):
    """Joints (J, 3) and stick figure of an evaluated armature in world space.

    Limbs run from joint to joint, because a bone's own tail may point anywhere; only a last bone shows its tail. What
    lies above the hips (a root on the floor) is left out.
    """
    bones = evaluated.pose.bones
    world = np.array(evaluated.matrix_world)
    heads, tails = (np.array([getattr(b, end) for b in bones]) @ world[:3, :3].T + world[:3, 3]
                    for end in ("head", "tail"))
    index = {bone.name: j for j, bone in enumerate(bones)}
    above, hips = set(), bones.get(roles.get("hips", ""))
    while hips is not None and hips.parent is not None:
        hips = hips.parent
        above.add(hips.name)
    links = []
    for j, bone in enumerate(bones):
        if bone.name in above:
            continue
        links.extend((j, heads[index[child.name]], sides[child.name]) for child in bone.children)
        if not bone.children:
            links.append((j, tails[j], sides[bone.name]))
    size = max(float(np.ptp(heads, axis=0).max()), 1e-3)
    lengths = [np.linalg.norm(end - heads[j]) for j, end, _ in links]
    parts = []
    for (j, end, side), length in zip(links, lengths):
        if length < 1e-3 * size:
            continue
        thick = float(np.clip(0.11 * length, 0.004 * size, 0.022 * size))
        waist = heads[j] + 0.15 * (end - heads[j])
        parts.append(tube(heads[j], waist, (0.5 * thick, thick), side))
        parts.append(tube(waist, end, (thick, 0.4 * thick), side))
        parts.append(ball(heads[j], 0.9 * thick, sides[bones[j].name]))
    head = bones.get(roles.get("head", ""))
    if head is not None:
        j = index[head.name]
        base = heads[index[roles["neck"]]] if roles.get("neck") in index else heads[j] - (0.0, 0.0, 1.0)
        parts.append(ball(heads[j] + 0.06 * size * rotation.normalize(heads[j] - base), 0.055 * size, MIDDLE, 12))
    return heads, _joined(parts or [ball(heads[0], 0.02 * size, MIDDLE)])


class _View(NamedTuple):
    """One direction and one scale for all pictures, so that sizes can be compared."""

    turn: np.ndarray  # (3, 3) camera axes as columns: right, up, towards the camera
    height: float  # of the picture, world units
    tallest: float  # of a figure as the camera sees it
    tile: float  # of the floor

    @classmethod
    def fitted(cls, looks, forward, floor):
        yaw = np.arctan2(forward[1], forward[0]) + _TURN
        back = np.array([np.cos(_ELEVATION) * np.cos(yaw), np.cos(_ELEVATION) * np.sin(yaw), np.sin(_ELEVATION)])
        right = rotation.normalize(np.cross([0.0, 0.0, 1.0], back))
        turn = np.stack([right, np.cross(back, right), back], axis=1)
        view = cls(turn, 1.0, 1.0, 1.0)
        flat = [look for row in looks for look in row]
        seen = [(look.shape.points - look.hips) @ turn for look in flat]
        tallest = max(float(np.ptp(points[:, 1])) for points in seen)
        view = view._replace(tallest=tallest)
        rows = [view.rows(look, floor) for look in flat]
        wide = max(float(np.abs(points[:, 0]).max()) for points in seen)
        height = 1.1 * max(max(high - low for low, high in rows), 2.0 * wide / _ASPECT, 1e-3)
        tile = 0.5 * 10.0 ** round(np.log10(max(tallest, 1e-3) / 1.7))
        return view._replace(height=height, tile=tile)

    def rows(self, look, floor):
        """Lowest and highest point (along the camera's up) that a picture must show; the floor where it is near."""
        up = look.shape.points @ self.turn[:, 1]
        ground = float(np.append(look.hips[:2], floor) @ self.turn[:, 1])
        low, high = float(up.min()), float(up.max())
        near = max(high, ground) - min(low, ground) <= 1.35 * self.tallest
        return (min(low, ground), max(high, ground)) if near else (low, high)

    def camera(self, look, floor):
        """World matrix (4, 4) of the camera for a figure: the hips in the middle, the floor near the lower edge."""
        low, high = self.rows(look, floor)
        middle = low + 0.45 * self.height
        matrix = np.eye(4)
        matrix[:3, :3] = self.turn
        along = look.hips @ self.turn
        matrix[:3, 3] = self.turn @ [along[0], middle, along[2] + 20.0 * self.height]
        return matrix


def _forward(joints, roles):
    """The horizontal direction (2,) that the take (F, J, 3) faces most of the time."""
    turn = rest.facing(joints, roles)
    if turn is None:
        return np.array([0.0, -1.0])
    ahead = rotation.rotate(turn, np.array([0.0, -1.0, 0.0]))[:, :2]
    mean = ahead.mean(axis=0)
    return mean if np.linalg.norm(mean) > 0.2 else ahead[0]


def _floor(look, tile, height):
    """A chequered square of floor under a figure; its tiles lie still in the world."""
    count = 8
    low = (np.floor(look.hips[:2] / tile + 0.5) - count // 2).astype(int)
    i, j = (a.ravel() for a in np.meshgrid(np.arange(count), np.arange(count), indexing="ij"))
    corners = np.stack([np.stack([i + a, j + b], -1) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))], 1)
    places = (corners + low) * tile
    points = np.concatenate([places, np.full(places.shape[:2] + (1,), height)], -1).reshape(-1, 3)
    shape = _faces(points, np.arange(len(points)).reshape(-1, 4), 0)
    return shape._replace(colours=((i + j + low.sum()) % 2).astype(np.int8))


class _Studio:
    """A scene with a camera that takes pictures of Shapes."""

    def __init__(self, scene, camera, view, folder, temporary):
        self.scene, self.camera, self.view, self.folder, self.temporary = scene, camera, view, folder, temporary
        self.materials = {}

    def material(self, colour):
        if colour not in self.materials:
            made = self.temporary(bpy.data.materials.new("Foothold"))
            made.diffuse_color = (*colour, 1.0)
            made.roughness = 0.6
            self.materials[colour] = made
        return self.materials[colour]

    def place(self, shape, palette, smooth):
        mesh = self.temporary(bpy.data.meshes.new("Foothold"))
        for colour in palette:
            mesh.materials.append(self.material(colour))
        mesh.vertices.add(len(shape.points))
        mesh.vertices.foreach_set("co", shape.points.astype(np.float32).ravel())
        mesh.loops.add(len(shape.corners))
        mesh.loops.foreach_set("vertex_index", shape.corners.astype(np.int32))
        mesh.polygons.add(len(shape.starts))
        mesh.polygons.foreach_set("loop_start", shape.starts.astype(np.int32))
        mesh.polygons.foreach_set("material_index", shape.colours.astype(np.int32))
        mesh.polygons.foreach_set("use_smooth", np.full(len(shape.starts), smooth))
        mesh.update(calc_edges=True)
        ob = self.temporary(bpy.data.objects.new("Foothold", mesh))
        self.scene.collection.objects.link(ob)
        return ob

    def picture(self, look, palette, solids, floor):
        """Pixels (H, W, 3), 0 to 1 as displayed, bottom row first."""
        placed = [self.place(look.shape, palette, True),
                  self.place(_floor(look, self.view.tile, floor), _TILES, False)]
        if solids:
            placed.append(self.place(_joined([_prop(solid) for solid in solids]), (_PROP,), False))
        self.camera.matrix_world = self.view.camera(look, floor).T.tolist()
        path = os.path.join(self.folder, "picture.png")
        self.scene.render.filepath = path
        try:
            bpy.ops.render.render(scene=self.scene.name, write_still=True)
        except RuntimeError as error:
            raise FootholdError(f"Blender could not render the contact sheet: {error}".strip()) from None
        self.temporary.drop(placed, [ob.data for ob in placed])
        return _load(path, self.temporary)[..., :3]


class Temporary:
    """Data-blocks that must not outlive a contact sheet."""

    def __init__(self):
        self.blocks = []

    def __call__(self, block):
        self.blocks.append(block)
        return block

    def drop(self, *groups):
        gone = [block for group in groups for block in group]
        self.blocks = [block for block in self.blocks if block not in gone]
        bpy.data.batch_remove(gone)


@contextmanager
def _studio(scene, width, height, view):
    temporary = Temporary()
    images = set(bpy.data.images)
    try:
        with tempfile.TemporaryDirectory(prefix="foothold") as folder:
            own = temporary(bpy.data.scenes.new("Foothold"))
            lens = temporary(bpy.data.cameras.new("Foothold"))
            lens.type, lens.ortho_scale = "ORTHO", view.height * max(1.0, width / height)
            lens.clip_start, lens.clip_end = 0.01 * view.height, 60.0 * view.height
            camera = temporary(bpy.data.objects.new("Foothold", lens))
            own.collection.objects.link(camera)
            own.camera = camera
            own.world = temporary(bpy.data.worlds.new("Foothold"))
            own.world.color = _BACKDROP
            _set_up(own, width, height)
            yield _Studio(own, camera, view, folder, temporary)
    finally:
        temporary.drop(list(temporary.blocks))
        # rendering leaves its result as an image where there was none
        bpy.data.batch_remove([image for image in bpy.data.images if image not in images])


def _set_up(scene, width, height):
    render, shading = scene.render, scene.display.shading
    render.engine = "BLENDER_WORKBENCH"
    render.resolution_x, render.resolution_y, render.resolution_percentage = width, height, 100
    render.use_compositing = render.use_sequencer = render.use_stamp = False
    render.image_settings.file_format, render.image_settings.color_mode = "PNG", "RGB"
    render.image_settings.compression = 0
    scene.view_settings.view_transform, scene.view_settings.look = "Standard", "None"
    scene.display.render_aa = "8"
    scene.display.light_direction = 0.35, 0.45, 0.82
    shading.light, shading.color_type = "STUDIO", "MATERIAL"
    shading.show_shadows, shading.shadow_intensity = True, 0.35
    shading.show_cavity, shading.cavity_type = True, "BOTH"
    shading.show_specular_highlight = False


def _load(path, temporary):
    """Pixels (H, W, 4) of a picture file, bottom row first."""
    image = temporary(bpy.data.images.load(path))
    width, height = image.size
    pixels = np.empty(width * height * 4, np.float32)
    image.pixels.foreach_get(pixels)
    temporary.drop([image])
    return pixels.reshape(height, width, 4)


def text(words, size, folder, temporary):
    """Coverage (H, W) of a line of text, bottom row first."""
    font = 0
    blf.size(font, size)
    width = int(np.ceil(blf.dimensions(font, words)[0])) + 2
    buffer = imbuf.new((max(width, 4), int(1.5 * size)))
    with blf.bind_imbuf(font, buffer):
        blf.color(font, 1.0, 1.0, 1.0, 1.0)
        blf.position(font, 1, int(0.4 * size), 0)
        blf.draw_buffer(font, words)
    path = os.path.join(folder, "text.png")
    imbuf.write(buffer, filepath=path)
    buffer.free()
    return _load(path, temporary)[..., 3]


def ink(sheet, coverage, x, y, colour):
    """Put text on a sheet, its lower left corner at (x, y); what does not fit is cut off."""
    part = sheet[y:y + coverage.shape[0], x:x + coverage.shape[1]]
    cover = coverage[:part.shape[0], :part.shape[1], None]
    part[:] = part * (1.0 - cover) + np.array(colour, np.float32) * cover


def _compose(cells, frames, worst, titles, tile, columns, width, height, studio):
    """Lay out the pictures of all cells on one sheet (H, W, 3), bottom row first."""
    columns = max(1, min(int(columns), len(cells)))
    rows = -(-len(cells) // columns)
    figures = len(titles)
    wide, high = figures * width + _GAP, height + _BAND + _GAP
    sheet = np.empty((rows * high + 2 * _BAND + _GAP, columns * wide + _GAP, 3), np.float32)
    sheet[:] = _PAPER

    def write(words, x, y, colour=_INK):
        """Returns where the text ends."""
        coverage = text(words, 18, studio.folder, studio.temporary)
        ink(sheet, coverage, x, y, colour)
        return x + coverage.shape[1]

    top = sheet.shape[0] - _BAND
    write("   |   ".join(titles), _GAP, top)
    x = write(f"frames {frames[0]:g} to {frames[-1]:g}, floor tiles of {tile:g} m", _GAP, top - _BAND + 4)
    for words, colour in _LEGEND:
        x = write(words, x + 2 * _GAP, top - _BAND + 4, colour)
    for i, (pictures, frame) in enumerate(zip(cells, frames)):
        x = _GAP + (i % columns) * wide
        y = sheet.shape[0] - 2 * _BAND - (i // columns + 1) * high
        for k, picture in enumerate(pictures):
            sheet[y:y + height, x + k * width:x + (k + 1) * width - 1] = picture[:, :-1]
        marked = frame in worst
        write(f"frame {frame:g}" + ("  worst" if marked else ""), x, y + height, _WARNING if marked else _INK)
    return sheet


def save_pixels(sheet, path, temporary):
    """Write pixels (H, W, 3), bottom row first, as a PNG; FootholdError where the place cannot be written."""
    height, width = sheet.shape[:2]
    image = temporary(bpy.data.images.new("Foothold", width, height))
    pixels = np.ones((height, width, 4), np.float32)
    pixels[..., :3] = sheet
    image.pixels.foreach_set(pixels.ravel())
    image.filepath_raw, image.file_format = path, "PNG"
    try:
        image.save()
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[0]
        raise FootholdError(f"{path}: the picture could not be written ({reason}): choose another place.") from None
    finally:
        temporary.drop([image])
