"""Answers, as they travel between machines."""

import json
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional

import ripkit


class Image(NamedTuple):
    """An image of an answer."""

    mime_type: str
    """Its type, such as `image/png`."""
    base64: str
    """Its bytes in base64, as providers take them."""


class Hit(NamedTuple):
    """A matching line."""

    path: str
    """The path, which begins with the name of the root."""
    line: int
    """The number of the line, from 1."""
    text: str
    """The line without its end; of a long one a window around the first match."""
    column: Optional[int]
    """The byte in the line where the first match begins, from 1."""


@dataclass(frozen=True)
class Answer:
    """The answer of a call, a success or a failure, with the same names as `ripkit.Answer`."""

    text: str
    """The text for a model."""
    data: Any
    """The data for a program: that of the tool, or `code`, `message`, `path` and `hint` of the error."""
    code: Optional[str] = None
    """The stable code of the failure, such as `FILE_NOT_FOUND`, or None."""
    notes: tuple[str, ...] = ()
    """Notes on repaired arguments and unexpected findings, which the text has too."""
    images: tuple[Image, ...] = ()
    """The images."""

    @property
    def is_error(self) -> bool:
        """Whether the call failed."""
        return self.code is not None

    def to_json(self) -> str:
        """All of it as one JSON object."""
        return json.dumps({**self.__dict__, "is_error": self.is_error}, ensure_ascii=False)

    def check(self) -> "Answer":
        """Returns the answer, or raises its failure as `ripkit.Error`."""
        if self.code is not None:
            raise ripkit.Error(self.code, self.data["message"])
        return self

    def __str__(self) -> str:
        return self.text


def of_native(answer: ripkit.Answer) -> Answer:
    """The same answer, which can be sent."""
    images = tuple(Image(image.mime_type, image.base64) for image in answer.images)
    return Answer(answer.text, answer.data, answer.code, tuple(answer.notes), images)


def of_error(code: str, message: str) -> Answer:
    """The answer of a call that failed."""
    return Answer(f"{message} [{code}]", {"code": code, "message": message}, code)
