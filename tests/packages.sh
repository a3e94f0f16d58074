#!/usr/bin/env bash
# Makes every package and tries it: the descriptions by the linters of those who read them, the archive in
# a Debian without Rust, the image's root file system, the bundle as a client starts it, and the formula.
set -euo pipefail
cd "$(dirname "$0")/.."

tests/packages/archive.sh
tests/packages/image.sh
bundle="$(packaging/bundle.sh)"
python3 tests/packages/bundle.py "$bundle"
formula="$(packaging/formula.sh)"
archive="$(packaging/archive.sh)"
if command -v ruby >/dev/null; then
    ruby tests/packages/formula.rb "$formula" "$archive"
else
    printf 'SKIPPED: the formula was not tried: ruby is not installed\n' >&2
    case "${CI:-false}" in '' | false) ;; *) exit 1 ;; esac
fi
# Last, because it checks what was made.
tests/packages/lint.sh
