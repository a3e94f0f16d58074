#!/usr/bin/env bash
# Makes a new crate as the README says: with its command for the dependency and its first program, which
# must compile as pasted and print the tools and a match.
set -euo pipefail
cd "$(dirname "$0")/.."
repository=$PWD
export CARGO_TARGET_DIR="$(realpath -m "${CARGO_TARGET_DIR:-target}/readme")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

add=$(grep -m 1 '^cargo add ripkit ' README.md)
cargo new --quiet --vcs none "$work/host"
cd "$work/host"
# The versions of our lock file, which are downloaded already.
cp "$repository/Cargo.lock" .
eval "${add/path\/to\/ripkit/\"\$repository\"}" --quiet
awk '/^```rust$/ { on = 1; next } /^```$/ { if (on) exit } on' "$repository/README.md" >src/main.rs
printed=$(cargo run --quiet)
printf '%s\n' "$printed"
case $printed in
search,*'src/main.rs:3:fn main()'*) printf 'the README: passed\n' ;;
*) exit 1 ;;
esac
