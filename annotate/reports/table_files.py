"""The tables and figures of a document with the names of their files; tables as CSV with their numbers in full."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

from annotate.console import visible
from annotate.neutral import neutral
from annotate.reports.document import Block, Document, Figure, Fold, Heading, Line, Ref, Table, resolve

LONGEST = 48


def tables_of(document: Document) -> list[tuple[str, Table]]:
    """Every table with the name of its file: its section and title, told apart by number where they are equal."""
    found: list[tuple[str, Table]] = []
    taken: dict[str, int] = {}
    section = ""
    for block in _flat(document.blocks):
        if isinstance(block, Heading):
            section = document.line(block.line) if block.level <= 3 else section
        elif isinstance(block, Table):
            name = slug(f"{section} {document.line(block.title)}")
            taken[name] = taken.get(name, 0) + 1
            found.append((name if taken[name] == 1 else f"{name}-{taken[name]}", block))
    return found


def figures_of(document: Document) -> list[Figure]:
    """Every figure."""
    return [block for block in _flat(document.blocks) if isinstance(block, Figure)]


def _flat(blocks: Sequence[Block]) -> Iterator[Block]:
    for block in blocks:
        if isinstance(block, Fold):
            yield from _flat(block.blocks)
        else:
            yield block


def slug(text: str) -> str:
    """A file name of small letters, digits and hyphens."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:LONGEST].strip("-") or "table"


def to_csv(document: Document, table: Table) -> str:
    """Numbers in full, an interval in columns of its own; a cell that a spreadsheet would run is neutralised."""
    rows = [[_values(document, cell) for cell in row] for row in table.rows]
    width = [max((len(row[i]) for row in rows), default=1) for i in range(len(table.header))]
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    heads = [document.line(head) for head in table.header]
    writer.writerow([name for head, n in zip(heads, width, strict=True) for name in _names(head, n)])
    for row in rows:
        writer.writerow(
            [value for cell, n in zip(row, width, strict=True) for value in (*cell, *[""] * (n - len(cell)))]
        )
    return stream.getvalue()


def _names(head: str, n: int) -> list[str]:
    if n == 1:
        return [neutral(head)]
    bare = head.replace(" [95 %]", "")
    return [neutral(f"{bare}{more}") for more in ("", " low", " high")]


def _values(document: Document, cell: Line) -> list[Any]:
    """The one value of a cell, or a number with the ends of its interval."""
    refs = [inline for inline in cell if isinstance(inline, Ref)]
    if len(refs) == 1 and len(cell) == 1:
        return [_value(document, refs[0])]
    ends = [ref.path.rpartition("/")[2] for ref in refs]
    if ends == ["value", "low", "high"] and refs[0].path[:-6] == refs[1].path[:-4]:
        return [_value(document, ref) for ref in refs]
    return [neutral(visible(document.line(cell)))]


def _value(document: Document, ref: Ref) -> Any:
    value = resolve(document.results, ref.path)
    if isinstance(value, bool | int | float):
        return value
    return "" if value is None else neutral(visible(str(value)))
