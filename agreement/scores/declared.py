"""Scores as a protocol declares them: a kind with its options becomes score objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agreement.errors import AgreementError
from agreement.scores.base import Score
from agreement.scores.ehq import CONTEXT, KNOWLEDGE, LABELS, BalancedEhq3, Ehq
from agreement.scores.nas import ITEM_TYPES, THRESHOLD, Reasoned
from agreement.scores.rates import MeanValue, Rate, Shares
from agreement.scores.searching import Accuracy, NoticingActing, SearchRate, SixOutcomes
from agreement.scores.within import Within

ROLES = ("abstain", "hedge", "correct", "wrong")
CONDITIONS = {True: "with search", False: "without search"}
GROUPS: Mapping[str, tuple[str, ...]] = {"EHQ-K": KNOWLEDGE, "EHQ-C": CONTEXT}


def ehq_scores(
    roles: tuple[str, str, str, str] = LABELS, variable: str = "category", groups: Mapping[str, Sequence[str]] = GROUPS
) -> tuple[Score, ...]:
    """EHQ with its parts, EHQ over groups of categories, and category-balanced EHQ3 where there are groups."""
    whole = Ehq(roles=roles)
    parts = [Within(whole, variable, tuple(values), {"EHQ": name}) for name, values in groups.items()]
    everything = tuple(value for values in groups.values() for value in values)
    balanced = (BalancedEhq3(categories=everything, variable=variable, roles=roles),) if groups else ()
    return (whole, *parts, *balanced)


def search_scores(
    kind: str,
    *,
    search: bool,
    condition: str | None = None,
    threshold: float = THRESHOLD,
    roles: tuple[str, str, str, str] | None = None,
    item_type: str | None = None,
) -> tuple[Score, ...]:
    """NAS or KIS with the judged and the judge-free variant. roles: label names where coders give labels too."""
    if kind not in ("NAS", "KIS"):
        raise AgreementError(f"{kind!r} is not NAS or KIS")
    options: dict[str, Any] = {"kind": kind, "search": search, "threshold": threshold, "condition": condition}
    options |= {"item_type": item_type, "coded": roles is not None}
    if roles is not None:
        options["roles"] = roles
    return (Reasoned(**options), Reasoned(**options, judge_free=True))


def search_facts(kind: str, *, search: bool, condition: str | None = None, coded: bool = False) -> tuple[Score, ...]:
    """What needs no judge, beside NAS or KIS: with search the six outcomes, noticing and acting (OK) or the search rate
    (IK); accuracy without search."""
    item_type = ITEM_TYPES[kind]
    if not search:
        name = f"accuracy without search ({item_type})"
        parts = (name, f"accuracy over answered without search ({item_type})")
        return (Accuracy(item_type=item_type, condition=condition, name=name, parts=parts),)
    name = f"accuracy with search ({item_type})"
    parts = (name, f"accuracy over answered with search ({item_type})")
    accuracy = Accuracy(item_type=item_type, condition=condition, name=name, parts=parts)
    if kind == "KIS":
        return (SearchRate(item_type=item_type, condition=condition), accuracy)
    acting = NoticingActing(item_type=item_type, condition=condition, coded=coded)
    return (SixOutcomes(condition=condition), acting, accuracy)


def declared_scores(
    rules: Sequence[tuple[str, str, Mapping[str, Any]]], labels: Sequence[str], *, threshold: float = THRESHOLD
) -> tuple[Score, ...]:
    """Score objects of (name, kind, options) rules; kinds ehq, nas, kis, rate, mean. Without rules, label shares.

    threshold: the protocol's alignment threshold. A wikiprofile rule gives none: its scores are of facts
    (`agreement.impact.profile_impact`). Raises AgreementError on an unknown kind.
    """
    found: list[Score] = []
    for name, kind, options in rules:
        found += _declared(name, kind, options, threshold)
    if not found and labels and not any(kind == "wikiprofile" for _, kind, _ in rules):
        found.append(Shares(tuple(labels)))
    return tuple(found)


def _declared(name: str, kind: str, options: Mapping[str, Any], threshold: float) -> tuple[Score, ...]:
    if kind == "ehq":
        return ehq_scores(
            _roles(options) or LABELS, str(options.get("group_field", "category")), options.get("groups", GROUPS)
        )
    if kind in ("nas", "kis"):
        return _searching(kind.upper(), options, threshold)
    if kind == "rate":
        return (Rate(name, tuple(options["labels"])),)
    if kind == "mean":
        return (MeanValue(name, dict(options["values"])),)
    if kind == "wikiprofile":
        return ()
    raise AgreementError(f"score {name!r}: kind {kind!r} is not one of ehq, nas, kis, wikiprofile, rate, mean")


def _searching(kind: str, options: Mapping[str, Any], threshold: float) -> tuple[Score, ...]:
    setting = options.get("search", "condition")
    runs = {"with": (True,), "without": (False,), "condition": (True, False)}[setting]
    roles = _roles(options)
    found: list[Score] = []
    for search in runs:
        condition = CONDITIONS[search] if setting == "condition" else None
        found += search_scores(kind, search=search, condition=condition, threshold=threshold, roles=roles)
        found += search_facts(kind, search=search, condition=condition, coded=roles is not None)
    return tuple(found)


def _roles(options: Mapping[str, Any]) -> tuple[str, str, str, str] | None:
    if not all(role in options for role in ROLES):
        return None
    abstain, hedge, correct, wrong = (str(options[role]) for role in ROLES)
    return abstain, hedge, correct, wrong
