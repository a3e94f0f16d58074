"""The JSON schema of the arguments of a function, from its annotations.

Loaded only for hosts with own tools, as the modules that it needs take long to load.
"""

import collections.abc
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any, Union

SIMPLE = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
    type(None): "null",
}
# `int | str` is of a type of its own since Python 3.10, and until 3.14.
UNIONS = (Union, getattr(types, "UnionType", Union))


def of_function(function: Callable[..., Any], takes_call: bool) -> dict[str, Any]:
    """The schema, for `Tool`; raises TypeError for what it cannot express."""
    properties: dict[str, Any] = {}
    required: list[str] = []
    hints = typing.get_type_hints(function, include_extras=True)
    for parameter in list(inspect.signature(function).parameters.values())[int(takes_call) :]:
        name = parameter.name
        if parameter.kind is parameter.VAR_KEYWORD:
            return {}
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"the parameter {name} cannot be given by name")
        try:
            properties[name] = of_type(hints.get(name, Any))
        except TypeError as error:
            raise TypeError(f"the parameter {name}: {error}; give the schema of the tool") from None
        if parameter.default is parameter.empty:
            required.append(name)
    return {"type": "object", "properties": properties, "required": required}


def of_type(kind: Any) -> dict[str, Any]:
    """The schema of a value."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return {}
    if kind in SIMPLE:
        return {"type": SIMPLE[kind]}
    if origin is typing.Annotated:
        texts = [text for text in arguments[1:] if isinstance(text, str)]
        return {**of_type(arguments[0]), **({"description": texts[0]} if texts else {})}
    if origin is typing.Literal and all(isinstance(choice, str) for choice in arguments):
        return {"type": "string", "enum": list(arguments)}
    if origin in (list, collections.abc.Sequence):
        return {"type": "array", "items": of_type(arguments[0])}
    if origin in (dict, collections.abc.Mapping):
        return {"type": "object"}
    if origin in UNIONS:
        return {"anyOf": [of_type(alternative) for alternative in arguments]}
    raise TypeError(f"no schema can be made of {kind}")
