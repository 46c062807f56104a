"""The contact script: what a take touches, as a record that people and programs can read, edit and keep.

Lengths are metres, angles degrees, times seconds from the take's first frame; places are in Blender's Z-up world of the
take. Nothing in it depends on the body that will play it. The same input gives the same bytes.
"""

import json
import math
from dataclasses import asdict, dataclass, field, fields, replace

from ..errors import FootholdError

VERSION = 1
SIDED = ("hand", "foot", "knee", "shin", "thigh", "elbow", "forearm")
EFFECTORS = tuple(f"{part}.{side}" for part in SIDED for side in "LR") + ("pelvis", "back", "head")
BODY_PARTS = tuple(f"{part}.{side}" for part in ("hand", "upper_arm", "forearm", "thigh", "knee", "shin", "foot")
                   for side in "LR") + ("hips", "belly", "chest", "head")
KINDS = ("plant", "grip", "clasp", "rest-on")
PROP_KINDS = ("cylinder", "box", "plane", "mesh")
SOURCES = ("capture", "artist")
PARTS = ("heel", "ball")
PATH_COLUMNS = ("time", "height", "azimuth", "gap", "x", "y", "z")
LICENCES = {"height": "m", "slide": "m", "azimuth": "degrees", "tilt": "degrees", "time": "s"}
_DIGITS = 5  # ten micrometres, a hundredth of a millisecond


@dataclass(frozen=True)
class Prop:
    """A thing that is touched."""

    name: str
    kind: str = "cylinder"
    point: tuple = (0.0, 0.0, 0.0)  # on the axis of a cylinder, on a plane, the middle of a box
    axis: tuple = (0.0, 0.0, 1.0)  # unit: along a cylinder, normal of a plane, up of a box
    radius: float = 0.0  # of a cylinder
    size: tuple = (0.0, 0.0, 0.0)  # of a box
    object: str = ""  # name of the object in the scene that stands for it, where there is one
    confidence: float = 1.0  # 0 to 1
    source: str = "capture"
    evidence: dict = field(default_factory=dict)  # what it stands on: figures and sentences by name


@dataclass(frozen=True)
class Part:
    """The time that one part of a sole is down."""

    part: str
    start: float
    end: float


@dataclass(frozen=True)
class Contact:
    """One touch of one effector with one surface.

    `path` are columns of equal length: time, and on a cylinder height along its axis from its point, azimuth about it
    and gap to its surface, elsewhere x, y, z (in the world on floor, box and plane; on another part of the body in the
    axes of its bone). `licence` gives for height, slide, azimuth, tilt and time the range (low, high) about the path
    that the capture itself used, which a body may use too.
    """

    id: str
    effector: str
    surface: str
    kind: str
    start: float
    end: float
    approach: float = 0.0  # seconds of coming near before the start
    release: float = 0.0  # seconds of going away after the end
    patch: str = ""  # which side of the effector touches: "palm", "sole", ...
    path: dict = field(default_factory=dict)
    licence: dict = field(default_factory=dict)
    priority: float = 1.0  # what gives way where two cannot both be: the lower one
    confidence: float = 1.0  # 0 to 1
    source: str = "capture"
    mute: bool = False
    parts: tuple = ()  # of a plant: Part


@dataclass(frozen=True)
class Removed:
    """A contact of the capture that the artist has deleted: extracting again does not bring it back."""

    effector: str
    surface: str
    start: float
    end: float


@dataclass(frozen=True)
class ContactScript:
    """All that a take touches."""

    fps: float
    frames: int
    props: tuple = ()  # Prop
    contacts: tuple = ()  # Contact, by start, effector and surface
    floor: float | None = 0.0  # height in metres; None where the take never stands
    removed: tuple = ()  # Removed
    notes: tuple = ()  # sentences about what was not found, and why
    evidence: dict = field(default_factory=dict)  # per signal: thresholds, histogram and its empty zone

    @property
    def duration(self):
        """Seconds from the first frame to the last."""
        return (self.frames - 1) / self.fps


def in_order(contacts):
    """Contacts sorted as a script keeps them."""
    return tuple(sorted(contacts, key=lambda c: (c.start, c.effector, c.surface, c.end, c.id)))


def active(script, effector=None):
    """The contacts that count, those not muted; of one effector where it is named."""
    return [c for c in script.contacts if not c.mute and effector in (None, c.effector)]


def mirrored(name):
    """The other side's name: hand.L -> hand.R; names without a side stay."""
    return name[:-1] + {"L": "R", "R": "L"}[name[-1]] if name[-2:] in (".L", ".R") else name


def fresh_id(contacts, effector):
    """An id that no contact has: the effector's name and the next number."""
    taken = {c.id for c in contacts}
    return next(name for name in (f"{effector}:{n}" for n in range(1, len(taken) + 2)) if name not in taken)


# JSON

def _plain(value):
    """Data as JSON holds it, numbers rounded, so that the same input gives the same bytes."""
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, bool) or value is None or isinstance(value, (str, int)):
        return value
    return round(float(value), _DIGITS) + 0.0  # no -0.0


def to_dict(script):
    """A script as plain data."""
    return {"version": VERSION, **_plain(asdict(script))}


def to_json(script):
    """A script as JSON text."""
    return json.dumps(to_dict(script), ensure_ascii=False, separators=(",", ":"))


def to_file_text(script):
    """A script as JSON text with a line for every entry, to be read and compared by people."""
    data = to_dict(script)
    lines = []
    for key, value in data.items():
        if isinstance(value, list) and value:
            rows = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in value)
            lines.append(f" {json.dumps(key)}: [\n  {rows}\n ]")
        else:
            lines.append(f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def from_json(text, name="contact script"):
    """The ContactScript in JSON text. Raises FootholdError, which begins with `name` and says which entry is wrong."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise FootholdError(f"{name}: it is not JSON ({error}).") from error
    return from_dict(data, name)


def from_dict(data, name="contact script"):
    """The ContactScript in plain data; errors as of `from_json`."""
    read = _Reader(name)
    read.mapping(data, "the whole")
    version = read.get(data, "version", "", int)
    if version != VERSION:
        raise FootholdError(f"{name}: it is of version {version}, this Foothold reads {VERSION}.")
    fps = read.number(data, "fps", "", above=0.0)
    frames = read.get(data, "frames", "", int)
    if frames < 1:
        raise FootholdError(f"{name}: frames must be 1 or more, not {frames}.")
    props = tuple(read.prop(row, f"props[{i}]") for i, row in enumerate(read.rows(data, "props")))
    names = [p.name for p in props]
    for i, prop in enumerate(names):
        if prop in names[:i]:
            raise FootholdError(f"{name}: props[{i}].name: there are two props called '{prop}'.")
    duration = (frames - 1) / fps
    contacts = tuple(read.contact(row, f"contacts[{i}]", names, duration)
                     for i, row in enumerate(read.rows(data, "contacts")))
    ids = [c.id for c in contacts]
    for i, one in enumerate(ids):
        if one in ids[:i]:
            raise FootholdError(f"{name}: contacts[{i}].id: '{one}' is there twice.")
    removed = tuple(Removed(*(read.get(row, key, f"removed[{i}]", str) for key in ("effector", "surface")),
                            *(read.number(row, key, f"removed[{i}]") for key in ("start", "end")))
                    for i, row in enumerate(read.rows(data, "removed", optional=True)))
    floor = data.get("floor", 0.0)
    if floor is not None:
        floor = read.number(data, "floor", "", default=0.0)
    notes = data.get("notes", [])
    if not isinstance(notes, list) or not all(isinstance(n, str) for n in notes):
        raise FootholdError(f"{name}: notes must be a list of texts.")
    return ContactScript(fps, frames, props, in_order(contacts), floor, removed, tuple(notes),
                         read.mapping(data.get("evidence", {}), "evidence"))


class _Reader:
    """Takes plain data apart; every error names the entry."""

    def __init__(self, name):
        self.name = name

    def wrong(self, at, told):
        raise FootholdError(f"{self.name}: {at}: {told}.")

    def mapping(self, value, at):
        if not isinstance(value, dict):
            self.wrong(at, "must be a mapping of names to values")
        return value

    def rows(self, data, key, optional=False):
        value = data.get(key, [] if optional else None)
        if not isinstance(value, list):
            self.wrong(key, "must be a list")
        for i, row in enumerate(value):
            self.mapping(row, f"{key}[{i}]")
        return value

    def get(self, row, key, at, kind, default=None):
        at = f"{at}.{key}" if at else key
        if key not in row:
            if default is not None:
                return default
            self.wrong(at, "is missing")
        value = row[key]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self.wrong(at, f"must be {'a text' if kind is str else 'a whole number'}, not {value!r}")
        return value

    def number(self, row, key, at, default=None, above=None, low=None, high=None):
        value = row.get(key, default)
        at = f"{at}.{key}" if at else key
        if key not in row and default is None:
            self.wrong(at, "is missing")
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            self.wrong(at, f"must be a number, not {value!r}")
        if above is not None and value <= above or low is not None and value < low or high is not None and value > high:
            self.wrong(at, f"{value:g} is out of range")
        return float(value)

    def vector(self, row, key, at, default):
        value = row.get(key, list(default))
        if not isinstance(value, list) or len(value) != 3:
            self.wrong(f"{at}.{key}", "must be a list of three numbers")
        return tuple(self.number({str(i): v}, str(i), f"{at}.{key}") for i, v in enumerate(value))

    def choice(self, row, key, at, choices, default=None):
        value = self.get(row, key, at, str, default)
        if value not in choices:
            self.wrong(f"{at}.{key}", f"'{value}' is none of {', '.join(choices)}")
        return value

    def prop(self, row, at):
        name = self.get(row, "name", at, str)
        if not name or name == "floor" or name in BODY_PARTS:
            self.wrong(f"{at}.name", f"'{name}' cannot be a prop's name")
        axis = self.vector(row, "axis", at, Prop.axis)
        length = math.sqrt(sum(v * v for v in axis))
        if length < 1e-6:
            self.wrong(f"{at}.axis", "has no direction")
        if abs(length - 1.0) > 1e-4:  # written by hand; what was written by `to_json` stays as it is
            axis = tuple(v / length for v in axis)
        kind = self.choice(row, "kind", at, PROP_KINDS)
        radius = self.number(row, "radius", at, 0.0, low=0.0)
        if kind == "cylinder" and radius <= 0.0:
            self.wrong(f"{at}.radius", "a cylinder needs one above 0")
        return Prop(name, kind, self.vector(row, "point", at, Prop.point), axis, radius,
                    self.vector(row, "size", at, Prop.size), self.get(row, "object", at, str, ""),
                    self.number(row, "confidence", at, 1.0, low=0.0, high=1.0),
                    self.choice(row, "source", at, SOURCES, "capture"),
                    self.mapping(row.get("evidence", {}), f"{at}.evidence"))

    def contact(self, row, at, props, duration):
        effector = self.choice(row, "effector", at, EFFECTORS)
        surface = self.get(row, "surface", at, str)
        if surface != "floor" and surface not in props and surface not in BODY_PARTS:
            self.wrong(f"{at}.surface", f"'{surface}' is neither the floor, a prop of this script ("
                                        f"{', '.join(props) or 'it has none'}) nor a part of the body")
        if surface == effector:
            self.wrong(f"{at}.surface", f"'{surface}' cannot touch itself")
        start, end = self.number(row, "start", at, low=0.0), self.number(row, "end", at)
        if end < start:
            self.wrong(f"{at}.end", f"{end:g} lies before the start, {start:g}")
        if end > duration + 1e-3:
            self.wrong(f"{at}.end", f"{end:g} lies after the end of the take, {duration:g}")
        known = {f.name for f in fields(Contact)}
        for key in row:
            if key not in known:
                self.wrong(f"{at}.{key}", "is not known")
        parts = tuple(Part(self.choice(part, "part", f"{at}.parts[{i}]", PARTS),
                           self.number(part, "start", f"{at}.parts[{i}]"), self.number(part, "end", f"{at}.parts[{i}]"))
                      for i, part in enumerate(self.rows(row, "parts", optional=True)))
        mute = row.get("mute", False)
        if not isinstance(mute, bool):
            self.wrong(f"{at}.mute", "must be true or false")
        return Contact(self.get(row, "id", at, str, f"{effector}@{start:g}"), effector, surface,
                       self.choice(row, "kind", at, KINDS), start, end,
                       self.number(row, "approach", at, 0.0, low=0.0), self.number(row, "release", at, 0.0, low=0.0),
                       self.get(row, "patch", at, str, ""), self.path(row.get("path", {}), f"{at}.path"),
                       self.licence(row.get("licence", {}), f"{at}.licence"),
                       self.number(row, "priority", at, 1.0, low=0.0),
                       self.number(row, "confidence", at, 1.0, low=0.0, high=1.0),
                       self.choice(row, "source", at, SOURCES, "capture"), mute, parts)

    def path(self, value, at):
        out = {}
        for key, column in self.mapping(value, at).items():
            if key not in PATH_COLUMNS:
                self.wrong(f"{at}.{key}", f"is none of {', '.join(PATH_COLUMNS)}")
            if not isinstance(column, list):
                self.wrong(f"{at}.{key}", "must be a list of numbers")
            out[key] = [self.number({str(i): v}, str(i), f"{at}.{key}") for i, v in enumerate(column)]
        if len({len(column) for column in out.values()}) > 1:
            self.wrong(at, "its columns have different lengths")
        return out

    def licence(self, value, at):
        out = {}
        for key, pair in self.mapping(value, at).items():
            if key not in LICENCES:
                self.wrong(f"{at}.{key}", f"is none of {', '.join(LICENCES)}")
            if not isinstance(pair, list) or len(pair) != 2:
                self.wrong(f"{at}.{key}", "must be a low and a high number")
            low, high = (self.number({str(i): v}, str(i), f"{at}.{key}") for i, v in enumerate(pair))
            if high < low:
                self.wrong(f"{at}.{key}", f"its low, {low:g}, is above its high, {high:g}")
            out[key] = [low, high]
        return out


def rounded(script):
    """The script as it comes back from its own text: what is compared, stored and edited is always this."""
    return from_dict(to_dict(replace(script, contacts=in_order(script.contacts))))


def within(script, start, frames, fps):
    """The script of a part of its take, as if the take began at `start` seconds and had so many frames at `fps`.

    Contacts that lie outside are left out, those that reach over an end are cut there.
    """
    end = start + (frames - 1) / fps

    def moved(time):
        return min(max(time, start), end) - start

    contacts = []
    for contact in script.contacts:
        if contact.end < start or contact.start > end:
            continue
        parts = tuple(replace(part, start=moved(part.start), end=moved(part.end)) for part in contact.parts
                      if part.end >= start and part.start <= end)
        path = {**contact.path, "time": [t - start for t in contact.path["time"]]} if contact.path else {}
        contacts.append(replace(contact, start=moved(contact.start), end=moved(contact.end), path=path, parts=parts))
    return replace(script, fps=fps, frames=frames, contacts=tuple(contacts))
