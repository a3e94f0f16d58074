#!/usr/bin/env bash
# Installs the wheel that `build.sh` made, and tests the installed one: its types, its tests,
# `fixtures/cases`, the guide, and the adapters and examples for agent frameworks.
set -euo pipefail
cd "$(dirname "$0")"
# Of several, the one for this machine and its C library.
wheel="$(realpath ../../target/wheel/ripkit-*manylinux*_"$(uname -m)".whl)"
environment="$(realpath -m ../../target/wheel/venv)"
# What the tests need besides the wheel. With exact versions pip does not search for others that fit.
tools="$(../../tests/tools.sh python/test mypy==2.4.1 pyright==1.1.414 'pydantic-ai-slim[anthropic,google,openai]==2.68.0' \
    openai-agents==0.24.0 langchain==1.4.7 langchain-anthropic==1.7.7 langchain-openai==1.7.3 \
    langchain-google-genai==4.4.2 google-genai==2.34.0 anthropic==2.12.0 openai==3.54.0 mcp==2.3.0 fastmcp==4.2.3)"

rm -rf "$environment"
python3 -m venv --without-pip "$environment"
"$tools/bin/pip" --quiet --disable-pip-version-check --python "$environment/bin/python" \
    install --no-deps --no-index "$wheel"
export PATH="$environment/bin:$PATH" PYTHONDONTWRITEBYTECODE=1
# The servers of the tests are on this machine, and no proxy reaches them.
export NO_PROXY=127.0.0.1 no_proxy=127.0.0.1
packages="$(echo "$tools"/lib/python3*/site-packages)"

"$tools/bin/mypy" --python-executable "$environment/bin/python" --strict tests/test_toolkit.py
MYPYPATH=python "$tools/bin/mypy" --strict --exclude python/ripkit/ray/ python/ripkit tests/test_{adapters,pydantic}.py
"$tools/bin/pyright" --pythonpath "$environment/bin/python" --project tests
PYTHONPATH="$packages" python -m mypy.stubtest ripkit._native
python -W error -m unittest discover --start-directory tests --pattern 'test_toolkit.py'
PYTHONPATH="$packages" python -m unittest discover --start-directory tests --pattern 'test_[!t]*.py'
../cases.py python tests/driver.py
python tests/start.py
