#!/usr/bin/env bash
# Packs the program as a bundle for MCP clients, and prints its path:
# target/packages/ripkit-VERSION-TARGET.mcpb. server.json beside it is the entry for the MCP registry.
# Two bundles of one commit are the same.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/names.sh
packaging/program.sh >/dev/null

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/server" "$out"
cp packaging/manifest.json LICENSE-APACHE LICENSE-MIT "$scratch"
copy_pages "$scratch" README.md
cp "$program" "$scratch/server"
packaging/licences.sh >"$scratch/LICENSES-OF-CRATES.txt"
chmod -R u=rwX,go=rX "$scratch"

bundle="$out/$name.mcpb"
rm -f "$bundle"
time="@$(commit_time)"
(
    cd "$scratch"
    find . -type f -exec touch --date="$time" {} +
    # zip stores local times.
    find . -type f -printf '%P\n' | LC_ALL=C sort | TZ=UTC zip --quiet -X -9 "$bundle" -@
)
chmod 644 "$bundle"
write_checksum "$bundle"
# The registry names one bundle, for the most common processor.
if grep -q "/$name.mcpb\"" packaging/server.json; then
    read -r digest _ <"$bundle.sha256"
    sed "s|^\( *\)\"identifier\": .*|&\n\1\"fileSha256\": \"$digest\",|" \
        packaging/server.json >"$out/server.json"
fi
printf '%s\n' "$bundle"
