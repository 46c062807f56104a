"""A stage beside the artist's scene, on which Blender's importers may do as they like."""

import contextlib
import io

import bpy

from ...solvers.errors import FootholdError

STAGE = " Foothold stage"  # sorts first: the glTF importer writes its own notes into the first scene of the file
_KEPT = {"window_managers", "workspaces", "screens", "scenes"}


def collections():
    """Name and contents of every kind of data-block in the file; 5.2 also has one with all of them together."""
    for prop in bpy.data.bl_rna.properties:
        if prop.type == "COLLECTION":
            yield prop.identifier, getattr(bpy.data, prop.identifier)


def snapshot():
    """The session ids of all data-blocks of the file."""
    return {block.session_uid for _, blocks in collections() for block in blocks}


def new_blocks(before):
    """The data-blocks that a `snapshot` does not know, without scenes and the window manager."""
    found = {b.session_uid: b for kind, blocks in collections() if kind not in _KEPT for b in blocks}
    return [block for uid, block in found.items() if uid not in before]


def discard(blocks):
    """Delete data-blocks at once, whoever uses them."""
    if blocks:
        bpy.data.batch_remove(blocks)


@contextlib.contextmanager
def stage(fps):
    """A scene of its own at `fps` whole frames a second, in the window in place of the artist's; her scene comes back.

    What her scene shows, its rate, range, frame, selection and modes are not touched by what happens on the stage.
    """
    window = bpy.context.window or next(iter(bpy.context.window_manager.windows), None)
    if window is None:
        raise FootholdError("Blender has no window open to work in: open a file with one first")
    home, layer = window.scene, window.view_layer
    pose = _channels(home)
    scene = bpy.data.scenes.new(STAGE)
    scene.render.fps, scene.render.fps_base = fps, 1.0
    # a timer has no window of its own; operators need one
    with contextlib.nullcontext() if bpy.context.window else bpy.context.temp_override(window=window):
        try:
            window.scene = scene
            yield scene
        finally:
            window.scene = home
            window.view_layer = layer
            bpy.data.scenes.remove(scene)
            # a scene that comes back into a window plays its actions anew, over what was posed but not keyed
            layer.update()
            now = _channels(home)
            for key, values in pose.items():
                if now.get(key, values) != values:
                    _restore(*key, values)


_NAMES = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale")


def _channels(scene):
    """(object, bone name or None) -> values of all channels, for the animated objects of a scene and their bones."""
    owners = {}
    for obj in scene.objects:
        if obj.animation_data:
            owners[obj, None] = obj
            owners.update({(obj, bone.name): bone for bone in (obj.pose.bones if obj.pose else ())})
    return {key: [tuple(getattr(owner, name)) for name in _NAMES] for key, owner in owners.items()}


def _restore(obj, bone, values):
    owner = obj if bone is None else obj.pose.bones[bone]
    for name, value in zip(_NAMES, values):
        setattr(owner, name, value)


@contextlib.contextmanager
def all_or_nothing():
    """Deletes every data-block made inside when an exception leaves it; yields the snapshot from before."""
    before = snapshot()
    try:
        yield before
    except BaseException:
        discard(new_blocks(before))
        raise


@contextlib.contextmanager
def quiet():
    """Keeps what Python code prints away from standard output, which belongs to the command line's answer."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield


def run(path, operator, **settings):
    """Call an importer or exporter; whatever it raises becomes a FootholdError that names the file."""
    try:
        with quiet():
            result = operator(**settings)
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        told = [line for line in lines if not line.startswith(("Location:", "File "))]
        reason = next((line for line in reversed(told) if "Error" in line), told[-1] if told else "no reason given")
        raise FootholdError(f"{path}: Blender cannot use this file ({reason[:200]}); export it again") from error
    if "FINISHED" not in result:
        raise FootholdError(f"{path}: Blender cannot use this file; export it again")
