"""What happens by itself when the artist chooses a take, a body or a rest, so that three clicks bake a known rig.

Roles are detected, the take's rest is guessed, and both rests are compared. What is only shown goes to the window
manager; a panel reads it there and works nothing out.
"""

import contextlib
import hashlib
import json

import bpy

from ..solvers.errors import FootholdError
from . import guess, job
from .bridge import compat, read, roles

_SOON = 0.2  # seconds; a value that is being dragged is compared once it rests
_by_hand = []  # not empty while an operator sets what the panel's own updates would answer


@contextlib.contextmanager
def by_hand():
    """Set several settings without anything happening by itself in between."""
    _by_hand.append(True)
    try:
        yield
    finally:
        _by_hand.pop()


def detect_roles(context, armature):
    """Detect and store the roles of an armature, and keep what was doubtful for the panel.

    Returns the humanoid.Detection.
    """
    found = roles.detect(armature)
    roles.store(armature, found.roles)
    shown = context.window_manager.foothold
    doubts = json.loads(shown.doubts or "{}")
    doubts[armature.name] = {"of": armature[roles.KEY], "lines": [*found.conflicts, *found.notes]}
    shown.doubts = json.dumps(doubts)
    return found


def doubts(context, armature):
    """What the detection of this armature's roles was unsure of, as sentences, until the table changes."""
    held = json.loads(context.window_manager.foothold.doubts or "{}").get(armature.name)
    return held["lines"] if held and held["of"] == armature.get(roles.KEY) else []


def ensure_roles(context, armature):
    """Detect the roles of an armature that has none yet. A linked armature's are detected whenever they are needed."""
    if armature is not None and roles.KEY not in armature and armature.is_editable:
        detect_roles(context, armature)


def plays(armature):
    """The action that an armature plays, or None."""
    data = armature.animation_data if armature is not None else None
    return data.action if data is not None else None


def missing(settings):
    """What stands between the artist and a bake, as a sentence that says what to do; None where nothing does."""
    take, body = settings.take, settings.body
    if take is None:
        return "Import a take, or choose an armature that plays one"
    if plays(take) is None:
        return f"'{take.name}' plays no action: give it the one that holds the motion"
    if body is None:
        return "Choose the armature of your character as the body"
    if take == body:
        return "Take and body are the same armature: choose two"
    return None


def hinders(settings):
    """What keeps a bake from starting, likewise: what is missing, and what cannot go together."""
    if settings.stage_contacts and settings.in_place:
        return missing(settings) or "A body in place cannot keep its contacts: turn off In Place, or Contacts"
    return missing(settings)


# Rests

def set_rest(rest_settings, choice):
    """Put a job.RestChoice into the panel's settings."""
    with by_hand():
        if choice.kind == "frame":
            rest_settings.frame = choice.frame
        if choice.action is not None:
            rest_settings.action = choice.action
        if choice.armature is not None:
            rest_settings.armature = choice.armature
        rest_settings.kind = choice.kind.upper()


def guess_rest(settings, path=None):
    """Choose the take's rest as the command line would; returns what was chosen, in words.

    An armature that was the rest before, because it came as a T-pose file beside the take, is taken again.
    """
    before = settings.take_rest.armature
    if before is not None and plays(before) is not None and job.same_bones(
            set(roles.load(settings.take).values()), set(before.data.bones.keys())):
        choice, imported = job.RestChoice("armature", armature=before), None
    else:
        choice, imported = guess.rest_of(settings.take, path)
    if imported is not None:
        set_aside(choice.armature, imported)
    set_rest(settings.take_rest, choice)
    if choice.kind == "frame":
        return f"frame {choice.frame} of the take, where the performer stands"
    return f"'{choice.armature.name}'" if choice.kind == "armature" else "the file's own"


def set_aside(armature, imported):
    """Hide what was imported only to serve as a rest, and name it so."""
    armature.name = f"{armature.name} (rest)"[:63]
    for thing in imported.objects:
        thing.hide_render = True
        if thing.name in bpy.context.view_layer.objects:
            thing.hide_set(True)


def stamp(settings):
    """A short text that changes with anything that a comparison of the two rests depends on, but for poses."""
    told = []
    for armature, chosen in ((settings.take, settings.take_rest), (settings.body, settings.body_rest)):
        told.append([armature and armature.name, armature and armature.get(roles.KEY), chosen.kind])
        if chosen.kind == "FRAME":
            action = plays(armature)
            told.append([chosen.frame, action and action.name])
        elif chosen.kind in ("ACTION", "ARMATURE"):
            other = chosen.action if chosen.kind == "ACTION" else chosen.armature
            told.append(other and other.name)
    return hashlib.sha1(repr(told).encode()).hexdigest()


def compare(context):
    """Keep for the panel how far the two rests disagree; what hinders a comparison is kept as a sentence."""
    settings, shown = context.scene.foothold, context.window_manager.foothold
    shown.rests.clear()
    shown.rests_sentence, shown.rests_error = "", ""
    shown.rests_stamp = stamp(settings)
    if settings.take is None or settings.body is None or settings.take == settings.body:
        return
    try:
        wanted = settings.bake_settings()
        rows, left_over = job.compare_rests(job.read_figure(wanted.take, wanted.take_rest),
                                            job.read_figure(wanted.body, wanted.body_rest))
    except FootholdError as error:
        shown.rests_error = str(error)
        return
    stays, large = dict(left_over), job.large(left_over)
    for role, degrees in rows:
        row = shown.rests.add()
        row.name, row.degrees, row.stays = role, degrees, stays.get(role, 0.0)
        row.large = any(role == r for r, _ in large)
    shown.rests_sentence = job.disagreement_sentence(large) if large else ""


def compare_soon(context):
    """Compare the rests once the artist stops turning the knob; at once where no window waits."""
    if bpy.app.background:
        compare(context)
        return
    stop_waiting()
    bpy.app.timers.register(_compare_now, first_interval=_SOON)


def _compare_now():
    compare(bpy.context)
    redraw(bpy.context)


def redraw(context):
    """Have the sidebars drawn again."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def stop_waiting():
    """Forget a comparison that was to come."""
    if bpy.app.timers.is_registered(_compare_now):
        bpy.app.timers.unregister(_compare_now)


# Answers to the panel's pickers

def take_chosen(settings, context):
    """A take was picked: map its bones, guess its rest, offer its range."""
    if _by_hand:
        return
    take = settings.take
    if take is not None:
        with contextlib.suppress(FootholdError):  # the comparison tells it, or the bake
            ensure_roles(context, take)
            offer_range(settings)
            if plays(take) is not None:
                guess_rest(settings)
    compare_soon(context)


def body_chosen(settings, context):
    """A body was picked: map its bones."""
    if _by_hand:
        return
    with contextlib.suppress(FootholdError):  # as above
        ensure_roles(context, settings.body)
    compare_soon(context)


def rest_chosen(_rest, context):
    """Another rest was picked."""
    if not _by_hand:
        compare_soon(context)


def offer_range(settings):
    """The take's range as the one to bake, unless the artist bakes a part of her own choice."""
    action = plays(settings.take)
    if action is not None and not settings.use_range and len(compat.fcurves(action, settings.take)):
        settings.first, settings.last = read.frame_span(action)
