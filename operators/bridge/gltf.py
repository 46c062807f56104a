"""Reading the head of a glTF or VRM file: its rate, its clips, its humanoid roles."""

import base64
import json
import os
import struct
import urllib.parse
from typing import NamedTuple

import numpy as np

from ...solvers.errors import FootholdError
from . import rates

DEFAULT_FPS = 30.0
NODE_KEY = "foothold_node"
_SIMPLE = {"neck": "neck", "head": "head", "hips": "hips", "jaw": "jaw"}
_SIDED = {"Eye": "eye", "UpperLeg": "thigh", "LowerLeg": "shin", "Foot": "foot", "Toes": "toe", "Shoulder": "shoulder",
          "UpperArm": "upper_arm", "LowerArm": "forearm", "Hand": "hand"}
_FINGERS = ("Index", "Middle", "Ring", "Little")
_JOINTS = ("Proximal", "Intermediate", "Distal")
_THUMB = {"0": _JOINTS, "1": ("Metacarpal", "Proximal", "Distal")}


class Document(NamedTuple):
    path: str
    json: dict
    binary: bytes  # the GLB's own buffer, b"" for a .gltf


def read(path):
    """The Document of a .gltf, .glb or .vrm file. Raises FootholdError where it is broken."""
    with open(path, "rb") as file:
        data = file.read()
    if not data.strip():
        raise FootholdError(f"{path}: the file is empty; export it again")
    try:
        text, binary = _chunks(path, data) if data[:4] == b"glTF" else (data, b"")
        document = json.loads(text)
        if not isinstance(document, dict) or "asset" not in document:
            raise ValueError("no asset")
    except (ValueError, struct.error) as error:
        raise FootholdError(f"{path}: this is not a glTF file, or it is broken; export it again") from error
    return Document(str(path), document, binary)


def _chunks(path, data):
    version, length = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise FootholdError(f"{path}: glTF version {version} cannot be read; export it as glTF 2.0")
    if length > len(data):
        raise FootholdError(f"{path}: the file is cut off ({len(data)} of {length} bytes); export or copy it again")
    size, = struct.unpack_from("<I", data, 12)
    binary = b""
    at = 20 + size
    if at + 8 <= length:
        count, = struct.unpack_from("<I", data, at)
        binary = data[at + 8:at + 8 + count]
    return data[20:20 + size], binary


def write_glb(document, path):
    """Write a Document with its own buffer as a .glb file."""
    text = json.dumps(document.json, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    binary = document.binary + b"\0" * (-len(document.binary) % 4)
    body = struct.pack("<I4s", len(text), b"JSON") + text
    if binary:
        body += struct.pack("<I4s", len(binary), b"BIN\0") + binary
    with open(path, "wb") as file:
        file.write(struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body)


def check_buffers(document):
    """Raise FootholdError where a buffer or picture that the file names is not beside it, or is too short."""
    for buffer in document.json.get("buffers", ()):
        if len(_buffer(document, buffer)) < buffer.get("byteLength", 0):
            raise FootholdError(f"{document.path}: its data is cut off; export or copy it again")


def clips(document):
    """Name and key times (N,) in seconds of each clip, in file order."""
    found = []
    for i, animation in enumerate(document.json.get("animations", ())):
        inputs = {sampler["input"] for sampler in animation.get("samplers", ())}
        times = [_scalars(document, index) for index in sorted(inputs)]
        found.append((animation.get("name", f"Animation_{i}"), np.unique(np.concatenate(times or [np.zeros(0)]))))
    return found


def fps(document):
    """The rate on whose whole frames the keys of all clips lie; 30 where no rate fits or nothing moves."""
    votes = [rates.from_times(times) for _, times in clips(document) if len(times) > 1]
    votes = [v for v in votes if v]
    if not votes:
        return DEFAULT_FPS
    best = max(set(votes), key=votes.count)
    fitting = all(rates.fits(times, best, 0.06) for _, times in clips(document) if len(times) > 1)
    return best if fitting else max(votes)


def humanoid(document):
    """Role -> node index as the file's VRM extension says; empty without one."""
    extensions = document.json.get("extensions") or {}
    if "VRMC_vrm" in extensions:
        bones = extensions["VRMC_vrm"].get("humanoid", {}).get("humanBones", {})
        return _roles({name: bone["node"] for name, bone in bones.items() if "node" in bone}, "1")
    bones = extensions.get("VRM", {}).get("humanoid", {}).get("humanBones", ())
    return _roles({bone["bone"]: bone["node"] for bone in bones if bone.get("node", -1) >= 0}, "0")


def _roles(bones, version):
    torso = [bones[name] for name in ("spine", "chest", "upperChest") if name in bones]
    names = ["spine", "spine.1", "chest"] if len(torso) == 3 else ["spine", "chest"][:len(torso)]
    roles = dict(zip(names, torso))
    roles.update({role: bones[name] for name, role in _SIMPLE.items() if name in bones})
    for side, suffix in (("left", ".L"), ("right", ".R")):
        table = {side + name: role + suffix for name, role in _SIDED.items()}
        for finger in _FINGERS:
            table.update({f"{side}{finger}{joint}": f"{finger.lower()}.{i}{suffix}" for i, joint in
                          enumerate(_JOINTS, 1)})
        table.update({f"{side}Thumb{joint}": f"thumb.{i}{suffix}" for i, joint in enumerate(_THUMB[version], 1)})
        roles.update({role: bones[name] for name, role in table.items() if name in bones})
    return roles


def importable(document):
    """A copy that Blender imports without losing track: nodes know their index, what no bone can have is made plain.

    Not-a-number and zero scales in nodes (the keys are what counts) become the defaults; VRM extensions are no longer
    required. Returns the copy and the names of the nodes that were mended.
    """
    copied = json.loads(json.dumps(document.json))
    mended = []
    for i, node in enumerate(copied.get("nodes", ())):
        extras = node.get("extras")
        node["extras"] = {**(extras if isinstance(extras, dict) else {}), NODE_KEY: i}
        if _mend(node):
            mended.append(node.get("name", f"node {i}"))
    for key in ("extensionsRequired", "extensionsUsed"):
        if key in copied:
            copied[key] = [name for name in copied[key] if not name.startswith("VRM")]
            if not copied[key]:
                del copied[key]
    return document._replace(json=copied), mended


def needs_mending(document):
    """Whether a node has a transform that no bone can have."""
    return any(_mend(dict(node)) for node in document.json.get("nodes", ()))


def _mend(node):
    bad = False
    for key, least in (("translation", 0.0), ("rotation", 1e-12), ("scale", 1e-9), ("matrix", 1e-12)):
        if key in node:
            values = np.abs(np.array([np.nan if v is None else v for v in node[key]], float))
            size = values.min() if key == "scale" else values.max()
            if not np.all(np.isfinite(values)) or size < least:
                del node[key]
                bad = True
    return bad


def _scalars(document, index):
    accessor = document.json["accessors"][index]
    count = accessor["count"]
    if "bufferView" not in accessor:
        return np.zeros(count)
    view = document.json["bufferViews"][accessor["bufferView"]]
    data = _buffer(document, document.json["buffers"][view["buffer"]])
    start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
    stride = view.get("byteStride", 4)
    raw = np.frombuffer(data, np.uint8, min(stride * (count - 1) + 4, max(len(data) - start, 0)), start)
    if len(raw) < stride * (count - 1) + 4:
        raise FootholdError(f"{document.path}: its data is cut off; export or copy it again")
    if stride != 4:
        raw = np.lib.stride_tricks.as_strided(raw, (count, 4), (stride, 1)).copy()
    return np.ascontiguousarray(raw).reshape(-1).view("<f4").astype(float)


def _buffer(document, buffer):
    uri = buffer.get("uri")
    if uri is None:
        return document.binary
    if uri.startswith("data:"):
        return base64.b64decode(uri.partition(",")[2])
    path = os.path.join(os.path.dirname(document.path), urllib.parse.unquote(uri))
    if not os.path.isfile(path):
        raise FootholdError(f"{document.path}: its data file {os.path.basename(path)} is missing; put it beside it")
    with open(path, "rb") as file:
        return file.read()
