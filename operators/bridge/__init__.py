"""The only place that reads or writes Blender data; `compat` holds what differs between Blender's versions."""
