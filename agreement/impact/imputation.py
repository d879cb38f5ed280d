"""Multiple imputation: people's labels of every unlabelled record, where a completion of all records is needed.

Per model, a multinomial logit of people's label on one dummy per cell (possible labels, judge label) and on covariates,
with ridge 1 on all but the dummies (.001). For each cell and each label possible in it one pseudo-record lies at the
cell's mean covariates. Draws are a weighted-likelihood bootstrap (Newton and Raftery 1994): labelled records weigh
Gamma(1), pseudo-records Gamma(1/q), so that with the dummies alone a draw is Dirichlet(1/q + counts) exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from agreement.errors import AgreementError
from agreement.impact.records import BoolArray, FloatArray, IntArray

LabelArray = npt.NDArray[np.int8]

DRAWS = 200
STEPS, CAP, CLOSE = 12, 3.0, 1e-6  # the error after a step of 1e-6 is about its square
RIDGE, CELL_RIDGE = 1.0, 0.001
NEARLY = 1e-12  # what rounding may take from a sum of probabilities


@dataclass(frozen=True, slots=True)
class CompletionInput:
    """R records of one model.

    cell: (R,) code of the possible-label set and judge label. possible: (C, q) labels that can occur in each cell.
    covariates: (R, c), centred, 0 where missing. shares: (R, q) people's label, a zero row where it is to be imputed.
    """

    cell: IntArray
    possible: BoolArray
    covariates: FloatArray
    shares: FloatArray

    def __post_init__(self) -> None:
        if not len(self.cell) == len(self.covariates) == len(self.shares):
            raise AgreementError("imputation: cell, covariates and shares need one row per record")


def imputed_probabilities(
    data: CompletionInput, *, draws: int = DRAWS, rng: np.random.Generator
) -> tuple[FloatArray, IntArray]:
    """(D, K, q) label probabilities of the K distinct kinds of record per draw, and (R,) the kind of each record."""
    kinds, kind = np.unique(np.column_stack([data.cell, data.covariates]), axis=0, return_inverse=True)
    cells = kinds[:, 0].astype(np.int64)
    theta = _drawn_coefficients(data, draws, rng)
    logits = theta @ _design(cells, kinds[:, 1:], len(data.possible)).T
    return _softmax(logits.swapaxes(1, 2), data.possible[cells]), kind.reshape(-1)


def complete_labels(data: CompletionInput, *, draws: int = DRAWS, rng: np.random.Generator) -> LabelArray:
    """(D, R) people's label of every record: the one seen, or drawn from its fitted probabilities.

    A split label is drawn from its shares in each draw.
    """
    theta = _drawn_coefficients(data, draws, rng)
    across = np.ascontiguousarray(_design(data.cell, data.covariates, len(data.possible)).T)
    never = None if data.possible.all() else ~data.possible[data.cell].T
    known = np.flatnonzero(data.shares.sum(axis=1) > 0)
    seen = np.cumsum(data.shares[known], axis=1).T[:-1] - NEARLY
    labels = np.zeros((draws, len(data.cell)), np.int8)
    for d in range(draws):  # one draw at a time stays in the processor's cache
        u = rng.random(len(data.cell))
        edges = list(accumulate(_odds(theta[d] @ across, never)))
        mark = (u + NEARLY) * edges[-1]
        for edge in edges[:-1]:
            labels[d] += mark >= edge
        labels[d, known] = (u[known] >= seen).sum(axis=0)
    return labels


def _odds(logits: FloatArray, never: BoolArray | None) -> FloatArray:
    """(q, R) weights of the labels, in place of their logits; those that cannot occur have none."""
    if never is not None:
        logits[never] = -np.inf
    top = logits[0]
    for each in logits[1:]:
        top = np.maximum(top, each)
    logits -= top
    return np.exp(logits, out=logits)


def _drawn_coefficients(data: CompletionInput, draws: int, rng: np.random.Generator) -> FloatArray:
    """(D, q, p) coefficients of the logit, one set a draw of the weights."""
    allowed, q = data.possible, data.possible.shape[1]
    labelled = np.flatnonzero(data.shares.sum(axis=1) > 0)
    pseudo_x, pseudo_y, pseudo_cell = _pseudo_records(data)
    x = _design(data.cell[labelled], data.covariates[labelled], len(allowed))
    rows = np.concatenate([x, pseudo_x])
    target = np.concatenate([data.shares[labelled], pseudo_y])
    mask = allowed[np.concatenate([data.cell[labelled], pseudo_cell])]
    shape = np.concatenate([np.ones(len(labelled)), np.full(len(pseudo_x), 1 / q)])
    weights = rng.standard_gamma(shape, size=(draws, len(shape)))
    ridge = np.concatenate([np.full(len(allowed), CELL_RIDGE), np.full(x.shape[1] - len(allowed), RIDGE)])
    middle = _fit(rows, target, mask, shape[None], ridge)
    return _fit(rows, target, mask, weights, ridge, middle)


def rubin(draws: FloatArray, within: float = 0.0) -> tuple[float, float]:
    """Variance and degrees of freedom of D completed-data values (Rubin 1987): T = W + (1 + 1/D) B.

    within: W, 0 for the corpus at hand, the question bootstrap's variance for the population.
    """
    count = len(draws)
    between = float(draws.var(ddof=1)) * (1 + 1 / count)
    freedom = float("inf") if between == 0 else (count - 1) * (1 + within / between) ** 2
    return within + between, freedom


def _design(cells: IntArray, covariates: FloatArray, count: int) -> FloatArray:
    return np.column_stack([np.eye(count)[cells], covariates])


def _pseudo_records(data: CompletionInput) -> tuple[FloatArray, FloatArray, IntArray]:
    """One record per cell that occurs and label possible in it, at the cell's mean covariates."""
    q = data.possible.shape[1]
    x, y, cell = [], [], []
    for c in np.unique(data.cell):
        mean = data.covariates[data.cell == c].mean(axis=0)
        for k in np.flatnonzero(data.possible[c]):
            x.append(np.concatenate([np.eye(len(data.possible))[c], mean]))
            y.append(np.eye(q)[k])
            cell.append(int(c))
    return np.array(x), np.array(y), np.array(cell, np.int64)


def _fit(
    x: FloatArray,
    y: FloatArray,
    mask: BoolArray,
    weights: FloatArray,
    ridge: FloatArray,
    start: FloatArray | None = None,
) -> FloatArray:
    """(D, q, p) coefficients by Newton's method with capped steps, all draws at once.

    start: (1, q, p) coefficients near all of them, which saves half of the steps.
    """
    p, q = x.shape[1], y.shape[1]
    theta = np.zeros((len(weights), q, p)) if start is None else np.repeat(start, len(weights), axis=0)
    penalty = np.tile(ridge, q)
    left = np.arange(len(weights))  # draws that have not settled yet
    for _ in range(STEPS):
        weight, at = weights[left], theta[left]
        chance = _softmax((at @ x.T).swapaxes(1, 2), mask)
        gradient = ((y - chance) * weight[:, :, None]).swapaxes(1, 2) @ x - ridge * at
        hessian = _hessian(x, chance, weight)
        hessian[:, np.arange(q * p), np.arange(q * p)] += penalty
        step = np.linalg.solve(hessian, gradient.reshape(len(left), q * p, 1)).reshape(at.shape)
        theta[left] = at + np.clip(step, -CAP, CAP)
        left = left[np.abs(step).max(axis=(1, 2)) >= CLOSE]
        if not len(left):
            break
    return theta


def _hessian(x: FloatArray, chance: FloatArray, weights: FloatArray) -> FloatArray:
    """(D, q p, q p) negative second derivatives of the weighted log likelihood."""
    draws, _, q = chance.shape
    p = x.shape[1]
    above, beside = np.triu_indices(p)
    outer = x[:, above] * x[:, beside]
    hessian = np.empty((draws, q, p, q, p))
    for k in range(q):
        for m in range(k, q):
            factor = weights * chance[..., k] * ((1.0 if k == m else 0.0) - chance[..., m])
            block = np.empty((draws, p, p))
            block[:, above, beside] = block[:, beside, above] = factor @ outer
            hessian[:, k, :, m, :] = block
            hessian[:, m, :, k, :] = block
    return hessian.reshape(draws, q * p, q * p)


def _softmax(logits: FloatArray, mask: BoolArray) -> FloatArray:
    """Probabilities over the last axis; labels that cannot occur have none."""
    held = np.where(mask, logits, -np.inf)
    scaled = np.exp(held - held.max(axis=-1, keepdims=True))
    found: FloatArray = scaled / scaled.sum(axis=-1, keepdims=True)
    return found
