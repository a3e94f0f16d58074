"""The tools of a toolkit for a server of FastMCP: `pip install 'ripkit[fastmcp]'`.

    from ripkit.fastmcp import tools_of

    server = FastMCP("files", tools=tools_of(toolkit))

A server of these tools alone is `ripkit mcp`, which needs no Python.
"""

import asyncio
from typing import Any, Optional

from fastmcp.server.dependencies import get_context
from fastmcp.tools.base import Tool, ToolResult
from mcp.types import ContentBlock, ImageContent, TextContent, ToolAnnotations
from pydantic import PrivateAttr

from ._native import CancelToken
from ._toolkit import Toolkit

__all__ = ["tools_of"]


def tools_of(
    toolkit: Toolkit, *, cancel: Optional[CancelToken] = None, timeout: Optional[float] = None
) -> list[Tool]:
    """The tools, for `FastMCP(tools=...)` or `add_tool`.

    A failure is a result with `isError`, whose text the model reads. Progress goes to the client that asks for
    it, and a client that cancels a request stops its call.

    cancel, timeout: as of `Toolkit.acall`, for every call.
    """
    return [_Adapted(toolkit, spec, cancel, timeout) for spec in toolkit.specs()]


class _Adapted(Tool):
    _toolkit: Toolkit = PrivateAttr()
    _cancel: Optional[CancelToken] = PrivateAttr()
    _seconds: Optional[float] = PrivateAttr()

    def __init__(
        self,
        toolkit: Toolkit,
        spec: dict[str, Any],
        cancel: Optional[CancelToken],
        seconds: Optional[float],
    ) -> None:
        super().__init__(
            name=spec["name"],
            title=spec.get("title"),
            description=spec["description"],
            parameters=spec["inputSchema"],
            annotations=ToolAnnotations(**spec["annotations"]),
        )
        self._toolkit, self._cancel, self._seconds = toolkit, cancel, seconds

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        context = get_context()
        reports: list[asyncio.Task[None]] = []

        def report(files: int, results: int) -> None:
            sent = context.report_progress(files, message=f"{files} files, {results} results")
            reports.append(asyncio.ensure_future(sent))

        answer = await self._toolkit.acall(
            self.name, arguments, cancel=self._cancel, progress=report, timeout=self._seconds
        )
        # A report that cannot be sent is no failure of the call.
        await asyncio.gather(*reports, return_exceptions=True)
        content: list[ContentBlock] = [TextContent(type="text", text=answer.text)]
        for image in answer.images:
            content.append(ImageContent(type="image", data=image.base64, mime_type=image.mime_type))
        return ToolResult(content=content, is_error=answer.is_error)
