"""Reviews after unmasking, from their draw to what they say. They never enter the human reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from db.errors import AnnotateError
from db.records import MISSING_LABEL, NOT_A_LABEL
from db.reviews import Review, Verdict, make_review, reviews, verdicts
from db.study import Study

SMALLEST = 10


class NothingToReview(AnnotateError):
    """There is nothing yet that a review could go through."""

    exit_code = 1


def review_of_judge(study: Study, judge: str, *, controls: int | None, seed: str) -> Review:
    """The review of a judge against people: the one that there is, else a new one with as many controls as disputes."""
    found = _known(study, "judge", (judge,))
    if found is not None:
        return found
    from annotate.analysis.loading import load_labels
    from annotate.analysis.reference import study_reference
    from annotate.studies import study_protocol

    labels = load_labels(study, study_protocol(study))
    if judge not in labels.judges:
        known = ", ".join(labels.judges) or "none"
        raise AnnotateError(f"There is no judge {judge!r} in this study (there is: {known}).")
    human = study_reference(labels).human.label
    reference = {unit: label for unit, label in zip(labels.units, human, strict=True) if label is not None}
    if not reference:
        raise NothingToReview("No unit has one label of people yet, so there is nothing to hold the judge against.")
    judged = {
        unit: label
        for unit, label in zip(labels.units, labels.judges[judge], strict=True)
        if label not in (MISSING_LABEL, NOT_A_LABEL)
    }
    differ = sum(reference[unit] != judged[unit] for unit in reference if unit in judged)
    return make_review(
        study,
        "judge",
        (judge,),
        reference=reference,
        judged=judged,
        controls=max(differ, SMALLEST) if controls is None else controls,
        seed=seed,
    )


def review_of_judges(study: Study, judges: Sequence[str], *, controls: int | None, seed: str) -> Review:
    """The review of two judges against each other: the one that there is, else a new one."""
    if len(judges) != 2:
        raise AnnotateError(
            f"Two judges are held against each other, not {len(judges)}.", "Give --between FIRST,SECOND."
        )
    found = _known(study, "judges", tuple(judges))
    if found is not None:
        return found
    return make_review(study, "judges", judges, controls=SMALLEST if controls is None else controls, seed=seed)


def _known(study: Study, mode: str, judges: tuple[str, ...]) -> Review | None:
    same = [each for each in reviews(study.connection) if each.mode == mode and each.judges == judges]
    return same[-1] if same else None


def review_facts(study: Study) -> list[dict[str, Any]]:
    """Every review as plain JSON values: verdicts on what differed, and how many of the controls were changed."""
    return [_facts(each, verdicts(study.connection, each)) for each in reviews(study.connection)]


def _facts(review: Review, given: Sequence[Verdict]) -> dict[str, Any]:
    controls = [verdict for verdict in given if not verdict.disputed]
    facts: dict[str, Any] = {
        "review": review.name,
        "mode": review.mode,
        "judges": list(review.judges),
        "seed": review.seed,
        "disputed": len(review.disputed),
        "controls": len(review.units) - len(review.disputed),
        "disputed_reviewed": sum(verdict.disputed for verdict in given),
        "controls_reviewed": len(controls),
        "reasons": dict(sorted(Counter(verdict.reason or "" for verdict in given).items())),
        "reading": "given after unmasking; no part of the human reference",
    }
    if review.mode == "judges":
        names = (*review.judges, "both", "neither")
        why = {name: Counter(v.reason or "" for v in given if v.disputed and _better(v) == name) for name in names}
        return facts | {
            "better": {name: found.total() for name, found in why.items()},
            "better_why": {name: dict(sorted(found.items())) for name, found in why.items() if found},
        }
    stood = Counter("people" if v.verdict == v.kept else "other than people" for v in given if v.disputed)
    flipped = sum(verdict.verdict != verdict.kept for verdict in controls)
    return facts | {
        "verdicts": {name: stood.get(name, 0) for name in ("people", "other than people")},
        "controls_flipped": flipped,
        "flip_rate": flipped / len(controls) if controls else None,
        "flip_rate_interval": _interval(flipped, len(controls)),
        "no_flip_rate": None if controls else "no control was reviewed yet",
    }


def _better(verdict: Verdict) -> str:
    assert verdict.sides is not None
    named = {"FIRST": verdict.sides[0], "SECOND": verdict.sides[1]}
    return named.get(verdict.verdict, verdict.verdict.casefold())


def _interval(count: int, n: int) -> list[float] | None:
    """Jeffreys, 95 %."""
    if not n:
        return None
    from agreement.small_counts import jeffreys_interval

    found = jeffreys_interval(count / n, n)
    return None if found.low is None or found.high is None else [float(found.low), float(found.high)]
