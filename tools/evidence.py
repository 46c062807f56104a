"""Bakes known takes onto known bodies, measures what comes out, and writes it down.

    python tools/evidence.py [--only SUBSTRING] [--jobs N] [--sheets] [--write]

Every cell is a take on a body, baked with the stages transfer and contacts as the command line does it. The table goes
to the terminal, contact sheets (`--sheets`) to build/evidence; `--write` keeps the figures in docs/evidence.md, for
people, and in tests/evidence.json, which tests/blender/test_evidence.py holds later bakes against. With `--only`, just
the cells whose name has SUBSTRING in it are made, and written over the kept ones. The trial data is sought as the tests
seek it: in FOOTHOLD_DATA, or at ../shared/data beside the checkout.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
BASELINE, TABLE, SHEETS = ROOT / "tests/evidence.json", ROOT / "docs/evidence.md", ROOT / "build/evidence"
BODIES = ("same_as_performer", "short_arms", "stocky", "tall", "chibi", "long_arms_short_legs", "fbx_scale",
          "twist_bones")
TAKES = (  # name, file, its action, characters
    ("walk", "cmu_bvh60/02_01.bvh", "", ("rocketbox/Male_Adult_01.fbx", "geno/Geno.fbx", "cesium_man/CesiumMan.glb")),
    ("walk at 120", "cmu_fbx_isaacgym/07_01_cmu.fbx", "", ("makehuman_cc0/mh_ue_male_muscular.fbx",
                                                           "makehuman_cc0/mh_vrm1_female_vroidnames.vrm")),
    ("run", "cmu_bvh60/02_03.bvh", "", ("makehuman_cc0/mh_rigify_female.glb", "rocketbox/Male_Child_01.fbx",
                                        "kaykit_adventurers/Knight.glb")),
    ("jump", "cmu_bvh60/02_04.bvh", "", ("vrm0_voxel/cryptovoxels.vrm", "makehuman_cc0/mh_cmu_male_old.glb")),
    ("hanging", "cmu_bvh60/01_06.bvh", "", ("rocketbox/Female_Adult_03.fbx",
                                            "makehuman_cc0/mh_mixamo_female_slim.glb")),
    ("dance", "animated_drawings/jesse_dance.bvh", "", ("makehuman_cc0/mh_mixamo_female_slim.glb",
                                                        "rocketbox/Female_Adult_03.fbx")),
    ("whirl", "cmu_fbx_isaacgym/55_01_cmu.fbx", "", ("makehuman_cc0/mh_rigify_female.glb", "geno/Geno.fbx")),
    ("crouch", "kaykit_anims/Med_MovementAdvanced.glb", "Rig_Medium|Crouching", ("kaykit_adventurers/Knight.glb",
                                                                                  "rocketbox/Male_Adult_01.fbx")),
    ("crawl", "kaykit_anims/Med_MovementAdvanced.glb", "Rig_Medium|Crawling", ("makehuman_cc0/mh_rigify_female.glb",
                                                                                "kaykit_adventurers/Knight.glb")),
    ("push-ups", "kaykit_anims/Med_Simulation.glb", "Rig_Medium|Push_Ups", ("makehuman_cc0/mh_cmu_male_old.glb",)),
    ("getting up", "../characters/kaykit_adventurers/Knight.glb", "Lie_StandUp", ("rocketbox/Male_Adult_01.fbx",)),
    ("sitting down", "../characters/kaykit_adventurers/Knight.glb", "Sit_Floor_Down",
     ("makehuman_cc0/mh_rigify_female.glb",)),
    ("cartwheel", "cmu_fbx_isaacgym/49_08_cmu.fbx", "", ("makehuman_cc0/mh_ue_male_muscular.glb",)),
)
QUICK = ("seed1 on stocky", "walk on Geno", "run on Knight", "jump on cryptovoxels", "seed1 on itself")  # for the test


class Cell(NamedTuple):
    """A take on a body; files count from the trial data."""

    name: str
    take: str
    action: str
    body: str


class Figure(NamedTuple):
    """A number of the table."""

    title: str
    path: str  # where it stands in the report of a bake
    aim: float | None  # the most it should be, for F1 the least; None where nothing is asked
    slack: float | None  # by how much more it may be worse than before, besides 2 %; None: that is not asked
    form: str = "{:.2f}"


CONTACTS = {  # the metrics of contacts
    "drift": Figure("1 drift, mm", "contacts.metrics.skate_drift_mm.worst", 0.5, 0.05),
    "speed": Figure("2 speed, mm/s", "contacts.metrics.skate_speed_mm_per_s.mean", 1.0, 0.05),
    "sunk": Figure("3 in floor, mm", "contacts.metrics.floor_penetration_mm.worst", 0.5, 0.05),
    "sunk_frames": Figure("frames", "contacts.metrics.floor_penetration_mm.frames_over", 0.0, 1.0, "{:.0f}"),
    "float": Figure("4 float, mm", "contacts.metrics.float_mm.worst", 1.0, 0.05),
    "f1": Figure("5 F1", "contacts.metrics.contact_agreement.f1", 1.0, 0.002, "{:.3f}"),
    "grip": Figure("6 palm, mm", "contacts.metrics.grip_surface_mm.worst", 2.0, 0.05),
    "grip_mean": Figure("mean", "contacts.metrics.grip_surface_mm.mean", 0.5, 0.02),
    "along": Figure("along, mm", "contacts.metrics.grip_along_mm.worst", 2.0, 0.05),
    "along_mean": Figure("mean", "contacts.metrics.grip_along_mm.mean", 0.5, 0.02),
    "short": Figure("7 short, mm", "contacts.metrics.reach_shortfall_mm.worst", None, 0.5, "{:.1f}"),
    "short_frames": Figure("frames", "contacts.metrics.reach_shortfall_mm.frames_short", None, 1.0, "{:.0f}"),
    "inside": Figure("8 in prop, mm", "contacts.metrics.prop_penetration_mm.worst", 1.0, 0.05, "{:.1f}"),
    "inside_frames": Figure("frames", "contacts.metrics.prop_penetration_mm.frames_over", 0.0, 1.0, "{:.0f}"),
}
MOTION = {  # the metrics of the motion as a whole
    "flips": Figure("10 flips", "metrics.turnovers.count", 0.0, 0.0, "{:.0f}"),
    "fast": Figure("11 fast frames", "metrics.angular_speed_deg_per_s.frames_over", 0.0, 1.0, "{:.0f}"),
    "acceleration": Figure("12 acceleration", "metrics.acceleration_m_per_s2.ratio", 1.1, 0.02),
    "proportion": Figure("in proportion", "metrics.acceleration_m_per_s2.ratio_in_proportion", 1.1, 0.02),
    "direction": Figure("13 limb std, deg", "metrics.limb_direction_deg.std", None, 0.05),
    "direction_mean": Figure("mean", "metrics.limb_direction_deg.mean", None, 0.1, "{:.1f}"),
    "twist": Figure("14 twist std, deg", "metrics.twist_deg.std", None, 0.05),
    "path": Figure("15 path, % of leg", "metrics.root_path.rms_percent_of_leg", None, 0.02),
    "bob": Figure("bob", "metrics.root_path.bob_amplitude_ratio", None, None),
    "changed": Figure("16 changed keys", "changed", 0.0, 0.0, "{:.0f}"),
    "pace": Figure("17 frames/s", "cost.frames_per_second", None, None, "{:.0f}"),
}
FIGURES = {**CONTACTS, **MOTION}
_HEAD = """# Evidence

What `make evidence` has measured: takes on bodies, baked with the stages transfer and contacts as the command line does
it, in Blender {blender}; at every frame, on the mesh as Blender evaluates it. Lengths are millimetres on the body as it
is. **Bold** figures miss their aim; a dash stands for what the take does not ask for. Unless a column says otherwise,
it gives the worst of the clip. The same figures, exactly, are in `tests/evidence.json`, and a test holds new bakes
against them.

Takes: `seed1` and `seed2` are the pole routine; the others are captures and hand-keyed clips that nothing was tuned on.
"on itself" is a take on its own skeleton with an empty contact script: there is nothing to do, and no key may change.
"""
_CONTACTS = """
## Contacts

Drift: a standing heel or ball from its anchor, along the floor. Speed: of standing soles, mean. In floor: the deepest
vertex of the body, and how many frames it is over 0.5 mm. Float: lowest skin of a standing foot over what it stands on.
F1: frames of contacts that the baked body's skin shows, edges within two frames of sixty a second. Palm: off
the prop's surface, and along its axis off the path, where it is in reach. Short: what a stretched limb does not reach,
and in how many frames of contacts. In prop: how deep torso, head, thighs, shins, upper arms and forearms lie in one,
and how many frames they are deeper than 1 mm.

"""
_MOTION = """
## Motion

Flips: what the contacts move a joint by turns over within ten frames with 3 cm on either side; a cut of the take is
none. Fast frames: a bone turns faster than 1.5 times its source and than 720 degrees a second. Acceleration: of wrists,
ankles and the middle of the thighs against the source, 99th percentile, both scaled to one stature; in proportion:
against a source whose limbs and trunk are as long as the body's, as longer limbs at the same angles swing harder. Limb
and twist: how the angle to the take's limb changes in time, most restless limb, and that angle's mean, farthest limb;
contacts ask for some of it. Path: of the middle between the thighs, RMS. Changed keys: channels whose bits are not
those of the transfer. Frames/s: of the whole bake, on the machine and beside the work that this was made with. The
hips of crouch, crawl and push-ups never move in the file: what the body does to lie on the floor is against nothing.

"""


def cells():
    """All Cells, in the order of the table."""
    out = []
    for seed in ("seed1", "seed2"):
        take = f"pole/{seed}/take.bvh"
        out += [Cell(f"{seed} on {body}", take, "", f"bodies/{body}.blend") for body in BODIES]
        out.append(Cell(f"{seed} on itself", take, "", take))
    for name, file, action, characters in TAKES:
        out += [Cell(f"{name} on {Path(body).stem}", f"takes/{file}", action, f"characters/{body}")
                for body in characters]
    return out


def data_folder():
    """Where the trial data is, or None."""
    folder = Path(os.environ.get("FOOTHOLD_DATA") or ROOT.parent / "shared/data")
    return folder if folder.is_dir() else None


def load_foothold():
    """Let the package be there by the name `foothold`, as it is where this is a module of the tests."""
    if "foothold" not in sys.modules:
        sys.path.insert(0, str(ROOT / "operators"))
        import batch

        batch.load_foothold()


# One cell, inside Blender

def measure(cell, data, folder, sheet=None):
    """The figures of a Cell, name -> number or None; files go to `folder`. Raises RuntimeError where a bake fails."""
    load_foothold()
    if cell.take == cell.body:
        plain = _baked(cell, data, folder, "--stages", "transfer")
        empty = folder / "empty.json"
        empty.write_text(json.dumps({"version": 1, "fps": 60.0, "frames": 100000, "props": [], "contacts": []}))
        fitted = _baked(cell, data, folder, "--stages", "transfer,contacts", "--contacts", str(empty))
        changed = sum(plain.keys.get(path) != fitted.keys.get(path) for path in {*plain.keys, *fitted.keys})
        return {"changed": changed, "pace": fitted.report["cost"]["frames_per_second"]}
    fitted = _baked(cell, data, folder, "--stages", "transfer,contacts", "--report", str(folder / "report.json"),
                    *(("--sheet", str(sheet)) if sheet else ()))
    report = {**fitted.report, **fitted.report["metrics"], "cost": fitted.report["cost"]}
    return {name: _at(report, figure.path) for name, figure in FIGURES.items() if name != "changed"}


class Baked(NamedTuple):
    """What a bake leaves."""

    report: dict
    keys: dict  # (data path, index) -> bytes


def _baked(cell, data, folder, *words):
    """Bake a Cell by the command line's words; what it leaves is read from the file that is open then."""
    import bpy

    from foothold.operators import cli
    from foothold.operators.bridge import compat

    report = folder / "bake.json"
    more = ["--take-action", cell.action] if cell.action else []
    if cell.take == cell.body:  # both rest in the T-pose that is beside the take
        more = ["--body-rest", str((data / cell.take).with_name("tpose.bvh"))]
    with open(report, "w", encoding="utf-8") as file, _stdout(file):
        code = cli.main(["bake", "--take", str(data / cell.take), "--body", str(data / cell.body), *more, *words,
                         "--out", str(folder / "baked.blend"), "--json"])
    if code:
        raise RuntimeError(f"{cell.name}: the bake ended with code {code}")
    body = bpy.data.objects["Body"]
    keys = {(c.data_path, c.array_index): _bytes(c) for c in compat.fcurves(body.animation_data.action, body)}
    return Baked(json.loads(report.read_text(encoding="utf-8")), keys)


@contextlib.contextmanager
def _stdout(file):
    """Let what is written to the standard output go to a file."""
    sys.stdout.flush()
    real = os.dup(1)
    os.dup2(file.fileno(), 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(real, 1)
        os.close(real)


def _bytes(curve):
    from array import array

    values = array("f", bytes(8 * len(curve.keyframe_points)))
    curve.keyframe_points.foreach_get("co", values)
    return values.tobytes()


def _at(report, path):
    for key in path.split("."):
        report = report.get(key) if isinstance(report, dict) else None
    return report


# All cells

def run(chosen, data, jobs, sheets):
    """The figures of Cells by their names, each from a process of its own; a failure is a text."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        return dict(zip((cell.name for cell in chosen),
                        pool.map(lambda cell: _process(cell, data, Path(folder), sheets), chosen)))


def _process(cell, data, folder, sheets):
    words = [sys.executable, __file__, "--cell", cell.name, "--into", str(folder / f"{cell.name}.json")]
    done = subprocess.run([*words, *(["--sheets"] if sheets else [])], capture_output=True, text=True,
                          env={**os.environ, "FOOTHOLD_DATA": str(data)}, stdin=subprocess.DEVNULL)
    if done.returncode:
        print(done.stderr[-3000:], file=sys.stderr)
        return f"failed: {(done.stderr.strip().splitlines() or ['without a word'])[-1]}"
    found = json.loads((folder / f"{cell.name}.json").read_text())
    print(f"{cell.name}: " + ", ".join(f"{name} {_text(FIGURES[name], value)}" for name, value in found.items()
                                       if value is not None), flush=True)
    return found


def one(name, into, data, sheets):
    """Measure the Cell of this name and write its figures to a file."""
    cell = next(cell for cell in cells() if cell.name == name)
    sheet = SHEETS / f"{name}.png" if sheets else None
    SHEETS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        Path(into).write_text(json.dumps(measure(cell, data, Path(folder), sheet)))


def worse(before, now):
    """What is worse in the figures `now` of a cell than `before`: sentences."""
    out = []
    for name, old in before.items():
        figure, new = FIGURES[name], now.get(name)
        if old is None or figure.slack is None:
            continue
        if new is None:
            out.append(f"{figure.title}: was {old:g}, and is not measured any more")
        elif (old - new if name == "f1" else new - old) > figure.slack + 0.02 * abs(old):
            out.append(f"{figure.title}: was {old:g} and is {new:g}")
    return out


# Writing down

def _text(figure, value):
    return "–" if value is None else figure.form.format(value)


def _marked(name, value):
    figure = FIGURES[name]
    text = _text(figure, value)
    if value is None or figure.aim is None:
        return text
    shown = float(text)  # what reads as the aim meets it
    return f"**{text}**" if (shown < figure.aim if name == "f1" else shown > figure.aim) else text


def table(found, figures):
    """A Markdown table of cells, name -> figures."""
    rows = [f"| take on body | {' | '.join(figure.title for figure in figures.values())} |",
            "| --- |" + " ---: |" * len(figures)]
    for cell, values in found.items():
        if isinstance(values, str):
            rows.append(f"| {cell} | {values} |" + " |" * (len(figures) - 1))
        elif any(values.get(name) is not None for name in figures):
            rows.append(f"| {cell} | " + " | ".join(_marked(name, values.get(name)) for name in figures) + " |")
    return "\n".join(rows) + "\n"


def page(kept):
    """docs/evidence.md of all that is kept."""
    return (_HEAD.format(blender=kept["blender"]) + _CONTACTS + table(kept["cells"], CONTACTS) + _MOTION
            + table(kept["cells"], MOTION))


def keep(found, blender):
    """Write figures over the kept ones, and the page of them all."""
    before = json.loads(BASELINE.read_text(encoding="utf-8"))["cells"] if BASELINE.is_file() else {}
    rows = {**before, **{name: _rounded(values) for name, values in found.items() if not isinstance(values, str)}}
    kept = {"blender": blender, "cells": {cell.name: rows[cell.name] for cell in cells() if cell.name in rows}}
    BASELINE.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text(page(kept), encoding="utf-8")


def _rounded(values):
    return {name: None if value is None else round(float(value), 5) for name, value in values.items()}


def main():
    """Make the cells that are asked for."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", default="", metavar="SUBSTRING")
    options.add_argument("--jobs", type=int, default=1, metavar="N")
    options.add_argument("--sheets", action="store_true")
    options.add_argument("--write", action="store_true")
    options.add_argument("--cell", help=argparse.SUPPRESS)
    options.add_argument("--into", help=argparse.SUPPRESS)
    args = options.parse_args()
    data = data_folder()
    if data is None:
        sys.exit("the trial data is not here: set FOOTHOLD_DATA, or put it at ../shared/data beside the checkout")
    if args.cell:
        return one(args.cell, args.into, data, args.sheets)
    chosen = [cell for cell in cells() if args.only in cell.name]
    if not chosen:
        sys.exit(f"no cell has '{args.only}' in its name; there are: {', '.join(cell.name for cell in cells())}")
    found = run(chosen, data, args.jobs, args.sheets)
    print("\n" + table(found, CONTACTS) + "\n" + table(found, MOTION))
    if args.write:
        import bpy

        keep(found, bpy.app.version_string)
    return any(isinstance(values, str) for values in found.values())


if __name__ == "__main__":
    sys.exit(main())
