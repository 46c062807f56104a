"""A knee on the floor whose skin two bones carry."""

import numpy as np
import test_fit_ground
from bodies import rod
from test_fit_ground import Scene

from foothold.solvers import rotation
from foothold.solvers.fit.body import body_of
from foothold.solvers.fit.fit import fit

_KNEEL = {"shin.L": (80.0, 0.0, 0.0), "foot.L": (90.0, 0.0, 0.0), "thigh.R": (-100.0, 0.0, 0.0),
          "shin.R": (100.0, 0.0, 0.0)}


def test_a_knee_whose_skin_two_bones_carry_does_not_sink(monkeypatch):
    """One tube over thigh and shin, going over from one to the other within 5 cm of the knee."""
    kneel = {**_KNEEL, "shin.L": (100.0, 0.0, 0.0)}
    monkeypatch.setitem(test_fit_ground._POSES, "knee", (kneel, ("shin.L",), "foot.R"))
    scene = Scene("knee")
    hip, knee, ankle = (scene.figure.rest.positions[0, scene.figure.roles[f"{r}.L"]] for r in ("thigh", "shin", "foot"))
    points, faces = rod(hip, ankle, 0.06)
    thigh, shin = (scene.figure.skeleton.names.index(f"{r}.L") for r in ("thigh", "shin"))
    share = np.clip((knee[2] - points[:, 2]) / 0.1 + 0.5, 0.0, 1.0)
    bones, weights = np.full((len(points), 4), -1), np.zeros((len(points), 4))
    order = np.argsort([1.0 - share, share], axis=0)[::-1]
    bones[:, :2] = np.where(order.T == 0, thigh, shin)
    weights[:, :2] = np.where(order.T == 0, (1.0 - share)[:, None], share[:, None])
    kept = ~np.isin(scene.skin.bones[:, 0], [thigh, shin])
    renumbered = np.cumsum(kept) - 1
    old = scene.skin.faces[kept[scene.skin.faces].all(axis=1)]
    skin = scene.skin._replace(
        points=np.concatenate([scene.skin.points[kept], points]), bones=np.concatenate([scene.skin.bones[kept], bones]),
        weights=np.concatenate([scene.skin.weights[kept], weights]), rigid=np.zeros(kept.sum() + len(points), bool),
        faces=np.concatenate([renumbered[old], faces + kept.sum()]))
    body = body_of(scene.plan, skin)
    out = fit(body, scene.script, scene.motion, scene.palms, test_fit_ground._FPS)
    motion = scene.played(out.pose)
    heights = 0.0
    for joint, part in ((thigh, 1.0 - share), (shin, share)):
        local = rotation.rotate(rotation.conj(body.bound.rotations[0, joint]), points - body.bound.positions[0, joint])
        heights = heights + part * (motion.positions[:, joint, None]
                                    + rotation.rotate(motion.rotations[:, joint, None], local))[..., 2]
    assert heights.min() > -5e-4, f"{1e3 * heights.min():.1f} mm, told: {out.left}"
