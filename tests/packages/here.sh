#!/usr/bin/env bash
# Makes the wheel, the npm packages and the archive for this system, copies them to a directory, installs
# each of them here, and searches a tree with it. For systems on which there is no Debian to try them in.
#
#   tests/packages/here.sh DIRECTORY
#
# Needs Rust, Python, Node, and the programs of GNU (coreutils, tar).
set -euo pipefail
directory="$(realpath -m "${1:?a directory}")"
cd "$(dirname "$0")/../.."
. packaging/names.sh
mkdir -p "$directory"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

fail() {
    printf 'here: %s\n' "$*" >&2
    exit 1
}

mkdir "$scratch/tree"
printf 'fn main() {}\n// TODO one\n' >"$scratch/tree/main.rs"

# Runs a command in the tree, which must find the line of it.
finds() {
    local found
    found="$(cd "$scratch/tree" && "$@" | tr -d '\r')" || fail "$*: status $?"
    case "$found" in
    *'2:// TODO one') printf '   %s\n' "${*##*/}" ;;
    *) fail "$*: found $found" ;;
    esac
}

wheel="$(bindings/python/build.sh)"
cp "$wheel" "$directory"
python3 -m venv "$scratch/venv"
bin="$scratch/venv/bin"
[ -d "$bin" ] || bin="$scratch/venv/Scripts"
"$bin/python" -m pip --quiet --disable-pip-version-check install --no-index "$wheel"
finds "$bin/ripkit" search -n TODO main.rs
finds "$bin/python" -c 'import ripkit; print(ripkit.Toolkit(".").call("search", {"pattern": "TODO"}))'

mapfile -t packages < <(bindings/node/build.sh)
cp "${packages[@]}" "$directory"
mkdir "$scratch/project"
(
    cd "$scratch/project"
    printf '{ "private": true }\n' >package.json
    npm install --silent --offline --no-audit --no-fund "${packages[@]}"
)
finds node "$scratch/project/node_modules/ripkit/bin/ripkit.js" search -n TODO main.rs
cat >"$scratch/project/search.mjs" <<'END'
import { Toolkit } from 'ripkit';
console.log((await new Toolkit('.').call('search', { pattern: 'TODO' })).text);
END
finds node "$scratch/project/search.mjs"

archive="$(packaging/archive.sh)"
cp "$archive" "$archive.sha256" "$directory"
tar -xzf "$archive" -C "$scratch"
finds "$scratch/$name/${program##*/}" search -n TODO main.rs
