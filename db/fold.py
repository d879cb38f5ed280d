"""What an assignment's events come to. Pure: the same events always give the same annotation.

An act that was undone has no effect; redo gives it back. A label takes away an earlier skip and, where it brings no
rating of its own, the rating of the label before it. A skip takes away the label. Time that was spent stays spent.
A final label brings the class of its reason; a verdict, given after unmasking, is no label and stands in the detail.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

TO_DO, SKIPPED_ONCE, DONE, SKIPPED = 0, 1, 2, 3
TECHNICAL = "technical"
VERDICT = "verdict"
UNDOABLE = frozenset({"label", "rating", "note", "flag", "skip", "verdict"})
DECIDING = frozenset({"label", "rating", "skip", "verdict"})


class FoldEvent(NamedTuple):
    """An event as the fold needs it. ``log`` is the number of its log in this file."""

    log: int
    seq: int
    kind: str
    body: Mapping[str, Any]
    protocol_version: int
    blindness: str = "unknown"
    origin: str = ""
    utc: str | None = None
    active_ms: int | None = None


class Folded(NamedTuple):
    """The state of an assignment. ``note`` and ``skip_words`` are digests of texts; ``log`` and ``seq`` the last event.

    ``protocol_version``, ``blindness``, ``origin`` and ``utc`` are those of the act that decided the state.
    """

    log: int
    seq: int
    label: str | None = None
    rating: int | None = None
    note: str | None = None
    flags: tuple[str, ...] = ()
    skip_reason: str | None = None
    skip_words: str | None = None
    skip_count: int = 0
    detail: Mapping[str, Any] = {}
    protocol_version: int | None = None
    blindness: str | None = None
    origin: str | None = None
    utc: str | None = None
    active_ms: int = 0

    @property
    def answered(self) -> bool:
        return self.label is not None or self.rating is not None

    @property
    def skipped(self) -> bool:
        return self.skip_reason is not None or self.skip_words is not None


def fold(events: Sequence[FoldEvent]) -> Folded | None:
    """The state after the events of one assignment, given in their order; None where there are none."""
    if not events:
        return None
    last = events[-1]
    state: dict[str, Any] = {"flags": {}, "detail": {}}
    for event in effective(events):
        _APPLY.get(event.kind, _ignore)(state, event.body)
        if event.kind in DECIDING:
            state |= {
                "protocol_version": event.protocol_version,
                "blindness": event.blindness,
                "origin": event.origin,
                "utc": event.utc,
            }
    state["flags"] = tuple(sorted(state["flags"]))
    spent = sum(event.active_ms or 0 for event in events)
    return Folded(log=last.log, seq=last.seq, active_ms=spent, **state)


def effective(events: Iterable[FoldEvent]) -> list[FoldEvent]:
    """The acts that stand: neither undone, nor undo or redo themselves."""
    acts: dict[tuple[int, int], FoldEvent] = {}
    undone: set[tuple[int, int]] = set()
    for event in events:
        if event.kind == "undo":
            undone.add((event.log, event.body["target"]))
        elif event.kind == "redo":
            undone.discard((event.log, event.body["target"]))
        else:
            acts[event.log, event.seq] = event
    return [event for key, event in acts.items() if key not in undone]


def queue_state(folded: Folded | None, stale: bool) -> int:
    """Where an assignment stands in its coder's queue: a skipped one comes back once, then is skipped for good.

    One flagged as a technical failure is done without a label: there is nothing to judge.
    """
    if folded is None:
        return TO_DO
    if folded.answered:
        return TO_DO if stale else DONE
    if TECHNICAL in folded.flags or VERDICT in folded.detail:
        return DONE
    if folded.skipped:
        return SKIPPED if folded.skip_count > 1 else SKIPPED_ONCE
    return TO_DO


def in_order(events: Iterable[FoldEvent], home: int | None, leases: Sequence[tuple[int, int]]) -> list[FoldEvent]:
    """The events of one assignment in the order in which its logs were writable.

    ``leases``: (log, home_seq) of each lease, oldest first: what the ``home`` log holds up to home_seq came before the
    leased log's events, the rest after. Clocks play no part.
    """
    place = {log: number for number, (log, _) in enumerate(leases)}

    def key(event: FoldEvent) -> tuple[int, int, int]:
        if event.log in place:
            return place[event.log], 1, event.seq
        if event.log == home:
            after = sum(event.seq > home_seq for _, home_seq in leases)
            return after, 0, event.seq
        return -1, event.log, event.seq

    return sorted(events, key=key)


def _label(state: dict[str, Any], body: Mapping[str, Any]) -> None:
    state["label"] = body["label"]
    state["rating"] = body.get("rating")
    state["skip_reason"] = state["skip_words"] = None
    _class(state, body)
    _note(state, body)


def _rating(state: dict[str, Any], body: Mapping[str, Any]) -> None:
    state["rating"] = body["rating"]
    state["skip_reason"] = state["skip_words"] = None
    _class(state, body)
    _note(state, body)


def _verdict(state: dict[str, Any], body: Mapping[str, Any]) -> None:
    state["detail"][VERDICT] = body[VERDICT]
    _class(state, body)
    _note(state, body)


def _class(state: dict[str, Any], body: Mapping[str, Any]) -> None:
    """Why the lead decided so: of a final label or a verdict, replaced with it."""
    if "class" in body:
        state["detail"]["class"] = body["class"]


def _note(state: dict[str, Any], body: Mapping[str, Any]) -> None:
    if "note" in body:
        state["note"] = body["note"]


def _flag(state: dict[str, Any], body: Mapping[str, Any]) -> None:
    if body["on"]:
        state["flags"][body["flag"]] = True
    else:
        state["flags"].pop(body["flag"], None)
    _note(state, body)


def _skip(state: dict[str, Any], body: Mapping[str, Any]) -> None:
    state["label"] = state["rating"] = None
    state["skip_reason"], state["skip_words"] = body.get("reason"), body.get("words")
    state["skip_count"] = state.get("skip_count", 0) + 1
    _note(state, body)


def _highlight(state: dict[str, Any], body: Mapping[str, Any]) -> None:
    if body["on"]:
        state["detail"]["highlight"] = True


def _ignore(state: dict[str, Any], body: Mapping[str, Any]) -> None:
    """Events that leave the annotation as it is."""


_APPLY = {
    "label": _label,
    "rating": _rating,
    "note": _note,
    "flag": _flag,
    "skip": _skip,
    "highlight": _highlight,
    "verdict": _verdict,
}
