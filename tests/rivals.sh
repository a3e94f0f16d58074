#!/usr/bin/env bash
# Runs the same trials with ripkit and with two other file servers for models.
#
#   tests/rivals.sh [WORD...]
#
# With WORDs, runs only the trials whose names contain one of them. Needs `cargo build --release` first,
# or the path of a program in RIPKIT. The other servers are installed from their registries into a
# directory that can be cached. Every server gets its own tree and a time limit for each answer, and is
# killed at the end.
set -euo pipefail
cd "$(dirname "$0")/.."
program="$(realpath "${RIPKIT:-${CARGO_TARGET_DIR:-target}/release/ripkit}")"
tools="${RIPKIT_CI_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/ripkit-ci}/rivals"
official_version="${OFFICIAL_VERSION:-2026.8.31}"
rust_mcp_version="${RUST_MCP_VERSION:-0.4.5}"

[ -x "$program" ] || {
    printf 'rivals: no program at %s: run cargo build --release first\n' "$program" >&2
    exit 1
}
# Installed once for each version.
official="$tools/official-$official_version"
if [ ! -d "$official/node_modules" ]; then
    mkdir -p "$official"
    npm install --prefix "$official" --silent --no-audit --no-fund --ignore-scripts \
        "@modelcontextprotocol/server-filesystem@$official_version"
fi
rust_mcp="$tools/rust-mcp-$rust_mcp_version"
if [ ! -x "$rust_mcp/bin/rust-mcp-filesystem" ]; then
    cargo install --quiet --locked --root "$rust_mcp" \
        --version "$rust_mcp_version" rust-mcp-filesystem
fi
PYTHONDONTWRITEBYTECODE=1 exec python3 tests/rivals/run.py --ripkit "$program" \
    --official "$official" --rust-mcp "$rust_mcp/bin/rust-mcp-filesystem" -- "$@"
