"""Draw a document as GitHub-flavoured Markdown."""

from __future__ import annotations

import re

from annotate.console import visible
from annotate.reports.document import (
    Block,
    Bullets,
    Document,
    Figure,
    Fold,
    Heading,
    Inline,
    Line,
    Name,
    Paragraph,
    Ref,
    Table,
    Verbatim,
)

# Everything that could open markup: study text must never become a link, an image, HTML, a formula or a table column.
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&$@#]|:(?=//)|(?<=www)\.)")


def to_markdown(document: Document) -> str:
    """The whole report; ends with one newline."""
    return "\n".join("\n".join(_block(document, block)) + "\n" for block in document.blocks)


def escape(text: str) -> str:
    """Study text as literal Markdown on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(visible(text).split()))


def _block(document: Document, block: Block) -> list[str]:
    if isinstance(block, Heading):
        return [f"{'#' * block.level} {_line(document, block.line)}"]
    if isinstance(block, Paragraph):
        return [_line(document, block.line)]
    if isinstance(block, Bullets):
        return [f"- {_line(document, line)}" for line in block.lines]
    if isinstance(block, Figure):
        return [f"**{_line(document, block.title)}**", "", f"![{escape(block.text)}](figures/{block.name}.svg)"]
    if isinstance(block, Verbatim):
        return [f"**{_line(document, block.summary)}**", "", *_indented(document.text(block.ref))]
    if isinstance(block, Fold):
        inside = "\n".join("\n".join(_block(document, each)) + "\n" for each in block.blocks)
        return [f"**{_line(document, block.summary)}**", "", inside.rstrip("\n")]
    return _table(document, block)


def _indented(text: str) -> list[str]:
    """Code by indentation: nothing in the text can end it."""
    return [f"    {visible(line)}" for line in text.splitlines()]


def _line(document: Document, line: Line) -> str:
    return "".join(_inline(document, inline) for inline in line)


def _inline(document: Document, inline: Inline) -> str:
    text = document.text(inline)
    studied = isinstance(inline, Name) or (isinstance(inline, Ref) and inline.kind == "text")
    return escape(text) if studied else text


def _table(document: Document, table: Table) -> list[str]:
    lines = [f"**{_line(document, table.title)}**", ""] if table.title else []
    lines.append(_row(document, table.header))
    lines.append("|" + "|".join("---:" if i in table.right else "---" for i in range(len(table.header))) + "|")
    lines += [_row(document, row) for row in table.rows]
    return [*lines, "", _line(document, table.note)] if table.note else lines


def _row(document: Document, cells: tuple[Line, ...]) -> str:
    return "| " + " | ".join(_line(document, cell) or " " for cell in cells) + " |"
