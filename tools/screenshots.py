"""Takes the README's pictures, in a real Blender window: python tools/screenshots.py [FOLDER]

Needs what the window tests need (tools/blender_root.sh sets it up, or BLENDER names a Blender that has Xvfb and
ImageMagick beside it). Outside it opens a screen and starts Blender on it with this same file; inside it loads the
demo, works through the panel as an artist would, and photographs the screen. The contact sheet that `make demo`
renders is shrunk to demo.png, its plot of the contacts is copied.
"""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
WIDTH, HEIGHT = 1120, 1040
FRAME = 83  # of the demo's take, for the picture of the whole window
GRIP = 610  # of the demo's take, with both hands on the pole
LIMIT = 300_000  # bytes a picture
_PALETTE = "-define", "png:compression-filter=0", "-define", "png:compression-level=9"  # filters spoil few colours


# Outside

def outside(folder):
    """Open a screen, run Blender on it, and wait until the pictures are there."""
    folder.mkdir(parents=True, exist_ok=True)
    within, blender = ROOT / "tools" / "within.sh", ROOT / "tools" / "blender"
    screen = subprocess.Popen([within, "Xvfb", "-displayfd", "1", "-screen", "0", f"{WIDTH}x{HEIGHT}x24", "+extension",
                               "GLX", "-nolisten", "tcp"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        display = screen.stdout.readline().strip()
        if not display:
            sys.exit("Xvfb did not start: see tools/blender_root.sh")
        with tempfile.TemporaryDirectory(prefix="foothold-pictures-", dir="/tmp") as home:
            environment = {**os.environ, "DISPLAY": f":{display}", "LIBGL_ALWAYS_SOFTWARE": "1",
                           "BLENDER_USER_RESOURCES": home}
            done = subprocess.run([blender, "--factory-startup", "--window-geometry", "0", "0", str(WIDTH), str(HEIGHT),
                                   "--gpu-backend", "opengl", "--python-exit-code", "1", "--python", __file__, "--",
                                   "inside", home], env=environment, stdin=subprocess.DEVNULL, timeout=600)
            shrink_demo(folder)
            pictures = sorted(pathlib.Path(home).glob("*.png"))
            for picture in pictures:
                (folder / picture.name).write_bytes(picture.read_bytes())
                size = picture.stat().st_size
                print(f"{folder / picture.name}: {size // 1000} KB{' TOO LARGE' if size > LIMIT else ''}")
            if done.returncode or not pictures:
                sys.exit(f"Blender ended with {done.returncode}")
    finally:
        screen.terminate()
        screen.wait()


def shrink_demo(folder):
    """The first eight cells of the contact sheet that `make demo` renders, and its plot, where they are there."""
    plot = ROOT / "build" / "demo" / "contacts.png"
    if plot.is_file():
        (folder / plot.name).write_bytes(plot.read_bytes())
    sheet = ROOT / "build" / "demo" / "demo.png"
    if sheet.is_file():
        subprocess.run([ROOT / "tools" / "within.sh", "convert", str(sheet), "-crop", "100%x68%+0+0", "+repage",
                        "-resize", "1200x", "-strip", "-colors", "192", f"PNG8:{folder / 'demo.png'}"], check=True)


# Inside

def load_addon():
    """Register the checkout as the package `foothold`."""
    spec = importlib.util.spec_from_file_location("foothold", ROOT / "__init__.py",
                                                  submodule_search_locations=[str(ROOT)])
    module = sys.modules["foothold"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.register()


class Stage:
    """The window and what the pictures are taken of."""

    def __init__(self, bpy, folder):
        self.bpy, self.folder = bpy, pathlib.Path(folder)
        self.window = bpy.context.window_manager.windows[0]

    @property
    def view(self):
        return next(a for a in self.window.screen.areas if a.type == "VIEW_3D")

    @property
    def sidebar(self):
        return next(r for r in self.view.regions if r.type == "UI")

    def over(self):
        """The context of somebody who works in the 3D view."""
        return self.bpy.context.temp_override(window=self.window, area=self.view,
                                              region=next(r for r in self.view.regions if r.type == "WINDOW"))

    def close_others(self):
        """Leave the 3D view and the timeline."""
        for kind in ("OUTLINER", "PROPERTIES"):
            area = next((a for a in self.window.screen.areas if a.type == kind), None)
            if area is not None:
                with self.bpy.context.temp_override(window=self.window, area=area):
                    self.bpy.ops.screen.area_close()

    def look(self, target, distance, turn=0.35):
        """Aim the viewport."""
        from mathutils import Euler
        space = self.view.spaces.active
        space.region_3d.view_location, space.region_3d.view_distance = target, distance
        space.region_3d.view_rotation = Euler((1.45, 0.0, turn)).to_quaternion()
        space.overlay.show_cursor = space.overlay.show_text = space.show_gizmo = False
        space.overlay.show_relationship_lines = False
        space.shading.light, space.shading.color_type = "STUDIO", "OBJECT"

    def show_tab(self):
        """Open the sidebar at the tab; yields the seconds to wait for it."""
        yield 1.0
        self.view.spaces.active.show_region_ui = True
        yield 1.5
        self.sidebar.active_panel_category = "Foothold"
        yield 1.0

    def show_only(self, label, workspace):
        """Show the tab with one part open, in a workspace that has not shown it yet; yields like `show_tab`."""
        from foothold import ui
        ui.unregister()
        for cls in ui.CLASSES:
            if issubclass(cls, ui.panels.Part):
                cls.bl_options = set() if cls.bl_label == label else {"DEFAULT_CLOSED"}
        ui.register()
        self.window.workspace = self.bpy.data.workspaces[workspace]
        yield from self.show_tab()

    def picture(self, name, height=None):
        """Photograph the 3D view, or the upper `height` pixels of the sidebar, with few enough colours for a page."""
        target = self.folder / f"{name}.png"
        r = self.sidebar if height else self.view
        crop = ["-crop", f"{r.width}x{height or r.height}+{r.x}+{HEIGHT - r.y - r.height}", "+repage"]
        subprocess.run(["import", "-window", "root", *crop, "-strip", "-dither", "None", "-colors", "192", *_PALETTE,
                        f"PNG8:{target}"], check=True)


def pictures(stage):
    """The work, step by step; yields the seconds to wait for the window to draw."""
    bpy = stage.bpy
    for thing in list(bpy.data.objects):
        bpy.data.objects.remove(thing)
    stage.close_others()
    yield from stage.show_tab()
    settings = bpy.context.scene.foothold
    with stage.over():
        bpy.ops.foothold.import_take(filepath=str(ROOT / "demo" / "take.bvh"))
        bpy.ops.foothold.import_body(filepath=str(ROOT / "demo" / "body.blend"))
        bpy.ops.foothold.match_scene()
        settings.take.location.x = -1.2  # beside the body, to be seen together
        settings.take.data.display_type = "STICK"
        settings.body.hide_set(True)
        stage.look((-0.25, 0.0, 0.8), 3.7)
        bpy.ops.foothold.bake()
        bpy.ops.foothold.measure()
        bpy.context.scene.frame_set(FRAME)
    yield 2.0
    stage.view.tag_redraw()  # panels slide into place when their texts have changed; wait until they stand
    yield 3.0
    stage.picture("panel")

    settings.take_rest.kind = "FILE"
    yield from stage.show_only("Rest", "Modeling")
    stage.picture("rest", height=500)

    settings.take_rest.kind = "ARMATURE"
    with stage.over():
        bpy.ops.foothold.bake_ab()
        bpy.ops.foothold.play_ab(side="A")
        bpy.ops.foothold.measure()
    yield from stage.show_only("Review", "Sculpting")
    stage.picture("review", height=880)

    settings.body.hide_set(True)
    with stage.over():
        bpy.ops.foothold.contacts_extract()
        bpy.context.scene.frame_set(GRIP)
    yield 1.0
    rows = bpy.context.window_manager.foothold_contacts
    rows.thresholds = True
    bpy.context.scene.foothold_contacts.active = next(r.ident for r in rows.rows
                                                      if r.kind == "grip" and r.first <= GRIP <= r.last)
    yield from stage.show_only("Contacts", "Texture Paint")
    stage.picture("contacts_panel", height=915)

    bpy.context.window_manager.foothold.side = "BODY"
    yield from stage.show_only("Roles", "UV Editing")
    stage.picture("roles", height=630)


def inside(folder):
    """Runs in Blender's main loop."""
    import bpy

    load_addon()
    bpy.context.preferences.view.show_splash = False
    bpy.context.preferences.view.show_tooltips = False
    state = {}

    def turn():
        try:
            state.setdefault("steps", pictures(Stage(bpy, folder)))
            return next(state["steps"])
        except StopIteration:
            code = 0
        except Exception:
            import traceback
            traceback.print_exc()
            code = 1
        sys.stdout.flush(), sys.stderr.flush()
        os._exit(code)  # a window that is being photographed has nothing to save

    bpy.app.timers.register(turn, first_interval=5.0)


if __name__ == "__main__":
    words = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else sys.argv[1:]
    if words[:1] == ["inside"]:
        inside(words[1])
    else:
        outside(pathlib.Path(words[0]) if words else ROOT / "docs")
