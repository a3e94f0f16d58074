#!/usr/bin/env bash
# Builds the wheel for this system, and prints its path: `target/wheel/ripkit-VERSION-*.whl`.
#
#   bindings/python/build.sh [PROGRAM]
#
# PROGRAM is the `ripkit` that the wheel contains; by default it is built.
set -euo pipefail
cd "$(dirname "$0")/../.."
target="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
program="${1:-}"
if [ -z "$program" ] && [ "$(uname -s)" = Linux ]; then
    program="$(packaging/program.sh)"
elif [ -z "$program" ]; then
    cargo build --locked --profile dist --bin ripkit >&2
    program="$target/dist/ripkit"
fi
maturin="$(tests/tools.sh python/maturin maturin==1.16.0)/bin/maturin"

# Where `pyproject.toml` says that it is, wherever other files are built.
data=target/wheel/ripkit.data
scripts="$data/scripts"
licences="$data/data/share/doc/ripkit"
mkdir -p "$scripts" "$licences"
install -m 755 "$program" "$scripts/ripkit"
! command -v strip >/dev/null || strip "$scripts/ripkit"
# The licences are read from the sources of the crates.
cargo fetch --locked --quiet --manifest-path bindings/Cargo.toml
RIPKIT_TARGET="$(rustc -vV | sed -n 's/^host: //p')" packaging/licences.sh ripkit-python \
    >"$licences/LICENSES-OF-CRATES.txt"
rm -f target/wheel/*.whl
CARGO_TARGET_DIR="$target/bindings" "$maturin" build --quiet \
    --manifest-path bindings/python/Cargo.toml --out target/wheel >&2
realpath target/wheel/*.whl
