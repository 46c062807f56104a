"""Runs inside the Blender window that the tests drive: does what they ask, in Blender's own main loop.

A request is a Python source file `<n>.py` in the folder named after `--`; it is run with `bpy` and `window` at hand,
and its answer, what it left in `result` or the error's text, is written to `<n>.json`.
"""

import json
import pathlib
import sys
import traceback

import bpy

FOLDER = pathlib.Path(sys.argv[sys.argv.index("--") + 1])
PAUSE = 0.05  # seconds


def answer(request):
    names = {"bpy": bpy, "window": bpy.context.window_manager.windows[0], "result": None}
    try:
        exec(compile(request.read_text(encoding="utf-8"), str(request), "exec"), names)
        reply = json.dumps({"result": names["result"]})
    except Exception:
        reply = json.dumps({"error": traceback.format_exc()})
    request.unlink()
    unfinished = request.with_suffix(".part")
    unfinished.write_text(reply, encoding="utf-8")
    unfinished.rename(request.with_suffix(".json"))


def listen():
    for request in sorted(FOLDER.glob("*.py")):
        answer(request)
    return PAUSE


bpy.app.timers.register(listen, first_interval=PAUSE, persistent=True)
