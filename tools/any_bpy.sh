#!/usr/bin/env bash
# any_bpy.sh: prints the python of an environment with the bpy module: the newer Blender if its Python is here.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
for name in bpy52 bpy45; do
    code=0
    python=$("$here/env.sh" $name) || code=$?
    [ $code -eq 0 ] && { printf '%s\n' "$python"; exit 0; }
    [ $code -eq 3 ] || exit $code
done
exit 3
