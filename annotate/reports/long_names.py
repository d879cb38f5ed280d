"""Names that no column of a printed table can hold: shortened in the table, in full beneath it."""

from __future__ import annotations

from annotate.console import visible
from annotate.reports.document import Document, Line, Name, Table

LONGEST = 64
"""Letters of a name that a table still prints in full, on as many lines as it takes."""
_HEAD, _TAIL = 12, 10


def short_names(table: Table) -> dict[str, str]:
    """What stands for each name of the table that is too long, by the name; different for different names."""
    lines = [table.title, table.note, *table.header, *(cell for row in table.rows for cell in row)]
    names = [inline.text for line in lines for inline in line if isinstance(inline, Name)]
    long = [name for name in dict.fromkeys(map(_shown, names)) if len(name) > LONGEST]
    found: dict[str, str] = {}
    for name in long:
        short = f"{name[:_HEAD].rstrip()}…{name[-_TAIL:].lstrip()}"
        same = sum(each.startswith(short) for each in found.values())
        found[name] = f"{short} ({same + 1})" if same else short
    return found


def shortened(document: Document, line: Line, names: dict[str, str]) -> str:
    """A whole line as plain text, with what stands for its long names."""
    text = document.line(line)
    if not names or len(text) <= LONGEST:
        return text
    text = _shown(text)
    for name, short in names.items():
        text = text.replace(name, short)
    return text


def _shown(text: str) -> str:
    return " ".join(visible(text).split())
