#!/usr/bin/env bash
# Packs the program with its licences, manual pages and completions, and prints the path of the archive:
# target/packages/ripkit-VERSION-TARGET.tar.gz. Two archives of one commit are the same.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/names.sh
packaging/program.sh >/dev/null

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
content="$scratch/$name"
mkdir -p "$content/man" "$content/completions" "$scratch/empty" "$out"
cp "$program" LICENSE-APACHE LICENSE-MIT "$content"
copy_pages "$content" README.md CHANGELOG.md
packaging/licences.sh >"$content/LICENSES-OF-CRATES.txt"

# With an empty home and root: completions contain the names of the skills that there are.
run() { env -i "$program" --root "$scratch/empty" "$@"; }
run man >"$content/man/ripkit.1"
while read -r command; do
    run man "$command" >"$content/man/ripkit-$command.1"
done < <(sed -n 's/\\-/-/g; s/^ripkit-\(.*\)(1)$/\1/p' "$content/man/ripkit.1" | grep -vx help)
run completions bash >"$content/completions/ripkit.bash"
run completions zsh >"$content/completions/_ripkit"
run completions fish >"$content/completions/ripkit.fish"
run completions elvish >"$content/completions/ripkit.elv"
run completions powershell >"$content/completions/_ripkit.ps1"

time="@$(commit_time)"
tar --create --directory "$scratch" --format=ustar --sort=name --mtime="$time" \
    --owner=0 --group=0 --numeric-owner --mode='u=rwX,go=rX' "$name" |
    gzip --no-name -9 >"$out/$name.tar.gz"
write_checksum "$out/$name.tar.gz"
printf '%s\n' "$out/$name.tar.gz"
