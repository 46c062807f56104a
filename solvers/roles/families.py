"""Naming families, kept as data in `families/*.json`.

A family lists for each part of the body the names that its rigs use, as templates: `{side}HandIndex{n}`. Its `sides`
say what stands for left and right, `{n}` is a number of one or two digits or nothing, `{n3}` Blender's .001 or nothing.
`extends` takes over another family's rows, `skip` names bones that belong to the family but have no role, `marks` are
prefixes that speak for this family. Names are compared without case and separators, after any one prefix that most of
the matching bones share (`prefix: false`: only without one). A part is a role without side and number; `torso` and
`neck` are the bones of a chain, `column` a bone of either or of the pelvis or head, `index` a finger's bone, `index.0`
a metacarpal, `forearm.twist` a twist bone. `outer` names parts of which, where several bones share one joint, the outer
one is meant: it carries the turns of all.
"""

import functools
import json
import pathlib
import re
from typing import NamedTuple

from . import words
from .tree import Tree

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "families"
_NUMBERS = [""] + [str(i) for i in range(10)] + [f"{i:02d}" for i in range(10)]
_COPIES = [""] + [f".{i:03d}" for i in range(1, 10)]
_WEIGHTS = {"hips": 3, "head": 2, "torso": 1, "column": 1, "neck": 1, "shoulder": 2, "upper_arm": 3, "forearm": 3,
            "hand": 3, "thigh": 3, "shin": 3, "foot": 3, "toe": 2, "root": 0.2}
_LIMBS = ("upper_arm", "forearm", "hand"), ("thigh", "shin", "foot")


class Claim(NamedTuple):
    """What a name says: a part of the body and a side, "L", "R" or "" for none."""

    part: str
    side: str


class Family(NamedTuple):
    """One naming family, ready for look-up."""

    name: str
    claims: dict  # key -> Claim; None for a bone that is known to have no role
    any_prefix: bool
    marks: tuple  # compiled patterns of prefixes that speak for the family
    outer: tuple  # parts of which the outer bone of one joint is meant
    special: bool  # extends another family: at equal worth the other one is meant


class Match(NamedTuple):
    """How well a family fits a skeleton."""

    family: Family
    claims: dict  # bone -> Claim
    skipped: tuple  # bones that the family knows to have no role
    score: float


def _expand(template, sides):
    """(name, side) for every side and number that a template stands for."""
    rows = [(template, "")]
    for tag, pairs in sides.items():
        if "{" + tag + "}" in template:
            rows = [(text.replace("{" + tag + "}", spelt), "LR"[i]) for text, _ in rows for pair in pairs
                    for i, spelt in enumerate(pair)]
    for tag, numbers in (("{n}", _NUMBERS), ("{n3}", _COPIES)):
        rows = [(text.replace(tag, number), side) for text, side in rows
                for number in (numbers if tag in text else [""])]
    return rows


def compile_family(document, documents):
    """The Family of a JSON document; `documents` holds those that it may extend, by name."""
    bones, sides = dict(document["bones"]), dict(document["sides"])
    if "extends" in document:
        base = documents[document["extends"]]
        bones, sides = {**base["bones"], **bones}, {**base["sides"], **sides}
    claims = {}
    for part, templates in bones.items():
        for template in templates:
            for name, side in _expand(template, sides):
                claims.setdefault(words.key(name), Claim(part, side))
    for template in document.get("skip", ()):
        for name, _ in _expand(template, sides):
            claims[words.key(name)] = None
    marks = tuple(re.compile(mark) for mark in document.get("marks", ()))
    return Family(document["family"], claims, document.get("prefix", True), marks, tuple(document.get("outer", ())),
                  "extends" in document)


@functools.lru_cache(maxsize=1)
def load():
    """All families of the folder, in the order of their names."""
    documents = {}
    for path in sorted(FOLDER.glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        documents[document["family"]] = document
    return tuple(compile_family(d, documents) for d in documents.values())


@functools.lru_cache(maxsize=1)
def _index():
    """key -> families that know it."""
    index = {}
    for family in load():
        for key in family.claims:
            index.setdefault(key, []).append(family)
    return index


def match(names, tree):
    """Matches of all families that know a bone of the skeleton, the best first."""
    found = {}  # family -> prefix -> bone -> key
    for j, name in enumerate(names):
        for prefix, rest in words.spellings(name):
            for family in _index().get(rest, ()):
                if not prefix or family.any_prefix:
                    found.setdefault(family.name, {}).setdefault(prefix, {}).setdefault(j, rest)
    by_name = {family.name: family for family in load()}
    out = [_judge(by_name[name], prefixes, tree) for name, prefixes in found.items()]
    return sorted(out, key=lambda m: (-m.score, m.family.special, m.family.name))


def _judge(family, prefixes, tree):
    best = None
    for prefix in sorted(prefixes):
        bones = prefixes[prefix]
        claims = {j: family.claims[key] for j, key in bones.items() if family.claims[key] is not None}
        skipped = tuple(j for j, key in bones.items() if family.claims[key] is None)
        worth = score(claims, tree) + 0.5 * len(skipped)
        if worth > 0 and any(mark.fullmatch(prefix) for mark in family.marks):
            worth += 3.0
        if best is None or worth > best.score:
            best = Match(family, claims, skipped, worth)
    return best


def score(claims, tree: Tree):
    """Worth of a set of claims: every role counts once, impossible trees count against it."""
    by_claim = {}
    for j, claim in claims.items():
        by_claim.setdefault(claim, []).append(j)
    worth = 0.0
    for claim, bones in by_claim.items():
        many = len(bones) if claim.part in ("torso", "column", "neck") else 1
        worth += min(many, 4) * _WEIGHTS.get(claim.part, 0.5)
    for limb in _LIMBS:
        for upper, lower in zip(limb, limb[1:]):
            for side in "LR":
                above, below = by_claim.get(Claim(upper, side), ()), by_claim.get(Claim(lower, side), ())
                if above and below and any(tree.is_above(b, a) for a in above for b in below):
                    worth -= 4.0  # the lower part above the upper one
    return worth
