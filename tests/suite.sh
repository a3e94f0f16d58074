#!/usr/bin/env bash
# Runs the tests of ripgrep (`rg`) or fd (`fd`), which are fetched for it, with our program by that name.
# Those that fail must be the ones in rg_suite.txt or fd_suite.txt. It takes the program of `cargo build`, for
# fd with `--features command`.
set -euo pipefail
cd "$(dirname "$0")/.."
name="$1"
case "$name" in
    rg) package=ripgrep main=crates/core/main.rs suite_test=integration options=(--locked --test integration) ;;
    fd) package=fd-find main=src/main.rs suite_test=tests options=(--locked --no-default-features) ;;
    *) echo "rg or fd" >&2; exit 2 ;;
esac
target="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
version="$("$name" --version | sed -n '1s/^[a-z]* \([0-9.]*\).*/\1/p')"
suite="$target/$name-suite-$version"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
if [ ! -d "$suite" ]; then
    # A package that depends on it, so that cargo fetches the source and checks it.
    mkdir "$work/fetch" "$work/fetch/src"
    touch "$work/fetch/src/lib.rs"
    printf '[package]\nname = "fetch"\nedition = "2024"\n[dependencies]\n%s = "=%s"\n[workspace]\n' \
        "$package" "$version" >"$work/fetch/Cargo.toml"
    cargo fetch --quiet --manifest-path "$work/fetch/Cargo.toml"
    sources=("${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/"$package-$version")
    cp -r "${sources[0]}" "$suite"
    # Only the tests are built.
    echo 'fn main() {}' >"$suite/$main"
    printf '\n[workspace]\n' >>"$suite/Cargo.toml"
fi
export CARGO_TARGET_DIR="$suite/target"
cargo test --quiet --no-run "${options[@]}" --manifest-path "$suite/Cargo.toml"
tests="$(find "$CARGO_TARGET_DIR/debug/deps" -name "$suite_test-*" -type f -perm -u+x)"
# Those of ripgrep start the program beside them.
ln -sf "$target/debug/ripkit" "$work/$name"
ln -sf "$target/debug/ripkit" "$CARGO_TARGET_DIR/debug/$name"
# The listing below tells what failed.
(cd "$suite" && CARGO_BIN_EXE_fd="$work/fd" RUST_BACKTRACE=0 "$tests" >"$work/out" 2>&1) || true
grep '^test result' "$work/out"
diff <(sed -n 's/^test \(.*\) \.\.\. FAILED$/\1/p' "$work/out" | sort) \
    <(sed '/^#/d; s/ .*//' "tests/${name}_suite.txt" | sort)
