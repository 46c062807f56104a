#!/usr/bin/env bash
# blender_root.sh: makes sure that there is a folder with a Debian unstable in it that holds Blender and what it takes
# to open, click and photograph its window, and prints the folder: BLENDER_ROOT, or .cache/blender. Needs root once.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

PACKAGES=(blender xvfb xauth libgl1-mesa-dri libegl1 x11-utils xdotool imagemagick fonts-dejavu
    python3-numpy python3-requests python3-zstandard python3-cattr python3-pytest)
MIRROR=${DEBIAN_MIRROR:-http://deb.debian.org/debian}

root=${BLENDER_ROOT:-$CACHE/blender}
if [ -x "$root/usr/bin/blender" ] && { [ -n "${BLENDER_ROOT:-}" ] || [ -e "$root/foothold-complete" ]; }; then
    printf '%s\n' "$root"
    exit 0
fi
[ "$(id -u)" -eq 0 ] || die "making a Debian root for Blender needs root; as another user set BLENDER to a Blender" \
    "4.5 or newer and install xvfb, xdotool and imagemagick"
need_packages debootstrap || die "debootstrap is needed"

mkdir -p "$CACHE"
log=$CACHE/blender-root.log

# build SUITE: 0 when the root stands, with everything in it.
build() {
    local suite=$1
    rm -rf --one-file-system "$root"
    mkdir -p "$root"
    debootstrap --variant=minbase "$suite" "$root" "$MIRROR" || return 1
    cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
    # The mirror is reached as this machine reaches it: its proxies, and whether it lets a frozen mirror's lists pass.
    apt-config dump 2>/dev/null | grep -E '^Acquire::(http|https)::Proxy|^Acquire::Check-(Valid-Until|Date) ' \
        >"$root/etc/apt/apt.conf.d/90host" || true
    ln -sf /proc/self/mounts "$root/etc/mtab" # Blender warns without it
    # A throw-away system: no syncing of every file, no documentation.
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/foothold"
    printf 'path-exclude=/usr/share/%s/*\n' doc man locale >>"$root/etc/dpkg/dpkg.cfg.d/foothold"
    # A mount namespace of its own: the mounts end with the command.
    unshare --mount bash -c '
        set -e
        mount -t proc proc "$0/proc"
        export DEBIAN_FRONTEND=noninteractive LC_ALL=C
        chroot "$0" apt-get update
        chroot "$0" apt-get install -y --no-install-recommends "$@"
        chroot "$0" apt-get clean' "$root" "${PACKAGES[@]}" || return 1
    touch "$root/foothold-complete"
}

started=$SECONDS
# Unstable is for days now and then not installable; testing has the same Blender a little later.
for suite in sid testing; do
    say "building a Debian $suite with Blender in ${root#"$ROOT/"} (a few minutes; log: .cache/blender-root.log)"
    if build "$suite" >"$log" 2>&1 </dev/null; then
        say "built in $((SECONDS - started)) s"
        printf '%s\n' "$root"
        exit 0
    fi
    tail -n 15 "$log" >&2
    say "Debian $suite did not work out"
done
die "no Debian root with Blender could be built; see .cache/blender-root.log"
