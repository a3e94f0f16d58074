#!/usr/bin/env bash
# Runs commands in a new Debian that has no Rust, no compiler and no network, and throws it away.
#
#   tests/packages/debian.sh LAYER [FILE...] -- SCRIPT
#
# LAYER is `base`, `python` (with venv and pip) or `node` (with npm). The files are copied to the home
# directory, which is the current one; SCRIPT is run there by `sh -eu`. What is installed is made once
# by debootstrap, and kept in a directory that can be cached.
#
# RIPKIT_ARCH is the processor, as `uname -m` says it; another one than that of this machine is emulated by
# QEMU, which is installed if it can be.
#
# Needs root, Linux, network for the first time, and debootstrap, which is installed if it can be.
# Without them the status is 77; if the variable CI is set, it is 1.
set -euo pipefail

suite="${RIPKIT_DEBIAN:-bookworm}"
mirror="${RIPKIT_DEBIAN_MIRROR:-http://deb.debian.org/debian}"
tools="${RIPKIT_CI_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/ripkit-ci}"
export PATH="$PATH:/usr/sbin:/sbin"

fail() {
    printf 'debian: %s\n' "$*" >&2
    exit 1
}

skip() {
    case "${CI:-false}" in '' | false) ;; *) fail "$*, and CI is set" ;; esac
    printf 'SKIPPED: no Debian to try this in: %s\n' "$*" >&2
    exit 77
}

layer="${1:?a layer}"
shift
files=()
while [ "${1:?--}" != -- ]; do
    [ -e "$1" ] || fail "there is no $1"
    files+=("$(realpath "$1")")
    shift
done
shift
script="${1:?a script}"

case "$layer" in
base) packages=() ;;
python) packages=(python3 python3-venv python3-pip) ;;
node) packages=(nodejs npm) ;;
*) fail "there is no layer $layer" ;;
esac

[ "$(uname -s)" = Linux ] || skip 'this is not Linux'
[ "$(id -u)" = 0 ] || skip 'this needs root'
unshare --mount --pid --fork --net true 2>/dev/null || skip 'namespaces are not allowed here'

machine="${RIPKIT_ARCH:-$(uname -m)}"
emulator="/proc/sys/fs/binfmt_misc/qemu-$machine"
if [ "$machine" != "$(uname -m)" ] && ! [ -e "$emulator" ]; then
    command -v apt-get >/dev/null || skip "there is no emulator of $machine"
    mountpoint -q "${emulator%/*}" || mount -t binfmt_misc binfmt_misc "${emulator%/*}" || true
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        binfmt-support qemu-user-static >/dev/null || skip 'QEMU cannot be installed'
    [ -e "$emulator" ] || skip "the emulator of $machine cannot be set up"
fi
case "$machine" in
x86_64) arch=amd64 ;;
aarch64) arch=arm64 ;;
*) fail "there is no processor $machine" ;;
esac
made="$tools/debian/$suite-$layer-$arch"
if [ ! -f "$made/.made" ]; then
    if ! command -v debootstrap >/dev/null; then
        command -v apt-get >/dev/null || skip 'debootstrap is not installed'
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends debootstrap \
            >/dev/null || skip 'debootstrap cannot be installed'
    fi
    rm -rf "$made"
    mkdir -p "$made"
    # apt installs the rest: debootstrap fails for packages that depend on each other, such as npm's.
    {
        debootstrap --arch="$arch" --variant=minbase "$suite" "$made" "$mirror" &&
            cp /etc/resolv.conf "$made/etc/" &&
            chroot "$made" apt-get update &&
            DEBIAN_FRONTEND=noninteractive \
                chroot "$made" apt-get install -y --no-install-recommends "${packages[@]}"
    } >"$made.log" 2>&1 || {
        tail -n 20 "$made.log" >&2
        rm -rf "$made"
        skip "$suite with ${packages[*]-} cannot be made"
    }
    rm -rf "$made"/var/cache/apt/* "$made"/var/lib/apt/lists/* "$made"/usr/share/doc
    : >"$made/.made"
fi

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/files" "$scratch/root"
for file in "${files[@]}"; do
    cp -a "$file" "$scratch/files/"
done
printf '%s\n' "$script" >"$scratch/script"

# All mounts are in a namespace of their own, and end with it.
export made scratch
status=0
unshare --mount --pid --fork --net sh -eu <<'END' || status=$?
mount -t tmpfs -o size=75% tmpfs "$scratch/root"
mkdir "$scratch/root/upper" "$scratch/root/work" "$scratch/root/all"
all="$scratch/root/all"
mount -t overlay -o "lowerdir=$made,upperdir=$scratch/root/upper,workdir=$scratch/root/work" \
    overlay "$all" 2>/dev/null || cp -a "$made/." "$all/"
cp -a "$scratch/files/." "$all/root/"
cp "$scratch/script" "$all/tmp/script"
mount -t proc proc "$all/proc"
exec env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    TERM=dumb chroot "$all" sh -euc 'cd /root && exec sh -eu /tmp/script' </dev/null
END
exit "$status"
