"""The one interface of every importer, shipped or plugged in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from annotate.importers.sources import sha256
from annotate.importers.tally import Tally
from db.errors import AnnotateError
from db.import_report import SourceFile
from db.records import ImportRow, Reject
from db.row_block import RowBlock

Rows = Iterator[ImportRow | Reject]
Blocks = Iterator[ImportRow | RowBlock | Reject]


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of an importer: files (or folders, where it takes them) and its own options, as text."""

    files: tuple[Path, ...]
    options: Mapping[str, str] = field(default_factory=dict)

    def option(self, name: str, default: str = "") -> str:
        return self.options.get(name, default)


@runtime_checkable
class Importer(Protocol):
    """Turns files of one format into rows, and accounts for every record in them.

    A plug-in is an object like this under the entry point group ``annotate.importers``. ``options`` maps each
    option's name to one line of help; ``protocol`` names the shipped protocol that fits, or is ''.
    """

    name: str
    title: str
    protocol: str
    options: Mapping[str, str]

    def recognises(self, path: Path, start: bytes) -> bool:
        """True where the content of ``path`` (``start``: its first bytes, unpacked) is of this format."""

    def sources(self, request: Request) -> Sequence[Path]:
        """The files that will be read, in the order in which rows name them."""

    def rows(self, request: Request, tally: Tally) -> Rows:
        """The rows of every record, or a Reject for it; each record is counted in ``tally``.

        Raises SourceError where a file cannot be read as this format at all.
        """


@runtime_checkable
class BlockImporter(Importer, Protocol):
    """An importer that can also give the same rows many at a time, which is several times as fast."""

    def blocks(self, request: Request, tally: Tally) -> Blocks:
        """What ``rows`` gives, with blocks in the place of runs of rows."""


@dataclass(slots=True)
class ImportJob:
    """One import, ready to run: ``rows`` (or ``stream``) is read once, and ``tally`` is complete when it ends.

    ``mapping`` (plain JSON) is what, besides the files, decides which rows come out.
    """

    format: str
    title: str
    protocol: str
    mapping: dict[str, Any]
    rows: Rows
    tally: Tally
    blocks: Blocks | None = None

    @property
    def stream(self) -> Blocks:
        """The rows as they are imported: many at a time where the format can."""
        return self.rows if self.blocks is None else self.blocks

    @property
    def paths(self) -> tuple[Path, ...]:
        return self.tally.paths

    @property
    def names(self) -> tuple[str, ...]:
        return self.tally.names

    def source_files(self) -> tuple[SourceFile, ...]:
        """Name, digest and size of every file, as the study keeps them."""
        named = zip(self.names, self.paths, strict=True)
        return tuple(SourceFile(name, sha256(path), path.stat().st_size) for name, path in named)


class UnknownFormat(AnnotateError):
    """No importer of that name, or none that recognises the files."""
