"""Are the judge's errors the same everywhere? A stratified permutation test on P(people | judge).

Under the null, people's verdicts on records with the same judge outcome, design stratum and possible outcomes do not
depend on the level (the model, the category). Levels are permuted inside these strata, where inclusion probabilities
are alike, so that no weights are needed. Statistics are sums of (observed - expected)^2 / expected over levels, strata
and verdicts. P-values are (1 + permutations at least as extreme) / (1 + permutations), adjusted over the levels of all
variables by Benjamini and Hochberg (1995).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from agreement.impact.records import BoolArray, FloatArray, IntArray

PERMUTATIONS = 1999


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """p: of the whole variable. level_p: (L,) of each level against the rest. deviation: (L,) standardised statistic.

    cell_p, cell_deviation: (L, J) the same for each level and judge outcome. tested: (L,) levels that share strata with
    others, the only ones that can be compared.
    """

    p: float
    level_p: FloatArray
    deviation: FloatArray
    cell_p: FloatArray
    cell_deviation: FloatArray
    tested: BoolArray


def permutation_test(
    level: IntArray,
    stratum: IntArray,
    verdict: IntArray,
    judged: IntArray,
    *,
    levels: int,
    outcomes: int,
    rng: np.random.Generator,
    permutations: int = PERMUTATIONS,
) -> PermutationTest:
    """Test n units: level (n,), stratum (n,) (judge outcome and more), verdict (n,) codes, judged (n,) codes."""
    strata, stratum = np.unique(stratum, return_inverse=True)
    kinds = int(verdict.max(initial=0)) + 1
    shape = (levels, len(strata), kinds)
    judge_of = np.zeros(len(strata), np.int64)
    judge_of[stratum] = judged
    expected = _expected(level, stratum, verdict, shape)
    observed = _statistics(_table(level[None], stratum, verdict, shape), expected, judge_of, outcomes)[0]
    drawn = np.concatenate(
        [
            _statistics(_table(block, stratum, verdict, shape), expected, judge_of, outcomes)
            for block in _permuted(level, stratum, permutations, rng)
        ]
    )
    shared = np.array([len(np.unique(level[stratum == s])) > 1 for s in range(len(strata))], np.bool_)
    tested = np.isin(np.arange(levels), level[shared[stratum]])
    by_level, drawn_level = observed.sum(axis=-1), drawn.sum(axis=-1)
    return PermutationTest(
        float(_p(by_level.sum(), drawn_level.sum(axis=-1))),
        _p(by_level, drawn_level),
        _standardised(by_level, drawn_level),
        _p(observed, drawn),
        _standardised(observed, drawn),
        tested,
    )


def benjamini_hochberg(p: FloatArray) -> FloatArray:
    """Adjusted p-values (Benjamini and Hochberg 1995), of any shape, over all entries that are not NaN."""
    flat = p.ravel()
    held = np.flatnonzero(np.isfinite(flat))
    adjusted = np.full(flat.shape, np.nan)
    order = held[np.argsort(flat[held], kind="stable")]
    scaled = flat[order] * len(order) / np.arange(1, len(order) + 1)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return adjusted.reshape(p.shape)


def _permuted(level: IntArray, stratum: IntArray, permutations: int, rng: np.random.Generator) -> list[IntArray]:
    """Blocks of (b, n) levels permuted inside strata."""
    order = np.argsort(stratum, kind="stable")
    edges = np.flatnonzero(np.diff(stratum[order], prepend=-1, append=-1))
    size = max(1, min(permutations, 2_000_000 // max(len(level), 1)))
    blocks = []
    for at in range(0, permutations, size):
        block = np.tile(level, (min(size, permutations - at), 1))
        for start, stop in pairwise(edges):
            mine = order[start:stop]
            block[:, mine] = rng.permuted(block[:, mine], axis=1)
        blocks.append(block)
    return blocks


def _table(level: IntArray, stratum: IntArray, verdict: IntArray, shape: tuple[int, int, int]) -> FloatArray:
    """(b, L, S, K) counts for levels (b, n)."""
    size = int(np.prod(shape))
    flat = (level * shape[1] + stratum) * shape[2] + verdict + np.arange(len(level))[:, None] * size
    return np.bincount(flat.ravel(), minlength=len(level) * size).reshape(len(level), *shape).astype(np.float64)


def _expected(level: IntArray, stratum: IntArray, verdict: IntArray, shape: tuple[int, int, int]) -> FloatArray:
    table = _table(level[None], stratum, verdict, shape)[0]
    rows, columns = table.sum(axis=2, keepdims=True), table.sum(axis=0, keepdims=True)
    total = table.sum(axis=(0, 2), keepdims=True)
    expected: FloatArray = rows * columns / np.where(total > 0, total, 1)
    return expected


def _statistics(table: FloatArray, expected: FloatArray, judge_of: IntArray, outcomes: int) -> FloatArray:
    """(b, L, J) sums of (O - E)^2 / E by level and judge outcome."""
    parts = ((table - expected) ** 2 / np.where(expected > 0, expected, 1)).sum(axis=-1)
    found = np.zeros((*parts.shape[:2], outcomes))
    for s, j in enumerate(judge_of):
        found[..., j] += parts[..., s]
    return found


def _p(observed: FloatArray, drawn: FloatArray) -> FloatArray:
    extreme = (drawn >= observed - 1e-9).sum(axis=0)
    return np.asarray((1 + extreme) / (1 + len(drawn)), np.float64)


def _standardised(observed: FloatArray, drawn: FloatArray) -> FloatArray:
    spread = drawn.std(axis=0)
    z: FloatArray = np.where(spread > 0, (observed - drawn.mean(axis=0)) / np.where(spread > 0, spread, 1), 0.0)
    return z
