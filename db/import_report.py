"""What an import did: every row that went in is accounted for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from db.errors import AnnotateError
from db.records import Reject


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of an import: the name that reports use, the SHA-256 of its bytes, and their number."""

    name: str
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class KindCount:
    """The rows of one kind: ``read`` = imported + unchanged + already + blank + rejected.

    ``already``: the same row of the same file was imported before. ``unchanged``: the same content came from elsewhere
    (or twice). ``blank``: a human label that is not there.
    """

    read: int = 0
    imported: int = 0
    unchanged: int = 0
    already: int = 0
    blank: int = 0
    rejected: int = 0


@dataclass(frozen=True, slots=True)
class ImportReport:
    """``kinds`` by name: items, responses, judge labels, human labels. ``batch`` is None where nothing new came in.

    ``unreadable``: records that the importer could not read. ``rejects`` lists at most 1,000 of ``rejected``.
    ``replaced``: characters that cannot be stored (half surrogates, NUL), each replaced by U+FFFD.
    """

    batch: str | None
    kinds: Mapping[str, KindCount]
    unreadable: int = 0
    rejected: int = 0
    rejects: tuple[Reject, ...] = ()
    replaced: int = 0
    judges: tuple[str, ...] = ()
    coders: tuple[str, ...] = ()
    sample: int | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def imported(self) -> int:
        return sum(kind.imported for kind in self.kinds.values())


class ImportRefused(AnnotateError):
    """Rows were refused and the import was to stop then: the study is unchanged. ``report`` lists them."""

    def __init__(self, report: ImportReport) -> None:
        first = report.rejects[0]
        more = f" and {report.rejected - 1:,} more" if report.rejected > 1 else ""
        super().__init__(
            f"{first.source}, row {first.row}: {first.reason.removesuffix('.')}{more}; nothing was imported.",
            "Put the rows right, or leave them out with --on-error skip.",
        )
        self.report = report
