"""Label shares of a corpus, post-stratified by the judge's label (Tenenbein 1970)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from agreement._quantiles import t_quantile
from agreement._types import FloatArray
from agreement.cell_resampling import joined
from agreement.cells import Cells
from agreement.intervals import posterior_interval
from agreement.posterior import Target, complete, expected_counts
from agreement.rate import Rate
from agreement.small_counts import is_small

POSTERIOR = "post-stratified, finite-population posterior"


def post_stratified_rates(
    cells: Cells,
    *,
    seed: int,
    interval: str = "posterior",
    target: Target = "corpus",
    draws: int = 4000,
    level: float = 0.95,
) -> dict[str, Rate]:
    """The share of every declared label in the corpus: sum over cells of N_g / N times the share seen in the cell.

    The shares add to 1 and lie in [0, 1]. interval: "posterior" (default), or "wald" with the variance
    sum (N_g/N)^2 (1 - n_g/N_g) p (1 - p) / (n_g - 1), for the population with the spread between cells and without the
    correction for a finite corpus. A Wald interval that rests on fewer than 5 labels, or on a cell that is all one
    answer, becomes the posterior's, by name.
    """
    total = float(cells.size.sum())
    values = expected_counts(cells).sum(axis=0) / total
    drawn = complete(cells, seed=seed, draws=draws, target=target).counts.sum(axis=1) / total
    errors, df, flat = _wald(cells, target)
    n, judged = int(cells.n_labelled.sum()), int(total)
    rates = {}
    for k, label in enumerate(cells.labels):
        value, found = float(values[k]), posterior_interval(float(values[k]), drawn[:, k], level=level)
        rate = Rate(value, float(drawn[:, k].std()), found.low, found.high, level, POSTERIOR, target, n, judged)
        few = is_small(float(cells.labelled[:, k].sum()), n) or bool(flat[k]) or not np.isfinite(errors[k]) or df < 1
        if interval == "wald" and not few:
            half = t_quantile(0.5 + level / 2, df) * float(errors[k])
            bounds = max(value - half, 0.0), min(value + half, 1.0)
            rate = replace(rate, se=float(errors[k]), low=bounds[0], high=bounds[1], method="post-stratified, Wald")
        elif interval == "wald":
            rate = replace(rate, method=f"{POSTERIOR} (few labels)")
        rates[label] = rate
    return rates


def _wald(cells: Cells, target: Target) -> tuple[FloatArray, float, FloatArray]:
    """Standard errors (q,), degrees of freedom, and (q,) whether a cell not fully labelled is all one answer."""
    strata = joined(cells)
    share, p = (strata.size / strata.size.sum())[:, None], strata.shares
    free = (1 - strata.n / strata.size)[:, None] if target == "corpus" else np.ones((len(strata.n), 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.where(free > 0, share**2 * free * p * (1 - p) / (strata.n - 1)[:, None], 0.0)
    spread: FloatArray = inside.sum(axis=0)
    if target == "population":
        spread = spread + (share * (p - (share * p).sum(axis=0)) ** 2).sum(axis=0) / strata.size.sum()
    flat = ((free > 0) & ((p == 0) | (p == 1))).any(axis=0)
    return np.sqrt(spread), float(strata.n.sum() - len(strata.n)), np.asarray(flat, np.float64)
