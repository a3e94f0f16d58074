"""The workspace and the tools over it."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, Optional, Union

from ._native import Answer, CancelToken, NativeToolkit
from ._tools import Tool

Format = Literal["mcp", "anthropic", "openai", "openai-strict", "gemini"]
"""The protocol or provider for which tools are described."""

Path = Union[str, "os.PathLike[str]"]

Progress = Callable[[int, int], object]
"""Takes the number of files scanned and of results found so far."""


class Workspace:
    """A directory that tools may touch, and the rules for access to it."""

    def __init__(
        self,
        root: Path,
        *,
        read_only: bool = False,
        relaxed: bool = False,
        deny: Sequence[str] = (),
        deny_hard_links: bool = False,
        no_outer_ignores: bool = False,
    ) -> None:
        """Describes the access to a directory; `Toolkit` opens it.

        root: the directory.
        read_only: leaves out the tools that change files.
        relaxed: allows paths outside the root.
        deny: globs of paths that are denied, in the syntax of `.gitignore`.
        deny_hard_links: denies files with several names.
        no_outer_ignores: ignores the ignore files above the root.
        """
        self.root = os.fspath(root)
        if isinstance(deny, str):
            raise TypeError("deny is a list of globs")
        self._options: dict[str, Any] = {
            "read_only": read_only,
            "relaxed": relaxed,
            "deny": list(deny),
            "deny_hard_links": deny_hard_links,
            "no_outer_ignores": no_outer_ignores,
        }

    def __repr__(self) -> str:
        return f"ripkit.Workspace({self.root!r})"


class Toolkit:
    """The tools over one workspace, to be called by name from any thread.

    By default they are those of `ripkit mcp`, except that nothing is read from the home directory:
    neither skills nor the global excludes of git.
    """

    def __init__(
        self,
        workspace: Union[Workspace, Path],
        *,
        own_tools: Sequence[Tool] = (),
        tools: Optional[Sequence[str]] = None,
        skills: Optional[Sequence[Path]] = None,
        index: Literal["watched", "exact", "off"] = "watched",
        index_directory: Optional[Path] = None,
        text_style: Literal["compact", "seed"] = "compact",
        no_change_log: bool = False,
        no_overwrite_guard: bool = False,
        all: bool = False,
        threads: Optional[int] = None,
        limits: Optional[Mapping[str, int]] = None,
        allow_commands: bool = False,
        commands: Optional[Mapping[str, Any]] = None,
    ) -> None:
        """Opens the tools.

        workspace: a `Workspace`, or its root.
        own_tools: tools that are Python functions; one of the same name replaces that of ripkit.
        tools: the names of the tools of ripkit that are offered. Default: all.
        skills: directories of skills, relative to the root or absolute. Default: `.claude/skills` and
            `.agents/skills` of the root.
        index: how what was read is remembered from call to call: `watched` (the system reports
            changes), `exact` (every call checks the files), or `off`. Answers are the same.
        index_directory: a directory outside the root in which the index is kept too; see `close`.
        text_style: `compact` in few tokens, `seed` with the path on every line.
        no_change_log: does without the log of changes, and the tools that list and undo them.
        no_overwrite_guard: allows to overwrite files that the model has not read.
        all: lifts the caps on results, text and lines.
        threads: threads of a search or listing, 0 for that of the caller only.
        limits: of every call: `results`, `text_bytes`, `line_bytes`, `time_ms`, `pattern_bytes`,
            `multiline_bytes`, `file_bytes`, `page_lines`.
        allow_commands: offers the tool that runs commands, which may do all that this process may.
        commands: how they run: `environment`, `shell`, `max_time_ms`, `output_bytes`,
            `keep_background`.

        Raises `Error` for a root that cannot be opened, or an option that does not fit.
        """
        # A text is a sequence too, of its letters.
        if isinstance(tools, str):
            raise TypeError("tools is a list of names")
        if isinstance(skills, str):
            raise TypeError("skills is a list of directories")
        if not isinstance(workspace, Workspace):
            workspace = Workspace(workspace)
        options = {
            **workspace._options,
            "tools": None if tools is None else list(tools),
            "skills": None if skills is None else [os.fspath(path) for path in skills],
            "index": index,
            "index_directory": None if index_directory is None else os.fspath(index_directory),
            "text_style": text_style,
            "no_change_log": no_change_log,
            "no_overwrite_guard": no_overwrite_guard,
            "all": all,
            "threads": threads,
            "limits": dict(limits or {}),
            "allow_commands": allow_commands,
            "commands": dict(commands or {}),
        }
        native = NativeToolkit(workspace.root, json.dumps(options))
        for own in own_tools:
            native = native.with_tool(own.name, own._description, own._run)
        self._native = native

    def call(
        self,
        name: str,
        arguments: Union[Mapping[str, Any], str, None] = None,
        *,
        cancel: Optional[CancelToken] = None,
        progress: Optional[Progress] = None,
        timeout: Optional[float] = None,
        id: Optional[str] = None,
    ) -> Answer:
        """Calls a tool by any of its names, and waits for the answer, also that of a failure.

        arguments: as a mapping or as JSON, as providers deliver them.
        cancel: stops the call when it is cancelled.
        progress: called with the numbers of files and results so far, on any thread, at most ten times a
            second; reports of own tools come as they are made. An exception in it ends the call and is
            raised here.
        timeout: seconds after which the call stops.
        id: an id of the host, which `ToolCall.id` has.

        A call that is stopped returns what it has found, or the failure `CANCELLED` or `TIMEOUT`.
        """
        return self._native.call(name, _json(arguments), cancel, progress, timeout, id)

    async def acall(
        self,
        name: str,
        arguments: Union[Mapping[str, Any], str, None] = None,
        *,
        cancel: Optional[CancelToken] = None,
        progress: Optional[Progress] = None,
        timeout: Optional[float] = None,
        id: Optional[str] = None,
    ) -> Answer:
        """As `call`, on a thread of the event loop's executor.

        If the task is cancelled, so is the call. The task ends when the call has, which is soon, or at
        once if the call still waits for a thread. `progress` is called on the thread of the event loop, with
        the context variables of the task.
        """
        # They take longer to load than all the rest, and few hosts need them.
        import asyncio
        import contextvars
        import threading

        loop = asyncio.get_running_loop()
        context = contextvars.copy_context()
        token = CancelToken() if cancel is None else cancel.child()
        failures: list[BaseException] = []

        def report(files: int, results: int) -> None:
            try:
                # Reports that were under way when one failed are dropped.
                if progress is not None and not failures:
                    progress(files, results)
            except BaseException as failure:
                failures.append(failure)
                token.cancel()

        def forward(files: int, results: int) -> None:
            loop.call_soon_threadsafe(report, files, results, context=context)

        # Taken once, by the thread that begins the call or by the task that gives it up before.
        start = threading.Lock()

        def run(arguments: str) -> Answer:
            if not start.acquire(blocking=False):
                raise asyncio.CancelledError
            return self._native.call(
                name, arguments, token, None if progress is None else forward, timeout, id
            )

        future = loop.run_in_executor(None, run, _json(arguments))
        try:
            answer = await asyncio.shield(future)
        except asyncio.CancelledError:
            token.cancel()
            if start.acquire(blocking=False):
                future.cancel()
                raise
            await asyncio.wait([future])
            if not future.cancelled():
                # Otherwise the loop reports that nobody asked for it.
                future.exception()
            raise
        if failures:
            raise failures[0]
        return answer

    def specs(self, format: Format = "mcp") -> list[dict[str, Any]]:
        """The descriptions of all tools, for the `tools` of a request.

        format: `mcp`, `anthropic`, `openai`, `openai-strict` or `gemini`.
        """
        specs: list[dict[str, Any]] = json.loads(self._native.specs(format))
        return specs

    def names(self) -> list[str]:
        """The names of the tools, in a fixed order."""
        return self._native.names()

    def with_tools(self, *own_tools: Tool) -> "Toolkit":
        """The same tools, over the same workspace, and these."""
        other = object.__new__(type(self))
        other._native = self._native
        for own in own_tools:
            other._native = other._native.with_tool(own.name, own._description, own._run)
        return other

    def skills_prompt(self) -> str:
        """The list of the skills for a system prompt; empty if there are none."""
        return self._native.skills_prompt()

    @property
    def root(self) -> str:
        """The root of the workspace, without links."""
        return os.fspath(self._native.root())

    def close(self) -> None:
        """Stores the index in `index_directory`, if it has learned enough; else does nothing."""
        self._native.save_index()

    def __enter__(self) -> "Toolkit":
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<ripkit.Toolkit over {self.root!r}>"


def _json(arguments: Union[Mapping[str, Any], str, None]) -> str:
    if arguments is None:
        return ""
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments if isinstance(arguments, dict) else dict(arguments))
