"""Contacts of real takes and of pole takes with exact truth, read through Blender."""

import json

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from foothold.operators import cli, contacts, guess, job  # noqa: E402
from foothold.operators.bridge import compat, files, props, roles  # noqa: E402
from foothold.solvers.contacts import script  # noqa: E402
from foothold.solvers.errors import FootholdError  # noqa: E402


def read(path, prop="auto", action=None):
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    take = files.import_file(str(path)).armatures[0]
    if action is not None:
        compat.assign(take, bpy.data.actions[action])
    roles.store(take, roles.detect(take).roles)
    choice, _ = guess.rest_of(take, path)
    return job.run(contacts.extract_steps(bpy.context.scene, job.BakeSettings(take, None, choice), prop))


@pytest.fixture(scope="module", params=["seed1", "seed2"])
def pole(request, data):
    """(the take's name, its truth, masks of it, the script)."""
    folder = data / "pole" / request.param
    truth = json.loads((folder / "truth.json").read_text())
    return request.param, truth, np.load(folder / "truth.npz"), read(folder / "take.bvh")


def mask(found, effector, kind):
    out = np.zeros(found.frames, bool)
    for c in found.contacts:
        if c.effector == effector and c.kind == kind:
            out[int(round(c.start * found.fps)):int(round(c.end * found.fps)) + 1] = True
    return out


def f1(a, b):
    return 2.0 * np.sum(a & b) / (a.sum() + b.sum())


SIDES = (("L", "Left"), ("R", "Right"))


def test_the_pole_is_where_the_truth_has_it(pole):
    name, truth, _, found = pole
    (prop,) = found.props
    x, y, z = truth["pole"]["point"]
    point = np.array([x, -z, y])  # the truth's Y points up
    dx, dy, dz = truth["pole"]["direction"]
    axis = np.array([dx, -dz, dy])
    off = 0.002 if name == "seed1" else 0.005
    for height in (1.2, 1.6, 1.95):
        mine = np.array(prop.point) + np.array(prop.axis) * (height - prop.point[2]) / prop.axis[2]
        assert np.linalg.norm(mine - point - axis * (height - point[2]) / axis[2]) < off
    assert np.degrees(np.arccos(np.clip(np.dot(prop.axis, axis), -1, 1))) < (0.05 if name == "seed1" else 0.3)
    assert abs(prop.radius - truth["pole"]["radius"]) < 0.005


def test_grips_agree_with_the_truth(pole):
    name, truth, masks, found = pole
    for side, word in SIDES:
        assert f1(mask(found, f"hand.{side}", "grip"), masks[f"grip_{word}"]) >= 0.985
        mine = [c for c in found.contacts if c.effector == f"hand.{side}" and c.kind == "grip"]
        true = [g for g in truth["grips"] if g["hand"] == word]
        assert len(mine) == len(true) and {c.surface for c in mine} == {"pole"}
        if name == "seed1":
            for c, g in zip(mine, true):
                assert abs(c.start * 60.0 - g["start_frame"]) <= 2.5 and abs(c.end * 60.0 - g["end_frame"]) <= 2.5


def test_plants_agree_with_the_truth(pole):
    _, truth, masks, found = pole
    for side, word in SIDES:
        assert f1(mask(found, f"foot.{side}", "plant"), masks[f"plant_{word}"]) >= 0.97
        assert sum(c.effector == f"foot.{side}" and c.kind == "plant" for c in found.contacts) == \
            sum(p["foot"] == word for p in truth["plants"])


def test_clasp_and_hands_on_hips_agree_with_the_truth(pole):
    _, truth, _, found = pole
    fps = found.fps
    (clasp,) = [c for c in found.contacts if c.kind == "clasp"]
    assert {clasp.effector, clasp.surface} == {"hand.L", "hand.R"}
    (true,) = truth["clasped_behind_back"]
    assert (clasp.start, clasp.end) == pytest.approx((true["start"], true["end"]), abs=10.0 / fps)
    (true,) = truth["hands_on_hips"]
    for side, _ in SIDES:
        (one,) = [c for c in found.contacts if c.effector == f"hand.{side}" and c.kind == "rest-on"]
        assert one.surface == "hips"
        assert (one.start, one.end) == pytest.approx((true["start"], true["end"]), abs=10.0 / fps)


NO_HOLDS = ("takes/cmu_bvh60/02_01.bvh", "takes/cmu_bvh60/02_03.bvh", "takes/cmu_bvh60/02_04.bvh",
            "takes/cmu_bvh60/02_05.bvh", "takes/cmu_cgspeed_bvh/01_01.bvh", "takes/cmu_fbx_isaacgym/07_01_cmu.fbx",
            "takes/cmu_fbx_isaacgym/55_01_cmu.fbx", "takes/animated_drawings/jumping.bvh")


@pytest.mark.parametrize("name", NO_HOLDS)
def test_no_grip_and_no_prop_where_hands_hold_nothing(data, name):
    found = read(data / name)
    assert not found.props and not [c for c in found.contacts if c.kind in ("grip", "clasp")]
    assert any(note.startswith("No pole") for note in found.notes)
    assert [c for c in found.contacts if c.kind == "plant"]


@pytest.mark.parametrize("name", ["01_06", "01_09"])
def test_hands_on_a_playground_hold_fixed_places(data, name):
    found = read(data / f"takes/cmu_bvh60/{name}.bvh")
    grips = [c for c in found.contacts if c.kind == "grip"]
    assert len(grips) >= 8, len(grips)
    assert {c.effector for c in grips} == {"hand.L", "hand.R"}
    assert all(p.kind == "place" for p in found.props)
    high = [c for c in grips if next(p for p in found.props if p.name == c.surface).point[2] > 1.8]
    assert high, "the bar overhead"
    for c in grips:  # a place that is held is fixed: the palm stays within some centimetres of it
        assert max(np.ptp(c.path[axis]) for axis in "xyz") < 0.2


# read by eye off the speeds of ankle and toe joint: from where the foot comes to rest to where the toe joint leaves;
# frames counted from 0. Where a foot stands when the take begins or ends, so does the plant.
WALKS = {
    "takes/cmu_bvh60/02_01.bvh": {"L": [(0, 39), (69, 105), (135, 171)],
                                  "R": [(0, 7), (36, 73), (104, 139), (168, 171)]},
    "takes/cmu_bvh60/02_03.bvh": {"L": [(28, 37), (75, 84)], "R": [(5, 15), (52, 61)]},
    "takes/cmu_fbx_isaacgym/07_01_cmu.fbx": {"L": [(62, 134), (195, 262)], "R": [(0, 66), (130, 197), (260, 316)]},
}


@pytest.mark.parametrize("name", WALKS)
def test_plants_of_walks_agree_with_a_reading_of_the_feet(data, name):
    found = read(data / name)
    for side, spans in WALKS[name].items():
        true = np.zeros(found.frames, bool)
        for first, last in spans:
            true[first:last + 1] = True
        mine = mask(found, f"foot.{side}", "plant")
        listed = [c for c in found.contacts if c.effector == f"foot.{side}" and c.kind == "plant"]
        assert len(listed) == len(spans)
        assert f1(mine, true) >= 0.85
        for c, (first, last) in zip(listed, spans):
            assert (c.start, c.end) == pytest.approx((first / found.fps, last / found.fps), abs=0.1)


# Props of the scene

def cylinder(location=(0.0, 0.0, 1.0), rotation=(0.0, 0.0, 0.0), radius=0.03, depth=2.0, scale=(1.0, 1.0, 1.0)):
    bpy.ops.mesh.primitive_cylinder_add(radius=radius, depth=depth, location=location, rotation=rotation, vertices=24)
    bpy.context.object.scale = scale
    bpy.context.view_layer.update()
    return bpy.context.object


def of_object(thing, frames=np.arange(1.0, 11.0)):
    return job.run(props.of_object_steps(bpy.context.scene, thing, frames))


@pytest.fixture
def empty():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def test_a_mesh_cylinder_is_a_cylinder_however_it_lies(empty):
    prop, surface = of_object(cylinder((1.0, 2.0, 1.0), (0.0, np.pi / 2.0, 0.3), scale=(2.0, 2.0, 1.0)))
    assert prop.kind == "cylinder" and surface is None and prop.radius == pytest.approx(0.06, abs=1e-6)
    assert np.abs(np.abs(prop.axis) - [np.cos(0.3), np.sin(0.3), 0.0]).max() < 1e-6
    assert np.allclose(prop.point, (1.0, 2.0, 1.0), atol=1e-6) and prop.source == "artist"


def test_a_cylinder_that_moves_takes_its_surface_along(empty):
    thing = cylinder()
    thing.keyframe_insert("location", frame=1)
    thing.location.x = 0.9
    thing.keyframe_insert("location", frame=10)
    prop, surface = of_object(thing)
    assert prop.kind == "cylinder" and surface is not None
    path = np.tile([0.5, 0.0, 1.2], (10, 1))
    distance, own = surface(path)
    assert distance[0] == pytest.approx(0.47, abs=1e-5) and distance[-1] == pytest.approx(0.37, abs=1e-5)
    assert own[0] == pytest.approx((0.5, 0.0, 0.2), abs=1e-5)


def test_a_box_and_a_mesh_give_signed_distances(empty):
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0.0, 0.0, 0.5))
    box = bpy.context.object
    box.scale = (2.0, 1.0, 1.0)
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.5, segments=64, ring_count=32, location=(0.0, 0.0, 2.0))
    sphere = bpy.context.object
    bpy.context.view_layer.update()
    path = np.array([[1.5, 0.0, 0.5], [0.0, 0.0, 0.9], [0.0, 0.0, 2.0], [0.0, 0.8, 2.0]])
    prop, surface = of_object(box)
    assert prop.kind == "box" and prop.size == pytest.approx((2.0, 1.0, 1.0))
    assert surface(path)[0][:2] == pytest.approx((0.5, -0.1), abs=1e-6)
    prop, surface = of_object(sphere)
    assert prop.kind == "mesh" and surface(path)[0][2:] == pytest.approx((-0.5, 0.3), abs=5e-3)


def test_an_oval_is_no_cylinder_and_a_six_sided_prism_is_one(empty):
    """Seen from the side the corners of a slim oval lie nearly as far from the middle as those of a cylinder."""
    assert of_object(cylinder(scale=(1.0, 2.5, 1.0), radius=0.023, depth=3.0))[0].kind == "mesh"
    bpy.ops.mesh.primitive_cylinder_add(radius=0.1, depth=1.0, vertices=6)
    assert of_object(bpy.context.object)[0].kind == "cylinder"


def test_a_flat_mesh_is_a_plane_whose_axis_is_its_normal(empty):
    bpy.ops.mesh.primitive_plane_add(size=4.0, location=(0.0, 1.0, 1.0), rotation=(np.pi / 2.0, 0.0, 0.0))
    bpy.context.view_layer.update()
    prop, surface = of_object(bpy.context.object)
    assert prop.kind == "plane" and prop.point == pytest.approx((0.0, 1.0, 1.0), abs=1e-6)
    assert np.abs(prop.axis) == pytest.approx((0.0, 1.0, 0.0), abs=1e-6)
    assert abs(surface(np.array([[0.5, 0.7, 1.2]]))[0][0]) == pytest.approx(0.3, abs=1e-5)


def mesh_of(name, points, edges=(), faces=()):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, edges, faces)
    thing = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(thing)
    return thing


@pytest.mark.parametrize("name, points, edges, faces, told", [
    ("Wire", [(0, 0, 0), (0, 0, 1), (0, 1, 2)], [(0, 1)], [], "Wire.*no faces"),
    ("Broken", [(0, 0, 0), (0, 1, float("nan")), (1, 0, 2)], [], [(0, 1, 2)], "Broken.*vertex 1"),
    ("head", [(0, 0, 0), (0, 1, 1), (1, 0, 2)], [], [(0, 1, 2)], "head.*another name"),
    ("floor", [(0, 0, 0), (0, 1, 1), (1, 0, 2)], [], [(0, 1, 2)], "floor.*another name")])
def test_meshes_that_cannot_be_touched_are_named(empty, name, points, edges, faces, told):
    with pytest.raises(FootholdError, match=told):
        of_object(mesh_of(name, points, edges, faces))


def test_what_cannot_be_a_prop_is_named(empty):
    nothing = bpy.data.objects.new("Nothing", None)
    bpy.context.scene.collection.objects.link(nothing)
    with pytest.raises(FootholdError, match="Nothing.*surface"):
        of_object(nothing)
    flat = cylinder(scale=(1.0, 1.0, 0.0))
    with pytest.raises(FootholdError, match="scale of zero"):
        of_object(flat)


def test_an_object_stands_for_the_pole(data, pole):
    name, truth, masks, _ = pole
    folder = data / "pole" / name
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    take = files.import_file(str(folder / "take.bvh")).armatures[0]
    roles.store(take, roles.detect(take).roles)
    choice, _ = guess.rest_of(take, folder / "take.bvh")
    x, y, z = truth["pole"]["point"]
    thing = cylinder((x, -z, 1.5), radius=0.023, depth=3.0)
    found = job.run(contacts.extract_steps(bpy.context.scene, job.BakeSettings(take, None, choice), thing))
    (prop,) = found.props
    assert prop.object == thing.name and prop.radius == pytest.approx(0.023, abs=2e-5)
    for side, word in SIDES:
        assert f1(mask(found, f"hand.{side}", "grip"), masks[f"grip_{word}"]) >= 0.98


# The command line

def test_the_command_writes_script_and_pictures(data, tmp_path, capfd):
    take = str(data / "pole/seed1/take.bvh")
    out = tmp_path / "script.json"
    plot = str(tmp_path / "plot.png")
    assert cli.main(["contacts", "--take", take, "--out", str(out), "--plot", plot, "--json"]) == 0
    summary = json.loads(capfd.readouterr().out)
    found = script.from_json(out.read_text(encoding="utf-8"), out.name)
    assert len(found.contacts) == sum(row["count"] for row in summary["contacts"])
    image = bpy.data.images.load(plot)
    assert image.size[0] > 1000 and np.ptp(np.array(image.pixels[:4000])) > 0.0
    assert cli.main(["contacts", "--take", take, "--out", str(tmp_path / "again.json"), "--prop", "auto",
                     "--plot", str(tmp_path / "plot.svg")]) == 0
    assert (tmp_path / "again.json").read_bytes() == out.read_bytes()
    assert (tmp_path / "plot.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize("words, told", [
    (["--prop", "Stick"], "no such object"), (["--prop", "1,2,3"], "four numbers"),
    (["--prop", "0,0,0,-1"], "radius"),
    (["--prop", "1e300,0,0,0.02"], "four numbers"), (["--prop", "nan,0,0,0.02"], "four numbers"),
    (["--prop", "0,0,0,0.02,0,0,0"], "direction"),
    (["--rest", "take:99999"], "99999"), (["--plot", "plot.gif"], "gif"), (["--out", "script.txt"], "txt")])
def test_wrong_words_are_named_and_nothing_is_written(data, tmp_path, monkeypatch, capfd, words, told):
    monkeypatch.chdir(tmp_path)
    arguments = ["contacts", "--take", str(data / "takes/cmu_bvh60/02_03.bvh"), "--out", "script.json", *words]
    assert cli.main(arguments) == 3
    assert told in capfd.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_pole_in_numbers(data, tmp_path):
    out = tmp_path / "script.json"
    assert cli.main(["contacts", "--take", str(data / "pole/seed1/take.bvh"), "--prop", "0,0,0,0.023", "--out",
                     str(out)]) == 0
    found = script.from_json(out.read_text(encoding="utf-8"))
    assert found.props[0].source == "artist" and sum(c.kind == "grip" for c in found.contacts) == 7


@pytest.fixture
def stage_file(data, tmp_path):
    """A .blend with the pole take and props beside it, which the take does not carry along."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    files.import_file(str(data / "pole/seed1/take.bvh"))
    cylinder((0.0, 0.0, 1.5), (np.pi, 0.0, 0.0), 0.023, 3.0).name = "Stange \u00fc"
    parent = bpy.data.objects.new("Rig of the stick", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.location = (0.0, 0.0, 1.5)
    stick = cylinder((0.0, 0.0, 0.0), radius=0.023, depth=3.0)
    stick.name, stick.parent = "Stick", parent
    path = tmp_path / "stage.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return str(path)


@pytest.mark.parametrize("name", ["Stange \u00fc", "Stick"])
def test_an_object_in_the_file_of_the_take_is_the_prop(data, tmp_path, stage_file, name):
    out = tmp_path / "script.json"
    assert cli.main(["contacts", "--take", stage_file, "--rest", str(data / "pole/seed1/tpose.bvh"), "--prop", name,
                     "--out", str(out)]) == 0
    found = script.from_json(out.read_text(encoding="utf-8"))
    (prop,) = found.props
    assert (prop.name, prop.object, prop.kind) == (name, name, "cylinder")
    assert prop.radius == pytest.approx(0.023, abs=1e-4)
    grips = [c for c in found.contacts if c.kind == "grip"]
    assert len(grips) == 7 and {c.surface for c in grips} == {name}
    for c in grips:  # heights along the axis from the point, as the script says
        heights = np.array(prop.point)[2] + np.array(c.path["height"]) * prop.axis[2]
        assert 1.1 < heights.min() and heights.max() < 2.1


def test_objects_of_the_file_are_told_where_none_is_called_so(tmp_path, stage_file, capfd):
    assert cli.main(["contacts", "--take", stage_file, "--prop", "Moon", "--out", str(tmp_path / "script.json")]) == 3
    told = capfd.readouterr().err
    assert "Rig of the stick, Stange \u00fc, Stick" in told and not (tmp_path / "script.json").exists()


@pytest.mark.parametrize("action, lying, slides", [("Lie_Idle", True, False), ("Sit_Floor_Down", False, False),
                                                   ("Walking_A", False, True), ("Running_A", False, True)])
def test_hand_keyed_clips_have_their_files_floor(data, action, lying, slides):
    """The floor at the height zero, however the clip touches it; its rest's soles are laid out 16 mm over it."""
    found = read(data / "characters/kaykit_adventurers/Knight.glb", action=action)
    assert found.floor == pytest.approx(0.0, abs=0.03)
    feet = [c for c in found.contacts if c.effector.startswith("foot")]
    assert not feet or not lying, "the feet are in the air"
    assert not slides or not [c for c in feet if c.kind == "plant"]


@pytest.mark.parametrize("name, action, rests", [("Med_MovementAdvanced", "Crouching", {"foot.L", "foot.R"}),
                                                 ("Med_Simulation", "Push_Ups", {"hand.L", "hand.R"})])
def test_clips_without_the_way_of_their_hips_are_put_onto_the_floor(data, name, action, rests):
    """The ground of the file, as of the clips above; what rests there slides, for the hips are held ahead and aside."""
    found = read(data / f"takes/kaykit_anims/{name}.glb", action=f"Rig_Medium|{action}")
    assert found.grounded and found.floor == pytest.approx(0.0, abs=0.03)
    on_floor = [c for c in found.contacts if c.surface == "floor"]
    assert {c.effector for c in on_floor} == rests and {c.kind for c in on_floor} == {"rest-on"}
    assert any("hips never move" in note for note in found.notes)
