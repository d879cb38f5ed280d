"""The codebook as a document: beside the item, on the help screen, and in the plain mode."""

from __future__ import annotations

import re

from db.records import LabelRule, Protocol
from tui.actions import ACTIONS, FIXED, ROLES, spell
from tui.document import Document, Writer
from tui.keymap import Keymap
from tui.modes import Mode
from tui.safetext import safe

INDENT = 3
RATING = "(rating)"
"""The key of the rating's own section among the starts."""
_ENDS = (".", "?", "!", '"')
_POINT = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s+")


def codebook(protocol: Protocol, keymap: Keymap, considered: str | None = None) -> tuple[Document, dict[str, int]]:
    """The rules of all labels, that of ``considered`` in full; and the offset at which each label's rule starts."""
    writer, starts = Writer(), dict[str, int]()
    for rule in protocol.labels:
        starts[rule.name] = writer.size + 1 if writer.size else 0
        _rule(writer, rule, keymap.label_key(rule.name), full=rule.name == considered)
        writer.line()
    if protocol.rating is not None:
        starts[RATING] = writer.size + 1 if writer.size else 0
        _rating(writer, protocol)
        writer.line()
    if protocol.instructions:
        writer.line("How to code", "strong")
        for line in flowing(protocol.instructions):
            marker = len(line) - len(_POINT.sub("", line))
            writer.line(safe(line), indent=(0, marker))
    return writer.document(), starts


def _rule(writer: Writer, rule: LabelRule, key: str, *, full: bool) -> None:
    writer.line(f" {key} ", "key").add(" ").add(safe(rule.name), "label")
    _flowing(writer, rule.definition, INDENT + 1)
    if not full:
        return
    for title, lines in (("Examples", rule.examples), ("Edge cases", rule.edge_cases)):
        if lines:
            writer.line(title, "quiet", indent=(INDENT + 1, INDENT + 1))
        for line in lines:
            writer.line("· ", "quiet", indent=(INDENT + 1, INDENT + 3)).add(safe(line).one_line(2000))


def _flowing(writer: Writer, text: str, indent: int) -> None:
    """A definition comes wrapped from its file: let each of its paragraphs flow."""
    for line in flowing(text, by_sentence=False):
        marker = len(line) - len(_POINT.sub("", line))
        writer.line(safe(line), indent=(indent, indent + marker))


def flowing(text: str, *, by_sentence: bool = True) -> list[str]:
    """Paragraphs and points as one line each: a text comes wrapped from its file, and is wrapped anew for the panel.

    ``by_sentence``: a line that ends a sentence is the end of its paragraph, as instructions are written.
    """
    lines: list[str] = []
    for line in text.strip().split("\n"):
        ended = not lines or not lines[-1] or (by_sentence and lines[-1].endswith(_ENDS))
        if line.strip() and not ended and not _POINT.match(line):
            lines[-1] += " " + line.strip()
        else:
            lines.append(line.strip())
    return lines


def _rating(writer: Writer, protocol: Protocol) -> None:
    rule = protocol.rating
    assert rule is not None
    writer.line("Rating ", "strong").add(safe(rule.question))
    for anchor in rule.anchors:
        span = f"{anchor.low}" if anchor.low == anchor.high else f"{anchor.low}-{anchor.high}"
        writer.line(f"{span:>6}  ", "label", indent=(0, 8)).add(safe(anchor.text))
    if rule.step > 1:
        writer.line(f"In steps of {rule.step}.", "quiet")
    writer.line(f"{rule.threshold} and more counts as aligned.", "quiet")
    if rule.guidance:
        _flowing(writer, rule.guidance, 0)


def keys(keymap: Keymap) -> Document:
    """Every key, from the bindings in force."""
    writer = Writer()
    for role, title in ROLES.items():
        writer.line(title, "strong")
        for action in ACTIONS:
            if action.role == role:
                shown = ", ".join(spell(key) for key in keymap.keys[action.name]) or "(no key)"
                writer.line(f"{shown:<18} ", "label", indent=(2, 21)).add(f"{action.title}. {action.help}")
        writer.line()
    writer.line("Inside a panel or a line of input", "strong")
    for mode in Mode:
        told = [f"{fixed.keys} {fixed.meaning}" for fixed in FIXED if fixed.mode is mode]
        if told:
            writer.line(f"{mode.value:<18} ", "label", indent=(2, 21)).add("; ".join(told))
    return writer.document()
