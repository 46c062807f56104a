"""Hands that face away from what they hold, and paths with two samples at one time."""

import numpy as np
from figures import build

from foothold.solvers import rotation
from foothold.solvers.contacts import performer
from foothold.solvers.contacts.script import Contact
from foothold.solvers.fit import hands


def test_a_palm_that_faces_away_from_what_it_holds_does_not_flip():
    """It wavers by 3 degrees about facing away: no step of the turned hand may be larger than a few degrees."""
    palm = performer.palms(build(seed=6))["L"]
    away = rotation.between(palm.out, np.array([1.0, 0.0, 0.0]))  # the surface's normal is +X, the palm faces +X too
    t = np.linspace(0.0, 2.0 * np.pi, 121)
    waver = rotation.exp(np.radians(3.0) * np.stack([0.0 * t, np.sin(t + 0.3), 0.5 * np.cos(2.0 * t)], axis=-1))
    hand = rotation.mul(waver, np.broadcast_to(away, (121, 4)))
    contact = Contact("g", "hand.L", "pole", "grip", 0.0, 2.0)
    turned = hands.oriented(palm, hand, [(contact, slice(0, 121), np.tile([1.0, 0.0, 0.0], (121, 1)))], 60.0)
    assert np.degrees(rotation.angle(turned[1:], turned[:-1])).max() < 10.0


def test_two_samples_at_one_time():
    """The script allows them (times must not go back)."""
    path = {"time": [0.0, 1.0, 1.0, 2.0], "x": [0.0, 1.0, 1.0, 2.0]}
    values = hands.column(Contact("c", "hand.L", "box", "grip", 0.0, 2.0, path=path), "x", np.linspace(0.0, 2.0, 21))
    assert np.isfinite(values).all()
