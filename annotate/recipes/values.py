"""Typed values out of cells: numbers on their grid, yes and no, lists. ``Unfit`` says why a cell is none."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from decimal import Decimal, InvalidOperation

from annotate.importers.fit import Unfit
from annotate.recipes.transforms import as_text, strip

_YES = frozenset({"true", "yes", "y", "t", "1"})
_NO = frozenset({"false", "no", "n", "f", "0"})
DEFAULT_GRID = 100


def text_or_none(value: object) -> str | None:
    """Text as it is; the empty text is missing."""
    return as_text(value) or None


def whole(field: str) -> Callable[[object], int | None]:
    """A whole number, also written as 3.0."""

    def read(value: object) -> int | None:
        text = strip(value)
        if text is None:
            return None
        try:
            number = Decimal(text)
        except InvalidOperation:
            raise Unfit(f"{field} {text!r} is no number") from None
        if not number.is_finite() or number != number.to_integral_value():
            raise Unfit(f"{field} {text!r} is no whole number")
        return int(number)

    return read


def number(field: str) -> Callable[[object], float | None]:
    """A finite number."""

    def read(value: object) -> float | None:
        text = strip(value)
        if text is None:
            return None
        try:
            found = float(text)
        except ValueError:
            raise Unfit(f"{field} {text!r} is no number") from None
        if found != found or abs(found) == float("inf"):
            return None
        return found

    return read


def probability(field: str, *, inverse: bool) -> Callable[[object], float | None]:
    """An inclusion probability, from itself or from a weight (``inverse``)."""
    read_number = number(field)

    def read(value: object) -> float | None:
        found = read_number(value)
        if found is None:
            return None
        pi = 1 / found if inverse and found else found
        if not 0 < pi <= 1:
            raise Unfit(f"{field} {found:g} gives no probability above 0 and up to 1")
        return pi

    return read


def yes_no(field: str) -> Callable[[object], bool | None]:
    """True and false in their usual spellings."""

    def read(value: object) -> bool | None:
        text = strip(value)
        if text is None:
            return None
        if text.lower() in _YES | _NO:
            return text.lower() in _YES
        raise Unfit(f"{field} {text!r} is neither yes nor no")

    return read


def texts(separator: str) -> Callable[[object], tuple[str, ...]]:
    """Several texts: a JSON list, or text that is split at the separator (where there is one)."""

    def read(value: object) -> tuple[str, ...]:
        if isinstance(value, list):
            return tuple(text for entry in value if (text := as_text(entry)))
        text = as_text(value)
        if not text:
            return ()
        if text[0] == "[" and not separator and (entries := _json_list(text)) is not None:
            return entries
        return tuple(part for part in text.split(separator) if part) if separator else (text,)

    return read


def _json_list(text: str) -> tuple[str, ...] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return tuple(as_text(entry) or "" for entry in value) if isinstance(value, list) else None


def confidence(scale: int, grid: int | None) -> Callable[[object], tuple[int, int] | None]:
    """(numerator, grid) of a confidence out of ``scale``.

    Without a declared grid the value must lie exactly on hundredths; with one it is rounded to the nearest point.
    """

    def read(value: object) -> tuple[int, int] | None:
        text = strip(value)
        if text is None:
            return None
        try:
            share = Decimal(text.removesuffix("%")) / scale
        except InvalidOperation:
            raise Unfit(f"confidence {text!r} is no number") from None
        if not share.is_finite() or not 0 <= share <= 1:
            raise Unfit(f"confidence {text} does not lie in 0 to {scale}")
        points = share * (grid or DEFAULT_GRID)
        if grid is None and points != points.to_integral_value():
            raise Unfit(f"confidence {text} is finer than hundredths: declare confidence_grid, 10000 for instance")
        return int(points.to_integral_value()), grid or DEFAULT_GRID

    return read


def derived_key(question: str, context: str | None) -> str:
    """The key of an item that has none: the same question and context give the same key."""
    text = f"{question}\x1f{context or ''}"
    return "q-" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
