"""What cannot be stored is found before it is handed on: broken characters, and control characters in keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import get_args

from db.records import ImportRow

_SEPARATOR = "\x1f"
_KEYS = ("key", "item", "model", "condition", "judge", "coder", "model_b")


class Unfit(Exception):
    """A record that cannot be imported; its text is the reason."""


def fit(rows: Iterable[ImportRow]) -> list[ImportRow]:
    """The rows as a list; raises Unfit where one cannot be stored, so that a record goes in whole or not at all."""
    found = list(rows)
    for row in found:
        if problem := unstorable(row):
            raise Unfit(problem)
    return found


def unstorable(row: ImportRow) -> str | None:
    """Why this row cannot be stored, or None."""
    for name in _NAMES[type(row)]:
        value = getattr(row, name)
        if isinstance(value, str):
            if not value.isascii() and not _whole(value):
                return f"{name} holds half of a surrogate pair, a broken character that no file can store"
            if name in _KEYS and (_SEPARATOR in value or "\x00" in value):
                return f"{name} holds a control character"
        elif isinstance(value, tuple | Mapping) and value and not all(map(_whole, _strings(value))):
            return f"{name} holds half of a surrogate pair, a broken character that no file can store"
    return None


def _whole(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield str(key)
            yield from _strings(entry)
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _strings(entry)


_NAMES: Mapping[type, tuple[str, ...]] = {kind: tuple(f.name for f in fields(kind)) for kind in get_args(ImportRow)}
