#!/usr/bin/env bash
# Writes the Homebrew formula for the archives in a directory, by default target/packages, with their
# checksums. Prints its path: ripkit.rb in that directory.
#
#   packaging/formula.sh [DIRECTORY]
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/names.sh
directory="$(realpath "${1:-$out}")"

# The part for one processor, as Homebrew calls it, if there is an archive for it.
source_of() {
    local archive="ripkit-$version-$2-unknown-linux-musl.tar.gz" digest
    [ -f "$directory/$archive.sha256" ] || return 0
    read -r digest _ <"$directory/$archive.sha256"
    printf '    on_%s do\n      url "%s/releases/download/v%s/%s"\n      sha256 "%s"\n    end\n' \
        "$1" "$repository" "$version" "$archive" "$digest"
}

sources="$(source_of intel x86_64; source_of arm aarch64)"
[ -n "$sources" ] || { printf 'formula: no archive in %s\n' "$directory" >&2; exit 1; }
while IFS= read -r line; do
    case "$line" in
        *'# SOURCES') printf '%s\n' "$sources" ;;
        *) printf '%s\n' "${line//VERSION/$version}" ;;
    esac
done <packaging/ripkit.rb.in >"$directory/ripkit.rb"
printf '%s\n' "$directory/ripkit.rb"
