"""Lets tests write `from foothold.solvers import ...`, whatever the checkout's folder is called.

Without FOOTHOLD_MODULE the checkout itself is the package `foothold`; nothing of Blender is imported for that. With
it (a dotted name such as `bl_ext.user_default.foothold`) the names under `foothold` are the modules of the installed
extension, so the same tests try what people install.
"""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]


class _Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `foothold.x` as the already named module `<real>.x`, so that no module is loaded twice."""

    def __init__(self, real):
        self.real = real

    def find_spec(self, name, path=None, target=None):
        if name.startswith("foothold."):
            return importlib.machinery.ModuleSpec(name, self)
        return None

    def create_module(self, spec):
        module = importlib.import_module(self.real + spec.name.removeprefix("foothold"))
        self.kept = module.__spec__
        return module

    def exec_module(self, module):
        # The import machinery has just given it the alias's spec; relative imports go by the real one.
        module.__spec__ = self.kept


def _provide_package():
    real = os.environ.get("FOOTHOLD_MODULE")
    if real and "bpy" in sys.modules:  # pytest-blender reads this file outside Blender too, before it starts it
        sys.modules["foothold"] = importlib.import_module(real)
        sys.meta_path.insert(0, _Alias(real))
        return
    spec = importlib.util.spec_from_file_location(
        "foothold", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["foothold"] = module
    spec.loader.exec_module(module)


if "foothold" not in sys.modules:
    _provide_package()


@pytest.fixture(scope="session")
def checkout():
    """The checkout's folder (pathlib.Path)."""
    return ROOT


@pytest.fixture(scope="session")
def data():
    """The folder of trial data (pathlib.Path): FOOTHOLD_DATA, or ../shared/data beside the checkout."""
    folder = pathlib.Path(os.environ.get("FOOTHOLD_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip("the trial data is not here: set FOOTHOLD_DATA, or put it at ../shared/data beside the checkout")
    return folder


@pytest.fixture(scope="module")
def addon():
    """The package with its Blender classes registered for a file of tests that use operators or settings."""
    import bpy

    import foothold

    if hasattr(bpy.types.Scene, "foothold"):
        yield foothold  # Blender has enabled the installed extension itself
        return
    foothold.register()
    yield foothold
    foothold.unregister()
