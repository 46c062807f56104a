"""The installed extension in a real window."""


def test_extension_is_enabled(window):
    assert window.run('result = "bl_ext.user_default.foothold" in bpy.context.preferences.addons')
    assert "Traceback" not in window.printed(), window.printed()


def test_tab_is_there_and_opens_by_a_click(window):
    assert window.open_tab("Foothold"), "no tab of the sidebar is called Foothold"
    picture = window.picture("tab")
    assert picture.stat().st_size > 20_000, f"{picture} looks empty"


def test_tab_is_there_without_any_object(window):
    window.run("for ob in list(bpy.data.objects): bpy.data.objects.remove(ob)")
    window.settle(1.0)
    assert window.open_tab("Foothold")
    window.picture("empty_scene")
    assert "Traceback" not in window.printed(), window.printed()


def test_extension_goes_and_comes_back(window):
    names = 'result = [n for n in dir(bpy.types) if "foothold" in n.lower()]'
    before = window.run(names)
    assert before, "the extension registered no class"
    for _ in range(2):
        window.run('bpy.ops.preferences.addon_disable(module="bl_ext.user_default.foothold")')
        assert window.run(names) == []
        window.run('bpy.ops.preferences.addon_enable(module="bl_ext.user_default.foothold")')
        assert window.run(names) == before
    window.settle(1.0)
    assert "Traceback" not in window.printed(), window.printed()
    assert window.open_tab("Foothold")
