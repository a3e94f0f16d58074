"""The arguments of a function: their JSON schema and what makes values of them, from its annotations and its
docstring.

Loaded only for hosts with own tools, as the modules that it needs take long to load.
"""

import collections.abc
import inspect
import re
import types
import typing
from collections.abc import Callable
from typing import Any, NamedTuple, Optional, Union, cast

from ._errors import Error

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


class Arguments(NamedTuple):
    """How a function is called."""

    schema: dict[str, Any]
    convert: Optional[Callable[[dict[str, Any]], dict[str, Any]]]
    """Makes the values that the function takes from those of JSON; None if they are the same."""


def of_function(function: Callable[..., Any], takes_call: bool, texts: dict[str, str]) -> Arguments:
    """The arguments of a function, with the descriptions of its docstring.

    Values of JSON's own types are passed as they are. Others, such as enumerations, data classes and models, are
    made by pydantic. Raises TypeError for what cannot be expressed.
    """
    hints = typing.get_type_hints(function, include_extras=True)
    parameters = list(inspect.signature(function).parameters.values())[int(takes_call) :]
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return Arguments({}, None)
    for parameter in parameters:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"the parameter {parameter.name} cannot be given by name")
    schema: dict[str, Any]
    convert: Optional[Callable[[dict[str, Any]], dict[str, Any]]] = None
    try:
        properties = {each.name: _of_parameter(each, hints.get(each.name, Any)) for each in parameters}
        required = [each.name for each in parameters if each.default is each.empty]
        schema = {"type": "object", "properties": properties, "required": required}
    except TypeError as reason:
        schema, convert = _by_pydantic(parameters, hints, reason)
    for name, given in schema.get("properties", {}).items():
        text = _text_of(hints.get(name)) or texts.get(name)
        if text:
            given["description"] = text
    return Arguments(schema, convert)


def _of_parameter(parameter: inspect.Parameter, kind: Any) -> dict[str, Any]:
    try:
        schema = of_type(kind)
        if parameter.default is parameter.empty or parameter.default is None:
            return schema
        if not isinstance(parameter.default, (str, int, float, list, dict)):
            raise TypeError(f"no JSON can be made of {parameter.default!r}")
        return {**schema, "default": parameter.default}
    except TypeError as error:
        raise TypeError(f"the parameter {parameter.name}: {error}") from None


def of_type(kind: Any) -> dict[str, Any]:
    """The schema of a value of JSON's own types; raises TypeError for others."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return {}
    if kind in SIMPLE:
        return {"type": SIMPLE[kind]}
    if origin is typing.Annotated and all(isinstance(text, str) for text in arguments[1:]):
        return {**of_type(arguments[0]), "description": arguments[1]}
    if origin is typing.Literal and all(isinstance(choice, str) for choice in arguments):
        return {"type": "string", "enum": list(arguments)}
    if origin in (list, collections.abc.Sequence):
        return {"type": "array", "items": of_type(arguments[0])}
    if origin in (dict, collections.abc.Mapping) and arguments[0] is str:
        return {"type": "object", "additionalProperties": of_type(arguments[1])}
    if origin in UNIONS:
        return {"anyOf": [of_type(alternative) for alternative in arguments]}
    raise TypeError(f"no schema can be made of {kind}")


def _by_pydantic(
    parameters: list[inspect.Parameter], hints: dict[str, Any], reason: TypeError
) -> tuple[dict[str, Any], Callable[[dict[str, Any]], dict[str, Any]]]:
    try:
        import pydantic
    except ImportError:
        raise TypeError(f"{reason} without pydantic; install it, or give the schema of the tool") from None

    def values(**arguments: Any) -> dict[str, Any]:
        return arguments

    values.__annotations__ = {each.name: hints.get(each.name, Any) for each in parameters}
    signature = inspect.Signature(
        [
            each.replace(kind=each.KEYWORD_ONLY, annotation=values.__annotations__[each.name])
            for each in parameters
        ]
    )
    # What pydantic reads of a function.
    vars(values)["__signature__"] = signature
    try:
        # A function is read as its arguments, and validating calls it; the types do not say so.
        adapter: pydantic.TypeAdapter[dict[str, Any]] = pydantic.TypeAdapter(cast(Any, values))
        schema = adapter.json_schema()
    except pydantic.errors.PydanticUserError as error:
        raise TypeError(f"{reason}; give the schema of the tool ({error.message})") from None

    def convert(arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            return adapter.validate_python(arguments)
        except pydantic.ValidationError as failed:
            wrong = (
                f"{'.'.join(str(part) for part in error['loc'])}: {error['msg']}" for error in failed.errors()
            )
            raise Error("INVALID_ARGUMENT", "; ".join(wrong)) from None

    return schema, convert


def _text_of(kind: Any) -> Optional[str]:
    """The text in `Annotated[kind, "text"]`."""
    if typing.get_origin(kind) is not typing.Annotated:
        return None
    return next((text for text in typing.get_args(kind)[1:] if isinstance(text, str)), None)


# The section of the parameters in a docstring of the style of Google, up to what is not indented; in that of NumPy,
# up to the next section; and the fields of reStructuredText.
GOOGLE = re.compile(r"^(?:Args|Arguments|Parameters):[ ]*\n((?:[ ]+.*\n|[ ]*\n)+)", re.MULTILINE)
GOOGLE_ENTRY = re.compile(r"^\*{0,2}(\w+)[ ]*(?:\(.*?\))?:[ ]*(.*(?:\n(?:[ ]+.*|[ ]*$))*)", re.MULTILINE)
NUMPY = re.compile(r"^Parameters[ ]*\n-{3,}[ ]*\n((?:.*\n)*?)(?=.+\n-{3,}[ ]*$|\Z)", re.MULTILINE)
NUMPY_ENTRY = re.compile(r"^(\w+)[ ]*(?::.*)?\n((?:[ ]+.*\n|[ ]*\n)+)", re.MULTILINE)
FIELD = re.compile(r"^:param (?:[^:\n]* )?(\w+):[ ]*(.*(?:\n[ ]+.*)*)\n", re.MULTILINE)
FIELD_OF_TYPE = re.compile(r"^:type .*(?:\n[ ]+.*)*\n", re.MULTILINE)


def of_docstring(text: str) -> tuple[str, dict[str, str]]:
    """A docstring without what it says of the parameters, and that, in the styles of Google, NumPy and Sphinx."""
    text = f"{text}\n"
    found: dict[str, str] = {}
    for section, entry in ((GOOGLE, GOOGLE_ENTRY), (NUMPY, NUMPY_ENTRY)):
        for part in section.finditer(text):
            found.update(entry.findall(f"{inspect.cleandoc(part[1])}\n"))
        text = section.sub("", text)
    found.update(FIELD.findall(text))
    text = FIELD_OF_TYPE.sub("", FIELD.sub("", text))
    text = re.sub(r"\n{3,}", "\n\n", text)
    return text.strip(), {name: " ".join(words.split()) for name, words in found.items()}
