"""The contact script of a take, kept on its action as JSON text in the custom property `foothold_contacts`, and as a
file. With the action it is saved, copied and undone."""

import functools
import os
from typing import NamedTuple

from ...solvers.contacts import script as contact_script
from ...solvers.errors import FootholdError
from . import read

KEY = "foothold_contacts"


class Clock(NamedTuple):
    """Frames of the timeline against the seconds of a script."""

    first: int  # frame of the take's first key
    fps: float

    def frame(self, time):
        """The frame, with its fraction, of a time in seconds."""
        return self.first + time * self.fps

    def time(self, frame):
        """The time in seconds of a frame."""
        return (frame - self.first) / self.fps


def clock(action, script):
    """The Clock of an action's script."""
    return Clock(read.frame_span(action)[0], script.fps)


def text_of(action):
    """The script of an action as text; "" where it has none."""
    text = action.get(KEY, "")
    return text if isinstance(text, str) else repr(text)


@functools.lru_cache(maxsize=4)  # drawing asks for it again and again
def _parsed(text, name):
    return contact_script.from_json(text, name)


def load(action):
    """The ContactScript of an action, or None; FootholdError, which names action and entry, where it is unreadable."""
    text = text_of(action)
    return _parsed(text, f"Contacts of action '{action.name}'") if text else None


def store(action, script):
    """Keep a script on an action, in place of the one before."""
    require_editable(action)
    action[KEY] = contact_script.to_json(script)


def remove(action):
    """Take the script off an action."""
    require_editable(action)
    if KEY in action:
        del action[KEY]


def require_editable(action):
    """Raise FootholdError where an action cannot keep anything."""
    if not action.is_editable:
        raise FootholdError(f"Action '{action.name}' is linked and cannot keep contacts: append it instead.")


def save_file(path, script):
    """Write a script as a file with a line for every entry; what stood there before stays where that fails."""
    fresh = f"{path}.new"
    try:
        with open(fresh, "w", encoding="utf-8", newline="\n") as file:
            file.write(contact_script.to_file_text(script))
        os.replace(fresh, path)
    except OSError as error:
        raise FootholdError(f"{path}: cannot be written ({error.strerror}): choose another place.") from error


def load_file(path):
    """The ContactScript in a file; FootholdError, which names file and entry, where it is unreadable."""
    try:
        with open(path, encoding="utf-8-sig") as file:  # editors of Windows begin with a mark
            text = file.read()
    except OSError as error:
        raise FootholdError(f"{path}: cannot be read ({error.strerror}): choose another file.") from error
    except UnicodeDecodeError as error:
        raise FootholdError(f"{path}: it is no text in UTF-8: choose a file of contacts.") from error
    return contact_script.from_json(text, str(path))
