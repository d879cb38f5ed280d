"""Rows that agree in every column become one row with their count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace

import numpy as np
import numpy.typing as npt

from agreement.impact.columns import Factor
from agreement.impact.records import Records


def counted(records: Records) -> Records:
    """The same corpus with each distinct combination of columns once, counts added up; codes and names stay.

    Scores do not change. Leave `item` out of the records to make it small: with items hardly two rows agree.
    """
    if not len(records):
        return records
    key = np.zeros(len(records), np.int64)
    levels = 1
    for column in _columns(records):
        found, code = np.unique(column, return_inverse=True)
        if levels * len(found) > 2**62:
            used, key = np.unique(key, return_inverse=True)
            levels = len(used)
        key, levels = key * len(found) + code, levels * len(found)
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    count = np.bincount(group, records.count, len(first)).astype(np.int64)
    return replace(records.take(first), count=count)


def _columns(records: Records) -> Iterator[npt.NDArray[np.generic]]:
    """Every column that varies, as one-dimensional arrays."""
    for each in fields(records):
        value = getattr(records, each.name)
        if each.name in ("count", "labels"):
            continue
        for column in value.values() if isinstance(value, Mapping) else (value,):
            array = column.codes if isinstance(column, Factor) else column
            if array is None:
                continue
            for part in array.T if array.ndim == 2 else (array,):
                if (part != part[0]).any():
                    yield part
