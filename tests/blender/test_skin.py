"""Skins read from Blender's meshes, and what is measured on them, against what is known of the bodies."""

import json
import time

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

import rigs  # noqa: E402
import whole_file  # noqa: E402

from foothold.operators.bridge import files, read, roles, skin  # noqa: E402
from foothold.solvers import anatomy, rotation  # noqa: E402
from foothold.solvers.contacts import performer  # noqa: E402
from foothold.solvers.fit import flesh  # noqa: E402
from foothold.solvers.skeleton import rest_motion  # noqa: E402
from foothold.solvers.transfer import Figure  # noqa: E402

BODIES = ("same_as_performer", "short_arms", "stocky", "tall", "chibi", "long_arms_short_legs", "fbx_scale",
          "twist_bones")
CHARACTERS = ("makehuman_cc0/mh_rigify_female.glb", "makehuman_cc0/mh_cmu_male_old.glb", "rocketbox/Male_Adult_01.fbx",
              "kaykit_adventurers/Knight.glb")


def figure_of(armature):
    skeleton = read.read_skeleton(armature)
    table = {role: skeleton.names.index(bone) for role, bone in roles.load(armature).items()}
    return Figure(skeleton, table, rest_motion(skeleton))


def bring(path):
    """(armature, Figure, Skin) of a file in an empty scene."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    armature = files.import_file(str(path)).armatures[0]
    figure = figure_of(armature)
    return armature, figure, skin.read_skin(armature, figure.skeleton)


@pytest.fixture(scope="module", params=BODIES)
def body(request, data):
    truth = json.loads((data / "bodies/bodies.json").read_text())["bodies"][request.param]
    return (*bring(data / f"bodies/{request.param}.blend"), truth)


@pytest.fixture(scope="module", params=CHARACTERS)
def character(request, data):
    return bring(data / "characters" / request.param)


@pytest.fixture
def rig():
    """A body of boxes, one a bone, that stands in another pose."""
    rigs.new_file()
    armature = rigs.humanoid("Body", seed=3, mesh=True)
    armature.location, armature.rotation_euler = (1.0, 2.0, 0.0), (0.0, 0.0, 0.7)
    rigs.dance(armature)
    bpy.context.scene.frame_set(30)
    return armature, bpy.data.objects["Body skin"]


def test_all_skin_is_read_at_rest_in_metres(body):
    _, figure, found, truth = body
    assert len(found.points) == truth["vertices"] and len(found.faces) == 2 * truth["quads"]
    assert np.ptp(found.points[:, 2]) == pytest.approx(truth["stature"], abs=5e-4)
    assert np.allclose(found.weights.sum(axis=1), 1.0) and not found.rigid.any()
    assert np.all(np.diff(found.weights, axis=1) <= 0.0) and np.all((found.bones >= 0) == (found.weights > 0.0))
    own, names = flesh.owners(figure, found)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        assert np.all(sign * found.points[own == names.index(f"foot.{side}"), 0] > 0.0)


def test_soles_lie_on_the_floor(body):
    """Heel and ball of every body touch the floor on which it stands, under its own skin, and are mirrored."""
    _, figure, found, truth = body
    soles = flesh.soles(figure, found)
    assert soles.notes == []
    leg = truth["lengths"]["leg"]
    for side in "LR":
        ankle = figure.rest.positions[0, figure.roles[f"foot.{side}"]]
        toe = figure.rest.positions[0, figure.roles[f"toe.{side}"]]
        assert soles.lowest[side] == pytest.approx(0.0, abs=1e-4)
        heel, ball = (performer.place(soles.points[f"{part}.{side}"], figure.rest)[0] for part in ("heel", "ball"))
        assert heel[2] == pytest.approx(0.0, abs=1e-4) and ball[2] == pytest.approx(0.0, abs=1e-4)
        assert 0.03 * leg < heel[1] - ankle[1] < 0.09 * leg  # behind the ankle
        assert ball[:2] == pytest.approx(toe[:2], abs=0.004)
    assert mirrored(figure, soles.points) < 1e-3


def mirrored(figure, points):
    """The largest difference in metres between points of the left and, mirrored, of the right."""
    places = {name: performer.place(point, figure.rest)[0] for name, point in points.items()}
    return max(np.abs(place * [-1.0, 1.0, 1.0] - places[name[:-1] + "R"]).max()
               for name, place in places.items() if name[-1] == "L")


def test_palms_lie_on_the_skin(body):
    """Between wrist and knuckles, on the side that looks down in a T-pose; nearer than a performer's palm would be."""
    _, figure, found, truth = body
    palms, notes = flesh.palms(figure, found)
    assert notes == [] and set(palms) == {"L", "R"}
    guess = performer.palms(figure)
    for side, palm in palms.items():
        forearm = truth["lengths"]["forearm"]
        assert 0.2 < palm.offset @ palm.along / forearm < 0.4
        assert np.degrees(rotation.vector_angle(palm.out, guess[side].out)) < 4.0
        place = performer.place(palm, figure.rest)[0]
        assert from_skin(found, place) < 5e-4
        assert from_skin(found, performer.place(guess[side], figure.rest)[0]) > from_skin(found, place)
    assert mirrored(figure, palms) < 1e-3


def from_skin(found, place):
    """The distance in metres of a place (3,) from the nearest of points spread over the faces about it."""
    corners = found.points[found.faces]
    corners = corners[np.linalg.norm(corners.mean(axis=1) - place, axis=-1) < 0.05]
    a, b = np.meshgrid(np.linspace(0.0, 1.0, 21), np.linspace(0.0, 1.0, 21))
    a, b = a[a + b <= 1.0], b[a + b <= 1.0]
    spread = np.stack([1.0 - a - b, a, b], axis=-1) @ corners
    return float(np.linalg.norm(spread - place, axis=-1).min())


def test_the_trunk_is_as_wide_and_deep_as_it_was_made(body):
    """From the spine's base to 60 % of the way up to the neck."""
    _, figure, found, truth = body
    place = figure.rest.positions[0]
    base, top = (place[figure.roles[role], 2] for role in ("spine", "neck"))
    chain, parts = anatomy.torso(figure.roles), np.linspace(0.0, 1.0, 41)
    rows = []
    for role, above in zip(chain, [*chain[1:], "neck"]):
        start, way = place[figure.roles[role]], place[figure.roles[above]] - place[figure.roles[role]]
        axis = start + parts[:, None] * way
        side, front, behind = flesh.thickness(figure, found, role, parts).T
        low = axis[:, 2] <= base + 0.6 * (top - base)
        rows.append(np.stack([side, front - axis[:, 1], behind + axis[:, 1]], axis=1)[low])
    side, front, behind = np.concatenate(rows).max(axis=0)
    assert side == pytest.approx(truth["torso_half_width"], rel=0.01)
    assert front + behind == pytest.approx(truth["torso_depth"], rel=0.02)


def test_limbs_get_thinner_towards_their_ends(body):
    _, figure, found, truth = body
    for chain in (("upper_arm", "forearm"), ("thigh", "shin")):
        for side in "LR":
            upper, lower = (flesh.thickness(figure, found, f"{part}.{side}", [0.3, 0.5, 0.9]) for part in chain)
            assert np.all(upper > lower[-1]) and upper[0] > upper[-1]
            assert upper[-1] == pytest.approx(flesh.thickness(figure, found, f"{chain[1]}.{side}", 0.1)[0], rel=0.15)
            size = sum(truth["lengths"][part] for part in chain)
            assert 0.04 < lower[-1] / size < 0.11


def test_other_axes_and_scales_give_the_same_flesh(data):
    """A body in metres, and the same in centimetres, Y up, under an object that is scaled and turned."""
    a, b = ([*bring(data / f"bodies/{name}.blend")[1:]] for name in ("same_as_performer", "fbx_scale"))
    for measure in (lambda f, s: flesh.soles(f, s).points, lambda f, s: flesh.palms(f, s)[0]):
        one, other = measure(*a), measure(*b)
        for name in one:
            assert performer.place(one[name], a[0].rest) == pytest.approx(performer.place(other[name], b[0].rest),
                                                                          abs=1e-4)
    parts = [0.1, 0.5, 0.9]
    for role in ("upper_arm.L", "shin.R", "spine"):
        assert flesh.thickness(*a, role, parts) == pytest.approx(flesh.thickness(*b, role, parts), abs=1e-4)


def test_characters_are_measured_too(character):
    armature, figure, found = character
    soles, (palms, notes) = flesh.soles(figure, found), flesh.palms(figure, found)
    assert soles.notes == [] and notes == []
    for side in "LR":
        assert soles.lowest[side] == pytest.approx(0.0, abs=0.002)
        for part in ("heel", "ball"):
            assert performer.place(soles.points[f"{part}.{side}"], figure.rest)[0, 2] == pytest.approx(0.0, abs=0.005)
        assert from_skin(found, performer.place(palms[side], figure.rest)[0]) < 0.003
    if armature.name.startswith("mh_"):  # palms that are turned ahead a little, seen by knuckles and by skin alone
        angle = np.degrees(rotation.vector_angle(palms["L"].out, performer.palms(figure)["L"].out))
        assert 12.0 < angle < 30.0


def test_armour_is_known_from_skin(data):
    _, figure, found = bring(data / "characters/kaykit_adventurers/Knight.glb")
    own, names = flesh.owners(figure, found)
    assert found.rigid.any() and np.all(own[found.rigid] < 0)  # swords, shields, cape and helmet
    assert (own == names.index("head")).any()


@pytest.mark.parametrize("name", ["bodies/twist_bones.blend", "characters/cesium_man/CesiumMan.glb"])
def test_nothing_in_the_file_changes(data, name):
    armature, figure, _ = bring(data / name)
    bpy.context.scene.frame_set(7)
    whole_file.snapshot()  # looking at some meshes for the first time changes them
    before = whole_file.snapshot()
    skin.read_skin(armature, figure.skeleton)
    assert whole_file.diff(before, whole_file.snapshot()) == []


def test_a_fault_on_the_way_changes_nothing_either(rig, monkeypatch):
    armature, _ = rig
    figure = figure_of(armature)
    before = whole_file.snapshot()

    def fail(*_):
        raise RuntimeError("on purpose")

    monkeypatch.setattr(skin, "_read", fail)
    with pytest.raises(RuntimeError, match="on purpose"):
        skin.read_skin(armature, figure.skeleton)
    assert whole_file.diff(before, whole_file.snapshot()) == []


def test_the_pose_has_no_say(rig):
    """The boxes lie about the heads of their bones in the rest, in the world, whatever the pose."""
    armature, _ = rig
    figure = figure_of(armature)
    found = skin.read_skin(armature, figure.skeleton)
    middles = found.points.reshape(-1, 8, 3).mean(axis=1)
    order = [figure.skeleton.names.index(bone.name) for bone in armature.data.bones]
    assert middles == pytest.approx(figure.rest.positions[0, order], abs=1e-5)
    assert np.array_equal(found.bones[::8, 0], order) and np.all(found.weights[:, 0] == 1.0)
    assert armature.data.pose_position == "POSE"


def test_a_rig_that_is_hidden_still_has_its_skin(rig):
    armature, mesh = rig
    skeleton = read.read_skeleton(armature)
    plain = skin.read_skin(armature, skeleton)
    armature.hide_viewport = True
    armature.hide_set(True)
    bpy.context.view_layer.update()
    assert np.array_equal(skin.read_skin(armature, skeleton).points, plain.points)
    assert armature.hide_viewport and armature.hide_get()


def test_the_skin_lies_where_the_skeleton_does(rig):
    """Not where the object has gone since it was read."""
    armature, _ = rig
    skeleton = read.read_skeleton(armature)
    before = skin.read_skin(armature, skeleton)
    armature.location.z += 5.0
    bpy.context.view_layer.update()
    assert skin.read_skin(armature, skeleton).points == pytest.approx(before.points, abs=1e-5)


def test_a_mesh_that_is_deformed_is_no_armour_whatever_it_hangs_from(rig):
    armature, mesh = rig
    skeleton = read.read_skeleton(armature)
    mesh.parent_type, mesh.parent_bone = "BONE", "hips"
    bpy.context.view_layer.update()
    found = skin.read_skin(armature, skeleton)
    assert not found.rigid.any() and len(np.unique(found.bones[:, 0])) == len(skeleton.names)


def test_a_body_without_a_mesh_has_no_skin():
    rigs.new_file()
    armature = rigs.humanoid("Bare")
    skeleton = read.read_skeleton(armature)
    assert skin.read_skin(armature, skeleton) is None
    mesh = bpy.data.objects.new("Beside", bpy.data.meshes.new("Beside"))
    bpy.context.scene.collection.objects.link(mesh)
    mesh.modifiers.new("Armature", "ARMATURE").object = armature
    bpy.context.view_layer.update()
    assert skin.read_skin(armature, skeleton) is None  # a mesh without vertices


@pytest.mark.parametrize("hide", [
    lambda ob: ob.hide_set(True), lambda ob: setattr(ob, "hide_viewport", True),
    lambda ob: setattr(ob, "hide_render", True), lambda ob: setattr(ob, "display_type", "WIRE"),
    lambda ob: setattr(ob.modifiers[0], "show_viewport", False), lambda ob: setattr(ob.modifiers[0], "object", None)])
def test_what_is_hidden_or_does_not_follow_is_no_skin(rig, hide):
    armature, mesh = rig
    skeleton = read.read_skeleton(armature)
    assert skin.read_skin(armature, skeleton) is not None
    hide(mesh)
    bpy.context.view_layer.update()
    assert skin.read_skin(armature, skeleton) is None


def test_shape_keys_and_modifiers_count_as_they_are_seen(rig):
    armature, mesh = rig
    skeleton = read.read_skeleton(armature)
    plain = skin.read_skin(armature, skeleton)
    mesh.shape_key_add(name="Basis")
    key = mesh.shape_key_add(name="Up")
    for point in key.data:
        point.co.z += 0.2
    key.value = 0.5
    bpy.context.view_layer.update()
    raised = skin.read_skin(armature, skeleton)
    assert raised.points - plain.points == pytest.approx(np.tile([0.0, 0.0, 0.1], (len(plain.points), 1)), abs=1e-5)
    for frame, value in ((29, 0.0), (31, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    bpy.context.scene.frame_set(31)
    moved = skin.read_skin(armature, skeleton)
    assert moved.points - plain.points == pytest.approx(np.tile([0.0, 0.0, 0.2], (len(plain.points), 1)), abs=1e-5)
    mesh.modifiers.new("Finer", "SUBSURF").levels = 1
    fine = skin.read_skin(armature, skeleton)
    assert len(fine.points) > 3 * len(plain.points) and len(fine.points) == len(fine.weights) == len(fine.bones)
    assert np.all(fine.weights[:, 0] > 0.99) and fine.faces.max() < len(fine.points)


def test_a_mesh_that_hangs_from_a_bone_is_wholly_that_bones(rig):
    armature, body = rig
    figure = figure_of(armature)
    before = len(skin.read_skin(armature, figure.skeleton).points)
    mesh = bpy.data.meshes.new("Plate")
    mesh.from_pydata([(0, 0, 0), (0.1, 0, 0), (0, 0.2, 0)], [], [(0, 1, 2)])
    plate, rivet = bpy.data.objects.new("Plate", mesh), bpy.data.objects.new("Rivet", mesh)
    beside = bpy.data.objects.new("Beside", mesh)
    for ob in (plate, rivet, beside):
        bpy.context.scene.collection.objects.link(ob)
    plate.parent, plate.parent_type, plate.parent_bone = armature, "BONE", "forearm.L"
    rivet.parent, rivet.scale = plate, (-1.0, 1.0, 1.0)
    beside.parent = armature  # moves with the object, and with no bone
    bpy.context.view_layer.update()
    found = skin.read_skin(armature, figure.skeleton)
    hung = found.rigid
    assert hung.sum() == 6 and len(found.points) == before + 6
    assert np.all(found.bones[hung, 0] == figure.skeleton.names.index("forearm.L"))
    assert np.all(found.bones[hung, 1:] == -1) and np.all(found.weights[hung] == [1.0, 0.0, 0.0, 0.0])
    bone = armature.data.bones["forearm.L"]
    tail = figure.skeleton.world @ np.append(np.array(bone.tail_local), 1.0)  # Blender hangs children from the tail
    turn = rotation.to_matrix(figure.rest.rotations[0, figure.roles["forearm.L"]])
    local = np.array([vertex.co for vertex in mesh.vertices])
    assert found.points[hung][:3] == pytest.approx(tail[:3] + local @ turn.T, abs=1e-5)
    assert found.points[hung][3:] == pytest.approx(tail[:3] + (local * [-1.0, 1.0, 1.0]) @ turn.T, abs=1e-5)
    normals = [np.cross(b - a, c - a) for a, b, c in found.points[found.faces[-2:]]]
    assert normals[0] == pytest.approx(normals[1], abs=1e-6)  # the mirrored one shows the same side


def test_only_the_largest_weights_of_bones_that_deform_are_kept(rig):
    armature, mesh = rig
    names = [bone.name for bone in armature.data.bones[:6]]
    for k, name in enumerate(names):
        mesh.vertex_groups[name].add([0], 0.1 * (k + 1), "REPLACE")
    armature.data.bones[names[5]].use_deform = False
    mesh.vertex_groups.new(name="No bone").add([0], 1.0, "REPLACE")
    skeleton = read.read_skeleton(armature)
    found = skin.read_skin(armature, skeleton)
    assert [skeleton.names[j] for j in found.bones[0]] == names[4:0:-1]
    assert found.weights[0] == pytest.approx(np.array([5.0, 4.0, 3.0, 2.0]) / 14.0, abs=1e-6)


def test_a_heavy_mesh_is_read_fast(data):
    armature, figure, _ = bring(data / "bodies/stocky.blend")
    mesh = next(ob for ob in bpy.context.scene.objects if ob.type == "MESH")
    mesh.modifiers.new("Finer", "SUBSURF").levels = 2
    start = time.perf_counter()
    found = skin.read_skin(armature, figure.skeleton)
    read_in = time.perf_counter() - start
    flesh.soles(figure, found), flesh.palms(figure, found)
    assert len(found.points) > 100000
    assert read_in < 4.0 and time.perf_counter() - start - read_in < 2.0
