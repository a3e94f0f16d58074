#!/usr/bin/env bash
# Builds the program that is distributed, and prints its path: without symbols and the paths of this
# machine, and on Linux linked statically, so that it runs on any Linux and in an empty container.
#
# RIPKIT_TARGET names the target of Rust; by default it is this system, on Linux with musl. For another
# processor of Linux no C compiler is needed.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/names.sh

rustup target list --installed | grep -qx "$target" || rustup target add "$target" >&2
sources="$(realpath -m "${CARGO_HOME:-$HOME/.cargo}")/registry/src"
flags="-C strip=symbols --remap-path-prefix=$sources=/cargo"
case "$target" in
*-linux-*)
    flags="$flags -C target-feature=+crt-static"
    [ "${target%%-*}" = "$(uname -m)" ] || flags="$flags -C linker=rust-lld -C linker-flavor=ld.lld"
    ;;
esac
RUSTFLAGS="${RUSTFLAGS:-} $flags" cargo build --locked --profile dist --bin ripkit \
    --target "$target" --target-dir "${CARGO_TARGET_DIR:-target}/static" >&2
printf '%s\n' "$program"
