"""Feet that stand: flat while heel and ball are down, else about the part that is down, in one place throughout."""

import numpy as np

from .. import rotation
from ..contacts.segments import runs
from . import ease, sole
from .demand import Demand, rows_of

_FADE = 0.4  # seconds in which a foot comes to lie flat, and leaves it, where nothing else is asked for
_BEND = np.radians(60.0)  # that toes bend up by at most to lie on the floor under a raised heel
_TOES_UP = np.radians(10.0)  # that toes rise by at most so that heel and ball stay as far apart
_DEEP = 0.1  # of the way from heel to ball, that the ball lies under the toes' joint at least: else they cannot move it
_EASED, _SHIFTED = 0.15, 0.04  # seconds and metres: two plants within both are one stand
_STEP = 0.08  # metres over the floor from which a plant stands on something else: a sole's own height is no step


def stands(contacts, frames, fps, side):
    """The plants of a side: a list of (Contact, rows (slice), heel (F,), ball (F,)), the masks of what is down."""
    out = []
    for contact in contacts:
        if contact.effector != f"foot.{side}" or contact.kind != "plant":
            continue
        rows = rows_of(contact, frames, fps)
        down = {"heel": np.zeros(frames, bool), "ball": np.zeros(frames, bool)}
        for part in contact.parts:
            down[part.part][rows_of(part, frames, fps)] = True
        if not contact.parts:
            down["heel"][rows] = down["ball"][rows] = True
        standing = down["heel"] | down["ball"]
        down["ball"][rows] |= ~standing[rows]  # between two touches of its parts a plant rests on the ball
        out.append((contact, rows, down["heel"], down["ball"]))
    return out


def _headings(own, turns, stood):
    """Angles (F,) about the vertical, continuous, by which a foot with world rotations (F, 4) points elsewhere than at
    rest, and those that it keeps while it stands flat, the mean of each run."""
    way = rotation.rotate(rotation.mul(turns, rotation.conj(own.flat_foot)), own.heading)
    base = np.arctan2(own.heading[1], own.heading[0])
    angles = np.unwrap(np.arctan2(way[:, 1], way[:, 0]) - base)
    kept = angles.copy()
    for first, last in runs(stood):
        kept[first:last + 1] = angles[first:last + 1].mean()
    return angles, kept


def _yawed(angles, turn):
    """World rotations (F, 4): one rotation (4,), turned by angles (F,) about the vertical."""
    return rotation.mul(rotation.exp(angles[:, None] * np.array([0.0, 0.0, 1.0])), turn)


def oriented(own, foot, toe, standing, fps):
    """World rotations (F, 4) of foot and toes that lie as they stand; `foot` and `toe` are the transferred ones.

    The whole sole is flat, pointing one way, while heel and ball are down; the toes stay flat under a raised heel, and
    leave the floor lying as they did, for what hers flick there would take them through it.
    `standing` is a list as of `stands`.
    """
    frames = len(foot)
    flat, ball = np.zeros(frames, bool), np.zeros(frames, bool)
    fade = np.full(frames, _FADE * fps)
    for _, _, heel_down, ball_down in standing:
        flat |= heel_down & ball_down
        ball |= ball_down
    if not ball.any():
        return foot, toe
    _, kept = _headings(own, foot, flat)
    change = rotation.log(rotation.mul(_yawed(kept, own.flat_foot), rotation.conj(foot)))
    foot = rotation.mul(rotation.exp(ease.spread(change, flat, fade, fade)), foot)
    if own.turns:
        angles, kept = _headings(own, foot, flat)
        lying = _bent(own, foot, _yawed(kept, own.flat_toe))
        share = ease.spread(ball[:, None].astype(float), ball, fade, fade)
        toe = rotation.mul(rotation.exp(share * rotation.log(rotation.mul(lying, rotation.conj(toe)))), toe)
    return foot, toe


def apart(heel, ball, on_toes, standing, fps):
    """(Angles (F,) about the vertical by which foot and toes, angles (F,) by which the toes alone are to be turned up
    besides), so that the skin of heel and ball, while both stand, stays as far apart and in one direction.

    `heel` and `ball` (F, 3) are levers from the ankle to that skin, and `on_toes` (F, 3) is what the toes' bone has of
    the ball's, from their joint, metres. Where a shin carries some of a heel along, the two come apart as it turns; and
    what lies under the toes' joint goes ahead as they rise. `standing` is a list as of `stands`.
    """
    frames = len(heel)
    yaws, bends, both = np.zeros(frames), np.zeros(frames), np.zeros(frames, bool)
    for _, _, heel_down, ball_down in standing:
        both |= heel_down & ball_down
    way = (ball - heel)[:, :2]
    far, angles = rotation.norm(way), np.unwrap(np.arctan2(way[:, 1], way[:, 0]))
    deep = -on_toes[:, 2]
    for first, last in runs(both):
        rows = slice(first, last + 1)
        yaws[rows] = angles[rows].mean() - angles[rows]
        if (deep[rows] > _DEEP * far[rows]).all():
            bends[rows] = np.minimum((far[rows].max() - far[rows]) / deep[rows], _TOES_UP)
    fade = np.full(frames, _FADE * fps)
    # what changes as they part may not go on changing: toes that come back to the floor would go on into it
    return tuple(ease.spread(turn[:, None], both, fade, fade, 1.0 / fade)[:, 0] for turn in (yaws, bends))


def _bent(own, foot, toe):
    """`toe` (F, 4), turned with the foot where it would bend by more than toes can."""
    straight = rotation.mul(foot, rotation.mul(rotation.conj(own.flat_foot), own.flat_toe))
    bend = rotation.log(rotation.mul(toe, rotation.conj(straight)))
    size = rotation.norm(bend)
    return rotation.mul(rotation.exp(bend * np.minimum(_BEND / np.maximum(size, 1e-9), 1.0)[:, None]), straight)


def demands(own, side, contacts, floor, ankle, foot, toe, standing, fps):
    """Demands of a foot: where its ankle has to be while it stands or slides. What slides into a stand, or out of it,
    comes from and to where that is.

    `ankle` (F, 3) is the transferred one, `foot` and `toe` (F, 4) as of `oriented`; `floor` metres.
    """
    heel, ball = sole.levers(own, foot, toe)
    low = sole.lowest(own, foot, toe)
    out = []
    ways = _ways([ankle[rows] for _, rows, *_ in standing], standing, heel, ball, fps)
    off, stood, fade = np.zeros((len(ankle), 2)), np.zeros(len(ankle), bool), np.full(len(ankle), _FADE * fps)
    for (contact, rows, *_), way in zip(standing, ways):
        off[rows], stood[rows] = way - ankle[rows, :2], True
        out.append(Demand(contact, f"foot.{side}", rows.start, rows.stop - 1,
                          np.column_stack([way, height_of(contact, floor) - low[rows]])))
    sliding = ankle[:, :2] + ease.spread(off, stood, fade, fade)
    for contact in contacts:
        if contact.effector == f"foot.{side}" and contact.kind == "rest-on" and contact.surface == "floor":
            rows = rows_of(contact, len(ankle), fps)
            out.append(Demand(contact, f"foot.{side}", rows.start, rows.stop - 1,
                              np.column_stack([sliding[rows], height_of(contact, floor) - low[rows]])))
    return out


def held(demands, standing, heel, ball, fps):
    """A foot's Demands with the plants among them led about other levers from the ankle, (F, 3) each: where skin is
    carried by several bones it goes its own way, and what shall stay is the skin. `standing` as of `stands`."""
    plants = {d.contact.id: d for d in demands if d.contact.kind == "plant"}
    standing = [(plants[contact.id], *rest) for contact, *rest in standing if contact.id in plants]
    ways = _ways([d.target for d, *_ in standing], standing, heel, ball, fps)
    ways = {d.contact.id: way for (d, *_), way in zip(standing, ways)}
    return [d._replace(target=np.column_stack([ways[d.contact.id], d.target[:, 2]])) if d.contact.id in ways else d
            for d in demands]


def _ways(ankles, standing, heel, ball, fps):
    """The ankle's ways on the floor (T, 2) while a foot stands, for each plant of `standing`: `ankles` (T, 3) are where
    it was, `heel` and `ball` (F, 3) the levers from it."""
    ways = [_about(ankle[:, :2], heel[rows, :2], ball[rows, :2], heel_down[rows], ball_down[rows])
            for ankle, (_, rows, heel_down, ball_down) in zip(ankles, standing)]
    return _joined(ways, [rows for _, rows, *_ in standing], ball[:, :2], fps)


def _joined(ways, rows, ball, fps):
    """The ankle's ways (T, 2) of a foot's plants, in time, with one place for those that are one stand: that follow on
    each other so soon, and so near, that the foot was only eased in between."""
    order = sorted(range(len(ways)), key=lambda i: rows[i].start)
    groups = []
    for i in order:
        last = groups[-1][-1] if groups else None
        if last is not None and rows[i].start - rows[last].stop < _EASED * fps:
            off = ways[i][0] + ball[rows[i].start] - ways[last][-1] - ball[rows[last].stop - 1]
            if np.linalg.norm(off) < _SHIFTED:
                groups[-1].append(i)
                continue
        groups.append([i])
    out = list(ways)
    for group in (g for g in groups if len(g) > 1):
        shift = [np.zeros(2)]
        for last, i in zip(group[:-1], group[1:]):
            off = ways[i][0] + ball[rows[i].start] - ways[last][-1] - ball[rows[last].stop - 1]
            shift.append(shift[-1] - off)
        mean = np.average(shift, axis=0, weights=[len(ways[i]) for i in group])
        for i, by in zip(group, shift):
            out[i] = ways[i] + by - mean
    return out


def height_of(contact, floor):
    """The height that a foot stands at: the floor, or a step over it."""
    over = float(np.median(contact.path["z"])) - floor if contact.path.get("z") else 0.0
    return floor + (over if over > _STEP else 0.0)


def _about(ankle, heel, ball, heel_down, ball_down):
    """The ankle's way on the floor (T, 2) while what is down stays in its place, which is amid where the foot was.

    `heel` and `ball` (T, 2) are levers from the ankle. From frame to frame the ankle moves as the lever of the standing
    part turns; where both stand, what their skin goes apart is shared.
    """
    heel_stays, ball_stays = (down[1:] & down[:-1] for down in (heel_down, ball_down))
    ball_stays = ball_stays | (~heel_stays & ball_down[:-1])  # one that lifts as the other comes is stood on until then
    share = np.where(ball_stays, np.where(heel_stays, 0.5, 1.0), 0.0)[:, None]
    step = -(share * np.diff(ball, axis=0) + (1.0 - share) * np.diff(heel, axis=0))
    way = np.concatenate([np.zeros((1, 2)), np.cumsum(step, axis=0)])
    return way + np.mean(ankle - way, axis=0)
