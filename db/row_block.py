"""Many rows of an import at once, by columns: what plain tables give, and what is checked much faster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from db.records import ImportRow, ItemRow, JudgeLabelRow, ResponseRow

Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class JudgeColumns:
    """One judge's labels of all responses of a block: its fields of JudgeLabelRow, apart from those that place it."""

    judge: str
    columns: Columns


@dataclass(frozen=True, slots=True)
class RowBlock:
    """Responses in file order, each with its place in the file, and one label of each judge for each of them.

    ``items``: those that are new, each with the position of the response before which it comes. ``key``: item (always),
    and model, condition and repeat where the table has them. ``columns``: further fields of ResponseRow, text always.
    """

    source: int
    rows: Sequence[int]
    items: tuple[tuple[int, ItemRow], ...]
    key: Columns
    columns: Columns
    judges: tuple[JudgeColumns, ...] = ()

    def __len__(self) -> int:
        """How many rows it stands for."""
        return len(self.items) + len(self.rows) * (1 + len(self.judges))

    def single(self) -> Iterator[ImportRow]:
        """The same rows one by one, in the order of the file."""
        waiting = iter((*self.items, (len(self.rows), None)))
        at, item = next(waiting)
        for position, row in enumerate(self.rows):
            while at == position and item is not None:
                yield item
                at, item = next(waiting)
            key = {name: values[position] for name, values in self.key.items()}
            fields = {name: values[position] for name, values in self.columns.items()}
            yield ResponseRow(row=row, source=self.source, **key, **fields)
            for judge in self.judges:
                said = {name: values[position] for name, values in judge.columns.items()}
                yield JudgeLabelRow(judge=judge.judge, row=row, source=self.source, **key, **said)
