"""Units with the same ratings, counted."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from agreement._coding import code_array
from agreement._patterns import Patterns, count_numbers, count_patterns, group_patterns
from agreement._read import Columns
from agreement._types import AnyArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Patterns with their raw labels and what their units share; of: (n,) pattern of each unit, where tracked."""

    patterns: Patterns
    labels: Sequence[Hashable]
    weight: FloatArray
    stratum: IntArray
    of: IntArray | None = None


def count_alike(columns: Columns) -> Counted:
    """Patterns of units that differ in their ratings only."""
    found = count_numbers(columns.numbers) if columns.numbers is not None and len(columns.numbers) else None
    if found is None:
        codes, labels = _codes(columns)
        patterns = count_patterns(codes)
    else:
        patterns, labels = found
    size = len(patterns.counts)
    return Counted(patterns, labels, np.ones(size), np.zeros(size, np.int64))


def count_within(columns: Columns, weights: FloatArray, strata: AnyArray) -> Counted:
    """Units with the same labels but another weight or stratum are another pattern."""
    codes, labels = _codes(columns)
    width = codes.shape[1]
    unique, weight_codes = np.unique(weights, return_inverse=True)
    both, of = group_patterns(np.column_stack([codes, weight_codes, strata]))
    patterns = Patterns(both.codes[:, :width], both.counts)
    return Counted(patterns, labels, unique[both.codes[:, width]], both.codes[:, width + 1], of)


def _codes(columns: Columns) -> tuple[AnyArray, Sequence[Hashable]]:
    if columns.coded is not None:
        return columns.coded, columns.labels
    numbers = columns.numbers
    if numbers is None or not len(numbers):
        return np.empty((columns.n, 0), np.int64), ()
    codes, labels = code_array(numbers if isinstance(numbers, np.ndarray) else np.stack(numbers))
    return codes.T, labels
