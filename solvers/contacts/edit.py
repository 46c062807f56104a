"""What an artist does to a contact script: every function takes a script and returns a new one, checked and rounded.

Times are seconds from the take's first frame. What a hand has touched has the source "artist", and extracting again
leaves it alone: where it was the capture's before, the capture's own interval is noted as removed, so that it does not
come back beside what the artist has made of it. With `mirror` the same happens to the other side's contact that
overlaps most, and where that cannot be, nothing happens at all.
"""

from bisect import bisect_right
from dataclasses import replace

from ..errors import FootholdError
from .script import (
    BODY_PARTS,
    EFFECTORS,
    KINDS,
    Contact,
    ContactScript,
    Part,
    Removed,
    fresh_id,
    mirrored,
    rounded,
)

EDGES = ("start", "end")
_SAME = 0.6e-5  # seconds; times that differ by less are one and the same, written with five digits
_SHARE = 0.5  # of the shorter of two intervals; who shares more than this means the same touch
_ABOUT_PATH = ("height", "slide", "azimuth")  # licences that mean nothing without the path that they are about


# Looking

def find(script, ident):
    """The Contact of that id; FootholdError where there is none."""
    for contact in script.contacts:
        if contact.id == ident:
            return contact
    raise FootholdError(f"There is no contact '{ident}': choose one of the list.")


def surfaces(script):
    """The names of all that can be touched: the floor, the props, the parts of the body."""
    return ("floor", *(prop.name for prop in script.props), *BODY_PARTS)


def fitting_kind(script, effector, surface):
    """The kind of contact that an effector usually has with a surface."""
    part = effector.split(".")[0]
    if surface in BODY_PARTS:
        return "clasp" if part == "hand" and surface.startswith("hand.") else "rest-on"
    round_one = any(prop.name == surface and prop.kind == "cylinder" for prop in script.props)
    if surface != "floor" and (round_one or part == "hand"):
        return "grip"
    return "plant" if part == "foot" else "rest-on"


def shared(one, other):
    """Seconds that two intervals have in common; below zero is the gap between them."""
    return min(one.end, other.end) - max(one.start, other.start)


def means_the_same(one, other):
    """Whether two intervals share more than half of the shorter one."""
    shorter = min(one.end - one.start, other.end - other.start)
    return shared(one, other) > _SHARE * shorter or (shorter <= 0.0 and shared(one, other) >= 0.0)


def counterpart(script, contact):
    """The other side's Contact that overlaps most, one with the mirrored surface first; None where none overlaps."""
    side = mirrored(contact.effector)
    if side == contact.effector:
        return None
    surface = _mirrored_surface(script, contact.surface)
    rivals = [c for c in script.contacts if c.effector == side and shared(c, contact) > 0.0]
    return max(rivals, key=lambda c: (shared(c, contact), c.surface == surface, -c.start), default=None)


def neighbours(script, contact):
    """(those before, those after) among the contacts of the same effector with the same surface."""
    others = [c for c in script.contacts
              if c.id != contact.id and (c.effector, c.surface) == (contact.effector, contact.surface)]
    place = (contact.start, contact.end, contact.id)
    before = [c for c in others if (c.start, c.end, c.id) < place]
    return before, [c for c in others if c not in before]


# Changing

def add(script, effector, surface, start, end, kind="", mirror=False):
    """A new contact; `kind` "" takes the fitting one."""
    if effector not in EFFECTORS:
        raise FootholdError(f"'{effector}' cannot touch anything: choose one of {', '.join(EFFECTORS)}.")
    wanted = [(effector, surface)]
    if mirror and mirrored(effector) != effector:
        wanted.append((mirrored(effector), _mirrored_surface(script, surface)))
    for who, what in wanted:
        new = Contact(fresh_id(script.contacts, who), who, what, kind or fitting_kind(script, who, what),
                      float(start), float(end), source="artist")
        _check(script, new)
        script = replace(script, contacts=(*script.contacts, new))
    return rounded(script)


def split(script, ident, time, mirror=False):
    """Two contacts that meet at `time`; the first keeps the id."""
    def change(script, contact, _flip):
        if not contact.start + _SAME < time < contact.end - _SAME:
            raise FootholdError(f"'{contact.id}' lasts from {contact.start:g} to {contact.end:g} s and cannot be split "
                                f"at {time:g} s: go to a frame inside it.")
        first = replace(_cut(contact, contact.start, time), release=0.0)
        second = replace(_cut(contact, time, contact.end), approach=0.0,
                         id=fresh_id(script.contacts, contact.effector))
        return _swap(script, contact, first, second)
    return _edit(script, ident, mirror, change)


def merge(script, ident, mirror=False):
    """One contact of this and the next of the same effector and surface, over the gap between them."""
    def change(script, contact, _flip):
        _, after = neighbours(script, contact)
        if not after:
            raise FootholdError(f"'{contact.id}' has nothing to merge with: no later contact of {contact.effector} "
                                f"with '{contact.surface}'. Choose the earlier of the two.")
        second = min(after, key=lambda c: (c.start, c.end, c.id))
        script = _swap(script, second)
        return _swap(script, contact, _merged(contact, second))
    return _edit(script, ident, mirror, change)


def delete(script, ident, mirror=False):
    """Without the contact; a capture's one is noted as removed, so that extracting again does not bring it back."""
    return _edit(script, ident, mirror, lambda script, contact, _flip: _swap(script, contact))


def nudge(script, ident, edge, seconds, mirror=False):
    """Its "start" or "end" so many seconds later, as far as the take and its neighbours let it, and one frame long at
    least."""
    if edge not in EDGES:
        raise FootholdError(f"'{edge}' is no edge of a contact: name its start or its end.")

    def change(script, contact, _flip):
        start, end = contact.start, contact.end
        before, after = neighbours(script, contact)
        shortest = 1.0 / script.fps
        if edge == "start":
            low, high = max([0.0, *(c.end for c in before)]), end - shortest
            start = _moved(start, seconds, low, high)
        else:
            low, high = start + shortest, min([script.duration, *(c.start for c in after)])
            end = _moved(end, seconds, low, high)
        if abs(start - contact.start) < _SAME and abs(end - contact.end) < _SAME:
            raise FootholdError(f"The {edge} of '{contact.id}' cannot move further: it is held by the take's edge, by "
                                f"its neighbour or by the contact's own length.")
        return _swap(script, contact, _cut(contact, start, end))
    return _edit(script, ident, mirror, change)


def retarget(script, ident, surface, kind="", mirror=False):
    """The same touch on another surface; `kind` "" takes the fitting one.

    A path and licences about it are kept where both surfaces are described in the world's axes, and else let go.
    """
    def change(script, contact, flip):
        goal = _mirrored_surface(script, surface) if flip else surface
        kind_ = kind or fitting_kind(script, contact.effector, goal)
        if (goal, kind_) == (contact.surface, contact.kind):
            raise FootholdError(f"'{contact.id}' touches '{goal}' already: choose another surface.")
        new = replace(contact, surface=goal, kind=kind_, parts=contact.parts if kind_ == "plant" else ())
        if _axes(script, goal) != _axes(script, contact.surface):
            new = replace(new, path={}, licence={k: v for k, v in new.licence.items() if k not in _ABOUT_PATH})
        _check(script, new)
        return _swap(script, contact, new)
    return _edit(script, ident, mirror, change)


def mute(script, ident, on=True, mirror=False):
    """Count the contact no longer, or again."""
    return _edit(script, ident, mirror,
                 lambda script, contact, _flip: _swap(script, contact, replace(contact, mute=bool(on))))


def merge_extracted(old, new):
    """A script as extracted anew with what the artist has made of the one before.

    Her contacts and props stay as they are; an object that stood for a prop may have been moved since, or be no longer
    meant. Of the capture's new contacts those are left out that mean the same touch as one of hers or as one that she
    removed. A prop that only the old script has stays where one of her contacts needs it.
    """
    hers = [c for c in old.contacts if c.source == "artist"]
    for contact in hers:
        if contact.end > new.duration + 1e-3:
            raise FootholdError(f"Your contact '{contact.id}' ends at {contact.end:g} s, and the take is only "
                                f"{new.duration:g} s long now: delete it or nudge its end first.")
    props = {p.name: p for p in new.props}
    needed = {c.surface for c in hers}
    props.update({p.name: p for p in old.props
                  if (p.source == "artist" and not p.object) or (p.name in needed and p.name not in props)})
    contacts = list(hers)
    for contact in new.contacts:
        if any(c.effector == contact.effector and means_the_same(c, contact) for c in hers):
            continue
        if any((r.effector, r.surface) == (contact.effector, contact.surface) and means_the_same(r, contact)
               for r in old.removed):
            continue
        if any(c.id == contact.id for c in contacts):
            contact = replace(contact, id=fresh_id((*contacts, *new.contacts), contact.effector))
        contacts.append(contact)
    return rounded(replace(new, props=tuple(props.values()), contacts=tuple(contacts), removed=old.removed))


def empty(fps, frames):
    """A script without any contact, for a take of so many frames."""
    return ContactScript(fps, frames)


# How

def _edit(script, ident, mirror, change):
    """`change(script, contact, flip)` done to a contact and, with `mirror`, to its counterpart."""
    contact = find(script, ident)
    other = counterpart(script, contact) if mirror else None
    if mirror and other is None and mirrored(contact.effector) != contact.effector:
        raise FootholdError(f"No contact of {mirrored(contact.effector)} overlaps '{contact.id}': switch Mirror off, "
                            "or add one.")
    script = change(script, contact, False)
    if other is not None:
        script = change(script, find(script, other.id), True)
    return rounded(script)


def _swap(script, contact, *instead):
    """The script with others, the artist's, in place of a contact."""
    removed = script.removed
    if contact.source == "capture":
        note = Removed(contact.effector, contact.surface, contact.start, contact.end)
        removed = removed if note in removed else (*removed, note)
    others = tuple(c for c in script.contacts if c.id != contact.id)
    return replace(script, removed=removed,
                   contacts=others + tuple(replace(c, source="artist") for c in instead))


def _check(script, new):
    """Whether a contact may stand where it stands; what is wrong else is told by the script's own reading."""
    if new.surface not in surfaces(script):
        raise FootholdError(f"'{new.surface}' is nothing that can be touched: choose one of "
                            f"{', '.join(surfaces(script))}.")
    if new.surface == new.effector:
        raise FootholdError(f"{new.effector} cannot touch itself: choose another surface.")
    if new.kind not in KINDS:
        raise FootholdError(f"'{new.kind}' is no kind of contact: choose one of {', '.join(KINDS)}.")
    if not 0.0 <= new.start < new.end <= script.duration + _SAME:
        raise FootholdError(f"A contact from {new.start:g} to {new.end:g} s does not fit the take, which lasts "
                            f"{script.duration:g} s: choose a start before its end and both inside the take.")
    before, after = neighbours(script, new)
    for other in (*before, *after):
        if shared(other, new) > _SAME:
            raise FootholdError(f"{new.effector} touches '{new.surface}' already from {other.start:g} to {other.end:g} "
                                f"s ('{other.id}'): nudge that one, or choose another time.")


def _mirrored_surface(script, surface):
    """The surface on the other side, where there is one of that name."""
    other = mirrored(surface)
    return other if other in surfaces(script) else surface


def _axes(script, surface):
    """In whose axes a path on a surface is told: the world's, or the surface's own."""
    if surface in BODY_PARTS or any(p.name == surface and p.kind == "cylinder" for p in script.props):
        return surface
    return "world"


def _moved(value, by, low, high):
    """A time moved, between low and high; one that lies outside already is not pushed the other way."""
    return min(max(value + by, min(low, value)), max(high, value))


def _cut(contact, start, end):
    """The contact with another interval, and path and parts within it. Parts that lie at an edge go along with it."""
    parts = []
    for part in contact.parts:
        first = start if abs(part.start - contact.start) < _SAME else max(part.start, start)
        last = end if abs(part.end - contact.end) < _SAME else min(part.end, end)
        if last > first:
            parts.append(Part(part.part, first, last))
    path = _cut_path(contact.path, start, end)
    return replace(contact, start=start, end=end, path=path, parts=tuple(parts),
                   licence=_from_start(contact.licence, contact.path, path))


def _from_start(licence, before, after):
    """Licences, which count from the start of the path, for a path that starts elsewhere: the same places as before."""
    out = dict(licence)
    for key in ("height", "azimuth"):
        if key in out and before.get(key) and after.get(key):
            out[key] = [value + before[key][0] - after[key][0] for value in out[key]]
    return out


def _cut_path(path, start, end):
    """Columns of a path between two times, with samples at those times where the path goes on beyond them.

    A path without times holds for the whole contact, however long. Beyond its samples a path stays where it is.
    """
    times = path.get("time")
    if not times:
        return path
    inside = [t for t in times if start - _SAME < t < end + _SAME]
    wanted = list(inside)
    if not inside or (times[0] < start and inside[0] > start + _SAME):
        wanted.insert(0, start)
    if inside and times[-1] > end and inside[-1] < end - _SAME:
        wanted.append(end)
    rows = [_row(path, times, t) for t in wanted]
    return {key: [row[key] for row in rows] for key in path}


def _row(path, times, time):
    """The path at a time: {column: value}, straight between its samples and held beyond them."""
    after = bisect_right(times, time)
    low, high = max(after - 1, 0), min(after, len(times) - 1)
    span = times[high] - times[low]
    share = (time - times[low]) / span if span > 0.0 else 0.0
    row = {}
    for key, column in path.items():
        step = column[high] - column[low]
        if key == "azimuth":
            step = (step + 180.0) % 360.0 - 180.0  # the short way round
        row[key] = column[low] + share * step if share else column[low]
    return {**row, "time": time}


def _merged(first, second):
    """One contact of two that follow each other."""
    second = replace(second, path=_wound_on(first.path, second.path))
    share = (first.end - first.start) / ((first.end - first.start + second.end - second.start) or 1.0)
    licence = {key: list(pair) for key, pair in first.licence.items()}
    for key, (low, high) in _from_start(second.licence, second.path, first.path).items():
        held = licence.get(key, (low, high))
        licence[key] = [min(held[0], low), max(held[1], high)]
    return replace(first, end=max(first.end, second.end), release=second.release,
                   path=_joined_path(first, second), licence=licence,
                   confidence=share * first.confidence + (1.0 - share) * second.confidence,
                   priority=max(first.priority, second.priority), mute=first.mute and second.mute,
                   parts=_joined_parts(first, second))


def _wound_on(before, path):
    """The path with its azimuth in whole turns as near as can be to where the one before ends."""
    if not (before.get("azimuth") and path.get("azimuth")):
        return path
    turns = 360.0 * round((before["azimuth"][-1] - path["azimuth"][0]) / 360.0)
    return {**path, "azimuth": [value + turns for value in path["azimuth"]]}


def _joined_path(first, second):
    """Both paths one after the other where they tell the same columns, else that of the longer contact."""
    if first.path.keys() != second.path.keys() or "time" not in first.path or not first.path["time"]:
        return first.path if first.end - first.start >= second.end - second.start else second.path
    last = first.path["time"][-1]
    fresh = [i for i, t in enumerate(second.path["time"]) if t > last + _SAME]
    return {key: [*column, *(second.path[key][i] for i in fresh)] for key, column in first.path.items()}


def _joined_parts(first, second):
    """The parts of both; one that is down to the end of the first and from the start of the second stays down."""
    parts = list(first.parts)
    for part in second.parts:
        for i, held in enumerate(parts):
            if held.part == part.part and held.end >= first.end - _SAME and part.start <= second.start + _SAME:
                parts[i] = replace(held, end=max(part.end, held.end))
                break
        else:
            parts.append(part)
    return tuple(parts)
