"""How a study was conducted: what was fixed before the first label, looks at interim results, training and reviews."""

from __future__ import annotations

from typing import Any

from annotate.checking import check_results
from annotate.reviewing import review_facts
from annotate.studies import study_protocol
from db.cases import WHY_BETTER
from db.errors import AnnotateError
from db.facts import judge_ids
from db.freezing import Frozen, freeze, frozen, looks
from db.study import Study


def freeze_study(study: Study, primary: str, *, judge: str | None, late: bool) -> Frozen:
    """Freeze for a score of the protocol and a judge of the study. Raises AnnotateError for unknown ones."""
    scores = [score.name for score in study_protocol(study).scores]
    if primary not in scores and not any(primary.startswith(name) for name in scores):
        raise AnnotateError(
            f"There is no score {primary!r} in this protocol.", f"Scores: {', '.join(scores) or 'none'}."
        )
    judges = judge_ids(study.connection)
    if judge is not None and judge not in judges:
        raise AnnotateError(f"There is no judge {judge!r}.", f"Judges: {', '.join(judges) or 'none'}.")
    return freeze(study, primary, judge=judge, late=late)


def conduct_facts(study: Study, *, names: bool = True) -> dict[str, Any]:
    """What a report says of the conduct, as plain JSON values; ``sentences`` says it in words."""
    fixed, seen = frozen(study), looks(study)
    reviewed = review_facts(study)
    return {
        "frozen": None if fixed is None else _frozen_facts(fixed),
        "looks": seen,
        "known_labels": check_results(study, names=names),
        "reviews": reviewed,
        "sentences": [_frozen_sentence(fixed), _looks_sentence(seen), *map(_review_sentence, reviewed)],
    }


def _frozen_facts(fixed: Frozen) -> dict[str, Any]:
    return {
        "digest": fixed.digest,
        "primary": fixed.primary,
        "judge": fixed.judge,
        "main_labels_before": fixed.labels,
        "holds": fixed.holds,
    }


def _frozen_sentence(fixed: Frozen | None) -> str:
    if fixed is None:
        return "Design, protocol and primary score were not frozen before coding."
    when = "before the first main label" if not fixed.labels else f"late, after {fixed.labels:,} main labels"
    holds = "" if fixed.holds else " Design or protocol have changed since."
    return f"Frozen {when}: primary score {fixed.primary}, digest {fixed.digest}.{holds}"


def _looks_sentence(seen: int) -> str:
    if not seen:
        return "Nobody looked at results before coding was finished."
    return f"Results were looked at {seen:,} time{'s' if seen > 1 else ''} before coding was finished."


def _why(facts: dict[str, Any], name: str) -> str:
    """Why this judge was the better one, the most frequent reason first."""
    reasons = sorted(facts["better_why"].get(name, {}).items(), key=lambda each: (-each[1], each[0]))
    told = ", ".join(f"{WHY_BETTER.get(reason, reason or 'no reason given')} {count:,}" for reason, count in reasons)
    return f" ({told})" if told else ""


def _review_sentence(facts: dict[str, Any]) -> str:
    judges = " and ".join(facts["judges"])
    if facts["mode"] == "judges":
        told = ", ".join(f"{name} {count:,}{_why(facts, name)}" for name, count in facts["better"].items())
        seen = f"{facts['disputed_reviewed']:,} of {facts['disputed']:,} units on which they differ"
        return (
            f"After unmasking, {judges} were held against each other on {seen}; better: {told}. "
            "These verdicts are no part of the human reference."
        )
    rate = facts["flip_rate"]
    flips = (
        facts["no_flip_rate"] if rate is None else f"{facts['controls_flipped']:,} of {facts['controls_reviewed']:,}"
    )
    stood = facts["verdicts"]
    return (
        f"After unmasking, {facts['disputed_reviewed']:,} of {facts['disputed']:,} units on which people and {judges} "
        f"differ were reviewed: people's label stood in {stood['people']:,}. Agreeing controls changed: {flips}. "
        "These verdicts are no part of the human reference."
    )
