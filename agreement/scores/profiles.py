"""WikiProfile's facts as records: the profile of a fact is its label, so that score impact works on facts.

A fact's profile under the judge is known for every fact; under people it is known where every response of the fact was
labelled. The rows that go in are responses, counted per (model, fact, question type, thinking, judge label).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agreement.errors import AgreementError
from agreement.scores.base import FloatArray, IntArray, LabelScore, Ratio, Scope, divide, position
from agreement.scores.wikiprofile import (
    DIRECT_INFERENCE,
    FACT_LABELS,
    GRADES,
    LABELS,
    NOT_GRADABLE,
    PROFILES,
    THRESHOLD,
    Treatment,
    fact_profiles,
    grade,
    grade_index,
    question_outcomes,
)

if TYPE_CHECKING:
    from agreement.impact.columns import Factor
    from agreement.impact.records import Records

THINKING_ON = frozenset({"thinking", "on", "true", "True", "1", "yes"})
RATES = {
    "encodes": ("direct recall", "recall with thinking", "recall failure"),
    "knows with thinking": ("direct recall", "recall with thinking", "inference without encoding", DIRECT_INFERENCE),
    "knows": ("direct recall", DIRECT_INFERENCE),
}


@dataclass(frozen=True)
class Profiles(LabelScore):
    """Profile shares of facts, whose labels are `FACT_LABELS`.

    denominator "paper" counts the facts with one of the five profiles, although direct inference stays in the numerator
    of the two knows rates (as in the paper); "consistent" counts direct inference too.
    """

    denominator: str = "paper"

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"profiles ({self.denominator})"

    @property
    def parts(self) -> tuple[str, ...]:  # type: ignore[override]
        extra = "" if self.denominator == "paper" else " (consistent)"
        return tuple(part + extra for part in (*RATES, *PROFILES))

    def scope(self, records: Records) -> Scope:
        return Scope(records.technical.astype(np.int64), ("valid", "technical failure"))

    def features(self, records: Records) -> FloatArray:
        """(R, 9, 9): the eight parts' numerators, and the denominator."""
        at = position(records.labels, FACT_LABELS, self.name)
        z = np.zeros((len(records), len(records.labels) + 2, len(RATES) + len(PROFILES) + 1))
        members = [*RATES.values(), *((profile,) for profile in PROFILES)]
        counted = PROFILES if self.denominator == "paper" else (*PROFILES, DIRECT_INFERENCE)
        for column, names in enumerate([*members, counted]):
            z[:, [at[FACT_LABELS.index(name)] for name in names], column] = 1
        return z

    def ratio(self, part: str) -> Ratio:
        size = len(self.parts) + 1
        return Ratio(np.eye(size)[self.parts.index(part)], np.eye(size)[-1])

    def values(self, totals: FloatArray) -> FloatArray:
        return divide(totals[..., :-1], totals[..., -1:])

    def why(self, part: str) -> str:
        return f"every fact is {DIRECT_INFERENCE} or {NOT_GRADABLE}"


@dataclass(frozen=True, slots=True)
class FactTable:
    """Responses counted per fact: counts (F, 10, 4) of labels by GRADES and LABELS; model and fact codes (F,).

    ignored: responses that enter no grade (technical, without a label, or an encoding question with thinking on).
    """

    model: IntArray
    fact: IntArray
    counts: FloatArray
    ignored: int


def fact_table(records: Records, outcomes: FloatArray) -> FactTable:
    """Count labels per fact and grade.

    outcomes: (R, 4) weight of each row under CORRECT, INCORRECT, PARTIALLY, OTHER. records needs `fact`, the variable
    `question_type` in `by`, and whether the model was thinking: the variable `thinking` in `by`, else the condition,
    one of `THINKING_ON` or anything else. Raises AgreementError when one is absent.
    """
    place = grade_places(records)
    assert records.fact is not None
    key = records.model.codes * len(records.fact.names) + records.fact.codes
    keys, fact = np.unique(key, return_inverse=True)
    used = (place >= 0) & ~records.technical
    counts = np.zeros((len(keys), len(GRADES), len(LABELS)))
    np.add.at(counts, (fact[used], place[used]), outcomes[used])
    ignored = int(records.count.sum() - round(float(counts.sum())))
    return FactTable(keys // len(records.fact.names), keys % len(records.fact.names), counts, ignored)


def grade_places(records: Records) -> IntArray:
    """(R,) place among `GRADES` of each row, -1 for one that enters no grade. Raises AgreementError as `fact_table`."""
    if records.fact is None or "question_type" not in records.by:
        raise AgreementError("WikiProfile needs each response's fact and question_type")
    return _grades(records.by["question_type"], records.by.get("thinking", records.condition))


def _grades(kind: Factor, switch: Factor) -> IntArray:
    """(R,) place among GRADES of each row, worked out once for each kind of question, with thinking and without."""
    places = np.full((len(kind.names), 2), -1, np.int64)
    used = np.unique(kind.codes)
    names = [kind.names[code] for code in used.tolist()]
    for on in (False, True):
        places[used, int(on)] = grade_index(names, [on] * len(names))
    thinking = np.array([name in THINKING_ON for name in switch.names], np.int64)
    return places[kind.codes, thinking[switch.codes]]


def profiles_of(table: FactTable, treatment: Treatment = "pair", threshold: float = THRESHOLD) -> IntArray:
    """(F,) position in FACT_LABELS of each fact of the table."""
    return fact_profiles(question_outcomes(grade(table.counts, treatment), threshold), treatment)


def judge_outcomes(records: Records, judge: str, labels: tuple[str, ...] = LABELS) -> FloatArray:
    """(R, 4) the rows' counts under the judge's label: correct, incorrect, partially, other; zero without a label.

    labels: what these four are called in the protocol.
    """
    at = position(records.labels, labels, "profiles")
    if judge not in records.judges:
        raise AgreementError(f"no judge named {judge!r}: there are {', '.join(records.judges) or 'none'}")
    label = records.judges[judge]
    return np.stack([records.count * (label == k) for k in at], axis=1).astype(np.float64)
