"""A performer whose feet and hands are led along paths that the test lays out: contacts known by construction."""

import numpy as np
from figures import build

from foothold.solvers import rotation
from foothold.solvers.contacts import performer
from foothold.solvers.skeleton import Motion


def ease(part):
    """From 0 to 1 without a jerk."""
    part = np.clip(part, 0.0, 1.0)
    return part ** 3 * (10.0 - 15.0 * part + 6.0 * part ** 2)


class Puppet:
    """A standing figure over some frames; its limbs are moved one after the other."""

    def __init__(self, seconds=6.0, fps=60.0, seed=3):
        self.figure, self.fps = build(seed=seed), fps
        self.frames = int(round(seconds * fps)) + 1
        self.time = np.arange(self.frames) / fps
        self.positions = np.repeat(self.figure.rest.positions, self.frames, axis=0)
        self.rotations = np.repeat(self.figure.rest.rotations, self.frames, axis=0)

    @property
    def motion(self):
        return Motion(self.positions.copy(), self.rotations.copy())

    def joint(self, role):
        return self.figure.roles[role]

    def between(self, start, end):
        """0 before `start` seconds, 1 after `end`, eased."""
        return ease((self.time - start) / (end - start))

    def sway(self, amount=0.3, period=1.7):
        """Let hips, trunk, head and arms move to and fro; hands and feet stay where they are led."""
        off = amount * np.sin(2.0 * np.pi * self.time / period)
        for role, j in self.figure.roles.items():
            if role.split(".")[0] not in ("foot", "toe", "hand", "middle"):
                self.positions[:, j, 1] += off

    def step(self, side, start, end, way=(0.0, -0.4, 0.0), lift=0.15):
        """Lift a foot at `start` seconds and set it down at `end`, `way` (3,) from where it was."""
        part = self.between(start, end)
        height = lift * 64.0 * np.where((part > 0) & (part < 1), (part * (1.0 - part)) ** 3, 0.0)
        off = part[:, None] * np.array(way) + height[:, None] * np.array([0.0, 0.0, 1.0])
        for role in (f"foot.{side}", f"toe.{side}"):
            self.positions[:, self.joint(role)] += off

    def reached(self, held, sign, start, end):
        """A path (F, 3) that lies on `held` from `start` to `end` seconds, and else beside the hips and with them."""
        away = (1.0 - self.between(start - 0.5, start) + self.between(end, end + 0.5))[:, None]
        beside = self.positions[:, self.joint("hips")] + np.array([0.35 * sign, 0.1, 0.0])
        return held + away * (beside - held)

    def lead_palm(self, side, path, turns=None):
        """Let the middle of a palm follow a path (F, 3), its hand turned in the world by `turns` (F, 4)."""
        palm = performer.palms(self.figure)[side]
        j = palm.joint
        if turns is not None:
            self.rotations[:, j] = rotation.mul(turns, self.rotations[:, j])
        self.positions[:, j] = path - rotation.rotate(self.rotations[:, j], palm.offset)


def on_pole(point, axis, radius, heights, azimuths):
    """(places (F, 3) on a cylinder, turns (F, 4) by which a hand follows its azimuth); degrees."""
    axis = np.asarray(axis) / np.linalg.norm(axis)
    turns = rotation.exp(np.radians(azimuths)[:, None] * axis)
    first = rotation.normalize(np.array([1.0, 0.0, 0.0]) - axis[0] * axis)
    out = rotation.rotate(turns, first)
    return np.asarray(point) + heights[:, None] * axis + radius * out, turns


def with_pole(seconds=8.0, fps=60.0, point=(0.4, -0.3, 0.0), axis=(0.03, -0.02, 1.0), radius=0.022):
    """(Puppet, grips as (side, first second, last second)) of a performer who holds a pole with both hands in turn."""
    puppet = Puppet(seconds, fps)
    puppet.sway()
    grips = []
    for side, start, end, height, sign in (("L", 1.0, 4.5, 1.3, 1.0), ("R", 2.5, 7.0, 1.7, -1.0)):
        t = np.clip(puppet.time, start, end)
        azimuths = sign * 40.0 * (t - start) + 90.0 * sign
        heights = height + 0.25 * puppet.between(start + 1.0, start + 2.0)
        held, turns = on_pole(point, axis, radius, heights, azimuths)
        puppet.lead_palm(side, puppet.reached(held, sign, start, end), turns)
        grips.append((f"hand.{side}", start, end))
    return puppet, grips
