"""Exit codes, and what the command line says and writes."""

import ctypes
import json
import os
import sys
from pathlib import Path

from ..solvers.errors import FootholdError

GOOD, FAILED, WRONG_USE, BAD_INPUT = 0, 1, 2, 3


def say(*words):
    """A message for the person at the terminal."""
    print(*words, file=sys.stderr, flush=True)


def flush():
    """Empty both Python's and C's own buffers: Blender and its importers print through the latter."""
    sys.stdout.flush()
    library = ctypes.CDLL("ucrtbase") if os.name == "nt" else ctypes.CDLL(None)
    library.fflush(None)


def write_text(path, text):
    """Write a text file; FootholdError where the place cannot be written."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise FootholdError(f"{path}: cannot be written ({error.strerror}): choose another place.") from None


def write_json(path, result):
    """Write a report; FootholdError where the place cannot be written."""
    write_text(path, json.dumps(result, indent=1, ensure_ascii=False) + "\n")
