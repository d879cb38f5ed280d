"""Ratings from other forms: one row a rating, a two-coder table, label counts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement._coding import MISSING
from agreement._labels import declared_labels
from agreement._read import Columns, code_vector
from agreement._types import AnyArray, IntArray
from agreement.errors import AgreementError
from agreement.ratings import Ratings, build


def from_long(
    units: Sequence[Hashable] | AnyArray,
    coders: Sequence[Hashable] | AnyArray,
    ratings: Sequence[Any] | AnyArray,
    *,
    labels: Sequence[Hashable] | None = None,
    unit_weights: Mapping[Hashable, float] | None = None,
    items: Mapping[Hashable, Hashable] | None = None,
    strata: Mapping[Hashable, Hashable] | None = None,
    population: int | Mapping[Hashable, int] | None = None,
) -> Ratings:
    """Ratings from three columns of equal length, one row a rating: of which unit, by whom, which label.

    Two ratings of one unit by one coder are refused: which one counts is not ours to guess. unit_weights, items,
    strata: {unit: value}, else as in `read_ratings`.
    """
    lengths = [len(units), len(coders), len(ratings)]
    if len(set(lengths)) > 1:
        raise AgreementError(f"units, coders and ratings have {lengths} rows, expected the same number.")
    unit, unit_names = _long_codes(units, "units")
    coder, coder_names = _long_codes(coders, "coders")
    cell = unit * len(coder_names) + coder
    row_of = np.full(len(unit_names) * len(coder_names), MISSING, np.int64)
    row_of[cell] = np.arange(len(cell))
    clash = np.flatnonzero(row_of[cell] != np.arange(len(cell)))
    if clash.size:
        row = clash[0]
        where = f"Unit {unit_names[unit[row]]!r} has {(cell == cell[row]).sum()} ratings"
        hint = "Keep one rating a unit and coder (hidden repeats belong in self_agreement)."
        raise AgreementError(f"{where} by coder {coder_names[coder[row]]!r}.", hint)
    codes, raw = code_vector(ratings)
    wide = np.full((len(unit_names), len(coder_names)), MISSING, np.int64)
    wide.ravel()[cell] = codes
    weights, groups, blocks = (
        _by_unit(values, unit_names, name)
        for name, values in (("unit_weights", unit_weights), ("items", items), ("strata", strata))
    )
    columns = Columns(len(wide), tuple(coder_names), coded=wide, labels=raw)
    return build(columns, labels, weights, groups, blocks, population)


def _long_codes(values: Sequence[Hashable] | AnyArray, name: str) -> tuple[IntArray, Sequence[Hashable]]:
    codes, labels = code_vector(values)
    missing = np.flatnonzero(codes == MISSING)
    if missing.size:
        raise AgreementError(f"{name}[{missing[0]}] is missing.", "Every rating needs a unit and a coder.")
    used = np.flatnonzero(np.bincount(codes, minlength=len(labels)))
    if len(used) == len(labels):
        return codes.astype(np.int64), labels
    place = np.zeros(len(labels), np.int64)
    place[used] = np.arange(len(used))
    return place[codes], [labels[code] for code in used.tolist()]


def _by_unit(values: Mapping[Hashable, Any] | None, units: Sequence[Hashable], name: str) -> list[Any] | None:
    if values is None:
        return None
    absent = [unit for unit in units if unit not in values]
    if absent:
        raise AgreementError(f"{name} has nothing for unit {absent[0]!r}.", "Give {unit: value} for every unit.")
    return [values[unit] for unit in units]


def from_table(table: npt.ArrayLike, *, labels: Sequence[Hashable] | None = None) -> Ratings:
    """Two coders from a square table of counts: rows are the first coder's labels, columns the second's.

    labels: names of rows and columns, in order (default 1..q); all are declared.
    """
    counts = _whole_counts(table, "table")
    if counts.shape[0] != counts.shape[1]:
        raise AgreementError(
            f"The table has shape {counts.shape}, expected a square one.", "Rows and columns are the same labels."
        )
    names = declared_labels(range(1, len(counts) + 1) if labels is None else labels)
    if len(names) != len(counts):
        raise AgreementError(f"The table has {len(counts)} rows, labels= has {len(names)}.")
    cells = np.argwhere(counts > 0).astype(np.int64)
    return _counted(cells, counts[counts > 0], names, anonymous=False)


def from_counts(counts: npt.ArrayLike, *, labels: Sequence[Hashable] | None = None) -> Ratings:
    """Ratings from units x labels counts, where it is not known who gave which label (Fleiss 1971's form).

    Coefficients that need to know the coders (Cohen, Conger, Light) refuse the result.
    """
    table = _whole_counts(counts, "counts")
    names = declared_labels(range(1, table.shape[1] + 1) if labels is None else labels)
    if len(names) != table.shape[1]:
        raise AgreementError(f"counts has {table.shape[1]} columns, labels= has {len(names)}.")
    rows, of_row = np.unique(table, axis=0, return_counts=True)
    codes = np.full((len(rows), max(int(rows.sum(axis=1).max(initial=0)), 1)), MISSING, np.int64)
    for row, amounts in zip(codes, rows, strict=True):
        given = np.repeat(np.arange(table.shape[1]), amounts)
        row[: len(given)] = given
    return _counted(codes, of_row, names, anonymous=True)


def _whole_counts(values: npt.ArrayLike, name: str) -> IntArray:
    array = np.asarray(values)
    if array.ndim != 2 or not array.size:
        raise AgreementError(f"{name} has shape {array.shape}, expected two dimensions.")
    whole = np.asarray(array, np.float64)
    if not (np.isfinite(whole).all() and (whole >= 0).all() and (whole == np.floor(whole)).all()):
        raise AgreementError(
            f"{name} must hold whole numbers, 0 or more.", "Shares must be multiplied by the number of units."
        )
    return whole.astype(np.int64)


def _counted(codes: IntArray, counts: IntArray, labels: list[Hashable], *, anonymous: bool) -> Ratings:
    order = np.lexsort(codes.T)  # as units in any other form, so that draws are the same
    codes, counts = codes[order], counts[order]
    return Ratings(
        codes=codes,
        counts=counts.astype(np.int64),
        weight=np.ones(len(codes)),
        stratum=np.zeros(len(codes), np.int64),
        labels=tuple(labels),
        declared=True,
        ordered=True,
        coders=tuple(range(codes.shape[1])),
        anonymous=anonymous,
    )
