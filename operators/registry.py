"""Registers everything that belongs to the operators, in one explicit order."""

import bpy

from . import (
    bake,
    cli,
    contact_picture,
    contact_settings,
    edit_contacts,
    edit_roles,
    import_take,
    pick_contacts,
    pick_rest,
    review,
    settings,
)

CLASSES = (*settings.CLASSES, *contact_settings.CLASSES, *import_take.CLASSES, *pick_rest.CLASSES, *edit_roles.CLASSES,
           *edit_contacts.CLASSES, *pick_contacts.CLASSES, *bake.CLASSES, *review.CLASSES)
_commands = []


def _command(arguments):
    return cli.main(arguments, "foothold")


def register():
    """Register classes, properties and the command `blender --command foothold`."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    settings.register()
    contact_settings.register()
    pick_contacts.register()
    _commands.append(bpy.utils.register_cli_command("foothold", _command))


def unregister():
    """The reverse."""
    while _commands:
        bpy.utils.unregister_cli_command(_commands.pop())
    pick_contacts.unregister()
    contact_picture.forget()
    contact_settings.unregister()
    settings.unregister()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
