"""Sampling variance of post-stratified totals, by linearisation and by bootstrap.

Cells are the post-strata: given its count n_g, the labelled units of a cell are a simple random sample of its N_g.
A cell with fewer than two labels has no variance of its own and joins the cells of the same model and judge label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agreement.cells import Cells, FloatArray, IntArray
from agreement.posterior import Target, families


@dataclass(frozen=True, slots=True)
class Strata:
    """H joined cells: size N_h, labelled units n_h, label shares p_h (H, q), and the members of each."""

    members: tuple[IntArray, ...]
    size: FloatArray
    n: FloatArray
    shares: FloatArray


def joined(cells: Cells) -> Strata:
    """The cells, those with fewer than two labels (and not all labelled) joined with their family."""
    n = cells.n_labelled
    thin = (n < 2) & (n < cells.size)
    groups: list[IntArray] = []
    for family in families(cells):
        groups += [family] if thin[family].any() else [family[[i]] for i in range(len(family))]
    rows = [_pool(cells, group) for group in groups]
    size, count, shares = (np.array([row[k] for row in rows], dtype=np.float64) for k in range(3))
    return Strata(tuple(groups), size, count, shares)


def linear_errors(cells: Cells, gradient: FloatArray, output: IntArray, target: Target) -> tuple[FloatArray, float]:
    """Standard errors of K numbers, and the degrees of freedom n - H (Cochran 1977, 5A.9; Binder 1983).

    gradient: (K, J, q) derivative of each number by the total of matrix cell (j, c). output: the matrix row of each
    cell. NaN where a stratum that is not fully labelled has fewer than two labels.
    """
    strata = joined(cells)
    rows = np.array([output[int(group[0])] for group in strata.members])
    slopes = gradient[:, rows, :]  # (K, H, q)
    mean = np.einsum("khc,hc->kh", slopes, strata.shares)
    spread = np.einsum("khc,hc->kh", slopes**2, strata.shares) - mean**2
    free = np.where(strata.n >= strata.size, 0.0, 1 - strata.n / strata.size)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = strata.size**2 * np.where(free == 0, 0.0, free / (strata.n - 1))
        if target == "population":
            factor = strata.size**2 / (strata.n - 1)
    factor[(strata.n < 2) & ((free > 0) | (target == "population"))] = np.nan
    variance: FloatArray = np.maximum(spread, 0) @ factor
    if target == "population":
        total = strata.size.sum()
        variance += total * (mean**2 @ (strata.size / total) - (mean @ (strata.size / total)) ** 2)
    return np.sqrt(variance), float(strata.n.sum() - len(strata.n))


def bootstrap_totals(cells: Cells, *, draws: int, seed: int, target: Target) -> FloatArray:
    """(B, G, q) resampled totals per cell (Rao and Wu 1988, rescaled for the finite corpus).

    n_h - 1 units are drawn with replacement in each stratum. For the population the sizes are drawn too.
    """
    strata = joined(cells)
    stream = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(2,))))
    sizes: FloatArray = np.broadcast_to(strata.size, (draws, len(strata.size)))
    if target == "population":
        sizes = stream.multinomial(int(strata.size.sum()), strata.size / strata.size.sum(), size=draws).astype(
            np.float64
        )
    totals = np.zeros((draws, len(cells), len(cells.labels)))
    for h, group in enumerate(strata.members):
        shares = _resampled(strata, h, draws, stream, target)
        part = cells.size[group] / strata.size[h]
        totals[:, group] = part[None, :, None] * (sizes[:, h, None] * shares)[:, None, :]
    return totals


def _resampled(strata: Strata, h: int, draws: int, stream: np.random.Generator, target: Target) -> FloatArray:
    n, size = strata.n[h], strata.size[h]
    shares: FloatArray = np.broadcast_to(strata.shares[h], (draws, strata.shares.shape[1]))
    free = 1.0 if target == "population" else 1 - n / size
    if n < 2 or free <= 0:
        return shares
    again = stream.multinomial(int(n) - 1, strata.shares[h] / strata.shares[h].sum(), size=draws) / (n - 1)
    scale = float(np.sqrt(free))
    shrunk: FloatArray = (1 - scale) * shares + scale * again
    return shrunk


def _pool(cells: Cells, group: IntArray) -> tuple[float, float, FloatArray]:
    n = cells.n_labelled[group]
    has = group[n > 0]
    size = float(cells.size[group].sum())
    if not len(has):
        return size, 0.0, np.full(len(cells.labels), 1 / len(cells.labels))
    weight = cells.size[has] / cells.n_labelled[has]
    shares = (weight[:, None] * cells.labelled[has]).sum(axis=0) / cells.size[has].sum()
    return size, float(n.sum()), shares
