"""Own tools whose arguments pydantic makes."""

import enum
import json
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Optional, Union

import ripkit
from pydantic import BaseModel, Field
from typing_extensions import TypedDict


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 2


class Point(BaseModel):
    x: int
    y: int = 0
    color: Color = Color.RED


@dataclass
class Line:
    points: list[Point]
    name: str = "line"


class Options(TypedDict, total=False):
    width: float


class Pydantic(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = directory.name

    def tools(self, *own: Any) -> ripkit.Toolkit:
        return ripkit.Toolkit(self.root, own_tools=own)

    def test_values_are_those_of_the_annotations(self) -> None:
        given: list[Any] = []

        def draw(
            line: Line,
            color: Annotated[Color, "Of the line."],
            sizes: list[Size],
            options: Optional[Options] = None,
            more: Union[Point, str] = "none",
            path: Path = Path("a"),
            width: Annotated[int, Field(ge=1, le=9)] = 3,
        ) -> str:
            given.append((line, color, sizes, options, more, path, width))
            return "drawn"

        tools = self.tools(draw)
        arguments = {
            "line": {"points": [{"x": 1}, {"x": 2, "color": "blue"}]},
            "color": "blue",
            "sizes": [2],
            "options": {"width": 0.5},
            "more": {"x": 3},
        }
        answer = tools.call("draw", json.dumps(arguments))
        self.assertEqual(answer.text, "drawn")
        line = Line([Point(x=1), Point(x=2, color=Color.BLUE)])
        width = {"width": 0.5}
        self.assertEqual(given, [(line, Color.BLUE, [Size.LARGE], width, Point(x=3), Path("a"), 3)])

    def test_the_schema_has_nested_types_choices_and_limits(self) -> None:
        def draw(at: Point, color: Annotated[Color, "Of it."] = Color.RED, width: int = Field(3, ge=2)) -> str:
            """Draws.

            Args:
                at: Where.
                width: How wide.
            """
            return f"{at} {color} {width}"

        tools = self.tools(draw)
        spec = next(spec for spec in tools.specs() if spec["name"] == "draw")
        properties = spec["inputSchema"]["properties"]
        self.assertEqual(properties["at"]["properties"]["color"]["enum"], ["red", "blue"])
        self.assertEqual(properties["at"]["description"], "Where.")
        self.assertEqual(properties["at"]["required"], ["x"])
        self.assertEqual(properties["color"]["enum"], ["red", "blue"])
        self.assertEqual(properties["color"]["description"], "Of it. Default: red.")
        self.assertEqual(properties["width"]["description"], "How wide. At least 2. Default: 3.")
        self.assertEqual(spec["inputSchema"]["required"], ["at"])
        self.assertEqual(tools.call("draw", {"at": {"x": 1}}).text, "x=1 y=0 color=<Color.RED: 'red'> Color.RED 3")
        missing: dict[str, Any] = {"at": {}}
        for wrong in (missing, {"at": {"x": 1}, "width": 1}):
            self.assertEqual(tools.call("draw", wrong).code, "INVALID_ARGUMENT")

    def test_what_the_schema_cannot_express_is_refused_by_pydantic(self) -> None:
        def draw(even: Annotated[int, Field(multiple_of=2)]) -> str:
            return str(even)

        tools = self.tools(draw)
        self.assertEqual(tools.call("draw", {"even": 4}).text, "4")
        answer = tools.call("draw", {"even": 3})
        self.assertEqual(answer.code, "INVALID_ARGUMENT")
        self.assertIn("even", answer.text)

    def test_a_tool_that_takes_its_call_and_waits(self) -> None:
        async def draw(call: ripkit.ToolCall, at: Point) -> str:
            return f"{call.id} {at.x}"

        own = ripkit.Tool(draw, takes_call=True)
        self.assertEqual(self.tools(own).call("draw", {"at": {"x": 1}}, id="7").text, "7 1")

    def test_a_type_of_which_no_schema_can_be_made_is_refused(self) -> None:
        def draw(at: unittest.TestCase) -> str:
            return ""

        with self.assertRaisesRegex(TypeError, "the parameter at: no schema can be made of .*TestCase"):
            ripkit.Tool(draw)


if __name__ == "__main__":
    unittest.main()
