"""Label shares from a judge alone, by inverting its error rates: to carry a confusion matrix to another corpus.

Where the human labels are a sample of the corpus itself, post-stratification beats inversion. Inversion is for a corpus
whose label shares differ but whose judge errs as before, P(judge | people) unchanged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agreement._quantiles import normal_quantile
from agreement._types import FloatArray
from agreement.errors import AgreementError

WEAK = 0.2
BAD_CONDITION = 20.0


@dataclass(frozen=True, slots=True)
class InvertedShares:
    """shares: (q,) raw solution, which may leave [0, 1]; shown: its projection on the simplex, for display.

    low, high: interval of the raw solution, cut to [0, 1]. covariance: (q, q). condition: of the matrix of error rates
    in the 2-norm, 1 for a perfect judge. youden: (q,) recall + specificity - 1 of each label. notes: diagnostics.
    All but condition and notes are None where `undefined` says why.
    """

    labels: tuple[str, ...]
    shares: tuple[float, ...] | None
    shown: tuple[float, ...] | None
    low: tuple[float, ...] | None
    high: tuple[float, ...] | None
    covariance: FloatArray | None
    condition: float
    youden: tuple[float, ...]
    method: str
    notes: tuple[str, ...] = ()
    undefined: str | None = None


def invert_confusion(
    counts: npt.ArrayLike, judged: npt.ArrayLike, labels: Sequence[str], *, level: float = 0.95
) -> InvertedShares:
    """Human label shares of a corpus in which the judge gave `judged` (q,) counts of each label.

    counts: (q, q) judge x human of an independent calibration set, each human label in it. Solves A theta = p with
    A = P(judge | human) (Buonaccorsi 2010; Hopkins and King 2010; for two labels Rogan and Gladen 1978), variance by
    the delta method. Refused when A cannot be inverted; warned about when its condition number is large.
    """
    table, given = np.asarray(counts, np.float64), np.asarray(judged, np.float64)
    q = len(labels)
    if table.shape != (q, q) or given.shape != (q,) or np.any(table < 0) or np.any(given < 0) or not given.sum():
        raise AgreementError(f"counts must be {q} x {q} and judged {q} numbers, none negative, some above 0")
    people = table.sum(axis=0)
    if not people.all():
        unseen = ", ".join(label for label, n in zip(labels, people, strict=True) if not n)
        raise AgreementError(f"no calibration unit that people call {unseen}: its error rates are unknown")
    rates = table / people
    youden = tuple(float(rates[c, c]) - _false_alarms(table, c) for c in range(q))
    condition = float(np.linalg.cond(rates))
    names, method = tuple(labels), "inverted confusion matrix, delta method"
    if not np.isfinite(condition) or condition > 1e8:
        reason = "the judge's error rates are the same for different labels: the matrix has no inverse"
        return InvertedShares(names, None, None, None, None, None, condition, youden, method, undefined=reason)
    inverse = np.linalg.inv(rates)
    p = given / given.sum()
    theta = inverse @ p
    covariance = _covariance(inverse, p, given.sum(), rates, theta, people)
    half = normal_quantile(0.5 + level / 2) * np.sqrt(np.maximum(np.diag(covariance), 0))
    low, high = np.clip(theta - half, 0, 1), np.clip(theta + half, 0, 1)
    raw, shown, lower, upper = (tuple(float(x) for x in column) for column in (theta, _project(theta), low, high))
    notes = _notes(names, theta, condition, youden)
    return InvertedShares(names, raw, shown, lower, upper, covariance, condition, youden, method, notes)


def rogan_gladen(
    positives: int,
    total: int,
    true_positives: int,
    human_positives: int,
    true_negatives: int,
    human_negatives: int,
    *,
    level: float = 0.95,
) -> InvertedShares:
    """Two labels: (p + Sp - 1) / (Se + Sp - 1) from k positives of N, and sensitivity and specificity as counts."""
    counts = [
        [true_positives, human_negatives - true_negatives],
        [human_positives - true_positives, true_negatives],
    ]
    return invert_confusion(counts, [positives, total - positives], ("positive", "negative"), level=level)


def adjusted_rate_interval(
    positives: int,
    total: int,
    true_positives: int,
    human_positives: int,
    true_negatives: int,
    human_negatives: int,
    *,
    level: float = 0.95,
) -> tuple[float, float, float]:
    """(rate, low, high) of the share of positives, small-sample form of Lee et al. (2025): all counts smoothed, centre
    shifted. The rate is Rogan and Gladen's cut to [0, 1], the interval is widened to hold it.

    Raises AgreementError when the smoothed judge is no better than chance, where no interval exists.
    """
    z = normal_quantile(0.5 + level / 2)
    n, p = total + z * z, (positives + z * z / 2) / (total + z * z)
    m1, m0 = human_positives + 2, human_negatives + 2
    q1, q0 = (true_positives + 1) / m1, (true_negatives + 1) / m0
    youden = q0 + q1 - 1
    if youden <= 0:
        raise AgreementError("sensitivity + specificity - 1 is not above 0: the judge says nothing about the rate")
    theta = (p + q0 - 1) / youden
    shift = 2 * z * z * (-(1 - theta) * q0 * (1 - q0) / m0 + theta * q1 * (1 - q1) / m1)
    spread = p * (1 - p) / n + (1 - theta) ** 2 * q0 * (1 - q0) / m0 + theta**2 * q1 * (1 - q1) / m1
    half = z * math.sqrt(spread) / youden
    raw = rogan_gladen(positives, total, true_positives, human_positives, true_negatives, human_negatives)
    rate = min(max(theta if raw.shares is None else raw.shares[0], 0.0), 1.0)
    low, high = max(theta + shift - half, 0.0), min(theta + shift + half, 1.0)
    return rate, min(low, rate), max(high, rate)


def youden_differences(
    models: dict[str, npt.ArrayLike], *, level: float = 0.95
) -> tuple[dict[str, tuple[float, float, float]], tuple[str, ...]]:
    """Youden's J of each model with its interval, and a warning for each pair whose difference excludes 0.

    models: per model the 2 x 2 counts judge x human, the positive label first. A calibration shared by such models is
    wrong (Fiedler 2026). Variances with a half added to each cell, so that none is 0 by accident.
    """
    z = normal_quantile(0.5 + level / 2)
    found: dict[str, tuple[float, float]] = {}
    for name, counts in models.items():
        table = np.asarray(counts, np.float64)
        if table.shape != (2, 2) or not table.sum(axis=0).all():
            raise AgreementError(f"model {name}: expected 2 x 2 counts with both human labels present")
        rates, soft = table / table.sum(axis=0), (table + 0.5) / (table + 0.5).sum(axis=0)
        spread = float((soft[0] * soft[1] / table.sum(axis=0)).sum())
        found[name] = float(rates[0, 0] - rates[0, 1]), spread
    intervals = {
        name: (j, max(j - z * math.sqrt(v), -1.0), min(j + z * math.sqrt(v), 1.0)) for name, (j, v) in found.items()
    }
    names = sorted(found)
    warnings = [
        f"the judge of model {name} is weak: J = {found[name][0]:.2f}" for name in names if found[name][0] < WEAK
    ]
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            gap, error = found[a][0] - found[b][0], math.sqrt(found[a][1] + found[b][1])
            if abs(gap) > z * error:
                warnings.append(
                    f"the judge errs differently on {a} and {b} (J differs by {gap:+.2f} "
                    f"[{gap - z * error:+.2f}, {gap + z * error:+.2f}]): do not share one correction"
                )
    return intervals, tuple(warnings)


def _false_alarms(table: FloatArray, c: int) -> float:
    others = float(table.sum() - table[:, c].sum())
    return float(table[c].sum() - table[c, c]) / others if others else 0.0


def _covariance(
    inverse: FloatArray, p: FloatArray, total: float, rates: FloatArray, theta: FloatArray, people: FloatArray
) -> FloatArray:
    spread = (np.diag(p) - np.outer(p, p)) / total
    for c in range(len(p)):
        a = rates[:, c]
        spread += theta[c] ** 2 * (np.diag(a) - np.outer(a, a)) / people[c]
    result: FloatArray = inverse @ spread @ inverse.T
    return result


def _project(theta: FloatArray) -> FloatArray:
    """Nearest point of the simplex (Duchi et al. 2008)."""
    ordered = np.sort(theta)[::-1]
    gaps = (np.cumsum(ordered) - 1) / np.arange(1, len(theta) + 1)
    k = int(np.flatnonzero(ordered > gaps)[-1])
    nearest: FloatArray = np.maximum(theta - gaps[k], 0)
    return nearest


def _notes(labels: tuple[str, ...], theta: FloatArray, condition: float, youden: tuple[float, ...]) -> tuple[str, ...]:
    notes = []
    if condition > BAD_CONDITION:
        notes.append(
            f"the error rates are close to singular (condition number {condition:.0f}): small errors are magnified"
        )
    notes += [
        f"label {label}: Youden's J is {j:.2f}, too weak to invert"
        for label, j in zip(labels, youden, strict=True)
        if j < WEAK
    ]
    outside = [f"{label} {x:.3f}" for label, x in zip(labels, theta, strict=True) if not 0 <= x <= 1]
    if outside:
        notes.append(f"the raw solution leaves [0, 1] ({', '.join(outside)}): the error rates may not carry over")
    return tuple(notes)
