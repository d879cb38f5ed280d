"""Draw a document as one HTML file that needs nothing else: no script, no font, no request.

Every number stands in an element whose ``data-ref`` is its JSON pointer into results.json and whose ``data-kind`` says
how it was printed; every name from the study stands in an element with ``data-name``.
"""

from __future__ import annotations

from html import escape as escape_html
from importlib.resources import files

from annotate.console import visible
from annotate.reports.document import Block, Bullets, Document, Heading, Inline, Line, Name, Paragraph, Ref, Table

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def to_html(document: Document, *, title: str) -> str:
    """The whole report as one page; ``title`` is study text and is escaped."""
    style = files("annotate.reports").joinpath("report.css").read_text(encoding="utf-8")
    body = "\n".join(_block(document, block) for block in document.blocks)
    return _PAGE.format(title=escape(title), style=style, body=body)


def escape(text: str) -> str:
    """Study text as literal HTML, its control characters made visible."""
    return escape_html(visible(text), quote=True)


def _block(document: Document, block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h{block.level}>{_line(document, block.line)}</h{block.level}>"
    if isinstance(block, Paragraph):
        return f"<p>{_line(document, block.line)}</p>"
    if isinstance(block, Bullets):
        return "<ul>" + "".join(f"<li>{_line(document, line)}</li>" for line in block.lines) + "</ul>"
    return _table(document, block)


def _line(document: Document, line: Line) -> str:
    return "".join(_inline(document, inline) for inline in line)


def _inline(document: Document, inline: Inline) -> str:
    text = escape(document.text(inline))
    if isinstance(inline, Ref):
        return f'<span data-ref="{escape(inline.path)}" data-kind="{inline.kind}">{text}</span>'
    return f"<span data-name>{text}</span>" if isinstance(inline, Name) else text


def _table(document: Document, table: Table) -> str:
    caption = f"<caption>{_line(document, table.title)}</caption>" if table.title else ""
    head = "".join(_cell(document, "th", cell, i in table.right, ' scope="col"') for i, cell in enumerate(table.header))
    rows = "\n".join(
        "<tr>" + "".join(_cell(document, "td", cell, i in table.right) for i, cell in enumerate(row)) + "</tr>"
        for row in table.rows
    )
    note = f'<p class="note">{_line(document, table.note)}</p>' if table.note else ""
    body = f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>"
    return f'<div class="table"><table>{caption}{body}</table></div>{note}'


def _cell(document: Document, tag: str, cell: Line, right: bool, more: str = "") -> str:
    side = ' class="n"' if right else ""
    return f"<{tag}{side}{more}>{_line(document, cell)}</{tag}>"
