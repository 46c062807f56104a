"""The command line, on files that the test makes: what it writes, what it says, and its exit codes."""

import json
import subprocess
import sys

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

import rigs  # noqa: E402

from foothold.operators import cli, job  # noqa: E402
from foothold.operators.bridge import compat, files, roles, scripts  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with take.bvh (60 frames at 60 fps), tpose.bvh beside it, body.blend and broken files."""
    out = tmp_path_factory.mktemp("cli")
    scene = rigs.new_file()
    take = rigs.humanoid("Performer")
    rigs.dance(take)
    files.export_file(str(out / "take.bvh"), take, [], (1, 60), 60.0)
    still = rigs.dance(take, frames=2, amount=0.0, name="Still")
    for curve in compat.fcurves(still, take):
        if curve.data_path.endswith("location"):
            for key in curve.keyframe_points:
                key.co.y = 0.0
    files.export_file(str(out / "tpose.bvh"), take, [], (1, 2), 60.0)
    rigs.new_file()
    rigs.humanoid("Hero", arm=0.8, leg=0.9, seed=3, mesh=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(out / "body.blend"), copy=True)
    (out / "broken.bvh").write_text("HIERARCHY\nROOT Hips\n{\n")
    (out / "map.json").write_text(json.dumps({"hips": "no such bone"}))
    assert scene is not None
    return out


def run(*words):
    return cli.main([str(w) for w in words])


def bake_words(folder, out, *more):
    return ("bake", "--take", folder / "take.bvh", "--rest", folder / "tpose.bvh", "--body", folder / "body.blend",
            "--out", out, *more)


def test_bake_writes_a_scene_with_take_body_and_roles(folder, tmp_path):
    out, report = tmp_path / "out.blend", tmp_path / "report.json"
    assert run(*bake_words(folder, out, "--report", report)) == cli.GOOD
    bpy.ops.wm.open_mainfile(filepath=str(out))
    scene = bpy.context.scene
    assert scene.render.fps / scene.render.fps_base == pytest.approx(60.0, abs=1e-3)
    assert (scene.frame_start, scene.frame_end) == (1, 60)
    for name in ("Take", "Body"):
        table = json.loads(bpy.data.objects[name]["foothold_roles"])
        assert set(table.values()) <= {b.name for b in bpy.data.objects[name].data.bones} and "hips" in table
    assert {o.name for o in bpy.data.objects if o.type == "ARMATURE"} == {"Take", "Body"}
    told = json.loads(report.read_text())
    assert told["frames"] == 60 and told["metrics"]["faults"] == []


def test_panel_and_command_line_give_the_same_bits(folder, tmp_path):
    out = tmp_path / "out.blend"
    assert run(*bake_words(folder, out)) == cli.GOOD
    bpy.ops.wm.open_mainfile(filepath=str(out))
    body = bpy.data.objects["Body"]
    by_command = keys_of(body, body.animation_data.action)
    scene = rigs.new_file()
    take = files.import_file(str(folder / "take.bvh")).armatures[0]
    body = files.import_file(str(folder / "body.blend")).armatures[0]
    t_pose = files.import_file(str(folder / "tpose.bvh")).armatures[0]
    for armature in (take, body):
        roles.store(armature, roles.detect(armature).roles)
    job.run(job.bake_steps(scene, job.BakeSettings(take, body, job.RestChoice("armature", armature=t_pose))))
    assert keys_of(body, body.animation_data.action) == by_command


def keys_of(owner, action):
    out = {}
    for curve in compat.fcurves(action, owner):
        co = np.empty(2 * len(curve.keyframe_points), np.float32)
        curve.keyframe_points.foreach_get("co", co)
        out[curve.data_path, curve.array_index] = co.tobytes()
    return out


def test_a_table_that_came_with_the_body_is_believed(folder, tmp_path):
    bpy.ops.wm.open_mainfile(filepath=str(folder / "body.blend"))
    hero = bpy.data.objects["Hero"]
    table = {r: b for r, b in roles.load(hero).items() if not r.startswith("toe")}
    roles.store(hero, table)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "mine.blend"))
    words = list(bake_words(folder, tmp_path / "out.blend"))
    words[words.index("--body") + 1] = tmp_path / "mine.blend"
    assert run(*words) == cli.GOOD
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "out.blend"))
    assert roles.load(bpy.data.objects["Body"]) == table


@pytest.mark.parametrize("kind", ["bvh", "fbx", "glb"])
def test_other_formats_hold_every_frame(folder, tmp_path, kind):
    out = tmp_path / f"out.{kind}"
    assert run(*bake_words(folder, out)) == cli.GOOD
    rigs.new_file()
    imported = files.import_file(str(out))
    assert imported.frames == 60 and imported.fps == pytest.approx(60.0, abs=0.01)


def test_range_rate_and_travel(folder, tmp_path):
    out = tmp_path / "out.blend"
    assert run(*bake_words(folder, out, "--fps", 30, "--range", "5:20", "--in-place", "--action", "Mine")) == cli.GOOD
    bpy.ops.wm.open_mainfile(filepath=str(out))
    action = bpy.data.objects["Body"].animation_data.action
    assert action.name == "Mine" and tuple(action.frame_range) == (5.0, 20.0)
    scene = bpy.context.scene
    assert scene.render.fps / scene.render.fps_base == pytest.approx(30.0)


SCRIPT = {"version": 1, "fps": 60.0, "frames": 60, "props": [], "contacts": [
    {"id": "foot.L:1", "effector": "foot.L", "surface": "floor", "kind": "plant", "start": 0.2, "end": 0.6,
     "path": {"time": [0.2, 0.6], "x": [0.1, 0.1], "y": [0.0, 0.0], "z": [0.1, 0.1]}}]}


def played(out, name):
    """(armature of that name, the script of the action that it plays) in a written scene."""
    bpy.ops.wm.open_mainfile(filepath=str(out))
    armature = bpy.data.objects[name]
    return armature, scripts.load(armature.animation_data.action)


def test_a_script_switches_the_contacts_on_and_stays_with_take_and_body(folder, tmp_path):
    file, out, report = tmp_path / "script.json", tmp_path / "out.blend", tmp_path / "report.json"
    file.write_text(json.dumps(SCRIPT))
    words = bake_words(folder, out, "--contacts", file, "--fit", "pose", "--prop-size", 2, "--report", report)
    assert run(*words) == cli.GOOD
    told = json.loads(report.read_text())
    assert told["stages"] == ["transfer", "contacts"] and told["contacts"]["count"] == 1
    for name in ("Take", "Body"):
        _, kept = played(out, name)
        assert [c.id for c in kept.contacts] == ["foot.L:1"] and (kept.fps, kept.frames) == (60.0, 60)


def test_contacts_that_the_bake_reads_off_stay_with_the_take(folder, tmp_path):
    out = tmp_path / "out.blend"
    assert run(*bake_words(folder, out, "--stages", "transfer,contacts", "--fps", 30)) == cli.GOOD
    _, of_take = played(out, "Take")
    assert (of_take.fps, of_take.frames) == (30.0, 30)
    assert run(*bake_words(folder, out)) == cli.GOOD
    assert played(out, "Take")[1] is None and played(out, "Body")[1] is None


@pytest.mark.parametrize("stages", [(), ("--stages", "transfer,contacts")])
def test_a_script_without_contacts_changes_no_bit(folder, tmp_path, stages):
    file, out = tmp_path / "script.json", tmp_path / "out.blend"
    file.write_text(json.dumps({**SCRIPT, "contacts": []}))
    keys = []
    for words in ((), ("--contacts", file, *stages)):
        assert run(*bake_words(folder, out, *words)) == cli.GOOD
        body, _ = played(out, "Body")
        keys.append(keys_of(body, body.animation_data.action))
    assert keys[0] == keys[1]


def test_inspect_tells_what_is_in_a_file(folder, capfd):
    assert run("inspect", folder / "take.bvh", "--json") == cli.GOOD
    told = json.loads(capfd.readouterr().out)
    assert told["kind"] == "bvh" and told["frames"] == 60 and told["fps"] == pytest.approx(60.0, abs=0.01)
    assert told["roles"]["forearm.L"] == "forearm.L" and told["travel"]["carrier"] == "hips"
    assert run("inspect", folder / "tpose.bvh", "--json") == cli.GOOD
    assert json.loads(capfd.readouterr().out)["t_pose_frames"]


def test_measure_and_render(folder, tmp_path, capfd):
    out = tmp_path / "out.blend"
    assert run(*bake_words(folder, out)) == cli.GOOD
    capfd.readouterr()
    assert run("measure", out, "--json") == cli.GOOD
    assert json.loads(capfd.readouterr().out)["metrics"]
    assert run("render", out, "--out", tmp_path / "sheet.png") == cli.GOOD
    assert (tmp_path / "sheet.png").read_bytes()[:4] == b"\x89PNG"


def test_a_batch_goes_on_after_a_failure(folder, tmp_path, capfd):
    recipe = tmp_path / "recipe.json"
    recipe.write_text(json.dumps({"takes": [{"file": str(folder / "take.bvh"), "rest": str(folder / "tpose.bvh")},
                                            str(folder / "broken.bvh")],
                                  "bodies": [str(folder / "body.blend")], "out": "out"}))
    assert run("batch", recipe, "--json") == cli.BAD_INPUT
    told = capfd.readouterr()
    assert json.loads(told.out)["baked"] == 1 and json.loads(told.out)["failed"] == 1
    assert "1 baked, 1 failed" in told.err and "broken.bvh" in told.err
    assert (tmp_path / "out" / "take__body.blend").is_file() and (tmp_path / "out" / "take__body.json").is_file()


WRONG_USE = [[], ["bake"], ["dance"], ["bake", "--take", "a.bvh", "--body", "b", "--out", "c.blend", "--fps", "0"],
             ["bake", "--take", "a.bvh", "--body", "b", "--out", "c.blend", "--range", "x:y"],
             ["bake", "--take", "a.bvh", "--body", "b", "--out", "c.blend", "--stages", "magic"]]
ALLOWED = {"transfer,magic": ("--stages", "contacts"), "hands": ("--fit", "balance', 'grip', 'pose"),
           "-1": ("--prop-size", "above zero")}


@pytest.mark.parametrize("words", WRONG_USE)
def test_wrong_use_is_two(words):
    assert run(*words) == cli.WRONG_USE


@pytest.mark.parametrize("word", ALLOWED)
def test_a_wrong_word_is_named_with_what_is_allowed(capfd, word):
    option, allowed = ALLOWED[word]
    words = ["bake", "--take", "a.bvh", "--body", "b", "--out", "c.blend", f"{option}={word}"]
    assert run(*words) == cli.WRONG_USE
    told = capfd.readouterr().err
    assert option in told and allowed in told


@pytest.mark.parametrize("option", ["--fit=grip", "--prop-size=2", "--contacts=s.json"])
def test_options_of_the_contacts_want_that_stage(capfd, option):
    words = ["bake", "--take", "a.bvh", "--body", "b", "--out", "c.blend", "--stages", "transfer", option]
    assert run(*words) == cli.WRONG_USE
    told = capfd.readouterr().err
    assert option.split("=")[0] in told and "--stages transfer,contacts" in told


def test_a_recipe_knows_the_words_of_the_contacts(folder, tmp_path, capfd):
    (tmp_path / "script.json").write_text(json.dumps(SCRIPT))
    recipe = {"takes": [{"file": str(folder / "take.bvh"), "rest": str(folder / "tpose.bvh"),
                         "contacts": "script.json"}],
              "bodies": [str(folder / "body.blend")], "fit": "grip", "prop_size": 1.5, "range": "1:40"}
    file = tmp_path / "recipe.json"
    file.write_text(json.dumps(recipe))
    assert run("batch", file) == cli.GOOD
    assert json.loads((tmp_path / "take__body.json").read_text())["contacts"]["count"] == 1
    capfd.readouterr()
    file.write_text(json.dumps({**recipe, "fit": "hands"}))
    assert run("batch", file) == cli.BAD_INPUT
    told = capfd.readouterr().err
    assert "--fit" in told and "'grip'" in told


BAD_INPUT = {
    "missing take": (["--take", "nowhere.bvh"], "nowhere.bvh"),
    "broken take": (["--take", "{folder}/broken.bvh"], "broken.bvh"),
    "missing body": (["--body", "nobody.blend"], "nobody.blend"),
    "no such action": (["--take-action", "Salsa"], "Salsa"),
    "rest outside": (["--rest", "take:900"], "900"),
    "missing rest": (["--rest", "nowhere.bvh"], "nowhere.bvh"),
    "wrong map": (["--map", "{folder}/map.json"], "no such bone"),
    "range outside": (["--range", "1:900"], "900"),
    "unknown kind": (["--out", "{out}/out.obj"], ".obj"),
    "no folder": (["--out", "{out}/none/out.blend"], "none"),
    "in place": (["--stages", "transfer,contacts", "--in-place"], "stays in place"),
    "missing script": (["--contacts", "nowhere.json"], "nowhere.json"),
    "no folder for the report": (["--report", "{out}/none/out.json"], "none"),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_three_and_named_and_writes_nothing(folder, tmp_path, capfd, case):
    more, word = BAD_INPUT[case]
    words = bake_words(folder, tmp_path / "out.blend", *(w.format(folder=folder, out=tmp_path) for w in more))
    assert run(*words) == cli.BAD_INPUT
    told = capfd.readouterr()
    assert word in told.err and "Traceback" not in told.err and not told.out
    assert not list(tmp_path.iterdir())


def script(checkout, *words):
    """Run operators/batch.py in a process of its own: with Blender where the tests run in one, else with Python."""
    file = str(checkout / "operators" / "batch.py")
    program = [bpy.app.binary_path, "-b", "--python", file, "--"] if bpy.app.binary_path else [sys.executable, file]
    return subprocess.run([*program, *map(str, words)], text=True, capture_output=True, timeout=300)


def test_the_script_runs_by_itself(folder, checkout, tmp_path):
    done = script(checkout, *bake_words(folder, tmp_path / "o.blend", "--json"))
    assert done.returncode == 0, done.stderr
    told = done.stdout
    if bpy.app.binary_path:  # Blender greets before and says goodbye after
        told = told[told.index("{"):told.rindex("}") + 1]
    assert json.loads(told)["frames"] == 60
    done = script(checkout, "inspect", "nowhere.fbx")
    assert done.returncode == 3 and "nowhere.fbx" in done.stderr
