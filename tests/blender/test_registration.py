"""The add-on comes and goes without a trace."""

import os

import pytest

bpy = pytest.importorskip("bpy")

if os.environ.get("FOOTHOLD_MODULE"):
    pytest.skip("the installed extension is registered by Blender itself", allow_module_level=True)


def registered_names():
    """Names of everything that an add-on can leave behind in bpy.types, bpy.ops and on the types it extends."""
    extended = (bpy.types.Scene, bpy.types.Object, bpy.types.Action, bpy.types.WindowManager, bpy.types.Armature)
    names = set(dir(bpy.types)) | {f"ops.{name}" for name in dir(bpy.ops)}
    for owner in extended:
        names |= {f"{owner.__name__}.{name}" for name in dir(owner)}
    return names


def test_registers_and_unregisters_twice():
    import foothold

    before = registered_names()
    for _ in range(2):
        foothold.register()
        assert registered_names() - before, "registering added nothing"
        foothold.unregister()
        assert registered_names() - before == set()
