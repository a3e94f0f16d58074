"""An agent of langchain with the tools of ripkit. The model is made up: it searches, and reports.

    python langchain_agent.py [DIRECTORY]

Packages: the wheel of ripkit with the extra `langchain`.
"""

import asyncio
import sys

import ripkit
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from ripkit.langchain import tools_of


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
