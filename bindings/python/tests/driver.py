"""Makes the calls of `bindings/cases.py`, which explains the lines."""

import json
import sys
from typing import Any

import ripkit

OF_WORKSPACE = ["no_outer_ignores"]


def opened(root: str, options: dict[str, Any]) -> ripkit.Toolkit:
    workspace = ripkit.Workspace(root, **{name: options.pop(name) for name in OF_WORKSPACE})
    return ripkit.Toolkit(workspace, **options)


def shared(answer: ripkit.Answer) -> dict[str, Any]:
    """The answer in the form that is common to all languages."""
    return {
        "text": answer.text,
        "details": answer.data,
        "is_error": answer.is_error,
        "code": answer.code,
        "notes": answer.notes,
    }


def main() -> None:
    tools = None
    for line in sys.stdin:
        what, first, second = line.rstrip("\n").split("\t")
        answer = None
        try:
            if what == "open":
                tools = opened(first, json.loads(second))
            elif tools is not None:
                answer = shared(tools.call(first, second))
        except ripkit.Error as error:
            answer = {"text": error.message, "code": error.code}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
