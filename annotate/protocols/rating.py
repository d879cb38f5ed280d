"""The ``[rating]`` table: when a rating is asked for, its scale, its threshold and its anchors."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from annotate.strict_toml import Table
from db.records import Anchor, RatingRule

_KEYS = ("name", "question", "when", "low", "high", "step", "threshold", "anchors", "guidance")


def parse_rating(root: Table, labels: Sequence[str], rating_only: bool) -> RatingRule | None:
    """The rating of a protocol, or None where it has none; raises TomlError."""
    table = root.table("rating")
    if table is None:
        if rating_only:
            root.fail("rating_only is set, but there is no [rating].", "Add a [rating] table.", "rating_only")
        return None
    table.allow(_KEYS)
    low, high = table.whole("low", 0), table.whole("high", 100)
    if not 0 <= low < high <= 100:
        table.fail(f"the scale {low} to {high} does not lie in 0 to 100.", "Write low = 0 and high = 100.", "high")
    rule = RatingRule(
        name=table.text("name", "rating"),
        question=table.text("question"),
        when=_when(table, labels, rating_only),
        low=low,
        high=high,
        step=_step(table, low, high),
        threshold=_inside(table, "threshold", 70, low, high),
        anchors=tuple(_anchor(entry, low, high) for entry in table.tables("anchors")),
        guidance=table.text("guidance", "").strip(),
    )
    _check_anchors(table, rule.anchors)
    return rule


def _when(table: Table, labels: Sequence[str], rating_only: bool) -> tuple[str, ...]:
    when = table.texts("when")
    for label in when:
        if label not in labels:
            table.fail(
                f"{label!r} is not a label of this protocol.", f"Its labels: {', '.join(labels) or 'none'}.", "when"
            )
    if not when and not rating_only:
        table.fail("'when' is missing: after which labels is the rating asked for?", 'Write when = ["CORRECT"].')
    return when


def _step(table: Table, low: int, high: int) -> int:
    step = table.whole("step", 1)
    if step < 1 or (high - low) % step:
        table.fail(f"'step' {step} does not divide the scale {low} to {high}.", "Write step = 1, 5 or 10.", "step")
    return step


def _inside(table: Table, key: str, default: int, low: int, high: int) -> int:
    value = table.whole(key, default)
    if not low <= value <= high:
        table.fail(f"{key!r} is {value}, outside the scale {low} to {high}.", f"Write {key} between them.", key)
    return value


def _anchor(table: Table, low: int, high: int) -> Anchor:
    table.allow(("low", "high", "text"))
    first, last = _inside(table, "low", low, low, high), _inside(table, "high", high, low, high)
    if first > last:
        table.fail(f"the anchor runs from {first} down to {last}.", "Put the lower value under low.", "low")
    return Anchor(first, last, table.text("text"))


def _check_anchors(table: Table, anchors: Sequence[Anchor]) -> None:
    ordered = sorted(anchors, key=lambda anchor: anchor.low)
    for lower, upper in itertools.pairwise(ordered):
        if upper.low <= lower.high:
            table.fail(f"the anchors overlap at {upper.low}.", "Give every value one meaning.", "anchors")
