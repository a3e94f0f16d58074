"""An agent of pydantic-ai with the tools of ripkit. The model is made up: it searches, and reports.

    python pydantic_ai_agent.py [DIRECTORY]

Packages: the wheel of ripkit with the extra `pydantic-ai`.
"""

import asyncio
import sys

import ripkit
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel
from ripkit.pydantic_ai import tools_of


def model(messages, info):
    """In the place of a model: calls a tool, then answers with its text."""
    parts = [part for message in messages for part in message.parts]
    results = [part.content for part in parts if isinstance(part, ToolReturnPart)]
    if not results:
        return ModelResponse([ToolCallPart("search", {"pattern": "TODO", "max_results": 3})])
    return ModelResponse([TextPart(f"Found:\n{results[-1]}")])


async def main() -> None:
    toolkit = ripkit.Toolkit(sys.argv[1] if len(sys.argv) > 1 else ".")
    instructions = toolkit.skills_prompt()
    agent = Agent(FunctionModel(model), tools=tools_of(toolkit), instructions=instructions or None)
    print((await agent.run("What is to be done?")).output)


if __name__ == "__main__":
    asyncio.run(main())
