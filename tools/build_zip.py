"""Builds dist/foothold-<version>.zip and has Blender's own extension tool validate it; prints the file.

    python tools/build_zip.py                    with the tool that the bpy module carries
    python tools/build_zip.py --blender EXE      with a Blender executable

The zip is built from what is in the checkout now, committed or not; what stays out is named in blender_manifest.toml.
"""

import argparse
import pathlib
import subprocess
import sys
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
KEPT_OUT = ("tests/", "tools/", "demo/", "build/", "dist/", "docs/", ".")


def extension_tool(blender):
    """The command (list of str) that builds and validates extensions."""
    if blender:
        return [blender, "--factory-startup", "--command", "extension"]
    import bpy

    script = pathlib.Path(bpy.utils.system_resource("SCRIPTS")) / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"
    return [sys.executable, str(script)]


def run(command):
    """Runs a command (list of str) quietly; ends the program with what it printed if it fails."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    if done.returncode:
        sys.exit(f"{done.stdout}\nerror: {' '.join(command)} ended with {done.returncode}")


def check_contents(target):
    """Ends the program if the zip lacks the add-on or carries what belongs to development only."""
    with zipfile.ZipFile(target) as archive:
        names = archive.namelist()
    missing = {"blender_manifest.toml", "__init__.py", "LICENSE"} - set(names)
    strays = [name for name in names if name.startswith(KEPT_OUT) or name.endswith((".pyc", ".zip", ".blend"))]
    if missing or strays:
        sys.exit(f"error: {target.name} lacks {sorted(missing)} and wrongly holds {strays}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blender", metavar="EXE", help="a Blender executable; otherwise the bpy module's tool")
    arguments = parser.parse_args()

    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    target = ROOT / "dist" / f"{manifest['id']}-{manifest['version']}.zip"
    target.parent.mkdir(exist_ok=True)
    target.unlink(missing_ok=True)

    tool = extension_tool(arguments.blender)
    run(tool + ["build", "--source-dir", str(ROOT), "--output-filepath", str(target)])
    run(tool + ["validate", str(target)])
    check_contents(target)
    print(target)


if __name__ == "__main__":
    main()
