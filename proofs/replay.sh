#!/usr/bin/env bash
# Replays commits of the given repositories; without any, of public ones, which it clones below target.
#
#     proofs/replay.sh [OPTION...] [REPOSITORY...]
#
# With --rivals and npm it installs the tool `edit` of pi there too, and replays with it.
set -euo pipefail
here="$(dirname "$0")"
directory="$(realpath -m "${CARGO_TARGET_DIR:-$here/../target}/replay")"
mkdir -p "$directory"

public=(
    BurntSushi/ripgrep casey/just colinhacks/zod expressjs/express gin-gonic/gin
    notepad-plus-plus/notepad-plus-plus pallets/flask prometheus-community/helm-charts psf/requests
    redis/hiredis ruanyf/weekly spf13/cobra tmux/tmux vuejs/vue
)

has_repository=false
words=("$@")
for word in "$@"; do
    [ ! -d "$word" ] || has_repository=true
    if [ "$word" = --rivals ] && command -v npm >/dev/null; then
        npm install --silent --no-fund --no-audit --prefix "$directory/pi" \
            @mariozechner/pi-coding-agent
        words+=(--pi "$directory/pi")
    fi
done
if ! $has_repository && [[ " $* " != *' --catalogue '* ]]; then
    for name in "${public[@]}"; do
        clone="$directory/${name/\//+}"
        [ -d "$clone" ] ||
            git clone --quiet --bare --single-branch --no-tags "https://github.com/$name" "$clone"
        words+=("$clone")
    done
fi
cargo run --release --manifest-path "$here/Cargo.toml" --bin replay -- "${words[@]}"
