"""The whole corpus, for calibration scores: the difference estimator on totals, with a noise-aware interval.

A calibration score is a function of totals of per-record values z(label, confidence). The judge's totals are known;
what people change is estimated from the sampled differences z(people) - z(judge), inside post-strata of design stratum
and judge outcome (Saerndal, Swensson and Wretman 1992, ch. 6). It conditions on every record's confidence without
cells, where imputing labels cell by cell is biased.

Absolute gaps are convex, so noise adds to a calibration error and a resample adds it again: the interval is centred on
2 S - mean(S*), never on percentiles, and opened upwards where the error is not distinguishable from noise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agreement.impact.case import Case
from agreement.impact.columns import NO_LABEL_NAMES
from agreement.impact.posterior_scores import CorpusTotals
from agreement.impact.records import FloatArray, IntArray
from agreement.impact.resample import Questions

METHOD = "difference estimator on totals"
SMOOTHED = f"{METHOD}, smoothed (fewer than 5 labels differ from the judge's)"
FEW = 5


@dataclass(frozen=True, slots=True)
class PostStrata:
    """G groups of open corpus records and of the units sampled from them.

    size: (G,) records. rows: (R,) group of each open corpus row. units: (n,) group of each unit. n: (G,) units.
    notes: which cells had to join others.
    """

    size: IntArray
    rows: IntArray
    units: IntArray
    n: IntArray
    notes: tuple[str, ...]


def post_strata(case: Case) -> PostStrata:
    """Cells (design stratum, judge outcome); a cell with fewer than two units joins others of the model.

    First all strata with the same judge outcome, then, if these have fewer than two units together, all records.
    A cell that was labelled completely stays as it is.
    """
    corpus, units = case.corpus, case.sample
    still = np.flatnonzero(~corpus.settled)
    width = len(case.outcomes) + 2
    key = np.concatenate([corpus.stratum[still] * width + corpus.judged[still], units.stratum * width + units.judged])
    keys, cell = np.unique(key, return_inverse=True)
    rows, drawn = cell[: len(still)], cell[len(still) :]
    size = np.bincount(rows, corpus.count[still], len(keys)).astype(np.int64)
    n = np.bincount(drawn, minlength=len(keys))
    group, notes = _join(case, keys % width, size, n)
    _, final = np.unique(group, return_inverse=True)
    count = int(final.max(initial=-1)) + 1
    return PostStrata(
        np.bincount(final, size, count).astype(np.int64),
        final[rows],
        final[drawn],
        np.bincount(final[drawn], minlength=count),
        notes,
    )


def difference_totals(
    case: Case, *, draws: int, rng: np.random.Generator, questions: Questions | None = None
) -> CorpusTotals | None:
    """Totals of the corpus under people's labels with bootstrap draws; None when the model has no labelled unit."""
    units = case.sample
    if not len(units) and case.open_records():
        return None
    judge = case.judge_totals()
    strata = post_strata(case)
    change = units.human - units.judge
    few = int((np.abs(change) > 1e-12).any(axis=1).sum()) < FEW
    estimate, judge_draws = judge.copy(), None
    drawn = np.tile(judge, (draws, 1))
    sizes = np.tile(strata.size.astype(np.float64), (draws, 1))
    if questions is not None:
        judge_draws = questions.totals(case.corpus.rows, case.corpus.count[:, None] * case.corpus.judge)
        sizes = _question_sizes(case, strata, questions)
        drawn = judge_draws.copy()
    for g in range(len(strata.size)):
        mine = np.flatnonzero(strata.units == g)
        finite = 1 - len(mine) / strata.size[g] if questions is None else 1.0
        if few and finite > 0:
            mean, resampled = _smoothed_change(case, strata, g, change[mine], units.weight[mine], finite, draws, rng)
        else:
            mean, resampled = _mean_change(change[mine], units.weight[mine], finite, draws, rng)
        estimate += strata.size[g] * mean
        drawn += sizes[:, [g]] * resampled
    freedom = max(len(units) - len(strata.size), 1)
    method = SMOOTHED if few else METHOD
    return CorpusTotals(estimate, drawn, judge, judge_draws, method, strata.notes, freedom)


def _join(case: Case, outcome: IntArray, size: IntArray, n: IntArray) -> tuple[IntArray, tuple[str, ...]]:
    """(cells,) group of each cell, and a sentence for each join."""
    names = (*case.outcomes, *NO_LABEL_NAMES.values())
    group = np.arange(len(size))
    short = (n < 2) & (n < size)
    notes, lonely = [], []
    for j in np.unique(outcome[short]):
        family = np.flatnonzero(outcome == j)
        if n[family].sum() < 2 and n[family].sum() < size[family].sum():
            lonely.append(int(j))
            continue
        group[family] = family[0]
        joined = int(size[short & (outcome == j)].sum())
        notes.append(f"{joined} records of model {case.model} with judge label {names[j]} use the labels of all strata")
    if lonely:
        group[:] = 0
        total = int(size[np.isin(outcome, lonely)].sum())
        which = ", ".join(names[j] for j in lonely)
        notes.append(
            f"{total} records of model {case.model} with judge label {which} use the labels of all its records"
        )
    return group, tuple(notes)


def _mean_change(
    change: FloatArray, weight: FloatArray, finite: float, draws: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """(d,) weighted mean of the sampled changes, and (B, d) resampled means with the right spread around it."""
    n = len(change)
    if n == 0:
        return np.zeros(change.shape[1]), np.zeros((draws, change.shape[1]))
    mean: FloatArray = weight @ change / weight.sum()
    if n == 1 or finite <= 0:
        return mean, np.tile(mean, (draws, 1))
    picked = rng.integers(0, n, (draws, n)) + np.arange(draws)[:, None] * n
    times = np.bincount(picked.ravel(), minlength=draws * n).reshape(draws, n) * weight
    resampled = times @ change / times.sum(axis=1, keepdims=True)
    return mean, mean + (resampled - mean) * np.sqrt(finite * n / (n - 1))


def _smoothed_change(
    case: Case,
    strata: PostStrata,
    group: int,
    change: FloatArray,
    weight: FloatArray,
    finite: float,
    draws: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """As `_mean_change`, for few differences: a resample of units that all agree would claim that no error exists.

    A Bayesian bootstrap of the units (Rubin 1981) with the corpus posterior's prior beside them: mass 1 per group, half
    of it on no change, half spread over the changes that the other possible outcomes would make on average.
    """
    mean = weight @ change / weight.sum() if len(change) else np.zeros(change.shape[1])
    pseudo, mass = _pseudo_changes(case, strata, group)
    size = np.concatenate([weight * len(weight) / weight.sum() if len(weight) else weight, np.ones(len(mass))])
    gammas = rng.standard_gamma(np.concatenate([np.ones(len(change)), mass]), (draws, len(size))) * size
    drawn = gammas @ np.concatenate([change, pseudo]) / gammas.sum(axis=1, keepdims=True)
    return mean, mean + (drawn - drawn.mean(axis=0)) * np.sqrt(finite)


def _pseudo_changes(case: Case, strata: PostStrata, group: int) -> tuple[FloatArray, FloatArray]:
    """(O + 1, d) mean change under each outcome that the judge did not give, and none; (O + 1,) their prior masses."""
    still = np.flatnonzero(~case.corpus.settled)[strata.rows == group]
    count, possible = case.corpus.count[still], case.corpus.possible[still]
    judge = case.corpus.features[still, case.corpus.judged[still]]
    other = possible & (np.arange(possible.shape[1]) != case.corpus.judged[still][:, None])
    weight = count[:, None] * other
    total = weight.sum(axis=0)
    change = case.corpus.features[still, : possible.shape[1]] - judge[:, None]
    means = np.einsum("rk,rkd->kd", weight, change) / np.maximum(total, 1)[:, None]
    mass = 0.5 * total / max(float(total.sum()), 1.0)
    return np.concatenate([means, np.zeros((1, means.shape[1]))]), np.concatenate([mass, [1 - mass.sum()]])


def _question_sizes(case: Case, strata: PostStrata, questions: Questions) -> FloatArray:
    """(B, G) records of each group in every resample of the questions."""
    still = np.flatnonzero(~case.corpus.settled)
    one_hot = np.zeros((len(still), len(strata.size)))
    one_hot[np.arange(len(still)), strata.rows] = case.corpus.count[still]
    return questions.totals(case.corpus.rows[still], one_hot)
