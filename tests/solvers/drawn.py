"""Skeletons from little texts: one bone a line, `name = role`, children indented by a space.

`[Left|Right]` in a name doubles the bone and all below it, and `*` in its role stands for L and R. A bone without a
role is a helper beside its parent. Bones with a role stand where that role stands in a T-pose of 1.7 m, facing -Y.
"""

import re

import numpy as np

from foothold.solvers.skeleton import Skeleton

_SIDES = re.compile(r"\[([^|\]]*)\|([^\]]*)\]")
_PLACES = {"root": (0, 0, 0), "hips": (0, 0, 0.93), "head": (0, 0.01, 1.52), "jaw": (0, -0.03, 1.55),
           "eye": (0.03, -0.08, 1.6), "shoulder": (0.03, 0, 1.38), "upper_arm": (0.17, 0.02, 1.39),
           "forearm": (0.44, 0.02, 1.39), "hand": (0.69, 0.01, 1.39), "thigh": (0.09, 0, 0.88),
           "shin": (0.09, -0.01, 0.48), "foot": (0.09, 0.01, 0.08), "toe": (0.1, -0.12, 0.02)}
_LIMBS = {"upper_arm": "forearm", "forearm": "hand", "thigh": "shin", "shin": "foot"}
_FINGERS = {"thumb": (-0.045, 0.02), "index": (-0.03, 0.08), "middle": (-0.005, 0.09), "ring": (0.02, 0.085),
            "little": (0.045, 0.075)}


class _Node:
    def __init__(self, name, role):
        self.name, self.role, self.children = name, role, []


def _parse(text):
    top = _Node("", None)
    open_nodes = [(-1, top)]
    for line in text.strip("\n").split("\n"):
        if not line.strip():
            continue
        depth = len(line) - len(line.lstrip(" "))
        name, _, role = line.strip().partition(" = ")
        while open_nodes[-1][0] >= depth:
            open_nodes.pop()
        node = _Node(name, role or None)
        open_nodes[-1][1].children.append(node)
        open_nodes.append((depth, node))
    return top.children


def _rows(nodes, parent, side, out):
    for node in nodes:
        doubled = _SIDES.search(node.name) and side is None
        for i in (0, 1) if doubled else (side,):
            name = _SIDES.sub(lambda m, i=i: m.group(i + 1), node.name) if i is not None else node.name
            role = node.role.replace("*", "LR"[i]) if node.role and i is not None else node.role
            out.append((name, parent, role))
            _rows(node.children, len(out) - 1, i, out)
    return out


def _place(role, torso, necks):
    part, _, rest = role.partition(".")
    sign = -1.0 if role.endswith(".R") else 1.0
    if role in torso:
        return np.array([0.0, 0.01, 1.0 + 0.24 * torso.index(role) / max(len(torso) - 1, 1)])
    if role in necks:
        return np.array([0.0, 0.02, 1.42 + 0.05 * necks.index(role)])
    if ".twist." in role:
        low, high = np.array(_PLACES[part]), np.array(_PLACES[_LIMBS[part]])
        at = low + (high - low) * int(rest.split(".")[1]) / 4.0
    elif part in _FINGERS:
        across, along = _FINGERS[part]
        number = int(rest.split(".")[0])
        along = 0.03 if number == 0 else along + 0.03 * (number - 1)
        at = np.array([0.69 + along, 0.01 + across * (0.5 if number == 0 else 1.0), 1.39])
    else:
        at = np.array(_PLACES[part], float)
    return at * [sign, 1.0, 1.0]


def figure(text, place=None, deforms=None):
    """(Skeleton, truth role -> bone name) of a text; `place` (4, 4) is the object's matrix.

    `deforms` is a function of the bone's name, for all bones by default.
    """
    rows = _rows(_parse(text), -1, None, [])
    roles = [role for _, _, role in rows if role]
    torso = [r for r in ("spine", *(f"spine.{i}" for i in range(1, 9)), "chest") if r in roles]
    necks = [r for r in ("neck", "neck.1", "neck.2") if r in roles]
    order = sorted(range(len(rows)), key=lambda i: _depth(rows, i))
    index = {old: new for new, old in enumerate(order)}
    heads = {}
    for i in order:
        name, parent, role = rows[i]
        beside = heads.get(parent, np.zeros(3)) + [0.0, 0.005 * (1 + i % 7), -0.003]
        heads[i] = _place(role, torso, necks) if role else beside
    joints = len(rows)
    rest = np.tile(np.eye(4), (joints, 1, 1))
    rest[:, :3, 3] = [heads[i] for i in order]
    names = tuple(rows[i][0] for i in order)
    assert len(set(names)) == joints, "a figure's bones have names of their own"
    all_true = np.ones(joints, bool)
    skeleton = Skeleton(names, np.array([index.get(rows[i][1], -1) for i in order]), rest,
                        all_true, all_true, ~all_true,
                        np.array([deforms(n) for n in names]) if deforms else all_true,
                        np.eye(4) if place is None else place)
    return skeleton, {role: name for name, _, role in rows if role}


def _depth(rows, i):
    depth = 0
    while rows[i][1] >= 0:
        i, depth = rows[i][1], depth + 1
    return depth
