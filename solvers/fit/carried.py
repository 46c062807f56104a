"""Points of the skin where heel and ball stand: what the fit keeps in its place, and what is looked at to tell skating.

A heel or ball is a place on the sole, between vertices. The skin about it may be carried by several bones, so that it
goes elsewhere than a point of the foot's or the toes' own bone as soon as these bend.
"""

from typing import NamedTuple

import numpy as np

from .. import rotation
from ..contacts import performer

_ALONE = (0.99, 0.97, 0.94, 0.9, 0.8, 0.65, 0.5, 0.0)  # weights from which one bone carries a vertex alone
_EVEN = 0.1  # of the length of a hand or sole: what is so near its point counts alike
_TRUE = 5e-4  # metres that a point may be off where the vertices have it
_HEAVY = 0.7  # weight of one vertex at most: more would make much of its bending


class Carried(NamedTuple):
    """A point that vertices carry: the sum of their places by weights that sum to 1."""

    vertices: np.ndarray  # (V,)
    weights: np.ndarray  # (V,)


def carried(skin, own, place, joint, size):
    """A place (3,) of the skin at rest as Carried by the vertices `own` (V,) of its hand or foot, nearer skin more than
    farther; `size` is how long that is, metres.

    What other bones than `joint` carry along bends away from the place: only vertices count that this one carries
    alone, or as nearly alone as there are enough of about it.
    """
    off = skin.points[own] - place
    share = np.sum(skin.weights[own] * (skin.bones[own] == joint), axis=1)
    sets = [mask for mask in (share >= least for least in _ALONE) if mask.any()]
    for mask in sets:  # the last are all vertices: they carry it as well as it goes
        weights = _weights(off[mask], _EVEN + np.linalg.norm(off[mask], axis=1) / size)
        if np.linalg.norm(weights @ off[mask]) < _TRUE and np.abs(weights).max() < _HEAVY:
            break
    return Carried(own[mask], weights)


def soles(figure, skin, points, side, own):
    """"heel", "ball" -> Carried of a foot with the vertices `own` (V,); `points` are flesh.Soles.points."""
    named = {part: points[f"{part}.{side}"] for part in ("heel", "ball")}
    places = {part: performer.place(point, figure.rest)[0] for part, point in named.items()}
    size = np.linalg.norm(places["ball"] - places["heel"])
    return {part: carried(skin, own, places[part], point.joint, size) for part, point in named.items()}


def _weights(off, doubt):
    """Weights (V,) of sum 1 by which points at `off` (V, 3) from a place have it as their mean.

    Of all such weights they are those with the least sum of squares, each times the square of its point's `doubt` (V,).
    They keep the place where it belongs however the points turn together.
    """
    system = np.concatenate([off.T, np.ones((1, len(off)))]) / doubt
    return np.linalg.lstsq(system, np.array([0.0, 0.0, 0.0, 1.0]), rcond=1e-6)[0] / doubt


def bind(bound, skin, point):
    """What each bone has of a Carried point: a list of (joint, (4,): its place in the bone's axes and 1, times its
    weight). `bound` is the skeleton's pose at rest, a Motion."""
    bones = skin.bones[point.vertices]
    share = skin.weights[point.vertices] * point.weights[:, None]
    off = skin.points[point.vertices][:, None] - bound.positions[0, bones]
    off = rotation.rotate(rotation.conj(bound.rotations[0, bones]), off)
    held = share[..., None] * np.concatenate([off, np.ones((*bones.shape, 1))], axis=-1)
    return [(int(joint), held[bones == joint].sum(axis=0)) for joint in np.unique(bones[share != 0.0])]


def path(bones, motion):
    """World path (F, 3) of a point that `bones` carry, as of `bind`: linear blend skinning."""
    return sum(rotation.rotate(motion.rotations[:, joint], held[:3]) + held[3] * motion.positions[:, joint]
               for joint, held in bones)
