"""WikiProfile: the grade, the profiles, the three treatments, the paper's table and its graders."""

from __future__ import annotations

import csv
import gzip
import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from agreement.errors import AgreementError
from agreement.impact.engine import Options
from agreement.impact.profile_impact import (
    ProfileSetting,
    fact_study,
    profile_impact,
    profile_sweep,
    profile_table,
)
from agreement.impact.profile_imputation import imputed_profiles, imputed_settings
from agreement.impact.records import Records, Sample
from agreement.scores.profiles import fact_table, judge_outcomes, profiles_of
from agreement.scores.wikiprofile import (
    DIRECT_INFERENCE,
    FACT_LABELS,
    GRADES,
    LABELS,
    NOT_GRADABLE,
    PROFILES,
    fact_profiles,
    grade,
    identities,
    paper_row,
    profile_shares,
    question_outcomes,
)

SIMULATED = Path(__file__).resolve().parents[2] / "samples" / "wikiprofile-simulated" / "responses.jsonl.gz"
FIGURE_14 = ((78.58, 0.05, 0.19, 0.00), (0.06, 16.75, 0.00, 0.07), (0.35, 0.31, 1.25, 0.01), (0.00, 0.56, 0.10, 1.71))
QUICK = Options(draws=1000, by_draws=1000, permutations=99)


def test_grade_by_hand() -> None:
    # 3 CORRECT, 1 INCORRECT, 2 PARTIALLY, 2 OTHER: 3 / (3 + 1) = .75; with credit (3 + .51 * 2) / (3 + 2 + 1) = .67.
    counts = np.array([3.0, 1, 2, 2])
    assert grade(counts) == 0.75
    assert grade(counts, "partial") == pytest.approx(4.02 / 6)
    assert np.isnan(grade(np.array([0.0, 0, 3, 5])))
    assert grade(np.array([0.0, 0, 3, 5]), "partial") == pytest.approx(0.51)


def test_threshold_is_strict() -> None:
    # 4 of 8 is not above one half; 5 of 8 is.
    assert question_outcomes(np.array([0.5, 0.625, np.nan])).tolist() == [0, 1, -1]
    assert question_outcomes(np.array([0.99, 1.0]), 0.99).tolist() == [0, 1]


def outcomes(encoding: str, off: str, on: str) -> np.ndarray:
    """Ten outcomes from text: + above, - not, . not gradable; two encoding, four off, four on."""
    return np.array([{"+": 1, "-": 0, ".": -1}[c] for c in encoding + off + on])


@pytest.mark.parametrize(
    ("encoding", "off", "on", "profile"),
    [
        ("+-", "++++", "----", "direct recall"),
        ("-+", "++++", "++++", "direct recall"),
        ("++", "+++-", "++++", "recall with thinking"),
        ("+-", "+-++", "+++-", "recall failure"),
        ("--", "++++", "++++", DIRECT_INFERENCE),
        ("--", "++++", "----", DIRECT_INFERENCE),
        ("--", "----", "++++", "inference without encoding"),
        ("--", "++-+", "+-++", "encoding failure"),
    ],
)
def test_the_table_of_profiles(encoding: str, off: str, on: str, profile: str) -> None:
    assert FACT_LABELS[fact_profiles(outcomes(encoding, off, on))] == profile


def test_every_combination_has_exactly_one_profile() -> None:
    # All 2^10 fully gradable facts, against the three-way definition (any, all, all) written anew.
    for bits in itertools.product((0, 1), repeat=10):
        encoded, off, on = any(bits[:2]), all(bits[2:6]), all(bits[6:])
        expected = {
            (True, True): "direct recall",
            (False, True): DIRECT_INFERENCE,
        }.get((encoded, off))
        if expected is None:
            expected = {
                (True, True): "recall with thinking",
                (True, False): "recall failure",
                (False, True): "inference without encoding",
                (False, False): "encoding failure",
            }[encoded, on]
        assert FACT_LABELS[fact_profiles(np.array(bits))] == expected


def test_treatments_of_what_cannot_be_graded() -> None:
    one_missing = outcomes("+.", "+.++", "----")
    assert FACT_LABELS[fact_profiles(one_missing, "fact")] == NOT_GRADABLE
    assert FACT_LABELS[fact_profiles(one_missing, "pair")] == "direct recall"  # "all" runs over the gradable members
    pair_missing = outcomes("++", "..++", "++++")
    assert FACT_LABELS[fact_profiles(pair_missing, "pair")] == NOT_GRADABLE
    # PARTIALLY only: not gradable in a and b, but graded .51 (above .5) in c.
    counts = np.tile(np.array([8.0, 0, 0, 0]), (10, 1))
    counts[2:4] = [0, 0, 8, 0]
    pair, partial = (
        fact_profiles(question_outcomes(grade(counts, t)), t)
        for t in ("pair", "partial")  # type: ignore[arg-type]
    )
    assert FACT_LABELS[pair] == NOT_GRADABLE
    assert FACT_LABELS[partial] == "direct recall"


def test_two_denominators() -> None:
    # 10 facts: 4 direct recall, one of each of the other four profiles, 1 direct inference, 1 not gradable.
    shares = profile_shares(np.array([4.0, 1, 1, 1, 1, 1, 1]))
    assert (shares.facts, shares.kept) == (10, 8)
    # Paper: direct inference (1) in the numerator of "knows", not in the denominator: 5/8. Consistent: 5/9.
    assert shares.paper["knows"] == pytest.approx(62.5)
    assert shares.consistent["knows"] == pytest.approx(100 * 5 / 9)
    assert shares.paper["knows_with_thinking"] == pytest.approx(100 * 7 / 8)
    assert shares.paper["encodes"] == pytest.approx(75)
    assert (shares.excluded, shares.other_or_partially, shares.direct_inference) == (20, 10, 10)
    residuals = identities(paper_row(shares))
    # The two identities about knowing mix denominators: 1 direct inference is 12.5 % of the kept, 10 % of all facts.
    assert residuals.pop("knows") == pytest.approx(2.5)
    assert residuals.pop("knows with thinking") == pytest.approx(2.5)
    assert max(abs(r) for r in residuals.values()) < 1e-9


def test_identities_hold_in_the_published_table(shared_data: Path) -> None:
    """All 39 rows of the paper's Table 2, printed to one decimal: five profiles within .2, the other identities .1."""
    with (shared_data / "wikiprofile" / "table2_profiles_percent.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 39
    for row in rows:
        residuals = identities({k: float(v) for k, v in row.items() if k not in ("strategy", "llm")})
        assert abs(residuals.pop("profiles add to 100")) <= 0.2 + 1e-9
        assert max(abs(r) for r in residuals.values()) <= 0.1 + 1e-9


def simulated() -> Records:
    with gzip.open(SIMULATED, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return Records.from_columns(
        LABELS,
        [row["model"] for row in rows],
        judges={name: [row.get(name) for row in rows] for name in ("grader_1", "grader_2")},
        by={"question_type": [row["question_type"] for row in rows]},
        condition=["thinking" if row["thinking"] else "no thinking" for row in rows],
        fact=[row["fact"] for row in rows],
        item=[f"{row['fact']}/{row['question_type']}" for row in rows],
    )


@pytest.fixture(scope="module")
def corpus() -> Records:
    return simulated()


def test_simulated_responses_give_back_the_published_shares(corpus: Records) -> None:
    # Table 2, default treatment, GPT-5-mini and Gemma3-12b; 250 facts, so a share is known to half of .4 points.
    published = {
        "GPT-5-mini (simulated)": (43.5, 20.3, 19.0, 3.2, 14.0),
        "Gemma3-12b (simulated)": (23.6, 7.4, 32.8, 0.9, 35.3),
    }
    table = profile_table(corpus, "grader_1")
    for model, shares in published.items():
        row = table[model]
        for profile, share in zip(PROFILES, shares, strict=True):
            assert row.paper[profile] == pytest.approx(share, abs=0.25)
        assert row.facts == 250


@pytest.mark.parametrize("treatment", ["fact", "pair", "partial"])
def test_identities_hold_under_every_treatment(corpus: Records, treatment: str) -> None:
    for row in profile_table(corpus, "grader_1", ProfileSetting(treatment)).values():  # type: ignore[arg-type]
        assert max(abs(r) for r in identities(paper_row(row)).values()) <= 0.1


def test_a_higher_threshold_never_encodes_more(corpus: Records) -> None:
    sweep = profile_sweep(corpus, "grader_1", (0.5, 0.75, 0.9, 0.99))
    for model in corpus.model.names:
        rates = [sweep[t][model].consistent["encodes"] for t in (0.5, 0.75, 0.9, 0.99)]
        assert rates == sorted(rates, key=lambda r: -(r or 0))


def test_grader_against_grader(corpus: Records) -> None:
    """Figure 14: counts rounded from percentages of 4,160 responses; agreement .98317, kappa .951431, SE .005617."""
    from agreement import cohen_kappa

    first, second = corpus.judges["grader_1"], corpus.judges["grader_2"]
    both = (first >= 0) & (second >= 0)
    pairs = [(LABELS[a], LABELS[b]) for a, b in zip(first[both], second[both], strict=True)]
    assert len(pairs) == 4159
    counts = np.array([[sum(p == (a, b) for p in pairs) for b in LABELS] for a in LABELS])
    assert counts.tolist() == np.rint(np.array(FIGURE_14) / 100 * 4160).astype(int).tolist()
    assert counts.trace() / counts.sum() == pytest.approx(0.98317, abs=5e-6)
    kappa = cohen_kappa(pairs, labels=LABELS)
    assert kappa.value == pytest.approx(0.951431, abs=5e-7)
    assert kappa.se == pytest.approx(0.005617, abs=5e-7)


def judge_and_people(facts: int, model: str = "m", seed: int = 5) -> tuple[Records, np.ndarray]:
    """Made-up responses, two a question; the judge calls a tenth of the CORRECT ones INCORRECT. Second: true codes."""
    rng = np.random.default_rng(seed)
    ability = rng.random((facts, 10, 1)) * 1.4
    truth = np.where(rng.random((facts, 10, 2)) < np.minimum(ability, 1), 0, 1).ravel()
    judge = np.where((truth == 0) & (rng.random(truth.size) < 0.1), 1, truth)
    fact = np.repeat(np.arange(facts), 20)
    kind = [GRADES[i][0] for i in np.tile(np.repeat(np.arange(10), 2), facts)]
    thinking = ["on" if GRADES[i][1] else "off" for i in np.tile(np.repeat(np.arange(10), 2), facts)]
    records = Records.from_columns(
        LABELS,
        [model] * truth.size,
        judges={"grader": [LABELS[j] for j in judge]},
        by={"question_type": kind, "thinking": thinking},
        fact=[f"F{f:03}" for f in fact],
        item=[f"F{f:03}/{k}" for f, k in zip(fact, kind, strict=True)],
    )
    return records, truth


def test_whole_facts_labelled_by_people() -> None:
    records, truth = judge_and_people(60)
    sampled = np.flatnonzero(records.fact.codes < 30) if records.fact is not None else np.zeros(0, np.int64)
    sample = Sample.of(records.take(sampled), np.eye(4)[truth[sampled]], inclusion=0.5, unit="item")
    result = profile_impact(records, sample, ["grader"], options=QUICK)
    part = result.main.models["m"].parts["encodes"]
    assert part.sample is not None
    assert part.sample.n == 30
    assert part.human.low is not None
    assert part.human.high is not None
    assert part.judge.value is not None
    assert part.human.value is not None
    # With all facts labelled by people the profile shares are those of the truth.
    everything = Sample.of(records, np.eye(4)[truth], unit="item")
    full = profile_impact(records, everything, ["grader"], options=QUICK).main.models["m"].parts["encodes"]
    table = fact_table(records, np.eye(4)[truth])
    counts = np.bincount(profiles_of(table), minlength=7).astype(np.float64)
    assert 100 * (full.human.value or 0) == pytest.approx(profile_shares(counts).paper["encodes"])
    assert part.human.low <= (full.human.value or 0) <= part.human.high


def test_whole_questions_are_imputed() -> None:
    records, truth = judge_and_people(80)
    rng = np.random.default_rng(3)
    question = np.repeat(np.arange(len(records) // 2), 2)  # two responses to each
    chosen = np.isin(question, rng.choice(question.max() + 1, 400, replace=False))
    sample = Sample.of(records.take(chosen), np.eye(4)[truth[chosen]], inclusion=0.5, unit="item")
    found = imputed_profiles(records, sample, "grader", draws=200, seed=1)
    assert (found.questions, found.labelled) == (800, 400)
    table = fact_table(records, np.eye(4)[truth])
    true = profile_shares(np.bincount(profiles_of(table), minlength=7).astype(np.float64)).paper
    for part in ("encodes", "knows"):
        estimate = found.human["m"][part]
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.low <= (true[part] or 0) / 100 <= estimate.high
        assert abs((estimate.value or 0) - (true[part] or 0) / 100) < abs(
            found.judge["m"][part] - (true[part] or 0) / 100
        )


def test_settings_together_give_what_each_gives_alone() -> None:
    # One completion serves the treatments that ask the same of a question; each number stays that of its own run.
    records, truth = judge_and_people(40)
    chosen = records.item.codes % 3 == 0 if records.item is not None else np.zeros(len(records), np.bool_)
    sample = Sample.of(records.take(chosen), np.eye(4)[truth[chosen]], inclusion=1 / 3, unit="item")
    settings = [ProfileSetting("fact"), ProfileSetting("pair"), ProfileSetting("partial"), ProfileSetting("pair", 0.8)]
    for target in ("corpus", "population"):
        together = imputed_settings(records, sample, "grader", settings, draws=50, seed=3, target=target)
        for setting in settings:
            alone = imputed_profiles(records, sample, "grader", setting, draws=50, seed=3, target=target)
            assert together[setting] == alone


def test_single_responses_are_refused() -> None:
    records, truth = judge_and_people(20)
    chosen = np.arange(0, len(records), 2)  # one of the two responses to each question
    sample = Sample.of(records.take(chosen), np.eye(4)[truth[chosen]], inclusion=0.5)
    with pytest.raises(AgreementError, match="correlation within a question is unknown"):
        fact_study(records, sample, ["grader"])
    with pytest.raises(AgreementError, match="correlation within a question is unknown"):
        imputed_profiles(records, sample, "grader")


def test_responses_in_are_responses_out(corpus: Records) -> None:
    table = fact_table(corpus, judge_outcomes(corpus, "grader_1"))
    assert table.counts.sum() + table.ignored == len(corpus)
