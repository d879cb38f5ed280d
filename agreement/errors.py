"""The one error that this package raises on purpose."""

from __future__ import annotations


class AgreementError(ValueError):
    """Bad input: `message` says what and where, `hint` says how to fix it (may be empty)."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message} {hint}".strip())
        self.message = message
        self.hint = hint
