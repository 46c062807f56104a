#!/usr/bin/env python3
"""screenshots.py: makes docs/panel.png and docs/demo.png, the pictures of the README.

`demo` shrinks build/demo/demo.png, which `make demo` renders; it needs ImageMagick. `panel` photographs the tab in the
window that `make test-gui` opens: tests/gui/test_panel.py leaves it in build/gui/tab_panel.png.
"""

import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PICTURES = {  # name -> (picture to begin with, how to make it, ImageMagick's options, most bytes)
    "panel": (ROOT / "build" / "gui" / "tab_panel.png", "make test-gui", ["-strip", "-colors", "128"], 300_000),
    "demo": (ROOT / "build" / "demo" / "demo.png", "make demo",
             ["-gravity", "North", "-crop", "100%x68%+0+0", "+repage", "-resize", "1200x", "-strip", "-colors", "192"],
             400_000),
}


def make(name):
    """Make docs/<name>.png; returns its path."""
    source, how, options, most = PICTURES[name]
    if not source.is_file():
        sys.exit(f"error: {source.relative_to(ROOT)} is not there: run `{how}` first")
    program = shutil.which("magick") or shutil.which("convert")
    if program is None:
        sys.exit("error: ImageMagick is needed: install the package imagemagick")
    DOCS.mkdir(exist_ok=True)
    target = DOCS / f"{name}.png"
    subprocess.run([program, str(source), *options, f"PNG8:{target}"], check=True)
    size = target.stat().st_size
    if size > most:
        sys.exit(f"error: {target.relative_to(ROOT)} has {size} bytes, more than {most}")
    return target


if __name__ == "__main__":
    wanted = sys.argv[1:] or list(PICTURES)
    unknown = set(wanted) - set(PICTURES)
    if unknown:
        sys.exit(f"error: there is no picture '{sorted(unknown)[0]}'; there are {', '.join(PICTURES)}")
    for each in wanted:
        print(make(each).relative_to(ROOT))
