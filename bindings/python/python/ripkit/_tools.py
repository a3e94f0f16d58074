"""Tools that are Python functions."""

import contextvars
import json
from binascii import b2a_base64
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Optional, Union, overload

from ._errors import Error
from ._native import ToolCall

if TYPE_CHECKING:
    import asyncio

STOPS = 0.05
"""How often an `async` tool looks whether its call was stopped, in seconds."""

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
    """A tool that is a Python function, plain or `async`.

    The function gets the arguments by name, after they were checked by the schema. A plain one runs on any thread;
    an `async` one on the event loop of `Toolkit.acall`, or on one of its own for `Toolkit.call`, and is cancelled
    when the call is stopped. Both see the context variables of the caller. It returns a text for the model, a
    `ToolResult`, or anything that `json` can write. An exception is the failure of this call, which the model
    reads: a `ripkit.Error` with its code and message, another one with the code `INTERNAL`, and a traceback in the
    log `ripkit` at level debug.
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
        description: what a model reads. Default: the docstring of the function, without what it says of the
            parameters in the styles of Google, NumPy and Sphinx, which are the descriptions of the arguments.
        schema: the JSON schema of the arguments, an object. The function then gets them as JSON has them, and
            those that are missing or null are not passed. Default: that of the annotations. JSON's own types need
            nothing else: `str`, `list[int]`, `Optional[bool]`, `Literal["a", "b"]`, and
            `Annotated[str, "what a model reads of it"]`. For others, such as enumerations, data classes, models
            of pydantic and constraints, pydantic must be installed; the function gets their values.
        effect: `read` if it changes nothing. Default: `change`, which a toolkit that only reads refuses.
        long: whether a call may take long. Default: no.
        takes_call: whether the function gets the `ToolCall` before the arguments, to report progress
            and to stop when it is cancelled. Default: no.

        Raises TypeError for annotations of which no schema can be made.
        """
        import inspect

        from ._schema import Arguments, of_docstring, of_function

        if not callable(function):
            raise TypeError(f"a tool is a function, not {function!r}")
        self.function = function
        self.name: str = name or str(getattr(function, "__name__", ""))
        self.takes_call = takes_call
        # Also of an object whose `__call__` is one.
        is_async = inspect.iscoroutinefunction
        self._is_async = is_async(function) or is_async(getattr(function, "__call__", None))
        documented, texts = of_docstring(inspect.getdoc(function) or "")
        if schema is None:
            arguments = of_function(function, takes_call, texts)
        else:
            arguments = Arguments(dict(schema), None)
        self._convert = arguments.convert
        self._description = json.dumps(
            {
                "name": self.name,
                "description": documented if description is None else description,
                "schema": arguments.schema,
                "effect": effect,
                "long": long,
            }
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function."""
        return self.function(*args, **kwargs)

    def _run(self, call: ToolCall, arguments: str) -> tuple[str, str, list[tuple[str, str]]]:
        """What the extension module calls: arguments and data are JSON."""
        # Without them if what called is not `Toolkit.call` or `acall`.
        context, loop = call._host or (contextvars.copy_context(), None)
        try:
            return context.copy().run(self._results, call, json.loads(arguments), loop)
        except Exception:
            import logging

            # The model reads only the message; the host can have the traceback.
            logging.getLogger("ripkit").debug("the tool %s failed", self.name, exc_info=True)
            raise

    def _results(
        self,
        call: ToolCall,
        arguments: dict[str, Any],
        loop: "Optional[asyncio.AbstractEventLoop]",
    ) -> tuple[str, str, list[tuple[str, str]]]:
        first = (call,) if self.takes_call else ()
        if self._convert is not None:
            arguments = self._convert(arguments)
        result = self.function(*first, **arguments)
        if self._is_async:
            result = _awaited(result, call, loop)
        if isinstance(result, str):
            return result, "", []
        if isinstance(result, ToolResult):
            data = "" if result.data is None else json.dumps(result.data)
            images = [(kind, b2a_base64(image, newline=False).decode()) for kind, image in result.images]
            return result.text, data, images
        data = json.dumps(result, ensure_ascii=False)
        return data, data, []


def _awaited(
    work: Coroutine[Any, Any, Any], call: ToolCall, loop: "Optional[asyncio.AbstractEventLoop]"
) -> Any:
    """The result of a coroutine, which is cancelled when the call is stopped."""
    import asyncio

    async def stoppable() -> Any:
        task = asyncio.ensure_future(work)
        while not task.done():
            await asyncio.wait([task], timeout=STOPS)
            if call.is_stopped:
                task.cancel()
        if task.cancelled() and (code := call.stop_code) is not None:
            raise Error(code, "the function was stopped")
        return task.result()

    if loop is None:
        return asyncio.run(stoppable())
    return asyncio.run_coroutine_threadsafe(stoppable(), loop).result()


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
