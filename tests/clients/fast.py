"""FastMCP: its client lists and calls the tools."""

import asyncio
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport


async def main() -> None:
    print("   FastMCP: list, calls, structured content")
    async with Client(StdioTransport(sys.argv[1], [])) as client:
        tools = {tool.name for tool in await client.list_tools()}
        assert {"search", "read_file", "edit_file"} <= tools, tools
        found = await client.call_tool("search", {"pattern": "todo"})
        assert found.structured_content["files"][0]["path"] == "src/main.rs", found
        failed = await client.call_tool("read_file", {"path": "none.rs"}, raise_on_error=False)
        assert failed.is_error and "FILE_NOT_FOUND" in failed.content[0].text, failed


asyncio.run(main())
