#!/usr/bin/env bash
# Prints the directory of tools from their registries: a Python environment, and in `npm` packages for
# Node. It can be cached, and is made once for each set of packages, Python and directory. Versions are
# exact, so that a new machine gets what others have.
#
#   tests/tools.sh NAME [PYTHON_PACKAGE...] [-- NPM_PACKAGE...]
#
# If one of the Python packages contains Node, that one installs the npm packages: some need a newer Node
# than many systems have.
set -euo pipefail
name="${1:?a name}"
directory="${RIPKIT_CI_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/ripkit-ci}/$name"
shift
wanted="$* $(python3 -V) $directory"

fail() {
    printf '%s: %s\n' "$name" "$*" >&2
    exit 1
}

if [ "$(cat "$directory/installed" 2>/dev/null)" != "$wanted" ]; then
    printf '%s: fetching %s\n' "$name" "$*" >&2
    rm -rf "$directory"
    mkdir -p "$directory"
    python=()
    while (($#)) && [ "$1" != -- ]; do
        python+=("$1")
        shift
    done
    if ((${#python[@]})); then
        python3 -m venv "$directory" >&2 ||
            fail 'python3 cannot make a venv: install it (on Debian: python3-venv)'
        "$directory/bin/pip" --quiet --disable-pip-version-check install "${python[@]}" >&2 ||
            fail "pip could not install ${python[*]}"
    fi
    if (($#)); then
        shift
        PATH="$directory/bin:$PATH" npm install --prefix "$directory/npm" --silent --no-audit \
            --no-fund --ignore-scripts "$@" >&2 || fail "npm could not install $*"
    fi
    printf '%s' "$wanted" >"$directory/installed"
fi
printf '%s\n' "$directory"
