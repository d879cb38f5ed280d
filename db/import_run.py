"""The state of one import while its staged rows are stored, and what the steps for each kind of row share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sqlite_utils import Database

from db.connection import StudyConnection
from db.import_report import KindCount, SourceFile
from db.records import Reject
from db.staging import ITEMS, Read

SLICE = 50_000
Progress = Callable[[int, int | None], None]


@dataclass(slots=True)
class Run:
    """One import inside its transaction. ``unchanged``, ``already``, ``blank`` and ``imported`` are per kind."""

    connection: StudyConnection
    database: Database
    id: int
    batch: str
    sources: tuple[SourceFile, ...]
    read: Read
    progress: Progress | None = None
    imported: dict[str, int] = field(default_factory=dict)
    unchanged: dict[str, int] = field(default_factory=dict)
    already: dict[str, int] = field(default_factory=dict)
    blank: dict[str, int] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    stored: int = 0
    before_responses: int | None = None  # where all responses are new: the n-th staged one has this id plus n

    def count(self, counter: dict[str, int], kind: str, number: int = 1) -> None:
        counter[kind] = counter.get(kind, 0) + number

    def reject(self, kind: str, source: int, row: int, reason: str) -> None:
        self.count(self.refused, kind)
        self.read.reject(Reject(self.name(source), row, reason))

    def name(self, source: int | None) -> str:
        return self.sources[source].name if source is not None and 0 <= source < len(self.sources) else ""

    def insert(self, kind: str, sql: str, **more: int) -> int:
        """Run an INSERT over the staged rows, a slice of them (:low to :high) at a time; return how many went in."""
        before = self.connection.total_changes
        for low, high in self._slices(kind):
            self.connection.execute(sql, {"import": self.id, "low": low, "high": high, **more})
            total = sum(self.read.staged.values())
            self.stored = min(self.stored + high - low + 1, total)
            if self.progress is not None:
                self.progress(self.stored, total)
        inserted = self.connection.total_changes - before
        self.count(self.imported, kind, inserted)
        return inserted

    def _slices(self, kind: str) -> Iterator[tuple[int, int]]:
        last = self.read.staged[kind]
        for low in range(1, last + 1, SLICE):
            yield low, min(low + SLICE - 1, last)

    def left(self, kind: str) -> int:
        """Staged rows of a kind that are not accounted for yet."""
        counted = (self.imported, self.unchanged, self.already, self.blank, self.refused)
        return self.read.staged[kind] - sum(counter.get(kind, 0) for counter in counted)

    def kinds(self) -> dict[str, KindCount]:
        """The account of every kind of row. Items that the stream repeated word for word are unchanged ones."""
        found = {}
        for kind, read in self.read.rows.items():
            unchanged = self.unchanged.get(kind, 0) + (self.read.repeated if kind == ITEMS else 0)
            found[kind] = KindCount(
                read=read,
                imported=self.imported.get(kind, 0),
                unchanged=unchanged,
                already=self.already.get(kind, 0),
                blank=self.blank.get(kind, 0),
                rejected=self.read.rejected[kind] + self.refused.get(kind, 0),
            )
        return found

    @property
    def rejected(self) -> int:
        return self.read.refused + sum(self.refused.values())
