"""The tools of a toolkit for langchain and langgraph: `pip install 'ripkit[langchain]'`.

    from ripkit.langchain import tools_of

    agent = create_agent(model, tools=tools_of(toolkit), system_prompt=toolkit.skills_prompt() or None)
"""

from typing import Any, Optional, Union

from langchain_core.tools import BaseTool, StructuredTool, ToolException

from ._answer import Answer
from ._native import CancelToken
from ._toolkit import Progress, Toolkit

__all__ = ["tools_of"]

Content = Union[str, list[dict[str, str]]]


def tools_of(
    toolkit: Toolkit,
    *,
    cancel: Optional[CancelToken] = None,
    progress: Optional[Progress] = None,
    timeout: Optional[float] = None,
) -> list[BaseTool]:
    """The tools, for `create_agent(tools=...)` or `bind_tools`, with and without `async`.

    A failure is a message with the status `error`, whose text the model reads. The data of an answer is the
    `artifact` of its message. A task that is cancelled stops its calls.

    cancel, progress, timeout: as of `Toolkit.acall`, for every call.
    """

    def adapted(spec: dict[str, Any]) -> BaseTool:
        def run(**arguments: Any) -> tuple[Content, Any]:
            return _result(
                toolkit.call(spec["name"], arguments, cancel=cancel, progress=progress, timeout=timeout)
            )

        async def run_async(**arguments: Any) -> tuple[Content, Any]:
            return _result(
                await toolkit.acall(
                    spec["name"], arguments, cancel=cancel, progress=progress, timeout=timeout
                )
            )

        return StructuredTool(
            name=spec["name"],
            description=spec["description"],
            args_schema=spec["inputSchema"],
            func=run,
            coroutine=run_async,
            response_format="content_and_artifact",
            handle_tool_error=True,
        )

    return [adapted(spec) for spec in toolkit.specs()]


def _result(answer: Answer) -> tuple[Content, Any]:
    if answer.is_error:
        raise ToolException(answer.text)
    images = [
        {"type": "image", "base64": image.base64, "mime_type": image.mime_type} for image in answer.images
    ]
    return ([{"type": "text", "text": answer.text}, *images] if images else answer.text), answer.data
