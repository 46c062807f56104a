"""Reading the head of an FBX file: its frame rate and the times of its keys."""

import re
import struct
import zlib
from typing import NamedTuple

import numpy as np

from ...solvers.errors import FootholdError
from . import rates

TICKS = 46186158000  # FBX time units in a second
MAGIC = b"Kaydara FBX Binary  \x00"
TIME_MODES = {0: 30.0, 1: 120.0, 2: 100.0, 3: 60.0, 4: 50.0, 5: 48.0, 6: 30.0, 7: 30.0, 8: 30000 / 1001,
              9: 30000 / 1001, 10: 25.0, 11: 24.0, 12: 1000.0, 13: 24000 / 1001, 15: 96.0, 16: 72.0,
              17: 60000 / 1001, 18: 120000 / 1001}
CUSTOM = 14
_ARRAYS = {b"f": "<f4", b"d": "<f8", b"i": "<i4", b"l": "<i8", b"b": "<i1", b"c": "<u1"}
_SCALARS = {b"C": "<b", b"B": "<b", b"Y": "<h", b"I": "<i", b"F": "<f", b"D": "<d", b"L": "<q"}


class Header(NamedTuple):
    fps: float  # frames per second on whose whole frames the keys lie, else what the file states
    times: np.ndarray  # (N,) all key times in seconds, ascending
    stacks: tuple  # names of the takes


class Node(NamedTuple):
    name: str
    values: list
    children: list

    def child(self, name):
        """The first child of that name, or None."""
        return next((c for c in self.children if c.name == name), None)


def header(path):
    """The Header of an FBX file, binary or text. Raises FootholdError where it is broken."""
    with open(path, "rb") as file:
        data = file.read()
    if not data.startswith(MAGIC):
        return _text_header(path, data)
    try:
        root = parse(data)
    except (struct.error, IndexError, zlib.error, ValueError, KeyError) as error:
        raise FootholdError(f"{path}: the FBX file is cut off or broken; export it again") from error
    settings = {}
    section = root.child("GlobalSettings")
    properties = section and (section.child("Properties70") or section.child("Properties60"))
    for row in properties.children if properties else ():
        settings[row.values[0]] = row.values[-1]
    objects = root.child("Objects")
    rows = objects.children if objects else ()
    times = [c.child("KeyTime").values[0] for c in rows if c.name == "AnimationCurve" and c.child("KeyTime")]
    stacks = tuple(_plain(r.values[1]) for r in rows if r.name == "AnimationStack")
    times = np.unique(np.concatenate(times)) / TICKS if times else np.zeros(0)
    stated = _stated(settings.get("TimeMode", 0), settings.get("CustomFrameRate", -1.0))
    return Header(rates.from_times(times, stated) or stated, times, stacks)


def parse(data):
    """The tree of a binary FBX file as a Node; arrays come as numpy arrays, strings as str."""
    version, = struct.unpack_from("<I", data, 23)
    layout = "<QQQB" if version >= 7500 else "<IIIB"
    children, at = [], 27
    while True:
        node, at = _node(data, at, layout)
        if node is None:
            return Node("", [], children)
        children.append(node)


def _node(data, at, layout):
    end, count, _, size = struct.unpack_from(layout, data, at)
    at += struct.calcsize(layout)
    if end == 0:
        return None, at
    if end > len(data):
        raise ValueError("cut off")
    name = data[at:at + size].decode("ascii", "replace")
    at += size
    values = []
    for _ in range(count):
        value, at = _value(data, at)
        values.append(value)
    children = []
    while at < end:
        child, at = _node(data, at, layout)
        if child is None:
            break
        children.append(child)
    return Node(name, values, children), end


def _value(data, at):
    kind = data[at:at + 1]
    at += 1
    if kind in _SCALARS:
        value, = struct.unpack_from(_SCALARS[kind], data, at)
        return value, at + struct.calcsize(_SCALARS[kind])
    if kind in (b"S", b"R"):
        size, = struct.unpack_from("<I", data, at)
        raw = data[at + 4:at + 4 + size]
        return (raw.decode("utf-8", "replace") if kind == b"S" else raw), at + 4 + size
    length, packed, size = struct.unpack_from("<III", data, at)
    raw = data[at + 12:at + 12 + size]
    return np.frombuffer(zlib.decompress(raw) if packed else raw, _ARRAYS[kind], length), at + 12 + size


def _text_header(path, data):
    text = data.decode("utf-8", "replace")
    if "FBXHeaderExtension" not in text[:20000]:
        raise FootholdError(f"{path}: this is not an FBX file; export it again" if data.strip()
                            else f"{path}: the file is empty; export it again")
    found = {name: re.search(rf'"{name}"[^\n]*,\s*([-+.\deE]+)\s*$', text, re.MULTILINE)
             for name in ("TimeMode", "CustomFrameRate")}
    mode, custom = (float(m[1]) if m else default for m, default in zip(found.values(), (0, -1.0)))
    keys = re.findall(r"KeyTime:\s*\*\d+\s*\{\s*a:\s*([-\d,\s]+)\}", text)
    times = np.unique(np.concatenate([np.array(k.split(","), float) for k in keys])) / TICKS if keys else np.zeros(0)
    stated = _stated(int(mode), custom)
    stacks = tuple(re.findall(r'AnimationStack:\s*\d+,\s*"AnimStack::([^"]*)"', text))
    return Header(rates.from_times(times, stated) or stated, times, stacks)


def _stated(mode, custom):
    if mode == CUSTOM and custom > 0.0:
        return rates.snap(float(custom))
    return TIME_MODES.get(mode, 30.0)


def _plain(name):
    return name.split("\x00")[0]
