"""The tools of a toolkit for the OpenAI Agents SDK: `pip install 'ripkit[openai-agents]'`.

    from ripkit.openai_agents import tools_of

    agent = Agent("Reader", tools=tools_of(toolkit), instructions=toolkit.skills_prompt() or None)
"""

from typing import Any, Optional

from agents import FunctionTool, ToolOutputImage, ToolOutputText
from agents.tool_context import ToolContext

from ._native import CancelToken
from ._toolkit import Progress, Toolkit

__all__ = ["tools_of"]


def tools_of(
    toolkit: Toolkit,
    *,
    cancel: Optional[CancelToken] = None,
    progress: Optional[Progress] = None,
    timeout: Optional[float] = None,
) -> list[FunctionTool]:
    """The tools, for `Agent(tools=...)`. Their arguments are enforced by the provider (strict mode), except
    those of own tools whose schema it cannot enforce.

    A failure is a text too, which the model reads. `ToolCall.id` is the id of the model's call. A run that is
    cancelled stops its calls.

    cancel, progress, timeout: as of `Toolkit.acall`, for every call.
    """

    def adapted(spec: dict[str, Any]) -> FunctionTool:
        async def run(context: ToolContext[Any], arguments: str) -> Any:
            answer = await toolkit.acall(
                spec["name"],
                arguments,
                cancel=cancel,
                progress=progress,
                timeout=timeout,
                id=context.tool_call_id,
            )
            urls = [f"data:{image.mime_type};base64,{image.base64}" for image in answer.images]
            images = [ToolOutputImage(image_url=url) for url in urls]
            return [ToolOutputText(text=answer.text), *images] if images else answer.text

        return FunctionTool(
            name=spec["name"],
            description=spec["description"],
            params_json_schema=spec["parameters"],
            on_invoke_tool=run,
            strict_json_schema=spec.get("strict", False),
        )

    return [adapted(spec["function"]) for spec in toolkit.specs("openai-strict")]
