#!/usr/bin/env bash
# Runs the tests of fd, which are fetched for it, with our program by the name of fd. Those that fail must be
# the ones in fd_suite.txt. It takes the program of `cargo build --features command`.
set -euo pipefail
cd "$(dirname "$0")/.."
target="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
version="$(fd --version | cut -d ' ' -f 2)"
suite="$target/fd-suite-$version"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
if [ ! -d "$suite" ]; then
    # A package that depends on it, so that cargo fetches the source and checks it.
    mkdir "$work/fetch" "$work/fetch/src"
    touch "$work/fetch/src/lib.rs"
    printf '[package]\nname = "fetch"\nedition = "2024"\n[dependencies]\nfd-find = "=%s"\n[workspace]\n' \
        "$version" >"$work/fetch/Cargo.toml"
    cargo fetch --quiet --manifest-path "$work/fetch/Cargo.toml"
    sources=("${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/"fd-find-$version")
    cp -r "${sources[0]}" "$suite"
    # Only the tests are built.
    echo 'fn main() {}' >"$suite/src/main.rs"
    printf '\n[workspace]\n' >>"$suite/Cargo.toml"
fi
export CARGO_TARGET_DIR="$suite/target"
cargo test --quiet --locked --no-default-features --no-run --manifest-path "$suite/Cargo.toml"
tests="$(find "$CARGO_TARGET_DIR/debug/deps" -name 'tests-*' -type f -perm -u+x)"
ln -s "$target/debug/ripkit" "$work/fd"
# The listing below tells what failed.
(cd "$suite" && CARGO_BIN_EXE_fd="$work/fd" RUST_BACKTRACE=0 "$tests" >"$work/out" 2>&1) || true
grep '^test result' "$work/out"
diff <(sed -n 's/^test \(.*\) \.\.\. FAILED$/\1/p' "$work/out" | sort) \
    <(sed '/^#/d; s/ .*//' tests/fd_suite.txt | sort)
