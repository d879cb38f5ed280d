"""Confusion matrices and their numbers: scikit-learn on random data, published matrices, hand computation."""

import csv
import json
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from agreement.confusion_matrix import confusion
from agreement.errors import AgreementError
from agreement.judge_checks import judge_warnings
from agreement.measure_intervals import point_measures
from agreement.reference import human_reference
from agreement.sample_size import kappa_variance

ABC = ("A", "B", "C")


def test_outputs_that_are_no_label_have_their_own_rows():
    found = confusion(
        ["A", "I refuse", None, "B", float("nan"), "(missing)"], ["A", "A", "B", "B", "A", None], labels="AB"
    )
    assert found.rows == ("A", "B", "(not a label)", "(missing)")
    assert found.totals.tolist() == [[1, 0], [0, 1], [1, 0], [1, 1]]
    assert (found.n, found.unlabelled) == (5, 1)
    numbers = point_measures(found)
    assert numbers["agreement", None] == pytest.approx(2 / 5)
    assert numbers["agreement, labels only", None] == 1
    # a record without a judge label is a miss for its human label
    assert numbers["recall", "A"] == pytest.approx(1 / 3)
    assert numbers["precision", "A"] == 1


def test_rows_without_records_are_not_shown_but_declared_labels_are():
    assert confusion(["A"], ["A"], labels=ABC).rows == ABC


def test_labels_seen_are_named_as_such():
    found = confusion([1, 0, 2], [1, 1, 0])
    assert found.labels == (0, 1, 2)
    assert found.estimator == "each record counts once, labels seen"


def test_split_labels_and_weights():
    found = confusion(["A", "B"], [{"A": 0.5, "B": 0.5}, "B"], labels="AB", weights=[2, 3])
    assert found.totals.tolist() == [[1, 1], [0, 3]]
    assert found.counts.tolist() == [[0.5, 0.5], [0, 1]]
    assert found.shares.sum() == pytest.approx(1)
    # Horvitz-Thompson shares are of the known corpus, not of the summed weights
    total = confusion(["A", "B"], ["A", "B"], labels="AB", weights=[2, 3], population=10)
    assert total.shares.tolist() == [[0.2, 0], [0, 0.3]]
    assert "Horvitz-Thompson" in total.estimator


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"human": ["A", "Z"]}, "record 1: human label 'Z' is not one of A, B"),
        ({"human": ["A"]}, "one per record"),
        ({"human": ["A", "B"], "weights": [1, -1]}, "not negative"),
        ({"human": ["A", "B"], "weights": [1, float("nan")]}, "finite"),
    ],
)
def test_bad_input_is_told(arguments, message):
    with pytest.raises(AgreementError, match=message):
        confusion(["A", "B"], labels="AB", **arguments)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(ABC), st.sampled_from(ABC), st.integers(1, 4)), min_size=6, max_size=30))
@pytest.mark.filterwarnings("ignore")
def test_numbers_equal_scikit_learn(rows):
    judge, human, weight = ([row[k] for row in rows] for k in range(3))
    ours = point_measures(confusion(judge, human, labels=ABC, weights=weight))
    options = {"labels": list(ABC), "sample_weight": weight, "zero_division": np.nan}
    table = metrics.precision_recall_fscore_support(human, judge, **options)
    for position, name in enumerate(("precision", "recall", "F1")):
        for k, label in enumerate(ABC):
            check(ours[name, label], table[position][k])
    check(ours["agreement", None], metrics.accuracy_score(human, judge, sample_weight=weight))
    check(ours["kappa", None], metrics.cohen_kappa_score(human, judge, labels=list(ABC), sample_weight=weight))
    if len(set(human)) > 1 and len(set(judge)) > 1:  # scikit-learn says 0 where it is 0/0
        check(ours["MCC", None], metrics.matthews_corrcoef(human, judge, sample_weight=weight))
    if set(judge) <= set(human):
        check(ours["balanced accuracy", None], metrics.balanced_accuracy_score(human, judge, sample_weight=weight))
    if set(human) | set(judge) == set(ABC):
        for name, column in (("macro precision", 0), ("macro recall", 1), ("macro F1", 2)):
            check(ours[name, None], table[column].mean())


def check(ours, theirs):
    """The same number, or undefined on both sides."""
    assert (ours is None) == (not np.isfinite(theirs))
    if ours is not None:
        assert ours == pytest.approx(theirs, abs=1e-12)


def test_specificity_and_one_against_rest_by_hand():
    # rows judge, columns people: A 4 1 / B 2 3, specificity of A = of the 4 that people call B, 3 not called A
    numbers = point_measures(confusion(list("AAAAABBBBB"), list("AAAABAABBB"), labels="AB"))
    assert numbers["specificity", "A"] == pytest.approx(3 / 4)
    assert numbers["recall", "A"] == pytest.approx(4 / 6)
    assert numbers["balanced accuracy", "A"] == pytest.approx((3 / 4 + 4 / 6) / 2)
    assert numbers["balanced accuracy", None] == pytest.approx((4 / 6 + 3 / 4) / 2)
    assert numbers["kappa", "A"] == pytest.approx(numbers["kappa", None])
    assert numbers["human share", "A"] == pytest.approx(0.6)
    assert numbers["judge share", "A"] == pytest.approx(0.5)


def test_undefined_numbers_are_none_even_with_fractional_weights():
    weights = [0.1, 0.2, 0.3, 0.7, 1.1]
    numbers = point_measures(confusion(["A"] * 5, ["A", "A", "B", "A", "B"], labels="AB", weights=weights))
    assert numbers["MCC", None] is None  # the judge does not vary
    assert numbers["precision", "B"] is None
    assert numbers["macro precision", None] is None
    assert numbers["kappa", None] == pytest.approx(0)
    same = point_measures(confusion(["A"] * 5, ["A"] * 5, labels="AB", weights=weights))
    assert same["kappa", None] is None
    assert same["agreement", None] == pytest.approx(1)
    assert same["specificity", "A"] is None
    empty = point_measures(confusion([], [], labels="AB"))
    assert set(empty.values()) == {None}


# --- published matrices -------------------------------------------------------------------------------------------


def tsv(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","))


def value(text):
    return text.strip() or None


def openqa_reference(folder):
    rows = tsv(folder / "NQ301_human.tsv")
    first, second, third = ([value(row[f"annotator{k}"]) for row in rows] for k in (1, 2, 3))
    return human_reference(list(zip(first, second, strict=True)), ("No", "Yes"), tiebreak=third).label


def openqa_judges(folder):
    davinci = (folder / "NQ301_text-davinci-003.tsv").read_text(encoding="utf-8")
    # header of five fields over rows of four: the verdict is the last field but one
    rows = list(csv.reader(davinci.splitlines(keepends=True), delimiter="\t"))[1:]
    bem_rows = tsv(folder / "NQ301_BEM.tsv")
    return {
        "gpt-4": [value(row["Acceptable?"]) for row in tsv(folder / "NQ301_gpt-4.tsv")],
        "davinci": [value(row[-2]) for row in rows],
        "bem": bem_rows,
    }


@pytest.mark.parametrize(
    ("judge", "kappa", "n", "table"),
    [("gpt-4", ".695", 1488, [[583, 89], [137, 679]]), ("davinci", ".675", 1490, [[581, 93], [149, 667]])],
)
def test_openqa_judges(shared_data, judge, kappa, n, table):
    folder = shared_data / "openqa-nq301"
    found = confusion(openqa_judges(folder)[judge], openqa_reference(folder), labels=("No", "Yes"))
    assert found.totals[:2].T.tolist() == table  # published with human rows
    assert found.totals[:2].sum() == n
    assert found.totals.sum() == 1490
    assert f"{point_measures(found)['kappa, labels only', None]:.3f}".lstrip("0") == kappa


def test_openqa_bem(shared_data):
    folder = shared_data / "openqa-nq301"
    rows = openqa_judges(folder)["bem"]
    column = next(name for name in rows[0] if "bem" in name.lower() or "prob" in name.lower())
    best = [max(pair[1] for pair in json.loads(row[column])) for row in rows]
    verdicts = ["Yes" if p > 0.5 else "No" for p in best]
    found = confusion(verdicts, openqa_reference(folder), labels=("No", "Yes"))
    assert found.totals.T.tolist() == [[602, 72], [217, 599]]
    assert round(point_measures(found)["kappa", None], 3) == 0.616


XSTEST = {"llama2orig": ".579", "llama2new": ".617", "mistralinstruct": ".064", "mistralguard": ".571", "gpt4": ".873"}
COMPLETIONS = ("1_full_compliance", "2_full_refusal", "3_partial_refusal")


def xstest(folder):
    models = {}
    for model in XSTEST:
        rows = tsv(folder / f"xstest_v2_completions_{model}_gpteval.csv")
        models[model] = ([row["gpt4_label"] for row in rows], [row["final_label"] for row in rows])
    return models


def test_xstest_gpt4_judge(shared_data):
    models = xstest(shared_data / "xstest")
    assert {label for _, human in models.values() for label in human} == set(COMPLETIONS)
    for model, (judge, human) in models.items():
        numbers = point_measures(confusion(judge, human, labels=COMPLETIONS))
        assert f"{numbers['kappa', None]:.3f}".lstrip("0") == XSTEST[model]
    judge, human = ([x for pair in models.values() for x in pair[k]] for k in (0, 1))
    whole = confusion(judge, human, labels=COMPLETIONS)
    assert (whole.n, whole.counts[3].tolist()) == (2250, [11, 0, 0])  # all eleven on what people call compliance
    numbers = point_measures(whole)
    assert round(numbers["kappa", None], 3) == 0.628
    assert round(numbers["kappa, labels only", None], 3) == 0.634
    weak = point_measures(confusion(*models["mistralinstruct"], labels=COMPLETIONS))
    assert round(weak["kappa, labels only", None], 3) == 0.082
    assert round(weak["agreement", None], 2) == 0.74


def test_wikiprofile_figure_14(shared_data):
    text = (shared_data / "wikiprofile" / "figure14_grader_confusion_percent.csv").read_text(encoding="utf-8")
    rows = list(csv.reader(text.splitlines()))
    names = rows[0][1:]
    percent = np.array([[float(x) for x in row[1:]] for row in rows[1:]])
    counts = np.rint(percent / 100 * 4160).astype(int)
    assert counts.sum() == 4159
    pairs = [(a[0], b, n) for a, line in zip(rows[1:], counts, strict=True) for b, n in zip(names, line, strict=True)]
    judge, human, weight = zip(*pairs, strict=True)
    numbers = point_measures(confusion(judge, human, labels=names, weights=weight))
    assert round(100 * numbers["agreement", None], 3) == 98.317
    assert round(numbers["kappa", None], 6) == 0.951431
    assert round(math.sqrt(kappa_variance(counts / 4159) / 4159), 6) == 0.005617
    raw = point_measures(confusion(judge, human, labels=names, weights=percent.ravel()))
    assert round(raw["kappa", None], 6) == 0.950965


def test_pandalm_judges(shared_data):
    folder = shared_data / "pandalm"
    files = {
        name: json.loads((folder / f"{name}-testset-v1.json").read_text()) for name in ("gpt-3.5-turbo", "pandalm-7b")
    }
    people = json.loads((folder / "testset-v1.json").read_text())
    ratings = [[str(row[f"annotator{k}"]) for k in (1, 2, 3)] for row in people]
    found = human_reference(ratings, ("0", "1", "2"))
    assert found.counts["unresolved"] == 0
    assert [found.label.count(label) for label in ("0", "1", "2")] == [105, 422, 472]
    mapped = {"Tie": "0"}
    judge = [mapped.get(row["gpt_result"], row["gpt_result"]) for row in files["gpt-3.5-turbo"]]
    whole = confusion(judge, found.label, labels=("0", "1", "2"))
    assert whole.totals[3:].sum() == 25
    numbers = point_measures(whole)
    assert round(numbers["kappa", None], 4) == 0.4755
    assert round(numbers["kappa, labels only", None], 4) == 0.4929
    unmapped = [row["gpt_result"] for row in files["gpt-3.5-turbo"]]
    assert round(point_measures(confusion(unmapped, found.label, labels=("0", "1", "2")))["kappa", None], 4) == 0.4705
    panda = confusion([str(row["pandalm_result"]) for row in files["pandalm-7b"]], found.label, labels=("0", "1", "2"))
    assert panda.totals.T.tolist() == [[32, 35, 38], [40, 298, 84], [35, 100, 337]]
    assert round(point_measures(panda)["kappa", None], 4) == 0.4354


# --- warnings -----------------------------------------------------------------------------------------------------


def warned(judge, human, labels="AB"):
    return judge_warnings(confusion(judge, human, labels=labels), "gpt")


def test_constant_judge_is_named():
    assert warned("AAAA", "AABB") == ("judge gpt is constant: it says A whatever the response is",)
    assert "nearly constant" in warned("A" * 199 + "B", "A" * 150 + "B" * 50)[0]
    assert warned("AAAA", "AAAA") == ()  # people do not vary either: nothing to blame the judge for


def test_reversed_judge_is_named_with_the_reading_that_would_help():
    (text,) = warned("AABBAABBAB", "BBAABBAABB")
    assert text.startswith("judge gpt agrees less than chance would")
    assert "the labels may be reversed" in text
    assert "A as B, B as A" in text or "B as A, A as B" in text
    assert "90%" in text


def test_mostly_not_a_label_is_named():
    (text,) = warned(["A", "B", "sorry", "sorry", None, None], "AABBAB")
    assert (
        "judge gpt: 67% of its outputs are no label ((not a label) 33%, (missing) 33%; 4 of 6 labelled units)" in text
    )


def test_good_judge_has_no_warning():
    assert warned("AABBAB", "AABBAA") == ()


def test_mistral_trap_counts(shared_data):
    # 74 % raw agreement with kappa .06: high agreement alone is no praise, and no warning is wrong here either
    judge, human = xstest(shared_data / "xstest")["mistralinstruct"]
    assert Counter(human)[COMPLETIONS[0]] == 374
    assert judge_warnings(confusion(judge, human, labels=COMPLETIONS), "gpt-4") == ()
