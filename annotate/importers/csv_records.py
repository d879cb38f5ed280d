"""CSV and TSV: quoted line breaks, byte order marks, repeated headers and ragged rows, each with the right line."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from annotate.importers.records import ReadOptions, Record
from annotate.importers.sources import SourceError, bare_suffix, open_text
from db.records import Reject

_FIELD_LIMIT = 2**31 - 1
_DELIMITERS = ("\t", ",", ";", "|")


def read(path: Path, options: ReadOptions) -> Iterator[Record | Reject]:
    """Every row below the header. Blank lines are no rows; a row with too many or too few fields is a Reject."""
    csv.field_size_limit(_FIELD_LIMIT)
    delimiter = options.delimiter or find_delimiter(path, options.encoding)
    with open_text(path, options.encoding) as text:
        tap = _Tap(text)
        reader = csv.reader(tap, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if options.quoting else csv.QUOTE_NONE)
        header = next(reader, None)
        if header is None:
            raise SourceError(f"{path}: the file is empty.", "Its first line should name the columns.")
        yield from _rows(path, reader, tap, _columns(path, header, options.columns))
        if options.quoting and _open_quote(tap.lines, delimiter):
            message = f"{path}: a quote that opens near line {tap.number - len(tap.lines) + 1} is never closed."
            raise SourceError(message, "The file may be cut off; or switch quoting off.")


class _Tap:
    """The lines of a file, the ones of the record that is being read kept at hand.

    The csv module takes a record that breaks off inside quotes for whole, unless told to refuse all loose quoting,
    which real files have; so the last record is looked at once more.
    """

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self.lines: list[str] = []
        self.number = 0
        self.done = True

    def __iter__(self) -> _Tap:
        return self

    def __next__(self) -> str:
        line = self._text.readline()
        if not line:
            raise StopIteration
        if self.done:
            self.lines, self.done = [], False
        self.number += 1
        self.lines.append(line)
        return line


def _open_quote(lines: Sequence[str], delimiter: str) -> bool:
    try:
        list(csv.reader(lines, delimiter=delimiter, strict=True))
    except csv.Error as error:
        return "end of data" in str(error)
    return False


def find_delimiter(path: Path, encoding: str = "") -> str:
    """A tab for .tsv and .tab files; elsewhere the one of tab, comma, semicolon and bar that the header has most of."""
    if bare_suffix(path) in (".tsv", ".tab"):
        return "\t"
    with open_text(path, encoding) as text:
        line = text.readline()
    return max(_DELIMITERS, key=lambda mark: (line.count(mark), mark == ","))


def _columns(path: Path, header: Sequence[str], given: Sequence[str]) -> tuple[str, ...]:
    if given:
        return tuple(given)
    named = [name.strip() for name in header]
    twice = [name for name, count in Counter(named).items() if count > 1]
    if twice:
        places = ", ".join(str(i + 1) for i, name in enumerate(named) if name == twice[0])
        message = f"{path}, line 1: the column {twice[0]!r} is there twice (fields {places})."
        raise SourceError(message, "Rename one of them.")
    return tuple(named)


def _rows(path: Path, reader: Iterator[list[str]], tap: _Tap, columns: tuple[str, ...]) -> Iterator[Record | Reject]:
    width, source = len(columns), path.name
    tap.done = True
    for fields in reader:
        row = tap.number - len(tap.lines) + 1
        tap.done = True
        if len(fields) == width:
            yield Record(row, dict(zip(columns, fields, strict=True)))
        elif fields:
            yield Reject(source, row, f"{len(fields)} fields, but the header has {width}")
