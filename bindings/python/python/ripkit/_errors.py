"""The exception of this package."""


class Error(Exception):
    """What could not be done, with a stable code.

    Calls of tools do not raise it: their failures are answers, for a model to read. It is raised for
    what the host does wrong, such as a root that does not exist, and by `Answer.check`. A function of
    an own tool can raise it to choose the code of the failure.
    """

    code: str
    """The code, such as `FILE_NOT_FOUND`."""
    message: str
    """What failed, why, and what to do next."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return f"{self.message} [{self.code}]"
