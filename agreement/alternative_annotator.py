"""The alternative annotator test: may an LLM stand in for an annotator? (Calderon, Reichart and Dror, ACL 2025.)

Each annotator is left out in turn, and the LLM and the annotator are compared, item by item, with the others. An
annotator is *won* when the LLM does at least as well as the annotator up to a cost-benefit penalty epsilon; the LLM
passes when it wins at least half of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from agreement._coding import is_missing
from agreement._types import FloatArray
from agreement.errors import AgreementError
from agreement.ratings_codes import object_table

MIN_CODERS = 3
MIN_ITEMS = 30

Labels = Mapping[Hashable, Any] | Sequence[Any]
Coders = Mapping[str, Labels] | Any
Similarity = Callable[[Any, Any], float]
Score = Literal["accuracy", "rmse"] | Similarity


@dataclass(frozen=True, slots=True)
class CoderComparison:
    """The LLM against one annotator over the `items` that both and at least one other annotator have.

    llm_wins, coder_wins: shares of the items on which the LLM (the annotator) does at least as well; ties count twice.
    p: of "the LLM is worse by more than epsilon" (one-sided t test); won: rejected after Benjamini-Yekutieli.
    """

    coder: str
    items: int
    llm_wins: float
    coder_wins: float
    t: float | None
    p: float
    won: bool


@dataclass(frozen=True, slots=True)
class AltTest:
    """The test of one LLM on one domain.

    winning_rate: omega, the share of annotators won. advantage: rho, the mean of `llm_wins`, by which LLMs are ranked.
    passes: omega of one half or more. All three are None when `undefined` says why the test was refused.
    left_out: annotators with too few items, with their number of items.
    """

    winning_rate: float | None
    advantage: float | None
    passes: bool | None
    epsilon: float
    q: float
    coders: tuple[CoderComparison, ...]
    left_out: tuple[tuple[str, int], ...]
    convention: str
    undefined: str | None = None


def alt_test(
    llm: Labels,
    coders: Coders,
    *,
    epsilon: float,
    score: Score = "accuracy",
    q: float = 0.05,
    min_items: int = MIN_ITEMS,
) -> AltTest:
    """Test whether the LLM may stand in for an annotator.

    llm: {item: label}; coders: {annotator: {item: label}}; or llm as N labels and coders as N x R labels (DataFrame,
    2-D array or rows). None and NaN are no label.
    epsilon: .2 where annotators are experts, .15 skilled, .1 crowd workers. score: "accuracy" (exact matches with the
    others), "rmse" (minus the root mean squared distance from the others' numbers), or a similarity of two labels,
    averaged over the others. Labels outside the annotators' set are mismatches. An annotator with fewer than
    `min_items` items is left out and named; with fewer than 3 annotators left the test is refused.
    Raises AgreementError on a bad epsilon or q.
    """
    return alt_test_domains({"": (llm, coders)}, epsilon=epsilon, score=score, q=q, min_items=min_items)[""]


def alt_test_domains(
    domains: Mapping[str, tuple[Labels, Coders]],
    *,
    epsilon: float,
    score: Score = "accuracy",
    q: float = 0.05,
    min_items: int = MIN_ITEMS,
) -> dict[str, AltTest]:
    """The test on several domains, {name: (llm, coders)}: one Benjamini-Yekutieli correction over all p-values."""
    for name, value in (("epsilon", epsilon), ("q", q)):
        if not 0 <= value <= 1:
            raise AgreementError(f"{name} is {value:g}, expected a number between 0 and 1")
    measure = _measure(score)
    compared = {name: _compare(llm, coders, epsilon, measure, min_items) for name, (llm, coders) in domains.items()}
    tested = [name for name, (rows, _) in compared.items() if len(rows) >= MIN_CODERS]
    rejected = iter(benjamini_yekutieli([row.p for name in tested for row in compared[name][0]], q))
    named = f"epsilon {epsilon:g}, {score if isinstance(score, str) else 'similarity'}, Benjamini-Yekutieli at {q:g}"
    results = {}
    for name, (rows, left_out) in compared.items():
        if name not in tested:
            reason = _refusal(len(rows), left_out, min_items)
            results[name] = AltTest(None, None, None, epsilon, q, (), left_out, named, reason)
            continue
        final = tuple(_decided(row, next(rejected)) for row in rows)
        omega = sum(row.won for row in final) / len(final)
        rho = sum(row.llm_wins for row in final) / len(final)
        results[name] = AltTest(omega, rho, omega >= 0.5, epsilon, q, final, left_out, named)
    return results


def benjamini_yekutieli(p: Sequence[float], q: float) -> list[bool]:
    """Which hypotheses to reject at false discovery rate q whatever their dependence (Benjamini and Yekutieli 2001)."""
    values = np.asarray(p, np.float64)
    m = len(values)
    order = np.argsort(values, kind="stable")
    limits = np.arange(1, m + 1) / m * q / np.sum(1 / np.arange(1, m + 1))
    below = np.flatnonzero(values[order] <= limits)
    rejected = np.zeros(m, dtype=np.bool_)
    if len(below):
        rejected[order[: below[-1] + 1]] = True
    return [bool(flag) for flag in rejected]


def _compare(
    llm: Labels, coders: Coders, epsilon: float, measure: Callable[[Any, list[Any]], float], least: int
) -> tuple[list[CoderComparison], tuple[tuple[str, int], ...]]:
    own = _present(llm)
    given = {name: _present(labels) for name, labels in _by_coder(coders).items()}
    rows, left_out = [], []
    for name, labels in given.items():
        items = [item for item in labels if item in own]
        pairs = []
        for item in items:
            others = [other[item] for rival, other in given.items() if rival != name and item in other]
            if others:
                pairs.append((measure(own[item], others), measure(labels[item], others)))
        if len(pairs) < max(least, 2):
            left_out.append((name, len(pairs)))
        else:
            rows.append(_row(name, np.array(pairs, dtype=np.float64), epsilon))
    return rows, tuple(left_out)


def _row(name: str, scores: FloatArray, epsilon: float) -> CoderComparison:
    from scipy.special import stdtr

    llm, coder = scores[:, 0] >= scores[:, 1], scores[:, 1] >= scores[:, 0]
    gaps = coder.astype(np.float64) - llm.astype(np.float64)
    n, mean, spread = len(gaps), float(gaps.mean()), float(gaps.std(ddof=1))
    if spread == 0:  # every item alike: certain when the mean is below epsilon, and never rejected otherwise
        return CoderComparison(
            name, n, float(llm.mean()), float(coder.mean()), None, 0.0 if mean < epsilon else 1.0, False
        )
    t = (mean - epsilon) / (spread / np.sqrt(n))
    p = float(stdtr(n - 1, t))
    return CoderComparison(name, n, float(llm.mean()), float(coder.mean()), float(t), p, False)


def _decided(row: CoderComparison, won: bool) -> CoderComparison:
    return CoderComparison(row.coder, row.items, row.llm_wins, row.coder_wins, row.t, row.p, won)


def _measure(score: Score) -> Callable[[Any, list[Any]], float]:
    if score == "accuracy":
        return lambda label, others: sum(label == other for other in others) / len(others)
    if score == "rmse":
        return _minus_rmse
    if callable(score):
        return lambda label, others: float(np.mean([score(label, other) for other in others]))
    raise AgreementError(f"score {score!r}: expected accuracy, rmse or a function of two labels")


def _minus_rmse(label: Any, others: list[Any]) -> float:
    gaps: npt.NDArray[np.float64] = np.asarray(others, np.float64) - float(label)
    return -float(np.sqrt(np.mean(gaps**2)))


def _by_coder(coders: Coders) -> Mapping[str, Labels]:
    if isinstance(coders, Mapping):
        return coders
    table = object_table(coders)
    names = getattr(coders, "columns", range(table.shape[1]))
    return {str(name): table[:, r].tolist() for r, name in enumerate(names)}


def _present(labels: Labels) -> dict[Hashable, Any]:
    pairs = labels.items() if isinstance(labels, Mapping) else enumerate(labels)
    return {item: label for item, label in pairs if not is_missing(label)}


def _refusal(left: int, left_out: tuple[tuple[str, int], ...], least: int) -> str:
    few = ", ".join(f"{name} ({items})" for name, items in left_out)
    reason = f"needs {MIN_CODERS} annotators with at least {least} items each, there are {left}"
    return f"{reason}; too few items: {few}" if few else reason
