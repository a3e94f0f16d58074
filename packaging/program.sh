#!/usr/bin/env bash
# Builds the program that is distributed, and prints its path: linked statically, so that it runs on any
# Linux and in an empty container, and without symbols and the paths of this machine.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/names.sh

[ -n "$target" ] || { printf 'program: static programs are made on Linux\n' >&2; exit 1; }
rustup target list --installed | grep -qx "$target" || rustup target add "$target" >&2
sources="$(realpath -m "${CARGO_HOME:-$HOME/.cargo}")/registry/src"
flags="-C target-feature=+crt-static -C strip=symbols --remap-path-prefix=$sources=/cargo"
RUSTFLAGS="${RUSTFLAGS:-} $flags" cargo build --locked --profile dist --bin ripkit \
    --target "$target" --target-dir "${CARGO_TARGET_DIR:-target}/static" >&2
printf '%s\n' "$program"
