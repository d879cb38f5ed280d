"""WikiProfile (Empty Shelves or Lost Keys): is a fact encoded in a model, and can the model recall it?

A question is asked several times (eight). Its grade g is correct / (correct + incorrect). A fact has ten grades: two
encoding questions (completion, contextual) with thinking off, and direct, direct natural, reverse, reverse natural with
thinking off and on. It is *encoded* if g > threshold on any encoding question, and *known* (once without, once with
thinking) if g > threshold on all four others. The profile follows from the three:

    encoded, known without thinking              direct recall
    encoded, known only with thinking            recall with thinking
    encoded, not known                           recall failure
    not encoded, known without thinking          direct inference (excluded and counted)
    not encoded, known only with thinking        inference without encoding
    neither                                      encoding failure
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from agreement.errors import AgreementError
from agreement.scores.base import FloatArray, IntArray, divide

LABELS = ("CORRECT", "INCORRECT", "PARTIALLY", "OTHER")
QUESTION_TYPES = ("completion", "contextual", "direct", "direct natural", "reverse", "reverse natural")
PROFILES = ("direct recall", "recall with thinking", "recall failure", "inference without encoding", "encoding failure")
DIRECT_INFERENCE, NOT_GRADABLE = "direct inference", "not gradable"
FACT_LABELS = (*PROFILES, DIRECT_INFERENCE, NOT_GRADABLE)
THRESHOLD = 0.5
PARTIAL_CREDIT = 0.51

# The ten grades of a fact, (question type, thinking), and the five pairs of them that a gradable fact must have.
GRADES = (
    *((kind, False) for kind in QUESTION_TYPES),
    *((kind, True) for kind in QUESTION_TYPES[2:]),
)
PAIRS = ((0, 1), (2, 3), (4, 5), (6, 7), (8, 9))
ABOVE, BELOW, UNGRADABLE = 1, 0, -1

Treatment = Literal["fact", "pair", "partial"]


@dataclass(frozen=True, slots=True)
class ProfileShares:
    """One row of the paper's Table 2, in percent, under two denominators.

    paper: profiles and the three rates over the facts with one of the five profiles, although direct-inference facts
    stay in the numerators of the two "knows" rates. consistent: the rates over all gradable facts, direct inference
    included. excluded, other_or_partially and direct_inference: of all facts.
    """

    facts: int
    kept: int
    paper: Mapping[str, float | None]
    consistent: Mapping[str, float | None]
    excluded: float | None
    other_or_partially: float | None
    direct_inference: float | None


def grade(counts: FloatArray, treatment: Treatment = "pair") -> FloatArray:
    """(...,) grade of each question, NaN where it cannot be graded.

    counts: (..., 4) responses labelled CORRECT, INCORRECT, PARTIALLY, OTHER. PARTIALLY and OTHER are left out; under
    the treatment "partial" PARTIALLY is counted with a credit of .51: (C + .51 P) / (C + P + I).
    """
    correct, incorrect, partly = counts[..., 0], counts[..., 1], counts[..., 2]
    if treatment == "partial":
        return divide(correct + PARTIAL_CREDIT * partly, correct + partly + incorrect)
    return divide(correct, correct + incorrect)


def question_outcomes(grades: FloatArray, threshold: float = THRESHOLD) -> IntArray:
    """(...,) ABOVE (1) where g > threshold, strictly; BELOW (0); UNGRADABLE (-1) where g is NaN."""
    with np.errstate(invalid="ignore"):
        above = (grades > threshold + 1e-12).astype(np.int64)
    return np.where(np.isnan(grades), UNGRADABLE, above)


def fact_profiles(outcomes: IntArray, treatment: Treatment = "pair") -> IntArray:
    """(...,) position in FACT_LABELS of each fact.

    outcomes: (..., 10) of its ten grades, in the order of GRADES. Treatment "fact" drops a fact if any of them is not
    gradable; "pair" (default) and "partial" only if both grades of one of the five pairs are, and let "any" and "all"
    run over the gradable ones.
    """
    gradable = outcomes != UNGRADABLE
    complete = gradable.all(axis=-1) if treatment == "fact" else _each_pair(gradable)
    encoded = (outcomes[..., :2] == ABOVE).any(axis=-1)
    known_off = (outcomes[..., 2:6] != BELOW).all(axis=-1)
    known_on = (outcomes[..., 6:10] != BELOW).all(axis=-1)
    named = np.select(
        [encoded & known_off, encoded & known_on, encoded, known_off, known_on],
        [0, 1, 2, 5, 3],
        PROFILES.index("encoding failure"),
    )
    return np.where(complete, named, FACT_LABELS.index(NOT_GRADABLE))


def profile_shares(counts: FloatArray) -> ProfileShares:
    """The shares of Table 2 from counts (7,) of facts by FACT_LABELS (any weights)."""
    total, gradable = float(counts.sum()), float(counts[:6].sum())
    kept = float(counts[:5].sum())
    direct, thinking, failure, inference, no_encoding, direct_inference, dropped = (float(c) for c in counts)
    rates = {
        "encodes": direct + thinking + failure,
        "knows_with_thinking": direct + thinking + inference + direct_inference,
        "knows": direct + direct_inference,
    }
    profiles = dict(zip(PROFILES, (direct, thinking, failure, inference, no_encoding), strict=True))
    return ProfileShares(
        facts=round(total),
        kept=round(kept),
        paper={name: _percent(value, kept) for name, value in (rates | profiles).items()},
        consistent={name: _percent(value, gradable) for name, value in (rates | profiles).items()},
        excluded=_percent(direct_inference + dropped, total),
        other_or_partially=_percent(dropped, total),
        direct_inference=_percent(direct_inference, total),
    )


def identities(row: Mapping[str, float]) -> dict[str, float]:
    """Residuals of the identities that a row of Table 2 obeys (0 up to rounding), keyed by what they say.

    row: percentages named as the columns of the paper's table (`direct_recall`, `knows_with_thinking`, ...).
    """
    get = row.__getitem__
    profiles = (
        "encoding_failure",
        "recall_failure",
        "direct_recall",
        "recall_with_thinking",
        "inference_without_encoding",
    )
    recalled = get("direct_recall") + get("recall_with_thinking")
    return {
        "profiles add to 100": sum(map(get, profiles)) - 100,
        "encodes and not encoded add to 100": get("encodes")
        + get("encoding_failure")
        + get("inference_without_encoding")
        - 100,
        "encodes": get("encodes") - recalled - get("recall_failure"),
        "knows": get("knows") - get("direct_recall") - get("direct_inference"),
        "knows with thinking": get("knows_with_thinking")
        - recalled
        - get("inference_without_encoding")
        - get("direct_inference"),
        "excluded": get("excluded") - get("other_or_partially") - get("direct_inference"),
    }


def paper_row(shares: ProfileShares) -> dict[str, float]:
    """The shares under the column names of the paper's Table 2; raises AgreementError when no fact was kept."""
    values = {name.replace(" ", "_"): value for name, value in shares.paper.items()}
    values |= {"excluded": shares.excluded, "direct_inference": shares.direct_inference}
    values["other_or_partially"] = shares.other_or_partially
    if any(value is None for value in values.values()):
        raise AgreementError("no fact is gradable: profiles cannot be computed")
    return {name: float(value) for name, value in values.items() if value is not None}


def grade_index(question_type: Sequence[str], thinking: Sequence[bool]) -> IntArray:
    """(R,) place among GRADES of each question, -1 for encoding questions asked with thinking (not used)."""
    place = {pair: i for i, pair in enumerate(GRADES)}
    unknown = sorted(set(question_type) - set(QUESTION_TYPES))
    if unknown:
        raise AgreementError(f"question type {unknown[0]!r} is not one of {', '.join(QUESTION_TYPES)}")
    return np.array([place.get((k, bool(t)), -1) for k, t in zip(question_type, thinking, strict=True)], np.int64)


def _each_pair(gradable: np.ndarray) -> np.ndarray:
    pairs = [gradable[..., list(pair)].any(axis=-1) for pair in PAIRS]
    found: np.ndarray = np.logical_and.reduce(pairs)
    return found


def _percent(part: float, whole: float) -> float | None:
    return 100 * part / whole if whole else None
