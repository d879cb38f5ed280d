"""Two ways in which a judge is broken, named: labels exchanged on one level, and one label for everything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from agreement.impact.case import Case
from agreement.impact.confusion_draws import ConfusionDraws, error_rate, mean_youden, swapped_agreement
from agreement.impact.records import Records

SURE = 0.975
WORTH = 0.10
FEW = 10


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a reader must be told of.

    kind: "reversed", "constant" or "stands out". text: one sentence. judge: the judge outcome it is about. strength:
    how far from the rest, comparable within a kind (share of records for the first two, standard deviations for the
    last).
    """

    kind: str
    variable: str
    level: str
    text: str
    judge: str | None = None
    strength: float = 0.0


def reversed_judge(variable: str, draws: Mapping[str, ConfusionDraws], outcomes: tuple[str, ...]) -> list[Finding]:
    """Levels on which exchanging two of the judge's labels would raise agreement: the labels look reversed.

    Named when, under either label of the judge, people give the other one more often, and the gain is at least a tenth
    of the records and above 0 with posterior probability .975.
    """
    found = []
    for level, confusion in draws.items():
        best = _best_swap(confusion, len(outcomes))
        if best is None:
            continue
        a, b, gain = best
        j = float(mean_youden(confusion.expected))
        now = 1 - float(error_rate(confusion.expected))
        text = (
            f"{variable} {level}: the labels may be reversed; exchanging the judge's {outcomes[a]} and {outcomes[b]} "
            f"would raise agreement from {now:.0%} to {now + gain:.0%} (Youden's J now {j:.2f})"
        )
        found.append(Finding("reversed", variable, level, text, outcomes[a], gain))
    return found


def constant_judge(
    cases: Mapping[str, Case],
    corpus: Records,
    confusions: Mapping[str, Mapping[str, ConfusionDraws]],
    crossed: Mapping[str, Mapping[str, Mapping[str, ConfusionDraws]]],
) -> list[Finding]:
    """Levels where the judge says one thing of every record although people do not.

    confusions: per variable and level (variable "model" included); crossed: per variable, level and model.
    """
    found = []
    outcomes = next(iter(cases.values())).outcomes
    everything = np.ones(len(corpus), np.bool_)
    for model, case in cases.items():
        found += _constant("model", model, _used(case, everything), confusions["model"].get(model), outcomes)
    for name, levels in crossed.items():
        factor = corpus.factor(name)
        for value in factor.names:
            used = {model: _used(case, factor.mask(value)) for model, case in cases.items()}
            whole = _constant(name, value, np.sum(list(used.values()), axis=0), confusions[name].get(value), outcomes)
            found += whole
            if not whole and len(cases) > 1:
                here = levels.get(value, {})
                for model, own in used.items():
                    if _varies(cases[model], ~factor.mask(value)):
                        found += _constant(f"model {model}, {name}", value, own, here.get(model), outcomes)
    return found


def _varies(case: Case, mask: np.ndarray) -> bool:
    return int((_used(case, mask) > 0).sum()) > 1


def _constant(
    variable: str, level: str, used: np.ndarray, confusion: ConfusionDraws | None, outcomes: tuple[str, ...]
) -> list[Finding]:
    total = int(used.sum())
    if total < FEW or (used > 0).sum() != 1:
        return []
    j = int(used.argmax())
    label = (*outcomes, "(not a label)", "(missing)")[j]
    opening = f"{variable} {level}: the judge says {label} of all {total} records"
    if confusion is None or not confusion.labelled:
        text = f"{opening}, and no human label tells whether that is right"
        return [Finding("constant", variable, level, text, label)]
    wrong = confusion.labelled - (confusion.seen[j, j] if j < len(outcomes) else 0.0)
    if wrong < 2 or wrong < WORTH * confusion.labelled:
        return []
    text = f"{opening}; people say otherwise in {wrong:g} of {confusion.labelled} labelled ones"
    return [Finding("constant", variable, level, text, label, float(wrong / confusion.labelled))]


def _used(case: Case, mask: np.ndarray) -> np.ndarray:
    """(O + 2,) records by the judge's outcome among the corpus rows of the mask."""
    inside = mask[case.corpus.rows]
    return np.bincount(case.corpus.judged[inside], case.corpus.count[inside], len(case.outcomes) + 2)


def _best_swap(confusion: ConfusionDraws, outcomes: int) -> tuple[int, int, float] | None:
    best: tuple[int, int, float] | None = None
    for a in range(outcomes):
        for b in range(a + 1, outcomes):
            table = confusion.expected
            if table[a, b] <= table[a, a] or table[b, a] <= table[b, b]:
                continue
            gain = float(swapped_agreement(table, a, b))
            sure = float((swapped_agreement(confusion.draws, a, b) > 0).mean())
            if gain >= WORTH and sure >= SURE and (best is None or gain > best[2]):
                best = (a, b, gain)
    return best
