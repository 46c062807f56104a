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
REGIONS = {"thigh": ("thigh",), "knee": ("thigh", "shin"), "shin": ("shin",), "elbow": ("upper_arm", "forearm"),
           "forearm": ("forearm",), "pelvis": ("torso",), "back": ("torso",), "head": ("head",)}  # of effectors' skin
KINDS = ("plant", "grip", "clasp", "rest-on")
PROP_KINDS = ("cylinder", "box", "plane", "mesh", "place")
SOURCES = ("capture", "artist")
PARTS = ("heel", "ball")
PATH_COLUMNS = ("time", "height", "azimuth", "gap", "x", "y", "z")
LICENCES = {"height": "m", "slide": "m", "azimuth": "degrees", "tilt": "degrees", "time": "s"}
_DIGITS = 5  # ten micrometres, a hundredth of a millisecond
_UNIT_DIGITS = 9  # of directions, whose angle shows in what they lack of the length one
_LATE = 1e-3  # seconds that an interval may reach over what it lies in
_MOST = 1e9  # no number of a script is as large


@dataclass(frozen=True)
class Prop:
    """A thing that is touched."""

    name: str
    kind: str = "cylinder"
    point: tuple = (0.0, 0.0, 0.0)  # on the axis of a cylinder, on a plane, the middle of a box, a mesh or a place
    axis: tuple = (0.0, 0.0, 1.0)  # unit: along a cylinder, normal of a plane on the free side, up of a box
    radius: float = 0.0  # of a cylinder
    size: tuple = (0.0, 0.0, 0.0)  # of a box: along `across`, square to both, along `axis`
    across: tuple = ()  # of a box: unit, along its first side; left out, it is where azimuths count from
    points: tuple = ()  # of a mesh: its corners (N of three numbers) from `point` on
    faces: tuple = ()  # of a mesh, which is closed: triangles, counterclockwise as seen from outside
    moves: bool = False  # it moves during the take: all places here are those of the first frame
    object: str = ""  # name of the object in the scene that stands for it, where there is one
    confidence: float = 1.0  # 0 to 1
    source: str = "capture"
    evidence: dict = field(default_factory=dict)  # what it stands on: figures and sentences by name

    @property
    def axes(self):
        """The unit axes (three of three numbers) that `size` is told along.

        Azimuths count from the world's +X, about an axis along X from +Y.
        """
        across = self.across or ((1.0, 0.0, 0.0) if abs(self.axis[0]) < 0.9 else (0.0, 1.0, 0.0))
        along = [a - b * sum(v * w for v, w in zip(across, self.axis)) for a, b in zip(across, self.axis)]
        length = math.sqrt(sum(v * v for v in along))
        x, y, z = (v / length for v in along)
        u, v, w = self.axis
        return (x, y, z), (v * z - w * y, w * x - u * z, u * y - v * x), tuple(self.axis)


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
    floor: float | None = 0.0  # height in metres; None where none was found
    removed: tuple = ()  # Removed
    notes: tuple = ()  # sentences about what was not found, and why
    evidence: dict = field(default_factory=dict)  # per signal: thresholds, histogram and its empty zone
    grounded: bool = False  # the take lacks its way up and down: what is lowest of a body always lies on the floor

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


def is_empty(script):
    """Whether a script asks for nothing: it has no contact, or none but mute ones and neither props nor floor, which
    stand in the body's way beside any contact; nor is it grounded."""
    nothing = not active(script) and not script.props and script.floor is None
    return not script.grounded and (not script.contacts or nothing)


def not_solid(prop):
    """Why it is not known where a Prop is solid, in words; "" where it is."""
    if prop.moves:
        return "it moves, and a script tells where it is in the first frame only"
    if prop.kind == "place":
        return "what stands there is not known"
    if prop.kind == "box" and min(prop.size) <= 0.0:
        return "its size is not known"
    if prop.kind == "mesh" and not prop.faces:
        return "its shape is not known: its mesh has to be closed, its faces to look outwards, and not to be too many"
    return ""


def unkept(props):
    """Sentences about the Props that no body is kept out of, and why."""
    return [f"The body is not kept out of '{prop.name}': {not_solid(prop)}." for prop in props if not_solid(prop)]


def mirrored(name):
    """The other side's name: hand.L -> hand.R; names without a side stay."""
    return name[:-1] + {"L": "R", "R": "L"}[name[-1]] if name[-2:] in (".L", ".R") else name


def fresh_id(contacts, effector):
    """An id that no contact has: the effector's name and the next number."""
    taken = {c.id for c in contacts}
    return next(name for name in (f"{effector}:{n}" for n in range(1, len(taken) + 2)) if name not in taken)


# JSON

def _plain(value, digits=_DIGITS):
    """Data as JSON holds it, numbers rounded, so that the same input gives the same bytes."""
    if isinstance(value, dict):
        return {str(k): _plain(v, _UNIT_DIGITS if k in ("axis", "across") else digits) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v, digits) for v in value]
    if isinstance(value, bool) or value is None or isinstance(value, (str, int)):
        return value
    return round(float(value), digits) + 0.0  # no -0.0


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
    except (ValueError, RecursionError) as error:
        raise FootholdError(f"{name}: it is not JSON ({error}).") from error
    return from_dict(data, name)


def from_dict(data, name="contact script"):
    """The ContactScript in plain data; errors as of `from_json`."""
    read = _Reader(name)
    read.mapping(data, "the whole")
    version = read.get(data, "version", "", int)
    if version != VERSION:
        raise FootholdError(f"{name}: it is of version {version}, this Foothold reads {VERSION}.")
    read.sound(data, "")
    read.known({key: value for key, value in data.items() if key != "version"}, "", ContactScript)
    fps = read.number(data, "fps", "", above=0.0)
    frames = read.get(data, "frames", "", int)
    if frames < 1:
        raise FootholdError(f"{name}: frames must be 1 or more, not {frames}.")
    props = tuple(read.prop(row, f"props[{i}]") for i, row in enumerate(read.rows(data, "props")))
    names = [p.name for p in props]
    for i, prop in enumerate(names):
        if prop in names[:i]:
            raise FootholdError(f"{name}: props[{i}].name: there are two props called '{prop}'.")
    contacts = read.contacts(data, names, (frames - 1) / fps)
    removed = tuple(read.removed(row, f"removed[{i}]")
                    for i, row in enumerate(read.rows(data, "removed", optional=True)))
    floor = data.get("floor", 0.0)
    if floor is not None:
        floor = read.number(data, "floor", "", default=0.0)
    notes = data.get("notes", [])
    if not isinstance(notes, list) or not all(isinstance(n, str) for n in notes):
        raise FootholdError(f"{name}: notes must be a list of texts.")
    return ContactScript(fps, frames, props, in_order(contacts), floor, removed, tuple(notes),
                         read.evidence(data.get("evidence", {}), "evidence"), read.truth(data, "grounded", ""))


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

    def sound(self, value, at):
        """Whether all numbers in the data are finite and all texts can be written."""
        if isinstance(value, dict):
            for key, one in value.items():
                self.sound(key, at or "the whole")
                self.sound(one, f"{at}.{key}" if at else key)
        elif isinstance(value, list):
            for i, one in enumerate(value):
                self.sound(one, f"{at}[{i}]")
        elif isinstance(value, (int, float)):
            if not abs(value) < _MOST:
                self.wrong(at, f"must be a number that is not as large as {str(value)[:20]}")
        elif isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value):
            self.wrong(at, "holds half a letter (a lone surrogate)")

    def known(self, row, at, kind):
        """Whether a mapping has no other keys than a record has fields."""
        names = [f.name for f in fields(kind)]
        for key in row:
            if key not in names:
                self.wrong(f"{at}.{key}" if at else key, f"is not known; there are {', '.join(names)}")

    def rows(self, data, key, at="", optional=False):
        at = f"{at}.{key}" if at else key
        value = data.get(key, [] if optional else None)
        if not isinstance(value, list):
            self.wrong(at, "must be a list")
        for i, row in enumerate(value):
            self.mapping(row, f"{at}[{i}]")
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
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.wrong(at, f"must be a number, not {value!r}")
        if above is not None and value <= above or low is not None and value < low or high is not None and value > high:
            self.wrong(at, f"{value:g} is out of range")
        return float(value)

    def vector(self, row, key, at, default):
        return self.three(row.get(key, list(default)), f"{at}.{key}")

    def across(self, row, axis, at):
        if not row.get("across"):
            return ()
        across = self.vector(row, "across", at, ())
        off = [a - b * sum(v * w for v, w in zip(across, axis)) for a, b in zip(across, axis)]
        if sum(v * v for v in off) < 1e-6:
            self.wrong(f"{at}.across", "has no direction square to the axis")
        return across

    def three(self, value, at):
        if not isinstance(value, list) or len(value) != 3:
            self.wrong(at, "must be a list of three numbers")
        return self.numbers(value, at)

    def corners(self, value, count, at):
        """A triangle of `count` points."""
        good = isinstance(value, list) and len(value) == 3
        if not good or not all(type(v) is int and 0 <= v < count for v in value):
            self.wrong(at, f"must be a list of three whole numbers from 0 to below {count}, the number of points")
        return tuple(value)

    def entries(self, row, key, at):
        value = row.get(key, [])
        if not isinstance(value, list):
            self.wrong(f"{at}.{key}", "must be a list")
        return value

    def numbers(self, value, at):
        return tuple(self.number({str(i): v}, str(i), at) for i, v in enumerate(value))

    def interval(self, row, at, low=None):
        """(start, end) of a mapping."""
        start, end = self.number(row, "start", at, low=low), self.number(row, "end", at)
        if end < start:
            self.wrong(f"{at}.end", f"{end:g} lies before the start, {start:g}")
        return start, end

    def truth(self, row, key, at):
        value = row.get(key, False)
        if not isinstance(value, bool):
            self.wrong(f"{at}.{key}" if at else key, "must be true or false")
        return value

    def choice(self, row, key, at, choices, default=None):
        value = self.get(row, key, at, str, default)
        if value not in choices:
            self.wrong(f"{at}.{key}", f"'{value}' is none of {', '.join(choices)}")
        return value

    def prop(self, row, at):
        self.known(row, at, Prop)
        name = self.get(row, "name", at, str)
        if not name or name == "floor" or name in BODY_PARTS:
            self.wrong(f"{at}.name", f"'{name}' cannot be a prop's name")
        axis = self.vector(row, "axis", at, Prop.axis)
        length = math.sqrt(sum(v * v for v in axis))
        if length < 1e-6:
            self.wrong(f"{at}.axis", "has no direction")
        if abs(length - 1.0) > 1e-7:  # written by hand; what was written by `to_json` stays as it is
            axis = tuple(round(v / length, _UNIT_DIGITS) for v in axis)
        kind = self.choice(row, "kind", at, PROP_KINDS)
        points = tuple(self.three(value, f"{at}.points[{i}]")
                       for i, value in enumerate(self.entries(row, "points", at)))
        faces = tuple(self.corners(value, len(points), f"{at}.faces[{i}]")
                      for i, value in enumerate(self.entries(row, "faces", at)))
        radius = self.number(row, "radius", at, 0.0, low=0.0)
        if kind == "cylinder" and radius <= 0.0:
            self.wrong(f"{at}.radius", "a cylinder needs one above 0")
        return Prop(name, kind, self.vector(row, "point", at, Prop.point), axis, radius,
                    self.vector(row, "size", at, Prop.size), self.across(row, axis, at), points, faces,
                    self.truth(row, "moves", at), self.get(row, "object", at, str, ""),
                    self.number(row, "confidence", at, 1.0, low=0.0, high=1.0),
                    self.choice(row, "source", at, SOURCES, "capture"),
                    self.mapping(row.get("evidence", {}), f"{at}.evidence"))

    def contacts(self, data, props, duration):
        """All Contacts; one that is written without an id gets a fresh one."""
        out = []
        for i, row in enumerate(self.rows(data, "contacts")):
            contact = self.contact(row, f"contacts[{i}]", props, duration)
            if "id" in row and any(c.id == contact.id for c in out):
                self.wrong(f"contacts[{i}].id", f"'{contact.id}' is there twice")
            out.append(contact)
        taken = [c for c, row in zip(out, data["contacts"]) if "id" in row]
        for i, row in enumerate(data["contacts"]):
            if "id" not in row:
                out[i] = replace(out[i], id=fresh_id(taken, out[i].effector))
                taken.append(out[i])
        return out

    def contact(self, row, at, props, duration):
        self.known(row, at, Contact)
        effector = self.choice(row, "effector", at, EFFECTORS)
        surface = self.get(row, "surface", at, str)
        if surface != "floor" and surface not in props and surface not in BODY_PARTS:
            self.wrong(f"{at}.surface", f"'{surface}' is neither the floor, a prop of this script ("
                                        f"{', '.join(props) or 'it has none'}) nor a part of the body")
        if surface == effector:
            self.wrong(f"{at}.surface", f"'{surface}' cannot touch itself")
        start, end = self.interval(row, at, low=0.0)
        if end > duration + _LATE:
            self.wrong(f"{at}.end", f"{end:g} lies after the end of the take, {duration:g}")
        parts = tuple(self.part(part, f"{at}.parts[{i}]", start, end)
                      for i, part in enumerate(self.rows(row, "parts", at, optional=True)))
        return Contact(self.get(row, "id", at, str, ""), effector, surface,
                       self.choice(row, "kind", at, KINDS), start, end,
                       self.number(row, "approach", at, 0.0, low=0.0), self.number(row, "release", at, 0.0, low=0.0),
                       self.get(row, "patch", at, str, ""), self.path(row.get("path", {}), f"{at}.path"),
                       self.licence(row.get("licence", {}), f"{at}.licence"),
                       self.number(row, "priority", at, 1.0, low=0.0),
                       self.number(row, "confidence", at, 1.0, low=0.0, high=1.0),
                       self.choice(row, "source", at, SOURCES, "capture"), self.truth(row, "mute", at), parts)

    def part(self, row, at, start, end):
        self.known(row, at, Part)
        first, last = self.interval(row, at)
        if first < start - _LATE or last > end + _LATE:
            self.wrong(at, f"{first:g} to {last:g} does not lie within its contact, {start:g} to {end:g}")
        return Part(self.choice(row, "part", at, PARTS), first, last)

    def removed(self, row, at):
        self.known(row, at, Removed)
        return Removed(self.choice(row, "effector", at, EFFECTORS), self.get(row, "surface", at, str),
                       *self.interval(row, at))

    def evidence(self, value, at):
        """Figures and sentences by name; of those that are histograms all that a picture of them needs."""
        for name, one in self.mapping(value, at).items():
            if isinstance(one, dict) and "edges" in one:
                self.histogram(one, f"{at}.{name}")
        return value

    def histogram(self, one, at):
        for key in ("edges", "counts", "zone"):
            if not isinstance(one.get(key), list):
                self.wrong(f"{at}.{key}", "must be a list of numbers")
        edges, zone = self.numbers(one["edges"], f"{at}.edges"), self.numbers(one["zone"], f"{at}.zone")
        if len(edges) < 2 or edges[0] <= 0.0 or any(a >= b for a, b in zip(edges, edges[1:])):
            self.wrong(f"{at}.edges", "must be two or more rising numbers above 0")
        if len(one["counts"]) != len(edges) - 1 or min(self.numbers(one["counts"], f"{at}.counts")) < 0.0:
            self.wrong(f"{at}.counts", "must be a number that is not below 0 between each edge and the next")
        if len(zone) != 2 or not 0.0 < zone[0] <= zone[1]:
            self.wrong(f"{at}.zone", "must be a low and a high number above 0")
        self.number(one, "threshold", at, above=0.0)
        self.get(one, "unit", at, str)
        if not isinstance(one.get("clear"), bool):
            self.wrong(f"{at}.clear", "must be true or false")

    def path(self, value, at):
        out = {}
        for key, column in self.mapping(value, at).items():
            if key not in PATH_COLUMNS:
                self.wrong(f"{at}.{key}", f"is none of {', '.join(PATH_COLUMNS)}")
            if not isinstance(column, list):
                self.wrong(f"{at}.{key}", "must be a list of numbers")
            out[key] = list(self.numbers(column, f"{at}.{key}"))
        if any(a > b for a, b in zip(out.get("time", ()), out.get("time", ())[1:])):
            self.wrong(f"{at}.time", "goes back")
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
            low, high = self.numbers(pair, f"{at}.{key}")
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
        path = {key: [t - start for t in column] if key == "time" else column for key, column in contact.path.items()}
        contacts.append(replace(contact, start=moved(contact.start), end=moved(contact.end), path=path, parts=parts))
    return replace(script, fps=fps, frames=frames, contacts=tuple(contacts))
