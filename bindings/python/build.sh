#!/usr/bin/env bash
# Builds wheels, and prints their paths: `target/wheel/ripkit-VERSION-*.whl`.
#
#   bindings/python/build.sh [TARGET...]
#
# A TARGET is a target of Rust, such as `aarch64-unknown-linux-musl`; by default this system. Those for
# Linux are linked by Zig for glibc 2.17 or musl 1.2, so that they install on every Linux since 2014.
set -euo pipefail
cd "$(dirname "$0")/../.."
root="$PWD"
target="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
host="$(rustc -vV | sed -n 's/^host: //p')"
tools="$(packaging/zig.sh)"
# Programs in the environment, of which maturin starts Zig as a module of Python.
export PATH="$tools/bin:$PATH"

data="$root/bindings/python/ripkit.data"
scratch="$(mktemp -d)"
clean() {
    rm -rf "$scratch" "$data/data" "$data/scripts/ripkit" "$data/scripts/ripkit.exe"
}
trap clean EXIT

says() { printf 'wheel: %s\n' "$*" >&2; }

# The licences are read from the sources of the crates.
cargo fetch --locked --quiet --manifest-path bindings/Cargo.toml

for system in "${@:-$host}"; do
    clean
    mkdir -p "$scratch"
    options=()
    flags=''
    case "$system" in
    *-linux-gnu)
        options=(--zig --compatibility manylinux2014)
        flags="-C link-arg=$(packaging/unwinder.sh "$system")"
        ;;
    *-linux-musl) options=(--zig --compatibility musllinux_1_2) ;;
    esac
    rustup target list --installed | grep -qx "$system" || rustup target add "$system" >&2
    says "compiling the program for ${system/-gnu/-musl}, which takes a few minutes"
    program="$(RIPKIT_TARGET="${system/-gnu/-musl}" packaging/program.sh)"
    mkdir -p "$data/scripts" "$data/data/share/doc/ripkit"
    install -m 755 "$program" "$data/scripts/${program##*/}"
    RIPKIT_TARGET="$system" packaging/licences.sh ripkit-python \
        >"$data/data/share/doc/ripkit/LICENSES-OF-CRATES.txt"
    says "compiling the module for $system, which takes a few minutes"
    RUSTFLAGS="${RUSTFLAGS:-} $flags" CARGO_TARGET_DIR="$target/bindings" \
        maturin build --locked --profile dist --target "$system" "${options[@]}" \
        --manifest-path bindings/python/Cargo.toml --out "$scratch" >&2
    mkdir -p target/wheel
    for wheel in "$scratch"/*.whl; do
        mv -f "$wheel" target/wheel/
        realpath "target/wheel/${wheel##*/}"
    done
done
