"""A body's skin in motion: linear blend skinning, as an armature modifier does it.

What is asked for is a coordinate of each vertex along some direction. Per bone that is one product of matrices, for all
frames and all of its vertices at once.
"""

from typing import NamedTuple

import numpy as np

from .. import rotation

_DIRECTIONS = 4000  # in which a bone's outermost vertices are looked for; 2 degrees apart
_SHARED = 0.02  # weight of a second bone from which a vertex is carried by two
_MANY = 3000  # vertices of a hand or foot beyond which not all are looked at


class Surface(NamedTuple):
    """Vertices that are bound to bones."""

    count: int  # V
    vertices: np.ndarray  # (V,) which of the skin's they are
    bones: list  # (joint, (N,) which of the V, (4, N) their places in its axes and 1, times the weight)
    joints: np.ndarray  # (V, LARGEST) the same by vertex: joints, any where the weight is zero
    held: np.ndarray  # (V, LARGEST, 4)


def bind(bound, skin, keep):
    """The Surface of the vertices `keep` (N,) bool of a Skin. `bound` is the skeleton's pose at rest, a Motion."""
    vertices = np.flatnonzero(keep & (skin.weights.sum(axis=1) > 0.0))
    bones, weights, points = skin.bones[vertices], skin.weights[vertices], skin.points[vertices]
    own = points[:, None] - bound.positions[0, bones]
    own = rotation.rotate(rotation.conj(bound.rotations[0, bones]), own)
    held = np.concatenate([own, np.ones((*bones.shape, 1))], axis=-1) * weights[..., None]
    out = []
    for joint in np.unique(bones[weights > 0.0]):
        at, k = np.nonzero((bones == joint) & (weights > 0.0))
        out.append((int(joint), at, np.ascontiguousarray(held[at, k].T)))
    return Surface(len(vertices), vertices, out, bones, held)


def along(surface, motion, direction, rows=slice(None)):
    """Coordinates (F, V) of the vertices along a direction (3,), in the `rows` of a world Motion."""
    first = motion.positions[rows]
    out = np.zeros((len(first), surface.count))
    for joint, at, places in surface.bones:
        axis = rotation.rotate(rotation.conj(motion.rotations[rows, joint]), np.asarray(direction, float))
        out[:, at] += np.column_stack([axis, first[:, joint] @ direction]) @ places
    return out


def places(surface, motion, rows=slice(None)):
    """World places (F, V, 3) of the vertices."""
    return np.stack([along(surface, motion, axis, rows) for axis in np.eye(3)], axis=-1)


def some(surface, motion, frames, vertices):
    """World places (N, 3) of single vertices (N,) in single frames (N,)."""
    joints, held = surface.joints[vertices], surface.held[vertices]
    turns, heads = motion.rotations[frames[:, None], joints], motion.positions[frames[:, None], joints]
    return (rotation.rotate(turns, held[..., :3]) + held[..., 3:] * heads).sum(axis=1)


def outermost(skin, keep):
    """Which of the vertices `keep` (N,) bool can be a bone's outermost in some direction, (N,) bool.

    Only these can be the lowest over a floor, so that few need to be looked at. What two bones carry counts throughout:
    next to a joint the lowest may be the outermost of neither.
    """
    out = keep & (skin.weights[:, 1] > _SHARED)
    ways = np.array_split(_sphere(_DIRECTIONS), 16)
    for joint in np.unique(skin.bones[keep, 0]):
        own = np.flatnonzero(keep & ~out & (skin.bones[:, 0] == joint))
        if joint >= 0 and len(own):
            for some_ways in ways:
                out[own[np.argmax(skin.points[own] @ some_ways.T, axis=0)]] = True
    return out


def standing(skin, keep):
    """Which of the vertices `keep` (N,) bool are looked at when it is about what stands: all of them, or the outermost
    where they are very many. Next to a joint, where two bones carry a vertex, it may be the lowest without being the
    outermost of either."""
    return keep if keep.sum() <= _MANY else outermost(skin, keep)


def bound(surface, motion, direction):
    """Coordinates (F,) along a unit direction (3,) that no vertex is below: of each bone's joint, less the way to the
    farthest that it carries. A blend of bones lies between what each alone would make of it."""
    out = np.full(len(motion.positions), np.inf)
    for joint, _, places in surface.bones:
        reach = np.max(np.linalg.norm(places[:3], axis=0) / places[3])
        out = np.minimum(out, motion.positions[:, joint] @ direction - reach)
    return out


def lowest(surface, motion, direction, rows=slice(None)):
    """The least coordinates (F,) of the vertices along a direction (3,), a stretch of frames at a time."""
    listed = np.arange(len(motion.positions))[rows]
    return np.concatenate([along(surface, motion, direction, part).min(axis=1) for part in
                           np.array_split(listed, max(len(listed) * surface.count // 1_000_000, 1))])


def _sphere(count):
    """Directions (count, 3) spread evenly (the golden angle spiral)."""
    z = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    around = np.arange(count) * np.pi * (3.0 - np.sqrt(5.0))
    return np.stack([np.sqrt(1.0 - z * z) * np.cos(around), np.sqrt(1.0 - z * z) * np.sin(around), z], axis=-1)
