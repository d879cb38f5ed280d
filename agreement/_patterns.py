"""Distinct rating patterns and how many units have each.

Every coefficient of this package is a function of these counts, so that its cost, and that of a bootstrap draw,
depends on the number of distinct patterns and hardly on the number of units.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from agreement._coding import MISSING
from agreement._types import AnyArray, ColumnArrays, IntArray

_DENSE = 1 << 16
"""Up to this many possible patterns are counted in a table; beyond, keys are sorted."""
_CHUNK = 1 << 14
_SHORT = 1 << 12
_SMALL = 1 << 13
_KEY_LIMIT = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class Patterns:
    """codes: (P, R) distinct rows; counts: (P,) units with that row."""

    codes: IntArray
    counts: IntArray


def count_patterns(codes: AnyArray) -> Patterns:
    """Distinct rows of an (n, R) array of codes >= -1, in lexicographic order of the last column first."""
    base = int(codes.max(initial=MISSING)) + 2
    width = codes.shape[1]
    if base**width <= _DENSE:
        return decode(_tally_codes(codes, base), base, width)
    _, first, counts = np.unique(_keys(codes, base), return_index=True, return_counts=True)
    return Patterns(codes[first].astype(np.int64), counts.astype(np.int64))


def group_patterns(codes: AnyArray) -> tuple[Patterns, IntArray]:
    """`count_patterns`, and the (n,) pattern of each row."""
    keys = _keys(codes, int(codes.max(initial=MISSING)) + 2)
    _, first, member, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    return Patterns(codes[first].astype(np.int64), counts.astype(np.int64)), member.astype(np.int64)


def count_numbers(columns: ColumnArrays) -> tuple[Patterns, range] | None:
    """Patterns of R columns of n whole numbers (NaN is missing) and the number of each code.

    None if the values are not whole or have too many possible patterns: code them first. One pass in cache-sized
    pieces, without an array of codes. `columns` may be the transpose of an (n, R) array in either memory order.
    """
    span = _whole_span(columns)
    if span is None or span[1] ** len(columns) > _DENSE:
        return None
    low, base = span
    size = base ** len(columns)
    tally: IntArray | None = None
    for piece in _pieces(columns):
        key = _piece_keys(piece, low, base)
        if key is None:
            return None
        found = np.bincount(key, minlength=size)
        tally = found if tally is None else np.add(tally, found, out=tally)
    return None if tally is None else (decode(tally, base, len(columns)), range(low, low + base - 1))


def has_few_patterns(columns: ColumnArrays) -> bool:
    """Whether `count_numbers` is likely to succeed, judged by the span of the values and their first thousand rows."""
    span = _whole_span(columns) if len(columns) else None
    if span is None or span[1] ** len(columns) > _DENSE:
        return False
    return all(_digits(np.asarray(column[:1000]), span[0]) is not None for column in columns)


def _whole_span(columns: ColumnArrays) -> tuple[int, int] | None:
    """The smallest value and the number of codes, missing included."""
    arrays = [columns] if isinstance(columns, np.ndarray) else columns
    if not arrays[0].size:
        return None
    if len(arrays) > 1 and len(arrays[0]) < _SHORT:
        arrays = [np.concatenate(arrays)]
    ends = [_ends(array) for array in arrays]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    if not (math.isfinite(low) and math.isfinite(high) and low == math.floor(low) and high - low < _DENSE):
        return None
    return int(low), int(high - low) + 2


def _ends(array: AnyArray) -> tuple[float, float]:
    if array.dtype.kind in "iu":
        return int(array.min()), int(array.max())
    with np.errstate(invalid="ignore"):
        low, high = float(np.fmin.reduce(array, axis=None)), float(np.fmax.reduce(array, axis=None))
    return (low, high) if low == low else (np.inf, -np.inf)  # no rating at all


def _pieces(columns: ColumnArrays) -> Iterator[ColumnArrays]:
    """Runs of rows, each column contiguous: strided floats cost four times as much."""
    for start in range(0, len(columns[0]), _CHUNK):
        if isinstance(columns, np.ndarray):
            yield np.ascontiguousarray(columns[:, start : start + _CHUNK])
        else:
            yield [column[start : start + _CHUNK] for column in columns]


def _piece_keys(piece: ColumnArrays, low: int, base: int) -> IntArray | None:
    """One key per row, the first column its lowest digit, or None if a value is not whole."""
    if isinstance(piece, np.ndarray) and piece.dtype.kind == "f" and piece.shape[1] <= _SHORT:
        return _short_keys(piece, low, base)
    if all(column.dtype.kind != "f" for column in piece):
        return _integer_keys(piece, low, base)
    key: IntArray | None = None
    for column in reversed(piece):
        digits = _digits(column, low)
        if digits is None:
            return None
        if key is None:
            key = digits
        else:
            key *= base
            key += digits
    return key


def _integer_keys(piece: ColumnArrays, low: int, base: int) -> IntArray:
    """Columns added up as they are; what the smallest value adds to each key is taken off at the end."""
    if len(piece) == 1:
        return np.asarray(piece[0].astype(np.int64) - (low - 1))
    key: IntArray = np.multiply(piece[-1], base, dtype=np.int64, casting="unsafe")
    for place in range(len(piece) - 2, -1, -1):
        np.add(key, piece[place], out=key, casting="unsafe")
        if place:
            key *= base
    key -= sum((low - 1) * base**place for place in range(len(piece)))
    return key


def _short_keys(piece: AnyArray, low: int, base: int) -> IntArray | None:
    """The same with fewer calls, for pieces that fit the cache whole."""
    digits = piece - (low - 1.0)
    np.fmax(digits, 0, out=digits)
    if not (np.rint(digits) == digits).all():
        return None
    return np.asarray((float(base) ** np.arange(len(piece)) @ digits).astype(np.int64))


def _digits(column: AnyArray, low: int) -> AnyArray | None:
    """1 for the value `low`, 0 for a missing one: fmax(NaN, 0) is 0."""
    if column.dtype.kind != "f":
        return column.astype(np.int64) - (low - 1)
    shifted = column - (low - 1.0)
    np.fmax(shifted, 0, out=shifted)
    digits = shifted.astype(np.int64)
    return digits if (digits == shifted).all() else None


def _tally_codes(codes: AnyArray, base: int) -> IntArray:
    size = base ** codes.shape[1]
    tally = np.zeros(size, np.int64)
    for start in range(0, len(codes), _CHUNK):
        key = _piece_keys(codes[start : start + _CHUNK].T, 0, base)
        tally += np.bincount(key, minlength=size)  # type: ignore[arg-type]  # codes are whole
    return tally


def decode(tally: IntArray, base: int, width: int) -> Patterns:
    """The keys with a count, as rows of codes; the first column is the lowest digit of its key."""
    keys = (tally > 0).nonzero()[0]  # on truth values twice as fast
    if len(tally) <= _SMALL:
        return Patterns(_all_codes(base, width).take(keys, axis=1).T, tally[keys])
    return Patterns(_codes_of(keys, base, width), tally[keys])


@lru_cache(maxsize=16)
def _all_codes(base: int, width: int) -> IntArray:
    """(R, keys) codes of every key: for a thousand units, dividing costs more than counting."""
    return np.ascontiguousarray(_codes_of(np.arange(base**width), base, width).T)


def _codes_of(keys: IntArray, base: int, width: int) -> IntArray:
    return np.asarray(keys[:, None] // (base ** np.arange(width, dtype=np.int64)) % base + MISSING)


def _keys(codes: AnyArray, base: int) -> IntArray:
    """One integer per row, equal where rows are equal, ordered as `_tally_codes` orders them."""
    keys: IntArray = np.zeros(len(codes), np.int64)
    top = 1
    for column in range(codes.shape[1] - 1, -1, -1):
        if top > _KEY_LIMIT // base:
            unique, keys = np.unique(keys, return_inverse=True)
            top = len(unique)
        keys = keys * base + (codes[:, column].astype(np.int64) + 1)
        top *= base
    return keys
