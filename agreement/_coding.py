"""From values to integer codes, with -1 for a missing rating.

Missing are None, NaN, pandas.NA, NaT and masked entries. A string is always a label, "nan" and "" too.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from agreement._types import AnyArray, IntArray
from agreement.errors import AgreementError

MISSING = -1
MAX_SPAN = 30_000
"""Numbers spread over more values than this (integers: and over four a rating) are coded by sorting."""
_CHUNK = 1 << 16


def code_array(values: AnyArray) -> tuple[AnyArray, Sequence[Hashable]]:
    """Codes of the same shape as `values` (any dtype), and the labels in the order of their codes.

    Numbers get codes in increasing order; other labels in order of appearance. Some labels may have no rating.
    """
    kind = values.dtype.kind
    if kind == "b":
        return values.astype(np.int8), [False, True]
    if kind in "iu":
        return _code_integers(values)
    if kind == "f":
        return _code_floats(values)
    if kind in "US":
        return _code_text(values)
    if kind == "O":
        codes, labels = code_sequence(values.ravel().tolist(), values.size)
        return codes.reshape(values.shape), labels
    if kind in "Mm":
        return code_array(np.where(np.isnat(values), np.array(None, object), values.astype(object)))
    raise AgreementError(f"Ratings of numpy type {values.dtype} cannot be labels.", "Use numbers or text.")


def code_sequence(values: Iterable[Any], size: int = -1) -> tuple[IntArray, list[Hashable]]:
    """Codes of a sequence of hashable labels, in order of appearance."""
    lookup = _Lookup()
    try:
        codes = np.fromiter(map(lookup.__getitem__, values), dtype=np.int64, count=size)
    except TypeError as error:
        if "unhashable" not in str(error):
            raise
        message = f"A rating is not a label: {error}."
        raise AgreementError(message, "Each rating must be a number, a text or None.") from None
    return codes, lookup.labels


def code_rows(rows: list[Any], width: int) -> tuple[IntArray, list[Hashable]]:
    """Codes of a list of equally long rows."""
    codes, labels = code_sequence(chain.from_iterable(rows), len(rows) * width)
    return codes.reshape(len(rows), width), labels


def is_missing(value: object) -> bool:
    """None, NaN, NaT and pandas.NA."""
    if value is None:
        return True
    if isinstance(value, float | np.floating):
        return math.isnan(value)
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return type(value).__name__ in {"NAType", "NaTType"}


def plain(label: Hashable) -> Hashable:
    """The label as a Python object, a whole float as an int (1.0 is what a gap makes of 1)."""
    value = label.item() if isinstance(label, np.generic) else label
    return int(value) if isinstance(value, float) and value.is_integer() else value


class _Lookup(dict[Any, int]):
    def __init__(self) -> None:
        super().__init__({None: MISSING, math.nan: MISSING, np.nan: MISSING})
        self.labels: list[Hashable] = []

    def __missing__(self, value: Any) -> int:
        if is_missing(value):
            return MISSING
        self.labels.append(plain(value))
        code = self[value] = len(self.labels) - 1
        return code


def _code_integers(values: AnyArray) -> tuple[AnyArray, Sequence[Hashable]]:
    if not values.size:
        return values.astype(np.int64), []
    low, high = int(values.min()), int(values.max())
    if high - low > max(MAX_SPAN, 4 * values.size):
        return _code_sorted(values)
    codes = np.empty(values.shape, np.int16 if high - low <= MAX_SPAN else np.int64)
    np.subtract(values, low, out=codes, casting="unsafe", dtype=np.int64 if values.dtype.kind == "i" else values.dtype)
    return codes, range(low, high + 1)


def _code_floats(values: AnyArray) -> tuple[AnyArray, Sequence[Hashable]]:
    low, high = (float(f.reduce(values, axis=None, initial=np.nan)) for f in (np.fmin, np.fmax))
    if math.isnan(low):
        return np.full(values.shape, MISSING, np.int16), []
    if math.isinf(low) or math.isinf(high):
        raise AgreementError("A rating is infinite.", "Use None or NaN for a missing rating.")
    if high - low > MAX_SPAN or low != math.floor(low):
        return _code_sorted(values)
    codes = np.empty(values.shape, np.int16)
    flat, out = values.reshape(-1), codes.reshape(-1)
    for start in range(0, flat.size, _CHUNK):
        part = flat[start : start + _CHUNK] - low
        np.fmax(part, MISSING, out=part)  # fmax(NaN, -1) is -1
        out[start : start + _CHUNK] = part
        if (part != out[start : start + _CHUNK]).any():
            return _code_sorted(values)
    return codes, range(int(low), int(high) + 1)


def _code_sorted(values: AnyArray) -> tuple[AnyArray, Sequence[Hashable]]:
    unique, codes = np.unique(values, return_inverse=True)
    codes = codes.reshape(values.shape)
    if unique.dtype.kind == "f" and unique.size and np.isnan(unique[-1]):  # NaN sorts last
        codes[codes == unique.size - 1] = MISSING
        unique = unique[:-1]
    if unique.dtype.kind == "f" and unique.size and np.isinf(unique[[0, -1]]).any():
        raise AgreementError("A rating is infinite.", "Use None or NaN for a missing rating.")
    return codes, [plain(label) for label in unique]


def _code_text(values: AnyArray) -> tuple[AnyArray, Sequence[Hashable]]:
    """One comparison per label: faster than sorting while labels are few."""
    flat = values.reshape(-1)
    codes = np.full(flat.size, MISSING, np.int16)
    labels: list[Hashable] = []
    for label in dict.fromkeys(flat[:2000].tolist()):
        if len(labels) == 64:
            return _code_sorted(values)
        codes[flat == label] = len(labels)
        labels.append(label)
    rest = np.flatnonzero(codes == MISSING)
    if rest.size:
        more, others = _code_sorted(flat[rest])
        codes = codes.astype(np.int64)
        codes[rest] = more + len(labels)
        labels += others
    return codes.reshape(values.shape), labels
