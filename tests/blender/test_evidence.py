"""A few cells of the kept evidence, made anew: better is fine, worse than before fails. See tools/evidence.py."""

import importlib.util
import json

import pytest

bpy = pytest.importorskip("bpy")


@pytest.fixture(scope="module")
def evidence(checkout):
    """tools/evidence.py as a module."""
    spec = importlib.util.spec_from_file_location("evidence", checkout / "tools/evidence.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def kept(evidence):
    """The baseline's cells, name -> figures."""
    if not evidence.BASELINE.is_file():
        pytest.skip("there is no baseline yet: make evidence writes tests/evidence.json")
    return json.loads(evidence.BASELINE.read_text(encoding="utf-8"))["cells"]


def test_no_quick_cell_is_worse_than_it_was(evidence, kept, data, tmp_path):
    told = []
    for cell in evidence.cells():
        if cell.name in evidence.QUICK and cell.name in kept:
            told += [f"{cell.name}: {line}" for line in evidence.worse(kept[cell.name],
                                                                       evidence.measure(cell, data, tmp_path))]
    assert not told, "\n".join(told)


def test_every_cell_names_files_that_are_there(evidence, data):
    cells = evidence.cells()
    assert len({cell.name for cell in cells}) == len(cells) and set(evidence.QUICK) <= {cell.name for cell in cells}
    for cell in cells:
        assert (data / cell.take).is_file() and (data / cell.body).is_file(), cell.name


def test_the_kept_page_is_that_of_the_kept_figures(evidence, kept):
    whole = json.loads(evidence.BASELINE.read_text(encoding="utf-8"))
    assert evidence.TABLE.read_text(encoding="utf-8") == evidence.page(whole)
    assert set(kept) == {cell.name for cell in evidence.cells()}


def test_worse_is_told_and_better_is_not(evidence):
    before = {"drift": 0.2, "f1": 0.98, "sunk_frames": 3.0, "pace": 900.0, "grip": None}
    assert evidence.worse(before, before) == []
    assert evidence.worse(before, {"drift": 0.0, "f1": 1.0, "sunk_frames": 0.0, "pace": 10.0, "grip": 9.0}) == []
    assert evidence.worse(before, {**before, "drift": 0.25, "f1": 0.979, "sunk_frames": 4.0}) == []
    (drift,) = evidence.worse(before, {**before, "drift": 0.27})
    assert drift == "1 drift, mm: was 0.2 and is 0.27"
    assert len(evidence.worse(before, {**before, "f1": 0.95, "sunk_frames": 6.0})) == 2
    assert evidence.worse(before, {**before, "drift": None}) == ["1 drift, mm: was 0.2, and is not measured any more"]


def test_a_table_marks_what_misses_its_aim(evidence):
    text = evidence.table({"a on b": {"drift": 0.7, "speed": 0.2, "f1": 0.9, "short": 12.0}, "c on d": "failed: why"},
                          evidence.CONTACTS)
    first, second = text.splitlines()[2:]
    assert first.startswith("| a on b | **0.70** | 0.20 | – |") and "**0.900**" in first and "| 12.0 |" in first
    assert second.startswith("| c on d | failed: why |") and first.count("|") == second.count("|")
