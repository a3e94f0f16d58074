#!/usr/bin/env bash
# Installs the wheel that `build.sh` made with the extra `ray`, and tests `ripkit.ray` on a cluster of three
# nodes on this machine: its types, its tests, and the example.
set -euo pipefail
cd "$(dirname "$0")"
wheel="$(realpath ../../target/wheel/*.whl)"
environment="$(realpath -m ../../target/wheel/ray)"
tools="$(../../tests/tools.sh python/ray ray==2.60.0 fastmcp==4.2.3 mypy==2.4.1)"

rm -rf "$environment"
python3 -m venv --without-pip "$environment"
"$tools/bin/pip" --quiet --disable-pip-version-check --python "$environment/bin/python" \
    install --no-deps --no-index "$wheel"
# Ray starts its workers with this Python and this path.
export PATH="$environment/bin:$PATH" PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH="$(echo "$tools"/lib/python3*/site-packages)"
# All nodes are processes of this machine and this user.
export RAY_AUTH_MODE=disabled RAY_USAGE_STATS_ENABLED=0 NO_PROXY=127.0.0.1 no_proxy=127.0.0.1

MYPYPATH=python python -m mypy --strict --follow-imports=silent python/ripkit/ray tests/ray
python -m unittest discover --start-directory tests/ray
example="$(mktemp -d)"
trap 'rm -rf "$example"' EXIT
mkdir "$example/one" "$example/two"
printf '# TODO: one\n' >"$example/one/a.py"
printf '# TODO: two\n' >"$example/two/b.py"
python ../../examples/python/cluster_agent.py "$example/*" | tee "$example/out"
grep -qx '1:# TODO: one' "$example/out"
grep -qx '1:# TODO: two' "$example/out"
