"""The installed extension on the command line of a real Blender: `blender --command foothold`."""

import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(
    not os.environ.get("FOOTHOLD_WINDOW"), reason="needs a real Blender with the extension: run make test-gui"
)


def foothold(*arguments):
    return subprocess.run(
        [str(ROOT / "tools" / "blender"), "--command", "foothold", *arguments],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300,
    )


def test_inspect_tells_what_a_file_holds():
    done = foothold("inspect", str(ROOT / "demo" / "tpose.bvh"), "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout[done.stdout.index("{"):])
    assert "hips" in json.dumps(told).lower()


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (["bake"], 2, "--take"),
        (["nonsense"], 2, "nonsense"),
        (["inspect", "no_such_file.bvh"], 3, "no_such_file.bvh"),
    ],
)
def test_exit_codes_and_messages(arguments, code, word):
    done = foothold(*arguments)
    assert (done.returncode, word in done.stderr) == (code, True), done.stderr


def test_bake_writes_a_scene(tmp_path):
    out = tmp_path / "out.blend"
    demo = ROOT / "demo"
    done = foothold("bake", "--take", str(demo / "take.bvh"), "--rest", str(demo / "tpose.bvh"),
                    "--body", str(demo / "body.blend"), "--range", "1:20", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert out.stat().st_size > 10_000
