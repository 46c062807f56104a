"""Skeletons and their motions as plain arrays, in Blender's conventions for bones."""

from typing import NamedTuple

import numpy as np

from . import rotation


class Skeleton(NamedTuple):
    """Bones of one armature, parents before children.

    Rest matrices are in armature space (Blender's `Bone.matrix_local`: a bone points along its own +Y); `world` takes
    armature space to world space and may carry any scale.
    """

    names: tuple  # J bone names
    parents: np.ndarray  # (J,) index of the parent, -1 for none
    rest: np.ndarray  # (J, 4, 4) armature space
    lengths: np.ndarray  # (J,) bone lengths, armature space
    inherits_rotation: np.ndarray  # (J,) bool
    local_location: np.ndarray  # (J,) bool, location in the bone's own axes
    connected: np.ndarray  # (J,) bool, the head is welded to the parent's tail: no location of its own
    deforms: np.ndarray  # (J,) bool
    world: np.ndarray  # (4, 4) the object's matrix, at rest


class Channels(NamedTuple):
    """A motion as Blender stores it: each bone's own transform against its rest (`PoseBone.matrix_basis`)."""

    location: np.ndarray  # (F, J, 3) armature units
    rotation: np.ndarray  # (F, J, 4) unit quaternions
    scale: np.ndarray  # (F, J, 3)


class Motion(NamedTuple):
    """A motion in world space, metres, Z up."""

    positions: np.ndarray  # (F, J, 3) heads of the bones
    rotations: np.ndarray  # (F, J, 4) world orientation of the bones, sign-continuous
