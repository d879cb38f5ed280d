"""Consensus labels: the majority, and the latent-class model of Dawid and Skene (1979, Applied Statistics 28:20)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agreement.cells import BoolArray, FloatArray, IntArray
from agreement.errors import AgreementError
from agreement.ratings_codes import label_table

MIN_RATERS = 3


@dataclass(frozen=True, slots=True)
class MajorityVote:
    """shares: (N, q) of the ratings of each unit. label: the one label with most votes, None for a tie or no rating."""

    labels: tuple[str, ...]
    shares: FloatArray
    label: tuple[str | None, ...]
    ties: int
    unrated: int


@dataclass(frozen=True, slots=True)
class DawidSkene:
    """A fitted Dawid-Skene model.

    posterior: (N, q) probability of each label; a zero row where a unit has no rating.
    label: the most probable label, None where tied or unrated. entropy: (N,) of the posterior in nats, 0 to log q.
    prevalence: (q,) label shares. errors: (R, q, q) per coder: row true label, column label given, rows add to 1; a
    coder's row for a label that no unit has is even (1/q), which says nothing.
    loglik: log-likelihood at the end. identified: whether enough coders rate each unit for the model to be told apart.
    warnings: what a reader must be told, in sentences.
    """

    labels: tuple[str, ...]
    posterior: FloatArray
    label: tuple[str | None, ...]
    entropy: FloatArray
    prevalence: FloatArray
    errors: FloatArray
    loglik: float
    iterations: int
    converged: bool
    identified: bool
    warnings: tuple[str, ...]


def majority_vote(ratings: Any, labels: Sequence[str]) -> MajorityVote:
    """Most votes per unit. ratings: N x R labels, None or NaN missing; labels: the declared set."""
    votes = _votes(label_table(ratings, labels), len(labels)).sum(axis=0)
    total = votes.sum(axis=1)
    shares = votes / np.maximum(total, 1)[:, None]
    chosen = _unique_best(shares, tuple(labels))
    ties = sum(label is None and n > 0 for label, n in zip(chosen, total, strict=True))
    return MajorityVote(tuple(labels), shares, chosen, ties, int((total == 0).sum()))


def dawid_skene(
    ratings: Any,
    labels: Sequence[str],
    *,
    smoothing: float = 0.01,
    tolerance: float = 1e-8,
    max_iterations: int = 1000,
) -> DawidSkene:
    """Fit by EM from the majority's shares. ratings: N x R labels, None or NaN missing.

    smoothing is added to every cell of every coder's error counts. Stops when the log-likelihood per rating changes by
    less than `tolerance`. The posteriors of a model that a coder (or judge) took part in are no reference for that
    coder: they lean towards them. Raises AgreementError when nothing is rated.
    """
    votes = _votes(label_table(ratings, labels), len(labels)).astype(np.float64)
    rated = np.asarray(votes.sum(axis=(0, 2)) > 0, np.bool_)
    if not rated.any():
        raise AgreementError("Dawid-Skene: no unit has a rating")
    seen = votes[:, rated]
    shares = seen.sum(axis=0) / seen.sum(axis=(0, 2))[:, None]
    last, step, converged = -np.inf, 0, False
    while step < max_iterations and not converged:
        prevalence, errors = _maximise(shares, seen, smoothing)
        shares, loglik = _expect(prevalence, errors, seen)
        converged = abs(loglik - last) < tolerance * seen.sum()
        last, step = loglik, step + 1
    return _fitted(tuple(labels), votes, rated, shares, prevalence, errors, (last, step, converged))


def _votes(codes: IntArray, q: int) -> IntArray:
    """(R, N, q) one-hot ratings."""
    return np.stack([(codes == k).T for k in range(q)], axis=2).astype(np.int64)


def _maximise(shares: FloatArray, votes: FloatArray, smoothing: float) -> tuple[FloatArray, FloatArray]:
    counts: FloatArray = np.einsum("nc,rnl->rcl", shares, votes) + smoothing
    total = counts.sum(axis=2, keepdims=True)
    even = np.full_like(counts, 1 / votes.shape[2])
    errors = np.divide(counts, total, out=even, where=total > 0)
    return shares.mean(axis=0), errors


def _expect(prevalence: FloatArray, errors: FloatArray, votes: FloatArray) -> tuple[FloatArray, float]:
    with np.errstate(divide="ignore"):
        logs, base = np.log(errors), np.log(prevalence)
    # 0 * -inf must stay 0: a label that was not given says nothing
    joint: FloatArray = base + sum(_masked_product(votes[r], logs[r]) for r in range(len(votes)))
    top = joint.max(axis=1, keepdims=True)
    weights = np.exp(joint - top)
    total = weights.sum(axis=1, keepdims=True)
    return weights / total, float((top + np.log(total)).sum())


def _masked_product(votes: FloatArray, logs: FloatArray) -> FloatArray:
    """(N, q): log P(label given | each true label), 0 where the coder gave none."""
    given = votes.argmax(axis=1)
    spoken: FloatArray = votes.max(axis=1, keepdims=True)
    return np.where(spoken > 0, logs.T[given], 0.0)


def _fitted(
    labels: tuple[str, ...],
    votes: FloatArray,
    rated: BoolArray,
    shares: FloatArray,
    prevalence: FloatArray,
    errors: FloatArray,
    end: tuple[float, int, bool],
) -> DawidSkene:
    posterior = np.zeros((len(rated), len(labels)))
    posterior[rated] = shares
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(posterior > 0, posterior * np.log(posterior), 0.0).sum(axis=1)
    few = int((votes.any(axis=2).sum(axis=0)[rated] < MIN_RATERS).sum())
    warnings = _warnings(labels, few, int(rated.sum()), errors, prevalence, end)
    chosen = _unique_best(posterior, labels)
    loglik, steps, converged = end
    identified = few < rated.sum() and len(votes) >= MIN_RATERS
    return DawidSkene(
        labels, posterior, chosen, entropy, prevalence, errors, loglik, steps, converged, identified, warnings
    )


def _warnings(
    labels: tuple[str, ...],
    few: int,
    units: int,
    errors: FloatArray,
    prevalence: FloatArray,
    end: tuple[float, int, bool],
) -> tuple[str, ...]:
    found: list[str] = []
    if few == units or len(errors) < MIN_RATERS:
        found.append(
            "not identified: with fewer than 3 coders per unit many error rates explain the labels equally well; "
            "read the result as one of them"
        )
    elif few:
        found.append(f"{few} of {units} units have fewer than 3 ratings: their labels rest on the model")
    if not end[2]:
        found.append(f"stopped after {end[1]} steps before the likelihood settled")
    for r, matrix in enumerate(errors):
        known = np.asarray(prevalence > 1e-6)
        if known.sum() > 1 and np.all(np.diag(matrix)[known] < matrix.max(axis=1)[known]):
            found.append(f"coder {r} seems reversed: no label is their own most likely answer ({', '.join(labels)})")
    return tuple(found)


def _unique_best(shares: FloatArray, labels: tuple[str, ...]) -> tuple[str | None, ...]:
    top = shares.max(axis=1, keepdims=True)
    best = np.isclose(shares, top, rtol=0, atol=1e-9) & (top > 0)
    return tuple(labels[row.argmax()] if row.sum() == 1 else None for row in best)
