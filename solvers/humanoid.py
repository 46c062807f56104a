"""Which bone plays which role of the human body: found by names, by words, by shape; checked, saved and loaded.

In this order: what the file itself says (VRM) wins, then the naming family that fits best (`solvers/families`), then
the words of the remaining names, and the shape of the skeleton where the core of the body is still open. Helpers such
as skirts, hair, sockets, heels, IK targets and end bones get no role. A bone is asked for its head and its place in the
tree, never for where it points.
"""

import json
from typing import NamedTuple

from . import anatomy
from .errors import FootholdError
from .roles import families, patterns, settle, shape
from .roles.families import Claim
from .roles.table import CORE, GROUPS, LIMB_CHILD, PARENT, ROLES, is_role, mirror_role, sort_key
from .roles.tree import Tree
from .roles.words import mirror_bone

__all__ = ["CORE", "GROUPS", "LIMB_CHILD", "PARENT", "ROLES", "Detection", "chain", "detect", "dump_roles", "is_role",
           "load_roles", "mirror_bone", "mirror_role", "missing", "validate"]

VERSION = 1
_CHAINS = {"torso": anatomy.torso, "spine": anatomy.torso, "neck": anatomy.neck}
_SHARED = ("torso", "column", "neck")  # parts that many bones may claim


class Detection(NamedTuple):
    """What was found."""

    roles: dict  # role -> bone name, in the order of ROLES
    family: str  # the naming family; "procedural" for plain words, "structure" for the shape, "" for nothing
    conflicts: tuple  # sentences: where several bones fitted one role, and which was taken
    notes: tuple  # sentences: what else the artist should know


def detect(skeleton, hints=None):
    """Detection of the roles of a Skeleton; `hints` (role -> bone name) come from the file and win."""
    tree = Tree(skeleton)
    conflicts, notes = [], []
    given = _sound_hints(hints or {}, skeleton, conflicts)
    claims, family, outer, known = _named(tree)
    missing_core = _open_core(claims, tree)
    if missing_core and not given:
        by_shape = _shaped(tree, claims, known)
        if by_shape:
            if not claims or len(by_shape) > 2 * len(claims):
                family = "structure"
            notes.append("Some roles come from the skeleton's shape alone: look them over.")
            claims = {**by_shape, **claims}
    settled = settle.settle(claims, tree, outer)
    roles = {role: tree.names[j] for role, j in settled.roles.items()}
    found = _with_hints(given, roles)
    if not given:
        conflicts += settled.conflicts
        notes += settled.notes
    if given:
        notes.append(f"The file itself names {len(given)} roles.")
    lacking = missing(found)
    if lacking and found:
        notes.append(f"No bone found for: {', '.join(lacking)}.")
    ordered = {role: found[role] for role in sorted(found, key=sort_key)}
    return Detection(ordered, family if ordered else "", tuple(conflicts), tuple(notes))


def _named(tree):
    """(claims, family's name, outer parts, bones known to have no role) by families and words."""
    matches = families.match(tree.names, tree)
    worded, helpers = patterns.read(tree.names, tree)
    best = matches[0] if matches else None
    if best is None or families.score(worded, tree) > best.score + 1.0:
        return worded, "procedural" if worded else "", (), helpers
    skipped = set(best.skipped)
    claims = dict(best.claims)
    taken = set(claims.values())
    whole = {(c.part.split(".")[0], c.side) for c in taken if c.part not in _SHARED}
    if any(c.part in ("torso", "column") for c in taken):
        whole |= {("torso", ""), ("hips", "")} if any(c.part == "column" for c in taken) else {("torso", "")}
    if any(c.part in ("neck", "column") for c in taken):
        whole |= {("neck", "")} | ({("head", "")} if any(c.part == "column" for c in taken) else set())
    for j, claim in worded.items():
        part = claim.part.split(".")[0]
        twist = claim.part.endswith(".twist") and claim not in taken
        if j not in claims and j not in skipped and (twist or (part, claim.side) not in whole):
            claims[j] = claim
    return claims, best.family.name, best.family.outer, skipped | (helpers - set(claims))


def _open_core(claims, tree):
    """Core parts that no name claims."""
    have = {(c.part, c.side) for c in claims.values()}
    column = sum(c.part == "column" for c in claims.values())
    open_parts = []
    for role in CORE:
        part, _, side = role.partition(".")
        if (part, side) not in have and not (part in ("hips", "head") and column > 2):
            open_parts.append(role)
    return open_parts


def _shaped(tree, claims, known):
    """What the shape says about bones and roles that the names leave open: bone -> Claim."""
    usable = [j not in known for j in range(len(tree.names))]
    found = shape.read(tree, usable)
    agree = sum((claims[j].side == c.side) - (claims[j].side != c.side) for j, c in found.items()
                if j in claims and c.side and claims[j].side)
    if agree < 0:  # names know the sides better than the shape
        found = {j: Claim(c.part, {"L": "R", "R": "L"}.get(c.side, "")) for j, c in found.items()}
    taken = {c for c in claims.values() if c.part not in _SHARED}
    torso = any(c.part in ("torso", "column") for c in claims.values())
    return {j: c for j, c in found.items() if j not in claims and c not in taken
            and not (c.part in ("torso", "neck") and torso)}


def _sound_hints(hints, skeleton, conflicts):
    """The hints that name roles and bones that are there, each bone once."""
    names, used, out = set(skeleton.names), {}, {}
    for role, bone in hints.items():
        if not is_role(role):
            conflicts.append(f"{role}: the file gives this role to '{bone}', but there is no such role")
        elif bone not in names:
            conflicts.append(f"{role}: the file names '{bone}', but there is no such bone")
        elif bone in used:
            conflicts.append(f"{role}: the file gives it to '{bone}', which is already {used[bone]}")
        else:
            used[bone] = role
            out[role] = bone
    return out


def _with_hints(given, roles):
    """The hints, and what was found beside them.

    Nothing is added inside a chain that the file has named, nor to a finger unless both agree on the rest of it.
    """
    if not given:
        return roles
    closed = set()
    if anatomy.torso(given):
        closed |= set(anatomy.torso(roles))
    if anatomy.neck(given):
        closed |= set(anatomy.neck(roles))
    for finger in anatomy.FINGERS:
        for side in anatomy.SIDES:
            bones = {f"{finger}.{i}.{side}" for i in (1, 2, 3)}
            if any(given[r] != roles.get(r) for r in bones & given.keys()):
                closed |= bones
    used = set(given.values())
    return {**{r: b for r, b in roles.items() if r not in closed and b not in used}, **given}


def missing(roles):
    """Core roles that have no bone, in the order of the body."""
    return [role for role in sorted(CORE, key=sort_key) if role not in roles]


def chain(roles, name):
    """The mapped roles of a chain from the hips outwards: "spine" or "neck"."""
    return _CHAINS[name](roles)


def validate(roles, skeleton):
    """Faults of a role map as sentences that name role and bone; an empty list for a sound one."""
    faults, used, names = [], {}, set(skeleton.names)
    for role, bone in roles.items():
        if not is_role(role):
            faults.append(f"'{role}' is not a role: choose one of the table, such as 'forearm.L'")
        if bone not in names:
            faults.append(f"{role}: there is no bone '{bone}': pick another")
        elif bone in used:
            faults.append(f"{role}: bone '{bone}' is already {used[bone]}: clear one of the two")
        used.setdefault(bone, role)
    if "hips" not in roles:
        faults.append("hips: no bone is given: pick the pelvis")
    return faults


def dump_roles(path, roles):
    """Write a role map as JSON. Raises FootholdError where the file cannot be written."""
    ordered = {role: roles[role] for role in sorted(roles, key=sort_key)}
    text = json.dumps({"version": VERSION, "roles": ordered}, ensure_ascii=False, indent=1)
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    except OSError as error:
        raise FootholdError(f"{path}: the role map cannot be written ({error.strerror}): choose another place"
                            ) from error


def load_roles(path):
    """A role map, role -> bone name, from a JSON file: {"version": 1, "roles": {...}} or a plain table.

    Raises FootholdError that names the file and the row at fault.
    """
    return _table(path, _document(path))


def load_role_tables(path, single="body"):
    """{"take": roles, "body": roles} from a JSON file with either or both; a single table is the `single` one's.

    Raises FootholdError as `load_roles` does.
    """
    document = _document(path)
    rows = dict(document) if isinstance(document, _Rows) else {}
    if not {"take", "body"} & set(rows):
        return {single: _table(path, document)}
    unknown = sorted(set(rows) - {"take", "body"})
    if unknown:
        raise FootholdError(f"{path}: '{unknown[0]}' is neither 'take' nor 'body': correct it, or delete it")
    return {word: _table(path, table) for word, table in rows.items()}


def _document(path):
    """The content of a JSON file, its objects as _Rows."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file, object_pairs_hook=_rows)
    except OSError as error:
        raise FootholdError(f"{path}: the role map cannot be read ({error.strerror}): choose another file") from error
    except (ValueError, RecursionError) as error:
        raise FootholdError(f"{path}: this is not JSON ({error}): save the role map again") from error


def _table(path, document):
    rows = dict(document) if isinstance(document, _Rows) else None
    if rows is not None and isinstance(rows.get("roles"), _Rows):
        version = rows.get("version", VERSION)
        if version != VERSION:
            raise FootholdError(f"{path}: version {version!r} is not known here: save the role map again")
        document = rows["roles"]
    if not isinstance(document, _Rows):
        raise FootholdError(f"{path}: there is no table of roles and bones in it: save the role map again")
    return _checked_rows(path, document)


class _Rows(list):
    """Pairs of a JSON object, double keys and all."""


def _rows(pairs):
    return _Rows(pairs)


def _checked_rows(path, rows):
    out, used = {}, {}
    for number, (role, bone) in enumerate(rows, 1):
        row = f"{path}: row {number} ('{role}')"
        if not is_role(role):
            raise FootholdError(f"{row}: there is no such role: correct its name, or delete the row")
        if not isinstance(bone, str) or not bone:
            raise FootholdError(f"{row}: {json.dumps(bone)} is not the name of a bone: write one, or delete the row")
        if role in out:
            raise FootholdError(f"{row}: the role is there twice: delete one of the rows")
        if bone in used:
            raise FootholdError(f"{row}: bone '{bone}' is already {used[bone]}: delete one of the rows")
        out[role] = bone
        used[bone] = role
    return out
