"""Agreement with oneself: coders on hidden repeats, judges on what they were asked several times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agreement import krippendorff_alpha, percent_agreement
from agreement.repeats import self_agreements
from annotate.analysis.loading import load_repeats
from annotate.plain import plain
from annotate.studies import study_protocol
from db.judging import JudgingStore
from db.records import MISSING_LABEL
from db.study import Study

if TYPE_CHECKING:
    from annotate.analysis.whole import Wanted


def coders_oneself(study: Study, labels: Sequence[str], wanted: Wanted) -> dict[str, Any]:
    """By coder: percent agreement, Cohen's kappa and Krippendorff's alpha of first and second labels."""
    first, second = load_repeats(study, study_protocol(study), names=wanted.names)
    if not second or not labels:
        return {}
    found = self_agreements(first, second, labels=labels, confidence=wanted.level)  # type: ignore[arg-type]
    alphas = {
        coder: krippendorff_alpha(
            {"first": {unit: first[coder].get(unit) for unit in again}, "second": again},
            labels=labels,
            confidence=wanted.level,
        )
        for coder, again in second.items()
    }
    return {
        str(coder): {"percent": plain(each.percent), "kappa": plain(each.kappa), "alpha": plain(alphas[str(coder)])}
        for coder, each in found.items()
    }


def judges_oneself(study: Study, judges: Sequence[str], wanted: Wanted) -> dict[str, Any]:
    """By judge that replied several times to one response: percent agreement and alpha of its replies, any number."""
    with JudgingStore(study.path) as store:
        return dict(_judges(store, judges, wanted))


def _judges(store: JudgingStore, judges: Sequence[str], wanted: Wanted) -> Iterator[tuple[str, dict[str, Any]]]:
    for judge in judges:
        replies = [each for each in store.labels(judge).values() if len(each) > 1]
        if not replies:
            continue
        asked = sorted({number for each in replies for number in each})
        rows = [[_said(each, number) for number in asked] for each in replies]
        if not any(label is not None for row in rows for label in row):
            continue
        percent = percent_agreement(rows, confidence=wanted.level)
        alpha = krippendorff_alpha(rows, confidence=wanted.level)
        yield judge, {"replies": len(asked), "percent": plain(percent), "alpha": plain(alpha)}


def _said(replies: Mapping[int, str], number: int) -> str | None:
    label = replies.get(number, MISSING_LABEL)
    return None if label == MISSING_LABEL else label
