"""An agent of the OpenAI Agents SDK with the tools of ripkit. The model is made up: it searches, and
reports.

    python openai_agent.py [DIRECTORY]

Packages: the wheel of ripkit with the extra `openai-agents`.
"""

import asyncio
import json
import sys

import ripkit
from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from ripkit.openai_agents import tools_of


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
