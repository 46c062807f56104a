"""The plain roles as tables: their order, groups for the panel, parents, limb children and mirror images."""

from .. import anatomy

_SIDED = ("shoulder", "upper_arm", "forearm", "hand"), ("thigh", "shin", "foot", "toe")
_TWISTED = ("upper_arm", "forearm", "thigh", "shin")


def _sided(names):
    return tuple(f"{name}.{side}" for side in anatomy.SIDES for name in names)


def _fingers(side):
    rows = []
    for finger in anatomy.FINGERS:
        first = 1 if finger == "thumb" else 0  # the thumb's metacarpal is its first bone
        rows += [f"{finger}.{i}.{side}" for i in range(first, 4)]
    return tuple(rows)


# What a panel shows together: title -> roles, in the order of a body from the hips outwards.
GROUPS = {
    "Torso": ("root", "hips", "spine", "spine.1", "spine.2", "spine.3", "chest"),
    "Head": ("neck", "neck.1", "head", "jaw", "eye.L", "eye.R"),
    "Left arm": tuple(f"{p}.L" for p in _SIDED[0]),
    "Right arm": tuple(f"{p}.R" for p in _SIDED[0]),
    "Left leg": tuple(f"{p}.L" for p in _SIDED[1]),
    "Right leg": tuple(f"{p}.R" for p in _SIDED[1]),
    "Left fingers": _fingers("L"),
    "Right fingers": _fingers("R"),
    "Twist bones": tuple(f"{p}.twist.{i}.{side}" for side in anatomy.SIDES for p in _TWISTED for i in (1, 2, 3)),
}
ROLES = tuple(role for group in GROUPS.values() for role in group)

# Without these a body cannot be called mapped.
CORE = ("hips", "head") + _sided(("upper_arm", "forearm", "hand", "thigh", "shin", "foot"))

# role -> anatomical parent, None for the hips and the root; as if every role of ROLES were mapped.
PARENT = {role: anatomy.parent(role, ROLES) for role in ROLES}
# role -> the role whose joint ends its limb (forearm.L -> hand.L), None at the ends.
LIMB_CHILD = {role: anatomy.limb_child(role, ROLES) for role in ROLES}


def mirror_role(role):
    """The same role on the other side: forearm.twist.1.L -> forearm.twist.1.R; a role without a side is its own."""
    if role.endswith(".L"):
        return role[:-1] + "R"
    if role.endswith(".R"):
        return role[:-1] + "L"
    return role


def is_role(name):
    """Whether `name` is a role: one of ROLES, or a further member of a chain or a row of twist bones."""
    if name in ROLES or anatomy.torso([name]) or anatomy.neck([name]):
        return True
    return anatomy.is_twist(name) and name.split(".")[0] in _TWISTED


def sort_key(role):
    """Sorts roles in the order of ROLES; further members follow the last of their kind."""
    if role in _PLACES:
        return _PLACES[role], 0
    chain = "spine.3" if role.startswith("spine.") else "neck.1" if role.startswith("neck.") else None
    number = next((int(part) for part in role.split(".") if part.isdigit()), 0)
    if chain is None and anatomy.is_twist(role):
        chain = f"{role.split('.')[0]}.twist.3.{role[-1]}"
    return _PLACES.get(chain, len(ROLES)), number


_PLACES = {role: i for i, role in enumerate(ROLES)}
