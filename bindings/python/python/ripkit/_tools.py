"""Tools that are Python functions."""

import json
from binascii import b2a_base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Optional, Union, overload

from ._native import ToolCall

Effect = Literal["read", "create", "change", "execute"]
"""The side effects of a tool: none, new files, changed files, or anything."""


class ToolResult(NamedTuple):
    """What an own tool returns, if it is more than a text."""

    text: str
    """The text for a model."""
    data: Any = None
    """The data for a program, `Answer.data`; anything that `json` can write."""
    images: Sequence[tuple[str, bytes]] = ()
    """Images for a model, as type and bytes: `("image/png", data)`."""


class Tool:
    """A tool that is a Python function.

    The function gets the arguments by name, after they were checked by the schema, on any thread. It
    returns a text for the model, a `ToolResult`, or anything that `json` can write. An exception is
    the failure of this call, which the model reads: a `ripkit.Error` with its code and message,
    another one with the code `INTERNAL`, and a traceback in the log `ripkit` at level debug.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: Optional[str] = None,
        description: Optional[str] = None,
        schema: Optional[Mapping[str, Any]] = None,
        effect: Effect = "change",
        long: bool = False,
        takes_call: bool = False,
    ) -> None:
        """Describes a function as a tool.

        name: of letters, digits, `_` and `-`. Default: that of the function.
        description: what a model reads. Default: the docstring of the function.
        schema: the JSON schema of the arguments, an object, such as `model_json_schema()` of a model of
            pydantic. Arguments that are missing or null are not passed, so that the function has its own
            defaults. Default: that of the annotations, such as `str`, `list[int]`, `Optional[bool]`,
            `Literal["a", "b"]`, and `Annotated[str, "what a model reads of it"]`.
        effect: `read` if it changes nothing. Default: `change`, which a toolkit that only reads refuses.
        long: whether a call may take long. Default: no.
        takes_call: whether the function gets the `ToolCall` before the arguments, to report progress
            and to stop when it is cancelled. Default: no.
        """
        import inspect

        from ._schema import of_function

        if inspect.iscoroutinefunction(function):
            raise TypeError("an own tool is a plain function, as it is called on another thread")
        self.function = function
        self.name: str = name or getattr(function, "__name__", "")
        self.takes_call = takes_call
        documented = inspect.getdoc(function) if description is None else description
        self._description = json.dumps(
            {
                "name": self.name,
                "description": documented or "",
                "schema": of_function(function, takes_call) if schema is None else dict(schema),
                "effect": effect,
                "long": long,
            }
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function."""
        return self.function(*args, **kwargs)

    def _run(self, call: ToolCall, arguments: str) -> tuple[str, str, list[tuple[str, str]]]:
        """What the extension module calls: arguments and data are JSON."""
        first = (call,) if self.takes_call else ()
        try:
            result = self.function(*first, **json.loads(arguments))
            if isinstance(result, str):
                return result, "", []
            if isinstance(result, ToolResult):
                data = "" if result.data is None else json.dumps(result.data)
                images = [
                    (kind, b2a_base64(image, newline=False).decode()) for kind, image in result.images
                ]
                return result.text, data, images
            data = json.dumps(result, ensure_ascii=False)
            return data, data, []
        except Exception:
            import logging

            # The model reads only the message; the host can have the traceback.
            logging.getLogger("ripkit").debug("the tool %s failed", self.name, exc_info=True)
            raise


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(
    *,
    name: Optional[str] = None,
    description: Optional[str] = None,
    schema: Optional[Mapping[str, Any]] = None,
    effect: Effect = "change",
    long: bool = False,
    takes_call: bool = False,
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    function: Optional[Callable[..., Any]] = None, /, **options: Any
) -> Union[Tool, Callable[[Callable[..., Any]], Tool]]:
    """Makes a tool of the function below, as `@ripkit.tool` or with the arguments of `Tool`."""
    if function is not None:
        return Tool(function, **options)
    return lambda function: Tool(function, **options)
