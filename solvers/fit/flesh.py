"""Flesh: where a body's palms and soles lie and how thick it is, measured on its own skin at rest.

A mesh is looked at through its sections with planes and its hits by lines, not through its vertices alone: coarse and
dense meshes of one shape then give the same answer.
"""

from typing import NamedTuple

import numpy as np

from .. import anatomy, rest, rotation
from ..anatomy import FINGERS, SIDES
from ..contacts import performer
from ..contacts.performer import Palm, Point

LARGEST = 4  # weights that are kept of a vertex

_HEEL = 0.25  # of the foot's length, from behind: the heel
_BALL = (0.5, 0.85)  # of the foot's length: where a toe joint is believed to be over the ball
_BALL_UNKNOWN = 0.72  # of the foot's length: the ball of a foot without toe joint
_BALL_BAND = 0.1  # of the foot's length to both sides: the ball
_TOUCHES = 0.01  # of the foot's length: what lies so little over the lowest skin carries along with it
_OUTLINES = (0.2, 0.4, 0.6, 0.8)  # of the way from the ankle down: outlines of a foot without toe joint
_PLANES = 9  # sections through a heel or ball
_KNUCKLES = 0.54  # of the hand's length: knuckles of a hand whose fingers are not mapped
_PALM = 0.75  # of the way from the wrist to the knuckle that the hand points to: the palm's middle
_FINGERS = (0.6, 0.65, 0.7, 0.75, 0.8)  # of the hand's length: sections through fingers that are not mapped
_FLAT = 2.0  # how many times wider than thick a hand is whose fingers tell how it lies
_GRID = 0.1  # of the same way: how far apart the lines are that find the palm's skin
_ROUND, _OUTER = 0.9, 0.98  # quantiles of a section: its radius; its reach to a side
_TRUNK = ("hips", "spine", "chest", "head")


class Skin(NamedTuple):
    """The skin of a body at rest: all that its bones carry, with triangles and weights."""

    points: np.ndarray  # (N, 3) world, metres
    faces: np.ndarray  # (T, 3) vertices of each triangle
    bones: np.ndarray  # (N, LARGEST) bone indices by falling weight, -1 for none
    weights: np.ndarray  # (N, LARGEST) sum 1, or 0 where no bone carries the vertex
    rigid: np.ndarray  # (N,) bool, of an object that one bone carries: armour and tools, or the limbs of a robot


class Soles(NamedTuple):
    """The soles of a body."""

    points: dict  # "heel.L", "ball.L", ... -> Point, as `performer.feet` lays them out
    lowest: dict  # side -> height in metres of the foot's lowest skin in the rest, of the feet that have skin
    notes: list  # words for the artist about what could not be measured


def labels(figure):
    """For each bone (J,) the role that its skin counts for, as an index into the second return value, a list of roles.

    Twist bones count for their limb; a bone without a role counts for what it hangs from. -1 for none.
    """
    roles = [role for role in figure.roles if not anatomy.is_twist(role)]
    index = {role: i for i, role in enumerate(roles)}
    out = np.full(len(figure.skeleton.names), -1)
    for role, joint in figure.roles.items():
        out[joint] = index.get(anatomy.twist_of(role) if anatomy.is_twist(role) else role, -1)
    for j, parent in enumerate(figure.skeleton.parents):  # parents come first
        if out[j] < 0 and parent >= 0:
            out[j] = out[parent]
    return out, roles


def owners(figure, skin):
    """Whose each vertex is: (N,) indices into a list of roles, and that list; -1 for no role's.

    The role counts whose bones weigh most together. Where a role has skin of its own, what its bones carry as a whole
    (armour, a sword) is not counted to it.
    """
    carriers, roles = labels(figure)
    held = np.where(skin.bones >= 0, carriers[skin.bones], -1)  # (N, LARGEST)
    total = np.sum((held[:, :, None] == held[:, None, :]) * skin.weights[:, None, :], axis=-1)
    best = np.argmax(np.where(held >= 0, total, -1.0), axis=1)
    out = np.take_along_axis(held, best[:, None], axis=1)[:, 0]
    soft = np.unique(out[~skin.rigid])
    return np.where(skin.rigid & np.isin(out, soft), -1, out), roles


def of(figure, skin, wanted):
    """Which vertices (N,) bool are those of the roles `wanted`."""
    own, roles = owners(figure, skin)
    return np.isin(own, [roles.index(role) for role in wanted if role in roles])


def triangles_of(skin, counts, whole=False):
    """The corners (T, 3, 3) of the triangles of which one corner, or the whole, is among the vertices `counts` (N,)."""
    inside = counts[skin.faces]
    return skin.points[skin.faces[inside.all(axis=1) if whole else inside.any(axis=1)]]


def outermost_hit(triangles, origin, direction):
    """How far in metres along a unit direction (3,) from a point (3,) the last of triangles (T, 3, 3) is met; -inf
    where none is."""
    if not len(triangles):
        return -np.inf
    aside = rotation.normalize(np.cross(direction, np.eye(3)[np.argmin(np.abs(direction))]))
    frame = np.stack([aside, np.cross(direction, aside), direction], axis=-1)
    return float(_outermost(np.zeros((1, 2)), (triangles - origin) @ frame)[0])


def _sections(triangles, along, places):
    """Where triangles (T, 3, 3) cross the planes at `places` (K,) along a direction (3,).

    Returns the plane (M,) and the two ends (M, 2, 3) of each piece of the outlines.
    """
    height = triangles @ along  # (T, 3)
    plane, at = np.nonzero((height.min(axis=1) < places[:, None]) & (height.max(axis=1) >= places[:, None]))
    height = height[at] - places[plane, None]
    above = height >= 0.0
    alone = np.argmax(above == (above.sum(axis=1) == 1)[:, None], axis=1)  # the corner that is on a side by itself
    rows = np.arange(len(at))
    ends = np.empty((len(at), 2, 3))
    for k in range(2):
        other = (alone + 1 + k) % 3
        part = height[rows, alone] / (height[rows, alone] - height[rows, other])
        start = triangles[at, alone]
        ends[:, k] = start + part[:, None] * (triangles[at, other] - start)
    return plane, ends


def _spread(triangles, along, places):
    """How the outlines at `places` (K,) along a direction spread about their middles.

    Returns their second moments (3,), rising, the first of no meaning, and the axes of these as columns (3, 3). Pieces
    count by their length, so that it does not matter how the surface is divided.
    """
    plane, ends = _sections(triangles, along, places)
    ends = ends - (ends @ along)[..., None] * along
    length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=-1)
    total = np.bincount(plane, length, len(places))
    middles = np.stack([np.bincount(plane, length * ends[:, :, i].mean(axis=1), len(places)) for i in range(3)], -1)
    ends = ends - (middles / np.where(total > 0.0, total, 1.0)[:, None])[plane, None]
    moments = np.einsum("mki,mkj,m->ij", ends, ends, length)  # of a piece: a a' + b b' + (a + b)(a + b)'
    moments += np.einsum("mi,mj,m->ij", ends.sum(axis=1), ends.sum(axis=1), length)
    return np.linalg.eigh(moments)


def upright(figure):
    """Up (3,) of the floor that the rest stands on: the world axis that the trunk goes along, or else the trunk's."""
    up = performer.axes(figure)[2]
    axis = np.argmax(np.abs(up))
    snapped = np.eye(3)[axis] * np.sign(up[axis])
    return snapped if up @ snapped > 0.85 else up


def soles(figure, skin):
    """The Soles of the mapped feet.

    As a foot stands in the rest: the heel is the lowest skin of its last quarter (be it a stiletto's tip), the ball the
    lowest skin about the toe joint; each the middle of what lies equally low. Where there is no skin, the performer's
    proportions are taken, and noted.
    """
    guessed = performer.feet(figure)
    up, ahead = upright(figure), -performer.axes(figure)[1]
    points, lowest, notes = {}, {}, []
    for side in SIDES:
        if f"foot.{side}" not in figure.roles:
            continue
        own = of(figure, skin, (f"foot.{side}", f"toe.{side}")) if skin is not None else np.zeros(0, bool)
        if own.sum() < 3:
            points.update({name: guessed[name] for name in (f"heel.{side}", f"ball.{side}")})
            notes.append(f"foot.{side} has no skin: its sole is taken from the proportions of the leg.")
            continue
        lowest[side] = float((skin.points[own] @ up).min())
        heel, ball = _sole(figure, skin, own, side, up, ahead)
        toe = f"toe.{side}" if f"toe.{side}" in figure.roles else f"foot.{side}"
        points[f"heel.{side}"] = _fixed(figure, f"foot.{side}", heel)
        points[f"ball.{side}"] = _fixed(figure, toe, ball)
    return Soles(points, lowest, notes)


def _fixed(figure, role, place):
    """The Point on a role's bone that lies at the world position `place` (3,) in the rest."""
    joint = figure.roles[role]
    back = rotation.conj(figure.rest.rotations[0, joint])
    return Point(joint, rotation.rotate(back, place - figure.rest.positions[0, joint]))


def _sole(figure, skin, own, side, up, ahead):
    """World positions (3,) of heel and ball."""
    ankle = figure.rest.positions[0, figure.roles[f"foot.{side}"]]
    skins, triangles = skin.points[own] - ankle, triangles_of(skin, own, whole=True) - ankle
    low = np.concatenate([skins[skins @ up <= 0.0], _sections(triangles, up, np.zeros(1))[1].reshape(-1, 3)])
    if not len(low):  # no skin under the ankle at all
        low = skins
    toe = figure.rest.positions[0, figure.roles[f"toe.{side}"]] - ankle if f"toe.{side}" in figure.roles else None
    heading = _heading(low, triangles, toe, up, ahead)
    frame = np.stack([heading, np.cross(up, heading), up], axis=-1)  # ahead, aside, up
    back, front = (low @ heading).min(), (low @ heading).max()
    length = front - back
    middle = _BALL_UNKNOWN * length if toe is None else np.clip(toe @ heading - back, *(length * p for p in _BALL))
    out = []
    for first, last in ((0.0, _HEEL * length), (middle - _BALL_BAND * length, middle + _BALL_BAND * length)):
        _, cut = _sections(triangles, heading, back + np.linspace(first, last, _PLANES))
        inside = low[(low @ heading >= back + first) & (low @ heading <= back + last)]
        at = np.concatenate([cut.reshape(-1, 3), inside]) @ frame
        at = at[at[:, 2] <= at[:, 2].min() + _TOUCHES * length]
        out.append(ankle + frame @ np.append(0.5 * (at[:, :2].min(axis=0) + at[:, :2].max(axis=0)), at[:, 2].min()))
    return out


def _heading(low, triangles, toe, up, ahead):
    """Where a foot points on the floor, unit (3,): to its toe joint, or else as its outline is long.

    `toe` (3,), the skin `low` (M, 3) and `triangles` (T, 3, 3) count from the ankle, of which toes are farther away
    than the heel.
    """
    flat = toe - (toe @ up) * up if toe is not None else np.zeros(3)
    if np.linalg.norm(flat) > 0.3 * np.linalg.norm(toe if toe is not None else 1.0):
        return rotation.normalize(flat)
    sizes, ways = _spread(triangles, up, (low @ up).min() * np.array(_OUTLINES))
    way = ways[:, 2] if sizes[2] > 0.0 else ahead - (ahead @ up) * up
    reach = low @ way
    return rotation.normalize(way if reach.max() >= -reach.min() else -way)


def palms(figure, skin):
    """The palms of the hands that are mapped with their forearms, side -> Palm; and notes, a list of words.

    The middle of the palm lies between wrist and knuckles, and on the skin that the palm's side of the hand has there.
    That side is the performer's (down in a T-pose, swung there with the arm in another rest), turned about the hand so
    that it is square to the row of the knuckles, or of the fingers' skin where no fingers are mapped. Hands without
    skin where the palm should be keep the performer's proportions, which is noted.
    """
    out, notes = {}, []
    for side, guess in performer.palms(figure).items():
        hand = [f"hand.{side}", *(f"{finger}.{n}.{side}" for finger in FINGERS[1:] for n in (0, 1))]
        own = of(figure, skin, hand) if skin is not None else np.zeros(0, bool)
        found = _palm(figure, skin, own, side, guess) if own.sum() >= 3 else None
        if found is None:
            notes.append(f"hand.{side} has no skin on its palm: its place is taken from the forearm's length.")
        out[side] = found or guess
    return out, notes


def _palm(figure, skin, own, side, guess):
    """The Palm of a hand with the skin `own` (N,) bool; None where no skin is met."""
    turn, wrist = figure.rest.rotations[0, guess.joint], figure.rest.positions[0, guess.joint]
    along, down = rotation.rotate(turn, guess.along), rotation.rotate(turn, guess.out)
    row = [f"{finger}.1.{side}" for finger in FINGERS[1:]]
    knuckles = [figure.rest.positions[0, figure.roles[role]] - wrist for role in row if role in figure.roles]
    triangles = triangles_of(skin, own) - wrist
    tip = float(((skin.points[own] - wrist) @ along).max())
    down = _square(along, down, knuckles[-1] - knuckles[0] if len(knuckles) > 1 else _row(triangles, along, tip))
    reach = max(float(knuckle @ along) for knuckle in knuckles) if knuckles else _KNUCKLES * tip
    if reach <= 1e-6:
        return None
    frame = np.stack([along, np.cross(along, down), down], axis=-1)
    steps = _GRID * reach * np.array([-1.0, 0.0, 1.0])
    lines = np.stack(np.meshgrid(_PALM * reach + steps, steps, indexing="ij"), axis=-1).reshape(-1, 2)
    met = _outermost(lines, triangles @ frame)
    if not np.isfinite(met).any():
        return None
    offset = frame @ np.array([_PALM * reach, 0.0, np.median(met[np.isfinite(met)])])
    back = rotation.conj(turn)
    return Palm(guess.joint, rotation.rotate(back, offset), guess.along, rotation.rotate(back, down))


def _row(triangles, along, tip):
    """Across the fingers (3,), as the hand's triangles (T, 3, 3) from the wrist on tell; None where it is not flat.

    Looked at between the thumb's tip and the little finger's: the thumb lies under the palm.
    """
    sizes, ways = _spread(triangles, along, tip * np.array(_FINGERS))
    return ways[:, 2] if sizes[2] > _FLAT ** 2 * sizes[1] else None


def _square(along, down, row):
    """`down` (3,) at a right angle to `along`, and to the row of the fingers (3,) if that tells one like it."""
    down = rotation.normalize(down - (down @ along) * along)
    normal = rotation.normalize(np.cross(along, row)) if row is not None else np.zeros(3)
    normal = normal if normal @ down > 0.0 else -normal
    return normal if normal @ down > 0.5 else down


def _outermost(lines, triangles):
    """The largest third coordinate (M,) at which lines along it, at `lines` (M, 2), meet triangles (T, 3, 3).

    -inf where a line meets none.
    """
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    u, v = b - a, c - a
    area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    sound = np.abs(area) > 1e-14
    at = lines[:, None] - a[None, :, :2]
    scale = np.where(sound, area, 1.0)
    s = (at[..., 0] * v[:, 1] - at[..., 1] * v[:, 0]) / scale
    t = (u[:, 0] * at[..., 1] - u[:, 1] * at[..., 0]) / scale
    inside = sound & (s >= -1e-9) & (t >= -1e-9) & (s + t <= 1.0 + 2e-9)
    return np.where(inside, a[:, 2] + s * u[:, 2] + t * v[:, 2], -np.inf).max(axis=1, initial=-np.inf)


def thickness(figure, skin, role, parts):
    """How thick a role's flesh is at `parts` (P,) of the way from its joint to the next, metres; NaN without skin.

    A limb gives its radii (P,): of each section square to the bone, what nine tenths of it keep within. Hips, spine,
    chest and head give (P, 3): how far the trunk (or head) reaches from the bone to the sides, the larger, to the front
    and to the back. Limbs that end (hand, foot, toe, head) end where their skin does. Parts beyond the skin are taken
    at its end.
    """
    parts = np.atleast_1d(np.asarray(parts, float))
    trunk = role.split(".")[0] in _TRUNK
    torso = ["hips", *anatomy.torso(figure.roles)]
    out = np.full((len(parts), 3) if trunk else len(parts), np.nan)
    own = of(figure, skin, [role]) if skin is not None else np.zeros(0, bool)
    if not own.any():
        return out
    start, along, length = _axis(figure, skin.points[own], role)
    counts = of(figure, skin, torso) if role in torso else own
    triangles = triangles_of(skin, counts) - start
    if not len(triangles):
        return out
    low, high = (triangles @ along).min(), (triangles @ along).max()
    plane, cut = _sections(triangles, along, np.clip(parts * length, low + 1e-9 * (high - low), high))
    left, back, _ = performer.axes(figure)
    for k in range(len(parts)):
        points = cut[plane == k].reshape(-1, 3)
        if not len(points):
            continue
        across = points - (points @ along)[:, None] * along
        if trunk:
            x, y = across @ left, across @ back
            out[k] = [max(np.quantile(x, _OUTER), np.quantile(-x, _OUTER)), np.quantile(-y, _OUTER),
                      np.quantile(y, _OUTER)]
        else:
            out[k] = np.quantile(np.linalg.norm(across, axis=1), _ROUND)
    return out


def _axis(figure, points, role):
    """Start (3,), unit direction (3,) and length of a role's bone; one that ends is as long as its skin (M, 3)."""
    pose, roles = figure.rest.positions[0], figure.roles
    start, child = pose[roles[role]], anatomy.limb_child(role, roles)
    if role.split(".")[0] not in ("hand", "foot", "toe", "head") and child is not None:
        way = pose[roles[child]] - start
        if np.linalg.norm(way) > 1e-6:
            return start, rotation.normalize(way), float(np.linalg.norm(way))
    limbs = rest.limb_directions(figure.rest.positions, roles)
    above = anatomy.parent(role, roles)
    along = limbs[role][0] if role in limbs else limbs[above][0] if above in limbs else performer.axes(figure)[2]
    if role == "head":
        along = performer.axes(figure)[2]
    return start, along, max(float(((points - start) @ along).max()), 1e-6)
