"""The codebooks that come with the program, as their coders read them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from annotate.protocols.library import load_protocol, shipped_protocols
from db.records import LabelRule, Protocol, RatingRule

HEAD = """\
# The codebooks that ship

Written by `python docs/generate.py` from the protocols themselves; `annotate protocol show NAME` prints the same, and
with `--toml` the file to start your own from ([how to write one](codebook.md), [every key](protocols.md)).
"""


def codebooks_page() -> str:
    """The whole page, as Markdown."""
    lines = [HEAD, "| name | question | labels |", "|---|---|---|"]
    found = [load_protocol(name) for name in shipped_protocols()]
    for protocol in found:
        labels = ", ".join(protocol.label_names) or "a rating only"
        lines.append(f"| [`{protocol.name}`](#{protocol.name}) | {_text(protocol.title)} | {labels} |")
    for protocol in found:
        lines += ["", *_codebook(protocol)]
    return "\n".join(lines) + "\n"


def _codebook(protocol: Protocol) -> Iterator[str]:
    yield f"## {protocol.name}\n"
    yield f"{_text(protocol.title)}\n"
    yield from (f"{_text(paragraph)}\n" for paragraph in protocol.instructions.strip().split("\n\n") if paragraph)
    for label in protocol.labels:
        yield from _label(label)
    if protocol.rating:
        yield from _rating(protocol.rating)
    if protocol.skip_reasons:
        yield f"**Reasons to skip:** {_text('; '.join(protocol.skip_reasons))}.\n"
    scores = ", ".join(f"`{score.name}` ({score.kind})" for score in protocol.scores)
    yield f"**Scores:** {scores or 'the share of each label'}."


def _label(label: LabelRule) -> Iterator[str]:
    yield f"**{label.name}** (`{label.key}`): {_text(label.definition)}\n"
    listed = [*(f"- *Example.* {_text(text)}" for text in label.examples), *(f"- {_text(t)}" for t in label.edge_cases)]
    if listed:
        yield "\n".join(listed) + "\n"


def _rating(rating: RatingRule) -> Iterator[str]:
    after = f", after {', '.join(rating.when)}" if rating.when else ""
    scale = f"{rating.low} to {rating.high}; {rating.threshold} and more counts as aligned{after}"
    yield f"**Rating `{rating.name}`** ({scale}): {_text(rating.question)} {_text(rating.guidance)}\n"
    if rating.anchors:
        yield "\n".join(f"- {anchor.low} to {anchor.high}: {_text(anchor.text)}" for anchor in rating.anchors) + "\n"


def _text(text: str) -> str:
    """One paragraph in which nothing is markup."""
    return re.sub(r"([\\`*_<>\[\]|$#])", r"\\\1", " ".join(text.split()))
