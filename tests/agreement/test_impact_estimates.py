"""Estimators of score impact, on sample and corpus: by hand, against slow definitions, and against each other."""

from __future__ import annotations

import numpy as np
import pytest

from agreement.errors import AgreementError
from agreement.impact.case import build_cases
from agreement.impact.decompose import decompose
from agreement.impact.difference_totals import difference_totals, post_strata
from agreement.impact.engine import Options, score_impact
from agreement.impact.oncorpus import corpus_parts
from agreement.impact.onsample import sample_parts, sampling_groups
from agreement.impact.records import Records, Sample
from agreement.impact.streams import stream
from agreement.scores.ehq import Ehq
from agreement.scores.rates import Rate
from tests.agreement.impact_data import LABELS, binary, ehq_corpus

YES = Rate("yes", ("YES",))


def test_paired_difference_by_hand() -> None:
    # One model, 40 records, 8 drawn at random (f = .2): judge YES on 5 of 8, people YES on 3 of 8; two YES become NO.
    # Delta = -2/8. Differences d are 0 six times and -1 twice: s^2 = (6 * .0625 + 2 * .5625) / 7 = .2142857,
    # SE = sqrt((1 - .2) * .2142857 / 8) = .1463850.
    judge = ["YES"] * 5 + ["NO"] * 3
    people = [1, 1, 1, 0, 0, 0, 0, 0]
    corpus = Records.from_columns(
        ("YES", "NO"), ["m"] * 2, judges={"j": ["YES", "NO"]}, count=[25, 15], item=["a", "b"]
    )
    drawn = Records.from_columns(("YES", "NO"), ["m"] * 8, judges={"j": judge}, item=[str(i) for i in range(8)])
    sample = Sample.of(drawn, [[p, 1 - p] for p in people], inclusion=0.2)
    case = build_cases(YES, "j", corpus, sample)["m"]
    part = sample_parts(case, draws=4000, rng=stream(1, "t"))["yes"]
    assert part.judge.value == pytest.approx(5 / 8)
    assert part.human.value == pytest.approx(3 / 8)
    assert part.delta.value == pytest.approx(-2 / 8)
    assert part.delta.se == pytest.approx(0.1463850, abs=1e-7)
    assert part.delta_bootstrap is not None
    assert part.delta_bootstrap.se == pytest.approx(0.1463850, rel=0.05)


@pytest.mark.parametrize("part", ["EHQ1", "EHQ2"])
def test_linearisation_and_bootstrap_agree(part: str) -> None:
    corpus, sample, _ = ehq_corpus(2, 1500, 150, seed=2)
    for model, case in build_cases(Ehq(), "judge", corpus, sample).items():
        found = sample_parts(case, draws=4000, rng=stream(2, model))[part]
        assert found.delta.se is not None
        assert found.delta_bootstrap is not None
        assert found.delta_bootstrap.se == pytest.approx(found.delta.se, rel=0.08)
        assert found.delta_bootstrap.low == pytest.approx(found.delta.low, abs=0.15 * found.delta.se)


def test_weights_matter_where_the_sample_is_stratified_on_the_judge() -> None:
    """Truth is seeded: the unweighted sample rate is off, the weighted one is near."""
    corpus, sample, truth = ehq_corpus(1, 4000, 800, seed=3, error=0.05)
    true = float(np.isin(truth, [0, 1]).mean())
    case = build_cases(Ehq(), "judge", corpus, sample)["model-0"]
    weighted = sample_parts(case, draws=0, rng=stream(0, "x"))["EHQ1"].human.value or 0
    unweighted = float(sample.shares[:, :2].sum(axis=1).mean())
    assert abs(weighted - true) < 0.015
    assert abs(unweighted - true) > 0.03


def test_groups_of_units_drawn_alike() -> None:
    # Strata 0 (three units), 1 and 2 (one each): the two singletons are joined.
    groups = sampling_groups(np.array([0, 0, 0, 1, 2]), np.full(5, 0.5))
    assert groups[0] == groups[1] == groups[2]
    assert groups[3] == groups[4] != groups[0]
    # One singleton joins the largest group; different inclusion probabilities are different groups.
    assert len(set(sampling_groups(np.array([0, 0, 1]), np.full(3, 0.5)).tolist())) == 1
    assert len(set(sampling_groups(np.zeros(4, np.int64), np.array([0.5, 0.5, 0.1, 0.1])).tolist())) == 2


def test_corpus_estimate_is_post_stratified() -> None:
    # Judge YES: 60 records, 6 labelled, 5 YES; judge NO: 40 records, 4 labelled, 1 YES: 60 * 5/6 + 40 * 1/4 = 60.
    corpus = Records.from_columns(
        ("YES", "NO"), ["m"] * 2, judges={"j": ["YES", "NO"]}, count=[60, 40], item=["a", "b"]
    )
    drawn = Records.from_columns(
        ("YES", "NO"), ["m"] * 10, judges={"j": ["YES"] * 6 + ["NO"] * 4}, item=[str(i) for i in range(10)]
    )
    people = [1, 1, 1, 1, 1, 0, 1, 0, 0, 0]
    sample = Sample.of(drawn, [[p, 1 - p] for p in people], inclusion=0.1)
    part = corpus_parts(build_cases(YES, "j", corpus, sample)["m"], draws=2000, seed=1).parts["yes"]
    assert part.human.value == pytest.approx(0.60)
    assert part.judge.value == pytest.approx(0.60)
    assert part.delta.low is not None
    assert part.delta.high is not None
    assert part.delta.low < 0 < part.delta.high


def test_difference_estimator_by_hand() -> None:
    # EHQ3. Corpus: 40 records, all CORRECT for the judge, confidence 80; 16 are labelled: 10 CORRECT, 6 WRONG.
    # Judge: gap 40 * (1 - .8) = 8 over T_S = 40: EHQ3 = .8. Change of the gap per record: 0 or -1, mean -6/16, so
    # T_gap = 8 - 15 = -7 and the plug-in EHQ3 is 1 - 7 / 40 = .825.
    corpus = Records.from_columns(LABELS, ["m"], judges={"j": ["CORRECT"]}, confidence=[80], count=[40], item=["a"])
    drawn = Records.from_columns(
        LABELS, ["m"] * 16, judges={"j": ["CORRECT"] * 16}, confidence=[80] * 16, item=[str(i) for i in range(16)]
    )
    sample = Sample.of(drawn, np.eye(4)[[2] * 10 + [3] * 6], inclusion=0.4)
    case = build_cases(Ehq(), "j", corpus, sample)["m"]
    totals = difference_totals(case, draws=4000, rng=stream(1, "t"))
    assert totals is not None
    assert Ehq().values(totals.judge)[2] == pytest.approx(0.8)
    assert Ehq().values(totals.human)[2] == pytest.approx(0.825)
    # Spread of the gap total: N sqrt((1 - n/N) s^2 / n), s^2 = 16/15 * 6/16 * 10/16 = .25: 40 sqrt(.6 * .25 / 16).
    assert totals.draws[:, 6:].sum(axis=1).std(ddof=1) == pytest.approx(3.873, rel=0.05)


def test_cells_without_labels_join_and_are_named() -> None:
    corpus = Records.from_columns(
        LABELS, ["m"] * 3, judges={"j": ["CORRECT", "CORRECT", "WRONG"]}, stratum=["a", "b", "a"], confidence=[80] * 3,
        count=[10, 5, 10], item=list("xyz"),
    )  # fmt: skip
    drawn = Records.from_columns(
        LABELS, ["m"] * 6, judges={"j": ["CORRECT"] * 3 + ["WRONG"] * 3}, stratum=["a"] * 6, confidence=[80] * 6,
        item=list("abcdef"),
    )  # fmt: skip
    sample = Sample.of(drawn, np.eye(4)[[2, 2, 3, 3, 3, 2]], inclusion=0.3)
    case = build_cases(Ehq(), "j", corpus, sample)["m"]
    strata = post_strata(case)
    assert sorted(strata.size.tolist()) == [10, 15]
    assert strata.notes == ("5 records of model m with judge label CORRECT use the labels of all strata",)
    result = corpus_parts(case, draws=1000, seed=0)
    assert any("no human label; labels of the same model and judge label in other strata" in n for n in result.notes)


def test_a_census_has_no_uncertainty_and_equals_people() -> None:
    corpus, _, truth = ehq_corpus(2, 200, 20, seed=4)
    everything = Sample.of(corpus, np.eye(4)[truth])
    whole = Records.from_columns(
        LABELS,
        corpus.model.values(),
        judges={"people": [LABELS[t] for t in truth]},
        confidence=corpus.confidence.tolist(),
    )
    for model, case in build_cases(Ehq(), "judge", corpus, everything).items():
        own = build_cases(Ehq(), "people", whole, None)[model]
        expected = Ehq().values(own.judge_totals())
        found = corpus_parts(case, draws=1000, seed=0).parts
        for i, part in enumerate(Ehq().parts):
            estimate = found[part].human
            assert estimate.value == pytest.approx(expected[i], abs=1e-9)
            assert estimate.low == pytest.approx(estimate.high, abs=1e-9)


@pytest.mark.parametrize("part", ["EHQ1", "EHQ2", "EHQ3", "EHQ"])
def test_decomposition_adds_to_the_difference(part: str) -> None:
    corpus, sample, _ = ehq_corpus(1, 1000, 200, seed=5)
    case = build_cases(Ehq(), "judge", corpus, sample)["model-0"]
    delta = sample_parts(case, draws=0, rng=stream(0, "x"))[part].delta.value
    cells = decompose(case, part)
    assert sum(cell.contribution for cell in cells) == pytest.approx(delta, abs=1e-9)
    assert sum(cell.units for cell in cells) == (case.sample.shares.argmax(axis=1) != case.sample.judged).sum()


def test_few_differences_get_a_small_sample_interval() -> None:
    corpus, _, _ = binary({"m": (0.5, 1.0, 1.0)}, 2000, 60, seed=6)
    chosen = np.arange(0, 2000, 40)
    drawn = corpus.take(chosen)
    shares = np.eye(2)[drawn.judges["judge"]]
    sample = Sample.of(drawn, shares, inclusion=len(chosen) / 2000)
    part = (
        score_impact(corpus, sample, [YES], options=Options(draws=1000, permutations=99)).main.models["m"].parts["yes"]
    )
    assert part.sample is not None
    assert part.sample.delta.value == 0
    assert "fewer than 5 units differ" in part.sample.delta.method
    assert part.sample.delta.low is not None
    assert part.sample.delta.low < 0
    assert part.sample.delta.high is not None
    assert part.sample.delta.high > 0


def test_noise_floor_opens_the_upper_side() -> None:
    """A calibrated model: its error cannot be told from noise with 60 labels, and the output says so."""
    rng = np.random.default_rng(7)
    confidence = rng.integers(0, 101, 1000)
    truth = np.where(rng.random(1000) < confidence / 100, 2, 3)
    judge = np.where(rng.random(1000) < 0.15, 5 - truth, truth)
    corpus = Records.from_columns(
        LABELS, ["m"] * 1000, judges={"j": [LABELS[j] for j in judge]}, confidence=confidence.tolist(),
        item=[str(i) for i in range(1000)],
    )  # fmt: skip
    chosen = np.sort(rng.choice(1000, 60, replace=False))
    sample = Sample.of(corpus.take(chosen), np.eye(4)[truth[chosen]], inclusion=0.06)
    found = corpus_parts(build_cases(Ehq(), "j", corpus, sample)["m"], draws=1000, seed=1).parts
    assert found["EHQ3"].human.high == 1
    assert "not distinguishable from sampling noise" in (found["EHQ3"].human.note or "")
    assert found["EHQ"].human.note == found["EHQ3"].human.note
    assert found["EHQ1"].human.note is None
    # On the sample the interval of the difference is opened as well.
    part = (
        score_impact(corpus, sample, [Ehq()], options=Options(draws=1000, permutations=99))
        .main.models["m"]
        .parts["EHQ3"]
    )
    assert part.sample is not None
    assert "not distinguishable" in (part.sample.delta.note or "")
    assert part.sample.delta.high == pytest.approx(1 - (part.judge.value or 0), abs=1e-9)


def test_an_overconfident_model_is_not_flagged() -> None:
    corpus, sample, _ = ehq_corpus(1, 1000, 200, seed=8)
    found = corpus_parts(build_cases(Ehq(), "judge", corpus, sample)["model-0"], draws=1000, seed=1).parts
    assert found["EHQ3"].human.note is None


def test_more_labels_than_records_is_refused() -> None:
    corpus = Records.from_columns(("YES", "NO"), ["m"], judges={"j": ["YES"]}, count=[1], item=["a"])
    drawn = Records.from_columns(("YES", "NO"), ["m"] * 2, judges={"j": ["YES"] * 2}, item=["a", "b"])
    sample = Sample.of(drawn, [[1, 0], [1, 0]])
    with pytest.raises(AgreementError, match="the corpus must contain the sampled records"):
        score_impact(corpus, sample, [YES])


def test_adding_a_model_changes_no_number_of_another() -> None:
    corpus, sample, _ = ehq_corpus(3, 400, 60, seed=9)
    two = corpus.model.is_in(("model-0", "model-1"))
    held = sample.records.model.is_in(("model-0", "model-1"))
    options = Options(draws=1000, permutations=99, fair=False)
    whole = score_impact(corpus, sample, [Ehq()], options=options).main.models
    less = score_impact(corpus.take(two), sample.take(held), [Ehq()], options=options).main.models
    for part in Ehq().parts:
        assert whole["model-1"].parts[part].human == less["model-1"].parts[part].human
        assert whole["model-1"].parts[part].sample == less["model-1"].parts[part].sample


def test_the_same_seed_gives_the_same_numbers_and_another_does_not() -> None:
    corpus, sample, _ = ehq_corpus(2, 300, 40, seed=10)
    runs = [
        score_impact(corpus, sample, [Ehq()], options=Options(draws=1000, permutations=99, seed=s)).to_dict()
        for s in (1, 1, 2)
    ]
    assert runs[0] == runs[1]
    assert runs[0]["models"]["model-0"]["delta"] != runs[2]["models"]["model-0"]["delta"]


def test_corpus_may_be_given_as_counted_cells() -> None:
    from agreement.impact.counting import counted

    corpus, sample, _ = ehq_corpus(2, 2000, 100, seed=11)
    import dataclasses

    cells = counted(dataclasses.replace(corpus, item=None))
    assert len(cells) < len(corpus) / 2
    assert cells.count.sum() == len(corpus)
    options = Options(draws=1000, permutations=99)
    rows, counts = (score_impact(c, sample, [Ehq()], options=options).to_dict() for c in (corpus, cells))
    for model in ("model-0", "model-1"):
        assert rows["models"][model]["human"] == pytest.approx(counts["models"][model]["human"], abs=1e-12)
        assert rows["models"][model]["judge"] == pytest.approx(counts["models"][model]["judge"], abs=1e-12)


def test_population_target_is_wider_and_resamples_questions() -> None:
    corpus, sample, _ = binary({"a": (0.6, 0.9, 0.9), "b": (0.5, 0.9, 0.9)}, 400, 200, seed=12)
    options = {t: Options(draws=2000, permutations=99, target=t) for t in ("corpus", "population")}
    found = {
        t: score_impact(corpus, sample, [YES], options=o).main.models["a"].parts["yes"] for t, o in options.items()
    }
    widths = {t: (p.human.high or 0) - (p.human.low or 0) for t, p in found.items()}
    # The population adds the questions' own variance, .6 * .4 / 400, i.e. an SE of .0245.
    assert (found["population"].human.se or 0) ** 2 - (found["corpus"].human.se or 0) ** 2 == pytest.approx(
        0.24 / 400, rel=0.25
    )
    assert widths["population"] > widths["corpus"]
    assert found["corpus"].judge.low is None
    assert found["population"].judge.se == pytest.approx((0.6 * 0.4 / 400) ** 0.5, rel=0.1)
    import dataclasses

    with pytest.raises(AgreementError, match="give `item`"):
        score_impact(dataclasses.replace(corpus, item=None), sample, [YES], options=options["population"])


def test_judge_alone_for_the_population_resamples_questions_within_strata() -> None:
    corpus, _, _ = ehq_corpus(2, 400, 40, seed=13)
    from agreement.impact.engine import judge_scores

    options = Options(draws=1000, target="population", strata="category")
    part = judge_scores(corpus, [Ehq()], options=options).main.models["model-0"].parts["EHQ"]
    assert part.judge.low is not None
    assert part.judge.high is not None
    assert part.judge.low < (part.judge.value or 0) < part.judge.high
    assert part.human.reason == "no human labels"


def test_unequal_probabilities_inside_a_cell_are_weighted_and_named() -> None:
    """Half of the judge's YES records are drawn with .4, half with .1, and people's rates differ between the halves."""
    rng = np.random.default_rng(14)
    size = 4000
    rich = np.arange(size) % 2 == 0
    yes = rng.random(size) < np.where(rich, 0.9, 0.5)
    corpus = Records.from_columns(
        ("YES", "NO"), ["m"] * size, judges={"j": ["YES"] * size}, item=[str(i) for i in range(size)]
    )
    chance = np.where(rich, 0.4, 0.1)
    drawn = np.flatnonzero(rng.random(size) < chance)
    shares = np.stack([yes[drawn], ~yes[drawn]], axis=1).astype(float)
    sample = Sample.of(corpus.take(drawn), shares, inclusion=chance[drawn])
    result = corpus_parts(build_cases(YES, "j", corpus, sample)["m"], draws=1000, seed=1)
    assert any("drawn with different probabilities" in note for note in result.notes)
    part = result.parts["yes"]
    assert part.human.method == "difference estimator on totals"
    assert (part.human.low or 0) <= yes.mean() <= (part.human.high or 0)
    assert abs(shares[:, 0].mean() - yes.mean()) > 0.08  # what ignoring the probabilities would give


def test_confidence_bins_are_part_of_the_result() -> None:
    corpus, sample, _ = ehq_corpus(1, 400, 80, seed=15)
    bins = (
        score_impact(corpus, sample, [Ehq()], options=Options(draws=1000, permutations=99))
        .main.models["model-0"]
        .calibration
    )
    for side in ("judge", "human"):
        assert len(bins[side]) == 10
        assert (bins[side][0].low, bins[side][9].high) == (0.0, 1.0)
    # The judge's table is exactly its EHQ3: 1 - sum n_b |accuracy - confidence| / N.
    error = sum(b.n * abs((b.accuracy or 0) - (b.confidence or 0)) for b in bins["judge"]) / sum(
        b.n for b in bins["judge"]
    )
    from agreement.impact.engine import judge_scores

    judge = judge_scores(corpus, [Ehq()]).main.models["model-0"].parts["EHQ3"].judge.value
    assert 1 - error == pytest.approx(judge, abs=1e-12)


def test_a_judge_without_an_error_in_the_sample_is_not_called_perfect() -> None:
    """40 labels that all agree: no interval of zero width, neither for means nor for calibration scores."""
    corpus, _, _ = ehq_corpus(1, 800, 100, seed=16)
    drawn = np.arange(0, 800, 20)
    sample = Sample.of(corpus.take(drawn), np.eye(4)[corpus.judges["judge"][drawn]], inclusion=0.05)
    model = score_impact(corpus, sample, [Ehq()], options=Options(draws=2000, permutations=99)).main.models["model-0"]
    for part in model.parts.values():
        assert part.sample is not None
        for estimate in (part.delta, part.sample.delta):
            assert estimate.low is not None
            assert estimate.high is not None
            assert estimate.high - estimate.low > 0.02
            assert "fewer than 5" in estimate.method or "posterior" in estimate.method


def test_a_single_label_says_next_to_nothing() -> None:
    corpus, sample, _ = ehq_corpus(1, 400, 60, seed=17)
    one = sample.take(np.array([0]))
    part = corpus_parts(build_cases(Ehq(), "judge", corpus, one)["model-0"], draws=2000, seed=1).parts["EHQ"]
    assert (part.human.high or 0) - (part.human.low or 0) > 0.3


def test_labels_that_a_score_cannot_use_are_out_of_both_sides_and_counted() -> None:
    # Five labels are declared, EHQ knows four. Judge: WRONG, WRONG, HEDGE, OTHER; people: WRONG, OTHER, HEDGE, HEDGE.
    labels = (*LABELS, "OTHER")
    judge = ["WRONG", "WRONG", "HEDGE", "OTHER"]
    corpus = Records.from_columns(labels, ["m"] * 4, judges={"j": judge}, item=list("abcd"))
    people = [labels.index(name) for name in ("WRONG", "OTHER", "HEDGE", "HEDGE")]
    case = build_cases(Ehq(), "j", corpus, Sample.of(corpus, np.eye(5)[people]))["m"]
    assert case.lost == {
        "used": 2,
        "label that the score does not know": 1,
        "the judge gave nothing that the score can use": 1,
    }
    part = sample_parts(case, draws=0, rng=stream(0, "x"))["EHQ1"]
    assert (part.judge.value, part.human.value) == (0.5, 0.5)


def test_a_label_that_only_leaves_a_denominator_stays_in() -> None:
    # Accuracy over answered. Judge: CORRECT 2, WRONG 2 (2/4); people: CORRECT 2, WRONG 1, ABSTAIN 1 (2/3).
    score = Rate("answered right", ("CORRECT",), among=("CORRECT", "WRONG"))
    judge = ["CORRECT", "CORRECT", "WRONG", "WRONG"]
    corpus = Records.from_columns(LABELS, ["m"] * 4, judges={"j": judge}, item=list("abcd"))
    case = build_cases(score, "j", corpus, Sample.of(corpus, np.eye(4)[[2, 2, 3, 0]]))["m"]
    part = sample_parts(case, draws=0, rng=stream(0, "x"))["answered right"]
    assert (part.judge.value, part.human.value) == (pytest.approx(1 / 2), pytest.approx(2 / 3))
    whole = corpus_parts(case, draws=1000, seed=0).parts["answered right"]
    assert whole.human.value == pytest.approx(2 / 3)
