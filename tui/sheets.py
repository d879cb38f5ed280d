"""The pages that cover the item: codebook and keys, the session's summary, what changed in the codebook."""

from __future__ import annotations

from db.records import PendingChange
from tui.codebook import codebook, keys
from tui.document import Document, Span, Writer
from tui.keymachine import Desk
from tui.safetext import safe
from tui.summary import SessionSummary

GAP = "\n\n"


def help_page(desk: Desk, looked_up: str | None) -> tuple[Document, int]:
    """The codebook with the rule that is looked up in full, then every key; and where that rule starts."""
    rules, starts = codebook(desk.protocol, desk.keymap, looked_up)
    title = Writer().line(safe(desk.protocol.title).one_line(), "strong").document()
    page = _joined(title, rules, keys(desk.keymap))
    return page, len(title.text) + len(GAP) + starts[looked_up] if looked_up in starts else 0


def _joined(*documents: Document) -> Document:
    """Documents one under the other."""
    text, hidden = "", 0
    spans: list[Span] = []
    indents: dict[int, tuple[int, int]] = {}
    for document in documents:
        start = len(text)
        text += document.text + GAP
        hidden += document.hidden
        spans += [Span(span.start + start, span.end + start, span.style) for span in document.spans]
        indents |= {at + start: indent for at, indent in document.indents.items()}
    return Document(text.rstrip("\n"), hidden, tuple(spans), indents)


def summary_page(summary: SessionSummary) -> Document:
    """Items, pace and time."""
    writer = Writer().line("This session", "strong").line()
    for name, value in summary.lines():
        writer.line(f"{name:<16}", "quiet", indent=(2, 18)).add(safe(value).one_line(2000))
    return writer.document()


def change_page(change: PendingChange) -> Document:
    """The difference between the codebook that was confirmed and the one in force: ``-`` is gone, ``+`` is new."""
    import difflib  # needed once in a while, and slow to load

    old, new = change.confirmed, change.current
    kind = "labels stay valid" if new.change == "editorial" else "some labels must be given again"
    writer = Writer().line(f"Codebook version {old.version} has become version {new.version}: {kind}.", "strong").line()
    for line in difflib.unified_diff(old.toml.split("\n"), new.toml.split("\n"), lineterm="", n=1):
        if not line.startswith(("---", "+++")):
            style = {"-": "own", "+": "label"}.get(line[:1])
            writer.line("", indent=(0, 2)).add(safe("…" if line.startswith("@@") else line), style)  # type: ignore[arg-type]
    return writer.document()
