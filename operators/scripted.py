"""A bake by the take's contacts: where it has none yet they are read off the take first, and stay with it."""

from dataclasses import replace

from ..solvers.contacts.script import within
from . import contacts, job
from .bridge import read, scripts


def bake_steps(scene, settings, prop=lambda: "auto"):
    """`job.bake_steps`, which keeps a script that was given or that it had to extract on the take's action.

    `prop` gives, where it comes to that, what `contacts.extract_steps` takes as the prop. Nothing in the file changes
    before the last step.
    """
    settings, fresh = yield from job.part(settled_steps(scene, settings, prop), 0.0, 0.3)
    found = yield from job.part(job.solve_steps(scene, settings), 0.3, 0.95)
    report = job.finish(settings, *found)
    keep(settings, fresh)
    return report


def settled_steps(scene, settings, prop=lambda: "auto"):
    """(the settings with the script that they need, that script for `keep` where the take's action has another or
    none, else None); a generator of the part done."""
    job.check(settings)
    if "contacts" not in settings.stages:
        return settings, None
    action = action_of(settings)
    if settings.script is not None:
        first, last = read.frame_span(action)
        return settings, within(settings.script, 0.0, last - first + 1, job.action_fps(action, scene))
    script = scripts.load(action)
    if script is not None:
        return replace(settings, script=script), None
    whole = replace(settings, first=None, last=None, step=1)
    fresh = yield from contacts.extract_steps(scene, whole, prop())
    return replace(settings, script=fresh), fresh


def keep(settings, script):
    """Keep a script, if it is one, on the take's action, where that can keep anything."""
    action = action_of(settings)
    if script is not None and action.is_editable:
        scripts.store(action, script)


def action_of(settings):
    """The take's action that is baked."""
    return settings.take_action or job.take_action(settings.take)
