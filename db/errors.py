"""The one base of every error that a person is meant to read."""

from __future__ import annotations


class AnnotateError(Exception):
    """Something a person can put right: one line that says what and where, and one that says how.

    ``exit_code`` follows the command line: 1 the answer is no, 2 bad input.
    """

    exit_code = 2

    def __init__(self, message: str, hint: str = "", *, exit_code: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if exit_code is not None:
            self.exit_code = exit_code

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()
