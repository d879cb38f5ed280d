"""How disagreement between coders, and what they skipped, bears on the scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from agreement.impact.case import Case, build_cases
from agreement.impact.estimate import Estimate
from agreement.impact.oncorpus import corpus_parts
from agreement.impact.onsample import sample_parts
from agreement.impact.records import SKIPPED, FloatArray, Records, Sample
from agreement.impact.resample import Questions
from agreement.impact.result import Bounds, TreatmentRow
from agreement.impact.streams import stream
from agreement.scores.base import Score

UNRESOLVED = "unresolved"


def treatment_rows(
    corpus: Records,
    sample: Sample,
    scores: Sequence[Score],
    judge: str,
    draws: int,
    seed: int,
    level: float,
    questions: Questions | None = None,
) -> tuple[TreatmentRow, ...]:
    """Every part under every other human reference of the sample (each coder alone, majority, adjudicated, ...).

    questions: resampled ones, for the population; intervals are then about the same target as the headline's.
    """
    some = None if questions is None else questions.head(draws)
    names = tuple(dict.fromkeys((*sample.treatments, *sample.rating_treatments)))
    found: list[TreatmentRow] = []
    for name in names:
        treated = _treated(sample, name)
        for score in scores:
            cases = build_cases(score, judge, corpus, treated)
            whole = {
                m: corpus_parts(c, draws=draws, seed=seed, level=level, questions=some).parts for m, c in cases.items()
            }
            held = {
                m: sample_parts(
                    c,
                    draws=draws,
                    rng=stream(seed, "treatment", name, score.name, m),
                    level=level,
                    finite=questions is None,
                )
                for m, c in cases.items()
            }
            found += [
                TreatmentRow(
                    name,
                    part,
                    {m: parts[part].human for m, parts in whole.items()},
                    {m: parts[part].delta for m, parts in whole.items()},
                    {m: parts[part].human for m, parts in held.items()},
                    {m: len(case.sample) for m, case in cases.items()},
                    sample.cautions.get(name),
                )
                for part in score.parts
            ]
    return tuple(found)


def dropped_unresolved(case: Case, sample: Sample) -> dict[str, Estimate]:
    """The sample's human value with unresolved units left out; empty when there are none."""
    unresolved = sample.has(UNRESOLVED)[case.sample.units]
    if not unresolved.any():
        return {}
    kept = replace(case, sample=case.sample.take(~unresolved))
    rng = np.random.default_rng(0)
    return {part: found.human for part, found in sample_parts(kept, draws=0, rng=rng).items()}


def skip_bounds(case: Case, sample: Sample) -> dict[str, Bounds]:
    """The sample's human value with skipped units at their worst and best; empty when nothing was skipped.

    Means take each skipped unit's own worst and best possible outcome. Other functions take one outcome for all skipped
    units, the worst and the best of these.
    """
    mine = sample.has(SKIPPED) & sample.records.model.mask(case.model)
    skipped = sample.take(mine)
    if not len(skipped):
        return {}
    scope = case.score.scope(skipped.records).valid
    z = case.score.features(skipped.records)[:, :-2]
    possible = case.score.possible(skipped.records)
    if not possible.shape[1]:  # a fact of a protocol that only rates: no label can change it
        return {}
    weight = np.where(scope, skipped.weight, 0.0)
    units = case.sample.take(case.sample.paired)
    base = case.settled_totals() + units.weight @ units.human if len(units) else case.settled_totals()
    return {part: _bounds(case, part, base, z, possible, weight, int(scope.sum())) for part in case.score.parts}


def _bounds(
    case: Case, part: str, base: FloatArray, z: FloatArray, possible: np.ndarray, weight: FloatArray, skipped: int
) -> Bounds:
    index, ratio = case.score.parts.index(part), case.score.ratio(part)
    if ratio is None:
        outcomes = np.flatnonzero(possible.any(axis=0))
        totals = np.stack([base + weight @ _chosen(z, possible, int(k)) for k in outcomes])
    else:
        value = case.score.values(base)[index]
        start = 0.0 if not np.isfinite(value) else float(value)
        gain = z @ ratio.numerator - start * (z @ ratio.denominator)
        worst = np.where(possible, gain, np.inf).argmin(axis=1)
        best = np.where(possible, gain, -np.inf).argmax(axis=1)
        at = np.arange(len(z))
        totals = np.stack([base + weight @ z[at, worst], base + weight @ z[at, best]])
    values = case.score.values(totals)[:, index]
    defined = values[np.isfinite(values)]
    if not len(defined):
        return Bounds(None, None, skipped)
    return Bounds(float(defined.min()), float(defined.max()), skipped)


def _chosen(z: FloatArray, possible: np.ndarray, outcome: int) -> FloatArray:
    """(n, d) features under the outcome, or under each unit's first possible one where it cannot occur."""
    at = np.where(possible[:, outcome], outcome, possible.argmax(axis=1))
    return z[np.arange(len(z)), at]


def _treated(sample: Sample, name: str) -> Sample:
    """The sample with another reference in place; its labels decide who is labelled, flags and skips stay."""
    shares = sample.treatments.get(name, sample.shares)
    ratings = sample.rating_treatments.get(name, sample.ratings)
    usable = shares.sum(axis=1) > 0
    if ratings is not None:
        usable |= (ratings >= 0).any(axis=1)
    keep = ("technical", SKIPPED)
    status = tuple(
        s if s in keep else ("labelled" if u else "unlabelled") for s, u in zip(sample.status, usable, strict=True)
    )
    return replace(sample, shares=shares, ratings=ratings, status=status, treatments={}, rating_treatments={})
