"""The key of an endpoint: read from the environment, sent to that endpoint, and kept out of everything else."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from urllib.parse import quote, quote_plus

from db.errors import AnnotateError

DEFAULT_VARIABLE = "OPENAI_API_KEY"
MARK = "[key removed]"
SHORTEST_SECRET = 8  # 'EMPTY' or 'ollama' for a local server is no secret, and too common a word to take out of a text


class Secret:
    """A key that shows itself nowhere but through ``reveal``."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce__(self) -> str:
        raise TypeError("a key is never pickled")


def key_from_environment(variable: str, *, local: bool) -> Secret:
    """The key in ``variable``; a server on this machine may do without. Raises AnnotateError otherwise."""
    text = os.environ.get(variable, "").strip()
    if text:
        if not text.isascii() or any(character.isspace() for character in text):
            raise AnnotateError(
                f"The environment variable {variable} holds no key (blanks or non-ASCII characters in it)."
            )
        return Secret(text)
    if local:
        return Secret("none")
    raise AnnotateError(f"The environment variable {variable} is not set.", f"Set it to your key: export {variable}=…")


class Redactor:
    """Takes a key out of text that an endpoint sent back (some echo it in their errors), however it is written."""

    def __init__(self, *secrets: Secret) -> None:
        forms = {form for secret in secrets for form in _forms(secret.reveal())}
        self._forms = sorted(forms, key=len, reverse=True)

    def clean(self, text: str) -> str:
        for form in self._forms:
            if form in text:
                text = text.replace(form, MARK)
        return text

    def clean_all(self, value: object) -> object:
        """The same for every string in a JSON value, its keys included."""
        if isinstance(value, str):
            return self.clean(value)
        if isinstance(value, Mapping):
            return {self.clean(str(key)): self.clean_all(entry) for key, entry in value.items()}
        if isinstance(value, list | tuple):
            return [self.clean_all(entry) for entry in value]
        return value


def _forms(key: str) -> set[str]:
    """Plain, URL- and JSON-escaped, and Base64 at each of the three offsets at which it can stand in a longer text."""
    if len(key) < SHORTEST_SECRET:
        return set()
    forms = {key, quote(key, safe=""), quote_plus(key), quote(key), json.dumps(key)[1:-1], key.replace("/", "\\/")}
    for offset in range(3):
        data = b"\0" * offset + key.encode("ascii")
        whole = len(data) - len(data) % 3
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            # The first characters mix in what stands before the key, and the last ones what follows.
            inner = encode(data[:whole]).decode("ascii")[4 if offset else 0 :]
            if len(inner) >= SHORTEST_SECRET:
                forms.add(inner)
    return forms
