"""What an act of a coder must satisfy, and what of it goes into the log."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from db.faults import Refused
from db.fold import Folded
from db.records import Act, Protocol

ACTS = frozenset({"label", "rating", "note", "flag", "skip", "highlight", "confirm", "unmask"})
_FLAG = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_MIRROR = {"FIRST": "SECOND", "SECOND": "FIRST"}


def mirrored(label: str | None, swapped: bool) -> str | None:
    """The label of a pair seen from the other side: FIRST and SECOND change places where the sides were swapped."""
    return _MIRROR.get(label, label) if swapped and label is not None else label


def body_of(
    act: Act,
    protocol: Protocol,
    before: Folded | None,
    impossible: tuple[str, ...],
    swapped: bool,
    keep: Callable[[str], str],
) -> dict[str, Any]:
    """The body of the event. ``keep`` stores a text and returns its digest. Raises Refused, and says what is wrong."""
    body = _BODIES[act.kind](act, protocol, before, keep)
    if "label" in body:
        body["label"] = mirrored(body["label"], swapped)
        _check_possible(act, protocol, before, impossible)
    if act.note is not None and act.kind in {"label", "rating", "flag", "skip"}:
        body["note"] = keep(act.note) if act.note.strip() else None
    return body


def check_label(protocol: Protocol, label: str | None) -> str:
    """The label, if the codebook declares it. Raises Refused."""
    if label is None or label not in protocol.label_names:
        known = ", ".join(protocol.label_names) or "none: it asks for a rating only"
        raise Refused(f"{label!r} is not a label of this codebook ({known}).")
    return label


def check_rating(protocol: Protocol, rating: int | None) -> int:
    """The rating, if it lies on the codebook's scale. Raises Refused."""
    rule = protocol.rating
    if rule is None:
        raise Refused("This codebook asks for no rating.")
    if type(rating) is not int or not rule.low <= rating <= rule.high or (rating - rule.low) % rule.step:
        steps = f" in steps of {rule.step}" if rule.step != 1 else ""
        raise Refused(f"A rating is a whole number from {rule.low} to {rule.high}{steps}, not {rating!r}.")
    return rating


def _label_body(act: Act, protocol: Protocol, before: Folded | None, keep: Callable[[str], str]) -> dict[str, Any]:
    label = check_label(protocol, act.label)
    body: dict[str, Any] = {"label": label}
    if protocol.asks_rating(label):
        if act.rating is None:
            raise Refused(f"{label} asks for a rating from {_scale(protocol)} as well.")
        body["rating"] = check_rating(protocol, act.rating)
    elif act.rating is not None:
        raise Refused(f"No rating is asked for after {label}.")
    return body


def _rating_body(act: Act, protocol: Protocol, before: Folded | None, keep: Callable[[str], str]) -> dict[str, Any]:
    rating = check_rating(protocol, act.rating)
    if not protocol.rating_only and not (before and before.label and protocol.asks_rating(before.label)):
        raise Refused("No rating is asked for here: give the label first.")
    return {"rating": rating}


def _note_body(act: Act, protocol: Protocol, before: Folded | None, keep: Callable[[str], str]) -> dict[str, Any]:
    if act.note is None:
        raise Refused("A note needs its text.")
    return {"note": keep(act.note) if act.note.strip() else None}


def _flag_body(act: Act, protocol: Protocol, before: Folded | None, keep: Callable[[str], str]) -> dict[str, Any]:
    if act.flag is None or not _FLAG.fullmatch(act.flag):
        raise Refused(f"A flag is one lower-case word such as 'technical' or 'question', not {act.flag!r}.")
    return {"flag": act.flag, "on": act.on}


def _skip_body(act: Act, protocol: Protocol, before: Folded | None, keep: Callable[[str], str]) -> dict[str, Any]:
    reason = (act.reason or "").strip()
    if not reason:
        raise Refused("A skip needs a reason.")
    return {"reason": reason} if reason in protocol.skip_reasons else {"words": keep(reason)}


def _highlight_body(act: Act, protocol: Protocol, before: Folded | None, keep: Callable[[str], str]) -> dict[str, Any]:
    return {"on": act.on}


def _confirm_body(act: Act, protocol: Protocol, before: Folded | None, keep: Callable[[str], str]) -> dict[str, Any]:
    return {"digest": protocol.digest}


def _unmask_body(act: Act, protocol: Protocol, before: Folded | None, keep: Callable[[str], str]) -> dict[str, Any]:
    return {}


_BODIES: Mapping[str, Callable[[Act, Protocol, Folded | None, Callable[[str], str]], dict[str, Any]]] = {
    "label": _label_body,
    "rating": _rating_body,
    "note": _note_body,
    "flag": _flag_body,
    "skip": _skip_body,
    "highlight": _highlight_body,
    "confirm": _confirm_body,
    "unmask": _unmask_body,
}


def _check_possible(act: Act, protocol: Protocol, before: Folded | None, impossible: tuple[str, ...]) -> None:
    if act.label not in impossible:
        return
    noted = act.note.strip() != "" if act.note is not None else before is not None and before.note is not None
    if not noted:
        why = next((rule.reason for rule in protocol.impossible if rule.label == act.label), "")
        raise Refused(f"{act.label} should not occur here: say why in a note. {why}".strip())


def _scale(protocol: Protocol) -> str:
    return "" if protocol.rating is None else f"{protocol.rating.low} to {protocol.rating.high}"
