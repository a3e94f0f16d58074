"""The actor that has the tools over one root, and the task that finds the roots of a node."""

import asyncio
import glob
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Optional, TypeVar

import ripkit

Result = TypeVar("Result")

TOOLS = ("search", "list_files", "find_files", "read_file")
"""The tools of a cluster, which change nothing."""


class Recorded(NamedTuple):
    """What a part has found."""

    record: str
    """What the merged answer is made of."""
    files: int
    """How many files were looked at."""
    counted: int
    """How many results were found or counted."""
    failure: Optional[ripkit.Answer]
    """The answer, if it is a failure."""


class Part:
    """The tools over one root, with its index. Each call is a task, which Ray can cancel."""

    def __init__(
        self, root: str, rules: Mapping[str, Any], options: Mapping[str, Any]
    ) -> None:
        above, name = os.path.split(root)
        # Paths begin with the name of the root, and its neighbours do not exist for the tools.
        only = ["/*", "!/" + re.sub(r"([\\*?\[\]{}!# ])", r"\\\1", name)]
        deny = [*rules.get("deny", ()), *only]
        workspace = ripkit.Workspace(above, read_only=True, **{**rules, "deny": deny})
        self._tools = ripkit.Toolkit(workspace, tools=TOOLS, skills=(), **options)

    async def ready(self) -> int:
        """The id of the process, when the root is open."""
        return os.getpid()

    async def record(
        self, name: str, arguments: str, parts: Sequence[str], seconds: float
    ) -> Recorded:
        """What a call over several roots finds in this one."""

        def call(token: ripkit.CancelToken) -> Recorded:
            native = self._tools._native
            answer, record = native.record(name, arguments, list(parts), token, seconds)
            if answer.is_error:
                return Recorded(record, 0, 0, answer)
            data = answer.data
            total = data.get("total") or data.get("matches", 0)
            if isinstance(total, dict):
                total = total.get("matches") or total["files"]
            return Recorded(record, data["receipt"]["files"], total, None)

        return await _cancellable(call)

    async def call(self, name: str, arguments: str, seconds: float) -> ripkit.Answer:
        """The answer of a call over this root alone."""
        return await _cancellable(
            lambda token: self._tools.call(name, arguments, cancel=token, timeout=seconds)
        )


async def _cancellable(call: Callable[[ripkit.CancelToken], Result]) -> Result:
    """Makes a call on another thread, and stops it when Ray cancels the task."""
    token = ripkit.CancelToken()
    running = asyncio.get_running_loop().run_in_executor(None, call, token)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        token.cancel()
        raise


def expand(patterns: Sequence[str]) -> list[str]:
    """The directories of this node that match, without links."""
    found = {os.path.realpath(path) for pattern in patterns for path in glob.glob(pattern)}
    return sorted(path for path in found if os.path.isdir(path))
