"""What a body's motion lost or gained against its take: figures, faults and one line for people.

Everything is a pure function of two sampled motions. The result is plain JSON: units stand in the names, `null` stands
for what cannot be measured (speeds of a single frame), and the same input gives the same text.

Reading the figures: a limb's direction may differ by a constant angle (the two bodies are not built alike), so what
counts against a transfer is how much that angle changes in time.
"""

from typing import NamedTuple

import numpy as np

from . import anatomy, cuts, rotation
from .errors import FootholdError
from .skeleton import Motion

VERSION = 1
STATURE = 1.7  # metres; lengths compared across bodies are scaled to it
LIMITS = {
    "angular_speed_deg_per_s": 720.0,  # or 1.5 times the source's maximum, whichever is more
    "acceleration_ratio": 1.1,
    "limb_direction_std_deg": 0.01,
    "limb_direction_mean_deg": 25.0,  # arms and legs only: beyond this the two rests are not the same pose
    "twist_std_deg": 0.5,
    "root_path_rms_percent_of_leg": 1.0,
}
_SPEED_FACTOR = 1.5
_STILL = 0.05  # m/s^2; the source's acceleration counts as at least this, or rounding alone would give a ratio
_BODY_TO_STATURE = 1.18  # from ankle over thigh to head joint, to the height from sole to crown; a grown-up's
_LIMBS = {"hand": ("upper_arm", "forearm", "hand"), "foot": ("thigh", "shin", "foot")}
_AIMED = ("upper_arm", "forearm", "thigh", "shin")
WORST_FAULTS = 200


class Side(NamedTuple):
    """One armature as it was seen, frame by frame."""

    motion: Motion  # (F, J, ...) world space
    names: tuple  # J bone names
    parents: np.ndarray  # (J,) index of the parent, -1 for none
    roles: dict  # role -> bone index
    rendered: np.ndarray  # (J,) bool, bones that move a mesh


class Pair(NamedTuple):
    """A role of the body and the role of the take that it follows."""

    role: str
    source_role: str
    exact: bool  # False inside chains of unequal length, where a rotation is shared out


def pairs(source_roles, target_roles):
    """The roles that can be compared, as a list of Pair in the order of `target_roles`.

    Torso and neck chains of unequal length match at their ends; a lone bone stands for its chain's upper end.
    """
    found = {role: Pair(role, role, True) for role in target_roles if role in source_roles and role != "root"}
    for chain in (anatomy.torso, anatomy.neck):
        have, want = chain(source_roles), chain(target_roles)
        for role in want:
            found.pop(role, None)
        if not have or not want:
            continue
        for i, role in enumerate(want):
            place = i * (len(have) - 1) / (len(want) - 1) if len(want) > 1 else len(have) - 1
            at_end = i == len(want) - 1 or (i == 0 and len(have) > 1)
            found[role] = Pair(role, have[round(place)], at_end or len(have) == len(want))
    return [found[role] for role in target_roles if role in found]


def limb_ends(pair, source_roles, target_roles):
    """The roles (source's, target's) whose joints end the limb of a Pair, None where there is no common end."""
    part, _, side = pair.role.rpartition(".")
    if part == "hand":
        ends = [f"{finger}.{n}.{side}" for finger in ("middle", "index", "ring") for n in (1, 0)]
        end = next((r for r in ends if r in source_roles and r in target_roles), None)
        return end and (end, end)
    ends = (anatomy.limb_child(pair.source_role, source_roles), anatomy.limb_child(pair.role, target_roles))
    return None if None in ends else ends


def statistics(values, frames):
    """Median, 99th percentile and worst of values (N,), with the frame (N,) of the worst; None where N is 0."""
    if not len(values):
        return {"median": None, "p99": None, "worst": None, "worst_frame": None}
    at = int(np.argmax(values))
    return {"median": float(np.median(values)), "p99": float(np.percentile(values, 99.0)),
            "worst": float(values[at]), "worst_frame": number(frames[at])}


def angular_speed(rotations, fps):
    """Degrees per second (F - 1, J) between neighbouring frames of world rotations (F, J, 4)."""
    return np.degrees(rotation.angle(rotations[1:], rotations[:-1])) * fps


def acceleration(positions, fps):
    """Length of the acceleration in m/s^2, (F - 2, ...) for the inner frames of positions (F, ..., 3)."""
    return np.linalg.norm(positions[2:] - 2.0 * positions[1:-1] + positions[:-2], axis=-1) * fps * fps


def leg_length(side):
    """Thigh plus shin in metres, median over time and mean over the sides; None where no leg is mapped."""
    legs = [_chain_length(side, [f"{part}.{s}" for part in ("thigh", "shin", "foot")]) for s in anatomy.SIDES]
    legs = [leg for leg in legs if leg]
    return float(np.mean(legs)) if legs else None


def stature(side):
    """Height in metres, estimated from ankles over thighs to head along bones; None where leg or head is not mapped.

    The trunk begins amid the thighs: how far over them a rig has its hips' joint says nothing about its height.
    """
    places, roles, leg = side.motion.positions, side.roles, leg_length(side)
    if leg is None or "head" not in roles:
        return None
    thighs = [roles[f"thigh.{s}"] for s in anatomy.SIDES if f"thigh.{s}" in roles]
    trunk = [roles[r] for r in (*anatomy.torso(roles), *anatomy.neck(roles), "head")]
    joints = np.concatenate([places[:, thighs].mean(axis=1, keepdims=True), places[:, trunk]], axis=1)
    return _BODY_TO_STATURE * (leg + _length(joints))


def carried(source, target):
    """World paths (F, 3) of what a transfer carries over, on both sides: of the place on the pelvis amid the thighs.

    Rigs have their hips' joints elsewhere on the pelvis, and those go other ways as soon as it turns, though both
    pelvises do the same. Where a side has no thighs it is the hips' joint. Thighs that move on their pelvis, as in a
    cartoon, do not count: the place is the median of theirs over time.
    """
    thighs = [f"thigh.{side}" for side in anatomy.SIDES]
    known = all(role in side.roles for role in thighs for side in (source, target))
    out = []
    for side in (source, target):
        hips = side.roles["hips"]
        path, turns = side.motion.positions[:, hips], side.motion.rotations[:, hips]
        if known:
            lever = side.motion.positions[:, [side.roles[role] for role in thighs]].mean(axis=1) - path
            path = path + rotation.rotate(turns, np.median(rotation.rotate(rotation.conj(turns), lever), axis=0))
        out.append(path)
    return out


def limb_direction(source, target, pair):
    """Angle in degrees (F,) between the limbs of a Pair in the world, None where it has no limb."""
    ends = limb_ends(pair, source.roles, target.roles)
    if ends is None:
        return None
    limbs = _limb(source, pair.source_role, ends[0]), _limb(target, pair.role, ends[1])
    if min(np.linalg.norm(limb, axis=-1).min() for limb in limbs) < 1e-6:
        return None
    return np.degrees(rotation.vector_angle(*limbs))


def relative_turn(source, target, pair):
    """What the body's bone does in the world beyond the take's: D_target D_source^-1, (F, 4).

    D is what a bone did in the world since a common reference. The reference is the mean relation of the two bones
    over time, so that no single frame weighs more than another.
    """
    a = source.motion.rotations[:, source.roles[pair.source_role]]
    b = target.motion.rotations[:, target.roles[pair.role]]
    relation = rotation.mul(rotation.conj(a), b)
    # the mean of quaternions is the main axis of their outer products: signs do not matter
    mean = np.linalg.eigh(relation.T @ relation)[1][:, -1]
    return rotation.mul(rotation.mul(rotation.mul(a, relation), rotation.conj(mean)), rotation.conj(a))


def twist(source, target, pair):
    """Relative twist in degrees (F,) about the limb of the take, unwrapped; None where the Pair has no limb."""
    ends = limb_ends(pair, source.roles, target.roles)
    if ends is None:
        return None
    limb = _limb(source, pair.source_role, ends[0])
    if np.linalg.norm(limb, axis=-1).min() < 1e-6:
        return None
    turn = relative_turn(source, target, pair)
    return np.degrees(np.unwrap(rotation.twist_angle(turn, rotation.normalize(limb))))


def fit_path(source, target):
    """(scale, offset (D,), residual (F, D)) of the best target = scale source + offset; paths (F, D)."""
    a, b = source - source.mean(axis=0), target - target.mean(axis=0)
    power = float(np.sum(a * a))
    scale = float(np.sum(a * b)) / power if power > 1e-12 else 0.0
    return scale, target.mean(axis=0) - scale * source.mean(axis=0), b - scale * a


def bob(height, fps):
    """Amplitude in metres of the up and down of a height (F,): RMS about its running mean over one second."""
    half = int(round(0.5 * fps))
    total = np.concatenate([[0.0], np.cumsum(height)])
    at = np.arange(len(height))
    # the window shrinks evenly on both sides towards the ends, where a lopsided one would see slopes as bobbing
    reach = np.minimum(half, np.minimum(at, len(height) - 1 - at))
    mean = (total[at + reach + 1] - total[at - reach]) / (2 * reach + 1)
    return float(np.sqrt(np.mean((height - mean) ** 2)))


def same_bits(stored, expected):
    """Whether two arrays, or two dicts of arrays, are equal bit for bit, and where they first differ."""
    if not isinstance(stored, dict):
        stored, expected = {"": stored}, {"": expected}
    missing = sorted(str(k) for k in stored.keys() ^ expected.keys())
    out = {"equal": not missing, "channels": len(stored), "missing": missing, "first": None, "largest_difference": 0.0}
    for key in sorted(stored.keys() & expected.keys(), key=str):
        a, b = np.ascontiguousarray(stored[key]), np.ascontiguousarray(expected[key])
        if a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes():
            continue
        out["equal"] = False
        at = None
        if a.shape == b.shape and a.size:
            gap = np.abs(a.astype(float) - b.astype(float))
            gap[np.isnan(gap)] = 0.0
            out["largest_difference"] = max(out["largest_difference"], float(gap.max()))
            at = [int(i) for i in np.unravel_index(int(np.argmax(gap)), a.shape)]
        out["first"] = out["first"] or {"channel": str(key), "index": at}
    return out


def report(source, target, fps, frames=None, keys=None, cost=None, pure_transfer=True):
    """All figures of `target` (Side) against `source` (Side), both sampled at the same `fps`, as a JSON-able dict.

    `frames` (F,) are the frame numbers to name, counted from 1 where left out. `keys` is (stored, expected), arrays or
    dicts of arrays, for the check that nothing was done. `cost` is passed on. With `pure_transfer` directions and
    twists that change in time are faults; a body that was fitted to contacts may change them.
    Raises FootholdError for a side without hips, unequal frame counts and motions that are not finite.
    """
    frames = _checked(source, target, fps, frames)
    found = pairs(source.roles, target.roles)
    faults, notes = [], []
    metrics = {
        "angular_speed_deg_per_s": _angular_speeds(source, target, found, fps, frames, faults),
        "acceleration_m_per_s2": _accelerations(source, target, fps, frames, faults),
        "limb_direction_deg": _directions(source, target, found, frames, faults if pure_transfer else [], notes),
        "twist_deg": _twists(source, target, found, frames, faults if pure_transfer else []),
        "relative_rotation_deg": _rotations(source, target, found, frames),
        "root_path": _root_path(source, target, fps, frames, faults, notes),
    }
    out = {
        "foothold_report": VERSION,
        "fps": float(fps),
        "frames": {"first": number(frames[0]), "last": number(frames[-1]), "count": len(frames)},
        "limits": dict(LIMITS),
        "take": _about(source),
        "body": _about(target),
        "metrics": metrics,
        "nothing_to_do": None if keys is None else same_bits(*keys),
        "cost": cost,
        "notes": notes,
    }
    out = with_faults(out, faults)
    out["summary"] = summary(out)
    return out


def with_faults(report, faults):
    """A report with more faults among its own, worst first."""
    listed = sorted([*report.get("faults", ()), *faults], key=lambda f: (-f["severity"], f["metric"], f["role"] or "",
                                                                         f["bone"] or "", f["frame"] or 0))
    return {**report, "faults_total": report.get("faults_total", 0) + len(faults), "faults": listed[:WORST_FAULTS]}


def again(faults, source, other, fps, frames):
    """The figures that the places of `faults` have in another motion of the same body: a list of floats, None where
    there is none.

    `source` is the take's Side, `other` the body's in that motion, `frames` (F,) the frame numbers of both. Asked for
    is the same metric of the same bone, over the frames of each fault.
    """
    speeds = angular_speed(other.motion.rotations, fps)
    joints = _accelerations(source, other, fps, frames, [])["joints"]
    out = []
    for told in faults:
        value = None
        if told["metric"] == "angular_speed_deg_per_s":
            rows = (frames[1:] >= told["first"]) & (frames[1:] <= told["last"])
            value = float(speeds[rows, other.names.index(told["bone"])].max())
        elif told["metric"] == "acceleration_ratio":
            value = joints[told["role"]]["ratio_in_proportion"]
        elif told["metric"] == "root_path_rms_percent_of_leg":
            value = _root_path(source, other, fps, frames, [], [])["rms_percent_of_leg"]
        out.append(value)
    return out


def summary(report):
    """One line for people."""
    metrics = report["metrics"]
    speed, pull = metrics["angular_speed_deg_per_s"], metrics["acceleration_m_per_s2"]
    direction, roll, root = metrics["limb_direction_deg"], metrics["twist_deg"], metrics["root_path"]
    parts = [f"{report['frames']['count']} frames at {report['fps']:g} fps"]
    if speed["frames_over"] is not None:
        parts.append(f"turning too fast on {speed['frames_over']} frames")
    if pull["ratio"] is not None:
        parts.append(f"acceleration x{pull['ratio']:.2f}")
    if direction["worst_role"]:
        parts.append(f"limb direction std {direction['std']:.4f} deg ({direction['worst_role']}), mean "
                     f"{direction['mean']:.1f} deg ({direction['worst_mean_role']})")
    if roll["worst_role"]:
        parts.append(f"twist std {roll['std']:.3f} deg ({roll['worst_role']})")
    if root["rms_percent_of_leg"] is not None:
        parts.append(f"path off by {root['rms_percent_of_leg']:.2f} % of a leg")
    count = report["faults_total"]
    return ", ".join(parts) + (": no faults." if not count else f": {count} fault{'s' if count > 1 else ''}.")


def number(value):
    """A number as JSON shows it best: whole where it is whole."""
    return int(value) if float(value).is_integer() else float(value)


def _chain_length(side, roles):
    chain = [side.roles[r] for r in roles if r in side.roles]
    if len(chain) < 2 or roles[0] not in side.roles or roles[-1] not in side.roles:
        return None
    return _length(side.motion.positions[:, chain])


def _length(joints):
    """Length in metres of the way from joint to joint (F, N, 3), each part's median over time."""
    return float(np.median(np.linalg.norm(np.diff(joints, axis=1), axis=-1), axis=0).sum())


def _limb(side, role, end):
    return side.motion.positions[:, side.roles[end]] - side.motion.positions[:, side.roles[role]]


def _checked(source, target, fps, frames):
    counts = len(source.motion.positions), len(target.motion.positions)
    if counts[0] != counts[1] or not counts[0]:
        raise FootholdError(f"The take was sampled at {counts[0]} frames and the body at {counts[1]}: sample both at "
                            "the same frames, at least one.")
    if not (np.isfinite(fps) and fps > 0.0):
        raise FootholdError(f"{fps} is not a frame rate: give one above zero.")
    frames = np.arange(1, counts[0] + 1) if frames is None else np.asarray(frames)
    if len(frames) != counts[0]:
        raise FootholdError(f"{len(frames)} frame numbers were given for {counts[0]} frames.")
    for title, side in (("take", source), ("body", target)):
        if "hips" not in side.roles:
            raise FootholdError(f"The {title} has no bone in the role 'hips': map it in the Roles table.")
        finite = np.isfinite(side.motion.positions).all(axis=-1) & np.isfinite(side.motion.rotations).all(axis=-1)
        if not finite.all():
            at, bone = np.argwhere(~finite)[0]
            raise FootholdError(f"Bone '{side.names[bone]}' of the {title} has no finite place at frame "
                                f"{number(frames[at])}: repair its keys.")
    return frames


def _about(side):
    return {"bones": len(side.names), "roles": len(side.roles), "leg_length_m": leg_length(side),
            "stature_m": stature(side)}


def fault(metric, value, limit, frame, role=None, bone=None, frames=None):
    """A place where a figure goes over its limit, as plain data: its worst frame, and the first and last of the frames
    (N,) that the figure is taken over, the worst alone where left out."""
    first, last = (frame, frame) if frames is None else (frames[0], frames[-1])
    return {"metric": metric, "role": role, "bone": bone, "frame": number(frame), "first": number(first),
            "last": number(last), "value": float(value), "limit": float(limit), "severity": float(value / limit)}


def _bone_sources(source, target, found):
    """For each rendered bone of the target: (index, its role, the source bones that it follows)."""
    by_role = {p.role: p.source_role for p in found}
    by_bone = {j: role for role, j in target.roles.items()}
    shown = target.rendered if target.rendered.any() else np.isin(np.arange(len(target.names)), list(by_bone))
    out = []
    for j in np.flatnonzero(shown):
        at = j
        while at >= 0 and by_bone.get(at) not in by_role and not anatomy.is_twist(by_bone.get(at, "")):
            at = target.parents[at]
        role = by_bone.get(at) if at >= 0 else None
        follows = [role]
        if role and anatomy.is_twist(role):  # it turns with the limb and with what the limb carries
            limb = anatomy.twist_of(role)
            follows = [limb, anatomy.limb_child(limb, target.roles)]
        out.append((int(j), by_bone.get(j), [source.roles[by_role[r]] for r in follows if r in by_role]))
    return out


def _angular_speeds(source, target, found, fps, frames, faults):
    bones, over_any = {}, np.zeros(max(len(frames) - 1, 0), bool)
    theirs, ours = angular_speed(source.motion.rotations, fps), angular_speed(target.motion.rotations, fps)
    over_cuts = cuts.find(cuts.joints(source.motion, source.roles), fps) - 1
    theirs[over_cuts] = ours[over_cuts] = 0.0  # what goes from shot to shot is no motion
    least = LIMITS["angular_speed_deg_per_s"]
    for j, role, follows in _bone_sources(source, target, found):
        speed = ours[:, j]
        model = theirs[:, follows].max(axis=1) if follows else np.empty(0)
        limit = max(_SPEED_FACTOR * float(model.max()), least) if len(model) else least
        over = speed > limit
        over_any |= over
        for first, last in _runs(over):
            at = first + int(np.argmax(speed[first:last]))
            faults.append(fault("angular_speed_deg_per_s", speed[at], limit, frames[at + 1], role, target.names[j],
                                frames[first + 1:last + 1]))
        bones[target.names[j]] = {"role": role, "limit": limit, "frames_over": int(over.sum()),
                                  "body": statistics(speed, frames[1:]),
                                  "take_bones": [source.names[k] for k in follows],
                                  "take": statistics(model, frames[1:]) if follows else None}
    return {"frames_over": int(over_any.sum()) if len(frames) > 1 else None, "bones": bones}


def _runs(mask):
    """(first, end) of every stretch of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return list(zip(edges[0::2].tolist(), edges[1::2].tolist()))


def _accelerations(source, target, fps, frames, faults):
    """Of wrists and ankles, and under "hips" of what is `carried`: against the take's, both scaled to one stature, and
    against the take `in_proportion`, which alone tells faults."""
    sizes = stature(source), stature(target)
    known = None not in sizes
    scales = [STATURE / size if known else 1.0 for size in sizes]
    joints, worst, limit = {}, {}, LIMITS["acceleration_ratio"]
    for role in ("hips", "hand.L", "hand.R", "foot.L", "foot.R"):
        if role not in source.roles or role not in target.roles or len(frames) < 3:
            continue
        alike, ours = (scales[1] * acceleration(path, fps) for path in in_proportion(source, target, role))
        path = carried(source, target)[0] if role == "hips" else source.motion.positions[:, source.roles[role]]
        theirs = scales[0] * acceleration(path, fps)
        body, take, like = (statistics(values, frames[1:-1]) for values in (ours, theirs, alike))
        ratios = {name: max(body["p99"], _STILL) / max(other["p99"], _STILL)
                  for name, other in (("ratio", take), ("ratio_in_proportion", like))}
        joints[role] = {"body": body, "take": take, **ratios, "limit": limit}
        worst = {name: max(ratio, worst.get(name, 0.0)) for name, ratio in ratios.items()}
        if ratios["ratio_in_proportion"] > limit:
            at = int(np.argmax(ours - alike))
            faults.append(fault("acceleration_ratio", ratios["ratio_in_proportion"], limit, frames[at + 1], role,
                                target.names[target.roles[role]], frames))
    return {"ratio": None, "ratio_in_proportion": None, **worst,
            "scaled_to_stature_m": STATURE if known else None, "joints": joints}


def in_proportion(source, target, role):
    """(World path (F, 3) of the take's joint as a performer with the body's lengths would go it, the body's path).

    Limbs that turn alike swing as far as they are long, and a longer trunk carries the arms farther: that is no fault
    of a transfer. So the way of what is `carried` is scaled with the legs; from there on the trunk as a whole,
    upper and lower limb are made as long as the body's, each by its own factor. Under "hips" it is the way alone.
    """
    theirs, ours = carried(source, target)
    legs = leg_length(source), leg_length(target)
    way = legs[1] / legs[0] if all(legs) else 1.0
    path, places = way * theirs, (theirs, ours)
    if role == "hips":
        return path, ours
    part, _, letter = role.partition(".")
    for joint in (f"{name}.{letter}" for name in _LIMBS[part]):
        if joint in source.roles and joint in target.roles:
            ends = [side.motion.positions[:, side.roles[joint]] for side in (source, target)]
            lengths = [_length(np.stack(pair, axis=1)) for pair in zip(places, ends)]
            longer = lengths[1] / lengths[0] if lengths[0] > 1e-6 else way
            path, places = path + longer * (ends[0] - places[0]), ends
    return path, places[1]


def _directions(source, target, found, frames, faults, notes):
    roles = {}
    for pair in found:
        angle = limb_direction(source, target, pair)
        if angle is None:
            continue
        mean, std = float(angle.mean()), float(angle.std())
        off = np.abs(angle - np.median(angle))
        roles[pair.role] = {"take_role": pair.source_role, "shared_out": not pair.exact, "mean": mean, "std": std,
                            **statistics(angle, frames)}
        bone = target.names[target.roles[pair.role]]
        if pair.exact and std > LIMITS["limb_direction_std_deg"]:
            faults.append(fault("limb_direction_std_deg", std, LIMITS["limb_direction_std_deg"],
                                frames[int(np.argmax(off))], pair.role, bone, frames))
        if pair.role.split(".")[0] in _AIMED and mean > LIMITS["limb_direction_mean_deg"]:
            faults.append(fault("limb_direction_mean_deg", mean, LIMITS["limb_direction_mean_deg"],
                                frames[int(np.argmax(angle))], pair.role, bone, frames))
    wide = [r for r, row in roles.items()
            if r.split(".")[0] in _AIMED and row["mean"] > LIMITS["limb_direction_mean_deg"]]
    if wide:
        notes.append(f"{len(wide)} limbs point elsewhere than the take's all the time: the rests of take and body are "
                     "probably not the same pose. Pick the take's rest.")
    return _worst_std(roles)


def _twists(source, target, found, frames, faults):
    roles = {}
    for pair in found:
        angle = twist(source, target, pair)
        if angle is None:
            continue
        off = np.abs(angle - np.median(angle))
        std = float(angle.std())
        roles[pair.role] = {"take_role": pair.source_role, "shared_out": not pair.exact, "std": std,
                            **statistics(off, frames)}
        if pair.exact and std > LIMITS["twist_std_deg"]:
            faults.append(fault("twist_std_deg", std, LIMITS["twist_std_deg"], frames[int(np.argmax(off))],
                                pair.role, target.names[target.roles[pair.role]], frames))
    return _worst_std(roles)


def _rotations(source, target, found, frames):
    """How far each bone's whole turn strays from the take's; covers hands, head and toes that point at no joint."""
    roles = {}
    for pair in found:
        angle = np.degrees(rotation.angle(relative_turn(source, target, pair)))
        roles[pair.role] = {"take_role": pair.source_role, "shared_out": not pair.exact,
                            "std": float(np.sqrt(np.mean(angle ** 2))), **statistics(angle, frames)}
    return _worst_std(roles)


def _worst_std(roles):
    """The figures of `roles` under those of the role that is most restless, chains that share a rotation left out."""
    exact = [r for r, row in roles.items() if not row["shared_out"]]
    worst = max(exact, key=lambda r: (roles[r]["std"], r), default=None)
    out = {"worst_role": worst, "std": roles[worst]["std"] if worst else None}
    if exact and "mean" in roles[worst]:
        out["worst_mean_role"] = max(exact, key=lambda r: (roles[r]["mean"], r))
        out["mean"] = roles[out["worst_mean_role"]]["mean"]
    return {**out, "roles": roles}


def _root_path(source, target, fps, frames, faults, notes):
    """How the body's way and its bob compare with the take's, of what is carried over (`carried`), after scaling."""
    theirs, ours = carried(source, target)
    legs = leg_length(source), leg_length(target)
    flat, _, beside = fit_path(theirs[:, :2], ours[:, :2])
    upright, _, above = fit_path(theirs[:, 2:], ours[:, 2:])
    bobs = bob(theirs[:, 2], fps), bob(ours[:, 2], fps)
    off = np.linalg.norm(np.concatenate([beside, above], axis=1), axis=1)
    out = {"horizontal_scale": flat, "vertical_scale": upright, "leg_ratio": None, "rms_percent_of_leg": None,
           "horizontal_rms_percent_of_leg": None, "vertical_rms_percent_of_leg": None, "off_percent_of_leg": None,
           "bob_amplitude_ratio": bobs[1] / bobs[0] if bobs[0] > 1e-6 else None,
           "body": {"bob_m": bobs[1], "horizontal_extent_m": _extent(ours)},
           "take": {"bob_m": bobs[0], "horizontal_extent_m": _extent(theirs)}}
    if None in legs:
        notes.append("No leg is mapped on both sides: the path cannot be compared with a leg's length.")
        return out
    percent = 100.0 / legs[1]
    out["leg_ratio"] = legs[1] / legs[0]
    out["off_percent_of_leg"] = statistics(percent * off, frames)
    for name, residual in (("", off[:, None]), ("horizontal_", beside), ("vertical_", above)):
        out[f"{name}rms_percent_of_leg"] = percent * float(np.sqrt(np.mean(np.sum(residual ** 2, axis=1))))
    limit = LIMITS["root_path_rms_percent_of_leg"]
    if out["rms_percent_of_leg"] > limit:
        faults.append(fault("root_path_rms_percent_of_leg", out["rms_percent_of_leg"], limit,
                            frames[int(np.argmax(off))], "hips", target.names[target.roles["hips"]], frames))
    # a body that stays put fits any path at scale zero, so the scale itself must be looked at
    if _extent(theirs) > 0.25 * legs[0] and not 0.25 < flat / out["leg_ratio"] < 4.0:
        notes.append(f"The body covers {flat:.2f} times the take's way on the floor: it was baked in place, or lost "
                     "its travel.")
    return out


def _extent(path):
    return float(np.linalg.norm(np.ptp(path[:, :2], axis=0)))
