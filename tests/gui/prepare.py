"""Run once inside Blender after the extension was installed: preferences that keep the window still and clear."""

import bpy

view = bpy.context.preferences.view
view.show_splash = False
view.show_tooltips = False
bpy.context.preferences.system.use_online_access = False
assert "bl_ext.user_default.foothold" in bpy.context.preferences.addons, "the extension is not enabled"
bpy.ops.wm.save_userpref()
