#!/usr/bin/env bash
# Installs the npm package in a Debian that has Node and no Rust, and does the main job there in two
# commands: with the program, and in JavaScript.
#
#   tests/packages/npm.sh [PROCESSOR]
#
# PROCESSOR is as `uname -m` says it, by default that of this machine; another one is emulated.
set -euo pipefail
cd "$(dirname "$0")/../.."
export RIPKIT_ARCH="${1:-$(uname -m)}"
out="$(realpath "${CARGO_TARGET_DIR:-target}/npm")"
case "$RIPKIT_ARCH" in x86_64) system=linux-x64-gnu ;; *) system=linux-arm64-gnu ;; esac
packages=("$out"/ripkit-[0-9]*.tgz "$out"/ripkit-"$system"-[0-9]*.tgz)
for package in "${packages[@]}"; do
    printf 'npm: %s has %s bytes\n' "${package##*/}" "$(stat -c %s "$package")"
    for licence in LICENSE-MIT LICENSE-APACHE; do
        tar -xzOf "$package" "package/$licence" | cmp - "$licence"
    done
done

status=0
tests/packages/debian.sh node "${packages[@]}" -- '
if command -v cargo || command -v rustc || command -v cc; then exit 1; fi
mkdir project && cd project
printf "# TODO: write\n" >notes.md
printf "node_modules\n" >.gitignore

# Packages for other systems are not in the registry yet, and there is no network.
npm install --no-audit --no-fund --fetch-retries=0 ../ripkit-*.tgz
npx ripkit search -n TODO >found

grep -qx "notes.md:1:# TODO: write" found
node --input-type=module -e "
    import { Toolkit } from \"ripkit\";
    console.log((await new Toolkit().call(\"search\", { pattern: \"TODO\" })).text);
" >found
printf "notes.md\n1:# TODO: write\nnot searched: 1 ignored directory\n" | diff - found

# A client of the server, whose input ends when it had time to answer.
cat >messages <<END
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"0"}}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":{"pattern":"TODO"}}}
END
(cat messages && sleep 2) | npx ripkit mcp --root . >found
grep -q "# TODO: write" found
' || status=$?
# There may be no way to make a Debian here; debian.sh said so.
[ "$status" = 77 ] && exit 0
[ "$status" = 0 ] && printf 'npm: installs and searches in a Debian without Rust\n'
exit "$status"
