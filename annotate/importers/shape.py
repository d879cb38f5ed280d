"""Fields of JSON objects, with one clear reason where one is missing, renamed or of another kind."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from annotate.importers.fit import Unfit
from annotate.importers.json_records import loads, why
from annotate.importers.sources import SourceError, open_bytes

MOST_BYTES = 1 << 30
_NAMES: Mapping[type, str] = {
    dict: "an object",
    list: "a list",
    str: "text",
    int: "a number",
    float: "a number",
    bool: "true/false",
}


def need(data: Mapping[str, Any], key: str, *kinds: type) -> Any:
    """The value under ``key``, of one of the kinds; Unfit names the nearest other key where it is missing."""
    value = data.get(key)
    if value is None:
        near = difflib.get_close_matches(key, data, n=1)
        raise Unfit(f"{key!r} is missing" + (f" (there is {near[0]!r})" if near else ""))
    if kinds and not isinstance(value, kinds):
        raise Unfit(f"{key!r} is {kind_name(value)}, expected {' or '.join(dict.fromkeys(_NAMES[k] for k in kinds))}")
    return value


def maybe(data: Mapping[str, Any], key: str, *kinds: type) -> Any:
    """The value under ``key`` or None; Unfit where it is of another kind."""
    return None if data.get(key) is None else need(data, key, *kinds)


def kind_name(value: object) -> str:
    return _NAMES.get(type(value), "nothing" if value is None else type(value).__name__)


def read_document(path: Path, most: int = MOST_BYTES) -> Any:
    """A JSON file that is one value, read whole; raises SourceError where it is no JSON, or larger than ``most``."""
    with open_bytes(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        message = f"{path}: more than {most >> 20} MB of JSON in one value."
        raise SourceError(message, "Split it, or use a format by lines.")
    return parse_document(content, str(path))


def parse_document(content: bytes, name: str) -> Any:
    """JSON bytes as a value; raises SourceError that names the place."""
    try:
        return loads(content.decode("utf-8-sig"))
    except ValueError as error:
        raise SourceError(f"{name}: {why(error)}.", "The file may be cut off: copy or download it again.") from None


def missing(path: Path | str, key: str, data: object, expected: str) -> NoReturn:
    """Refuse a whole file in which the field that everything hangs on is not there."""
    if not isinstance(data, Mapping):
        raise SourceError(f"{path}: is {kind_name(data)}, expected {expected}.", "Is it the right file?")
    near = difflib.get_close_matches(key, data, n=1)
    hint = f"There is {near[0]!r}: was it renamed?" if near else f"It has: {', '.join(list(data)[:12])}."
    raise SourceError(f"{path}: {key!r} is missing; expected {expected}.", hint)
