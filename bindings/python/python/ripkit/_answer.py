"""The answer of a call."""

import json
from binascii import a2b_base64
from typing import Any, NamedTuple, Optional

from ._errors import Error


class Image(NamedTuple):
    """An image of an answer."""

    mime_type: str
    """Its type, such as `image/png`."""
    base64: str
    """Its bytes in base64, as providers take them."""

    @property
    def data(self) -> bytes:
        """Its bytes."""
        return a2b_base64(self.base64)

    def __repr__(self) -> str:
        return f"<ripkit.Image {self.mime_type}, {len(self.base64) * 3 // 4} bytes>"


class Parts(NamedTuple):
    """What an answer is made of."""

    text: str
    code: Optional[str]
    notes: tuple[str, ...]
    images: tuple[Image, ...]
    data: str
    """As JSON, so that only who asks for it decodes it."""


# A data class would say this in fewer lines, but its module takes longer to load than all of this package.
class Answer:
    """The answer of a call, a success or a failure.

    Answers can be compared, kept in sets, and pickled. Only calls make them.
    """

    __slots__ = ("_data", "_parts")

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @property
    def text(self) -> str:
        """The text for a model."""
        return self._parts.text

    @property
    def code(self) -> Optional[str]:
        """The stable code of the failure, such as `FILE_NOT_FOUND`, or None."""
        return self._parts.code

    @property
    def is_error(self) -> bool:
        """Whether the call failed."""
        return self._parts.code is not None

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on repaired arguments and unexpected findings, which the text has too."""
        return self._parts.notes

    @property
    def images(self) -> tuple[Image, ...]:
        """The images."""
        return self._parts.images

    @property
    def data(self) -> Any:
        """The data for a program: that of the tool, or `code`, `message`, `path` and `hint` of the error."""
        if not hasattr(self, "_data"):
            self._data: Any = json.loads(self._parts.data)
        return self._data

    def check(self) -> "Answer":
        """Returns the answer, or raises its failure as `ripkit.Error`."""
        if self.code is None:
            return self
        # That of the text, which names tools and arguments as they are offered.
        raise Error(self.code, self.data["message"])

    def to_json(self) -> str:
        """All of it as one JSON object, with the keys `is_error`, `code`, `text`, `details`, `notes` and
        `images`."""
        images = [image._asdict() for image in self.images]
        return json.dumps(
            {
                "is_error": self.is_error,
                "code": self.code,
                "text": self.text,
                "details": self.data,
                "notes": self.notes,
                "images": images,
            }
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Answer) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash(self._parts)

    def __reduce__(self) -> tuple[Any, ...]:
        return Answer, (self._parts,)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        text = self.text if len(self.text) <= 200 else f"{self.text[:200]}…"
        code = "" if self.code is None else f"{self.code}, "
        images = f", {len(self.images)} images" if self.images else ""
        return f"<ripkit.Answer {code}{text!r}{images}>"


def of_parts(
    text: str, code: Optional[str], notes: list[str], images: list[tuple[str, str]], data: str
) -> Answer:
    """What the extension module makes an answer with; images are types and base64, and data is JSON."""
    return Answer(Parts(text, code, tuple(notes), tuple(Image(*image) for image in images), data))
