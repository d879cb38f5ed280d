"""Design weights, by hand."""

import pytest

from agreement.design import design_weights
from agreement.errors import AgreementError


def test_complete_coding_is_the_inverse_probability():
    found = design_weights([0.5, 0.25], [True, True], ["a", "b"])
    assert found.weights.tolist() == [2, 4]
    assert found.scaled == ()


def test_unfinished_coding_scales_within_the_stratum_and_names_it():
    # stratum a: 4 drawn at 1/2 (8 records), 2 labelled: each stands for 4; stratum b is complete
    found = design_weights([0.5] * 4 + [0.25], [True, False, True, False, True], ["a"] * 4 + ["b"])
    assert found.weights.tolist() == [4, 0, 4, 0, 4]
    assert [(s.stratum, s.drawn, s.labelled, s.factor) for s in found.scaled] == [("a", 4, 2, 2.0)]
    assert found.notes == ("stratum a: 2 of 4 drawn units are labelled; their weights are scaled by 2",)


def test_overlap_multiplies_both_chances_and_leaves_units_outside_it_out():
    found = design_weights([0.5] * 4, [True] * 4, ["a"] * 4, overlap=[0.5, 0.5, 0, 0])
    assert found.weights.tolist() == [4, 4, 0, 0]
    assert found.scaled == ()


def test_stratum_without_a_label_is_said():
    found = design_weights([0.5, 0.5], [False, True], ["a", "b"])
    assert found.scaled[0].factor is None
    assert "none of 1 drawn units" in found.notes[0]


@pytest.mark.parametrize("bad", [0.0, 1.2, float("nan"), -1])
def test_bad_probability_is_refused_with_its_unit(bad):
    with pytest.raises(AgreementError, match="unit 1: inclusion probability"):
        design_weights([0.5, bad], [True, True], ["a", "a"])


def test_lengths_must_agree():
    with pytest.raises(AgreementError, match="one per drawn unit"):
        design_weights([0.5], [True, True], ["a"])
