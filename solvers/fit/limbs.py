"""A limb of two bones brought to a target by the smallest change to how the performer held it."""

import numpy as np

from .. import rotation

_STRAIGHT = 0.9995  # of its length, that a limb is stretched to at most: the last of it turns the elbow by much
_SURE = (0.05, 0.35)  # sines of the bend between which the bend's own plane takes over from the joint's hinge


def hinge(upper, lower, axis):
    """The axes (F, 3) that a limb bends about, unit, at a right angle to `upper`; it bends the positive way.

    `upper` and `lower` (F, 3) are its segments. A nearly straight limb does not tell its plane: there the joint's own
    hinge `axis` (F, 3), which turns with the upper bone, stands for it, pointing the way that most of the clip's
    bending does. Between the two the axis goes over smoothly.
    """
    length = rotation.norm(upper) * rotation.norm(lower)
    upright = upper / np.maximum(rotation.norm(upper), 1e-12)[:, None]
    axis = rotation.normalize(axis - rotation.dot(axis, upright)[:, None] * upright)
    across = rotation.cross(upper, lower) / np.maximum(length, 1e-12)[:, None]
    if np.sum(rotation.dot(across, axis)) < 0.0:
        axis = -axis
    bend = rotation.norm(across)
    part = np.clip((bend - _SURE[0]) / (_SURE[1] - _SURE[0]), 0.0, 1.0)
    part = (part * part * (3.0 - 2.0 * part))[:, None]
    own = np.where(rotation.dot(across, axis)[:, None] < 0.0, -across, across) / np.maximum(bend, 1e-12)[:, None]
    return rotation.normalize(part * own + (1.0 - part) * axis)


def solve(root, middle, end, axis, target):
    """(turns of the upper and of the lower bone (F, 4) each, how far the end stays from the target (F,) metres).

    `root`, `middle` and `end` are the limb's joints (F, 3) in the world, `axis` (F, 3) its `hinge`, `target` (F, 3)
    where the end shall be. First the lower bone flexes about the hinge until the end is as far from the root as the
    target is; then the whole limb turns about the root by the shortest way. The turns are in the world, to be applied
    before (from the left of) what the bones have. What is out of reach is pointed at, and the gap told.
    """
    upper, lower = middle - root, end - middle
    a, b = rotation.norm(upper), rotation.norm(lower)
    way = target - root
    want = rotation.norm(way)
    reached = np.clip(want, np.abs(a - b) + 1e-6, _STRAIGHT * (a + b))
    # in the plane of the bend: the lower bone's part along the hinge stays as it is
    aside = rotation.dot(lower, axis)
    flat = lower - aside[:, None] * axis
    has = np.arctan2(rotation.dot(rotation.cross(upper, flat), axis), rotation.dot(upper, flat))
    lower_flat = np.sqrt(np.maximum(b * b - aside * aside, 1e-12))
    cosine = (reached * reached - aside * aside - a * a - lower_flat ** 2) / (2.0 * a * lower_flat)
    needs = np.arccos(np.clip(cosine, -1.0, 1.0))
    # a joint bends one way; what is a little over straight is noise, and must not make it bend the other
    needs = np.where(has < -_SURE[1], -needs, needs)
    flexed = rotation.exp((needs - has)[:, None] * axis)
    now = upper + rotation.rotate(flexed, lower)
    swung = rotation.between(now, np.where(want[:, None] > 1e-9, way, now))
    return swung, rotation.mul(swung, flexed), np.abs(want - rotation.norm(now))
