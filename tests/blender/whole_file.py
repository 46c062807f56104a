"""A picture of everything in the open file, to show that nothing but the promised has changed.

`snapshot()` gives a flat dictionary {readable path: value}; `diff(before, after)` says what is different. Arrays of
keys, vertices and the like come in as one digest each.
"""

import hashlib

import bpy
import numpy as np

# lists of IDs that belong to the program's windows and not to the work
_SKIPPED_LISTS = {"window_managers", "screens", "workspaces", "libraries", "all_ids", "brushes", "palettes",
                  "paint_curves"}
# what Blender counts or works out by itself
_SKIPPED = {"rna_type", "original", "session_uid", "users", "is_evaluated", "is_updated", "is_updated_data", "tag",
            "preview", "is_runtime_data", "bl_idname", "id_data", "depsgraph", "active_keyframe_index", "co_ui",
            "loop_triangles", "loop_triangle_polygons", "is_editable", "is_missing",
            "name_full", "id_type", "vertex_normals", "polygon_normals", "corner_normals",
            "keying_sets_all", "storage_type",
            # reading these makes Blender look for devices, or warn of enums without a meaning
            "cycles", "use_nodes", "colorspace_settings", "linear_colorspace_settings", "shading"}
_BULK = {
    "Keyframe": ("co", "handle_left", "handle_right", "handle_left_type", "handle_right_type", "interpolation",
                 "easing", "back", "amplitude", "period", "type", "select_control_point", "select_left_handle",
                 "select_right_handle"),
    "MeshVertex": ("co", "select", "hide"), "MeshEdge": ("vertices", "select", "hide", "use_seam", "use_edge_sharp"),
    "MeshLoop": ("vertex_index", "edge_index"),
    "MeshPolygon": ("loop_start", "loop_total", "material_index", "select", "hide", "use_smooth"),
    "FloatAttributeValue": ("value",), "FloatVectorAttributeValue": ("vector",), "IntAttributeValue": ("value",),
    "BoolAttributeValue": ("value",), "Float2AttributeValue": ("vector",), "ByteIntAttributeValue": ("value",),
    "FloatColorAttributeValue": ("color",), "ByteColorAttributeValue": ("color",), "ShapeKeyPoint": ("co",),
    "MeshUVLoop": ("uv",), "Int2AttributeValue": ("value",), "ShortIntAttributeValue": ("value",),
    "QuaternionAttributeValue": ("value",), "Short2AttributeValue": ("value",),
}
_DTYPES = {"FLOAT": np.float32, "INT": np.int32, "BOOLEAN": np.bool_, "ENUM": np.int32}


def snapshot(skip=()):
    """{readable path: value} of all data in the file. `skip` holds the starts of paths that are of no concern."""
    for layer in [v for scene in bpy.data.scenes for v in scene.view_layers]:
        layer.update()
    out = {}
    for prop in bpy.data.bl_rna.properties:
        if prop.type != "COLLECTION" or prop.identifier in _SKIPPED_LISTS:
            continue
        for item in getattr(bpy.data, prop.identifier):
            library = f"@{item.library.filepath}" if item.library is not None else ""
            path = f'{prop.identifier}["{item.name}"{library}]'
            if not path.startswith(tuple(skip)):
                out[path] = item.users > 0
                _walk(out, path, item, {item.as_pointer()}, item)
    for scene in bpy.data.scenes:
        for layer in scene.view_layers:
            _selection(out, f'scenes["{scene.name}"].view_layers["{layer.name}"]', layer)
    return {path: value for path, value in out.items() if not path.startswith(tuple(skip))} if skip else out


def diff(before, after, limit=40):
    """The differences of two snapshots as lines "path: was -> is"; what is new or gone is listed by its first path."""
    lines, covered = [], []
    for path in sorted(before.keys() | after.keys()):
        if path in before and path in after:
            if before[path] != after[path]:
                lines.append(f"{path}: {before[path]} -> {after[path]}")
        elif not any(path.startswith(c) for c in covered):
            covered.append(path)
            lines.append(f"{path}: {'gone' if path in before else 'new'}")
    return lines if len(lines) <= limit else lines[:limit] + [f"... and {len(lines) - limit} more"]


def _selection(out, path, layer):
    active = layer.objects.active
    out[f"{path}.objects.active"] = active.name if active else None
    for obj in layer.objects:
        out[f'{path}.objects["{obj.name}"]'] = (obj.select_get(view_layer=layer), obj.hide_get(view_layer=layer))


def _plain(value):
    """A value that compares and prints: floats by their exact bits, sequences as tuples."""
    if isinstance(value, float):
        return value.hex() if value != value else value
    if isinstance(value, (str, int, bool, bytes, type(None))):
        return value if not isinstance(value, bytes) or len(value) < 200 else hashlib.sha1(value).hexdigest()
    if isinstance(value, set):
        return tuple(sorted(value))
    if isinstance(value, bpy.types.ID):
        return f"<{value.bl_rna.identifier} {value.name}>"
    if hasattr(value, "keys") and hasattr(value, "items"):
        return tuple((key, _plain(held)) for key, held in value.items())
    if hasattr(value, "__len__"):
        return tuple(_plain(v) for v in value)
    return str(type(value).__name__)


def _bulk(collection, fields):
    """A digest of a collection of like things, read in bulk."""
    digest = hashlib.sha1(str(len(collection)).encode())
    properties = collection[0].bl_rna.properties
    for name in fields:
        prop = properties.get(name)
        if prop is None:
            continue
        flat = np.empty(len(collection) * max(getattr(prop, 'array_length', 0), 1), _DTYPES[prop.type])
        collection.foreach_get(name, flat)
        digest.update(flat.tobytes())
    return f"{len(collection)} items {digest.hexdigest()[:16]}"


def _weights(mesh):
    """A digest of a mesh's vertex groups."""
    digest = hashlib.sha1()
    for vertex in mesh.vertices:
        digest.update(repr([(g.group, g.weight) for g in vertex.groups]).encode())
    return digest.hexdigest()[:16]


def _walk(out, path, item, seen, owner):
    properties = item.bl_rna.properties
    if isinstance(item, bpy.types.Mesh) and len(item.vertices):
        out[f"{path}.weights"] = _weights(item)
    if isinstance(item, (bpy.types.ID, bpy.types.PoseBone, bpy.types.Bone)):
        for key in item.keys():
            if key.startswith("cycles"):  # an add-on's settings, made when they are first looked at
                continue
            out[f'{path}["{key}"]'] = _plain(item[key])
    for prop in properties:
        name = prop.identifier
        if name in _SKIPPED or name.startswith("bl_"):
            continue
        try:
            value = getattr(item, name)
        except Exception as error:  # some properties can be read in some states only: that is a state too
            out[f"{path}.{name}"] = type(error).__name__
            continue
        if prop.type == "POINTER":
            _walk_pointer(out, f"{path}.{name}", value, seen, owner)
        elif prop.type == "COLLECTION":
            _walk_collection(out, f"{path}.{name}", value, seen, owner)
        else:
            out[f"{path}.{name}"] = _plain(value)


def _walk_pointer(out, path, value, seen, owner):
    if value is None:
        out[path] = None
    elif isinstance(value, bpy.types.ID) and not value.is_embedded_data:
        out[path] = _plain(value)
    elif isinstance(value, (bpy.types.Bone, bpy.types.PoseBone, bpy.types.ActionGroup, bpy.types.ActionSlot,
                            bpy.types.EditBone)):
        out[path] = getattr(value, "name", None) or getattr(value, "identifier", None)
    elif (value.as_pointer(), value.bl_rna.identifier) not in seen:
        seen.add((value.as_pointer(), value.bl_rna.identifier))
        _walk(out, path, value, seen, owner)


def _walk_collection(out, path, value, seen, owner):
    out[f"{path}.length"] = len(value)
    if not len(value):
        return
    first = value[0]
    if first is not None and first.bl_rna.identifier in _BULK:
        out[path] = _bulk(value, _BULK[first.bl_rna.identifier])
        return
    for i, item in enumerate(value):
        if item is None:
            out[f"{path}[{i}]"] = None
            continue
        if isinstance(item, bpy.types.FCurve):
            name = f"{item.data_path}[{item.array_index}]"
        else:
            name = getattr(item, "name", "") or i
        at = f"{path}[{name!r}]"
        if isinstance(item, bpy.types.ID) and not item.is_embedded_data:
            out[at] = True
        elif isinstance(item, bpy.types.Bone) and not path.endswith("].bones"):
            out[at] = True
        elif (item.as_pointer(), item.bl_rna.identifier) not in seen:
            seen.add((item.as_pointer(), item.bl_rna.identifier))
            _walk(out, at, item, seen, owner)
