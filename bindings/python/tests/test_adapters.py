"""The adapters for agent frameworks, each with the real framework and a made up model: answers, data, images,
failures, cancellation and progress."""

import asyncio
import json
import tempfile
import threading
import time
import unittest
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import ripkit

PATIENCE = 60.0
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000030000000208020000001216f14d0000001049"
    "44415478da63f8cfc000410c70160041d205fb6ff116c70000000049454e44ae426082"
)


class Adapter(unittest.TestCase):
    """A tree, its tools, and own tools that wait and report."""

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        root = Path(directory.name)
        (root / "a.txt").write_text("TODO: a thing\n")
        (root / "dot.png").write_bytes(PIXEL)
        self.began = threading.Event()
        self.stopped = threading.Event()
        own = [
            ripkit.Tool(self.wait, effect="read", takes_call=True),
            ripkit.Tool(self.report, effect="read", takes_call=True),
        ]
        self.toolkit = ripkit.Toolkit(root, own_tools=own)

    def wait(self, call: ripkit.ToolCall) -> str:
        self.began.set()
        deadline = time.monotonic() + PATIENCE
        while not call.is_stopped and time.monotonic() < deadline:
            time.sleep(0.005)
        self.stopped.set()
        return ""

    def report(self, call: ripkit.ToolCall) -> str:
        call.report(3, 2)
        return repr(call.id)

    def check_cancel(self, run: Callable[[], Awaitable[Any]]) -> None:
        """Cancelling the task of an agent that called `wait` stops the call."""

        async def cancelled() -> None:
            task = asyncio.ensure_future(run())
            while not self.began.is_set():
                self.assertFalse(task.done(), "the tool was not called")
                await asyncio.sleep(0.005)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

        asyncio.run(cancelled())
        self.assertTrue(self.stopped.wait(PATIENCE))


class PydanticAi(Adapter):
    async def run_agent(self, name: str, arguments: dict[str, Any], **options: Any) -> Any:
        """The part with the result of a tool that a model calls."""
        from pydantic_ai import Agent
        from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
        from pydantic_ai.models.function import AgentInfo, FunctionModel

        from ripkit.pydantic_ai import tools_of

        results: list[ToolReturnPart] = []

        def model(messages: list[Any], info: AgentInfo) -> ModelResponse:
            results.extend(
                part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)
            )
            call = ToolCallPart(name, arguments, tool_call_id="7")
            return ModelResponse([TextPart("done") if results else call])

        agent = Agent(FunctionModel(model), tools=tools_of(self.toolkit, **options))
        self.assertEqual((await agent.run("x")).output, "done")
        [result] = results
        return result

    def test_an_answer_has_its_text_and_data(self) -> None:
        part = asyncio.run(self.run_agent("search", {"pattern": "TODO"}))
        self.assertEqual((part.content, part.outcome), ("a.txt\n1:TODO: a thing", "success"))
        self.assertEqual(part.metadata["matches"], 1)

    def test_an_image_is_part_of_the_result(self) -> None:
        part = asyncio.run(self.run_agent("read_file", {"path": "dot.png"}))
        self.assertEqual(part.content[1].data, PIXEL)

    def test_a_failure_is_a_failed_result(self) -> None:
        part = asyncio.run(self.run_agent("read_file", {"path": "b.txt"}))
        self.assertEqual(part.outcome, "failed")
        self.assertIn("[FILE_NOT_FOUND]", part.content)

    def test_a_cancelled_run_stops_the_call(self) -> None:
        self.check_cancel(lambda: self.run_agent("wait", {}))

    def test_options_hold_for_every_call(self) -> None:
        seen: list[tuple[int, int]] = []
        part = asyncio.run(
            self.run_agent("report", {}, progress=lambda files, results: seen.append((files, results)))
        )
        self.assertEqual((part.content, seen), ("'7'", [(3, 2)]))
        token = ripkit.CancelToken()
        token.cancel()
        self.assertIn("[CANCELLED]", asyncio.run(self.run_agent("report", {}, cancel=token)).content)


class Langchain(Adapter):
    def agent(self, name: str, arguments: dict[str, Any], **options: Any) -> Any:
        from langchain.agents import create_agent
        from langchain_core.language_models import BaseChatModel
        from langchain_core.messages import AIMessage, ToolMessage
        from langchain_core.outputs import ChatGeneration, ChatResult

        from ripkit.langchain import tools_of

        class Model(BaseChatModel):
            @property
            def _llm_type(self) -> str:
                return "made up"

            def bind_tools(self, tools: Any, **options: Any) -> Any:
                return self

            def _generate(self, messages: Any, *others: Any, **options: Any) -> ChatResult:
                called = any(isinstance(message, ToolMessage) for message in messages)
                call = {"name": name, "args": arguments, "id": "7"}
                reply = AIMessage("done") if called else AIMessage("", tool_calls=[call])
                return ChatResult(generations=[ChatGeneration(message=reply)])

        return create_agent(Model(), tools=tools_of(self.toolkit, **options))

    async def run_agent(self, name: str, arguments: dict[str, Any], **options: Any) -> Any:
        state = await self.agent(name, arguments, **options).ainvoke({"messages": [("user", "x")]})
        return state["messages"][2]

    def test_an_answer_has_its_text_and_data(self) -> None:
        message = asyncio.run(self.run_agent("search", {"pattern": "TODO"}))
        self.assertEqual((message.content, message.status), ("a.txt\n1:TODO: a thing", "success"))
        self.assertEqual(message.artifact["matches"], 1)

    def test_it_works_without_async(self) -> None:
        state = self.agent("search", {"pattern": "TODO"}).invoke({"messages": [("user", "x")]})
        self.assertEqual(state["messages"][2].content, "a.txt\n1:TODO: a thing")

    def test_an_image_is_part_of_the_content(self) -> None:
        message = asyncio.run(self.run_agent("read_file", {"path": "dot.png"}))
        self.assertEqual(message.content[1]["mime_type"], "image/png")

    def test_a_failure_is_a_message_of_an_error(self) -> None:
        message = asyncio.run(self.run_agent("read_file", {"path": "b.txt"}))
        self.assertEqual(message.status, "error")
        self.assertIn("[FILE_NOT_FOUND]", message.content)

    def test_a_cancelled_run_stops_the_call(self) -> None:
        self.check_cancel(lambda: self.run_agent("wait", {}))

    def test_options_hold_for_every_call(self) -> None:
        seen: list[tuple[int, int]] = []
        asyncio.run(self.run_agent("report", {}, progress=lambda files, results: seen.append((files, results))))
        self.assertEqual(seen, [(3, 2)])
        message = asyncio.run(self.run_agent("wait", {}, timeout=0.05))
        self.assertTrue(message.status == "error" or message.content == "", message)


class OpenaiAgents(Adapter):
    async def run_agent(self, name: str, arguments: dict[str, Any], **options: Any) -> Any:
        """The output of a tool that a model calls."""
        import agents
        from openai.types.responses import (
            ResponseFunctionToolCall,
            ResponseOutputMessage,
            ResponseOutputText,
        )

        from ripkit.openai_agents import tools_of

        agents.set_tracing_disabled(True)
        outputs: list[Any] = []

        class Model(agents.Model):
            async def get_response(self, system_instructions: Any, input: Any, *others: Any, **more: Any) -> Any:
                items = input if isinstance(input, list) else []
                outputs.extend(item["output"] for item in items if item.get("type") == "function_call_output")
                output: Any = ResponseFunctionToolCall(
                    type="function_call", call_id="7", name=name, arguments=json.dumps(arguments)
                )
                if outputs:
                    text = ResponseOutputText(type="output_text", text="done", annotations=[])
                    output = ResponseOutputMessage(
                        id="2", type="message", role="assistant", status="completed", content=[text]
                    )
                return agents.ModelResponse(output=[output], usage=agents.Usage(), response_id=None)

            def stream_response(self, *others: Any, **options: Any) -> Any:
                raise NotImplementedError

        agent = agents.Agent("x", model=Model(), tools=list(tools_of(self.toolkit, **options)))
        self.assertEqual((await agents.Runner.run(agent, "x")).final_output, "done")
        [output] = outputs
        return output

    def test_an_answer_has_its_text(self) -> None:
        arguments = {"pattern": "TODO", "path": None}
        self.assertEqual(asyncio.run(self.run_agent("search", arguments)), "a.txt\n1:TODO: a thing")

    def test_an_image_is_part_of_the_output(self) -> None:
        output = asyncio.run(self.run_agent("read_file", {"path": "dot.png"}))
        self.assertTrue(output[1]["image_url"].startswith("data:image/png;base64,iVBOR"))

    def test_a_failure_is_a_text(self) -> None:
        self.assertIn("[FILE_NOT_FOUND]", asyncio.run(self.run_agent("read_file", {"path": "b.txt"})))

    def test_a_cancelled_run_stops_the_call(self) -> None:
        self.check_cancel(lambda: self.run_agent("wait", {}))

    def test_options_hold_for_every_call(self) -> None:
        seen: list[tuple[int, int]] = []
        output = asyncio.run(
            self.run_agent("report", {}, progress=lambda files, results: seen.append((files, results)))
        )
        self.assertEqual((output, seen), ("'7'", [(3, 2)]))

    def test_a_schema_that_strict_mode_cannot_express_is_sent_as_it_is(self) -> None:
        from ripkit.openai_agents import tools_of

        def own(more: dict[str, Any]) -> str:
            return ""

        tools = tools_of(self.toolkit.with_tools(ripkit.Tool(own)))
        strict = {tool.name: tool.strict_json_schema for tool in tools}
        self.assertEqual((strict["own"], strict["search"]), (False, True))


class FastMcp(Adapter):
    async def call(self, name: str, arguments: dict[str, Any], **options: Any) -> Any:
        from fastmcp import Client, FastMCP

        from ripkit.fastmcp import tools_of

        server = FastMCP("files", tools=tools_of(self.toolkit))
        async with Client(server) as client:
            return await client.call_tool(name, arguments, raise_on_error=False, **options)

    def test_an_answer_has_its_text(self) -> None:
        result = asyncio.run(self.call("search", {"pattern": "TODO"}))
        self.assertEqual((result.content[0].text, result.is_error), ("a.txt\n1:TODO: a thing", False))

    def test_an_image_is_part_of_the_content(self) -> None:
        result = asyncio.run(self.call("read_file", {"path": "dot.png"}))
        self.assertEqual(result.content[1].mime_type, "image/png")

    def test_a_failure_is_the_result_of_an_error(self) -> None:
        result = asyncio.run(self.call("read_file", {"path": "b.txt"}))
        self.assertTrue(result.is_error)
        self.assertIn("[FILE_NOT_FOUND]", result.content[0].text)

    def test_the_client_reads_the_same_descriptions(self) -> None:
        from fastmcp import Client, FastMCP

        from ripkit.fastmcp import tools_of

        async def listed() -> Any:
            async with Client(FastMCP("files", tools=tools_of(self.toolkit))) as client:
                return await client.list_tools()

        keys = ["name", "description", "inputSchema", "annotations"]
        found = [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in asyncio.run(listed())]
        wanted = [{key: spec[key] for key in keys} for spec in self.toolkit.specs()]
        self.assertEqual([{key: tool[key] for key in keys} for tool in found], wanted)

    def test_a_cancelled_request_stops_the_call(self) -> None:
        self.check_cancel(lambda: self.call("wait", {}))

    def test_progress_goes_to_the_client(self) -> None:
        seen: list[tuple[Any, ...]] = []

        async def progress(*values: Any) -> None:
            seen.append(values)

        asyncio.run(self.call("report", {}, progress_handler=progress))
        self.assertEqual(seen, [(3.0, None, "3 files, 2 results")])


if __name__ == "__main__":
    unittest.main()
