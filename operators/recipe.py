"""A recipe of many takes and many bodies: read, checked whole, and baked job by job."""

import json
import re
from pathlib import Path

from ..solvers.errors import FootholdError
from .bridge import files
from .terminal import BAD_INPUT, FAILED, GOOD, say

_NUMBER, _TEXT, _TRUTH = "a number", "a text", "true or false"
_KINDS = {_NUMBER: (int, float), _TEXT: str, _TRUTH: bool}
_TAKE_OPTIONS = {"action": ("--take-action", _TEXT), "rest": ("--rest", _TEXT), "fps": ("--fps", _NUMBER),
                 "range": ("--range", _TEXT), "contacts": ("--contacts", _TEXT)}
_BODY_OPTIONS = {"rest": ("--body-rest", _TEXT), "map": ("--map", _TEXT)}
_OPTIONS = {"fps": ("--fps", _NUMBER), "range": ("--range", _TEXT), "stages": ("--stages", _TEXT),
            "step": ("--step", _NUMBER), "travel": ("--travel", _TEXT), "in_place": ("--in-place", _TRUTH),
            "scale": ("--scale", _NUMBER), "height_scale": ("--height-scale", _NUMBER), "fit": ("--fit", _TEXT),
            "prop_size": ("--prop-size", _NUMBER)}
_RECIPE = {"out": _TEXT, "format": _TEXT, "report": _TRUTH, "sheet": _TRUTH}
_FILES = ("rest", "map", "contacts")
_REST_WORD = re.compile(r"(file|pose|auto|(take|frame|body):.*)$", re.DOTALL)


def _check_kind(value, kind, key, where):
    if not isinstance(value, _KINDS[kind]) or isinstance(value, bool) is not (kind == _TRUTH):
        raise FootholdError(f"{where}: '{key}' must be {kind}, not {json.dumps(value, ensure_ascii=False)}.")


def _entries(recipe, key, path):
    rows = recipe.get(key)
    if not isinstance(rows, list) or not rows:
        raise FootholdError(f"{path}: '{key}' must be a list of files.")
    out = []
    for i, row in enumerate(rows, 1):
        row = {"file": row} if isinstance(row, str) else row
        if not isinstance(row, dict) or not isinstance(row.get("file"), str) or not row["file"]:
            raise FootholdError(f"{path}: entry {i} of '{key}' names no file.")
        out.append(row)
    return out


def _options(row, table, folder, where):
    """The words of the command line that the entries of a recipe's row stand for."""
    unknown = sorted(set(row) - set(table))
    if unknown:
        raise FootholdError(f"{where}: there is no entry '{unknown[0]}'; there is: {', '.join(table)}.")
    out = []
    for key, value in row.items():
        option, kind = table[key]
        _check_kind(value, kind, key, where)
        if key in _FILES and not (key == "rest" and _REST_WORD.match(value)):
            value = str(folder / value)
        if kind != _TRUTH:
            out.append(f"{option}={value}")
        elif value:
            out.append(option)
    return out


def _read_recipe(path):
    try:
        recipe = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FootholdError(f"{path}: cannot read the recipe ({error.strerror}).") from None
    except (ValueError, RecursionError) as error:
        raise FootholdError(f"{path}: the recipe is not JSON ({error}).") from None
    if not isinstance(recipe, dict):
        raise FootholdError(f"{path}: a recipe is an object with 'takes', 'bodies' and 'out'.")
    known = ("takes", "bodies", *_RECIPE, *_OPTIONS)
    unknown = sorted(set(recipe) - set(known))
    if unknown:
        raise FootholdError(f"{path}: there is no entry '{unknown[0]}'; there is: {', '.join(known)}.")
    for key, kind in _RECIPE.items():
        if key in recipe:
            _check_kind(recipe[key], kind, key, path)
    return recipe


def _jobs(recipe, path):
    """(take, body, name, words) of every take on every body; a FootholdError names what is wrong with the recipe."""
    folder = path.absolute().parent
    common = _options({k: v for k, v in recipe.items() if k in _OPTIONS}, _OPTIONS, folder, path)
    rows, used = [], set()
    for take in _entries(recipe, "takes", path):
        of_take = _row_options(take, _TAKE_OPTIONS, folder, path)
        for body in _entries(recipe, "bodies", path):
            of_body = _row_options(body, _BODY_OPTIONS, folder, path)
            parts = [Path(take["file"]).stem, Path(body["file"]).stem, *filter(None, [take.get("action")])]
            first = name = "__".join(re.sub(r"[^\w.-]+", "_", part) for part in parts)
            number = 2
            while name.lower() in used:  # files of one name in two folders, or a take twice with other options
                name, number = f"{first}__{number}", number + 1
            used.add(name.lower())
            words = ["--take", str(folder / take["file"]), "--body", str(folder / body["file"]), *common, *of_take,
                     *of_body]
            rows.append((take["file"], body["file"], name, words))
    return rows


def _row_options(row, table, folder, path):
    return _options({k: v for k, v in row.items() if k != "file"}, table, folder, f"{path}: '{row['file']}'")


def batch(path, fault_of, run):
    """Bake every take of a recipe onto every body; one failing does not stop the others.

    `fault_of` tells what is wrong with the words of a command ("" if nothing), `run` runs them and returns the exit
    code. Returns (exit code, summary).
    """
    path = Path(path)
    recipe = _read_recipe(path)
    kind = "." + recipe.get("format", "blend").lstrip(".").lower()
    if kind not in files.EXPORTS:
        raise FootholdError(f"{path}: 'format' cannot be '{recipe['format']}': choose one of "
                            f"{', '.join(e.lstrip('.') for e in files.EXPORTS)}.")
    jobs = _jobs(recipe, path)
    for _, _, _, words in jobs:
        fault = fault_of(["bake", *words, "--out", "out"])
        if fault:
            raise FootholdError(f"{path}: {fault}.")
    out = path.absolute().parent / recipe.get("out", ".")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FootholdError(f"{path}: the folder '{out}' cannot be made ({error.strerror}): choose another 'out'."
                            ) from None
    rows = []
    for take, body, name, words in jobs:
        words = ["bake", *words, "--out", str(out / f"{name}{kind}")]
        if recipe.get("report", True):
            words += ["--report", str(out / f"{name}.json")]
        if recipe.get("sheet", False):
            words += ["--sheet", str(out / f"{name}.png")]
        rows.append({"take": take, "body": body, "out": f"{name}{kind}", "exit": run(words, "foothold batch")})
    failed = [r for r in rows if r["exit"]]
    for row in rows:
        say(f"{'failed' if row['exit'] else 'good':7} {row['take']} on {row['body']}")
    say(f"{len(rows) - len(failed)} baked, {len(failed)} failed")
    code = GOOD if not failed else max((r["exit"] for r in failed), key=lambda c: c == BAD_INPUT)
    if any(r["exit"] == FAILED for r in failed):
        code = FAILED
    return code, {"baked": len(rows) - len(failed), "failed": len(failed), "jobs": rows}
