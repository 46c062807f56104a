"""What a contact asks of a limb."""

from typing import NamedTuple

import numpy as np


class Demand(NamedTuple):
    """One contact asks a limb's end to be at `target` from frame `first` to `last`."""

    contact: object  # contacts.script.Contact
    limb: str  # "hand.L", "foot.R"
    first: int
    last: int
    target: np.ndarray  # (last - first + 1, 3) metres, the limb's end joint (wrist or ankle)

    @property
    def rows(self):
        """Its frames as a slice."""
        return slice(self.first, self.last + 1)


def rows_of(span, frames, fps):
    """The frames of what has `start` and `end` in seconds, within a clip of so many frames; at least one."""
    first = min(max(int(round(span.start * fps)), 0), frames - 1)
    return slice(first, max(min(int(round(span.end * fps)), frames - 1), first) + 1)
