#!/usr/bin/env bash
# Builds the library and the program for WASI, and runs the program in a WASI runtime.
set -euo pipefail
cd "$(dirname "$0")/.."
tools="$(tests/tools.sh wasi wasmtime==50.0.1)"
target=wasm32-wasip1
if command -v rustup >/dev/null; then rustup target add "$target"; fi
cargo clippy --locked --lib --no-default-features --target "$target" -- -D warnings
cargo build --locked --bin ripkit --no-default-features --features cli --target "$target"
"$tools/bin/python" tests/wasi.py "${CARGO_TARGET_DIR:-target}/$target/debug/ripkit.wasm"
