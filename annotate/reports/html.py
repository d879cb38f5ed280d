"""Draw a document as one HTML file that needs nothing else: no script, no font, no request.

Every number stands in an element whose ``data-ref`` is its JSON pointer into results.json and whose ``data-kind`` says
how it was printed; every name from the study stands in an element with ``data-name``. Tables can be scrolled with the
keyboard and their first column heads its row; what is folded away opens with the keyboard and is printed open.
"""

from __future__ import annotations

from html import escape as escape_html
from importlib.resources import files

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
<a class="skip" href="#content">Skip to the report</a>
{contents}<main id="content" tabindex="-1">
{body}
</main>
</body>
</html>
"""


def to_html(document: Document, *, title: str) -> str:
    """The whole report as one page; ``title`` is study text and is escaped."""
    style = files("annotate.reports").joinpath("report.css").read_text(encoding="utf-8")
    page = _Page(document)
    body = "\n".join(page.block(block) for block in document.blocks)
    return _PAGE.format(title=escape(title), style=style, contents=page.contents(), body=body)


def escape(text: str) -> str:
    """Study text as literal HTML, its control characters made visible."""
    return escape_html(visible(text), quote=True)


class _Page:
    """Writes blocks and remembers the sections that they open."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.sections: list[tuple[str, str]] = []

    def block(self, block: Block) -> str:
        if isinstance(block, Heading):
            return self._heading(block)
        if isinstance(block, Paragraph):
            return f"<p>{self.line(block.line)}</p>"
        if isinstance(block, Bullets):
            return "<ul>" + "".join(f"<li>{self.line(line)}</li>" for line in block.lines) + "</ul>"
        if isinstance(block, Figure):
            caption = f"<figcaption>{self.line(block.title)}</figcaption>"
            label = escape(self.document.line(block.title))
            return f'<figure tabindex="0" aria-label="{label}">{caption}{to_svg(self.document, block)}</figure>'
        if isinstance(block, Verbatim):
            return self._fold(block.summary, f"<pre>{self._verbatim(block.ref)}</pre>")
        if isinstance(block, Fold):
            return self._fold(block.summary, "\n".join(self.block(each) for each in block.blocks))
        return self._table(block)

    def contents(self) -> str:
        """Links to the sections, where there are several."""
        if len(self.sections) < 2:
            return ""
        links = "".join(f'<li><a href="#{place}">{name}</a></li>' for place, name in self.sections)
        return f'<nav aria-label="Sections"><ul>{links}</ul></nav>\n'

    def line(self, line: Line) -> str:
        """The inlines one after the other; an interval stays on one line of the page."""
        found, at = "", 0
        while at < len(line):
            many = 5 if interval_at(line, at) else 1
            text = "".join(self._inline(inline) for inline in line[at : at + many])
            found += f'<span class="i">{text}</span>' if many > 1 else text
            at += many
        return found

    def _heading(self, block: Heading) -> str:
        text = self.line(block.line)
        if block.level != 2:
            return f"<h{block.level}>{text}</h{block.level}>"
        place = "-".join("".join(c if c.isalpha() else " " for c in self.document.line(block.line)).lower().split())
        taken = {name for name, _ in self.sections}
        while place in taken:
            place += "-again"
        self.sections.append((place, text))
        return f'<h2 id="{place}">{text}</h2>'

    def _inline(self, inline: Inline) -> str:
        text = escape(self.document.text(inline))
        if isinstance(inline, Ref):
            return f'<span data-ref="{escape(inline.path)}" data-kind="{inline.kind}">{text}</span>'
        return f"<span data-name>{text}</span>" if isinstance(inline, Name) else text

    def _verbatim(self, ref: Ref) -> str:
        lines = "\n".join(escape(line) for line in self.document.text(ref).splitlines())
        return f'<span data-ref="{escape(ref.path)}" data-kind="{ref.kind}">{lines}</span>'

    def _fold(self, summary: Line, inside: str) -> str:
        return f"<details><summary>{self.line(summary)}</summary>\n{inside}\n</details>"

    def _table(self, table: Table) -> str:
        caption = f"<caption>{self.line(table.title)}</caption>" if table.title else ""
        head = "".join(
            f'<th scope="col"{self._side(i, table)}>{self.line(cell)}</th>' for i, cell in enumerate(table.header)
        )
        rows = "\n".join(self._row(row, table) for row in table.rows)
        note = f'<p class="note">{self.line(table.note)}</p>' if table.note else ""
        body = f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>"
        label = escape(self.document.line(table.title) or "Table")
        box = f'<div class="table" role="region" tabindex="0" aria-label="{label}">'
        return f"{box}<table>{caption}{body}</table></div>{note}"

    def _row(self, row: tuple[Line, ...], table: Table) -> str:
        first = f'<th scope="row"{self._side(0, table)}>{self.line(row[0])}</th>' if row else ""
        rest = (f"<td{self._side(i, table)}>{self.line(cell)}</td>" for i, cell in enumerate(row[1:], 1))
        return f"<tr>{first}{''.join(rest)}</tr>"

    @staticmethod
    def _side(column: int, table: Table) -> str:
        return ' class="n"' if column in table.right else ""
