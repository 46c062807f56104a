"""The road from import to review in a real window: the panel's buttons are clicked, ESC and undo pressed."""

import pathlib

import pytest

DEMO = pathlib.Path(__file__).resolve().parents[2] / "demo"

IMPORT = f"""
for ob in list(bpy.data.objects): bpy.data.objects.remove(ob)
for action in list(bpy.data.actions): bpy.data.actions.remove(action)
with bpy.context.temp_override(window=window):
    bpy.ops.foothold.import_take(filepath={str(DEMO / "take.bvh")!r})
    bpy.ops.foothold.import_body(filepath={str(DEMO / "body.blend")!r})
    bpy.ops.foothold.match_scene()
    bpy.context.scene.foothold.stage_contacts = False  # until the last of the tests
    bpy.ops.ed.undo_push(message="Imported")
result = True
"""
RUNNING = "result = [o.bl_idname for o in window.modal_operators]"

# what a bake may change, as far as this test looks: the actions and the one that the body plays
STATE = """
body = bpy.context.scene.foothold.body
data = body.animation_data
result = [sorted((a.name, "foothold_baked" in a) for a in bpy.data.actions),
          data.action.name if data and data.action else None, bpy.context.scene.frame_current]
"""


def find(window, operator, upwards=False, share=0.25):
    """The pixel of an operator's button in the open tab; in coarser steps than `find_button`, so that it is quicker."""
    return seek(window, f"bpy.ops.{operator}(", "ctrl+c", upwards, share)


def seek(window, words, keys, upwards=False, share=0.25):
    """The pixel of what copies these words when the keys are pressed over it."""
    left, top, right, bottom = window.sidebar()
    rows = range(top + 60, bottom - 5, 16)
    for y in reversed(rows) if upwards else rows:
        x = int(left + share * (right - left))
        window.run("bpy.context.window_manager.clipboard = ''")
        window.move(x, y)
        window.key(keys)
        if words in window.run("result = bpy.context.window_manager.clipboard"):
            return x, y
    raise AssertionError(f"nothing copies {words} in {window.picture('missing_button')}")


def quiet(window):
    """Blender has printed no error."""
    printed = window.printed()
    assert "Traceback" not in printed and "Error:" not in printed, printed[-3000:]


@pytest.fixture(scope="module")
def panel(window):
    """The tab, wide, with the demo's take and body."""
    window.run(IMPORT, timeout=120)
    assert window.open_tab("Foothold")
    window.settle(1.5)
    return window


def test_import_finds_the_t_pose_beside_the_take(panel):
    kind, hidden = panel.run("""
rest = bpy.context.scene.foothold.take_rest
result = [rest.kind, rest.armature is not None and rest.armature.hide_get(view_layer=window.view_layer)]
""")
    assert (kind, hidden) == ("ARMATURE", True)
    panel.picture("panel_imported")
    quiet(panel)


def stretch(panel, frames):
    """Let a bake go on by so many frames at a time: one by one it takes long enough to be stopped in its middle."""
    return panel.run(f"""
import sys
samples = sys.modules["bl_ext.user_default.foothold.operators.bridge.samples"]
result, samples.STRETCH = samples.STRETCH, {frames}
""")


def test_esc_in_the_middle_of_a_bake_changes_nothing(panel):
    before = panel.run(STATE)
    usual = stretch(panel, 1)
    panel.click(*find(panel, "foothold.bake"))
    progress = panel.until("running = [o.bl_idname for o in window.modal_operators]; "
                           "result = 'FOOTHOLD_OT_bake' in running and bpy.context.window_manager.foothold.progress")
    assert 0.0 < progress < 1.0
    panel.picture("panel_baking")
    panel.key("Escape")
    panel.until(f"{RUNNING}; result = not result")
    stretch(panel, usual)
    panel.settle(1.0)
    assert panel.run(STATE) == before
    quiet(panel)


def test_a_click_bakes_and_one_undo_takes_the_bake_back(panel):
    before = panel.run(STATE)
    panel.click(*find(panel, "foothold.bake"))
    panel.until(f"{RUNNING}; running = result; "
                "result = not running and bpy.context.scene.foothold.body.animation_data is not None", timeout=120)
    panel.settle(1.0)
    after = panel.run(STATE)
    assert after[1] is not None and [after[1], True] in after[0]
    panel.picture("panel_baked")

    left, _top, _right, _bottom = panel.sidebar()
    panel.move(left // 2, 400)
    panel.key("ctrl+z")
    panel.settle(1.5)
    assert panel.run(STATE) == before, "one undo step takes the bake back"
    panel.key("ctrl+shift+z")
    panel.settle(1.5)
    assert panel.run(STATE) == after
    quiet(panel)


def measure(panel, name):
    """Click Measure, wait for the figures, and photograph them; returns the number of faults."""
    panel.click(*find(panel, "foothold.measure", upwards=True))
    panel.until(f"{RUNNING}; result = not result and bpy.ops.foothold.save_report.poll()", timeout=180)
    panel.settle(1.0)
    panel.picture(name)
    return panel.run("result = len(bpy.context.window_manager.foothold.faults)")


def test_measure_finds_no_fault_in_a_fresh_bake(panel):
    assert measure(panel, "panel_measured") == 0
    quiet(panel)


def test_faults_lead_to_their_frames(panel):
    panel.run("""
action = bpy.context.scene.foothold.body.animation_data.action
for curve in action.layers[0].strips[0].channelbags[0].fcurves:
    if "forearm.L" in curve.data_path and "rotation" in curve.data_path:
        curve.keyframe_points[499].co.y += 0.6
        curve.update()
""")
    assert measure(panel, "panel_faults")
    panel.run("bpy.context.scene.frame_set(2)")
    panel.click(*find(panel, "foothold.jump_to_fault", upwards=True, share=0.12))
    frames = panel.run("result = [f.frame for f in bpy.context.window_manager.foothold.faults]")
    assert panel.run("result = bpy.context.scene.frame_current") in frames
    panel.picture("panel_jumped")
    quiet(panel)


def browse(panel, then):
    """Open the contact sheet's file browser, and run one line in it that ends it."""
    panel.run('''
with bpy.context.temp_override(window=window):
    bpy.ops.foothold.contact_sheet("INVOKE_DEFAULT")
''')
    panel.until("result = any(a.type == 'FILE_BROWSER' for w in bpy.context.window_manager.windows "
                "for a in w.screen.areas)")
    panel.settle(1.0)
    panel.run(f'''
w, area = next((w, a) for w in bpy.context.window_manager.windows for a in w.screen.areas if a.type == "FILE_BROWSER")
with bpy.context.temp_override(window=w, area=area, region=area.regions[-1]):
    {then}
''')
    panel.settle(0.2)


def test_leaving_the_file_browser_is_no_error(panel):
    browse(panel, "bpy.ops.file.cancel()")
    panel.settle(1.0)
    quiet(panel)


def test_contact_sheet_shows_progress_and_is_written(panel, tmp_path):
    target = tmp_path / "sheet.png"
    browse(panel, f"area.spaces.active.params.directory = {bytes(tmp_path)!r}; "
                  f"area.spaces.active.params.filename = 'sheet.png'; bpy.ops.file.execute()")
    panel.until("result = bpy.context.window_manager.foothold.progress > 0", timeout=60)
    panel.picture("panel_sheet")
    panel.until(f"{RUNNING}; result = not result", timeout=200)
    assert target.stat().st_size > 50_000
    quiet(panel)


SCRIPTS = """
import sys
scripts = sys.modules["bl_ext.user_default.foothold.operators.bridge.scripts"]
scene = bpy.context.scene.foothold
kept = [scripts.load(a.animation_data.action) for a in (scene.take, scene.body)]
result = [script and len(script.contacts) for script in kept]
"""


def test_the_stage_contacts_is_switched_on_and_bakes(panel):
    assert panel.run(SCRIPTS) == [None, None]
    panel.click(*seek(panel, "foothold.stage_contacts", "ctrl+shift+alt+c", share=0.5))
    panel.until("result = bpy.context.scene.foothold.stage_contacts")
    panel.click(*find(panel, "foothold.bake"))
    panel.until(f"{RUNNING}; running = result\n{SCRIPTS}\nresult = not running and result[1]", timeout=200)
    panel.settle(1.5)
    of_take, of_body = panel.run(SCRIPTS)
    assert of_take == of_body > 10
    panel.picture("panel_contacts_baked")
    left, _top, _right, _bottom = panel.sidebar()
    panel.move(left // 2, 400)
    panel.key("ctrl+z")
    panel.settle(1.5)
    assert panel.run(SCRIPTS)[0] is None, "one undo step takes the contacts back, too"
    quiet(panel)
