#!/usr/bin/env bash
# Makes the npm package for this system: `target/npm/ripkit-VERSION.tgz`.
#
#   bindings/node/build.sh [PROGRAM]
#
# PROGRAM is the `ripkit` that the package contains; by default it is built.
set -euo pipefail
cd "$(dirname "$0")/../.."
target="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
program="${1:-}"
if [ -z "$program" ]; then
    cargo build --locked --profile dist --bin ripkit
    program="$target/dist/ripkit"
fi
CARGO_TARGET_DIR="$target/bindings" cargo build --locked --profile dist \
    --manifest-path bindings/Cargo.toml -p ripkit-node

package="$target/npm/package"
rm -rf "$target/npm"
mkdir -p "$package/bin"
# The native program itself: no process of Node stands between it and its client.
install -m 755 "$program" "$package/bin/ripkit"
! command -v strip >/dev/null || strip "$package/bin/ripkit"
for library in libripkit_node.so libripkit_node.dylib ripkit_node.dll; do
    [ ! -f "$target/bindings/dist/$library" ] ||
        install -m 644 "$target/bindings/dist/$library" "$package/ripkit.node"
done
install -m 644 bindings/node/{ai-sdk.d.mts,ai-sdk.mjs,index.js,index.d.ts,README.md} LICENSE-* "$package"
RIPKIT_TARGET="$(rustc -vV | sed -n 's/^host: //p')" packaging/licences.sh ripkit-node \
    >"$package/LICENSES-OF-CRATES.txt"
# npm refuses to install it on another system.
node - bindings/node/package.json "$package/package.json" <<'END'
const [, , from, to] = process.argv;
const { readFileSync, writeFileSync } = require('node:fs');
const { platform, arch, report } = process;
const libc = platform === 'linux' && [report.getReport().header.glibcVersionRuntime ? 'glibc' : 'musl'];
const made = { ...JSON.parse(readFileSync(from)), os: [platform], cpu: [arch], ...(libc && { libc }) };
writeFileSync(to, JSON.stringify(made, null, 2) + '\n');
END
cd "$target/npm"
npm pack --silent ./package >/dev/null
ls -l "$target"/npm/*.tgz
