"""The loop that every importer shares: each record is counted, and gives its rows or the reason why it gives none."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from annotate.importers.base import Rows
from annotate.importers.fit import Unfit
from annotate.importers.records import Record
from annotate.importers.tally import Tally
from db.records import ImportRow, Reject

Build = Callable[[Record], Iterable[ImportRow]]


def each_record(found: Iterable[Record | Reject], tally: Tally, source: int, build: Build) -> Rows:
    """The rows that ``build`` makes of each record of file ``source``; a record goes in whole or not at all."""
    for record in found:
        tally.count(source)
        if isinstance(record, Reject):
            yield tally.reject(source, record.row, record.reason)
            continue
        try:
            yield from list(build(record))
        except Unfit as unfit:
            yield tally.reject(source, record.row, str(unfit))
