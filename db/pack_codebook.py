"""The codebook as a pack holds it: without its tables of judges, whose names and outputs are not the coder's to see."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from db.pack import Pack, sealed_protocol
from db.records import Protocol

ReadProtocol = Callable[[str, str], Protocol]
_HIDDEN = "judge"


def without_judges(text: str) -> str:
    """The same codebook as TOML, without what it says of judges; the text itself where it says nothing of them."""
    try:
        told = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return text  # no codebook that can be coded under, so that there is nothing in it to hide
    if _HIDDEN not in told:
        return text
    return "".join(f"{_spelled(key)} = {_spelled(value)}\n" for key, value in told.items() if key != _HIDDEN)


def reader_of(pack: Pack, parse: ReadProtocol) -> ReadProtocol:
    """``parse`` for the codebooks of a pack: with the digest of the whole text, under which acts are written."""

    def read(text: str, name: str) -> Protocol:
        (digest,) = pack.connection.execute("SELECT digest FROM protocols WHERE toml = ?", (text,)).fetchone()
        return replace(sealed_protocol(parse(text, name)), digest=digest)

    return read


def _spelled(value: Any) -> str:
    """A value as TOML on one line: strings and keys are spelled as in JSON, but for the character U+007F."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_spelled(key)} = {_spelled(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_spelled(entry) for entry in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)
