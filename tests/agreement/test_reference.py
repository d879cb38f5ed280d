"""The human reference, rule by rule, and its other treatments."""

import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agreement.errors import AgreementError
from agreement.reference import (
    STATUSES,
    coder_reference,
    human_reference,
    reference_treatments,
    shares_reference,
)

ABC = ("A", "B", "C")


def test_each_rule_by_hand():
    ratings = [
        ["A", "A", None],  # all agree
        ["A", "B", "A"],  # strict majority
        ["A", "B", None],  # unresolved: 1/2 each
        ["A", "B", "C"],  # unresolved: 1/3 each
        ["B", None, None],  # one coder
        [None, None, None],  # nothing
        ["A", "B", None],  # adjudicated C
        [None, float("nan"), None],  # adjudicated without a label
    ]
    final = [None, None, None, None, None, None, "C", "A"]
    found = human_reference(ratings, ABC, adjudicated=final)
    assert found.status == (
        "agreed", "majority", "unresolved", "unresolved", "single coder", "unlabelled", "adjudicated", "adjudicated",
    )  # fmt: skip
    assert found.label == ("A", "A", None, None, "B", None, "C", "A")
    assert found.shares[2].tolist() == [0.5, 0.5, 0]
    assert found.shares[3] == pytest.approx([1 / 3] * 3)
    assert found.shares[5].tolist() == [0, 0, 0]
    assert [found.counts[status] for status in STATUSES] == [2, 1, 1, 1, 0, 2, 1]
    dropped = found.without_unresolved()
    assert dropped.usable.sum() == 5
    assert dropped.counts["unresolved"] == 2


def test_two_of_four_is_no_strict_majority():
    found = human_reference([["A", "A", "B", "C"]], ABC)
    assert found.status == ("unresolved",)
    assert found.shares[0].tolist() == [0.5, 0.25, 0.25]


def test_tie_breaker_counts_only_where_the_main_coders_differ():
    ratings = [["A", "A"], ["A", "B"], ["A", "B"], ["A", None]]
    found = human_reference(ratings, ABC, tiebreak=["B", "B", "C", "B"])
    assert found.label == ("A", "B", None, "A")
    assert found.status == ("agreed", "majority", "unresolved", "single coder")
    assert found.shares[2] == pytest.approx([1 / 3] * 3)


def test_stale_labels_are_left_out_and_counted():
    found = human_reference([["A", "B"], ["A", "B"]], ABC, stale=[[False, True], [True, True]])
    assert found.label == ("A", None)
    assert found.status == ("single coder", "unlabelled")
    assert found.stale == 3


def test_text_nan_is_a_label_and_undeclared_labels_are_refused():
    assert human_reference([["nan"]], ("nan", "x")).label == ("nan",)
    with pytest.raises(AgreementError, match="unit 1, coder 0: label 'D' is not declared"):
        human_reference([["A"], ["D"]], ABC)
    with pytest.raises(AgreementError, match="adjudicated has 1 entries for 2 units"):
        human_reference([["A"], ["B"]], ABC, adjudicated=["A"])
    with pytest.raises(AgreementError, match="unit 1 has 1 ratings"):
        human_reference([["A", "B"], ["B"]], ABC)
    with pytest.raises(AgreementError, match="one flag per rating"):
        human_reference([["A"], ["B"]], ABC, stale=[True, False])


def test_treatments_of_disagreement():
    ratings = [["A", "A", "A"], ["A", "B", "B"], ["B", "B", "B"], ["C", "A", "B"]]
    found = reference_treatments(ratings, ABC, coders=["x", "y", "z"], adjudicated=[None, "A", None, None])
    assert list(found) == ["reference", "coder x", "coder y", "coder z", "majority", "adjudicated", "dawid-skene"]
    assert found["reference"].label == ("A", "A", "B", None)
    assert found["coder x"].label == ("A", "A", "B", "C")
    assert found["majority"].label == ("A", "B", "B", None)
    assert found["adjudicated"].label == ("A", "A", "B", None)
    assert found["adjudicated"].counts["unlabelled"] == 1
    assert found["dawid-skene"].label[:3] == ("A", "B", "B")
    assert "adjudicated" not in reference_treatments(ratings, ABC)


def test_stale_labels_leave_every_treatment():
    found = reference_treatments([["A", "B"]], ABC, stale=[[True, False]])
    assert found["coder 0"].label == (None,)
    assert found["majority"].label == ("B",)


def test_shares_reference_splits_ties():
    found = shares_reference([[0.5, 0.5, 0], [0.9, 0.1, 0], [0, 0, 0]], ABC, "model")
    assert found.label == (None, "A", None)
    assert found.status == ("unresolved", "consensus", "unlabelled")


def test_coder_alone():
    assert coder_reference([["A", "B"], [None, "C"]], ABC, 1, name="eva").variant == "coder eva"
    assert coder_reference([["A", "B"], [None, "C"]], ABC, 0).label == ("A", None)


@given(st.lists(st.lists(st.sampled_from(["A", "B", "C", None]), min_size=3, max_size=3), min_size=1, max_size=20))
def test_counts_in_are_counts_out(ratings):
    found = human_reference(ratings, ABC)
    assert sum(found.counts.values()) == len(ratings)
    assert set(found.status) <= set(STATUSES)
    assert found.shares.sum(axis=1) == pytest.approx([float(any(row)) for row in ratings])
    # the order of coders does not matter
    assert np.array_equal(human_reference([row[::-1] for row in ratings], ABC).shares, found.shares)


def test_openqa_reference_is_the_published_one(shared_data):
    # 1,490 answers: a third coder labelled 195 disagreements, 7 rows that coder 2 left blank and 21 rows on which the
    # first two agree (differing on 18 of them). The published column is reached only if the third coder counts on the
    # disagreements alone.
    path = shared_data / "openqa-nq301" / "NQ301_human.tsv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    first, second, third = ([row[f"annotator{k}"].strip() or None for row in rows] for k in (1, 2, 3))
    found = human_reference(list(zip(first, second, strict=True)), ("No", "Yes"), tiebreak=third)
    assert len(rows) == 1490
    assert (found.counts["agreed"], found.counts["single coder"], found.counts["majority"]) == (1288, 7, 195)
    assert list(found.label) == [row["Acceptable?"] for row in rows]


def test_dawid_and_skene_with_two_coders_is_marked_as_not_identified():
    two = reference_treatments([["A", "A"], ["B", "B"], ["A", "B"]], ABC)
    assert "not identified" in (two["dawid-skene"].caution or "")
    assert two["majority"].caution is None
    three = reference_treatments([["A", "A", "A"], ["B", "B", "B"], ["A", "B", "B"]], ABC)
    assert three["dawid-skene"].caution is None
