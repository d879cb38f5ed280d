"""The alternative annotator test: published values on two tasks, a generated vector, edge cases."""

import json

import pandas
import pytest

from agreement.alternative_annotator import alt_test, alt_test_domains, benjamini_yekutieli
from agreement.errors import AgreementError


def generated():
    """60 items, 4 annotators, 4 labels by a linear congruential generator, seed 42."""
    state = 42

    def u():
        nonlocal state
        state = (1103515245 * state + 12345) % 2**31
        return state / 2**31

    def label(truth, noise):
        return truth if u() > noise else int(4 * u())

    coders, llm = {f"a{k}": {} for k in range(4)}, {}
    for item in range(60):
        truth = int(4 * u())
        for labels in coders.values():
            labels[item] = label(truth, 0.25)
        llm[item] = label(truth, 0.20)
    return llm, coders


def test_generator_gives_the_stated_vector():
    llm, coders = generated()
    assert [coders["a0"][i] for i in range(10)] == [2, 3, 2, 3, 1, 2, 1, 1, 1, 3]
    assert [llm[i] for i in range(10)] == [1, 3, 1, 3, 1, 3, 1, 0, 0, 1]


@pytest.mark.parametrize(("epsilon", "omega"), [(0, 0), (0.05, 0), (0.10, 0), (0.15, 0), (0.20, 0), (0.30, 1)])
def test_generated_vector(epsilon, omega):
    # expected values: the reference repository and an independent re-implementation
    llm, coders = generated()
    found = alt_test(llm, coders, epsilon=epsilon)
    assert found.winning_rate == omega
    assert found.passes == (omega >= 0.5)
    assert round(found.advantage, 6) == 0.779167
    assert [round(row.llm_wins, 6) for row in found.coders] == [0.766667, 0.783333, 0.783333, 0.783333]
    assert [round(row.coder_wins, 6) for row in found.coders] == [0.883333, 0.85, 0.916667, 0.866667]
    if epsilon == 0.15:
        assert [round(row.p, 8) for row in found.coders] == [0.33024958, 0.14593352, 0.40520344, 0.19275430]
        assert found.coders[0].t == pytest.approx(-0.441452, abs=5e-7)


TASKS = {
    ("wax", 0.1): {
        "gemini_flash": (".38", ".69"), "gemini_pro": (".50", ".74"), "gpt-4o": (".50", ".73"),
        "llama-31": (".00", ".57"), "gpt-4o-mini": (".00", ".59"), "mistral-v03": (".00", ".50"),
    },
    ("framing", 0.15): {
        "gemini_flash": ("1.00", ".83"), "gemini_pro": ("1.00", ".91"), "gpt-4o": ("1.00", ".92"),
        "llama-31": (".50", ".80"), "gpt-4o-mini": ("1.00", ".87"), "mistral-v03": (".25", ".80"),
    },
}  # fmt: skip


@pytest.mark.parametrize(("task", "epsilon"), TASKS)
def test_published_tasks_all_cells(shared_data, task, epsilon):
    folder = shared_data / "alttest" / task
    people = json.loads((folder / "human_annotations.json").read_text(encoding="utf-8"))
    judges = json.loads((folder / "llm_annotations.json").read_text(encoding="utf-8"))
    expected = TASKS[task, epsilon]
    assert set(judges) == set(expected)
    for judge, labels in judges.items():
        found = alt_test(labels, people, epsilon=epsilon)
        cells = tuple(f"{x:.2f}".removeprefix("0") for x in (found.winning_rate, found.advantage))
        assert cells == expected[judge], judge
        assert found.left_out == ()


def test_benjamini_yekutieli_by_hand():
    # m = 4, H = 25/12: limits .006, .012, .018, .024 at q = .05
    assert benjamini_yekutieli([0.01, 0.02, 0.03, 0.04], 0.05) == [False] * 4
    assert benjamini_yekutieli([0.001, 0.013, 0.02, 0.2], 0.05) == [True, False, False, False]
    # step-up: the third is under its limit, so the first two go with it though the first is not under its own
    assert benjamini_yekutieli([0.2, 0.007, 0.011, 0.017], 0.05) == [False, True, True, True]
    assert benjamini_yekutieli([], 0.05) == []


def coders_of(count, items=30, label="x"):
    return {f"c{k}": dict.fromkeys(range(items), label) for k in range(count)}


def test_two_coders_or_too_few_items_are_refused_with_what_is_missing():
    llm = dict.fromkeys(range(60), "x")
    two = alt_test(llm, coders_of(2), epsilon=0.1)
    assert (two.winning_rate, two.advantage, two.passes) == (None, None, None)
    assert two.undefined == "needs 3 annotators with at least 30 items each, there are 2"
    one = alt_test(llm, coders_of(1), epsilon=0.1)
    assert "there are 0; too few items: c0 (0)" in one.undefined  # nobody to compare with
    short = alt_test(llm, coders_of(3, items=29), epsilon=0.1)
    assert "too few items: c0 (29), c1 (29), c2 (29)" in short.undefined


def test_coder_with_too_few_items_is_left_out_and_named_but_still_counts_as_an_other():
    llm = dict.fromkeys(range(40), "x")
    coders = coders_of(3, items=40) | {"late": dict.fromkeys(range(10), "y")}
    found = alt_test(llm, coders, epsilon=0.1)
    assert found.left_out == (("late", 10),)
    assert len(found.coders) == 3


def test_all_agree_with_epsilon_zero_is_not_nan():
    llm = dict.fromkeys(range(30), "x")
    found = alt_test(llm, coders_of(3), epsilon=0)
    assert [row.p for row in found.coders] == [1, 1, 1]
    assert (found.winning_rate, found.advantage) == (0, 1)
    assert alt_test(llm, coders_of(3), epsilon=0.01).winning_rate == 1


def test_a_missing_label_is_no_label():
    llm, coders = generated()
    full = alt_test(llm, coders, epsilon=0.15)
    holes = {name: labels | {60: None, 61: float("nan")} for name, labels in coders.items()}
    assert alt_test(llm | {60: 1, 61: 1}, holes, epsilon=0.15) == full
    assert alt_test(llm | {60: None}, coders, epsilon=0.15) == full


def test_integer_labels_stay_nominal():
    llm, coders = generated()
    names = "abcd"
    words = {c: {i: names[x] for i, x in labels.items()} for c, labels in coders.items()}
    assert alt_test({i: names[x] for i, x in llm.items()}, words, epsilon=0.15) == alt_test(llm, coders, epsilon=0.15)


def test_tables_are_taken():
    llm, coders = generated()
    rows = [[labels[i] for labels in coders.values()] for i in range(60)]
    frame = pandas.DataFrame(rows, columns=list(coders))
    expected = alt_test(llm, coders, epsilon=0.15)
    assert alt_test([llm[i] for i in range(60)], frame, epsilon=0.15) == expected
    by_row = alt_test([llm[i] for i in range(60)], rows, epsilon=0.15)
    assert [row.p for row in by_row.coders] == [row.p for row in expected.coders]
    assert [row.coder for row in by_row.coders] == ["0", "1", "2", "3"]


def test_label_outside_the_set_is_a_mismatch():
    llm = dict.fromkeys(range(30), "None-of-the-above")
    found = alt_test(llm, coders_of(3), epsilon=0.15)
    assert found.advantage == 0
    assert found.winning_rate == 0


def test_ratings_by_distance_and_by_similarity():
    # annotators rate 50, 60, 70; the LLM 60 on every item
    coders = {f"c{k}": dict.fromkeys(range(30), 50 + 10 * k) for k in range(3)}
    found = alt_test(dict.fromkeys(range(30), 60), coders, epsilon=0.1, score="rmse")
    # left out 50: others 60, 70: LLM sqrt(50), coder sqrt(250): LLM wins. Left out 60: tie. Left out 70: LLM wins
    assert [(row.llm_wins, row.coder_wins) for row in found.coders] == [(1, 0), (1, 1), (1, 0)]
    similar = alt_test(dict.fromkeys(range(30), 60), coders, epsilon=0.1, score=lambda a, b: 1 - abs(a - b) / 100)
    assert [(row.llm_wins, row.coder_wins) for row in similar.coders] == [(1, 0), (1, 1), (1, 0)]


def test_domains_share_one_correction():
    llm, coders = generated()
    alone = alt_test(llm, coders, epsilon=0.25)
    both = alt_test_domains({"x": (llm, coders), "y": (llm, coders), "z": (llm, coders_of(2))}, epsilon=0.25)
    assert both["x"].advantage == alone.advantage
    assert both["z"].undefined is not None
    p = [row.p for row in alone.coders]
    expected = benjamini_yekutieli(p + p, 0.05)[:4]
    assert [row.won for row in both["x"].coders] == expected


def test_bad_arguments_are_refused():
    llm, coders = generated()
    with pytest.raises(AgreementError, match="epsilon is 15"):
        alt_test(llm, coders, epsilon=15)
    with pytest.raises(AgreementError, match="expected accuracy, rmse or a function"):
        alt_test(llm, coders, epsilon=0.1, score="f1")
