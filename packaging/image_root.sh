#!/usr/bin/env bash
# Makes the files of the container image in a directory: the program and its licences.
#
#   packaging/image_root.sh DIRECTORY
set -euo pipefail
root="$(realpath -m "$1")"
cd "$(dirname "$0")/.."
. packaging/names.sh
packaging/program.sh >/dev/null
mkdir -p "$root/licenses"
cp "$program" "$root/ripkit"
cp LICENSE-APACHE LICENSE-MIT "$root/licenses"
packaging/licences.sh >"$root/licenses/LICENSES-OF-CRATES.txt"
# Whatever the umask is, the user of the image must be able to read and run it.
chmod -R u=rwX,go=rX "$root"
