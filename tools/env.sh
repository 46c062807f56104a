#!/usr/bin/env bash
# env.sh plain|bpy45|bpy52|gui|lint: makes .cache/venv-NAME with the pinned packages and prints its python.
# Exit 3: the Python that it needs is not on this machine. Exit 1: anything else.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# What the bpy wheels link against and do not carry, and Mesa for drawing without a graphics card.
BPY_PACKAGES=(libgl1 libegl1 libgl1-mesa-dri libx11-6 libxext6 libxfixes3 libxi6 libxrender1 libxt6 libxxf86vm1
    libice6 libsm6 libxkbcommon0)

name=${1:?which environment: plain, bpy45, bpy52, gui or lint}
case $name in
plain | gui | lint) versions="3.11 3.13 3.12" ;;
bpy45) versions="3.11" ;;
bpy52) versions="3.13" ;;
*) die "unknown environment '$name'; there are plain, bpy45, bpy52, gui and lint" ;;
esac

wanted=$ROOT/tools/requirements/$name.txt
venv=$CACHE/venv-$name
mkdir -p "$CACHE"

# Two runs at once do not build the same environment into each other.
if command -v flock >/dev/null; then
    exec 9>"$CACHE/$name.lock"
    flock 9
fi

case $name in bpy*) need_packages "${BPY_PACKAGES[@]}" || say "going on without them; importing bpy may fail" ;; esac

# Remade when the pins or the interpreter changed; the copy of the pins is written last, so a broken one never counts.
if ! cmp -s "$wanted" "$venv/installed.txt" || ! "$venv/bin/python" -c '' 2>/dev/null; then
    python=
    for version in $versions; do
        python=$(find_python "$version")
        [ -n "$python" ] && break
    done
    if [ -z "$python" ]; then
        say "$name needs Python ${versions// / or }, and none is on PATH or under pyenv"
        exit 3
    fi
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        need_packages "python$version-venv" || die "$python has no venv module"
    fi
    say "making .cache/venv-$name with $python"
    rm -rf "$venv"
    "$python" -m venv "$venv" >&2
    if ! "$venv/bin/python" -m pip install --quiet --no-input --disable-pip-version-check -r "$wanted" \
        >"$CACHE/pip-$name.log" 2>&1 </dev/null; then
        tail -n 15 "$CACHE/pip-$name.log" >&2
        die "pip could not install $(basename "$wanted")"
    fi
    cp "$wanted" "$venv/installed.txt"
fi
printf '%s\n' "$venv/bin/python"
