"""Is the judge within the range of people? Judge against each coder, coder against coder, on the same units.

Like is compared with like: a judge is held against single coders, as coders are held against each other, never against
an adjudicated label, which is more reliable than any coder and so makes the judge look worse (or, where the judge took
part in making it, better).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement._types import BoolArray, FloatArray, IntArray
from agreement.ceiling_numbers import alphas, defined_pairs, mean_kappas, rating_errors
from agreement.cells import MISSING
from agreement.errors import AgreementError
from agreement.intervals import Interval, bootstrap_interval
from agreement.ratings_codes import label_codes, label_table
from agreement.resampled_units import Blocks, blocks_of, multiplicities

MIN_UNITS = 30
"""Fewer units (items, where they are resampled) than this: the draws of a bootstrap hardly differ, no verdict rests on
them. The alternative annotator test asks for as many (Calderon, Reichart and Dror 2025)."""
WITHIN, BELOW, NOT_SHOWN = "within the human range", "below the human range", "not shown"


@dataclass(frozen=True, slots=True)
class CeilingComparison:
    """One number for the judge and for people, and their paired difference (judge - people).

    For errors of ratings a larger number is worse. verdict: "within the human range" (the judge is worse by less than
    `margin`, at the confidence of the interval), "below the human range" (worse, not shown to be within the margin), or
    "not shown" (always with fewer than `MIN_UNITS` units, or items where they are resampled). sentence: the verdict
    with its numbers. left_out: pairs of coders without a defined number.
    """

    name: str
    judge: float | None
    people: float | None
    difference: Interval
    margin: float
    verdict: str
    sentence: str
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Ceiling:
    """comparisons: kappa and alpha for labels, or two errors for ratings.

    n_units: units with a judge output and two coders at least; too_few_coders, judge_missing: units left out.
    """

    comparisons: tuple[CeilingComparison, ...]
    n_units: int
    too_few_coders: int
    judge_missing: int
    convention: str

    @property
    def sentence(self) -> str:
        """The verdict of the first comparison."""
        return self.comparisons[0].sentence


def human_ceiling(
    ratings: Any,
    judge: Sequence[Any],
    *,
    labels: Sequence[Any],
    seed: int,
    name: str = "judge",
    weights: npt.ArrayLike | None = None,
    items: Sequence[Hashable] | None = None,
    stratum: Sequence[Hashable] | None = None,
    margin: float = 0.05,
    draws: int = 2000,
    level: float = 0.95,
) -> Ceiling:
    """Mean Cohen kappa (judge, coder j) against mean kappa (coder i, coder j), and alpha with and without the judge.

    ratings: N x R labels of people, None where missing. judge: N outputs; one that is no label is a category of its own
    (a disagreement), a missing one leaves the unit out, counted. weights: (N,) design weights. items: units of one item
    are resampled together. stratum: resampling keeps to it.
    margin: how much worse in kappa still counts as within the range; for alpha it is margin 2 / (R + 1).
    Raises AgreementError with fewer than two coders. The interval is a percentile bootstrap, `seed` fixes it.
    """
    people = label_table(ratings, labels)
    outputs = label_codes(list(judge), (*labels, MISSING))[:, 0]
    q = len(labels)
    codes = np.select([outputs == q, outputs == -1, outputs == -2], [-1, -1, q], outputs)
    _check(people, codes)
    use = _usable((people >= 0).sum(axis=1), codes >= 0)
    if not use.units.any():
        return _nothing(use)
    table = np.column_stack([people, codes])[use.units]
    blocks, weight = _blocks(table, use.units, weights, items, stratum)
    parts = [mean_kappas(table, blocks, weight, q + 1), alphas(table, blocks, weight, q + 1)]
    values = np.concatenate(
        [np.stack([part(w) for part in parts]) for w in multiplicities(blocks, draws, seed)], axis=1
    )
    pairs = len(list(combinations(range(people.shape[1]), 2)))
    # one judge among R coders has 2 / (R + 1) of the pairs, so it moves alpha by that part of what it moves kappa
    dilution = 2 / (people.shape[1] + 1)
    kappa = _compared("kappa", values[0], margin, level, name, blocks, worse=-1)
    alpha = _compared("alpha", values[1], margin * dilution, level, name, blocks, worse=-1)
    lost = pairs - int(defined_pairs(table, weight, blocks, q + 1))
    return _result((replace(kappa, left_out=lost), alpha), use, blocks)


def rating_ceiling(
    ratings: Any,
    judge: Sequence[float | None],
    *,
    seed: int,
    name: str = "judge",
    weights: npt.ArrayLike | None = None,
    items: Sequence[Hashable] | None = None,
    stratum: Sequence[Hashable] | None = None,
    margin: float = 5.0,
    draws: int = 2000,
    level: float = 0.95,
) -> Ceiling:
    """Mean absolute and root mean squared difference of judge and coder, against coder and coder (ratings 0-100 say).

    ratings: N x R numbers, None or NaN where missing; judge: N numbers. margin in rating points. Else `human_ceiling`.
    """
    people = np.asarray(ratings, dtype=np.float64)
    ours = np.asarray(judge, dtype=np.float64)
    _check(people, ours)
    use = _usable(np.isfinite(people).sum(axis=1), np.isfinite(ours))
    if not use.units.any():
        return _nothing(use)
    table = np.column_stack([people, ours])[use.units]
    blocks, weight = _blocks(np.nan_to_num(table, nan=-1e300), use.units, weights, items, stratum)
    errors = rating_errors(table, blocks, weight)
    values = np.concatenate([errors(w) for w in multiplicities(blocks, draws, seed)], axis=1)
    names = ("mean absolute error", "root mean squared error")
    return _result(
        tuple(_compared(each, values[i], margin, level, name, blocks, worse=1) for i, each in enumerate(names)),
        use,
        blocks,
    )


@dataclass(frozen=True, slots=True)
class _Use:
    units: BoolArray
    few: int
    missing: int


def _usable(coders: IntArray, judged: BoolArray) -> _Use:
    enough = np.asarray(coders >= 2, np.bool_)
    return _Use(enough & judged, int((~enough).sum()), int((enough & ~judged).sum()))


def _blocks(
    table: npt.NDArray[Any],
    units: BoolArray,
    weights: npt.ArrayLike | None,
    items: Sequence[Hashable] | None,
    stratum: Sequence[Hashable] | None,
) -> tuple[Blocks, FloatArray]:
    w = np.ones(len(units)) if weights is None else np.asarray(weights, np.float64)
    if len(w) != len(units):
        raise AgreementError(f"weights has {len(w)} entries for {len(units)} units: give one per unit")
    keep = np.flatnonzero(units)
    weight = w[keep] / w[keep].mean() if w[keep].any() else w[keep]
    chosen = [None if column is None else [column[int(i)] for i in keep] for column in (items, stratum)]
    return blocks_of(np.column_stack([table, weight]), *chosen), weight


def _compared(
    number: str, values: FloatArray, margin: float, level: float, judge: str, blocks: Blocks, *, worse: int
) -> CeilingComparison:
    """values: (1 + B, 2), the observed first. worse: 1 when larger is worse, -1 when smaller is."""
    ours, theirs = (float(x) if np.isfinite(x) else None for x in values[0])
    gap = None if ours is None or theirs is None else ours - theirs
    drawn = values[1:, 0] - values[1:, 1]
    found = bootstrap_interval(gap, drawn, level=level, method="percentile bootstrap, paired")
    size = int(blocks.count.sum())
    verdict = _verdict(found, margin, worse) if size >= MIN_UNITS else NOT_SHOWN
    sentence = _sentence(number, judge, ours, theirs, found, margin, verdict)
    if size < MIN_UNITS and found.value is not None:
        sentence += (
            f"; {size} {blocks.by} with two coders and the judge are too few for a verdict, {MIN_UNITS} are needed"
        )
    return CeilingComparison(number, ours, theirs, found, margin, verdict, sentence)


def _verdict(difference: Interval, margin: float, worse: int) -> str:
    if difference.low is None or difference.high is None:
        return NOT_SHOWN
    least, most = sorted((worse * difference.low, worse * difference.high))
    if most < margin:
        return WITHIN
    return BELOW if least > 0 else NOT_SHOWN


def _sentence(
    number: str, judge: str, ours: float | None, theirs: float | None, found: Interval, margin: float, verdict: str
) -> str:
    if found.value is None or found.low is None or found.high is None:
        why = found.undefined or found.method
        return f"{judge}: whether it is within the human range is not shown ({number}: {why})"
    told = {
        WITHIN: f"{judge} is within the human range (worse by less than {margin:g})",
        BELOW: f"{judge} is below the human range",
        NOT_SHOWN: f"{judge}: whether it is within the human range is not shown",
    }[verdict]
    with_judge = "with the judge" if number == "alpha" else "judge against coders"
    without = "without" if number == "alpha" else "coder against coder"
    return (
        f"{told}: {number} {with_judge} {ours:.3f}, {without} {theirs:.3f}, "
        f"difference {found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"
    )


def _check(people: npt.NDArray[Any], judge: npt.NDArray[Any]) -> None:
    if people.ndim != 2 or people.shape[1] < 2:
        raise AgreementError(
            "the human ceiling needs at least two coders: there is no agreement of people to compare with"
        )
    if len(people) != len(judge):
        raise AgreementError(f"{len(judge)} judge outputs for {len(people)} units: give one per unit")


def _nothing(use: _Use) -> Ceiling:
    reason = "no unit has a judge output and labels of two coders"
    empty = Interval(None, None, None, 0.95, "none", undefined=reason)
    text = f"whether the judge is within the human range is not shown: {reason}"
    comparison = CeilingComparison("kappa", None, None, empty, 0.0, NOT_SHOWN, text)
    return Ceiling((comparison,), 0, use.few, use.missing, "none")


def _result(comparisons: tuple[CeilingComparison, ...], use: _Use, blocks: Blocks) -> Ceiling:
    named = f"means over pairs on the same units; percentile bootstrap of {blocks.by}"
    return Ceiling(comparisons, int(use.units.sum()), use.few, use.missing, named)
