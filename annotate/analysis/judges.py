"""Judges against people: the confusion matrix of the whole corpus and what derives from it, ceiling, alt-test."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from agreement.against_people import JudgeAgreement, judge_agreement, point_measures
from agreement.alternative_annotator import AltTest, alt_test
from agreement.ceiling import Ceiling, human_ceiling
from agreement.cells import Cells
from agreement.confusion_matrix import corpus_confusion
from agreement.errors import AgreementError
from agreement.impact import Records, Sample
from annotate.analysis.by_items import with_items_resampled
from annotate.analysis.cells import cells_of
from annotate.analysis.labels import StudyLabels
from db.records import MISSING_LABEL

DRAWS = 4000
WHOLE = "every record is labelled: the intervals are not for these records but for the source that they came from"


@dataclass(frozen=True, slots=True)
class Settings:
    """How intervals are made. ``epsilon``: the alternative annotator test's allowance for what people cost."""

    seed: int = 1
    draws: int = DRAWS
    level: float = 0.95
    epsilon: float = 0.15


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """One judge. ``by``: variable, then level. ``ceiling`` and ``alt_test`` are None where the reason beside says why.

    dropped: points of kappa and agreement with the unresolved units left out, where there are any.
    """

    overall: JudgeAgreement
    by: Mapping[str, Mapping[str, JudgeAgreement]]
    ceiling: Ceiling | None
    no_ceiling: str
    alt_test: AltTest | None
    no_alt_test: str
    dropped: Mapping[str, float | None] = field(default_factory=dict)
    n_unresolved: int = 0


def judge_report(
    judge: str,
    study: StudyLabels,
    corpus: Records,
    sample: Sample,
    by: Sequence[str] = ("model",),
    settings: Settings = Settings(),
) -> JudgeReport:
    """Everything that people's labels say of one judge. Raises AgreementError on what no number can be had from."""
    overall = _agreement(judge, corpus, sample, settings)
    levels = {name: _levels(judge, corpus, sample, name, settings) for name in by if _varies(corpus, name)}
    ceiling, no_ceiling = _ceiling(judge, study, sample, settings)
    test, no_test = _alt_test(judge, study, settings)
    unresolved = sample.has("unresolved")
    return JudgeReport(
        overall, levels, ceiling, no_ceiling, test, no_test, _dropped(judge, corpus, sample), int(unresolved.sum())
    )


def _census(cells: Cells) -> bool:
    """Whether everything is labelled, so that nothing is left to estimate but the source of these records."""
    return bool((cells.n_labelled == cells.size).all())


def _agreement(judge: str, corpus: Records, sample: Sample, settings: Settings) -> JudgeAgreement:
    """Numbers for this corpus; where all of it is labelled, intervals for the source that its items came from."""
    cells = cells_of(corpus, sample, judge)
    census = _census(cells)
    found = judge_agreement(
        cells,
        seed=settings.seed,
        judge=judge,
        draws=settings.draws,
        level=settings.level,
        target="population" if census else "corpus",
    )
    items = sample.records.item
    if not census:
        return found
    found = replace(found, notes=(*(n for n in found.notes if not n.startswith("every record")), WHOLE))
    if items is None or len(np.unique(items.codes)) == len(items):
        return found
    return with_items_resampled(found, sample, judge, seed=settings.seed, draws=settings.draws, level=settings.level)


def _varies(corpus: Records, name: str) -> bool:
    return len(corpus.factor(name).names) > 1 if name in (*corpus.by, "model", "condition") else False


def _levels(judge: str, corpus: Records, sample: Sample, name: str, settings: Settings) -> dict[str, JudgeAgreement]:
    whole, drawn = corpus.factor(name), sample.records.factor(name)
    return {
        level: _agreement(judge, corpus.take(whole.mask(level)), sample.take(drawn.mask(level)), settings)
        for level in whole.names
    }


def _dropped(judge: str, corpus: Records, sample: Sample) -> dict[str, float | None]:
    unresolved = sample.has("unresolved")
    if not unresolved.any():
        return {}
    points = point_measures(corpus_confusion(cells_of(corpus, sample.take(~unresolved), judge)))
    return {name: points[name, None] for name in ("agreement", "kappa")}


def _outputs(judge: str, study: StudyLabels) -> list[str | None]:
    return [None if said == MISSING_LABEL else said for said in study.judges[judge]]


def _ceiling(judge: str, study: StudyLabels, sample: Sample, settings: Settings) -> tuple[Ceiling | None, str]:
    if len(study.coders) < 2:
        return None, "one coder: there is no agreement between people to compare with"
    rows, outputs = study.fresh, _outputs(judge, study)
    used = [i for i, row in enumerate(rows) if sum(v is not None for v in row) > 1 and study.overlap[i] > 0]
    if not used:
        return None, "no unit has the labels of two coders"
    weights = [1 / (study.pi[i] * study.overlap[i]) for i in used]
    try:
        return human_ceiling(
            [rows[i] for i in used],
            [outputs[i] for i in used],
            labels=study.labels,
            seed=settings.seed,
            name=judge,
            weights=weights,
            items=[study.item[i] for i in used],
            level=settings.level,
        ), ""
    except AgreementError as error:
        return None, str(error)


def _alt_test(judge: str, study: StudyLabels, settings: Settings) -> tuple[AltTest | None, str]:
    """The test on units as they are: it has no weighted form, so that a design with unequal chances is named."""
    llm: dict[Hashable, str | None] = dict(zip(study.units, _outputs(judge, study), strict=True))
    people: dict[str, dict[Hashable, str | None]] = {
        coder.name: {unit: row[column] for unit, row in zip(study.units, study.fresh, strict=True)}
        for column, coder in enumerate(study.coders)
    }
    found = alt_test(llm, people, epsilon=settings.epsilon)
    return (None, found.undefined) if found.undefined else (found, "")


def unequal(study: StudyLabels) -> bool:
    """Whether units were drawn with different chances."""
    return bool(np.ptp(np.array(study.pi)) > 1e-12) if len(study) else False
