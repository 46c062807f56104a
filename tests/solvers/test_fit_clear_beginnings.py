"""What goes with the trunk of a limb is its beginning only."""

import numpy as np
from bodies import flesh_of
from figures import build
from test_fit_clear import Scene

from foothold.solvers import transfer
from foothold.solvers.fit import clear
from foothold.solvers.fit.body import body_of
from foothold.solvers.skeleton import identity_channels


def own(part):
    """The skin's vertices that a part looks at by themselves, not as the far end of an edge."""
    ends = part.skin.ends[part.skin.ends[:, 0] == part.skin.ends[:, 1], 0]
    return part.skin.skin.vertices[ends]


def test_only_the_beginnings_of_limbs_go_with_the_trunk():
    """No vertex counts for the trunk and for a limb as well, and none that lies far down an upper arm or thigh."""
    figure = build(seed=4)
    plan = transfer.plan(figure, figure, identity_channels(len(figure.skeleton.names)), 0.09)
    parts = clear.parts(body_of(plan, flesh_of(figure)))
    trunk = np.concatenate([own(p) for p in parts if not p.limb])
    limbs = np.concatenate([own(p) for p in parts if p.limb])
    assert not np.isin(trunk, limbs).any()


def test_a_free_limb_gets_out_by_itself():
    """The pole is in the upper arm, 65 hundredths of the way down, or the thigh: the root does not move for it."""
    for part in ("upper_arm", "thigh"):
        out, _ = Scene(part, 0.03, ("hand.R", "foot.R")).fit()
        assert np.linalg.norm(out.offset, axis=-1).max() < 1e-3
