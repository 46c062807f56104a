"""Who may import whom, read from the source; and that the solvers need no Blender, tried in a process of their own."""

import ast
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLENDER = {"bpy", "bpy_extras", "mathutils", "addon_utils", "imbuf"}
DRAWING = {"gpu", "gpu_extras", "blf"}

# layer -> (modules from outside it may import, layers of ours it may import); a layer may always import itself.
RULES = {
    "solvers": ({"numpy"}, set()),
    "operators/bridge": ({"numpy"} | BLENDER | DRAWING, {"solvers"}),
    "operators": ({"numpy"} | BLENDER, {"solvers", "operators/bridge"}),
    "ui": (BLENDER | DRAWING, {"operators"}),
    "": (set(), {"ui", "operators"}),
}


def layer_of(parts):
    """The layer that a module's path below the checkout (a tuple of names) belongs to."""
    if parts[:2] == ("operators", "bridge"):
        return "operators/bridge"
    return parts[0] if parts and parts[0] in ("solvers", "operators", "ui") else ""


def imports_of(path):
    """What a source file imports, wherever in it: (line, 'outside', name) or (line, 'ours', path parts)."""
    package = path.relative_to(ROOT).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, "outside", alias.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.lineno, "outside", node.module.split(".")[0]
        elif isinstance(node, ast.ImportFrom):
            up = node.level - 1
            assert up <= len(package), f"{path}:{node.lineno} imports from above the package"
            base = package[: len(package) - up] + tuple(node.module.split(".") if node.module else ())
            for alias in node.names:
                yield node.lineno, "ours", base + (alias.name,)


def breaches(path):
    """The imports of a source file that its layer does not allow, in plain words."""
    layer = layer_of(path.relative_to(ROOT).parts[:-1])
    outside, ours = RULES[layer]
    # The one file that Blender or Python runs as a script, outside any package: it has to find the package by name.
    if path.relative_to(ROOT).parts == ("operators", "batch.py"):
        outside = outside | {"foothold"}
    found = []
    for line, kind, what in imports_of(path):
        if kind == "outside" and what not in outside and what not in sys.stdlib_module_names:
            found.append(f"{path.relative_to(ROOT)}:{line} imports {what}")
        if kind == "ours" and layer_of(what) not in ours | {layer}:
            found.append(f"{path.relative_to(ROOT)}:{line} imports {'.'.join(what)}")
    return found


SOURCES = sorted(
    path
    for folder in ("solvers", "operators", "ui")
    for path in (ROOT / folder).rglob("*.py")
) + [ROOT / "__init__.py"]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_stay_in_their_layer(path):
    assert breaches(path) == []


def test_a_wrong_import_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    file = tmp_path / "solvers" / "fit" / "wrong.py"
    file.parent.mkdir(parents=True)
    file.write_text("def late():\n    import bpy\n    from ...operators import job\n    from ..rotation import mul\n")
    assert breaches(file) == [
        "solvers/fit/wrong.py:2 imports bpy",
        "solvers/fit/wrong.py:3 imports operators.job",
    ]


def test_package_and_solvers_import_without_blender():
    """In a process of its own, where every import of a Blender module fails."""
    program = f"""
import importlib, importlib.util, pathlib, sys
for name in {sorted(BLENDER | DRAWING)!r}:
    sys.modules[name] = None
root = pathlib.Path({str(ROOT)!r})
spec = importlib.util.spec_from_file_location("foothold", root / "__init__.py", submodule_search_locations=[str(root)])
sys.modules["foothold"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
for path in sorted((root / "solvers").rglob("*.py")):
    parts = path.relative_to(root).with_suffix("").parts
    importlib.import_module(".".join(("foothold",) + (parts[:-1] if parts[-1] == "__init__" else parts)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
