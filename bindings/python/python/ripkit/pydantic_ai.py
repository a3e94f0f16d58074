"""The tools of a toolkit for pydantic-ai: `pip install 'ripkit[pydantic-ai]'`.

    from ripkit.pydantic_ai import tools_of

    agent = Agent(model, tools=tools_of(toolkit), instructions=toolkit.skills_prompt() or None)
"""

from typing import Any, Optional

from pydantic_ai import BinaryContent, RunContext, Tool, ToolFailed, ToolReturn

from ._native import CancelToken
from ._toolkit import Progress, Toolkit

__all__ = ["tools_of"]


def tools_of(
    toolkit: Toolkit,
    *,
    cancel: Optional[CancelToken] = None,
    progress: Optional[Progress] = None,
    timeout: Optional[float] = None,
) -> list[Tool[Any]]:
    """The tools, for `Agent(tools=...)` or a `FunctionToolset`.

    A failure is a failed result (`ToolFailed`), whose text the model reads, and costs no retry. The data of
    an answer is the `metadata` of its part, and `ToolCall.id` that of the model's call. A run that is
    cancelled stops its calls.

    cancel, progress, timeout: as of `Toolkit.acall`, for every call.
    """

    def adapted(spec: dict[str, Any]) -> Tool[Any]:
        async def run(context: RunContext[Any], **arguments: Any) -> ToolReturn[Any]:
            answer = await toolkit.acall(
                spec["name"],
                arguments,
                cancel=cancel,
                progress=progress,
                timeout=timeout,
                id=context.tool_call_id,
            )
            if answer.is_error:
                raise ToolFailed(answer.text)
            images = [BinaryContent(image.data, media_type=image.mime_type) for image in answer.images]
            return ToolReturn([answer.text, *images] if images else answer.text, metadata=answer.data)

        return Tool.from_schema(run, spec["name"], spec["description"], spec["inputSchema"], takes_ctx=True)

    return [adapted(spec) for spec in toolkit.specs()]
