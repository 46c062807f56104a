"""The shell that limbs are kept out of: patches of a body's skin, thinned on a grid, which its bones carry along.

Skin is linear in the bones' matrices (linear blend skinning), and so is the middle of any piece of it: a patch is the
exact mean of the skin that it stands for, at every frame, for one column of a matrix product.
"""

from typing import NamedTuple

import numpy as np

from .. import rotation
from ..fit import flesh

SPACING = 0.02  # of the body's height: how far apart patches are
_FOLLOWS = 0.15  # weight of a limb's own bones from which skin goes with it, and is nothing to be kept out of
_MOST = 12  # pieces of a triangle's skin that are looked at for one patch
_NEIGHBOURS = 28  # patches about each whose mean tells the depth
_SHEET = 0.15  # of the spacing: how thick a sheet of skin is, for it is round
_RAYS = 64  # directions in which it is looked whether a patch can be seen
_SEEN = 0.1  # of the directions before a patch, that it is seen from at least
_DISC = 0.8  # of the spacing: how far a patch hides what is behind it
_FREE = (0.03, 0.12)  # of the spacing: what lies so little before a patch hides nothing; and more toward a disc's rim,
# where a round surface has sunk so far under it


class Shell(NamedTuple):
    """Patches of skin."""

    spacing: float  # metres
    joints: np.ndarray  # (J,) bones that carry some of it
    places: np.ndarray  # (4 J, P) each patch's middle in the axes of each bone and 1, times that bone's weight
    normals: np.ndarray  # (3 J, P) likewise its area's normal
    areas: np.ndarray  # (P,) square metres
    groups: np.ndarray  # (P, G) the patches about each on the same sheet, itself first

    @property
    def count(self):
        """How many patches there are."""
        return len(self.areas)


def shell(body, roles, limb, height):
    """The Shell of the skin that counts for some roles, as a limb of a body.Body that stands `height` metres high meets
    it; None where there is none.

    `limb` are the roles whose bones are the limb's own: what follows them is left out, and so is what cannot be seen
    from outside, be it skin under clothes or the back of a sheet.
    """
    figure = body.plan.body._replace(rest=body.bound)
    keep = flesh.of(figure, body.skin, roles) & (_weight_of(figure, body.skin, limb) <= _FOLLOWS)
    spacing = SPACING * height
    pieces = _pieces(body.skin, keep, spacing)
    if pieces is None:
        return None
    found = _patches(body, *pieces, spacing)
    side = _seen(*_at_rest(found, body.bound), spacing)
    found = found._replace(normals=found.normals * np.where(side < 0.0, -1.0, 1.0))
    kept = side != 0.0
    if not kept.any():
        return None
    found = found._replace(places=found.places[:, kept], normals=found.normals[:, kept], areas=found.areas[kept])
    return found._replace(groups=_groups(*_at_rest(found, body.bound)))


def posed(shell, motion, rows=slice(None)):
    """(places, normals), (F, P, 3) each, of the patches in the `rows` of a world Motion; normals are unit."""
    turns = rotation.to_matrix(motion.rotations[rows][:, shell.joints])  # (F, J, 3, 3)
    heads = motion.positions[rows][:, shell.joints]
    whole = np.concatenate([turns, heads[..., None]], axis=-1)
    frames = len(heads)
    places, normals = rotation.planes(frames, shell.count, 3), rotation.planes(frames, shell.count, 3)
    for i in range(3):
        np.matmul(whole[:, :, i].reshape(frames, -1), shell.places, out=places[..., i])
        np.matmul(turns[:, :, i].reshape(frames, -1), shell.normals, out=normals[..., i])
    normals /= np.maximum(rotation.norm(normals), 1e-12)[..., None]
    return places, normals


def _weight_of(figure, skin, roles):
    """How much (N,) of each vertex is carried by bones that count for some roles."""
    counts_for, listed = flesh.labels(figure)
    own = np.isin(counts_for, [listed.index(role) for role in roles if role in listed])
    return np.where((skin.bones >= 0) & own[skin.bones], skin.weights, 0.0).sum(axis=1)


def _pieces(skin, keep, spacing):
    """Skin as many small pieces: (corners (M, 3), parts of them (M, 3) that sum to 1, normals times area (M, 3)).

    Large triangles are divided until pieces are no longer than half the spacing; None where there is no skin.
    """
    faces = skin.faces[keep[skin.faces].all(axis=1)]
    at = skin.points[faces]
    area = 0.5 * np.cross(at[:, 1] - at[:, 0], at[:, 2] - at[:, 0])
    sound = rotation.norm(area) > 1e-12
    faces, at, area = faces[sound], at[sound], area[sound]
    if not len(faces):
        return None
    longest = np.max(np.linalg.norm(at - np.roll(at, 1, axis=1), axis=-1), axis=1)
    steps = np.maximum(np.ceil(longest / (0.5 * spacing)).astype(int), 1)
    corners, parts, areas = [], [], []
    for n in np.unique(steps):
        own = np.flatnonzero(steps == n)
        middles = _middles(n)
        corners.append(np.repeat(faces[own], len(middles), axis=0))
        parts.append(np.tile(middles, (len(own), 1)))
        areas.append(np.repeat(area[own] / len(middles), len(middles), axis=0))
    return np.concatenate(corners), np.concatenate(parts), np.concatenate(areas)


def _middles(n):
    """The middles (n * n, 3), barycentric, of the triangles into which one falls when its sides are cut in n."""
    i, j = (a.ravel() for a in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    upright, turned = i + j < n, i + j < n - 1
    first = np.concatenate([i[upright] + 1 / 3, i[turned] + 2 / 3]) / n
    second = np.concatenate([j[upright] + 1 / 3, j[turned] + 2 / 3]) / n
    return np.column_stack([first, second, 1.0 - first - second])


def _patches(body, corners, parts, areas, spacing):
    """The Shell of pieces as `_pieces` gives them, a patch for the pieces of a cell that face the same way."""
    skin = body.skin
    middles = np.einsum("mk,mki->mi", parts, skin.points[corners])
    size = rotation.norm(areas)
    axis = np.argmax(np.abs(areas), axis=1)
    way = 2 * axis + (np.take_along_axis(areas, axis[:, None], axis=1)[:, 0] < 0.0)
    cells = np.column_stack([np.floor(middles / spacing).astype(int), way])
    _, patch = np.unique(cells, axis=0, return_inverse=True)
    patch = patch.ravel()
    outer = _outermost(patch, middles, areas, spacing)
    corners, parts, areas, size, patch = (values[outer] for values in (corners, parts, areas, size, patch))
    kept, grown = _thinned(patch, size)
    corners, parts, patch = corners[kept], parts[kept], patch[kept]
    normals, size = areas[kept] * grown[:, None], size[kept] * grown
    count = int(patch.max()) + 1
    bones = skin.bones[corners].reshape(len(corners), -1)  # (M, 3 LARGEST)
    weights = (skin.weights[corners] * parts[..., None]).reshape(len(corners), -1)
    points = np.repeat(skin.points[corners], skin.bones.shape[1], axis=1)
    weights = np.where(bones >= 0, weights, 0.0)
    joints = np.unique(bones[weights > 0.0])
    at = np.searchsorted(joints, np.maximum(bones, joints[0]))
    total = np.bincount(patch, size, count)
    slot = (np.minimum(at, len(joints) - 1) * count + patch[:, None]).ravel()

    def summed(values):
        return np.bincount(slot, values.ravel(), len(joints) * count).reshape(len(joints), count)

    share = weights * size[:, None]
    mass = summed(share) / total
    first = np.stack([summed(share * points[..., i]) for i in range(3)], axis=1) / total  # (J, 3, P)
    facing = np.stack([summed(weights * normals[:, None, i]) for i in range(3)], axis=1)
    heads, back = body.bound.positions[0, joints], rotation.to_matrix(rotation.conj(body.bound.rotations[0, joints]))
    local = back @ (first - heads[:, :, None] * mass[:, None])
    places = np.concatenate([local, mass[:, None]], axis=1)
    return Shell(spacing, joints, places.reshape(-1, count), (back @ facing).reshape(-1, count), total,
                 np.empty((count, 0), int))


def _outermost(patch, middles, areas, spacing):
    """Which (M,) pieces of patches are of the outermost of several sheets that lie close over each other."""
    count = int(patch.max()) + 1
    size = rotation.norm(areas)

    def mean(values):
        return np.stack([np.bincount(patch, size * v, count) for v in values.T], -1) / np.bincount(patch, size)[:, None]

    height = rotation.dot(middles - mean(middles)[patch], rotation.normalize(mean(areas / size[:, None]))[patch])
    highest = np.full(count, -np.inf)
    np.maximum.at(highest, patch, height)
    return height > highest[patch] - _SHEET * spacing


def _thinned(patch, size):
    """Which (K,) of the pieces of patches (M,) are looked at, at most so many of each; and times (K,) their own `size`
    (M,) those stand for."""
    order = np.argsort(patch, kind="stable")
    counts = np.bincount(patch)
    within = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    stride = np.ceil(counts / _MOST).astype(int)
    kept = order[within % np.repeat(stride, counts) == 0]
    whole, some = np.bincount(patch, size), np.bincount(patch[kept], size[kept])
    return kept, (whole / np.maximum(some, 1e-300))[patch[kept]]


def _at_rest(shell, bound):
    places, normals = posed(shell, bound)
    return places[0], normals[0]


def _seen(places, normals, spacing):
    """From which side patches (P, 3) can be seen from outside: 1 from where their normals (P, 3) point, -1 from behind,
    0 from nowhere.

    Looked at along many directions: a patch is hidden by one before it, taken as a disc.
    """
    out = np.zeros((len(places), 2))
    ahead = np.zeros((len(places), 2))
    for way in _sphere(_RAYS):
        free = ~_hidden(places, normals, way, spacing)
        facing = normals @ way
        for k, before in enumerate((facing > 0.3, facing < -0.3)):
            out[:, k] += before & free
            ahead[:, k] += before
    part = out / np.maximum(ahead, 1.0)
    return np.where(part.max(axis=1) < _SEEN, 0.0, np.where(part[:, 1] > part[:, 0], -1.0, 1.0))


def _hidden(places, normals, way, spacing):
    """Which patches (P,) another lies before, looked at against a direction (3,)."""
    across = rotation.normalize(np.cross(way, np.eye(3)[np.argmin(np.abs(way))]))
    flat = places @ np.stack([across, np.cross(way, across)], axis=-1)
    out = np.zeros(len(places), bool)
    for i, j in _beside(np.floor(flat / (_DISC * spacing)).astype(int)):
        # where the line through the patch meets the other's plane, and how far from that one's middle
        facing, away = normals[j] @ way, places[j] - places[i]
        along = rotation.dot(away, normals[j]) / np.where(np.abs(facing) > 0.05, facing, np.inf)
        aside = rotation.norm(along[:, None] * way - away) / (_DISC * spacing)
        out[i[(along > spacing * (_FREE[0] + _FREE[1] * aside ** 2)) & (aside < 1.0)]] = True
    return out


def _beside(cells):
    """Pairs (i, j) of what lies in the same or in neighbouring ones of `cells` (N, 2): nine times two arrays."""
    cells = cells - cells.min(axis=0) + 1
    wide = cells[:, 1].max() + 2
    number = cells[:, 0] * wide + cells[:, 1]
    order = np.argsort(number, kind="stable")
    listed = number[order]
    for step in (x * wide + y for x in (-1, 0, 1) for y in (-1, 0, 1)):
        first, last = (np.searchsorted(listed, number + step, side) for side in ("left", "right"))
        many = last - first
        i = np.repeat(np.arange(len(number)), many)
        yield i, order[np.arange(len(i)) - np.repeat(np.cumsum(many) - many, many) + np.repeat(first, many)]


def _groups(places, normals):
    """The patches (P, G) about each of those at `places` (P, 3) at rest, itself first, that face about the same way."""
    count = min(_NEIGHBOURS, len(places))
    out = np.empty((len(places), count), int)
    for rows in np.array_split(np.arange(len(places)), max(len(places) // 500, 1)):
        away = np.linalg.norm(places[rows, None] - places, axis=-1)
        away = np.where(normals[rows] @ normals.T > 0.0, away, 10.0 + away)
        out[rows] = np.argsort(away, axis=1, kind="stable")[:, :count]
    return out


def _sphere(count):
    """Directions (count, 3) spread evenly (the golden angle spiral)."""
    z = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    around = np.arange(count) * np.pi * (3.0 - np.sqrt(5.0))
    return np.stack([np.sqrt(1.0 - z * z) * np.cos(around), np.sqrt(1.0 - z * z) * np.sin(around), z], axis=-1)
