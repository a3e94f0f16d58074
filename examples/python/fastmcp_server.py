"""A server of FastMCP with the tools of ripkit and one of its own. A client in the same process calls it.

    python fastmcp_server.py [DIRECTORY]

Packages: the wheel of ripkit with the extra `fastmcp`.
"""

import asyncio
import sys

import ripkit
from fastmcp import Client, FastMCP
from ripkit.fastmcp import tools_of

toolkit = ripkit.Toolkit(sys.argv[1] if len(sys.argv) > 1 else ".")
server = FastMCP("files", tools=tools_of(toolkit))


@server.tool
def owner(path: str) -> str:
    """Says who answers for a file."""
    return "you"


async def main() -> None:
    # A program serves with `server.run()` in the place of this.
    async with Client(server) as client:
        found = await client.call_tool("search", {"pattern": "TODO", "max_results": 3})
        print(f"Found:\n{found.content[0].text}")


if __name__ == "__main__":
    asyncio.run(main())
