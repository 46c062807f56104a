"""The command line: `inspect`, `contacts`, `bake`, `measure`, `render` and `batch`.

Exit codes: 0 good, 2 wrong use, 3 bad input, 1 anything else. Messages go to stderr, `--json` to stdout.
"""

import argparse
import contextlib
import io
import json
import os
import traceback

from ..solvers.errors import FootholdError
from ..solvers.fit.fit import PREFER
from .terminal import BAD_INPUT, FAILED, GOOD, WRONG_USE, flush, say

STAGES = ("transfer", "contacts")  # as job.STAGES, which needs Blender
_OF_CONTACTS = ("contacts", "fit", "prop_size")  # options of `bake` that mean nothing without that stage


@contextlib.contextmanager
def _quiet_stdout():
    """Send all that Blender and its importers print to stderr; yields a writer to the real stdout."""
    flush()
    real = os.dup(1)
    os.dup2(2, 1)
    try:
        yield lambda text: os.write(real, text.encode())
    finally:
        flush()
        os.dup2(real, 1)
        os.close(real)


def _range(text):
    first, colon, last = text.partition(":")
    try:
        return (int(first) if first else None, int(last) if last else None) if colon else (int(text), None)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a range of frames such as 1:240") from None


def _stages(text):
    stages = text.split(",")
    unknown = [s for s in stages if s not in STAGES]
    if "transfer" not in stages:
        raise argparse.ArgumentTypeError("the stage 'transfer' is always there: name it, too")
    if unknown:
        raise argparse.ArgumentTypeError(f"no stage is called '{unknown[0]}'; there is: {', '.join(STAGES)}")
    return stages


def _positive(text):
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < 10000.0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number above zero")
    return value


def _count(text):
    if not (text.isascii() and text.isdigit()) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 1 up")
    return int(text)


def parser(prog="foothold"):
    """The argument parser."""
    out = argparse.ArgumentParser(prog=prog, description="Play a motion-capture take on another body.")
    commands = out.add_subparsers(dest="command", required=True, metavar="COMMAND")

    inspect = commands.add_parser("inspect", help="tell what a file holds")
    inspect.add_argument("file", help="BVH, FBX, glTF/GLB, VRM or .blend")
    inspect.add_argument("--json", action="store_true", help="print JSON to stdout")

    contacts = commands.add_parser("contacts", help="read off a take who touches what, when and where")
    contacts.add_argument("--take", required=True, metavar="FILE", help="the file with the motion")
    contacts.add_argument("--take-action", metavar="NAME", help="which of its actions; the longest if not told")
    contacts.add_argument("--rest", metavar="FILE|take:FRAME|file", default="auto",
                          help="what the motion is authored against; found by itself if not told")
    contacts.add_argument("--map", metavar="FILE", help="role map as JSON (or {\"take\": ...})")
    contacts.add_argument("--prop", metavar="auto|none|OBJECT|x,y,z,radius[,dx,dy,dz]", default="auto",
                          help="a pole is looked for; none; an object in the take's file; or a cylinder, metres, Z up")
    contacts.add_argument("--out", required=True, metavar="SCRIPT.json", help="the contact script to write")
    contacts.add_argument("--plot", metavar="FILE.png|.svg", help="a picture of contacts, distances and thresholds")
    contacts.add_argument("--json", action="store_true", help="print a summary as JSON to stdout")

    bake = commands.add_parser("bake", help="bake a take onto a body")
    bake.add_argument("--take", required=True, metavar="FILE", help="the file with the motion")
    bake.add_argument("--take-action", metavar="NAME", help="which of its actions; the longest if not told")
    bake.add_argument("--rest", metavar="FILE|take:FRAME|file", default="auto",
                      help="what the motion is authored against; found by itself if not told")
    bake.add_argument("--body", required=True, metavar="FILE", help="the file with the body")
    bake.add_argument("--body-rest", metavar="FILE|take:FRAME|pose|file", default="file",
                      help="the body's own pose that counts as rest")
    bake.add_argument("--map", metavar="FILE", help="role map of the body (or {\"take\": ..., \"body\": ...}) as JSON")
    bake.add_argument("--fps", type=_positive, help="resample the take to this frame rate")
    bake.add_argument("--range", type=_range, metavar="A:B", default=(None, None), help="frames to bake")
    bake.add_argument("--step", type=_count, default=1, help="key every Nth frame")
    bake.add_argument("--stages", type=_stages, help=f"comma-separated: {', '.join(STAGES)}; without --contacts "
                      "only transfer if not told")
    bake.add_argument("--contacts", metavar="SCRIPT.json", help="switches the stage 'contacts' on, with this contact "
                      "script; --stages alone reads one off the take")
    bake.add_argument("--fit", choices=PREFER, help="what the body gives way to where it cannot keep all contacts: all "
                      "of them, the hands', or the feet's and the take's pose; balance if not told")
    bake.add_argument("--prop-size", type=_positive, metavar="N", help="thickness of what is held, times the take's")
    bake.add_argument("--travel", choices=("hips", "root", "object"), default="hips", help="what carries the way")
    bake.add_argument("--in-place", action="store_true", help="leave out the way on the floor")
    bake.add_argument("--scale", type=_positive, help="scale of the way on the floor; leg lengths if not told")
    bake.add_argument("--height-scale", type=_positive, help="scale of the hips' height; leg lengths if not told")
    bake.add_argument("--action", metavar="NAME", default="", help="name of the baked action")
    bake.add_argument("--out", required=True, metavar="FILE", help="what to write: .blend, .bvh, .fbx or .glb")
    bake.add_argument("--report", metavar="FILE.json", help="write a report with the measured figures")
    bake.add_argument("--sheet", metavar="FILE.png", help="render a contact sheet")
    bake.add_argument("--json", action="store_true", help="print the report to stdout")

    measure = commands.add_parser("measure", help="measure a baked scene")
    measure.add_argument("scene", metavar="SCENE.blend")
    measure.add_argument("--report", metavar="FILE.json")
    measure.add_argument("--json", action="store_true", help="print JSON to stdout")

    render = commands.add_parser("render", help="render a contact sheet of a baked scene")
    render.add_argument("scene", metavar="SCENE.blend")
    render.add_argument("--out", required=True, metavar="FILE.png")

    batch = commands.add_parser("batch", help="bake many takes onto many bodies")
    batch.add_argument("recipe", metavar="RECIPE.json")
    batch.add_argument("--json", action="store_true", help="print the summary as JSON to stdout")
    return out


def read(arguments, prog="foothold"):
    """The arguments, parsed, and the stages of a bake settled; SystemExit where they are wrong."""
    words = parser(prog)
    args = words.parse_args(arguments)
    if args.command == "bake":
        if args.stages is None:
            args.stages = list(STAGES if args.contacts else STAGES[:1])
        for name in _OF_CONTACTS:
            if getattr(args, name) is not None and "contacts" not in args.stages:
                words.error(f"argument --{name.replace('_', '-')}: it is for the stage 'contacts': add --stages "
                            "transfer,contacts")
    return args


def fault_of(arguments):
    """What the parser finds wrong with these words, in its own words; "" if nothing."""
    told = io.StringIO()
    try:
        with contextlib.redirect_stderr(told):
            read(arguments)
    except SystemExit:
        return told.getvalue().strip().rpartition("error: ")[2]
    return ""


def main(arguments, prog="foothold"):
    """Run one command; returns the exit code."""
    try:
        args = read(arguments, prog)
    except SystemExit as stop:
        return WRONG_USE if stop.code else GOOD
    with _quiet_stdout() as write:
        from . import recipe, tasks  # they need Blender, which prints; a wrong word must be answered without it

        try:
            if args.command == "batch":
                code, result = recipe.batch(args.recipe, fault_of, main)
            else:
                code, result = GOOD, tasks.COMMANDS[args.command](args)
        except FootholdError as error:
            say(f"{prog}: {error}")
            return BAD_INPUT
        except Exception:
            traceback.print_exc()
            return FAILED
        if getattr(args, "json", False):
            write(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
        return code
