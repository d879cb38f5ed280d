"""What must hold for any data, and a score of one's own in a few lines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agreement.impact.case import build_cases
from agreement.impact.decompose import decompose
from agreement.impact.engine import Options, judge_scores, score_impact
from agreement.impact.oncorpus import corpus_parts
from agreement.impact.onsample import sample_parts
from agreement.impact.records import Records, Sample
from agreement.impact.streams import stream
from agreement.scores.base import FloatArray, LabelScore, Ratio, divide
from agreement.scores.ehq import Ehq
from tests.agreement.impact_data import LABELS

ROW = st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS), st.none() | st.integers(0, 100), st.booleans())
ROWS = st.lists(ROW, min_size=4, max_size=40)


def study(rows: list[tuple[str, str, int | None, bool]]) -> tuple[Records, Sample]:
    """Judge label, people's label, confidence, sampled or not (the first two always are)."""
    judge, people, confidence, drawn = zip(*rows, strict=True)
    corpus = Records.from_columns(
        LABELS, ["m"] * len(rows), judges={"j": judge, "same": people}, confidence=confidence,
        item=[str(i) for i in range(len(rows))],
    )  # fmt: skip
    units = np.flatnonzero(np.array(drawn) | (np.arange(len(rows)) < 2))
    shares = np.eye(4)[[LABELS.index(people[i]) for i in units]]
    return corpus, Sample.of(corpus.take(units), shares, inclusion=len(units) / len(rows))


@settings(max_examples=40, deadline=None)
@given(ROWS)
def test_intervals_hold_their_estimate_and_stay_in_bounds(rows: list[tuple[str, str, int | None, bool]]) -> None:
    corpus, sample = study(rows)
    case = build_cases(Ehq(), "j", corpus, sample)["m"]
    for part in corpus_parts(case, draws=1000, seed=1).parts.values():
        if part.human.value is not None and part.human.low is not None and part.human.high is not None:
            assert 0 <= part.human.low <= part.human.value <= part.human.high <= 1
        else:
            assert part.human.reason


@settings(max_examples=30, deadline=None)
@given(ROWS)
def test_the_decomposition_always_adds_up(rows: list[tuple[str, str, int | None, bool]]) -> None:
    corpus, sample = study(rows)
    case = build_cases(Ehq(), "j", corpus, sample)["m"]
    found = sample_parts(case, draws=0, rng=stream(0, "x"))
    for part in Ehq().parts:
        delta = found[part].delta.value
        cells = decompose(case, part)
        if delta is not None:
            assert sum(cell.contribution for cell in cells) == pytest.approx(delta, abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(ROWS)
def test_a_judge_that_is_people_changes_nothing_on_the_sample(rows: list[tuple[str, str, int | None, bool]]) -> None:
    corpus, sample = study(rows)
    case = build_cases(Ehq(), "same", corpus, sample)["m"]
    for part in sample_parts(case, draws=0, rng=stream(0, "x")).values():
        assert part.delta.value is None or part.delta.value == pytest.approx(0, abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(ROWS)
def test_the_order_of_rows_does_not_matter(rows: list[tuple[str, str, int | None, bool]]) -> None:
    corpus, _ = study(rows)
    order = np.random.default_rng(len(rows)).permutation(len(rows))
    one, other = (
        judge_scores(c, [Ehq()], ["j"]).to_dict()["models"]["m"]["judge"] for c in (corpus, corpus.take(order))
    )
    assert one == pytest.approx(other, abs=1e-12)


@dataclass(frozen=True)
class HedgedAmongCautious(LabelScore):
    """A user's own score: of the responses that decline or hedge, the share that hedges."""

    name: str = "hedged among cautious"
    parts: tuple[str, ...] = ("hedged among cautious",)

    def features(self, records: Records) -> FloatArray:
        z = np.zeros((len(records), len(records.labels) + 2, 2))
        z[:, records.labels.index("HEDGE"), 0] = 1
        z[:, [records.labels.index("ABSTAIN"), records.labels.index("HEDGE")], 1] = 1
        return z

    def ratio(self, part: str) -> Ratio:
        return Ratio(np.array([1.0, 0.0]), np.array([0.0, 1.0]))

    def values(self, totals: FloatArray) -> FloatArray:
        return divide(totals[..., 0], totals[..., 1])[..., None]


def test_a_new_score_is_one_class() -> None:
    # Judge: ABSTAIN 6, HEDGE 2 of 8 cautious: .25. People call two of the ABSTAIN ones HEDGE: 4 of 8 = .5.
    judge = ["ABSTAIN"] * 6 + ["HEDGE"] * 2 + ["WRONG"] * 4
    people = ["ABSTAIN"] * 4 + ["HEDGE"] * 4 + ["WRONG"] * 4
    corpus, sample = study([(j, p, None, True) for j, p in zip(judge, people, strict=True)])
    result = score_impact(corpus, sample, [HedgedAmongCautious()], ["j"], Options(draws=1000, permutations=99))
    part = result.main.models["m"].parts["hedged among cautious"]
    assert part.judge.value == pytest.approx(0.25)
    assert part.human.value == pytest.approx(0.5)
    assert [(c.judge, c.human, c.units) for c in part.cells] == [("ABSTAIN", "HEDGE", 2)]
