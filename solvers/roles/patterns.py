"""What the words of a bone's name say where no naming family knows it: `armL_upper`, `joint_leg_L_2`, `Body_Spine_A`.

The words are data, `families/general/words.json`. A name that only tells the limb (a region) is placed by where its
bone stands on the limb.
"""

import functools
import json

from . import words
from .families import FOLDER, Claim

_CHAINS = {"arm": ("shoulder", "upper_arm", "forearm", "hand"), "leg": ("thigh", "shin", "foot", "toe")}
_FIRST = {"arm": ("upper_arm", "forearm", "hand", "shoulder"), "leg": ("thigh", "shin", "foot", "toe")}
_FINGERS = ("thumb", "index", "middle", "ring", "little")
_TWISTED = {"upper_arm", "forearm", "thigh", "shin"}


@functools.lru_cache(maxsize=1)
def _data():
    document = json.loads((FOLDER / "general" / "words.json").read_text(encoding="utf-8"))
    parts = [(frozenset(row), part) for part, rows in document["parts"].items() for row in rows]
    known = {w for row, _ in parts for w in row} | {w for rows in document["regions"].values() for w in rows}
    known |= set(document["helpers"]) | set(document["twist"]) | set(document["metacarpal"])
    sides = {w: "L" for w in document["left"]} | {w: "R" for w in document["right"]}
    regions = {w: region for region, rows in document["regions"].items() for w in rows}
    helpers = frozenset(document["helpers"])
    return parts, known, sides, regions, helpers, frozenset(document["twist"]), frozenset(document["metacarpal"])


@functools.lru_cache(maxsize=4096)
def _split(word):
    """A glued word as known words and sides: 'lupperarm' -> l, upper, arm; None where it cannot be split wholly."""
    _, known, sides, *_ = _data()
    if word in known or word in sides:
        return (word,)
    for i in range(1, len(word)):
        first, rest = word[:i], word[i:]
        if first in known or first in sides:
            # a single letter is only trusted as a side beside a whole known word
            tail = ((rest,) if rest in known else None) if i == 1 else _split(rest)
            if tail:
                return (first, *tail)
    return None


def _words(name):
    out = []
    for word in words.words(words.without_namespace(name)):
        out += _split(word) or (word,)
    return out


def _side(found):
    _, _, sides, *_ = _data()
    said = {sides[w] for w in found if w in sides}
    return said.pop() if len(said) == 1 else ""


@functools.lru_cache(maxsize=4096)
def claim(name):
    """(Claim or None, whether the name says that the bone is a helper)."""
    parts, _, _, regions, helpers, twists, metacarpals = _data()
    found = _words(name)
    have, side = set(found), _side(found)
    if have & helpers:
        return None, True
    fits = [(len(row), -i, part) for i, (row, part) in enumerate(parts) if row <= have]
    part = max(fits)[2] if fits else next((regions[w] for w in found if w in regions), None)
    if part is None:
        return None, False
    if part in _FINGERS:
        if have & {"toe", "toes", "foot"}:
            return None, True
        if have & metacarpals:
            part += ".0"
    if have & twists:
        if part not in _TWISTED or not side:
            return None, True
        part += ".twist"
    central = part in ("hips", "torso", "neck", "head", "jaw", "root")
    if central == bool(side):
        return None, central  # a 'hip.L' or a 'chest.R' is some muscle or pivot
    return Claim(part, side), False


def read(names, tree):
    """(claims: bone -> Claim, helpers: set of bones) of all names, regions placed along their limbs."""
    claims, helpers = {}, set()
    for j, name in enumerate(names):
        said, helper = claim(name)
        if helper:
            helpers.add(j)
        elif said:
            claims[j] = said
    return place_regions(claims, tree), helpers


def place_regions(claims, tree):
    """Claims in which 'arm' and 'leg' have become parts, by their order along the limb between the parts named."""
    out = {j: c for j, c in claims.items() if c.part not in _CHAINS}
    for region, chain in _CHAINS.items():
        for side in "LR":
            vague = [j for j, c in claims.items() if c == Claim(region, side)]
            if not vague:
                continue
            deepest = max(vague, key=lambda j: tree.depth[j])
            vague = sorted((j for j in vague if tree.is_above(j, deepest)), key=lambda j: tree.depth[j])
            taken = {c.part: j for j, c in claims.items() if c.side == side and c.part in chain}
            out.update({j: Claim(part, side) for j, part in _fill(vague, taken, region, tree)})
    return out


def _fill(vague, taken, region, tree):
    """Which parts the bones of one limb are that only tell the limb, given the parts that others have `taken`."""
    chain = _CHAINS[region]
    above = [chain.index(p) for p, j in taken.items() if tree.is_above(j, vague[0])]
    below = [chain.index(p) for p, j in taken.items() if tree.is_above(vague[-1], j)]
    low, high = max(above, default=-1) + 1, min(below, default=len(chain))
    free = [p for p in chain[low:high] if p not in taken]
    wanted = [p for p in _FIRST[region] if p in free][:len(vague)]
    return list(zip(vague, sorted(wanted, key=chain.index)))
