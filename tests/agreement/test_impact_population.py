"""Intervals about the questions that a corpus stands for, where the truth is known because it was simulated."""

from __future__ import annotations

from agreement.impact import Options, score_impact
from agreement.scores.rates import Shares
from tests.agreement.impact_data import binary

REPLICATIONS = 150


def test_a_census_in_which_the_judge_made_no_error_is_not_certain_of_the_next_question() -> None:
    """60 questions, all labelled; the judge misses one YES in twenty, so that .97^60 = 16 % of corpora show no error.

    The population's difference is .6 x .05 = .03. Resampling labels alone gives those corpora an interval of 0 to 0;
    it covered .80 of 200 corpora, against 1.00 with the prior mass of one record that the posterior has anyway.
    """
    hits = 0
    for seed in range(REPLICATIONS):
        corpus, sample, _ = binary({"m": (0.6, 0.95, 1.0)}, 60, 60, seed)
        options = Options(target="population", draws=1000, seed=seed, fair=False)
        found = score_impact(corpus, sample, (Shares(("YES", "NO")),), options=options)
        delta = found.judges["judge"].models["m"].parts["YES"].delta
        assert delta.low is not None
        assert delta.high is not None
        assert delta.low < delta.high
        hits += delta.low <= 0.03 <= delta.high
    assert hits / REPLICATIONS > 0.93
