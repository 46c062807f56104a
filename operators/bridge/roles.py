"""The role map of an armature, kept on the object as JSON text in the custom property `foothold_roles`."""

import json

from ...solvers import humanoid
from ...solvers.errors import FootholdError
from . import read

KEY, HINTS = "foothold_roles", "foothold_hints"


def load(armature):
    """role -> bone name; detected where none is kept."""
    return stored(armature) if KEY in armature else detect(armature).roles


def stored(armature):
    """role -> bone name as kept on the armature; FootholdError where it is unreadable."""
    text = armature.get(KEY)
    try:
        roles = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise FootholdError(f"'{armature.name}': its custom property '{KEY}' is not JSON ({error}): detect the roles "
                            "again.") from None
    if not isinstance(roles, dict) or not all(isinstance(v, str) for v in roles.values()):
        raise FootholdError(f"'{armature.name}': its custom property '{KEY}' is not a JSON table of roles and bones: "
                            "detect the roles again.")
    return roles


def store(armature, roles):
    """Keep a role map on the armature object."""
    armature[KEY] = json.dumps(roles, ensure_ascii=False)


def detect(armature):
    """What names, structure and the file's own hints say: a humanoid.Detection."""
    return humanoid.detect(read.read_skeleton(armature), _hints(armature))


def _hints(armature):
    """What the file's own humanoid says, or nothing where that is unreadable: hints only help the names."""
    try:
        hints = json.loads(armature.get(HINTS, "{}"))
    except (TypeError, ValueError, RecursionError):
        return {}
    sound = isinstance(hints, dict) and all(isinstance(bone, str) for bone in hints.values())
    return hints if sound else {}
