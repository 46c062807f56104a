"""Bad input on the command line: the exit code, a message that names the thing, and nothing left behind."""

import json

import pytest

bpy = pytest.importorskip("bpy")

import rigs  # noqa: E402
from mathutils import Matrix  # noqa: E402

from foothold.operators import cli, guess, job, tasks, terminal  # noqa: E402
from foothold.operators.bridge import compat, files, roles  # noqa: E402
from foothold.solvers.errors import FootholdError  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a sound take.bvh and body.blend, and all sorts of files that are not."""
    out = tmp_path_factory.mktemp("bad")

    def save(name):
        bpy.ops.wm.save_as_mainfile(filepath=str(out / f"{name}.blend"), copy=True)

    rigs.new_file()
    take = rigs.humanoid("Performer")
    rigs.dance(take)
    files.export_file(str(out / "take.bvh"), take, [], (1, 60), 60.0)
    files.export_file(str(out / "one.bvh"), take, [], (1, 1), 60.0)
    rigs.humanoid("Audience", root=True)  # one bone more, and no motion
    save("two")
    rigs.new_file()
    hero = rigs.humanoid("Hero", arm=0.8, leg=0.9, seed=3, mesh=True)
    save("body")
    hero[roles.HINTS] = "nonsense"
    save("hints")
    hero[roles.HINTS] = "[1, 2]"
    save("hints list")
    rigs.new_file()
    with bpy.data.libraries.load(str(out / "body.blend"), link=True) as (source, target):
        target.objects = source.objects
    for thing in target.objects:
        bpy.context.scene.collection.objects.link(thing)
    save("linked")
    rigs.new_file()
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Bare", bpy.data.armatures.new("Bare")))
    save("no bones")
    rigs.new_file()
    rigs.humanoid("Take")
    rigs.humanoid("Body")
    save("still")
    rigs.new_file()
    for name in ("Take", "Body"):
        rigs.dance(rigs.humanoid(name))
    bpy.data.objects["Body"].scale = (0.0, 0.0, 0.0)
    save("flat")
    (out / "folder.json").mkdir()
    (out / "deep.json").write_text("[" * 100000)
    return out


def run(*words):
    return cli.main([str(w) for w in words])


def bake_words(folder, out, *more):
    return ("bake", "--take", folder / "take.bvh", "--body", folder / "body.blend", "--out", out, *more)


def refused(capfd, tmp_path, words, *told):
    """Whether the words are bad input whose message holds all of `told`, and leave nothing in tmp_path."""
    before = set(tmp_path.iterdir())
    assert run(*words) == cli.BAD_INPUT
    answer = capfd.readouterr()
    assert all(word in answer.err for word in told), answer.err
    # a Blender with its own executable keeps its greeting in C's buffer until the first flush
    out = [line for line in answer.out.splitlines() if not line.startswith("Blender ")]
    assert "Traceback" not in answer.err and not out and set(tmp_path.iterdir()) == before


BAD_BAKES = {
    "linked body": (["--body", "{folder}/linked.blend"], "'Hero' is linked from"),
    "body without bones": (["--body", "{folder}/no bones.blend"], "'Bare' has no bones"),
    "take of one frame": (["--take", "{folder}/one.bvh"], "one frame"),
    "no number of a frame": (["--rest", "take:x"], "take:x"),
    "no number at all": (["--rest", "take:"], "take:12"),
    "map nested too deep": (["--map", "{folder}/deep.json"], "deep.json"),
    "backwards": (["--range", "10:5"], "10:5"),
    "one frame": (["--range", "5:5"], "5:5"),
    "only the last frame": (["--range", "60:"], "60:60"),
    "only the first frame": (["--range", ":1"], "1:1"),
    "step over all": (["--step", "60"], "60"),
    "a rate that leaves one frame": (["--fps", "0.5"], "0.5"),
    "report into a folder": (["--report", "{folder}/folder.json"], "folder.json"),
    "report onto the body": (["--report", "{folder}/body.blend"], "body.blend"),
    "report onto the output": (["--report", "{out}/out.blend"], "out.blend"),
    "output onto the body": (["--out", "{folder}/body.blend"], "body.blend"),
    "sheet that is no picture": (["--sheet", "{out}/sheet.jpg"], ".png"),
    "sheet where nothing can be": (["--sheet", "/proc/sheet.png"], "/proc/sheet.png"),
    "report where nothing can be": (["--report", "/proc/report.json"], "/proc/report.json"),
    "output where nothing can be": (["--out", "/proc/out.blend"], "/proc/out.blend"),
}


@pytest.mark.parametrize("case", BAD_BAKES)
def test_bad_bakes(folder, tmp_path, capfd, case):
    more, word = BAD_BAKES[case]
    words = bake_words(folder, tmp_path / "out.blend", *(w.format(folder=folder, out=tmp_path) for w in more))
    refused(capfd, tmp_path, words, word)


def test_a_failure_at_the_last_file_takes_the_others_away(folder, tmp_path, capfd, monkeypatch):
    def full(path, result):
        path.write_text("{")
        raise FootholdError(f"{path}: the disk is full.")

    monkeypatch.setattr(terminal, "write_json", lambda path, result: full(tmp_path / "report.json", result))
    refused(capfd, tmp_path, bake_words(folder, tmp_path / "out.blend", "--report", tmp_path / "report.json"), "full")


def test_what_was_there_before_a_failure_stays(folder, tmp_path, capfd):
    (tmp_path / "out.blend").write_text("mine")
    refused(capfd, tmp_path, bake_words(folder, tmp_path / "out.blend", "--report", folder / "folder.json"))
    assert (tmp_path / "out.blend").read_text() == "mine"


@pytest.mark.parametrize("name", ["hints", "hints list"])
def test_unreadable_hints_of_a_file_are_passed_over(folder, tmp_path, name):
    assert run(*bake_words(folder, tmp_path / "out.blend", "--body", folder / f"{name}.blend")) == cli.GOOD


def test_a_take_is_the_armature_that_moves(folder, tmp_path):
    assert run(*bake_words(folder, tmp_path / "out.blend", "--take", folder / "two.blend")) == cli.GOOD


def test_a_map_may_hold_a_table_for_the_take_and_one_for_the_body(folder, tmp_path, capfd):
    tables = {"take": {"hips": "hips", "spine": "spine"}, "body": {"roles": {"hips": "hips"}}}
    (tmp_path / "map.json").write_text(json.dumps(tables))
    assert run(*bake_words(folder, tmp_path / "out.blend", "--map", tmp_path / "map.json")) == cli.GOOD
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "out.blend"))
    assert json.loads(bpy.data.objects["Take"][roles.KEY]) == tables["take"]
    assert json.loads(bpy.data.objects["Body"][roles.KEY]) == tables["body"]["roles"]
    capfd.readouterr()
    (tmp_path / "map.json").write_text(json.dumps({**tables, "hero": {}}))
    refused(capfd, tmp_path, bake_words(folder, tmp_path / "new.blend", "--map", tmp_path / "map.json"), "hero")


def test_a_range_may_start_at_frame_zero(folder, tmp_path):
    rigs.new_file()
    take = rigs.humanoid("Performer")
    action = rigs.dance(take)
    for curve in compat.fcurves(action, take):
        for key in curve.keyframe_points:
            key.co.x -= 11.0
        curve.update()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "early.blend"), copy=True)
    words = bake_words(folder, tmp_path / "out.blend", "--take", tmp_path / "early.blend")
    assert run(*words, "--range", "0:20") == cli.GOOD
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "out.blend"))
    assert tuple(bpy.data.objects["Body"].animation_data.action.frame_range) == (0.0, 20.0)
    rests = []
    for i, more in enumerate(((), ("--fps", 30))):  # the same frame is the rest, whatever the rate
        report = tmp_path / f"{i}.json"
        assert run(*words, "--rest", "take:0", "--report", report, *more) == cli.GOOD
        rests.append(json.loads(report.read_text())["rest_disagreement_deg"])
    assert rests[0] == rests[1]


def test_an_odd_digit_is_wrong_use(folder, tmp_path):
    assert run(*bake_words(folder, tmp_path / "out.blend", "--step", "²")) == cli.WRONG_USE


def test_inspect_tells_of_one_frame_and_refuses_an_armature_without_bones(folder, tmp_path, capfd):
    assert run("inspect", folder / "one.bvh", "--json") == cli.GOOD
    assert json.loads(capfd.readouterr().out)["frames"] == 1
    refused(capfd, tmp_path, ("inspect", folder / "no bones.blend"), "Bare")


BAD_SCENES = {"still": "'Take' has no action", "flat": "'Body' has a scale of zero", "body": "'Take'",
              "none": "no such file"}


@pytest.mark.parametrize("name", BAD_SCENES)
def test_scenes_that_are_not_baked(folder, tmp_path, capfd, name):
    scene = folder / f"{name}.blend"
    refused(capfd, tmp_path, ("measure", scene, "--json"), BAD_SCENES[name])
    refused(capfd, tmp_path, ("render", scene, "--out", tmp_path / "sheet.png"), BAD_SCENES[name])


def test_measure_and_render_write_over_nothing_that_they_read(folder, tmp_path, capfd):
    refused(capfd, tmp_path, ("measure", folder / "flat.blend", "--report", folder / "flat.blend"), "flat.blend")
    refused(capfd, tmp_path, ("render", folder / "flat.blend", "--out", folder / "flat.blend"), "flat.blend")


BAD_RECIPES = [({"takes": []}, "takes"), ({"bodies": None}, "bodies"), ({"takes": [5]}, "entry 1"),
               ({"takes": [""]}, "entry 1"), ({"out": 5}, "'out'"), ({"out": "/proc/x"}, "/proc/x"),
               ({"format": 5}, "'format'"), ({"format": "obj"}, "obj"), ({"fps": "x"}, "'fps'"), ({"fps": -3}, "-3"),
               ({"fps": True}, "'fps'"), ({"step": 2.5}, "2.5"), ({"range": [1, 2]}, "'range'"),
               ({"travel": "air"}, "air"), ({"sheet": "no"}, "'sheet'"), ({"sheets": True}, "'sheets'"),
               ({"takes": [{"file": "a.bvh", "action": 5}]}, "'action'"),
               ({"takes": [{"file": "a.bvh", "rest": None}]}, "'rest'"),
               ({"bodies": [{"file": "a.blend", "hat": 1}]}, "'hat'")]


@pytest.mark.parametrize("change, word", BAD_RECIPES)
def test_a_faulty_recipe_is_refused_before_anything_is_baked(folder, tmp_path, capfd, change, word):
    recipe = {"takes": [str(folder / "take.bvh")], "bodies": [str(folder / "body.blend")], "out": "out", **change}
    (tmp_path / "recipe.json").write_text(json.dumps(recipe))
    refused(capfd, tmp_path, ("batch", tmp_path / "recipe.json", "--json"), "recipe.json", word)


def test_takes_of_one_name_do_not_overwrite_each_other(folder, tmp_path):
    takes = [{"file": str(folder / "take.bvh"), "range": r} for r in ("1:10", "20:40")]
    (tmp_path / "recipe.json").write_text(json.dumps({"takes": takes, "bodies": [str(folder / "body.blend")],
                                                      "out": "out"}))
    assert run("batch", tmp_path / "recipe.json") == cli.GOOD
    frames = [json.loads((tmp_path / "out" / f"{name}.json").read_text())["frames"]
              for name in ("take__body", "take__body__2")]
    assert frames == [10, 21]


def test_a_figure_without_motion_rests_as_its_file_says(folder):
    tasks.fresh_scene()
    armature = files.import_file(str(folder / "body.blend")).armatures[0]
    armature.data.transform(Matrix.Rotation(1.0, 4, "X"))
    assert guess.rest_of(armature) == (job.RestChoice("file"), None)
