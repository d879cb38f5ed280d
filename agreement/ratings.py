"""Ratings of units by coders, coded once and usable by every coefficient."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement._coding import MISSING, code_array, code_sequence, is_missing, plain
from agreement._patterns import Patterns, count_numbers, count_patterns, group_patterns
from agreement._read import Columns, RatingsLike, read_columns, read_vectors
from agreement._types import AnyArray, BoolArray, FloatArray, IntArray
from agreement.errors import AgreementError


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """Distinct rating patterns of n units by R coders. Make one with `read_ratings`, `from_long`, `from_table`,
    `from_counts`.

    codes: (P, R) position in `labels`, -1 where the coder gave no rating. counts: (P,) units with that pattern.
    weight: (P,) design weight of one such unit (1 unless given). stratum: (P,) position in `strata`.
    declared: whether `labels` is a declared set or merely the labels seen. ordered: whether their order means
    something.
    items, unit_pattern: (n,) item and pattern of each unit, where several units share an item.
    population: (number of strata,) units that each stratum was drawn from, or None where that is not to be used.
    anonymous: the columns are not coders (only counts of labels are known).
    """

    codes: IntArray
    counts: IntArray
    weight: FloatArray
    stratum: IntArray
    labels: tuple[Hashable, ...]
    declared: bool
    ordered: bool
    coders: tuple[Hashable, ...]
    strata: tuple[Hashable, ...] = (None,)
    items: IntArray | None = None
    unit_pattern: IntArray | None = None
    population: FloatArray | None = None
    weighted: bool = False
    anonymous: bool = False

    @property
    def n_units(self) -> int:
        """All units given, rated or not."""
        return int(self.counts.sum())

    @property
    def values(self) -> FloatArray:
        """(P, R) ratings as numbers, NaN where missing; refused unless every label is a number."""
        if not all(isinstance(label, int | float) for label in self.labels):
            odd = next(label for label in self.labels if not isinstance(label, int | float))
            raise AgreementError(
                f"Ratings must be numbers here; {odd!r} is not.", "Use level='nominal' or 'ordinal' for text."
            )
        return np.array([*self.labels, np.nan], np.float64)[self.codes]

    def select(self, coders: Sequence[Hashable]) -> Ratings:
        """The same units with the named coders only."""
        missing = [coder for coder in coders if coder not in self.coders]
        if missing:
            raise AgreementError(f"No coder {missing[0]!r}.", f"Coders are {list(self.coders)}.")
        columns = [self.coders.index(coder) for coder in coders]
        return replace(self, codes=self.codes[:, columns], coders=tuple(coders))

    def one_vs_rest(self, label: Hashable) -> Ratings:
        """The two-label ratings `label` against `(any other)`."""
        if label not in self.labels:
            raise AgreementError(f"No label {label!r}.", f"Labels are {list(self.labels)}.")
        codes = np.where(self.codes == MISSING, MISSING, (self.codes != self.labels.index(label)).astype(np.int64))
        return replace(self, codes=codes, labels=(label, "(any other)"), ordered=False)

    def where(self, patterns: BoolArray) -> Ratings:
        """The units of the patterns where `patterns`, (P,), is true."""
        changes: dict[str, Any] = {
            name: getattr(self, name)[patterns] for name in ("codes", "counts", "weight", "stratum")
        }
        if self.items is not None and self.unit_pattern is not None:
            kept = patterns[self.unit_pattern]
            changes["items"] = self.items[kept]
            changes["unit_pattern"] = (np.cumsum(patterns) - 1)[self.unit_pattern[kept]]
        return replace(self, **changes)


def read_ratings(
    ratings: RatingsLike | Ratings,
    *,
    labels: Sequence[Hashable] | None = None,
    unit_weights: npt.ArrayLike | None = None,
    items: Sequence[Hashable] | AnyArray | None = None,
    strata: Sequence[Hashable] | AnyArray | None = None,
    population: int | Mapping[Hashable, int] | None = None,
) -> Ratings:
    """Code ratings once for use by several coefficients.

    ratings: units x coders as a DataFrame, 2-D array or list of rows, or by name as {coder: [label of each unit]} or
    {coder: {unit: label}}. Missing: None, NaN, pandas.NA, masked. Numbers stay nominal codes until a level says
    otherwise.
    labels: the declared set, in order; None means the labels seen. A rating outside it is refused.
    unit_weights: (n,) positive design weights, usually 1 / inclusion probability.
    items: (n,) what each unit belongs to, where several units share one: the resampling unit of every interval.
    strata: (n,) strata of the sampling design: variances and draws stay within them.
    population: units (or {stratum: units}) drawn from without replacement, for the finite-population factor.
    """
    if isinstance(ratings, Ratings):
        if any(option is not None for option in (unit_weights, items, strata, population)):
            raise AgreementError(
                "Weights, items and strata belong to units, which were already read.", "Give them to read_ratings."
            )
        return ratings if labels is None else _declare(ratings, labels)
    return build(read_columns(ratings), labels, unit_weights, items, strata, population)


def read_pair(first: Any, second: Any, *, labels: Sequence[Hashable] | None = None, **units: Any) -> Ratings:
    """Two coders' labels over the same units. Raises AgreementError if their lengths or indexes differ."""
    return build(
        read_vectors(first, second), labels, *(units.get(k) for k in ("unit_weights", "items", "strata", "population"))
    )


def build(
    columns: Columns, labels: Sequence[Hashable] | None, given_weights: Any, items: Any, strata: Any, population: Any
) -> Ratings:
    """Ratings from columns and what belongs to their units."""
    weights = unit_weights(given_weights, columns.n)
    item_codes = unit_codes(items, columns.n, "items")
    stratum_codes = unit_codes(strata, columns.n, "strata")
    if weights is None and item_codes is None and stratum_codes is None:
        counted = _count(columns)
    else:
        stratum = np.zeros(columns.n, np.int64) if stratum_codes is None else stratum_codes[0]
        counted = _count_within(columns, np.ones(columns.n) if weights is None else weights, stratum)
    names = (None,) if stratum_codes is None else tuple(stratum_codes[1])
    coded = Ratings(
        codes=counted.patterns.codes,
        counts=counted.patterns.counts,
        weight=counted.weight,
        stratum=counted.stratum,
        labels=tuple(counted.labels),
        declared=False,
        ordered=False,
        coders=columns.coders,
        strata=names,
        items=None if item_codes is None else item_codes[0].astype(np.int64),
        unit_pattern=None if item_codes is None else counted.of,
        population=population_sizes(population, names),
        weighted=weights is not None,
    )
    return _declare(coded, labels)


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    """Patterns with their raw labels and what their units share; of: (n,) pattern of each unit, where tracked."""

    patterns: Patterns
    labels: Sequence[Hashable]
    weight: FloatArray
    stratum: IntArray
    of: IntArray | None = None


def _count(columns: Columns) -> _Counted:
    found = count_numbers(columns.numbers) if columns.numbers is not None and len(columns.numbers) else None
    if found is None:
        codes, labels = _codes(columns)
        patterns = count_patterns(codes)
    else:
        patterns, low = found
        labels = range(low, low + int(patterns.codes.max(initial=MISSING)) + 1)
    size = len(patterns.counts)
    return _Counted(patterns, labels, np.ones(size), np.zeros(size, np.int64))


def _count_within(columns: Columns, weights: FloatArray, strata: AnyArray) -> _Counted:
    """Units with the same labels but another weight or stratum are another pattern."""
    codes, labels = _codes(columns)
    width = codes.shape[1]
    unique, weight_codes = np.unique(weights, return_inverse=True)
    both, of = group_patterns(np.column_stack([codes, weight_codes, strata]))
    patterns = Patterns(both.codes[:, :width], both.counts)
    return _Counted(patterns, labels, unique[both.codes[:, width]], both.codes[:, width + 1], of)


def _codes(columns: Columns) -> tuple[AnyArray, Sequence[Hashable]]:
    if columns.coded is not None:
        return columns.coded, columns.labels
    numbers = columns.numbers
    if numbers is None or not len(numbers):
        return np.empty((columns.n, 0), np.int64), ()
    codes, labels = code_array(numbers if isinstance(numbers, np.ndarray) else np.stack(numbers))
    return codes.T, labels


def _declare(ratings: Ratings, labels: Sequence[Hashable] | None) -> Ratings:
    """The ratings with codes in the order of the declared labels, or of the sorted labels seen."""
    used = np.flatnonzero(np.bincount(ratings.codes.ravel() + 1, minlength=len(ratings.labels) + 1)[1:])
    seen = [ratings.labels[code] for code in used]
    order = _sorted(seen) if labels is None else _declared(labels)
    position = {label: code for code, label in enumerate(order)}
    outside = [label for label in seen if label not in position]
    if outside:
        _refuse_outside(ratings, outside[0], order)
    table = np.full(len(ratings.labels) + 1, MISSING, np.int64)
    table[used] = [position[label] for label in seen]
    ordered = labels is not None or all(isinstance(label, int | float) for label in order)
    return replace(
        ratings, codes=table[ratings.codes], labels=tuple(order), declared=labels is not None, ordered=ordered
    )


def _sorted(labels: list[Hashable]) -> list[Hashable]:
    try:
        return sorted(labels)  # type: ignore[type-var]
    except TypeError:
        return sorted(labels, key=lambda label: (type(label).__name__, str(label)))


def _declared(labels: Sequence[Hashable]) -> list[Hashable]:
    declared = [plain(label) for label in labels]
    if isinstance(labels, str) or not declared:
        raise AgreementError(
            f"labels={labels!r} declares no set of labels.", "Give a list, for instance labels=['yes', 'no']."
        )
    if len(set(declared)) < len(declared):
        raise AgreementError(f"labels={declared!r} names a label twice.")
    if any(is_missing(label) for label in declared):
        raise AgreementError("A missing value cannot be a declared label.", "Leave None and NaN out of labels=.")
    return declared


def _refuse_outside(ratings: Ratings, label: Hashable, declared: list[Hashable]) -> None:
    where = ratings.codes == ratings.labels.index(label)
    number = int((where.sum(axis=1) * ratings.counts).sum())
    coder = ratings.coders[int(np.flatnonzero(where.any(axis=0))[0])]
    twin = next((other for other in declared if str(other) == str(label)), None)
    hint = "Add it to labels=, or make those ratings missing."
    if twin is not None:
        kinds = type(twin).__name__, type(label).__name__
        hint = f"The declared {twin!r} is {kinds[0]}, the rating is {kinds[1]}: convert one of them."
    where_found = f"{number} rating(s), the first by coder {coder!r}"
    raise AgreementError(f"Label {label!r} is not among the declared labels {declared!r}: {where_found}.", hint)


def unit_weights(weights: Any, n: int) -> FloatArray | None:
    """The (n,) design weights, checked."""
    if weights is None:
        return None
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (n,):
        raise AgreementError(f"unit_weights has shape {array.shape}, expected ({n},): one weight a unit.")
    bad = np.flatnonzero(~(np.isfinite(array) & (array > 0)))
    if bad.size:
        raise AgreementError(
            f"unit_weights[{bad[0]}] is {array[bad[0]]}, expected a positive number.",
            "Design weights are 1 / inclusion probability.",
        )
    return array


def unit_codes(values: Any, n: int, name: str) -> tuple[AnyArray, list[Hashable]] | None:
    """(n,) dense codes of an attribute of units, and its values; none may be missing."""
    if values is None:
        return None
    array = values if isinstance(values, np.ndarray) and values.dtype.kind != "O" else None
    codes, labels = code_sequence(list(values)) if array is None else code_array(array)
    if codes.shape != (n,):
        raise AgreementError(f"{name} has {len(codes)} entries, expected {n}: one a unit.")
    missing = np.flatnonzero(codes == MISSING)
    if missing.size:
        raise AgreementError(f"{name}[{missing[0]}] is missing.", "Every unit needs one.")
    used, dense = np.unique(codes, return_inverse=True)
    return dense, [labels[code] for code in used]


def population_sizes(
    population: int | Mapping[Hashable, int] | None, strata: tuple[Hashable, ...]
) -> FloatArray | None:
    """Units in each stratum's population."""
    if population is None:
        return None
    if isinstance(population, Mapping):
        absent = [name for name in strata if name not in population]
        if absent:
            raise AgreementError(f"population has no size for stratum {absent[0]!r}.")
        return np.array([population[name] for name in strata], np.float64)
    if len(strata) > 1:
        raise AgreementError(
            "population is one number but there are several strata.", "Give {stratum: number of units}."
        )
    return np.array([population], np.float64)


def from_long(
    units: Sequence[Hashable] | AnyArray,
    coders: Sequence[Hashable] | AnyArray,
    ratings: Sequence[Any] | AnyArray,
    *,
    labels: Sequence[Hashable] | None = None,
) -> Ratings:
    """Ratings from three columns of equal length, one row a rating: of which unit, by whom, which label.

    Two ratings of one unit by one coder are refused: which one counts is not ours to guess.
    """
    lengths = [len(units), len(coders), len(ratings)]
    if len(set(lengths)) > 1:
        raise AgreementError(f"units, coders and ratings have {lengths} rows, expected the same number.")
    unit, unit_names = _long_codes(units, "units")
    coder, coder_names = _long_codes(coders, "coders")
    _, first, counts = np.unique(unit * len(coder_names) + coder, return_index=True, return_counts=True)
    if (counts > 1).any():
        row = int(first[np.argmax(counts > 1)])
        message = f"Unit {unit_names[unit[row]]!r} has {counts.max()} ratings by coder {coder_names[coder[row]]!r}."
        raise AgreementError(message, "Keep one rating a unit and coder (hidden repeats belong in self_agreement).")
    codes, raw = code_sequence(list(ratings))
    wide = np.full((len(unit_names), len(coder_names)), MISSING, np.int64)
    wide[unit, coder] = codes
    return build(Columns(len(wide), tuple(coder_names), coded=wide, labels=raw), labels, None, None, None, None)


def _long_codes(values: Sequence[Hashable] | AnyArray, name: str) -> tuple[IntArray, list[Hashable]]:
    codes, labels = code_sequence(list(values))
    missing = np.flatnonzero(codes == MISSING)
    if missing.size:
        raise AgreementError(f"{name}[{missing[0]}] is missing.", "Every rating needs a unit and a coder.")
    return codes, labels


def from_table(table: npt.ArrayLike, *, labels: Sequence[Hashable] | None = None) -> Ratings:
    """Two coders from a square table of counts: rows are the first coder's labels, columns the second's.

    labels: names of rows and columns, in order (default 1..q); all are declared.
    """
    counts = _whole_counts(table, "table")
    if counts.shape[0] != counts.shape[1]:
        raise AgreementError(
            f"The table has shape {counts.shape}, expected a square one.", "Rows and columns are the same labels."
        )
    names = _declared(range(1, len(counts) + 1) if labels is None else labels)
    if len(names) != len(counts):
        raise AgreementError(f"The table has {len(counts)} rows, labels= has {len(names)}.")
    cells = np.argwhere(counts > 0).astype(np.int64)
    return _counted(cells, counts[counts > 0], names, anonymous=False)


def from_counts(counts: npt.ArrayLike, *, labels: Sequence[Hashable] | None = None) -> Ratings:
    """Ratings from units x labels counts, where it is not known who gave which label (Fleiss 1971's form).

    Coefficients that need to know the coders (Cohen, Conger, Light) refuse the result.
    """
    table = _whole_counts(counts, "counts")
    names = _declared(range(1, table.shape[1] + 1) if labels is None else labels)
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
