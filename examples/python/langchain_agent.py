"""An agent of langchain with the tools of ripkit. The model is made up: it searches, and reports.

    python langchain_agent.py [DIRECTORY]

Packages: the wheel of ripkit, and langchain.
"""

import asyncio
import sys

import ripkit
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, StructuredTool, ToolException


def tools_of(toolkit: ripkit.Toolkit) -> list[BaseTool]:
    """The tools for `create_agent(tools=...)`, with the data of an answer as the artifact."""

    def adapted(spec):
        def result(answer):
            if answer.is_error:
                # With `handle_tool_error` it is a message with the status `error`.
                raise ToolException(answer.text)
            images = [
                {"type": "image", "base64": image.base64, "mime_type": image.mime_type}
                for image in answer.images
            ]
            text = {"type": "text", "text": answer.text}
            return ([text, *images] if images else answer.text), answer.data

        async def run_async(**arguments):
            return result(await toolkit.acall(spec["name"], arguments))

        def run(**arguments):
            return result(toolkit.call(spec["name"], arguments))

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


class Model(BaseChatModel):
    """In the place of a model: calls a tool, then answers with its text."""

    @property
    def _llm_type(self) -> str:
        return "made up"

    def bind_tools(self, tools, **options):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **options):
        results = [message.text for message in messages if isinstance(message, ToolMessage)]
        if results:
            reply = AIMessage(f"Found:\n{results[-1]}")
        else:
            call = {"name": "search", "args": {"pattern": "TODO", "max_results": 3}, "id": "1"}
            reply = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=reply)])


async def main() -> None:
    toolkit = ripkit.Toolkit(sys.argv[1] if len(sys.argv) > 1 else ".")
    instructions = toolkit.skills_prompt()
    agent = create_agent(Model(), tools=tools_of(toolkit), system_prompt=instructions or None)
    state = await agent.ainvoke({"messages": [("user", "What is to be done?")]})
    print(state["messages"][-1].text)


if __name__ == "__main__":
    asyncio.run(main())
