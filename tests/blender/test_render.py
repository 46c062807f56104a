"""Contact sheets: that they show what they should, and leave nothing behind."""

import json
import math
import struct

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from foothold.operators.bridge import measure, prop_shapes, render, scripts  # noqa: E402
from foothold.solvers.contacts.script import ContactScript, Prop  # noqa: E402
from foothold.solvers.errors import FootholdError  # noqa: E402

SIZE = 64
WIDTH = round(0.8 * SIZE)
BONES = {  # name: (parent, head, tail)
    "hips": (None, (0, 0, 0.9), (0, 0, 1.1)),
    "spine": ("hips", (0, 0, 1.1), (0, 0, 1.4)),
    "head": ("spine", (0, 0, 1.4), (0, 0, 1.6)),
    "thigh.L": ("hips", (0.1, 0, 0.9), (0.1, 0, 0.1)),
    "thigh.R": ("hips", (-0.1, 0, 0.9), (-0.1, 0, 0.1)),
    "upper_arm.L": ("spine", (0.2, 0, 1.35), (0.7, 0, 1.35)),
    "upper_arm.R": ("spine", (-0.2, 0, 1.35), (-0.7, 0, 1.35)),
}


def add_armature(name, roles=True):
    armature = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for bone, (parent, head, tail) in BONES.items():
        made = armature.data.edit_bones.new(bone)
        made.head, made.tail = head, tail
        if parent:
            made.parent = armature.data.edit_bones[parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    if roles:
        armature[measure.ROLES_PROPERTY] = json.dumps({bone: bone for bone in BONES})
    for frame, angle in ((1, 0.0), (20, 1.5)):
        pose = armature.pose.bones["upper_arm.L"]
        pose.rotation_mode = "XYZ"
        pose.rotation_euler = 0.0, 0.0, angle
        pose.keyframe_insert("rotation_euler", frame=frame)
    return armature


def add_skin(armature):
    """A block around each limb bone, weighted to it."""
    points, faces, owner = [], [], []
    for bone in armature.data.bones:
        shape = render.tube(bone.head_local, bone.tail_local, (0.08, 0.08), 0)
        faces += [[int(c) + len(points) for c in face] for face in shape.corners.reshape(-1, 3)]
        owner += [bone.name] * len(shape.points)
        points += [tuple(map(float, p)) for p in shape.points]
    mesh = bpy.data.meshes.new("Skin")
    mesh.from_pydata(points, [], faces)
    ob = bpy.data.objects.new("Skin", mesh)
    bpy.context.scene.collection.objects.link(ob)
    for i, name in enumerate(owner):
        (ob.vertex_groups.get(name) or ob.vertex_groups.new(name=name)).add([i], 1.0, "REPLACE")
    ob.modifiers.new("Armature", "ARMATURE").object = armature
    return ob


@pytest.fixture
def scene():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 20
    return bpy.context.scene


def png_size(path):
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", head[16:24])


def pixels(path):
    """(H, W, 3), top row first."""
    image = bpy.data.images.load(str(path))
    width, height = image.size
    out = np.empty(width * height * 4, np.float32)
    image.pixels.foreach_get(out)
    bpy.data.images.remove(image)
    return out.reshape(height, width, 4)[::-1, :, :3]


def panel(sheet, figure, cell=0):
    """One figure's picture in a sheet of one row of cells with two figures each."""
    left = 8 + cell * (2 * WIDTH + 8) + figure * WIDTH
    return sheet[-8 - SIZE:-8, left:left + WIDTH - 1]


def blue(picture):
    return picture[..., 2] - picture[..., 0] > 0.2


def orange(picture):
    return picture[..., 0] - picture[..., 2] > 0.2


def state():
    scene = bpy.context.scene
    kinds = [p.identifier for p in bpy.data.bl_rna.properties if p.type == "COLLECTION"]
    settings = {p.identifier: str(getattr(scene.render, p.identifier)) for p in scene.render.bl_rna.properties
                if p.type in {"BOOLEAN", "INT", "FLOAT", "STRING", "ENUM"}}
    return ({kind: [block.name for block in getattr(bpy.data, kind)] for kind in kinds}, settings, scene.camera,
            scene.world, scene.frame_current, scene.frame_subframe, bpy.context.scene.name,
            bpy.context.view_layer.objects.active,
            [(o.name, o.select_get(), o.hide_render, o.hide_viewport, o.hide_get(), tuple(o.color),
              [tuple(row) for row in o.matrix_world]) for o in scene.objects])


def test_a_sheet_shows_both_figures_with_left_and_right(scene, tmp_path):
    take, body = add_armature("Take"), add_armature("Body")
    add_skin(body)
    out = tmp_path / "sheet.png"
    parts = []
    shown = render.contact_sheet(out, scene, take, body, frames=[1, 20], size=SIZE, progress=parts.append)
    assert shown == [1, 20] and parts == sorted(parts) and parts[-1] == 1.0
    assert png_size(out) == (2 * (2 * WIDTH + 8) + 8, SIZE + 30 + 8 + 2 * 30 + 8)
    sheet = pixels(out)
    for figure in (0, 1):
        picture = panel(sheet, figure)
        assert blue(picture).sum() > 15 and orange(picture).sum() > 15
        # it looks towards the camera: its left is on the right
        assert np.nonzero(blue(picture))[1].mean() > np.nonzero(orange(picture))[1].mean() + 5
    moved = np.abs(panel(sheet, 1, 0) - panel(sheet, 1, 1)).max(axis=-1) > 0.1
    assert moved.sum() > 10  # the arm


def test_the_floor_is_under_the_feet_and_the_backdrop_above(scene, tmp_path):
    take, body = add_armature("Take"), add_armature("Body")
    out = tmp_path / "sheet.png"
    render.contact_sheet(out, scene, take, body, frames=[1], size=SIZE)
    picture = panel(pixels(out), 0)
    assert np.ptp(picture[0], axis=0).max() < 0.05
    assert picture[0].mean() > picture[-1].mean() + 0.1


def test_nothing_changes(scene, tmp_path):
    take, body = add_armature("Take"), add_armature("Body")
    skin = add_skin(body)
    skin.hide_viewport = take.hide_viewport = True
    scene.frame_set(7, subframe=0.5)
    scene.render.filepath, scene.render.resolution_x = "//mine", 77
    before = state()
    render.contact_sheet(tmp_path / "sheet.png", scene, take, body, frames=[1, 20], size=SIZE,
                         props=[((0, 0, 0), (0, 0, 2), 0.02)])
    assert state() == before


def test_nothing_changes_when_it_fails_or_is_stopped(scene, tmp_path, monkeypatch):
    take, body = add_armature("Take"), add_armature("Body")
    add_skin(body)
    before = state()
    for stop in (1, 3):
        steps = render.contact_sheet_steps(tmp_path / "sheet.png", scene, take, body, frames=[1, 20], size=SIZE)
        for _ in range(stop):
            next(steps)
        steps.close()
        assert state() == before
    monkeypatch.setattr(render, "text", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        render.contact_sheet(tmp_path / "sheet.png", scene, take, body, frames=[1], size=SIZE)
    assert state() == before
    assert not (tmp_path / "sheet.png").exists()


def test_two_bodies_stand_side_by_side(scene, tmp_path):
    take, first, second = add_armature("Take"), add_armature("A"), add_armature("B", roles=False)
    add_skin(first)
    out = tmp_path / "sheet.png"
    render.contact_sheet(out, scene, take, [first, second], frames=[1], size=SIZE)
    assert png_size(out)[0] == 3 * WIDTH + 16
    sheet = pixels(out)
    assert blue(panel(sheet, 1)).sum() > 15
    assert not blue(panel(sheet, 2)).any()  # without roles nobody knows its sides


def test_frames_are_spread_and_the_worst_are_marked(scene, tmp_path):
    take, body = add_armature("Take"), add_armature("Body")
    out = tmp_path / "sheet.png"
    shown = render.contact_sheet(out, scene, take, body, size=16, worst=[4, 13])
    assert len(shown) == len(set(shown)) and {1, 4, 13, 20} <= set(shown) and shown == sorted(shown)
    red = np.abs(pixels(out) - np.array([0.78, 0.08, 0.05])).max(axis=-1) < 0.1
    assert red.any()


def greens(picture):
    """How many pixels have the colour of a prop."""
    return (picture[..., 1] - picture[..., [0, 2]].max(axis=-1) > 0.04).sum()


@pytest.mark.parametrize("prop", [Prop("pole", point=(0.0, 0.6, 0.0), radius=0.05),
                                  Prop("crate", "box", (0.0, 0.6, 1.0), size=(0.3, 0.3, 0.3))], ids=["pole", "box"])
def test_each_figure_has_the_props_of_its_own_contacts(scene, tmp_path, prop):
    take, body = add_armature("Take"), add_armature("Body")
    script = ContactScript(24.0, 20, (prop, Prop("rock", "mesh")))
    scripts.store(body.animation_data.action, script)
    assert prop_shapes.of_armature(take) == [] and len(prop_shapes.of_armature(body)) == 1
    out = tmp_path / "sheet.png"
    render.contact_sheet(out, scene, take, body, frames=[1], size=SIZE)
    assert greens(panel(pixels(out), 0)) == 0 and greens(panel(pixels(out), 1)) > 20
    body.animation_data.action[scripts.KEY] = "nonsense"
    assert prop_shapes.of_armature(body) == [], "a picture can do without"


def test_a_box_lies_where_its_prop_says():
    solid = prop_shapes._solid(None, Prop("crate", "box", (1.0, 2.0, 3.0), (0.0, 0.0, 1.0), size=(0.2, 0.4, 0.6)))
    assert solid.corners.min(axis=0) == pytest.approx([0.9, 1.8, 2.7])
    assert solid.corners.max(axis=0) == pytest.approx([1.1, 2.2, 3.3])
    shape = render._prop(solid)
    assert len(shape.starts) == 6 and len(shape.points) == 8
    for face in shape.corners.reshape(6, 4):
        a, b, c = shape.points[face[:3]]
        out = np.cross(b - a, c - b)
        assert out @ (shape.points[face].mean(axis=0) - solid.corners.mean(axis=0)) > 0.0, "faces look outwards"


def test_a_prop_stands_in_both_pictures(scene, tmp_path):
    take, body = add_armature("Take"), add_armature("Body")
    out = tmp_path / "sheet.png"
    pole = ((0.0, 0.6, 0), (0.0, 0.6, 3), 0.05)
    render.contact_sheet(out, scene, take, body, frames=[1], size=SIZE, props=[pole])
    for figure in (0, 1):
        assert greens(panel(pixels(out), figure)) > 20


def test_an_armature_that_turns_away_still_faces_the_camera(scene, tmp_path):
    take, body = add_armature("Take"), add_armature("Body")
    take.rotation_euler[2] = body.rotation_euler[2] = math.pi
    out = tmp_path / "sheet.png"
    render.contact_sheet(out, scene, take, body, frames=[1], size=SIZE)
    picture = panel(pixels(out), 0)
    assert np.nonzero(blue(picture))[1].mean() > np.nonzero(orange(picture))[1].mean() + 5


def test_hidden_and_wire_meshes_are_not_the_body(scene):
    body = add_armature("Body")
    skin = add_skin(body)
    assert render.meshes_of(scene, body) == [skin]
    skin.display_type = "WIRE"
    assert render.meshes_of(scene, body) == []
    skin.display_type, skin.hide_render = "TEXTURED", True
    assert render.meshes_of(scene, body) == []


def test_bad_input_is_named(scene, tmp_path):
    take, body = add_armature("Take"), add_armature("Body")
    (tmp_path / "folder.png").mkdir()
    for path, message in ((tmp_path / "gone" / "a.png", "does not exist"), (tmp_path / "folder.png", "written")):
        with pytest.raises(FootholdError, match=message):
            render.contact_sheet(path, scene, take, body, frames=[1], size=SIZE)
    with pytest.raises(FootholdError, match="No frame"):
        render.contact_sheet(tmp_path / "a.png", scene, take, body, frames=[], size=SIZE)
    with pytest.raises(FootholdError, match="not an armature"):
        render.contact_sheet(tmp_path / "a.png", scene, take, None, frames=[1], size=SIZE)
    empty = bpy.data.objects.new("Empty", bpy.data.armatures.new("Empty"))
    scene.collection.objects.link(empty)
    with pytest.raises(FootholdError, match="no bones"):
        render.contact_sheet(tmp_path / "a.png", scene, take, empty, frames=[1], size=SIZE)
    assert len(bpy.data.scenes) == 1
