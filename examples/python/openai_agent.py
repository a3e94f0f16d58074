"""An agent of the OpenAI Agents SDK with the tools of ripkit. The model is made up: it searches, and
reports.

    python openai_agent.py [DIRECTORY]

Packages: the wheel of ripkit, and openai-agents.
"""

import asyncio
import json
import sys

import ripkit
from agents import (
    Agent,
    FunctionTool,
    Model,
    ModelResponse,
    Runner,
    ToolOutputImage,
    ToolOutputText,
    Usage,
    set_tracing_disabled,
)
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)


def tools_of(toolkit: ripkit.Toolkit) -> list[FunctionTool]:
    """The tools for `Agent(tools=...)`, whose arguments the provider enforces (strict mode)."""

    def adapted(spec):
        async def run(context, arguments: str):
            # A failure is a text too, by which the model corrects itself.
            answer = await toolkit.acall(spec["name"], arguments)
            urls = [f"data:{image.mime_type};base64,{image.base64}" for image in answer.images]
            images = [ToolOutputImage(image_url=url) for url in urls]
            return [ToolOutputText(text=answer.text), *images] if images else answer.text

        return FunctionTool(
            name=spec["name"],
            description=spec["description"],
            params_json_schema=spec["parameters"],
            on_invoke_tool=run,
            strict_json_schema=True,
        )

    return [adapted(spec["function"]) for spec in toolkit.specs("openai-strict")]


class MadeUp(Model):
    """In the place of a model: calls a tool, then answers with its text."""

    async def get_response(self, system_instructions, input, *others, **options):
        items = input if isinstance(input, list) else []
        results = [item["output"] for item in items if item.get("type") == "function_call_output"]
        if results:
            text = ResponseOutputText(type="output_text", text=f"Found:\n{results[-1]}", annotations=[])
            output = ResponseOutputMessage(
                id="2", type="message", role="assistant", status="completed", content=[text]
            )
        else:
            arguments = json.dumps({"pattern": "TODO", "max_results": 3, "path": None})
            output = ResponseFunctionToolCall(
                type="function_call", call_id="1", name="search", arguments=arguments
            )
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *others, **options):
        raise NotImplementedError


async def main() -> None:
    set_tracing_disabled(True)
    toolkit = ripkit.Toolkit(sys.argv[1] if len(sys.argv) > 1 else ".")
    instructions = toolkit.skills_prompt()
    agent = Agent("Reader", instructions=instructions, model=MadeUp(), tools=tools_of(toolkit))
    print((await Runner.run(agent, "What is to be done?")).final_output)


if __name__ == "__main__":
    asyncio.run(main())
