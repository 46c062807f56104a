#!/usr/bin/env bash
# test_gui.sh [PYTEST OPTION...]: tests/blender inside a real Blender, and tests/gui in its window, with the extension
# built, installed and enabled as an artist would have it. Pictures go to build/gui.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT" || exit 1

if [ -n "${BLENDER:-}" ]; then
    for tool in Xvfb xdotool import; do
        command -v $tool >/dev/null || die "BLENDER is set, so $tool has to be here too (xvfb, xdotool, imagemagick)"
    done
else
    BLENDER_ROOT=$(tools/blender_root.sh) || die "there is no real Blender to test with"
    export BLENDER_ROOT
fi
python=$(tools/env.sh gui) || die "the environment for the window tests could not be made"

# Blender's settings and extensions go to a folder of this run, so nothing of the user's takes part or changes.
# It lies in /tmp, which is the same folder inside the Debian root.
export TMPDIR=/tmp
work=$(mktemp -d /tmp/foothold-gui.XXXXXX)
trap 'rm -rf "$work"' EXIT
export BLENDER_USER_RESOURCES=$work/blender PYTHONDONTWRITEBYTECODE=1
mkdir -p "$BLENDER_USER_RESOURCES" build/gui

say "$(tools/blender --version | head -n 1): building and installing the extension"
package=$("$python" tools/build_zip.py --blender tools/blender | tail -n 1)
[ -f "$package" ] || die "the extension could not be built"
tools/blender --command extension install-file --repo user_default --enable "$package" </dev/null ||
    die "the extension could not be installed"
tools/blender -b --python-exit-code 1 --python tests/gui/prepare.py </dev/null >"$work/prepare.log" 2>&1 ||
    { cat "$work/prepare.log"; die "Blender with the extension enabled could not be prepared"; }

failed=0

# judge CODE [OPTION...]: pytest's exit 5, nothing collected, is a failure unless options chose among the tests.
judge() {
    [ "$1" -eq 0 ] || { [ "$1" -eq 5 ] && [ $# -gt 1 ]; } || failed=1
}

export FOOTHOLD_MODULE=bl_ext.user_default.foothold
if [ -n "$(find tests/blender -name 'test_*.py' -print -quit)" ]; then
    say "tests/blender inside Blender, on the installed extension"
    "$python" -m pytest tests/blender --blender-executable tools/blender -p no:cacheprovider "$@" </dev/null
    judge $? "$@"
fi
unset FOOTHOLD_MODULE

say "tests/gui in a window"
FOOTHOLD_WINDOW=1 "$python" -m pytest -p no:pytest-blender -p no:cacheprovider tests/gui "$@" </dev/null
judge $? "$@"

[ $failed -eq 0 ] && say "the real Blender passed" || say "the real Blender FAILED"
exit $failed
