# Shell functions that the scripts here share. Source it; it sets ROOT (the checkout) and CACHE.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE=$ROOT/.cache

say() { printf '== %s\n' "$*" >&2; }

die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# need_packages NAME...: Debian packages, installed when root and missing, otherwise named. Fails if any is missing.
need_packages() {
    local missing=() name
    command -v dpkg-query >/dev/null || return 0 # not a Debian: its owner knows what to install
    for name in "$@"; do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    if [ "$(id -u)" -ne 0 ]; then
        say "missing Debian packages; as root run: apt-get install ${missing[*]}"
        return 1
    fi
    say "installing Debian packages: ${missing[*]}"
    mkdir -p "$CACHE"
    if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        -o DPkg::Lock::Timeout=300 "${missing[@]}"; } >"$CACHE/apt.log" 2>&1 </dev/null; then
        tail -n 15 "$CACHE/apt.log" >&2
        say "apt-get could not install: ${missing[*]}"
        return 1
    fi
}

# find_python X.Y: prints an interpreter of that version, wherever it is: on PATH, or only under pyenv.
find_python() {
    local version=$1 candidate home
    {
        # A pyenv shim is on PATH even when its version is not selected, so each candidate is asked.
        type -aP "python$version" python3 2>/dev/null || true
        home=$(pyenv root 2>/dev/null || true)
        home=${home:-${PYENV_ROOT:-$HOME/.pyenv}}
        printf '%s\n' "$home/versions/$version"*/bin/python | sort -rV
        printf '%s\n' /usr/local/bin/python"$version" /opt/python"$version"/bin/python"$version"
    } | while IFS= read -r candidate; do
        [ -x "$candidate" ] || continue
        [ "$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)" = "$version" ] || continue
        # The path as Python sees itself: a shim would look at PYENV_VERSION again later.
        "$candidate" -c 'import sys; print(sys.executable)'
        break
    done
}
