"""From claims to roles: one bone a role, chains numbered in the order of the tree, conflicts settled and named.

Where several bones claim one role, the one is taken that deforms, then the one with more of its limb above and below
it, then the one with more descendants, then the one that comes first.
"""

import re
from typing import NamedTuple

import numpy as np

from .. import anatomy
from . import words
from .families import Claim

_LIMBS = ("shoulder", "upper_arm", "forearm", "hand"), ("thigh", "shin", "foot", "toe")
_TWISTED = ("upper_arm", "forearm", "thigh", "shin")
_DIGITS = re.compile(r"(\d+)")


class Settled(NamedTuple):
    """Roles by bone index, and what had to be decided."""

    roles: dict  # role -> bone index
    conflicts: list  # sentences
    notes: list  # sentences


def natural(name):
    """Sort key under which 'twist2' comes before 'twist10'."""
    return [int(part) if part.isdigit() else part for part in _DIGITS.split(words.key(name))]


class _Claims:
    """The claims by part and side, with the rule that settles conflicts."""

    def __init__(self, claims, tree):
        self.tree = tree
        self.bones = {}
        for j, claim in claims.items():
            self.bones.setdefault(claim, []).append(j)
        self.conflicts, self.notes = [], []

    def of(self, part, side=""):
        return self.bones.get(Claim(part, side), [])

    def deforming(self, bones):
        """Those that deform, or all where none does."""
        return [j for j in bones if self.tree.deforms[j]] or list(bones)

    def one(self, role, bones, support=()):
        """The bone that gets the role, or None; a conflict is noted."""
        if not bones:
            return None
        tree = self.tree

        def worth(j):
            return tree.deforms[j], sum(tree.related(j, k) for k in support), tree.size[j], -j

        ranked = sorted(bones, key=worth, reverse=True)
        if len(ranked) > 1:
            a, b = worth(ranked[0]), worth(ranked[1])
            reason = ("it deforms" if a[0] != b[0] else "it lies on the limb" if a[1] != b[1] else
                      "it carries more bones" if a[2] != b[2] else "it comes first")
            others = ", ".join(f"'{tree.names[j]}'" for j in ranked[1:])
            self.conflicts.append(f"{role}: '{tree.names[ranked[0]]}' is taken ({reason}), not {others}")
        return ranked[0]

    def row(self, role, bones):
        """Bones of one chain in order from the body outwards; what lies beside the chain is left out and named."""
        tree = self.tree
        bones = self.deforming(bones)
        if len(bones) < 2:
            return bones
        if not any(tree.related(a, b) for i, a in enumerate(bones) for b in bones[:i]):
            return sorted(bones, key=lambda j: natural(tree.names[j]))  # the tree does not tell: numbers do
        end = max(bones, key=lambda j: (sum(tree.is_above(k, j) for k in bones), -j))
        line = [j for j in tree.line(end) if j in bones]
        beside = [j for j in bones if j not in line]
        if beside:
            others = ", ".join(f"'{tree.names[j]}'" for j in beside)
            self.conflicts.append(f"{role}: {others} left out, beside the chain that ends in '{tree.names[end]}'")
        return line


def settle(claims, tree, outer=()):
    """Settled roles of a dict bone -> Claim; `outer` see `families`."""
    found = _Claims(claims, tree)
    roles = _limbs(found, outer)
    roles.update(_trunk(found, roles))
    for role in ("jaw", "eye.L", "eye.R"):
        part, _, side = role.partition(".")
        bone = found.one(role, found.of(part, side))
        if bone is not None:
            roles[role] = bone
    roles.update(_fingers(found, roles))
    roles.update(_twists(found, roles))
    return Settled(roles, found.conflicts, found.notes)


def _limbs(found, outer):
    tree, roles = found.tree, {}
    for side in anatomy.SIDES:
        for limb in _LIMBS:
            everything = {part: found.of(part, side) for part in limb}
            for part in limb:
                bones = everything[part]
                if part in outer and len(bones) > 1:
                    top = min(bones, key=lambda j: tree.depth[j])
                    there = [j for j in bones if tree.is_above(top, j) and tree.distance(top, j) < 1e-4 * tree.reach()]
                    bones = [max(there, key=lambda j: tree.depth[j])]
                    if bones != [top] and part == "hand":  # the inner one turns about the forearm only
                        found.bones.setdefault(Claim("forearm.twist", side), []).append(top)
                        found.notes.append(f"hand.{side}: '{tree.names[bones[0]]}' stands at the joint of "
                                           f"'{tree.names[top]}' and carries the turns of both.")
                support = [j for other, row in everything.items() if other != part for j in row]
                bone = found.one(f"{part}.{side}", bones, support)
                if bone is not None:
                    roles[f"{part}.{side}"] = bone
    return roles


def _anchors(roles, parts):
    return [roles[f"{part}.{side}"] for side in anatomy.SIDES
            for part in [next((p for p in parts if f"{p}.{side}" in roles), None)] if part]


def _trunk(found, limbs):
    tree, out = found.tree, {}
    thighs, arms = _anchors(limbs, ("thigh", "shin")), _anchors(limbs, ("shoulder", "upper_arm"))
    head = found.one("head", found.of("head"), found.of("neck") + found.of("torso") + found.of("column"))
    column = found.row("column", found.of("column"))
    torso, necks = found.of("torso"), found.of("neck")
    upper = [j for j in [head, *arms[:1], *torso[:1], *column[-1:]] if j is not None][:1]
    hips = _hips(found, thighs, upper, column)
    if hips is not None:
        out["hips"] = hips
    column = [j for j in column if j != hips]
    if column and head is None and not necks:
        head = column.pop()
    below, above = _split_column(column, arms, tree)
    torso = [j for j in torso + below if j not in (hips, head) and (hips is None or not tree.is_above(j, hips))]
    necks = [j for j in necks + above if j != head]
    if head is None and len(found.deforming(necks)) > 1:  # a chain called neck ends in the head
        head = found.row("neck", necks)[-1]
        necks = [j for j in necks if j != head]
    end = head if head is not None else (necks or arms or [None])[0]
    torso, necks = (_on_the_way(found, part, bones, end) for part, bones in (("spine", torso), ("neck", necks)))
    if head is not None:
        out["head"] = head
    names = ["spine"] + [f"spine.{i}" for i in range(1, len(torso) - 1)] + (["chest"] if len(torso) > 1 else [])
    out.update(zip(names, torso))
    out.update((("neck" if i == 0 else f"neck.{i}"), j) for i, j in enumerate(necks))
    if hips is not None and tree.parents[hips] >= 0:
        line = tree.line(hips)[:-1]
        taken = set(out.values()) | set(limbs.values())
        named = [j for j in found.of("root") if j in line]
        top = next((j for j in named or line if j not in taken), None)
        if top is not None:
            out["root"] = top
    return out


def _hips(found, thighs, upper, column):
    """The bone that carries the legs and the trunk: the one so named, else where they meet."""
    tree, named = found.tree, found.of("hips")
    carried = thighs + upper
    whole = [j for j in named if all(tree.is_above(j, k) for k in carried)]
    if len(whole) > 1:
        whole = found.deforming(whole)
        lowest = max(whole, key=lambda j: (tree.depth[j], -j))
        others = ", ".join(f"'{tree.names[j]}'" for j in named if j != lowest)
        found.conflicts.append(f"hips: '{tree.names[lowest]}' is taken (it is nearest to the legs), not {others}")
        return lowest
    if whole:
        return whole[0]
    if column and (not thighs or all(tree.is_above(column[0], k) for k in thighs) or not named):
        return column[0] if not named else found.one("hips", named)
    meeting = tree.meeting(carried) if thighs and upper else None
    if meeting is not None and meeting not in found.of("torso"):
        return meeting
    return found.one("hips", named, carried) if named else meeting


def _split_column(column, arms, tree):
    """(torso, neck) of a numbered column without its pelvis and head: the arms hang from the last torso bone."""
    carriers = [i for i, j in enumerate(column) for arm in arms if tree.is_above(j, arm)]
    if carriers:
        count = max(carriers) + 1
    else:  # the usual metarig: three in the torso, two in the neck
        count = len(column) - (2 if len(column) >= 5 else 1 if len(column) >= 3 else 0)
    return column[:count], column[count:]


def _on_the_way(found, role, bones, end):
    """The bones of a chain in order; where some lie on the way to `end`, only those and what lies between them."""
    tree = found.tree
    bones = found.deforming(bones)
    on = [j for j in bones if end is not None and tree.is_above(j, end)]
    if on:
        beside = [j for j in bones if j not in on]
        if beside:
            others = ", ".join(f"'{tree.names[j]}'" for j in beside)
            found.conflicts.append(f"{role}: {others} left out, not on the way to '{tree.names[end]}'")
        on = sorted(on, key=lambda j: tree.depth[j])
        # a bone between two of a chain bends with it, whatever it is called
        return [j for j in tree.line(on[-1]) if tree.depth[j] >= tree.depth[on[0]]]
    return found.row(role, bones)


def _fingers(found, limbs):
    tree, out = found.tree, {}
    for side in anatomy.SIDES:
        hand = limbs.get(f"hand.{side}")

        def under(bones, hand=hand):
            inside = [j for j in bones if hand is not None and tree.is_above(hand, j) and j != hand]
            return inside or [j for j in bones if j != hand]

        for finger in anatomy.FINGERS:
            bones, metacarpals = under(found.of(finger, side)), under(found.of(finger + ".0", side))
            if finger == "thumb":
                bones, metacarpals = bones + metacarpals, []
            bone = found.one(f"{finger}.0.{side}", metacarpals)
            if bone is not None:
                out[f"{finger}.0.{side}"] = bone
            for i, j in enumerate(found.row(f"{finger}.{side}", bones)[:3], 1):
                out[f"{finger}.{i}.{side}"] = j
    return out


def _twists(found, limbs):
    """Twist bones of a limb, numbered from where it begins."""
    tree, out = found.tree, {}
    for side in anatomy.SIDES:
        for part in _TWISTED:
            limb = limbs.get(f"{part}.{side}")
            bones = [j for j in found.deforming(found.of(part + ".twist", side)) if j != limb]
            if limb is None or not bones:
                continue
            child = limbs.get(anatomy.limb_child(f"{part}.{side}", limbs))
            end = tree.heads[child] if child is not None else np.mean(tree.heads[bones], axis=0)
            axis = end - tree.heads[limb]
            grain = max(1e-3 * tree.reach() ** 2, 1e-12)
            along = {j: round(float(np.dot(tree.heads[j] - tree.heads[limb], axis)) / grain) for j in bones}
            bones.sort(key=lambda j: (along[j], natural(tree.names[j])))
            out.update((f"{part}.twist.{i}.{side}", j) for i, j in enumerate(bones, 1))
    return out
