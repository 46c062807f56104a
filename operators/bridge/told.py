"""What a bake found out about its contacts, kept as JSON text with the baked action: saved, copied, undone with it."""

import functools
import json

KEY = "foothold_told"


def store(action, told):
    """Keep plain data, a dict, on an action; an empty one takes away what is there."""
    if told:
        action[KEY] = json.dumps(told, ensure_ascii=False)
    elif KEY in action:
        del action[KEY]


def load(action):
    """The data kept on an action; {} where there is none, or where somebody wrote something else there."""
    text = action.get(KEY, "") if action is not None else ""
    return _parsed(text) if isinstance(text, str) else {}


@functools.lru_cache(maxsize=4)  # a panel asks for it whenever it is drawn
def _parsed(text):
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
