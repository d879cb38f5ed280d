"""The small pieces that every part of a report is made of: a number with its interval, a name, a table of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotate.reports.document import Inline, Kind, Line, Name, Paragraph, Ref, Table, resolve

NAMELESS = "(all responses)"
Cell = Inline | Line


class Pieces:
    """Builds lines that point into one results tree. ``root`` is where a part of it stands."""

    def __init__(self, results: Mapping[str, Any]) -> None:
        self.results = results

    def get(self, path: str) -> Any:
        return resolve(self.results, path)

    def estimate(self, path: str, kind: Kind = "share") -> Line:
        """A number with its interval in brackets; where it is undefined, the reason."""
        found = self.get(path)
        if found is None:
            return ("not computed",)
        if found["value"] is None:
            reason = "undefined" if "undefined" in found else "reason"
            return ("undefined: ", Ref(f"{path}/{reason}", "text"))
        value: Line = (Ref(f"{path}/value", kind),)
        return value if found["low"] is None else (*value, " ", *self.interval(path, kind))

    def interval(self, path: str, kind: Kind = "share") -> Line:
        return ("[", Ref(f"{path}/low", kind), ", ", Ref(f"{path}/high", kind), "]")

    def value(self, path: str, kind: Kind = "share") -> Line:
        """A number alone; a dash where it is undefined."""
        return ("–",) if self.get(path) is None else (Ref(path, kind),)

    def count(self, path: str) -> Line:
        return (Ref(path, "count"),)

    def texts(self, path: str) -> list[Line]:
        """Each text of a list as a line of its own."""
        return [(Ref(f"{path}/{at}", "text"),) for at in range(len(self.get(path)))]


def name(text: str) -> Name:
    """A name of the study; an empty one says what it stands for."""
    return Name(text or NAMELESS)


def said(*parts: Inline | Iterable[Inline]) -> Line:
    """A line out of words, names, numbers and other lines."""
    found: list[Inline] = []
    for part in parts:
        if isinstance(part, str | Name | Ref):
            found.append(part)
        else:
            found.extend(part)
    return tuple(found)


def paragraph(*parts: Inline | Iterable[Inline]) -> Paragraph:
    return Paragraph(said(*parts))


def row(*cells: Cell) -> tuple[Cell, ...]:
    """The cells of one row, or of a header."""
    return cells


def table(
    title: Cell,
    header: Sequence[Cell],
    rows: Iterable[Sequence[Cell]],
    *,
    right: Iterable[int] = (),
    note: Line = (),
) -> Table:
    """A table whose cells may be a word, a name, a number or a line of them."""
    return Table(
        _line(title) if title else (),
        tuple(_line(head) for head in header),
        tuple(tuple(_line(cell) for cell in row) for row in rows),
        tuple(right),
        note,
    )


def _line(cell: Cell) -> Line:
    return cell if isinstance(cell, tuple) else (cell,)
