"""Reading the contacts off a take: from the armature in the scene to a ContactScript."""

from ..solvers.errors import FootholdError


def extract_steps(scene, settings, prop="auto"):
    """Extract; a generator that yields the part done and returns a ContactScript.

    `settings` are job.BakeSettings, of which take, take_rest and take_action count. `prop` is "auto", "none", an object
    of the scene, or a script.Prop.
    """
    raise FootholdError("Extraction is not built yet.")
    yield
