"""What the plain mode says: 'name: value' lines, no drawing. What comes from the study is made safe first."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from db.records import Annotation, LabelRule, PendingChange, Progress, Protocol, RatingRule
from tui.codebook import flowing
from tui.differences import differences
from tui.document import Document
from tui.keymap import Keymap
from tui.parts import Part
from tui.requests import View
from tui.safetext import safe

LONG = 300
"""Words from which on a context is cut when an item is met; ``r context`` reads all of it."""

HELP = (
    ("a label's letter or name", "labels the item; Enter after it"),
    ("a number", "the rating, where one is asked for"),
    ("r, r context, r response ...", "repeats the item, or one part of it in full"),
    ("rules, rules HEDGE", "the codebook, or one label's rule in full"),
    ("u, redo", "undo, do it again"),
    ("n, n some words", "a note"),
    ("f, f technical", "flag for discussion, or as a technical failure; the same again takes it off"),
    ("s", "skip with a reason"),
    ("back, next, g 12", "another item"),
    ("g open, g flagged, g skipped", "the next item of that kind"),
    ("find some words", "says where they occur in this item"),
    ("compare", "the words that response and gold answer share; its use is recorded"),
    ("summary", "items, pace and time"),
    ("q", "leave"),
)


def line(name: str, value: str) -> str:
    """``name: value``, the value made safe."""
    return f"{name}: {safe(value).text}"


def part_lines(part: Part, *, whole: bool) -> Iterator[str]:
    """One part of an item; a long context only from its start, unless ``whole``."""
    text, words = part.document.text, part.document.words
    if part.name == "context" and not whole and words > LONG:
        start = " ".join(text.split()[:60])
        yield f"context, the first 60 of {words:,} words: {start}"
        yield "context: type r context to read all of it"
    else:
        yield f"{part.title.lower()}: {text}"
    if part.document.hidden:
        yield f"{part.title.lower()}, hidden characters: {part.document.hidden:,}"


def item_line(view: View) -> str:
    """``item: 3 of 37; 2 done, 35 left``; numbers run on over rounds, counts are those of the open ones."""
    assert view.item is not None
    total = f" of {view.progress.total:,}" if view.item.position <= view.progress.total else ""
    return f"item: {view.item.position:,}{total}; {progress_words(view.progress)}"


def progress_words(progress: Progress) -> str:
    told = f"{progress.done:,} done, {progress.left:,} left"
    told += f", {progress.skipped:,} skipped" if progress.skipped else ""
    return told + (f", {progress.flagged:,} flagged" if progress.flagged else "")


def standing_lines(view: View) -> Iterator[str]:
    """What stands on the item already."""
    annotation = view.annotation
    if annotation is not None and (annotation.label or annotation.rating is not None):
        yield line(
            "label now", answer_words(annotation) + (", given under an old codebook" if annotation.stale else "")
        )
    if annotation is not None and annotation.flags:
        yield line("flags", ", ".join(annotation.flags))
    if annotation is not None and annotation.skip_reason:
        yield line("skipped", annotation.skip_reason)
    if view.draft:
        yield line("unsent note", view.draft)
    elif annotation is not None and annotation.note:
        yield line("note", annotation.note)


def answer_words(annotation: Annotation) -> str:
    """``CORRECT, rating 70``."""
    told = [annotation.label] if annotation.label else []
    return ", ".join(told + ([f"rating {annotation.rating}"] if annotation.rating is not None else []))


def question_words(protocol: Protocol, keymap: Keymap) -> str:
    """The prompt of an item."""
    if protocol.rating_only and protocol.rating is not None:
        return rating_words(protocol.rating)
    labels = ", ".join(f"{key} {safe(name).text}" for key, name in keymap.labels.items())
    return f"label ({labels}), or help:"


def rating_words(rule: RatingRule) -> str:
    steps = f" in steps of {rule.step}" if rule.step > 1 else ""
    return f"{safe(rule.name).text}, {rule.low} to {rule.high}{steps}:"


def rules_lines(protocol: Protocol, keymap: Keymap, label: str | None) -> Iterator[str]:
    """The codebook; all of one rule where a label is named."""
    for rule in protocol.labels:
        if label in (None, rule.name):
            yield from _rule_lines(rule, keymap.label_key(rule.name), full=label is not None)
    if label is None:
        yield from _rating_lines(protocol)
        for text in flowing(protocol.instructions):
            yield line("how to code", text)


def _rule_lines(rule: LabelRule, key: str, *, full: bool) -> Iterator[str]:
    yield line(f"{key}, {rule.name}", " ".join(rule.definition.split()))
    if full:
        yield from (line("example", text) for text in rule.examples)
        yield from (line("edge case", text) for text in rule.edge_cases)


def _rating_lines(protocol: Protocol) -> Iterator[str]:
    rule = protocol.rating
    if rule is not None:
        yield line("rating", rule.question)
        yield from (line(f"{anchor.low} to {anchor.high}", anchor.text) for anchor in rule.anchors)


def change_lines(change: PendingChange) -> Iterator[str]:
    """What was removed from the codebook and what was added, line by line."""
    yield f"codebook: version {change.confirmed.version} has become version {change.current.version}"
    for told in difflib.ndiff(change.confirmed.toml.split("\n"), change.current.toml.split("\n")):
        if told[:1] in "+-":
            yield line("added" if told[0] == "+" else "removed", told[2:])


def found_lines(parts: list[Part], words: str, found: list[tuple[str, int]]) -> Iterator[str]:
    """Each place with some words around it: at most ten of them."""
    yield f"found: {len(found):,} time{'' if len(found) == 1 else 's'}"
    documents: dict[str, Document] = {part.title.lower(): part.document for part in parts}
    for title, start in found[:10]:
        text = documents[title].text
        yield f"{title}: {' '.join(text[max(start - 40, 0) : start + len(words) + 40].split())}"


def compare_lines(parts: list[Part]) -> Iterator[str]:
    """The words that response and gold answer share, and those of the gold answer that the response lacks."""
    by_name = {part.name: part.document for part in parts}
    _, wanted = differences(by_name["response"], by_name["gold"])
    text = by_name["gold"].text
    for name, style in (("shared", "shared"), ("only in the gold answer", "own")):
        words = [text[span.start : span.end] for span in wanted if span.style == style]
        yield f"{name}: {', '.join(dict.fromkeys(words)) or 'none'}"
