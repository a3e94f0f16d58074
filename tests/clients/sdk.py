"""The Python SDK: sessions with and without initialization, progress, and a cancelled search."""

import os
import sys
import time

import anyio
from mcp import Client, StdioServerParameters
from mcp.types import ListRootsResult, Root
from mcp.client.stdio import stdio_client

LONG = {"pattern": r"(a[ab]{30}){9}z|[^b]bb", "path": "long", "timeout_ms": 60000}
TICK = 1 / os.sysconf("SC_CLK_TCK")


def processes(program: str, root: str) -> list[str]:
    """The server processes with this root."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().decode().split("\0")
        except OSError:
            continue
        if words[:1] == [program] and root in words:
            found.append(pid)
    return found


def worked(pid: str) -> float:
    """Processor time of a process, in seconds."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * TICK


async def session(mode: str, version: str, server: str, program: str, root: str) -> None:
    # Without an index, since indexing goes on after a cancelled search: no work may be left here.
    parameters = StdioServerParameters(command=server, args=["--no-index"])
    async with Client(stdio_client(parameters), mode=mode) as client:
        assert client.protocol_version == version, client.protocol_version
        assert client.server_info.name == "ripkit", client.server_info
        assert "search" in client.instructions and len(client.instructions) <= 1024

        tools = (await client.list_tools()).tools
        assert len(tools) >= 10, tools
        assert all(tool.annotations.read_only_hint is not None for tool in tools)

        found = await client.call_tool("search", {"pattern": "TODO"})
        assert not found.is_error and found.structured_content["matches"] == 1, found
        shown = await client.call_tool("read_file", {"path": "dot.png"})
        assert [block.type for block in shown.content] == ["text", "image"], shown
        failed = await client.call_tool("read_file", {"path": "no.md"})
        assert failed.is_error and "FILE_NOT_FOUND" in failed.content[0].text, failed

        told: list[float] = []

        async def progress(amount: float, total: float | None, message: str | None) -> None:
            told.append(amount)

        begun = time.monotonic()
        part = await client.call_tool(
            "search", LONG | {"timeout_ms": 3000}, progress_callback=progress
        )
        tenths = (time.monotonic() - begun) * 10
        assert part.structured_content["incomplete"], part
        assert 2 <= len(told) <= tenths + 1, told
        assert told == sorted(set(told)), told

        # The client cancels the search after a tenth of a second, and the server must stop it.
        with anyio.move_on_after(0.1) as scope:
            await client.call_tool("search", LONG)
        assert scope.cancelled_caught, "the search was too fast"
        # Not at once: what a thread is doing is not interrupted.
        (pid,) = processes(program, root)
        with anyio.fail_after(30):
            before = -1.0
            while worked(pid) - before > 3 * TICK:
                before = worked(pid)
                await anyio.sleep(0.3)
        begun = time.monotonic()
        after = await client.call_tool("list_directory", {})
        assert not after.is_error and time.monotonic() - begun < 5, after


async def roots(program: str, root: str) -> None:
    """A client that names its roots, and other ones later."""
    named = [f"file://{root}/long"]

    async def list_roots(_context) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=uri, name="a root") for uri in named])

    parameters = StdioServerParameters(command=program, args=["mcp", "--no-index"], cwd="/")
    client = Client(stdio_client(parameters), mode="legacy", list_roots_callback=list_roots)
    async with client:
        found = await client.call_tool("find_files", {"pattern": "notes.md"})
        assert "notes.md" not in found.content[0].text.splitlines(), found
        named[:] = [f"file://{root}", f"file://{root}/none"]
        await client.send_roots_list_changed()
        found = await client.call_tool("find_files", {"pattern": "notes.md"})
        lines = found.content[0].text.splitlines()
        assert lines[0] == "notes.md" and "none is left out" in lines[1], lines
    # A client without roots, from a directory that is not served unless it is named.
    async with Client(stdio_client(parameters), mode="legacy") as client:
        found = await client.call_tool("list_directory", {})
        assert found.is_error and "--root" in found.content[0].text, found


async def main() -> None:
    server, program, root = sys.argv[1:4]
    for mode, version in [("legacy", "2025-11-25"), ("auto", "2026-07-28")]:
        print(f"   Python SDK, {mode}: list, calls, progress, cancellation")
        await session(mode, version, server, program, root)
        with anyio.move_on_after(30):
            while processes(program, root):
                await anyio.sleep(0.05)
        assert not processes(program, root), "a server outlived its client"
    print("   Python SDK: the client's roots")
    await roots(program, root)


anyio.run(main)
