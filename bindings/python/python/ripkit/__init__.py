"""File tools for LLM agents, in process: search, list, find, read, write, edit and skills.

    >>> import ripkit
    >>> tools = ripkit.Toolkit(ripkit.Workspace(".", read_only=True))
    >>> answer = tools.call("search", {"pattern": "def main"})
    >>> print(answer.text)  # doctest: +SKIP

Nothing outside the root of a workspace is touched, and no program is started unless the host allows
commands. Calls block and release the interpreter; `Toolkit.acall` is for asyncio.
"""

from ._answer import Answer, Image
from ._errors import Error
from ._native import VERSION as __version__
from ._native import CancelToken, ToolCall
from ._toolkit import Format, Toolkit, Workspace
from ._tools import Tool, ToolResult, tool

__all__ = [
    "Answer",
    "CancelToken",
    "Error",
    "Format",
    "Image",
    "Tool",
    "ToolCall",
    "ToolResult",
    "Toolkit",
    "Workspace",
    "__version__",
    "tool",
]
