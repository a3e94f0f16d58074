"""The answer of a call."""

import json
from binascii import a2b_base64
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Optional

from ._errors import Error


@dataclass(frozen=True)
class Image:
    """An image of an answer."""

    mime_type: str
    """Its type, such as `image/png`."""
    base64: str = field(repr=False)
    """Its bytes in base64, as providers take them."""

    @property
    def data(self) -> bytes:
        """Its bytes."""
        return a2b_base64(self.base64)


@dataclass(frozen=True, repr=False)
class Answer:
    """The answer of a call, a success or a failure.

    Answers can be compared, kept in sets, and pickled. Only calls make them.
    """

    text: str
    """The text for a model."""
    code: Optional[str]
    """The stable code of the failure, such as `FILE_NOT_FOUND`, or None."""
    notes: tuple[str, ...]
    """Notes on repaired arguments and unexpected findings, which the text has too."""
    images: tuple[Image, ...]
    """The images."""
    _data: str
    """The data as JSON, so that only who asks for it decodes it."""

    @property
    def is_error(self) -> bool:
        """Whether the call failed."""
        return self.code is not None

    @cached_property
    def data(self) -> Any:
        """The data for a program: that of the tool, or `code`, `message`, `path` and `hint` of the error."""
        return json.loads(self._data)

    def check(self) -> "Answer":
        """Returns the answer, or raises its failure as `ripkit.Error`."""
        if self.code is None:
            return self
        # That of the text, which names tools and arguments as they are offered.
        raise Error(self.code, self.data["message"])

    def to_json(self) -> str:
        """All of it as one JSON object, with the keys `is_error`, `code`, `text`, `details`, `notes` and
        `images`."""
        images = [{"mime_type": image.mime_type, "base64": image.base64} for image in self.images]
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
    return Answer(text, code, tuple(notes), tuple(Image(*image) for image in images), data)
