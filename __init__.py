"""Foothold: play a motion-capture take on a body that the performer never had.

Importing this package needs no Blender; `register` does.
"""


def register():
    from . import ui
    from .operators import registry

    registry.register()
    ui.register()


def unregister():
    from . import ui
    from .operators import registry

    ui.unregister()
    registry.unregister()
