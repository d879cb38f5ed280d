"""Labels as integer codes of the declared set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement._coding import code_sequence
from agreement._read import is_frame
from agreement._types import IntArray
from agreement.errors import AgreementError

UNDECLARED = -2


def label_table(ratings: Any, labels: Sequence[Any]) -> IntArray:
    """(N, R) codes of `ratings` (N x R labels, or N labels for one coder) in `labels`; -1 where None or NaN.

    A label is compared exactly; the text "nan" is a label. Raises AgreementError on a label that is not declared.
    """
    codes = label_codes(ratings, labels)
    bad = np.argwhere(codes == UNDECLARED)
    if len(bad):
        unit, coder = (int(p) for p in bad[0])
        value = object_table(ratings)[unit, coder]
        declared = ", ".join(map(str, labels))
        raise AgreementError(f"unit {unit}, coder {coder}: label {value!r} is not declared (declared: {declared})")
    return codes


def label_codes(ratings: Any, labels: Sequence[Any]) -> IntArray:
    """As `label_table`, with -2 for a label that is not declared."""
    table = object_table(ratings)
    raw, found = code_sequence(table.ravel().tolist(), table.size)
    index = {label: k for k, label in enumerate(labels)}
    translate = np.array([*(index.get(label, UNDECLARED) for label in found), -1], dtype=np.int64)
    return translate[raw].reshape(table.shape)


def group_codes(values: Sequence[Any]) -> tuple[IntArray, list[Any]]:
    """(N,) group of each value and the groups' names in order of appearance; missing values are a group named None."""
    codes, names = code_sequence(list(values), len(values))
    if (codes >= 0).all():
        return codes, list(names)
    return np.where(codes < 0, len(names), codes), [*names, None]


def sorted_codes(values: Sequence[Any]) -> tuple[IntArray, list[str]]:
    """(N,) position of each value's text among the sorted distinct texts, and these."""
    codes, names = group_codes(values)
    texts = [str(name) for name in names]
    distinct = sorted(set(texts))
    place = {text: k for k, text in enumerate(distinct)}
    return np.array([place[text] for text in texts], dtype=np.int64)[codes], distinct


def object_table(ratings: Any) -> npt.NDArray[np.object_]:
    """`ratings` as an N x R array of objects; a flat sequence is one column."""
    if is_frame(ratings):
        return np.asarray(ratings.to_numpy(dtype=object))
    rows = list(ratings)
    flat = not rows or not isinstance(rows[0], (list, tuple, np.ndarray))
    table = np.empty((len(rows), 1 if flat else len(rows[0])), dtype=object)
    if flat:
        table[:, 0] = rows
        return table
    for i, row in enumerate(rows):
        entries = list(row)
        if len(entries) != table.shape[1]:
            raise AgreementError(f"unit {i} has {len(entries)} ratings, unit 0 has {table.shape[1]}: one per coder")
        table[i] = entries
    return table
