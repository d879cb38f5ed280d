"""The forms in which ratings come, brought to columns of one coder each."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from agreement._coding import code_array, code_rows, code_sequence
from agreement._types import AnyArray
from agreement.errors import AgreementError

if TYPE_CHECKING:
    import pandas as pd

RatingsLike: TypeAlias = "pd.DataFrame | Mapping[Any, Any] | Sequence[Sequence[Any]] | AnyArray"

_EXACT = 2.0**53
"""Beyond this a float no longer tells integers apart."""
SHAPE_HINT = "Ratings are units x coders: one row a unit, one column a coder."


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """One column of values a coder, all of `n` units. `numbers`: the same as one (R, n) array or R arrays of numbers.

    coded: (n, R) codes with `labels`, for values that are not numbers.
    """

    n: int
    coders: tuple[Hashable, ...]
    numbers: AnyArray | list[AnyArray] | None = None
    coded: AnyArray | None = None
    labels: Sequence[Hashable] = ()


def read_columns(ratings: Any) -> Columns:
    """Ratings in any accepted form: DataFrame, 2-D array, list of rows, or {coder: labels} / {coder: {unit: label}}."""
    if is_frame(ratings):
        return _from_frame(ratings)
    if isinstance(ratings, Mapping):
        return _from_mapping(ratings)
    if isinstance(ratings, np.ndarray):
        return _from_array(ratings)
    if isinstance(ratings, Sequence) and not isinstance(ratings, str | bytes):
        return _from_rows(list(ratings))
    raise AgreementError(f"Ratings cannot be read from a {type(ratings).__name__}.", SHAPE_HINT)


def read_vectors(first: Any, second: Any) -> Columns:
    """Two coders' labels over the same units, as two one-dimensional sequences."""
    _refuse_misaligned(first, second)
    vectors = [_vector(first), _vector(second)]
    lengths = [len(vector) for vector in vectors]
    if lengths[0] != lengths[1]:
        raise AgreementError(
            f"The two coders have {lengths[0]} and {lengths[1]} labels.",
            "Give both the same units, None where missing.",
        )
    names = tuple(getattr(vector, "name", None) for vector in (first, second))
    coders = names if None not in names and names[0] != names[1] else (0, 1)
    return _from_vectors(vectors, lengths[0], coders)


def is_frame(value: object) -> bool:
    """A pandas DataFrame, without importing pandas."""
    return _is_pandas(value) and hasattr(value, "columns")


def _is_pandas(value: object) -> bool:
    return type(value).__module__.partition(".")[0] == "pandas"


def _is_series(value: object) -> bool:
    return _is_pandas(value) and hasattr(value, "index") and not hasattr(value, "columns")


def _refuse_misaligned(first: Any, second: Any) -> None:
    if _is_series(first) and _is_series(second) and len(first) == len(second) and not first.index.equals(second.index):
        raise AgreementError(
            "The two Series have different indexes, so their rows are not the same units.",
            "Align them first: a, b = a.align(b), or pass .to_numpy() if the row order is right.",
        )


def _vector(values: Any) -> Any:
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise AgreementError(f"A coder's labels have {values.ndim} dimensions, expected 1.")
        return _unmasked(values)
    if _is_series(values):
        return _series_values(values)
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise AgreementError(
            f"A coder's labels cannot be read from a {type(values).__name__}.", "Give a list of labels."
        )
    return _numbers(values if isinstance(values, list) else list(values))


def _numbers(values: list[Any]) -> list[Any] | AnyArray:
    """A list of nothing but numbers as an array, which is quicker to code; any other list as it is."""
    if not values or not isinstance(values[0], int | float) or isinstance(values[0], bool):
        return values
    try:
        return np.frombuffer(bytes(values), np.uint8)  # 0 to 255, the usual codes: ten times as fast as below
    except (TypeError, ValueError, OverflowError):
        pass
    try:
        return np.frombuffer(array("q", values), np.int64)  # twice as fast as numpy on a list of integers
    except (TypeError, OverflowError):
        pass
    try:
        numbers = np.array(values)
    except (ValueError, OverflowError):
        return values
    exact = numbers.ndim == 1 and numbers.dtype.kind == "f" and not (np.abs(numbers) > _EXACT).any()
    return numbers if exact else values


def _from_vectors(vectors: list[Any], n: int, coders: tuple[Hashable, ...]) -> Columns:
    if all(isinstance(vector, np.ndarray) and vector.dtype.kind in "iuf" for vector in vectors):
        return Columns(n, coders, numbers=vectors)
    coded, labels = _merge([code_vector(vector) for vector in vectors], n)
    return Columns(n, coders, coded=coded, labels=labels)


def code_vector(values: Any) -> tuple[AnyArray, Sequence[Hashable]]:
    """Codes and labels of one column: a list, an array or a Series."""
    vector = _vector(values)
    if isinstance(vector, np.ndarray):
        return code_array(vector)
    if _is_series(vector):
        return _factorize(vector)
    return code_sequence(vector, len(vector))


def _merge(coded: list[tuple[AnyArray, Sequence[Hashable]]], n: int) -> tuple[AnyArray, list[Hashable]]:
    """One code space for columns that were coded apart."""
    lookup: dict[Hashable, int] = {}
    merged = np.empty((len(coded), n), np.int64)
    for row, (codes, labels) in zip(merged, coded, strict=True):
        table = np.array([lookup.setdefault(label, len(lookup)) for label in labels] + [-1], np.int64)
        np.take(table, codes, out=row, mode="wrap")  # -1 takes the last entry
    return merged.T, list(lookup)


def _from_frame(frame: Any) -> Columns:
    coders = tuple(frame.columns)
    if len(set(coders)) < len(coders):
        raise AgreementError(
            "Two columns of the DataFrame have the same name.", "One column a coder, each with its own name."
        )
    dtypes = list(frame.dtypes)
    if dtypes and all(isinstance(dtype, np.dtype) and dtype.kind in "iuf" for dtype in dtypes):
        if all(dtype == dtypes[0] for dtype in dtypes):
            return Columns(len(frame), coders, numbers=frame.to_numpy().T)
        return Columns(len(frame), coders, numbers=[frame.iloc[:, i].to_numpy() for i in range(len(coders))])
    return _from_vectors([_series_values(frame.iloc[:, i]) for i in range(len(coders))], len(frame), coders)


def _series_values(series: Any) -> Any:
    """A numpy array for numpy numbers, else the Series, which pandas codes faster than we could."""
    dtype = series.dtype
    return series.to_numpy() if isinstance(dtype, np.dtype) and dtype.kind in "iufb" else series


def _factorize(series: Any) -> tuple[AnyArray, list[Hashable]]:
    from agreement._coding import plain

    try:
        codes, unique = series.factorize()
    except TypeError as error:
        raise AgreementError(
            f"A rating is not a label: {error}.", "Each rating must be a number, a text or None."
        ) from None
    return np.asarray(codes), [plain(label) for label in unique.tolist()]


def _from_mapping(ratings: Mapping[Any, Any]) -> Columns:
    coders = tuple(ratings)
    if coders and all(isinstance(labels, Mapping) for labels in ratings.values()):
        units = list(dict.fromkeys(unit for labels in ratings.values() for unit in labels))
        vectors: list[Any] = [[labels.get(unit) for unit in units] for labels in ratings.values()]
        return _from_vectors(vectors, len(units), coders)
    vectors = [_vector(labels) for labels in ratings.values()]
    lengths = {coder: len(vector) for coder, vector in zip(coders, vectors, strict=True)}
    if len(set(lengths.values())) > 1:
        raise AgreementError(
            f"Coders have different numbers of labels: {lengths}.", "Put None where a label is missing."
        )
    return _from_vectors(vectors, next(iter(lengths.values()), 0), coders)


def _unmasked(array: AnyArray) -> AnyArray:
    if not isinstance(array, np.ma.MaskedArray):
        return array
    if array.dtype.kind in "iuf":
        return np.ma.filled(array.astype(np.float64), np.nan)
    return np.ma.filled(array.astype(object), None)


def _from_array(array: AnyArray) -> Columns:
    if array.ndim != 2:
        raise AgreementError(f"Ratings have {array.ndim} dimension(s), expected 2.", SHAPE_HINT)
    array = _unmasked(array)
    n, width = array.shape
    if array.dtype.kind in "iuf":
        return Columns(n, tuple(range(width)), numbers=array.T)
    coded, labels = code_array(array)
    return Columns(n, tuple(range(width)), coded=coded, labels=labels)


def _from_rows(rows: list[Any]) -> Columns:
    for number, row in enumerate(rows):
        if isinstance(row, str | bytes) or not hasattr(row, "__len__"):
            raise AgreementError(f"Row {number} of the ratings is {row!r}, expected one label a coder.", SHAPE_HINT)
        if len(row) != len(rows[0]):
            message = f"Row {number} of the ratings has {len(row)} labels, row 0 has {len(rows[0])}."
            raise AgreementError(message, "Put None where a label is missing.")
    width = len(rows[0]) if rows else 0
    coded, labels = code_rows(rows, width)
    return Columns(len(rows), tuple(range(width)), coded=coded, labels=labels)
