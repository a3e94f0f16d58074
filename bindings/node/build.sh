#!/usr/bin/env bash
# Makes the npm packages, and prints their paths: `target/npm/ripkit-VERSION.tgz`, which is for all systems,
# and for each target one with what is native, `target/npm/ripkit-SYSTEM-VERSION.tgz`.
#
#   bindings/node/build.sh [TARGET...]
#   bindings/node/build.sh --library
#
# A TARGET is a target of Rust, such as `aarch64-unknown-linux-musl`; by default this system. Those for
# Linux are linked by Zig for glibc 2.17 or musl 1.2.
#
# With `--library` only the module for this machine is compiled, in half the time, and put beside `index.js`, so
# that `npm install path/to/ripkit/bindings/node` installs the library without the program.
set -euo pipefail
cd "$(dirname "$0")/../.."
target="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
host="$(rustc -vV | sed -n 's/^host: //p')"

# The file of the module for a target of Rust.
module_of() {
    case "$1" in
    *-windows-*) printf 'ripkit_node.dll' ;;
    *-darwin) printf 'libripkit_node.dylib' ;;
    *) printf 'libripkit_node.so' ;;
    esac
}

if [ "${1:-}" = --library ]; then
    CARGO_TARGET_DIR="$target/bindings" \
        cargo build --locked --release --manifest-path bindings/Cargo.toml -p ripkit-node
    install -m 644 "$target/bindings/release/$(module_of "$host")" bindings/node/ripkit.node
    realpath bindings/node
    exit
fi

tools="$(packaging/zig.sh)"
out="$target/npm"
mkdir -p "$out"

# Packs a directory; npm names the file.
pack() { printf '%s/%s\n' "$out" "$(npm pack --silent --pack-destination "$out" "$1")"; }

package="$out/ripkit"
rm -rf "$package"
mkdir -p "$package"
cp -R bindings/node/{bin,ai-sdk.d.mts,ai-sdk.mjs,index.js,index.d.ts,platform.d.ts,platform.js,package.json,README.md} LICENSE-* "$package"
pack "$package"

says() { printf 'npm: %s\n' "$*" >&2; }

cargo fetch --locked --quiet --manifest-path bindings/Cargo.toml
for system in "${@:-$host}"; do
    case "$system" in
    x86_64-unknown-linux-*) name="linux-x64-${system##*-}" ;;
    aarch64-unknown-linux-*) name="linux-arm64-${system##*-}" ;;
    x86_64-apple-darwin) name=darwin-x64 ;;
    aarch64-apple-darwin) name=darwin-arm64 ;;
    x86_64-pc-windows-*) name=win32-x64 ;;
    *) printf 'node: no package for %s\n' "$system" >&2 && exit 1 ;;
    esac
    rustup target list --installed | grep -qx "$system" || rustup target add "$system" >&2
    says "compiling the program for ${system/-gnu/-musl}, which takes a few minutes"
    program="$(RIPKIT_TARGET="${system/-gnu/-musl}" packaging/program.sh)"
    build=(build --target "$system")
    flags=''
    case "$system" in
    *-linux-gnu)
        build=(zigbuild --target "$system.2.17")
        flags="-C link-arg=$(packaging/unwinder.sh "$system")"
        ;;
    # A module is loaded by the C library of Node, so its own is not linked into it.
    *-linux-musl) build=(zigbuild --target "$system") flags='-C target-feature=-crt-static' ;;
    esac
    says "compiling the module for $system, which takes a few minutes"
    PATH="$tools/bin:$PATH" RUSTFLAGS="${RUSTFLAGS:-} $flags" CARGO_TARGET_DIR="$target/bindings" \
        cargo "${build[@]}" --locked --profile dist --manifest-path bindings/Cargo.toml -p ripkit-node >&2

    package="$out/$name"
    rm -rf "$package"
    mkdir -p "$package/bin"
    install -m 755 "$program" "$package/bin/${program##*/}"
    install -m 644 "$target/bindings/$system/dist/$(module_of "$system")" "$package/ripkit.node"
    cp LICENSE-* "$package"
    printf '# @ripkit/%s\n\nThe native part of [ripkit](https://www.npmjs.com/package/ripkit) for %s.\n' \
        "$name" "$system" >"$package/README.md"
    RIPKIT_TARGET="$system" packaging/licences.sh ripkit-node >"$package/LICENSES-OF-CRATES.txt"
    node - bindings/node/package.json "$package/package.json" "$name" <<'END'
const { readFileSync, writeFileSync } = require('node:fs');
const [, , from, to, system] = process.argv;
const { version, license, repository, engines } = JSON.parse(readFileSync(from));
const [os, cpu, libc] = system.split('-');
// npm refuses to install it on another system.
const made = {
  name: `@ripkit/${system}`, version, license, repository, engines,
  description: `The native part of ripkit for ${system}.`,
  os: [os], cpu: [cpu], ...(libc && { libc: [libc === 'gnu' ? 'glibc' : libc] }),
  files: ['bin', 'ripkit.node', 'LICENSE*'],
};
writeFileSync(to, `${JSON.stringify(made, null, 2)}\n`);
END
    pack "$package"
done
