"""Roles from the shape alone: where the tree branches into two alike limbs, and where the joints stand in the rest.

For figures that stand upright (Z up) in a T-pose, an A-pose or the like. Of all pairs of alike chains that part at one
bone, the two longest are the limbs; the pair that ends lower is the legs. Knees and elbows are where a limb falls into
two long and nearly equal lengths. Front is where the toes point; left follows from front and up.
"""

from typing import NamedTuple

import numpy as np

from ..rotation import normalize
from .families import Claim

_ALIKE = 0.8  # ratio of lengths at which two chains may be a pair
_PASSED = 0.8  # worth of a limb for each bone passed over
_STRAIGHT = 1.03  # way over distance up to which bones lie on a line
_FINGERS = {5: ("thumb", "index", "middle", "ring", "little"), 4: ("thumb", "index", "middle", "ring"),
            3: ("thumb", "index", "middle")}


class _Pair(NamedTuple):
    """Two alike chains that part at one bone."""

    fork: int
    first: list  # bones from the fork (not included) to the far end
    second: list
    length: float
    end_height: float


class _Limb(NamedTuple):
    before: list  # bones between the trunk and the limb
    upper: int
    upper_twist: list
    lower: int
    lower_twist: list
    end: int
    after: list


def read(tree, usable):
    """Claims bone -> Claim from the shape of a tree; empty where it is no upright figure with two arms and two legs.

    `usable` (J,) bool: bones that may be part of the body.
    """
    size = tree.reach()
    if size <= 0.0:
        return {}
    way = _ways(tree, usable)
    pairs = sorted(_pairs(tree, usable, way, size), key=lambda p: -p.length)
    legs, arms = _limb_pairs(tree, pairs)
    if legs is None:
        return {}
    limbs = {}
    for name, pair in (("leg", legs), ("arm", arms)):
        limbs[name] = [_cut(tree, chain) for chain in (pair.first, pair.second)]
        if None in limbs[name]:
            return {}
    hips = legs.fork if tree.is_above(legs.fork, arms.fork) else tree.meeting([legs.fork, arms.fork])
    if hips is None:
        return {}
    sides = _sides(tree, limbs)
    claims = {}
    for (leg, arm), side in zip(zip(_ordered(tree, limbs["leg"], sides), _ordered(tree, limbs["arm"], sides)), "LR"):
        claims.update(_leg_claims(tree, leg, side, sides))
        claims.update(_arm_claims(tree, arm, side, usable, way))
    claims.update(_trunk_claims(tree, hips, arms, usable, way))
    return claims


def _ways(tree, usable):
    """(length, next bone) of the longest way down from each bone through usable bones."""
    way = [(0.0, None)] * len(tree.names)
    for j in reversed(range(len(tree.names))):
        for child in tree.children[j]:
            if usable[child]:
                length = tree.distance(j, child) + way[child][0]
                if way[j][1] is None or length > way[j][0]:
                    way[j] = (length, child)
    return way


def _chain(way, j):
    out = [j]
    while way[out[-1]][1] is not None:
        out.append(way[out[-1]][1])
    return out


def _pairs(tree, usable, way, size):
    for fork in range(len(tree.names)):
        below = [c for c in tree.children[fork] if usable[c] and way[c][1] is not None]
        for i, a in enumerate(below):
            for b in below[:i]:
                first, second = _chain(way, a), _chain(way, b)
                lengths = [tree.distance(fork, c) + way[c][0] for c in (a, b)]
                ends = tree.heads[[first[-1], second[-1]]]
                between = np.abs(ends[0] - ends[1])
                long_enough = min(lengths) > 0.15 * size and min(len(first), len(second)) >= 3
                if long_enough and min(lengths) > _ALIKE * max(lengths) and between[2] < 0.15 * size \
                        and np.hypot(*between[:2]) > 0.05 * size:
                    yield _Pair(fork, first, second, sum(lengths), float(np.mean(ends[:, 2])))


def _limb_pairs(tree, pairs):
    """(legs, arms): the longest pairs that share no bone, the lower one first; (None, None) without two."""
    for i, one in enumerate(pairs):
        for other in pairs[:i]:
            mine, others = {*one.first, *one.second}, {*other.first, *other.second}
            apart = not mine & others and one.fork not in others and other.fork not in mine
            if apart and tree.meeting([one.fork, other.fork]) is not None:
                return (one, other) if one.end_height < other.end_height else (other, one)
    return None, None


def _cut(tree, chain):
    """The limb's joints: the three bones of a chain between which lie two long and nearly equal lengths.

    A bone may be passed over where it lies on the straight line (a twist bone in the chain), at a cost; a bone with
    three or more children is a hand, and the end.
    """
    hand = next((n for n, bone in enumerate(chain) if len(tree.children[bone]) >= 3), None)
    best, score = None, 0.0
    along = [0.0]
    for a, b in zip(chain, chain[1:]):
        along.append(along[-1] + tree.distance(a, b))
    for i in range(len(chain)):
        for j in range(i + 1, len(chain)):
            for k in range(j + 1, len(chain)) if hand is None or hand < j + 1 else [hand]:
                a, b = tree.distance(chain[i], chain[j]), tree.distance(chain[j], chain[k])
                if along[j] - along[i] > _STRAIGHT * a or along[k] - along[j] > _STRAIGHT * b:
                    continue
                worth = min(a, b) ** 2 / max(a, b, 1e-12) * _PASSED ** (k - i - 2)
                if worth > score * (1.0 + 1e-6):
                    best, score = (i, j, k), worth
    if best is None:
        return None
    i, j, k = best
    return _Limb(chain[:i], chain[i], chain[i + 1:j], chain[j], chain[j + 1:k], chain[k], chain[k + 1:])


def _sides(tree, limbs):
    """(left, front): unit vectors on the floor."""
    legs = limbs["leg"]
    across = normalize((tree.heads[legs[0].upper] - tree.heads[legs[1].upper]) * [1.0, 1.0, 0.0])
    front = np.zeros(3)
    for leg in legs:
        for toe in leg.after:
            front += (tree.heads[toe] - tree.heads[leg.end]) * [1.0, 1.0, 0.0]
    front -= np.dot(front, across) * across
    if np.linalg.norm(front) < 1e-3 * tree.reach():
        front = np.array([0.0, -1.0, 0.0])  # nothing points anywhere: as Blender's figures face
    left = np.cross([0.0, 0.0, 1.0], normalize(front))
    return left, normalize(front)


def _ordered(tree, limbs, sides):
    """The two limbs, the left one first."""
    left = sides[0]
    return sorted(limbs, key=lambda limb: -float(np.dot(tree.heads[limb.lower], left)))


def _leg_claims(tree, leg, side, sides):
    out = {leg.upper: Claim("thigh", side), leg.lower: Claim("shin", side), leg.end: Claim("foot", side)}
    out.update({j: Claim("thigh.twist", side) for j in leg.upper_twist})
    out.update({j: Claim("shin.twist", side) for j in leg.lower_twist})
    for toe in leg.after[:1]:
        if np.dot(tree.heads[toe] - tree.heads[leg.end], sides[1]) > 0.0:
            out[toe] = Claim("toe", side)
    return out


def _arm_claims(tree, arm, side, usable, way):
    out = {arm.upper: Claim("upper_arm", side), arm.lower: Claim("forearm", side), arm.end: Claim("hand", side)}
    out.update({j: Claim("upper_arm.twist", side) for j in arm.upper_twist})
    out.update({j: Claim("forearm.twist", side) for j in arm.lower_twist})
    if arm.before:
        out[arm.before[-1]] = Claim("shoulder", side)
    roots = [c for c in tree.children[arm.end] if usable[c] and way[c][1] is not None]
    if not 3 <= len(roots) <= 5:
        return out
    along = normalize(tree.heads[arm.end] - tree.heads[arm.lower])
    chains = {c: _chain(way, c) for c in roots}
    # the thumb begins nearest to the wrist; the others follow by how far from it they begin
    thumb = min(roots, key=lambda c: float(np.dot(tree.heads[c] - tree.heads[arm.end], along)))
    rest = sorted((c for c in roots if c != thumb), key=lambda c: tree.distance(chains[c][1], chains[thumb][-1]))
    for finger, c in zip(_FINGERS[len(roots)], [thumb, *rest]):
        bones = chains[c]
        if finger != "thumb" and len(bones) > 3 and \
                tree.distance(bones[0], bones[1]) > 1.5 * tree.distance(bones[1], bones[2]):
            out[bones[0]] = Claim(finger + ".0", side)
            bones = bones[1:]
        out.update({j: Claim(finger, side) for j in bones[:3]})
    return out


def _trunk_claims(tree, hips, arms, usable, way):
    out = {hips: Claim("hips", "")}
    line = tree.line(arms.fork)
    out.update({j: Claim("torso", "") for j in line[line.index(hips) + 1:]})
    limbs = {arms.first[0], arms.second[0]}
    rising = [c for c in tree.children[arms.fork] if usable[c] and c not in limbs]
    if not rising:
        return out
    # the head's chain is the one that gets highest
    top = max(rising, key=lambda c: max(tree.heads[j, 2] for j in _chain(way, c)))
    chain = [top]
    if _carries_neck(tree, arms, limbs) and len(rising) == 1:
        chain.insert(0, arms.fork)
        out[arms.fork] = Claim("neck", "")
    while True:
        below = [c for c in tree.children[chain[-1]] if usable[c]]
        if len(below) != 1 or _is_past_head(tree, chain, below[0]):
            break  # an end, or a head with eyes and hair
        chain.append(below[0])
    out[chain[-1]] = Claim("head", "")
    out.update({j: Claim("neck", "") for j in chain[:-1]})
    return out


def _carries_neck(tree, arms, limbs):
    """Whether the arms hang from the neck (Biped): their fork stands above where they begin."""
    begin = max(tree.heads[j, 2] for j in limbs)
    return tree.heads[arms.fork, 2] > begin + 0.01 * tree.reach()


def _is_past_head(tree, chain, bone):
    """Whether the bone above a neck's chain is the top of the head or hair: it deforms nothing, or is far away."""
    if not tree.children[bone] and not tree.deforms[bone] and tree.deforms[chain[-1]]:
        return True
    return len(chain) > 1 and tree.distance(chain[-1], bone) > 1.15 * tree.distance(chain[0], chain[-1])
