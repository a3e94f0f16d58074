#!/usr/bin/env bash
# Publishes the packages of a release in one registry, or tries it.
#
#   packaging/publish.sh REGISTRY DIRECTORY [--dry-run]
#
# REGISTRY is `crates`, `pypi` or `npm`; DIRECTORY has the wheels, the package of sources and the npm
# packages that were built and tested. What is published already is left out, so that a run that failed
# halfway can be repeated. The tokens are in CARGO_REGISTRY_TOKEN, TWINE_PASSWORD and NODE_AUTH_TOKEN.
set -euo pipefail
registry="${1:?a registry}"
directory="$(realpath "${2:?a directory}")"
dry="${3:-}"
cd "$(dirname "$0")/.."
. packaging/names.sh

case "$registry" in
crates)
    # In the order of their dependencies.
    cargo publish --workspace --locked ${dry:+--dry-run --allow-dirty}
    ;;
pypi)
    twine="$(tests/tools.sh publish twine==7.0.0)/bin/twine"
    "$twine" check --strict "$directory"/ripkit-*.whl "$directory/ripkit-$version.tar.gz"
    [ -n "$dry" ] || TWINE_USERNAME=__token__ "$twine" upload --non-interactive --skip-existing \
        "$directory"/ripkit-*.whl "$directory/ripkit-$version.tar.gz"
    ;;
npm)
    # The package for all systems last: from then on npm looks for the others.
    for package in "$directory"/ripkit-{darwin,linux,win32}-*.tgz "$directory/ripkit-$version.tgz"; do
        [ -f "$package" ] || continue
        name="$(tar -xzOf "$package" package/package.json | sed -n 's/^ *"name": "\(.*\)",$/\1/p')"
        ! npm view "$name@$version" version >/dev/null 2>&1 || continue
        npm publish ${dry:+--dry-run} --access public "$package"
    done
    ;;
*)
    printf 'publish: there is no registry %s\n' "$registry" >&2
    exit 1
    ;;
esac
