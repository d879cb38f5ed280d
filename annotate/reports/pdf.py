"""Draw a document as a tagged PDF (PDF/UA-1 where fonts allow) with the typst wheel, the extra [pdf].

The document goes to typst as JSON and is set as plain strings, so that study text cannot be read as typst's markup. No
date stands in the file. Its fonts are those that the wheel carries; the machine's are asked only where a text has
letters that they lack, and then the bytes depend on the machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, Final

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
    interval_at,
)
from annotate.reports.figures import to_svg
from annotate.reports.wrapping import seams

FONT = "Libertinus Serif"
STANDARD: Final = "ua-1"
_COVERED = re.compile("[\x20-\u04ff\u1e00-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\u209f\u20ac\u2100-\u22ff\n\t�␀-␡]*")
_LONG = 16


def to_pdf(document: Document, *, title: str) -> bytes:
    """The whole report. Raises ModuleNotFoundError without the extra."""
    import typst

    found = json.dumps(_document(document, title), ensure_ascii=False)
    template = files("annotate.reports").joinpath("report_typst.txt").read_bytes()
    bare = _COVERED.fullmatch(found) is not None
    how: Any = {"sys_inputs": {"document": found}, "format": "pdf", "ignore_system_fonts": bare, "timestamp": 0}
    try:
        written: bytes = typst.compile(template, pdf_standards=STANDARD, **how)
    except (
        typst.TypstError
    ):  # the standard refuses letters that no font here has: they are boxes then, and all else stands
        written = typst.compile(template, **how)
    return written


def _document(document: Document, title: str) -> dict[str, Any]:
    blocks = [each for block in document.blocks for each in _block(document, block)]
    first = next((at for at, block in enumerate(blocks) if block["kind"] == "heading"), len(blocks))
    blocks.insert(first, {"kind": "contents"})
    shown = " ".join(visible(title).split()) or "Report"
    return {"title": shown, "foot": shown if len(shown) <= 80 else f"{shown[:79]}…", "blocks": blocks}


def _block(document: Document, block: Block) -> Iterator[dict[str, Any]]:
    if isinstance(block, Heading):
        yield _heading(document, block)
    elif isinstance(block, Paragraph):
        yield {"kind": "paragraph", "line": _line(document, block.line)}
    elif isinstance(block, Bullets):
        yield {"kind": "bullets", "lines": [_line(document, line) for line in block.lines]}
    elif isinstance(block, Table):
        yield _table(document, block)
    elif isinstance(block, Figure):
        svg = to_svg(document, block, alone=True, font=FONT)
        yield {"kind": "figure", "title": _line(document, block.title), "text": block.text, "svg": svg}
    elif isinstance(block, Verbatim):
        text = "\n".join(visible(line) for line in document.text(block.ref).splitlines())
        yield {"kind": "verbatim", "line": _line(document, block.summary), "text": text}
    elif isinstance(block, Fold):
        yield {"kind": "summary", "line": _line(document, block.summary)}
        for each in block.blocks:
            yield from _block(document, each)


def _heading(document: Document, block: Heading) -> dict[str, Any]:
    if block.level == 1:  # the title of the file
        return {"kind": "title"}
    line = _line(document, block.line) if document.line(block.line).strip() else [["–"]]
    return {"kind": "heading", "level": block.level - 1, "line": line}


def _table(document: Document, table: Table) -> dict[str, Any]:
    return {
        "kind": "table",
        "title": _line(document, table.title),
        "header": [_line(document, cell) for cell in table.header],
        "cells": [_line(document, cell) for row in table.rows for cell in row],
        "right": list(table.right),
        "note": _line(document, table.note),
    }


def _line(document: Document, line: Line) -> list[list[str]]:
    """Pieces of a line, each as the parts between which it may break; an interval is one part."""
    found, at = [], 0
    while at < len(line):
        many = 5 if interval_at(line, at) else 1
        whole = document.line(line[at : at + many])
        found.append([whole.replace(" ", "\u00a0")] if many > 1 else _parts(document, line[at]))
        at += many
    return found


def _parts(document: Document, inline: Inline) -> list[str]:
    text = visible(document.text(inline)).replace("\n", " ")
    studied = isinstance(inline, Name) or (isinstance(inline, Ref) and inline.kind == "text")
    if not studied or all(len(word) < _LONG for word in text.split()):
        return [text]
    return seams(text)
