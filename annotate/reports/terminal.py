"""Draw a document in the terminal, as styled text that never reads study text as styling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotate.console import out, plain_rows, speaks_plainly, visible
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
    Table,
    Verbatim,
)

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text


def show(document: Document) -> None:
    """Print every block to stdout; line by line where that is wanted."""
    if speaks_plainly():
        for block in document.blocks:
            _speak(document, block)
        return
    console = out()
    for block in document.blocks:
        console.print(_renderable(document, block, console.width))


def _speak(document: Document, block: Block) -> None:
    if isinstance(block, Table):
        lines = [[visible(document.line(cell)) for cell in row] for row in block.rows]
        if block.title:
            print(visible(document.line(block.title)) + ":")
        plain_rows([visible(document.line(cell)) for cell in block.header], lines)
        if block.note:
            print(visible(document.line(block.note)))
    elif isinstance(block, Fold):
        print(visible(document.line(block.summary)))
        for each in block.blocks:
            _speak(document, each)
    else:
        for line in _spoken(block):
            print(visible(document.line(line)))


def _spoken(block: Heading | Paragraph | Bullets | Figure | Verbatim) -> tuple[Line, ...]:
    if isinstance(block, Bullets):
        return block.lines
    if isinstance(block, Figure):
        return (("Figure, in the report as a file: ", *block.title),)
    return ((*block.summary, ":"), (block.ref,)) if isinstance(block, Verbatim) else (block.line,)


def _renderable(document: Document, block: Block, width: int) -> RenderableType:
    if isinstance(block, Heading):
        text = _text(document, block.line)
        text.stylize("bold underline" if block.level == 1 else "bold")
        return text if block.level == 1 else _before(text)
    if isinstance(block, Paragraph):
        return _text(document, block.line)
    if isinstance(block, Bullets):
        return _bullets(document, block)
    if isinstance(block, Figure):
        return _text(document, ("Figure, in the report as a file: ", *block.title))
    if isinstance(block, Verbatim):
        return _text(document, (*block.summary, ":\n", block.ref))
    if isinstance(block, Fold):
        from rich.console import Group

        return Group(_text(document, block.summary), *(_renderable(document, each, width) for each in block.blocks))
    return _table(document, block, width)


def _before(text: Text) -> RenderableType:
    from rich.padding import Padding

    return Padding(text, (1, 0, 0, 0))


def _text(document: Document, line: Line) -> Text:
    from rich.text import Text

    return Text.assemble(*(_piece(document, inline) for inline in line))


def _piece(document: Document, inline: Inline) -> tuple[str, str]:
    text = visible(document.text(inline))
    return (" ".join(text.split()), "bold") if isinstance(inline, Name) else (text, "")


def _bullets(document: Document, block: Bullets) -> RenderableType:
    from rich.table import Table as Grid

    grid = Grid.grid(padding=(0, 1))
    grid.add_column(width=1)
    grid.add_column(overflow="fold")
    for line in block.lines:
        grid.add_row("•", _text(document, line))
    return grid


def _table(document: Document, block: Table, width: int) -> RenderableType:
    from rich.console import Group

    from annotate.reports.terminal_table import grids

    parts: list[RenderableType] = []
    if block.title:
        title = _text(document, block.title)
        title.stylize("bold")
        parts.append(_before(title))
    header = [_text(document, head) for head in block.header]
    parts += grids(block, header, [[_text(document, cell) for cell in row] for row in block.rows], width)
    if block.note:
        parts.append(_text(document, block.note))
    return Group(*parts)
