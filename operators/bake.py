"""The bake, the comparison of two rests, and giving up one's own edits."""

from dataclasses import replace

from bpy.props import BoolProperty, EnumProperty, IntProperty
from bpy.types import Operator

from . import contact_settings, job, prepare, review, scripted
from .bridge import compat, keys, roles
from .runner import Change, Steps, needs, needs_bake


def keep_roles(context):
    """Store the roles that a bake has detected by itself, so that the table and the review show them."""
    for armature in (context.scene.foothold.take, context.scene.foothold.body):
        if roles.KEY not in armature:
            prepare.detect_roles(context, armature)


def tell(operator, report):
    """Report a bake to the artist."""
    operator.report({"INFO"}, f"'{report.action}': {report.frames} frames"
                    + (f", {report.edits} of your edits kept" if report.edits else ""))
    shown = job.large(report.left_over)
    if shown:
        operator.report({"WARNING"}, job.disagreement_sentence(shown))
    for flip in report.flips:
        operator.report({"INFO"}, f"The take's '{flip['bone']}' flips at frames {flip['first']} to {flip['last']}: "
                                  "turned back")
    for bone, degrees, reason in report.awry:
        operator.report({"WARNING"}, f"'{bone}' does not follow its keys, by up to {degrees:g} degrees: {reason}")
    _tell_misses(operator, report.contacts)
    for note in (*report.contacts.get("notes", ()), *report.notes):
        operator.report({"WARNING"}, note)


def _tell_misses(operator, found):
    """Report the contacts that the body cannot keep."""
    missed = review.misses(found)
    if missed:
        many = f"{len(missed)} things are" if len(missed) > 1 else "1 thing is"
        operator.report({"WARNING"}, f"{many} not kept. The worst: {missed[0].sentence}. Review has the list")


def end(operator, context, report):
    """What comes after a bake: the roles and contacts that it found by itself are shown, and it is told."""
    keep_roles(context)
    contact_settings.show(context)
    tell(operator, report)


class FOOTHOLD_OT_bake(Steps, Operator):
    """Bake the take onto the body"""

    bl_idname = "foothold.bake"
    bl_label = "Bake"
    bl_description = ("Bake the take onto the body: keys on a new action of the body, and nothing else. What you "
                      "changed by hand since the last bake stays as it is. ESC stops it")
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return needs_bake(cls, context)

    def steps(self, context):
        scene = context.scene
        return (yield from scripted.bake_steps(scene, scene.foothold.bake_settings(),
                                               scene.foothold_contacts.wanted_prop))

    def done(self, context, result):
        end(self, context, result)


# A/B: what the rest does

SIDES = (("A", "A: File's Rest", "The bake against the rest of the take's file"),
         ("B", "B: Picked Rest", "The bake against the rest that is picked"))


def ab_names(settings):
    """side -> name of its action."""
    base = f"{settings.take.name} on {settings.body.name}"
    return {"A": job.fitting_name(base, " A (file's rest)"), "B": job.fitting_name(base, " B (picked rest)")}


def ab_playing(settings):
    """Which side the body plays: "A", "B", or None."""
    action = prepare.plays(settings.body)
    if action is None or settings.take is None:
        return None
    return next((side for side, name in ab_names(settings).items() if name == action.name), None)


class FOOTHOLD_OT_bake_ab(Steps, Operator):
    """Bake twice, to see what the rest does"""

    bl_idname = "foothold.bake_ab"
    bl_label = "Bake A/B of the Rests"
    bl_description = ("Bake twice, against the rest of the take's file (A) and against the picked one (B), into two "
                      "actions to switch between: it shows what the rest does")
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        if not needs_bake(cls, context):
            return False
        if context.scene.foothold.take_rest.kind == "FILE":
            cls.poll_message_set("Pick another rest than the file's: there is nothing to compare")
            return False
        return True

    def steps(self, context):
        scene, names = context.scene, ab_names(context.scene.foothold)
        picked, fresh = yield from job.part(scripted.settled_steps(
            scene, scene.foothold.bake_settings(action_name=names["B"]), scene.foothold_contacts.wanted_prop), 0.0, 0.2)
        wanted = [replace(picked, action_name=names["A"], take_rest=job.RestChoice()), picked]
        solved = []
        for i, one in enumerate(wanted):  # both, before the first is written
            solved.append((yield from job.part(job.solve_steps(scene, one), 0.2 + 0.4 * i, 0.6 + 0.4 * i)))
        report = [job.finish(one, *found) for one, found in zip(wanted, solved)][-1]
        scripted.keep(picked, fresh)
        return report

    def done(self, context, result):
        end(self, context, result)


class FOOTHOLD_OT_play_ab(Operator):
    """Let the body play one of the two bakes"""

    bl_idname = "foothold.play_ab"
    bl_label = "Play A/B"
    bl_description = "Let the body play this one of the two bakes"
    bl_options = {"REGISTER", "UNDO"}

    side: EnumProperty(name="Side", items=(*SIDES, ("OTHER", "The Other", "The one that it does not play")),
                       default="OTHER")

    @classmethod
    def poll(cls, context):
        if not needs(cls, context, "take", "body"):
            return False
        if any(keys.baked_action(name) is None for name in ab_names(context.scene.foothold).values()):
            cls.poll_message_set("Bake A/B of the rests first")
            return False
        return True

    def execute(self, context):
        settings = context.scene.foothold
        side = self.side
        if side == "OTHER":
            side = "A" if ab_playing(settings) == "B" else "B"
        action = keys.baked_action(ab_names(settings)[side])
        compat.replace_action(settings.body, action)
        self.report({"INFO"}, f"'{settings.body.name}' plays '{action.name}'")
        return {"FINISHED"}


class FOOTHOLD_OT_forget_edits(Change, Operator):
    """Give up your edits"""

    bl_idname = "foothold.forget_edits"
    bl_label = "Forget My Edits"
    bl_description = ("Give up your edits of the selected bones, or of all bones outside Pose Mode: the next bake "
                      "replaces them. Its settings limit that to a part of the frames")
    bl_options = {"REGISTER", "UNDO"}

    use_range: BoolProperty(name="Only a Part", description="Give up only what lies in these frames",
                            options={"SKIP_SAVE"})
    first: IntProperty(name="First", default=1, description="First frame whose edits are given up")
    last: IntProperty(name="Last", default=250, description="Last frame whose edits are given up")

    @classmethod
    def poll(cls, context):
        if not needs(cls, context, "body"):
            return False
        action = prepare.plays(context.scene.foothold.body)
        if action is None or not keys.is_baked(action):
            cls.poll_message_set("The body plays no baked action")
            return False
        return True

    def invoke(self, context, _event):
        """Offer the frames that the timeline plays."""
        scene = context.scene
        preview = scene.use_preview_range
        self.first = scene.frame_preview_start if preview else scene.frame_start
        self.last = scene.frame_preview_end if preview else scene.frame_end
        return self.execute(context)

    def change(self, context):
        body = context.scene.foothold.body
        chosen = [b.name for b in compat.selected_pose_bones(body)] if body.mode == "POSE" else []
        frames = (self.first, self.last) if self.use_range else None
        count = keys.forget_edits(prepare.plays(body), chosen or None, frames)
        return f"{count} edits forgotten; the next bake replaces them"


CLASSES = (FOOTHOLD_OT_bake, FOOTHOLD_OT_bake_ab, FOOTHOLD_OT_play_ab, FOOTHOLD_OT_forget_edits)
