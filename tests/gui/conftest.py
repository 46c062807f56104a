"""A real Blender window on a screen of its own, and the hands and eyes to use it. Run with `make test-gui`."""

import json
import os
import pathlib
import subprocess
import tempfile
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURES = ROOT / "build" / "gui"
WIDTH, HEIGHT = 1600, 1600  # high enough to show the whole tab at once
START = 120  # seconds until the window answers; software drawing on a small machine is slow


def within(*command, **options):
    """Start a program where Blender is (see tools/within.sh)."""
    return subprocess.Popen([str(ROOT / "tools" / "within.sh"), *command], stdin=subprocess.DEVNULL, **options)


class Window:
    """A running Blender with one window that fills its screen."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.count = 0
        self.processes = []

    def open(self):
        """Start the screen and Blender on it, and wait until it answers."""
        self.screen = within("Xvfb", "-displayfd", "1", "-screen", "0", f"{WIDTH}x{HEIGHT}x24", "+extension", "GLX",
                             "-nolisten", "tcp", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.processes.append(self.screen)
        number = self.screen.stdout.readline().strip()
        assert number, "Xvfb did not start"
        self.environment = dict(os.environ, DISPLAY=f":{number}", LIBGL_ALWAYS_SOFTWARE="1")
        with open(self.folder / "blender.log", "w", encoding="utf-8") as log:
            self.blender = subprocess.Popen(
                [str(ROOT / "tools" / "blender"), "--window-geometry", "0", "0", str(WIDTH), str(HEIGHT),
                 "--gpu-backend", "opengl", "--python", str(ROOT / "tests" / "gui" / "remote.py"), "--",
                 str(self.folder)],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        self.processes.append(self.blender)
        self.run("result = True", timeout=START)
        self.settle(2.0)

    def close(self):
        """End Blender and the screen."""
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def printed(self):
        """All that Blender has printed so far."""
        return (self.folder / "blender.log").read_text(encoding="utf-8", errors="replace")

    def run(self, source, timeout=60):
        """Run Python inside Blender, between two of its redraws; returns what it leaves in `result` (as JSON)."""
        self.count += 1
        request = self.folder / f"{self.count:04d}.py"
        reply = request.with_suffix(".json")
        unfinished = request.with_suffix(".new")
        unfinished.write_text(source, encoding="utf-8")
        unfinished.rename(request)
        end = time.monotonic() + timeout
        while not reply.exists():
            ended = self.blender.poll()
            assert ended is None, f"Blender ended with {ended}:\n{self.printed()[-3000:]}"
            assert time.monotonic() < end, f"no answer in {timeout} s:\n{source}\n{self.printed()[-3000:]}"
            time.sleep(0.05)
        answer = json.loads(reply.read_text(encoding="utf-8"))
        assert "error" not in answer, answer.get("error")
        return answer["result"]

    def until(self, source, timeout=30):
        """Run Python inside Blender again and again until its `result` is true; returns that result."""
        end = time.monotonic() + timeout
        while not (result := self.run(source)):
            assert time.monotonic() < end, f"never came true in {timeout} s:\n{source}"
            self.settle()
        return result

    def settle(self, seconds=0.4):
        """Give the window time to handle its events and draw."""
        time.sleep(seconds)

    def _tool(self, *command):
        done = within(*command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        text, _ = done.communicate(timeout=60)
        assert done.returncode == 0, f"{' '.join(command)}: {text}"
        return text

    def move(self, x, y):
        """Put the mouse at a pixel of the screen, counted from the top left."""
        # Two steps: Blender asks for a movement before it looks at what lies under the mouse.
        self._tool("xdotool", "mousemove", str(int(x) - 3), str(int(y)), "sleep", "0.1",
                   "mousemove", str(int(x)), str(int(y)), "sleep", "0.2")

    def click(self, x, y):
        """Click with the left button."""
        self.move(x, y)
        self._tool("xdotool", "mousedown", "1", "sleep", "0.1", "mouseup", "1")
        self.settle()

    def key(self, name):
        """Press a key, such as `n` or `ctrl+z`, where the mouse is."""
        self._tool("xdotool", "key", name)
        self.settle()

    def picture(self, name):
        """Photograph the screen into build/gui; returns the file."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        target = PICTURES / f"{name}.png"
        self._tool("import", "-window", "root", str(target))
        return target

    def sidebar(self):
        """Show the 3D view's sidebar; returns its rectangle on the screen: left, top, right, bottom in pixels."""
        left, low, width, height = self.until("""
area = max((a for a in window.screen.areas if a.type == "VIEW_3D"), key=lambda a: a.width * a.height)
area.spaces.active.show_region_ui = True
region = next(r for r in area.regions if r.type == "UI")
result = [region.x, region.y, region.width, region.height] if region.width > 1 else None
""")
        return left, HEIGHT - low - height, left + width, HEIGHT - low

    def tab(self):
        """The name of the sidebar's open tab."""
        return self.run("""
area = max((a for a in window.screen.areas if a.type == "VIEW_3D"), key=lambda a: a.width * a.height)
result = next(r for r in area.regions if r.type == "UI").active_panel_category
""")

    def open_tab(self, name):
        """Click down the sidebar's column of tabs until the one of that name is open; False if there is none."""
        left, top, right, bottom = self.sidebar()
        self.settle(1.0)
        y = top + 20
        while y < bottom - 10:
            if self.tab() == name:
                return True
            self.click(right - 9, y)
            y += 30
        return self.tab() == name

    def find_button(self, operator):
        """The pixel of the button in the open tab that runs an operator (`foothold.bake`), or None.

        Blender itself tells: Ctrl C over a button copies the Python call that it makes.
        """
        left, top, right, bottom = self.sidebar()
        wanted = f"bpy.ops.{operator}("
        for y in range(top + 30, bottom - 10, 14):
            for x in (left + 0.3 * (right - left), left + 0.7 * (right - left)):
                self.run("bpy.context.window_manager.clipboard = ''")
                self.move(x, y)
                self.key("ctrl+c")
                if wanted in self.run("result = bpy.context.window_manager.clipboard"):
                    return int(x), y
        return None


@pytest.fixture(scope="session")
def window():
    """The window, for all tests of the session."""
    if not os.environ.get("FOOTHOLD_WINDOW"):
        pytest.skip("needs a real Blender with a window: run make test-gui")
    with tempfile.TemporaryDirectory(prefix="foothold-window-") as folder:
        opened = Window(folder)
        try:
            opened.open()
            yield opened
        finally:
            opened.close()
