"""Columns of names, labels, flags and integers, from the plain values that a query returns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement.errors import AgreementError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
FlagArray = npt.NDArray[np.int8]

NOT_A_LABEL, MISSING = -1, -2
NO_LABEL_NAMES = {NOT_A_LABEL: "(not a label)", MISSING: "(missing)"}


@dataclass(frozen=True, slots=True)
class Factor:
    """A column of names as codes: codes (R,) are positions in `names`, -1 where no name is given."""

    codes: IntArray
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.codes)

    @classmethod
    def of(cls, values: Sequence[str | None] | Factor) -> Factor:
        """The factor of a list of names (None: not given); names are sorted, so that order never depends on rows."""
        if isinstance(values, Factor):
            return values
        names = tuple(sorted({str(v) for v in values if v is not None}))
        place = {name: i for i, name in enumerate(names)}
        codes = np.fromiter((-1 if v is None else place[str(v)] for v in values), np.int64, len(values))
        return cls(codes, names)

    @classmethod
    def single(cls, rows: int, name: str = "") -> Factor:
        """One level for all rows."""
        return cls(np.zeros(rows, np.int64), (name,))

    def take(self, rows: BoolArray | IntArray) -> Factor:
        return Factor(self.codes[rows], self.names)

    def mask(self, name: str) -> BoolArray:
        """(R,) rows that bear the name; none if it does not occur."""
        return self.codes == self.names.index(name) if name in self.names else np.zeros(len(self), np.bool_)

    def is_in(self, names: Iterable[str]) -> BoolArray:
        """(R,) rows that bear one of the names."""
        return np.isin(self.codes, [self.names.index(name) for name in names if name in self.names])

    def onto(self, names: tuple[str, ...]) -> IntArray:
        """(R,) the same column as positions in another list of names, -1 where it does not hold the name."""
        place = {name: i for i, name in enumerate(names)}
        table = np.array([place.get(name, -1) for name in self.names] + [-1], np.int64)
        return table[self.codes]

    def values(self) -> list[str]:
        """The column as plain names, "" where none is given."""
        return ["" if c < 0 else self.names[c] for c in self.codes]


def label_codes(labels: tuple[str, ...], values: Sequence[str | None]) -> IntArray:
    """(R,) positions of the values in `labels`; -1 for text that is no label, -2 for None."""
    place: dict[str | None, int] = {label: i for i, label in enumerate(labels)}
    place[None] = MISSING
    place.setdefault(NO_LABEL_NAMES[MISSING], MISSING)
    return np.fromiter((place.get(v, NOT_A_LABEL) for v in values), np.int64, len(values))


def flag(values: Sequence[bool | int | None] | None, rows: int, missing: int = -1) -> FlagArray:
    """(rows,) 1, 0, or `missing` where a value is None or no column is given."""
    if values is None:
        return np.full(rows, missing, np.int8)
    return np.fromiter((missing if v is None else int(bool(v)) for v in values), np.int8, len(values))


def integers(values: Sequence[Any] | None, rows: int) -> IntArray:
    """(rows,) integers, -1 where a value is None or no column is given. Raises AgreementError on a fraction."""
    column = numbers(values, rows)
    bad = np.flatnonzero(column != np.floor(column))
    if len(bad):
        raise AgreementError(f"row {bad[0]}: {column[bad[0]]:g} is not a whole number on the declared scale")
    return column.astype(np.int64)


def numbers(values: Sequence[Any] | None, rows: int) -> FloatArray:
    """(rows,) numbers, -1 where a value is None or no column is given. Raises AgreementError below 0 and on NaN."""
    if values is None:
        return np.full(rows, -1.0)
    column = np.array([-1 if v is None else v for v in values], np.float64)
    bad = np.flatnonzero(~((column >= 0) | (column == -1)))
    if len(bad):
        raise AgreementError(
            f"row {bad[0]}: {column[bad[0]]:g} is not a number from 0 up; give None where it is missing"
        )
    return column
