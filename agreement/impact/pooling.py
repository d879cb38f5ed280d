"""May one correction serve all models? Only after an equivalence test with a stated margin, and never by default.

For each model, the correction learnt from its own labels is compared with the one that the other models' labels would
give it, in units of the score. Pooling is offered when the 90 % interval of every model's difference lies inside the
margin (two one-sided tests at 5 %; all must pass, so no adjustment is needed). Finding no difference licenses nothing:
with few labels the intervals are wide and pooling is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from agreement.impact.case import Case
from agreement.impact.estimate import Estimate
from agreement.impact.records import FloatArray
from agreement.impact.streams import stream

MARGIN = 0.02
LEVEL = 0.90


@dataclass(frozen=True, slots=True)
class Pooling:
    """differences: per model, own correction minus the others', with its 90 % interval. offered: whether all lie within
    the margin. pooled: the pooled corrected scores where offered, else None. why: one sentence."""

    part: str
    margin: float
    differences: Mapping[str, Estimate]
    offered: bool
    pooled: Mapping[str, float] | None
    why: str


@dataclass(frozen=True, slots=True)
class _Side:
    """One model: share of its records by judge outcome (J,), labels (J, O), value of each outcome (J, O)."""

    share: FloatArray
    labels: FloatArray
    change: FloatArray
    score: float


def pooling_test(
    cases: Mapping[str, Case], part: str, *, margin: float = MARGIN, draws: int = 4000, seed: int = 0
) -> Pooling | None:
    """Test whether corrections are equivalent over models; None when there are fewer than two models with labels.

    Only for parts that are means: others have no correction per judge outcome.
    """
    score = next(iter(cases.values())).score
    if score.ratio(part) is None:
        return None
    found = {m: _side(case, part) for m, case in cases.items() if len(case.sample)}
    sides = {m: side for m, side in found.items() if side is not None}
    if len(sides) < 2:
        return None
    everyone = np.sum([side.labels for side in sides.values()], axis=0)
    differences = {}
    for model, side in sides.items():
        rng = stream(seed, "pooling", model)
        own, rest = side.labels, everyone - side.labels
        gap = _correction(side, own, draws, rng) - _correction(side, rest, draws, rng)
        value = float(_mean(side, own) - _mean(side, rest))
        low, high = np.quantile(gap, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        differences[model] = Estimate(
            value, min(float(low), value), max(float(high), value), float(gap.std(ddof=1)), "posterior", LEVEL, draws
        )
    worst = max(differences, key=lambda m: max(abs(differences[m].low or 0), abs(differences[m].high or 0)))
    outer = max(abs(differences[worst].low or 0), abs(differences[worst].high or 0))
    offered = outer <= margin
    pooled = {m: side.score + float(_mean(side, everyone)) for m, side in sides.items()} if offered else None
    return Pooling(part, margin, differences, offered, pooled, _why(part, margin, worst, differences[worst], offered))


def _side(case: Case, part: str) -> _Side | None:
    """None where the part is undefined under the judge."""
    ratio = case.score.ratio(part)
    assert ratio is not None
    corpus, units = case.corpus, case.sample
    totals = case.judge_totals()
    if totals @ ratio.denominator <= 0:
        return None
    value = float(totals @ ratio.numerator / (totals @ ratio.denominator))
    gradient = (ratio.numerator - value * ratio.denominator) / (totals @ ratio.denominator / case.n_records)
    rows, outcomes = len(case.outcomes) + 2, len(case.outcomes)
    open_rows = ~corpus.settled
    records = np.bincount(corpus.judged[open_rows], corpus.count[open_rows], rows)
    change = np.zeros((rows, outcomes))
    each = (corpus.features[:, :-2] - corpus.judge[:, None]) @ gradient
    for k in range(outcomes):
        total = np.bincount(corpus.judged[open_rows], (corpus.count * each[:, k])[open_rows], rows)
        change[:, k] = total / np.maximum(records, 1)
    return _Side(
        records / max(case.n_records, 1), _effective(units.judged, units.shares, units.weight, rows), change, value
    )


def _effective(judged: np.ndarray, shares: FloatArray, weight: FloatArray, rows: int) -> FloatArray:
    """(J, O) weighted label shares times the effective number of labels (Kish 1965)."""
    found = np.zeros((rows, shares.shape[1]))
    for j in range(rows):
        w = weight[judged == j]
        if len(w):
            found[j] = (w @ shares[judged == j] / w.sum()) * (w.sum() ** 2 / (w**2).sum())
    return found


def _prior(rows: int, outcomes: int) -> FloatArray:
    """Total mass 1 per judge outcome, half of it on the outcome itself, as in the corpus posterior."""
    masses = np.full((rows, outcomes), 0.5 / max(outcomes - 1, 1))
    masses[range(outcomes), range(outcomes)] = 0.5
    masses[outcomes:] = 1 / outcomes
    return masses


def _correction(side: _Side, labels: FloatArray, draws: int, rng: np.random.Generator) -> FloatArray:
    gammas = rng.standard_gamma(_prior(*labels.shape) + labels, size=(draws, *labels.shape))
    chances = gammas / gammas.sum(axis=-1, keepdims=True)
    found: FloatArray = np.einsum("j,bjk,jk->b", side.share, chances, side.change)
    return found


def _mean(side: _Side, labels: FloatArray) -> float:
    masses = _prior(*labels.shape) + labels
    chances = np.where(
        labels.sum(axis=1, keepdims=True) > 0,
        labels / np.maximum(labels.sum(axis=1, keepdims=True), 1e-12),
        masses / masses.sum(axis=1, keepdims=True),
    )
    return float((side.share[:, None] * chances * side.change).sum())


def _why(part: str, margin: float, model: str, worst: Estimate, offered: bool) -> str:
    span = f"{worst.value:+.3f} (90 % {worst.low:+.3f} to {worst.high:+.3f})"
    if offered:
        return (
            f"a correction pooled over models is within {margin:g} of each model's own for {part}; "
            f"the largest difference is {span}, for {model}"
        )
    return (
        f"no correction pooled over models: for {part} it must be shown to be within {margin:g} of each model's own, "
        f"and for {model} the difference is {span}"
    )
