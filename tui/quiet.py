"""A program that leaves no word of the study on the terminal, whatever happens to it."""

from __future__ import annotations

from textual.app import App


class QuietApp(App[None], inherit_bindings=False):
    """Remembers an error of the program and stops. Textual would print it with all locals, study text included."""

    failure: Exception | None = None

    def _handle_exception(self, error: Exception) -> None:
        self.failure = self.failure or error
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        self._close_messages_no_wait()

    def panic(self, *renderables: object) -> None:
        self._close_messages_no_wait()
