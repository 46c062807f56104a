"""What a role is, anatomically: which role it hangs from and which one its limb points to.

Roles are names such as `forearm.L`. Torso and neck are chains of any length: spine, spine.1, ..., chest and neck,
neck.1, .... Twist bones (`forearm.twist.1.L`) share the roll of their limb.
"""

import re
from functools import lru_cache, wraps

SIDES = ("L", "R")
FINGERS = ("thumb", "index", "middle", "ring", "little")
_LIMBS = ("shoulder", "upper_arm", "forearm", "hand"), ("thigh", "shin", "foot", "toe")
_TWIST = re.compile(r"(\w+)\.twist\.(\d+)\.([LR])$")
_FINGER = re.compile(rf"({'|'.join(FINGERS)})\.(\d)\.([LR])$")


def torso(roles):
    """The mapped torso roles from the hips upwards."""
    between = sorted((r for r in roles if r[:6] == "spine." and r[6:].isdigit()), key=lambda r: int(r[6:]))
    return [r for r in ("spine", *between, "chest") if r in roles]


def neck(roles):
    """The mapped neck roles from the chest upwards."""
    more = sorted((r for r in roles if r[:5] == "neck." and r[5:].isdigit()), key=lambda r: int(r[5:]))
    return [r for r in ("neck", *more) if r in roles]


def is_twist(role):
    """Whether the role is a twist bone of a limb."""
    return _TWIST.match(role) is not None


def twist_of(role):
    """The limb that a twist bone belongs to: forearm.twist.1.L -> forearm.L."""
    part, _, side = _TWIST.match(role).groups()
    return f"{part}.{side}"


def _remembered(ask):
    """Answers of `ask(role, roles)` kept: few sets of roles are asked about, and they again and again."""
    known = lru_cache(maxsize=8192)(ask)
    return wraps(ask)(lambda role, roles: known(role, frozenset(roles)))


def _trunk(roles):
    return [r for r in ("hips", *torso(roles)) if r in roles]


@_remembered
def parent(role, roles):
    """The nearest mapped role that `role` hangs from in the body; None for what hangs from nothing, as the hips."""
    trunk, necks = _trunk(roles), neck(roles)
    chain = trunk + necks + (["head"] if "head" in roles else [])
    if role in ("hips", "root"):
        return None
    if role in chain:
        at = chain.index(role)
        return chain[at - 1] if at else None
    if role in ("jaw", "eye.L", "eye.R"):
        return "head" if "head" in roles else (chain[-1] if chain else None)
    if is_twist(role):
        limb = twist_of(role)
        return limb if limb in roles else parent(limb, roles)
    finger = _FINGER.match(role)
    if finger:
        part, number, side = finger.group(1), int(finger.group(2)), finger.group(3)
        before = [f"{part}.{n}.{side}" for n in range(number - 1, -1, -1)] + [f"hand.{side}"]
        found = next((r for r in before if r in roles), None)
        return found or parent(f"hand.{side}", roles)
    part, _, side = role.rpartition(".")
    for limb in _LIMBS:
        if part in limb:
            before = [f"{p}.{side}" for p in reversed(limb[:limb.index(part)])]
            found = next((r for r in before if r in roles), None)
            if found:
                return found
            return (trunk[-1] if trunk else None) if limb is _LIMBS[0] else ("hips" if "hips" in roles else None)
    return None


@_remembered
def limb_child(role, roles):
    """The mapped role whose joint ends the limb of `role`, None where the limb has no mapped end."""
    chain = _trunk(roles) + neck(roles) + (["head"] if "head" in roles else [])
    if role in chain:
        at = chain.index(role) + 1
        return chain[at] if at < len(chain) else None
    finger = _FINGER.match(role)
    if finger:
        part, number, side = finger.group(1), int(finger.group(2)), finger.group(3)
        following = f"{part}.{number + 1}.{side}"
        return following if following in roles else None
    part, _, side = role.rpartition(".")
    if part == "hand":
        ends = [f"{finger}.{n}.{side}" for finger in ("middle", "index", "ring") for n in (1, 0)]
        return next((r for r in ends if r in roles), None)
    for limb in _LIMBS:
        if part in limb[:-1]:
            child = f"{limb[limb.index(part) + 1]}.{side}"
            return child if child in roles else None
    return None
