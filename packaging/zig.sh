#!/usr/bin/env bash
# Prints the directory of Zig, which links for any Linux, and of the programs that build modules with it:
# maturin and cargo-zigbuild. All recipes share it, since Zig is large.
set -euo pipefail
cd "$(dirname "$0")/.."
tests/tools.sh zig maturin==1.16.0 cargo-zigbuild==0.24.1 ziglang==0.17.1
