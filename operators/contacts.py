"""Reading the contacts off a take: from the armature in the scene to a ContactScript."""

import bpy
import numpy as np

from ..solvers.contacts import script
from ..solvers.contacts.extract import extract
from ..solvers.errors import FootholdError
from . import job
from .bridge import props

_FAR = 1e6  # metres; nothing that is touched lies further away


def extract_steps(scene, settings, prop="auto"):
    """Extract; a generator that yields the part done and returns a ContactScript.

    `settings` are job.BakeSettings, of which take, take_rest and take_action count. `prop` is "auto", "none", an object
    of the scene, or a script.Prop. Nothing in the file changes.
    """
    armature = job.require_armature(settings.take, "take")
    action = settings.take_action or job.take_action(armature)
    first, last = job.read.frame_span(action)
    if last <= first:
        raise FootholdError(f"Action '{action.name}' has one frame only: contacts need a motion.")
    if prop is armature:
        raise FootholdError(f"'{armature.name}' is the take itself: pick another object as the prop.")
    take = yield from job.part(job.read_take_steps(scene, settings), 0.0, 0.6)
    motion = take.samples.motion()
    surface = None
    if not isinstance(prop, (str, script.Prop)):
        prop, surface = yield from job.part(props.of_object_steps(scene, prop, take.frames), 0.6, 0.7)
    yield 0.7
    found = extract(take.figure, motion, job.action_fps(action, scene), prop, surface)
    yield 1.0
    return found


def parse_prop(text, take):
    """The prop that `--prop` names: "auto", "none", a script.Prop from numbers, or an object by its name.

    The object came with the take, or lies in the take's file `take`, a .blend, and is brought in from there.
    """
    if text in ("auto", "none"):
        return text
    objects = {o.name: o for o in bpy.data.objects}
    if text in objects and objects[text].type != "ARMATURE":
        return objects[text]
    there = set(props.names_in(take)) - set(objects)
    if text in there:
        return props.append(take, text)
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        known = ", ".join(sorted({*there, *(n for n, o in objects.items() if o.type != "ARMATURE")})) or "none"
        raise FootholdError(f"--prop {text}: there is no such object in the take's file (it has: {known}); or give "
                            "x,y,z,radius in metres, and dx,dy,dz for a pole that does not stand upright.") from None
    if len(numbers) not in (4, 7) or not np.all(np.abs(numbers) < _FAR):
        raise FootholdError(f"--prop {text}: give four numbers, x,y,z,radius in metres, or seven with dx,dy,dz.")
    axis = np.array(numbers[4:] or (0.0, 0.0, 1.0))
    if numbers[3] <= 0.0 or np.linalg.norm(axis) < 1e-9:
        raise FootholdError(f"--prop {text}: the radius must be above 0, and the direction must not be 0,0,0.")
    return script.Prop("pole", "cylinder", tuple(numbers[:3]), tuple(axis / np.linalg.norm(axis)), numbers[3],
                       source="artist")
