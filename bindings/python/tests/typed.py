"""Checked by pyright in its strict mode: what a host writes has no unknown type."""

import asyncio
import enum
from typing import Annotated

import ripkit


class Color(enum.Enum):
    RED = "red"


@ripkit.tool(effect="read", takes_call=True)
async def paint(call: ripkit.ToolCall, path: Annotated[str, "The file."], color: Color = Color.RED) -> ripkit.ToolResult:
    call.report(1, results=2)
    return ripkit.ToolResult(path, data={"color": color.value, "stopped": call.stop_code}, images=[("image/png", b"")])


def progress(files: int, results: int) -> None:
    print(files, results)


async def main() -> None:
    workspace = ripkit.Workspace(".", read_only=True, deny=[".env"])
    with ripkit.Toolkit(workspace, own_tools=[paint], limits={"text_bytes": 9}, index="exact") as tools:
        token = ripkit.CancelToken()
        answer = await tools.acall("search", {"pattern": "x"}, cancel=token.child(), progress=progress, timeout=1.5)
        found: list[str] = [answer.text, *answer.notes, *(image.mime_type for image in answer.images)]
        for spec in tools.with_tools(paint).specs("openai"):
            found.append(str(spec["function"]))
        try:
            answer.check()
        except ripkit.Error as error:
            found += [error.code, error.message]
        matches: int = answer.data["matches"]
        print(found, matches, answer.code or "none", tools.root, tools.names())


if __name__ == "__main__":
    asyncio.run(main())
