"""The types of the extension module; the package `ripkit` has what is for users."""

import os
from collections.abc import Callable
from typing import Any, Optional, final

__all__ = ["VERSION", "Answer", "CancelToken", "Image", "NativeToolkit", "ToolCall"]

VERSION: str

@final
class CancelToken:
    """Stops the calls that it is given to, from any thread."""

    def __new__(cls) -> CancelToken:
        """A token that is not yet cancelled."""

    def cancel(self) -> None:
        """Stops the calls that have this token or a child of it; it cannot be undone."""

    @property
    def is_cancelled(self) -> bool:
        """Whether it was cancelled."""

    def child(self) -> CancelToken:
        """A token that is cancelled with this one, and can be cancelled alone."""

@final
class Image:
    """An image of an answer."""

    @property
    def data(self) -> bytes:
        """Its bytes."""

    @property
    def base64(self) -> str:
        """Its bytes in base64, as providers take them."""

    @property
    def mime_type(self) -> str:
        """Its type, such as `image/png`."""

@final
class Answer:
    """The answer of a call, a success or a failure."""

    @property
    def text(self) -> str:
        """The text for a model."""

    @property
    def data(self) -> Any:
        """The data for a program, decoded from JSON: that of the tool, or `code`, `message`, `path`
        and `hint` of the error."""

    @property
    def is_error(self) -> bool:
        """Whether the call failed."""

    @property
    def code(self) -> Optional[str]:
        """The stable code of the failure, such as `FILE_NOT_FOUND`, or None."""

    @property
    def notes(self) -> list[str]:
        """Notes on repaired arguments and unexpected findings, which the text has too."""

    @property
    def images(self) -> list[Image]:
        """The images."""

    def to_json(self) -> str:
        """All of it as one JSON object."""

    def check(self) -> Answer:
        """Returns the answer, or raises its failure as `ripkit.Error`."""

@final
class ToolCall:
    """The call that an own tool carries out."""

    @property
    def is_stopped(self) -> bool:
        """Whether the function should return soon, since the call was cancelled or its time is up."""

    @property
    def id(self) -> Optional[str]:
        """The id that the host gave the call, or None."""

    def report(self, files: int, results: int = 0) -> None:
        """Reports progress to the host: files scanned and results found so far."""

@final
class NativeToolkit:
    def __new__(cls, root: str, options: str) -> NativeToolkit: ...
    def with_tool(
        self,
        name: str,
        description: str,
        function: Callable[[ToolCall, str], tuple[str, str, list[tuple[str, str]]]],
    ) -> NativeToolkit: ...
    def call(
        self,
        name: str,
        arguments: str,
        cancel: Optional[CancelToken],
        progress: Optional[Callable[[int, int], object]],
        timeout: Optional[float],
        id: Optional[str],
    ) -> Answer: ...
    def specs(self, format: str) -> str: ...
    def names(self) -> list[str]: ...
    def skills_prompt(self) -> str: ...
    def root(self) -> os.PathLike[str]: ...
    def save_index(self) -> None: ...
