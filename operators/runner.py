"""Long work: a generator of steps as a modal operator with progress and ESC, or as a plain loop without a window."""

import time

import bpy

from ..solvers.errors import FootholdError
from . import prepare

_SLICE = 0.05  # seconds of work between two looks at the keyboard


class Steps:
    """Mixin of an operator whose `steps(context)` yields the part done and returns a result for `done`.

    Nothing may change before a generator's last step, so that closing it leaves everything as it was.
    """

    _steps = None  # the generator while it runs in a window

    def steps(self, context):
        """The generator."""
        raise NotImplementedError

    def done(self, context, result):
        """Tell what was made of it."""

    def execute(self, context):
        """All steps at once; in a window the mouse pointer shows how far it is."""
        manager = context.window_manager
        manager.progress_begin(0.0, 1.0)
        try:
            steps = self.steps(context)
            while True:
                manager.progress_update(next(steps))
        except StopIteration as end:
            self.done(context, end.value)
            return {"FINISHED"}
        except FootholdError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        finally:
            manager.progress_end()

    def invoke(self, context, _event):
        """Step by step in a window; at once without one."""
        return self.start(context)

    def start(self, context):
        """Begin the work, as `invoke` does."""
        if bpy.app.background or context.window is None:
            return Steps.execute(self, context)
        self._steps = self.steps(context)
        self._timer = context.window_manager.event_timer_add(0.01, window=context.window)
        context.window_manager.progress_begin(0.0, 1.0)
        context.workspace.status_text_set(f"{self.bl_label}: ESC stops it, nothing will have changed")
        context.window_manager.modal_handler_add(self)
        self._show(context, 0.0)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        """One slice of work a timer event; nothing else gets through until it is done or stopped."""
        if event.type == "ESC":
            self.cancel(context)
            self.report({"INFO"}, f"{self.bl_label} stopped. Nothing has changed.")
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        until = time.monotonic() + _SLICE
        try:
            part = next(self._steps)
            while time.monotonic() < until:
                part = next(self._steps)
        except StopIteration as end:
            self._end(context)
            self.done(context, end.value)
            return {"FINISHED"}
        except FootholdError as error:
            self._end(context)
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        except Exception:
            self._end(context)
            raise
        self._show(context, part)
        return {"RUNNING_MODAL"}

    def cancel(self, context):
        """Stop; everything is as it was before. Blender calls this too, when a window closes or a browser is left."""
        if self._steps is not None:
            self._steps.close()
            self._end(context)

    def _show(self, context, part):
        context.window_manager.progress_update(part)
        context.window_manager.foothold.progress = part
        prepare.redraw(context)

    def _end(self, context):
        self._steps = None
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        context.window_manager.foothold.progress = -1.0
        if context.workspace is not None:
            context.workspace.status_text_set(None)
        prepare.redraw(context)


class Change:
    """Mixin of an operator that does its work in one go in `change(context)`."""

    def change(self, context):
        """Do it; may raise FootholdError, having changed nothing. Returns a sentence for the artist, or nothing."""
        raise NotImplementedError

    def execute(self, context):
        """Do it and tell; an error is the operator's report."""
        try:
            told = self.change(context)
        except FootholdError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if told:
            self.report({"INFO"}, told)
        return {"FINISHED"}


def needs(cls, context, *words):
    """For `poll`: whether take and body are chosen as `words` say; tells the artist what is missing."""
    settings = context.scene.foothold
    for word in words:
        if getattr(settings, word) is None:
            cls.poll_message_set(f"Choose a {word} first")
            return False
    return True


def needs_all(cls, context):
    """For `poll`: whether take and body are there and can be compared; tells the artist what is missing."""
    return _unless(cls, prepare.missing(context.scene.foothold))


def needs_bake(cls, context):
    """For `poll`: whether a bake can start; tells the artist why not."""
    return _unless(cls, prepare.hinders(context.scene.foothold))


def _unless(cls, told):
    if told:
        cls.poll_message_set(told)
    return told is None


def needs_either(cls, context):
    """For `poll`: whether a take or a body is chosen; tells the artist where neither is."""
    settings = context.scene.foothold
    if settings.take is None and settings.body is None:
        cls.poll_message_set("Choose a take or a body first")
        return False
    return True


def needs_motion(cls, context):
    """For `poll`: whether the take is chosen and plays something; tells the artist what is missing."""
    if not needs(cls, context, "take"):
        return False
    if prepare.plays(context.scene.foothold.take) is None:
        cls.poll_message_set("The take plays no action")
        return False
    return True
