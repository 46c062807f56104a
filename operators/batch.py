"""Foothold from the command line, with Blender or with the bpy wheel.

    blender -q -b --python operators/batch.py -- bake --take TAKE --body BODY --out OUT.blend
    python operators/batch.py bake --take TAKE --body BODY --out OUT.blend

The installed extension offers the same as `blender --command foothold ...`.
"""

import importlib.util
import sys
from pathlib import Path


def load_foothold():
    """The package that this file belongs to, also where the folder is no importable name."""
    if "foothold" not in sys.modules:
        root = Path(__file__).resolve().parent.parent
        spec = importlib.util.spec_from_file_location("foothold", root / "__init__.py",
                                                      submodule_search_locations=[str(root)])
        module = importlib.util.module_from_spec(spec)
        sys.modules["foothold"] = module
        spec.loader.exec_module(module)
    return sys.modules["foothold"]


if __name__ == "__main__":
    load_foothold()
    from foothold.operators import cli

    if "--" in sys.argv:
        arguments = sys.argv[sys.argv.index("--") + 1:]
    else:
        arguments = [] if Path(sys.argv[0]).name.startswith("blender") else sys.argv[1:]
    sys.exit(cli.main(arguments))
