#!/usr/bin/env bash
# Packs the sources of the Python package, from which pip builds it where Rust is and no wheel fits, and
# prints the path: `target/wheel/ripkit-VERSION.tar.gz`.
set -euo pipefail
cd "$(dirname "$0")/../.."
maturin="$(packaging/zig.sh)/bin/maturin"
mkdir -p target/wheel
rm -f target/wheel/ripkit-*.tar.gz
"$maturin" sdist --manifest-path bindings/python/Cargo.toml --out target/wheel >&2
realpath target/wheel/ripkit-*.tar.gz
