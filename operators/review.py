"""Looking at a bake: figures, the worst frames, contact sheets."""

import json
from typing import NamedTuple

from bpy.props import FloatProperty, StringProperty
from bpy.types import Operator
from bpy_extras.io_utils import ExportHelper

from . import prepare
from .bridge import measure, render, told
from .runner import Steps, needs_all

# metric of solvers.report or solvers.contact_report -> what a fault of it looks like
_WORDS = {
    "angular_speed_deg_per_s": "turns {value:.0f}°/s",
    "acceleration_ratio": "jerks x{value:.1f}",
    "limb_direction_std_deg": "wavers {value:.2f}°",
    "limb_direction_mean_deg": "{value:.0f}° off",
    "twist_std_deg": "twists {value:.1f}°",
    "root_path_rms_percent_of_leg": "way {value:.1f} %",
    "turnover_mm": "turns over {value:.0f} mm",
    "skate_drift_mm": "slides {value:.1f} mm",
    "skate_speed_mm_per_s": "slides {value:.0f} mm/s",
    "floor_penetration_mm": "{value:.1f} mm in floor",
    "float_mm": "{value:.1f} mm over floor",
    "contact_lost_percent": "lost {value:.0f} %",
    "grip_surface_mm": "{value:.1f} mm off prop",
    "grip_along_mm": "{value:.1f} mm along prop",
    "grip_mean_mm": "{value:.1f} mm off, mean",
    "reach_shortfall_mm": "{value:.0f} mm too short",
    "prop_penetration_mm": "{value:.1f} mm in prop",
}
# metric of solvers.contact_report -> its row in the panel
_CONTACT_ROWS = {
    "skate_drift_mm": "Soles slide by",
    "floor_penetration_mm": "In the floor",
    "float_mm": "Soles over floor",
    "grip_surface_mm": "Palms off prop",
    "grip_along_mm": "Palms along prop",
    "reach_shortfall_mm": "Out of reach",
    "prop_penetration_mm": "Body in prop",
}
_STAGES = {  # of solvers.stages -> where a fault is from
    "take": "already in the performer's motion",
    "transfer": "from the stage 'transfer'",
    "contacts": "from the stage 'contacts'",
}
_MARKED = 4  # worst frames that a contact sheet shows besides the evenly spread ones


def fault_words(metric, value):
    """What a fault looks like, in few words."""
    return _WORDS.get(metric, "{metric} {value:.3g}").format(metric=metric.replace("_", " "), value=value)


def fault_sentence(fault):
    """All that a fault of a report tells."""
    parts = [f"frame {fault['frame']:g}: '{fault['bone']}'" if fault["bone"] else f"frame {fault['frame']:g}"]
    if fault["role"] and fault["role"] != fault["bone"]:
        parts.append(f"({fault['role']})")
    parts.append(fault_words(fault["metric"], fault["value"]))
    if fault.get("contact") or fault.get("surface"):
        parts.append("(" + ", ".join(word for word in (fault.get("contact"), fault.get("surface")) if word) + ")")
    told = _STAGES.get(fault["stage"])
    earlier = ", ".join(f"{stage} {value:.1f}" for stage, value in fault["before"].items())
    return " ".join(parts) + (f", {told}" if told else "") + (f"; before: {earlier}" if earlier else "")


def report_lines(report):
    """What a report of solvers.report comes to: sentences, and rows of a name, a tab and a figure."""
    metrics, total = report["metrics"], report["faults_total"]
    lines = [f"{report['frames']['count']} frames: " + (f"{total} fault{'s' if total > 1 else ''}, worst first" if total
                                                         else "no faults")]
    limb, twist, way = metrics["limb_direction_deg"], metrics["twist_deg"], metrics["root_path"]
    if limb["worst_role"]:
        lines.append(f"Limbs waver by\t{limb['std']:.3f}° {limb['worst_role']}")
    if twist["worst_role"]:
        lines.append(f"Twist wavers by\t{twist['std']:.2f}° {twist['worst_role']}")
    if way["rms_percent_of_leg"] is not None:
        lines.append(f"Way is off by\t{way['rms_percent_of_leg']:.2f} % of a leg")
    return lines + _contact_lines(report.get("contacts")) + report["notes"]


def _contact_lines(found):
    """Rows of what a report tells about contacts, worst of the clip; none where there is nothing of the kind."""
    if found is None:
        return []
    figures = [(name, found["metrics"][metric]) for metric, name in _CONTACT_ROWS.items()]
    lines = [f"{name}\t{figure['worst']:.1f} mm" for name, figure in figures if figure and figure["worst"] is not None]
    again = found["metrics"]["contact_agreement"]
    return lines + ([f"Contacts found again\t{100.0 * again['f1']:.0f} %"] if again else [])


def told_of(settings):
    """What the bake that the body plays found out about its contacts, as plain data; {} where there is nothing."""
    return told.load(prepare.plays(settings.body))


class Missed(NamedTuple):
    """Something that a bake could not keep."""

    frame: float
    contact: str  # its id, "" where it is none
    words: str  # bone and surface
    millimetres: float
    sentence: str  # all that there is to tell


def misses(found):
    """A list of Missed, worst first; `found` is what `told_of` gives."""
    rows = [Missed(miss["frame"], miss["contact"], f"{miss['bone']} on {miss['surface']}", miss["mm"],
                   f"frame {miss['frame']}: '{miss['bone']}' ({miss['effector']}) is {miss['mm']:g} mm short of "
                   f"'{miss['surface']}', contact '{miss['contact']}'") for miss in found.get("misses", ())]
    rows += [Missed(miss["frame"], miss["contact"], f"edit of {miss['bone']}", miss["mm"],
                    f"frame {miss['frame']}: an edit of '{miss['bone']}' keeps {miss['effector']} {miss['mm']:g} mm "
                    f"away from '{miss['surface']}', contact '{miss['contact']}'")
             for miss in found.get("broken_by_edits", ())]
    rows += [Missed(part["frame"], "", f"{part['bone']} in {part['surface']}", part["mm"],
                    f"frame {part['frame']}: '{part['bone']}' ({part['part']}) stays {part['mm']:g} mm inside "
                    f"'{part['surface']}'") for part in found.get("inside", ())]
    return sorted(rows, key=lambda row: -row.millimetres)


def moved_lines(found):
    """Rows of a name, a tab and figures: what a bake moved for the contacts."""
    lines = []
    for name, figures in found.get("moved", {}).items():
        words = [f"{figures[key]['max']:.{digits}f}{unit}" for key, digits, unit in (("mm", 0, " mm"),
                                                                                    ("degrees", 1, "°"))
                 if key in figures and figures[key]["max"] > 0.0]
        if words:
            lines.append(f"{name}\t{', '.join(words)}")
    return lines


_SPENT = {"height_mm": "{:+g} mm along the pole", "azimuth_degrees": "{:+g}° round it", "tilt_degrees": "tilted {:+g}°",
          "time_s": "{:g} s shorter"}


def licence_lines(found):
    """Rows of a contact, a tab and how it was moved: what a bake used of the contacts' licences."""
    return [f"{contact}\t{', '.join(_SPENT[name].format(amount) for name, amount in used.items())}"
            for contact, used in found.get("licence", {}).items()]


def stage_counts(shown):
    """stage -> how many of the listed faults it brought in, in the order of the bake."""
    found = [fault.stage for fault in shown.faults]
    return {stage: found.count(stage) for stage in _STAGES if stage in found}


def report_of(settings):
    """A text that says what a report was made of: take and body and what both play."""
    actions = [prepare.plays(armature) for armature in (settings.take, settings.body)]
    return json.dumps([settings.take and settings.take.name, settings.body and settings.body.name,
                       *(action and action.name for action in actions)])


def worst_frames(shown):
    """The frames of the worst faults, each once."""
    return list(dict.fromkeys(fault.frame for fault in shown.faults))[:_MARKED]


class FOOTHOLD_OT_measure(Steps, Operator):
    """Compare the body with the take"""

    bl_idname = "foothold.measure"
    bl_label = "Measure"
    bl_description = "Play take and body frame by frame as Blender evaluates them, and compare. Changes nothing"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context):
        if not needs_all(cls, context):
            return False
        if prepare.plays(context.scene.foothold.body) is None:
            cls.poll_message_set("The body plays no action: bake first")
            return False
        return True

    def steps(self, context):
        settings = context.scene.foothold
        return (yield from measure.measure_steps(context.scene, settings.take, settings.body))

    def done(self, context, result):
        shown = context.window_manager.foothold
        shown.report, shown.report_of = json.dumps(result), report_of(context.scene.foothold)
        shown.report_lines = "\n".join(report_lines(result))
        shown.faults.clear()
        for found in result["faults"]:
            row = shown.faults.add()
            row.name = found["role"] or found["bone"] or "body"
            row.metric, row.value, row.frame = found["metric"], found["value"], found["frame"]
            row.contact, row.stage = found.get("contact") or "", found["stage"] or ""
            row.sentence = fault_sentence(found)
        shown.faults_at = 0
        self.report({"INFO"}, result["summary"])


class FOOTHOLD_OT_jump(Operator):
    """Go to this frame"""

    bl_idname = "foothold.jump_to_fault"
    bl_label = "Go There"
    bl_description = "Let the timeline go to this frame; of a contact, choose it, too"
    bl_options = {"INTERNAL"}

    frame: FloatProperty(name="Frame")
    contact: StringProperty(name="Contact", options={"SKIP_SAVE"})
    told: StringProperty(name="Told", description="What happens there", options={"SKIP_SAVE"})

    @classmethod
    def description(cls, _context, properties):
        """What happens at that frame, as the tooltip."""
        return properties.told and f"{properties.told[:1].upper()}{properties.told[1:]}"

    def execute(self, context):
        if self.contact:
            context.scene.foothold_contacts.active = self.contact
        context.scene.frame_set(int(self.frame // 1), subframe=self.frame % 1)
        return {"FINISHED"}


class FOOTHOLD_OT_save_report(Operator, ExportHelper):
    """Save the figures"""

    bl_idname = "foothold.save_report"
    bl_label = "Save Report"
    bl_description = "Save all that was measured as JSON"
    filename_ext = ".json"
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})

    @classmethod
    def poll(cls, context):
        shown = context.window_manager.foothold
        if not shown.report or shown.report_of != report_of(context.scene.foothold):
            cls.poll_message_set("Measure first: what was measured is not what take and body play now"
                                 if shown.report else "Measure first")
            return False
        return True

    def execute(self, context):
        try:
            with open(self.filepath, "w", encoding="utf-8") as file:
                json.dump(context.window_manager.foothold.measured(), file, indent=1, ensure_ascii=False)
        except OSError as error:
            self.report({"ERROR"}, f"{self.filepath}: cannot be written ({error.strerror}): choose another place.")
            return {"CANCELLED"}
        self.report({"INFO"}, f"Saved as {self.filepath}")
        return {"FINISHED"}


class FOOTHOLD_OT_contact_sheet(Steps, Operator, ExportHelper):
    """Render a contact sheet"""

    bl_idname = "foothold.contact_sheet"
    bl_label = "Contact Sheet"
    _browsed = False
    bl_description = ("Render the take beside the body at frames spread over the clip into one PNG; the worst measured "
                      "frames are added and marked")
    bl_options = {"REGISTER"}
    filename_ext = ".png"
    filter_glob: StringProperty(default="*.png", options={"HIDDEN"})

    @classmethod
    def poll(cls, context):
        return needs_all(cls, context)

    def invoke(self, context, event):
        self._browsed = True
        return ExportHelper.invoke(self, context, event)

    def execute(self, context):
        # After the file browser it goes step by step, so that it shows how far it is and ESC stops it.
        return self.start(context) if self._browsed else Steps.execute(self, context)

    def steps(self, context):
        settings, shown = context.scene.foothold, context.window_manager.foothold
        worst = worst_frames(shown) if shown.report_of == report_of(settings) else ()
        yield from render.contact_sheet_steps(self.filepath, context.scene, settings.take, settings.body, worst=worst)

    def done(self, context, result):
        self.report({"INFO"}, f"Contact sheet: {self.filepath}")


CLASSES = (FOOTHOLD_OT_measure, FOOTHOLD_OT_jump, FOOTHOLD_OT_save_report, FOOTHOLD_OT_contact_sheet)
