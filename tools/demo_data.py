"""Makes the demo's files in demo/ from the trial data: python tools/demo_data.py FOLDER_OF_TRIAL_DATA

The take is the whole pole routine with every second frame, and four decimals for each number, so that it stays small.
"""

import pathlib
import shutil
import sys

DEMO = pathlib.Path(__file__).resolve().parents[1] / "demo"


def thin(text, step, decimals):
    """A BVH file's text with every `step`-th frame and its numbers rounded."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("Frame Time:")) + 1
    seconds = float(lines[start - 1].split(":")[1]) * step
    frames = [line for line in lines[start:] if line.strip()][::step]
    rounded = [" ".join(f"{float(value):.{decimals}f}" for value in line.split()) for line in frames]
    head = lines[: start - 2] + [f"Frames: {len(frames)}", f"Frame Time: {seconds:.8f}"]
    return "\n".join(head + rounded) + "\n"


def main(data):
    pole = data / "pole" / "seed1"
    DEMO.mkdir(exist_ok=True)
    (DEMO / "take.bvh").write_text(thin((pole / "take.bvh").read_text(), 2, 4))
    (DEMO / "tpose.bvh").write_text(thin((pole / "tpose.bvh").read_text(), 2, 4))
    shutil.copyfile(data / "bodies" / "stocky.blend", DEMO / "body.blend")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
