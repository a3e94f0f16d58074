"""A server of FastMCP with the tools of ripkit over the directories of a Ray cluster. A client in the same
process calls it.

    python cluster_agent.py [PATTERN...]

Packages: the wheel of ripkit with the extras `ray` and `fastmcp`.
"""

import asyncio
import sys

from fastmcp import Client, FastMCP
from ripkit.fastmcp import tools_of
from ripkit.ray import Cluster


async def main(patterns: list[str]) -> None:
    with Cluster(patterns) as files:
        server = FastMCP("cluster", tools=tools_of(files.tools()))
        # A program serves with `await server.run_async()` in the place of this.
        async with Client(server) as client:
            print("Tools:", ", ".join(tool.name for tool in await client.list_tools()))
            found = await client.call_tool("search", {"pattern": "TODO", "max_results": 3})
            print(f"Found:\n{found.content[0].text}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] or ["/data/repos/*"]))
