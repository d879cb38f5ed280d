"""The whole corpus as counted cells: one row per distinct combination of the columns that are asked for.

A score then costs the same for three thousand responses as for four million; only this query reads them all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from db.connection import reading
from db.facts import select
from db.study import Study


@dataclass(frozen=True, slots=True)
class Cells:
    """Distinct rows of ``columns`` with the number of responses that have each; ``counts`` add to all responses."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    counts: tuple[int, ...]

    def column(self, name: str) -> list[Any]:
        """The values of one column, one a row."""
        place = self.columns.index(name)
        return [row[place] for row in self.rows]


def corpus_cells(study: Study, columns: Sequence[str]) -> Cells:
    """Count all responses by the named columns (see ``db.facts``), technical failures and redacted ones included.

    Rows are sorted by their values, so that equal studies give equal tables whatever order they were imported in.
    """
    counted: Counter[tuple[Any, ...]] = Counter()
    connection = study.connection
    with reading(connection):
        found = select(connection, columns)
        chosen = ", ".join([*found.expressions, "count(*)"])
        group = ", ".join(str(place) for place in range(1, len(found.expressions) + 1))
        sql = (
            f"SELECT {chosen} FROM responses r CROSS JOIN items i ON i.id = r.item_id {' '.join(found.joins)}"
            f" {f'GROUP BY {group}' if group else ''}"
        )
        for *values, number in connection.execute(sql):
            if number:
                counted[found.row(values)] += number
    return sorted_cells(columns, counted)


def sorted_cells(columns: Sequence[str], counted: Mapping[tuple[Any, ...], int]) -> Cells:
    """Counted rows in the order of their values."""
    rows = sorted(counted, key=_sortable)
    return Cells(tuple(columns), tuple(rows), tuple(counted[row] for row in rows))


def response_rows(study: Study, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """One row of the named columns for every response, in the order in which they were imported; memory stays flat."""
    connection = study.connection
    with reading(connection):
        found = select(connection, columns)
        sql = (
            f"SELECT {', '.join(found.expressions)} FROM responses r CROSS JOIN items i ON i.id = r.item_id"
            f" {' '.join(found.joins)} ORDER BY r.id"
        )
        for values in connection.execute(sql):
            yield found.row(values)


def _sortable(row: tuple[Any, ...]) -> tuple[tuple[int, Any], ...]:
    """None first, then numbers, then text."""
    return tuple((0, 0) if value is None else (2, value) if isinstance(value, str) else (1, value) for value in row)
