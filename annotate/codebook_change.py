"""Two versions of a codebook side by side, what the change means for labels already given, and putting it in force."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from db.changes import Touched, matching_units, touched_by
from db.errors import AnnotateError
from db.lineage import change_protocol
from db.records import LabelRule, Protocol
from db.study import Study

Change = Literal["editorial", "substantive"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs. ``labels``: the labels whose meaning it may change; None: all, (): none."""

    what: str
    before: str
    after: str
    labels: tuple[str, ...] | None = ()

    @property
    def may_be_substantive(self) -> bool:
        return self.labels is None or bool(self.labels)


def differences(before: Protocol, after: Protocol) -> tuple[Difference, ...]:
    """Everything in which two versions differ, the meaning of labels first."""
    return (*_labels(before, after), *_rating(before, after), *_rest(before, after))


def _labels(before: Protocol, after: Protocol) -> Iterator[Difference]:
    for name in before.label_names:
        if name not in after.label_names:
            yield Difference(f"label {name}", "there", "taken away", (name,))
    for rule in after.labels:
        if rule.name not in before.label_names:
            yield Difference(f"label {rule.name}", "not there", rule.definition, None)
        else:
            yield from _label(before.label(rule.name), rule)


def _label(before: LabelRule, after: LabelRule) -> Iterator[Difference]:
    for field, means in (("definition", True), ("examples", True), ("edge_cases", True), ("title", False)):
        old, new = _text(getattr(before, field)), _text(getattr(after, field))
        if old != new:
            yield Difference(f"{after.name}: {field.replace('_', ' ')}", old, new, (after.name,) if means else ())
    if before.key != after.key:
        yield Difference(f"{after.name}: key", before.key, after.key)


def _rating(before: Protocol, after: Protocol) -> Iterator[Difference]:
    if before.rating == after.rating:
        return
    if before.rating is None or after.rating is None:
        yield Difference("rating", _asked(before), _asked(after), None)
        return
    asked = tuple(dict.fromkeys((*before.rating.when, *after.rating.when))) or None
    for field in ("question", "when", "low", "high", "step", "threshold", "anchors", "guidance"):
        old, new = getattr(before.rating, field), getattr(after.rating, field)
        if old != new:
            yield Difference(f"rating: {field}", _text(old), _text(new), () if field == "threshold" else asked)


def _asked(protocol: Protocol) -> str:
    return "none" if protocol.rating is None else protocol.rating.question


def _rest(before: Protocol, after: Protocol) -> Iterator[Difference]:
    for field, labels in (
        ("instructions", None),
        ("filters", None),
        ("pairwise", None),
        ("impossible", ()),
        ("judges", ()),
        ("scores", ()),
        ("skip_reasons", ()),
        ("min_dwell_ms", ()),
        ("title", ()),
    ):
        old, new = getattr(before, field), getattr(after, field)
        if old != new:
            yield Difference(field.replace("_", " "), _text(old), _text(new), labels)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    if hasattr(value, "_asdict"):  # a rule of the codebook
        return ", ".join(f"{name} {each}" for name, each in value._asdict().items() if each not in ("", (), {}))
    if isinstance(value, tuple):
        return "; ".join(_text(each) for each in value) or "none"
    return str(value)


# --- what it touches --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Plan:
    """A change before it is made: its differences, what it is held to be, and what becomes stale."""

    differences: tuple[Difference, ...]
    change: Change
    touches: Mapping[str, Any]
    touched: Touched | None


def plan_change(
    study: Study,
    before: Protocol,
    after: Protocol,
    *,
    change: Change | None,
    labels: Sequence[str] = (),
    where: Mapping[str, tuple[str, ...]] | None = None,
) -> Plan:
    """What putting ``after`` in force would do. Raises AnnotateError where it cannot be, or needs to be told more.

    change None: editorial where no difference may change the meaning of a label; else substantive, touching the labels
    that the differences name. labels, where: what a substantive change touches instead.
    """
    if after.name != before.name:
        raise AnnotateError(
            f"The study is coded under {before.name!r}; {after.name!r} is another protocol.",
            "A study keeps one line of protocols: keep the name, or make another study.",
        )
    found = differences(before, after)
    kind = change or ("substantive" if any(each.may_be_substantive for each in found) else "editorial")
    gone = [name for name in before.label_names if name not in after.label_names]
    if kind == "editorial":
        used = touched_by(study, {"labels": gone}) if gone else None
        if used is not None and used.annotations:
            raise AnnotateError(
                f"{', '.join(gone)} is taken away and was given {used.annotations:,} times: no editorial change.",
                f"Use --substantive --labels {','.join(gone)}.",
            )
        return Plan(found, "editorial", {}, None)
    touches = _touches(study, before, found, tuple(labels), where or {})
    missing = [name for name in gone if "labels" in touches and name not in touches["labels"]]
    if missing:
        raise AnnotateError(
            f"{', '.join(missing)} is taken away, so its labels must be touched.", "Add it to --labels."
        )
    return Plan(found, "substantive", touches, touched_by(study, touches))


def _touches(
    study: Study,
    before: Protocol,
    found: Sequence[Difference],
    labels: tuple[str, ...],
    where: Mapping[str, tuple[str, ...]],
) -> dict[str, Any]:
    for name in labels:
        if name not in before.label_names:
            known = ", ".join(before.label_names)
            raise AnnotateError(f"{name} is no label of the codebook in force ({known}).", "Correct --labels.")
    touches: dict[str, Any] = {}
    named = labels or _named(found)
    if named is not None:
        touches["labels"] = list(named)
    if where:
        for field, values in where.items():
            if not matching_units(study, field, values):
                raise AnnotateError(f"No unit has {field} = {', '.join(values)}.", "Correct --where.")
        touches["where"] = [{"field": field, "values": list(values)} for field, values in where.items()]
    return touches


def _named(found: Sequence[Difference]) -> tuple[str, ...] | None:
    """The labels that the differences name; None: any label."""
    meant = [each.labels for each in found if each.may_be_substantive]
    if not meant or any(labels is None for labels in meant):
        return None
    return tuple(dict.fromkeys(name for labels in meant for name in labels or ()))


def put_in_force(study: Study, after: Protocol, plan: Plan) -> int:
    """Make the change; returns how many labels became stale. Coders confirm it before their next label."""
    return change_protocol(study, after, change=plan.change, touches=plan.touches)


def plan_facts(plan: Plan) -> dict[str, Any]:
    """A plan as plain JSON values."""
    touched = plan.touched
    return {
        "differences": [
            {
                "what": each.what,
                "before": each.before,
                "after": each.after,
                "may_change_labels": "any" if each.labels is None else list(each.labels),
            }
            for each in plan.differences
        ],
        "change": plan.change,
        "touches": dict(plan.touches),
        "stale": 0 if touched is None else touched.annotations,
        "stale_finals": 0 if touched is None else touched.finals,
        "by_coder": {} if touched is None else dict(touched.coders),
        "by_label": {} if touched is None else dict(touched.labels),
        "units": []
        if touched is None
        else [{"unit": u.unit, "item": u.item, "labels": list(u.labels)} for u in touched.units],
    }
