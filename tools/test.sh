#!/usr/bin/env bash
# test.sh [PYTEST OPTION...]: the solvers without Blender, then tests/blender on every bpy wheel that can be had.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT" || exit 1

summary=()
failed=0
blenders=0

# run_tests LABEL PYTHON FOLDER [OPTION...]
run_tests() {
    local label=$1 python=$2 folder=$3 started=$SECONDS code
    shift 3
    if [ -z "$(find "$folder" -name 'test_*.py' -print -quit 2>/dev/null)" ]; then
        summary+=("$label: skipped, $folder holds no tests yet")
        return
    fi
    say "$label: $folder"
    "$python" -m pytest "$folder" -p no:cacheprovider "$@" </dev/null
    code=$?
    # Exit 5, nothing collected, is a failure in a folder with tests, unless options chose among them.
    if [ $code -eq 0 ]; then
        summary+=("$label: passed in $((SECONDS - started)) s")
    elif [ $code -eq 5 ] && [ $# -gt 0 ]; then
        summary+=("$label: no test chosen by $*")
    else
        summary+=("$label: FAILED (pytest exit $code)")
        failed=1
    fi
}

python=$(tools/env.sh plain) || die "the plain environment could not be made"
if "$python" -c 'import bpy' 2>/dev/null; then die "the plain environment holds bpy; remove .cache/venv-plain"; fi
run_tests "solvers without Blender" "$python" tests/solvers "$@"

for name in bpy45 bpy52; do
    python=$(tools/env.sh $name)
    case $? in
    0)
        blenders=$((blenders + 1))
        label=$("$python" -c 'import bpy; print("bpy", bpy.app.version_string)' 2>/dev/null | tail -n 1)
        run_tests "${label:-$name, which does not import}" "$python" tests/blender "$@"
        ;;
    3) summary+=("$name: skipped, its Python is not on this machine (bpy45 needs 3.11, bpy52 needs 3.13)") ;;
    *)
        summary+=("$name: FAILED, its environment could not be made")
        failed=1
        ;;
    esac
done
[ $blenders -gt 0 ] || { summary+=("no bpy at all: FAILED"); failed=1; }

printf '\n'
printf '== %s\n' "${summary[@]}"
exit $failed
