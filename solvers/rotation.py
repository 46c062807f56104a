"""Batched unit quaternions, (..., 4) arrays in the order w, x, y, z.

Pure functions that broadcast over leading axes. A quaternion q turns a vector v into q v q*; `mul(a, b)` is "first b,
then a", as with matrices. Formulae: Shoemake, "Animating rotation with quaternion curves" (1985), and Diebel,
"Representing attitude" (2006).
"""

import numpy as np

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
EULER_ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
_TINY = 1e-12


def planes(*shape):
    """An empty array whose last axis is stored outermost, so that each component lies together in memory.

    The arithmetic below runs component by component; in this layout it is several times faster on long clips.
    """
    return np.empty((shape[-1],) + shape[:-1]).transpose(*range(1, len(shape)), 0)


def _sums(*rows):
    """Components that are sums of products, (..., C): a row holds (sign, factor, factor), its first sign being plus.

    Worked out in place: on long clips the memory that temporaries need takes longer than the arithmetic.
    """
    term = np.asarray(rows[0][0][1] * rows[0][0][2])
    out = (np.empty((len(rows),) + term.shape[::-1]).T if term.flags.f_contiguous
           else planes(*term.shape, len(rows)))  # each component as numpy laid out the term
    for i, ((_, x, y), *rest) in enumerate(rows):
        total = out[..., i]
        np.multiply(x, y, out=total)
        for sign, x, y in rest:
            np.multiply(x, y, out=term)
            (np.add if sign > 0 else np.subtract)(total, term, out=total)
    return out


def dot(a, b):
    """Scalar product along the last axis."""
    out = a[..., 0] * b[..., 0]
    for i in range(1, a.shape[-1]):
        out = out + a[..., i] * b[..., i]
    return out


def norm(v):
    """Length along the last axis."""
    return np.sqrt(dot(v, v))


def cross(a, b):
    """Vector product of (..., 3) arrays."""
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    return _sums(((1, ay, bz), (-1, az, by)), ((1, az, bx), (-1, ax, bz)), ((1, ax, by), (-1, ay, bx)))


def normalize(v):
    """Unit length along the last axis; a zero vector stays zero."""
    length = norm(v)[..., None]
    return v / np.where(length > 0.0, length, 1.0)


def mul(a, b):
    """Product a b of quaternions."""
    aw, ax, ay, az = a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    bw, bx, by, bz = b[..., 0], b[..., 1], b[..., 2], b[..., 3]
    return _sums(((1, aw, bw), (-1, ax, bx), (-1, ay, by), (-1, az, bz)),
                 ((1, aw, bx), (1, ax, bw), (1, ay, bz), (-1, az, by)),
                 ((1, aw, by), (-1, ax, bz), (1, ay, bw), (1, az, bx)),
                 ((1, aw, bz), (1, ax, by), (-1, ay, bx), (1, az, bw)))


def conj(q):
    """Inverse of a unit quaternion."""
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def rotate(q, v):
    """The vectors v (..., 3) turned by q."""
    v = np.asarray(v, float)
    u = q[..., 1:]
    t = cross(u, v)
    t *= 2.0
    out = cross(u, t)
    t *= q[..., :1]
    out += t
    out += v
    return out


def between(a, b):
    """The smallest rotation that takes direction a to direction b, (..., 3) each.

    Opposite directions turn half around about an axis at a right angle to a.
    """
    a, b = np.broadcast_arrays(normalize(np.asarray(a, float)), normalize(np.asarray(b, float)))
    w = 1.0 + dot(a, b)[..., None]
    across = np.where(np.abs(a[..., :1]) < 0.8, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    opposite = w < 1e-9
    q = np.where(opposite,
                 np.concatenate([np.zeros_like(w), cross(a, across)], axis=-1),
                 np.concatenate([w, cross(a, b)], axis=-1))
    return normalize(q)


def angle(a, b=IDENTITY):
    """The angle in radians, 0 to pi, of the rotation from b to a; exact also where it is small."""
    near = np.where(dot(a, b)[..., None] < 0.0, -b, b)
    return 4.0 * np.arctan2(norm(a - near), norm(a + near))


def vector_angle(a, b):
    """The angle in radians between vectors (..., 3); exact also where it is small."""
    return np.arctan2(norm(cross(a, b)), dot(a, b))


def exp(v):
    """The quaternion of a rotation vector (..., 3), axis times angle in radians."""
    half = 0.5 * norm(v)[..., None]
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * v], axis=-1)


def log(q):
    """The rotation vector (..., 3) of q by its shorter way, at most pi long."""
    q = np.where(q[..., :1] < 0.0, -q, q)
    length = norm(q[..., 1:])[..., None]
    scale = np.where(length > _TINY, 2.0 * np.arctan2(length, q[..., :1]) / np.maximum(length, _TINY), 2.0)
    return scale * q[..., 1:]


def slerp(a, b, t):
    """Great-circle interpolation by the shorter way, a at t = 0 and b at t = 1; t broadcasts against (...)."""
    return mul(exp(np.asarray(t, float)[..., None] * log(mul(b, conj(a)))), a)


def swing_twist(q, axis):
    """Split q = swing twist, the twist about the unit vector `axis` (..., 3) and the swing at a right angle to it."""
    along = dot(q[..., 1:], np.asarray(axis, float))[..., None]
    twist = np.concatenate([q[..., :1], along * axis], axis=-1)
    length = norm(twist)[..., None]
    twist = np.where(length > _TINY, twist / np.maximum(length, _TINY), IDENTITY)
    return mul(q, conj(twist)), twist


def twist_angle(q, axis):
    """The signed angle in radians, -pi to pi, of q's twist about the unit vector `axis`."""
    along = dot(q[..., 1:], np.asarray(axis, float))
    sign = np.where(q[..., 0] < 0.0, -1.0, 1.0)
    return 2.0 * np.arctan2(sign * along, sign * q[..., 0])


def continuous(q):
    """Signs chosen so that neighbours along the first axis (time) lie in one hemisphere."""
    turned = dot(q[1:], q[:-1]) < 0.0
    if not turned.any():
        return q
    odd = np.logical_xor.accumulate(turned, axis=0)
    sign = np.concatenate([np.ones((1,) + odd.shape[1:]), np.where(odd, -1.0, 1.0)])
    return q * sign[..., None]


def unwrapped(angles, before=None, period=2.0 * np.pi):
    """Angles (F, ...) without jumps in time, each shifted by whole periods; `before` (...) is the angle before them."""
    if before is None:
        return np.unwrap(angles, period=period, axis=0)
    return np.unwrap(np.concatenate([np.asarray(before)[None], angles]), period=period, axis=0)[1:]


def from_matrix(m):
    """Quaternions of rotation matrices (..., 3, 3), w >= 0 unless w is smaller than x, y, z (Shepperd 1978)."""
    m = np.asarray(m, float)
    m00, m11, m22 = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    trace = m00 + m11 + m22
    squares = np.stack([trace, m00, m11, m22], axis=-1)
    q = np.empty(m.shape[:-2] + (4,))
    largest = np.argmax(squares, axis=-1)
    for case in range(4):
        at = largest == case
        if not at.any():
            continue
        c = m[at]
        if case == 0:
            q[at] = np.stack([1.0 + trace[at], c[:, 2, 1] - c[:, 1, 2], c[:, 0, 2] - c[:, 2, 0],
                              c[:, 1, 0] - c[:, 0, 1]], axis=-1)
            continue
        i, j, k = case - 1, case % 3, (case + 1) % 3
        part = np.empty((len(c), 4))
        part[:, 0] = c[:, k, j] - c[:, j, k]
        part[:, 1 + i] = 1.0 + c[:, i, i] - c[:, j, j] - c[:, k, k]
        part[:, 1 + j] = c[:, j, i] + c[:, i, j]
        part[:, 1 + k] = c[:, k, i] + c[:, i, k]
        q[at] = part
    return normalize(q)


def to_matrix(q):
    """Rotation matrices (..., 3, 3)."""
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    m = np.empty(q.shape[:-1] + (3, 3))
    m[..., 0, 0] = 1.0 - 2.0 * (y * y + z * z)
    m[..., 0, 1] = 2.0 * (x * y - w * z)
    m[..., 0, 2] = 2.0 * (x * z + w * y)
    m[..., 1, 0] = 2.0 * (x * y + w * z)
    m[..., 1, 1] = 1.0 - 2.0 * (x * x + z * z)
    m[..., 1, 2] = 2.0 * (y * z - w * x)
    m[..., 2, 0] = 2.0 * (x * z - w * y)
    m[..., 2, 1] = 2.0 * (y * z + w * x)
    m[..., 2, 2] = 1.0 - 2.0 * (x * x + y * y)
    return m


def orthonormal(m, axis=1):
    """The rotation nearest to a linear map that keeps the direction of its column `axis`; (..., 3, 3) to the same.

    A mirroring map (negative determinant) has its last column turned about, so that the result is a rotation.
    """
    i, j, k = axis, (axis + 1) % 3, (axis + 2) % 3
    a = normalize(m[..., :, i])
    b = m[..., :, j]
    c = m[..., :, k]
    # the two other columns share the correction: their bisectors stay where they are
    b = normalize(b - dot(a, b)[..., None] * a)
    c = normalize(c - dot(a, c)[..., None] * a)
    handed = np.where(dot(cross(a, b), c)[..., None] < 0.0, -1.0, 1.0)
    b = normalize(b + cross(handed * c, a))
    out = np.empty(m.shape)
    out[..., :, i], out[..., :, j], out[..., :, k] = a, b, cross(a, b)
    return out


def from_euler(angles, order):
    """Quaternions of Euler angles (..., 3) = x, y, z in radians; Blender's `order`: "XYZ" turns about X first."""
    half = 0.5 * np.asarray(angles, float)
    q = None
    for axis in order:
        i = "XYZ".index(axis)
        part = np.zeros(half.shape[:-1] + (4,))
        part[..., 0] = np.cos(half[..., i])
        part[..., 1 + i] = np.sin(half[..., i])
        q = part if q is None else mul(part, q)
    return q


def to_euler(q, order):
    """Euler angles (..., 3) = x, y, z in radians in Blender's `order`, the middle angle within a quarter turn.

    Exactly in gimbal lock the last axis gets zero and the first all of the turn.
    """
    i, j, k = ("XYZ".index(axis) for axis in order)
    parity = 1.0 if (j - i) % 3 == 1 else -1.0
    m = to_matrix(q)
    middle = np.arctan2(-parity * m[..., k, i], np.hypot(m[..., i, i], m[..., j, i]))
    locked = np.hypot(m[..., i, i], m[..., j, i]) < 1e-7
    first = np.where(locked, np.arctan2(-parity * m[..., j, k], m[..., j, j]),
                     np.arctan2(parity * m[..., k, j], m[..., k, k]))
    last = np.where(locked, 0.0, np.arctan2(parity * m[..., j, i], m[..., i, i]))
    out = np.empty(q.shape[:-1] + (3,))
    out[..., i], out[..., j], out[..., k] = first, middle, last
    return out


def continuous_euler(angles, order):
    """Euler angles (F, ..., 3) of the same rotations without jumps in time.

    Each rotation has two triples, (a, b, c) and (a + pi, pi - b, c + pi), and whole turns besides. Both triples move by
    the same amounts, so whether a frame swaps does not depend on the choice before it, and the choices add up.
    """
    if len(angles) < 2:
        return angles.copy()
    i, j, k = ("XYZ".index(axis) for axis in order)
    other = np.empty_like(angles)
    other[..., i], other[..., j], other[..., k] = angles[..., i] + np.pi, np.pi - angles[..., j], angles[..., k] + np.pi

    def distance(a, b):
        return np.sum(np.abs((a - b + np.pi) % (2.0 * np.pi) - np.pi), axis=-1)

    swap = distance(other[1:], angles[:-1]) < distance(angles[1:], angles[:-1])
    odd = np.concatenate([np.zeros((1,) + swap.shape[1:], bool), np.logical_xor.accumulate(swap, axis=0)])
    return np.unwrap(np.where(odd[..., None], other, angles), axis=0)
