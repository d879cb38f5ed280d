"""A protocol as a page for coders in the terminal, and as facts for machines."""

from __future__ import annotations

from typing import Any

from annotate.console import out, visible
from db.records import LabelRule, Protocol, RatingRule


def protocol_facts(protocol: Protocol) -> dict[str, Any]:
    """What a protocol declares, as plain JSON values."""
    return {
        "name": protocol.name,
        "title": protocol.title,
        "version": protocol.version,
        "digest": protocol.digest,
        "labels": [{"name": label.name, "key": label.key, "title": label.title} for label in protocol.labels],
        "rating": _rating_facts(protocol),
        "pairwise": protocol.pairwise,
        "judges": {judge.name: dict(judge.mapping) for judge in protocol.judges},
        "scores": [{"name": score.name, "kind": score.kind, "title": score.title} for score in protocol.scores],
        "impossible": [{"label": i.label, "field": i.field, "values": list(i.values)} for i in protocol.impossible],
        "skip_reasons": list(protocol.skip_reasons),
    }


def _rating_facts(protocol: Protocol) -> dict[str, Any] | None:
    rating = protocol.rating
    if rating is None:
        return None
    asked = "always" if protocol.rating_only else list(rating.when)
    return {"name": rating.name, "low": rating.low, "high": rating.high, "threshold": rating.threshold, "when": asked}


def print_codebook(protocol: Protocol) -> None:
    """Print the codebook: instructions, then each label with definition, examples and edge cases."""
    from rich.text import Text

    console = out()
    console.print(Text(visible(protocol.title), style="bold underline"))
    console.print(Text(visible(protocol.instructions)))
    for label in protocol.labels:
        _label(console, label)
    if protocol.rating is not None:
        _rating(console, protocol.rating, always=protocol.rating_only)
    for rule in protocol.impossible:
        where = f"{rule.label} where {rule.field} is {', '.join(rule.values)}"
        console.print(Text(visible(f"\n{where}: needs a note, because {rule.reason}.")))
    console.print(Text(visible(f"\nSkip for: {'; '.join(protocol.skip_reasons)}.")))


def _label(console: Any, label: LabelRule) -> None:
    from rich.text import Text

    console.print(
        Text.assemble("\n", (f"{visible(label.key)}  {visible(label.name)}", "bold"), f"  {visible(label.title)}")
    )
    console.print(Text(visible(label.definition)))
    for word, lines in (("Examples", label.examples), ("Edge cases", label.edge_cases)):
        if lines:
            console.print(Text(f"{word}:", style="italic"))
            console.print(Text("\n".join(f"  - {visible(line)}" for line in lines)))


def _rating(console: Any, rating: RatingRule, *, always: bool) -> None:
    from rich.text import Text

    asked = "always" if always else f"after {', '.join(rating.when)}"
    head = f"Rating {rating.low}-{rating.high}: {rating.question} (asked {asked}; aligned from {rating.threshold})"
    console.print(Text.assemble("\n", (visible(head), "bold")))
    if rating.guidance:
        console.print(Text(visible(rating.guidance)))
    for anchor in rating.anchors:
        console.print(Text(visible(f"  {anchor.low}-{anchor.high}  {anchor.text}")))
