#!/usr/bin/env bash
# Makes the root file system of the container image as the Dockerfile does, and runs the program in it
# with the user, the environment and the entry point that the Dockerfile names. No daemon is needed, but
# root is.
set -euo pipefail
cd "$(dirname "$0")/../.."

fail() {
    printf 'image: %s\n' "$*" >&2
    exit 1
}

skip() {
    case "${CI:-false}" in '' | false) ;; *) fail "$*, and CI is set" ;; esac
    printf 'SKIPPED: the image was not tried: %s\n' "$*" >&2
    exit 0
}

[ "$(id -u)" = 0 ] || skip 'chroot needs root'
chroot="$(PATH="$PATH:/usr/sbin:/sbin" command -v chroot)" || skip 'chroot is not installed'
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

# What docker copies is enough to build.
mkdir "$scratch/source"
sed -n 's/^!//p' .dockerignore | xargs cp --parents -r -t "$scratch/source"
target_dir="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
(cd "$scratch/source" && . packaging/names.sh && cargo check --quiet --locked --bin ripkit \
    --target "$target" --target-dir "$target_dir") ||
    fail 'files of the build are missing in .dockerignore'

# The final stage: one copy of what the recipe makes, and how the program is started.
final="$(sed -n '/^FROM scratch$/,$p' Dockerfile)"
[ "$(grep -c '^COPY\|^ADD\|^RUN' <<<"$final")" = 1 ] || fail 'the image has more than one copy'
grep -qx 'COPY --from=build /image/ /' <<<"$final" || fail 'the image is not what the recipe makes'
grep -qx 'RUN packaging/image_root.sh /image' Dockerfile || fail 'the recipe is not run'
value() { sed -n "s/^$1 //p" <<<"$final"; }
user="$(value USER)"
[ "${user%%:*}" -gt 0 ] || fail "the user of the image is $user"
work="$(value WORKDIR)"
entry="$(value ENTRYPOINT)"
entry="${entry#\[\"}"
entry="${entry%\"\]}"

root="$scratch/root"
packaging/image_root.sh "$root"
mkdir -p "$root$work/src"
printf 'fn main() {}\n// TODO one\n' >"$root$work/src/main.rs"
chmod -R u=rwX,go=rX "$scratch" "$root"

# Runs the program as `docker run --user USER -v "$PWD:/work" ripkit ARGUMENTS` would.
says() {
    local wanted="$1" user="$2" answer
    shift 2
    answer="$(env -i "$(value ENV)" "$chroot" --userspec="$user" --groups='' "$root" "$entry" "$@" \
        2>&1)" || true
    [[ "$answer" = *"$wanted"* ]] || fail "$*: no '$wanted' in: $answer"
    printf '   docker run ripkit %s\n' "$*"
}

says 'src/main.rs:2:// TODO one' "$user" search -n TODO </dev/null
says '+// TODO two' 0:0 edit src/main.rs --old-text one --new-text two </dev/null
says 'cannot write src/main.rs: Permission denied' "$user" edit src/main.rs --old-text two --new-text one </dev/null
# The end of its input ends the server, so it gets time to answer before.
slowly() { cat "$1" && sleep 2; }

cat >"$scratch/messages" <<'END'
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":{"pattern":"TODO"}}}
END
says '"content":[{"type":"text","text":"src/main.rs\n2:// TODO two"}]' "$user" mcp < <(slowly "$scratch/messages")

printf '   %s KiB in all\n' "$(du -sk --apparent-size --exclude="$root$work" "$root" | cut -f 1)"
