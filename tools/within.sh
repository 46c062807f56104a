#!/usr/bin/env bash
# within.sh COMMAND...: runs a command where Blender is: in the Debian root of blender_root.sh, with this checkout, the
# trial data and the temporary folder at the same paths as outside. With BLENDER set it simply runs it here.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ -z "${BLENDER:-}" ] || exec "$@"

root=${BLENDER_ROOT:-$CACHE/blender}
[ -x "$root/usr/bin/blender" ] || die "there is no Blender in $root; run tools/blender_root.sh first"

shared=(/tmp "$ROOT")
data=${FOOTHOLD_DATA:-$(dirname "$ROOT")/shared}
[ -d "$data" ] && shared+=("$(cd "$data" && pwd)")

# The process becomes the command (no fork), so a signal to it reaches the command, and its mounts end with it.
exec unshare --mount bash -c '
    set -e
    root=$1 here=$2 count=$3
    shift 3
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    while [ "$count" -gt 0 ]; do
        mkdir -p "$root$1"
        mount --bind "$1" "$root$1"
        shift
        count=$((count - 1))
    done
    export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8
    unset PYTHONPATH PYTHONHOME
    exec chroot "$root" /bin/sh -c "cd \"\$0\" 2>/dev/null || cd /; exec \"\$@\"" "$here" "$@"' \
    within "$root" "$PWD" "${#shared[@]}" "${shared[@]}" "$@"
