"""What a bake's transfer went by, kept as JSON text with the baked action, so that it can be told again what the body
does before its contacts have a say."""

import json

import numpy as np

from ...solvers import transfer
from ...solvers.errors import FootholdError
from ...solvers.skeleton import branch, rest_motion
from . import read

KEY = "foothold_plan"


def store(action, plan, take_action):
    """Keep a transfer.Plan of the take's action on the baked one."""
    travel = plan.travel
    action[KEY] = json.dumps({
        "take": take_action.name,
        "travel": [travel.carrier, travel.in_place, travel.horizontal, travel.vertical],
        "origins": [np.asarray(origin).tolist() for origin in (plan.source_origin, plan.body_origin)],
        "standing": list(plan.standing), "source": _table(plan.source), "body": _table(plan.body)}, ensure_ascii=False)


def is_there(action):
    """Whether an action keeps a plan."""
    return KEY in action


def load(action, take, body):
    """(transfer.Plan that an action was baked by, names (S,) of the take's bones in its order).

    Raises FootholdError, in words for the artist, where it cannot be told any more: another take plays, or bones are
    gone.
    """
    try:
        kept = json.loads(action[KEY])
        origins = np.array(kept["origins"], float)
        travel, standing = transfer.Travel(*kept["travel"]), tuple(kept["standing"])
        tables, name = (kept["source"], kept["body"]), kept["take"]
    except (ValueError, KeyError, TypeError) as error:
        raise FootholdError(f"What '{action.name}' was baked by cannot be read: bake again.") from error
    played = take.animation_data and take.animation_data.action
    if not played or played.name != name:
        raise FootholdError(f"'{action.name}' was baked from the action '{name}', which '{take.name}' does not play.")
    whole = read.read_skeleton(take)
    mapped = [whole.names.index(bone) for bone, *_ in tables[0].values() if bone in whole.names]
    source = _figure(branch(whole, mapped)[0], tables[0], action, take)
    figure = _figure(read.read_skeleton(body), tables[1], action, body)
    plan = transfer.plan(source, figure, read.read_held(body, figure.skeleton), 0.0, travel, *origins)
    return plan._replace(standing=standing), source.skeleton.names


def _table(figure):
    """role -> [bone, place (3), turn (4)] of a Figure's rest."""
    pose = figure.rest
    return {role: [figure.skeleton.names[j], *pose.positions[0, j].tolist(), *pose.rotations[0, j].tolist()]
            for role, j in figure.roles.items()}


def _figure(skeleton, table, action, armature):
    """The Figure of a skeleton with the rest of a `_table`; bones without a role stand in the file's."""
    rest, roles = rest_motion(skeleton), {}
    for role, (bone, *pose) in table.items():
        if bone not in skeleton.names:
            raise FootholdError(f"'{action.name}' was baked with the bone '{bone}', which '{armature.name}' does not "
                                "have any more.")
        j = roles[role] = skeleton.names.index(bone)
        rest.positions[0, j], rest.rotations[0, j] = pose[:3], pose[3:]
    return transfer.Figure(skeleton, roles, rest)
