"""An item as the parts that a coder reads, in reading order; the screen and the plain mode show the same ones."""

from __future__ import annotations

from typing import Literal, NamedTuple

from db.records import CodingItem
from tui.document import Document, Writer
from tui.safetext import safe

Name = Literal["question", "context", "response", "second", "gold", "rationale", "answer"]


class Part(NamedTuple):
    """One panel: a short title and what it holds."""

    name: Name
    title: str
    document: Document

    @property
    def judged(self) -> bool:
        """True for what is to be labelled, as opposed to what it is held against."""
        return self.name in ("response", "second")


def parts(item: CodingItem) -> tuple[Part, ...]:
    """The parts that ``item`` has; a question and a response are always there."""
    found = [Part("question", "Question", _question(item))]
    if item.context:
        found.append(Part("context", "Context", _text(item.context)))
    found += _responses(item)
    if item.gold:
        found.append(Part("gold", "Gold", _listed(item.gold)))
    if item.rationale:
        found.append(Part("rationale", "Rationale", _text(item.rationale)))
    if item.answer:
        found.append(Part("answer", "Answer", _text(item.answer)))
    return tuple(found)


def _text(raw: str) -> Document:
    return Writer().add(safe(raw)).document()


def _listed(answers: tuple[str, ...]) -> Document:
    writer = Writer()
    for answer in answers:
        writer.line(safe(answer))
    return writer.document()


def _question(item: CodingItem) -> Document:
    writer = Writer().add(safe(item.question), "strong")
    for number, option in enumerate(item.options, start=1):
        writer.line(f"{number}  ", "quiet", indent=(0, 3)).add(safe(option))
    return writer.document()


def _responses(item: CodingItem) -> list[Part]:
    if item.text_b is None:
        return [Part("response", "Response", _response(item))]
    first, second = (item.text_b, item.text) if item.sides_swapped else (item.text, item.text_b)
    return [Part("response", "First", _text(first)), Part("second", "Second", _text(second))]


def _response(item: CodingItem) -> Document:
    writer = Writer()
    if item.text or not item.reason:
        writer.add(safe(item.text))
    if not item.text.strip() and not item.reason:
        writer.add("(the response is empty)", "quiet")
    if item.choice is not None:
        writer.line("Choice  ", "quiet").add(safe(item.choice).one_line())
    if item.reason:
        writer.line("Stated reason", "quiet").line(safe(item.reason))
    return writer.document()
