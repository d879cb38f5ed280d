"""The probes, to every printed digit: coefficients, standard errors, and inputs on which other tools go wrong."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import agreement as ag
from tests.agreement.probes import CODERS, UNITS, VALUES

COEFFICIENTS = {
    "pct": ag.percent_agreement,
    "cohen": ag.cohen_kappa,
    "fleiss": ag.fleiss_kappa,
    "ac1": ag.gwet_ac,
    "bp": ag.brennan_prediger,
    **{f"alpha_{level}": (ag.krippendorff_alpha, level) for level in ("nominal", "ordinal", "interval", "ratio")},
}


def compute(case: str, key: str) -> ag.Coefficient:
    units = UNITS[case]
    if key.startswith("alpha_"):
        return ag.krippendorff_alpha(units, level=key.removeprefix("alpha_"))
    if key.startswith("ac2_"):
        return ag.gwet_ac(units, weights=key.removeprefix("ac2_"))
    if key.startswith("wk_"):
        _, weights, scale = key.split("_")
        return ag.cohen_kappa(*CODERS[case], weights=weights, distance={"idx": "positions", "val": "values"}[scale])
    if key == "cohen":
        return ag.cohen_kappa(*CODERS[case])
    return COEFFICIENTS[key](units)


VALUE_KEYS = [(case, key) for case, row in VALUES.items() for key in row if not key.endswith(("_se", "_se0"))]


@pytest.mark.parametrize(("case", "key"), [k for k in VALUE_KEYS if k[1] != "cohen" or len(CODERS[k[0]]) == 2])
def test_value(case, key):
    want = VALUES[case][key]
    if key.startswith("wk_") and len(CODERS[case]) != 2:
        pytest.skip("not two coders")
    got = compute(case, key)
    if want is None:
        assert got.value is None
        assert got.undefined
    else:
        assert got.value == pytest.approx(want, abs=5e-13)
        assert got.undefined is None


SE_KEYS = [(case, key) for case, row in VALUES.items() for key in row if key.endswith("_se")]


@pytest.mark.parametrize(("case", "key"), [k for k in SE_KEYS if k[1] != "cohen_se" or len(CODERS[k[0]]) == 2])
def test_standard_error(case, key):
    want, got = VALUES[case][key], compute(case, key.removesuffix("_se"))
    if want is None:
        assert got.se is None
    else:
        assert got.se == pytest.approx(want, abs=5e-13)


# Printed values that the full-precision fixture lacks: (case, call, value, standard error), digits as printed.
PRINTED = [
    ("kripp_wiki", {}, ag.krippendorff_alpha, 0.691358, 0.171261),
    ("gwet4", {}, ag.krippendorff_alpha, 0.743421, 0.145479),
    ("kripp5obs", {}, ag.krippendorff_alpha, 0.480530, 0.113560),
    ("fleiss1971", {}, ag.krippendorff_alpha, 0.433410, 0.054199),
    ("missing2", {}, ag.krippendorff_alpha, 0.573770, 0.283067),
    ("cohen1968", {}, ag.krippendorff_alpha, 0.488462, 0.052414),
    ("wiki_2x2", {}, ag.krippendorff_alpha, 0.400000, 0.131906),
    ("sexualfun", {}, ag.krippendorff_alpha, 0.130024, 0.069683),
    ("mspatients", {}, ag.krippendorff_alpha, 0.180995, 0.056709),
    ("gwet4x4", {}, ag.krippendorff_alpha, 0.431618, 0.046336),
    ("gwet3x3", {}, ag.krippendorff_alpha, 0.797258, 0.059352),
    ("feinstein_a", {}, ag.krippendorff_alpha, 0.700752, 0.071944),
    ("feinstein_b", {}, ag.krippendorff_alpha, 0.317714, 0.136159),
    ("kripp_wiki", {}, ag.gwet_ac, 0.709164, 0.164737),
    ("kripp5obs", {}, ag.gwet_ac, 0.496622, 0.121973),
    ("kripp_wiki", {}, ag.fleiss_kappa, 0.686020, 0.180148),
    ("kripp5obs", {}, ag.fleiss_kappa, 0.457622, 0.120450),
    ("gwet4", {}, ag.conger_kappa, 0.762817, 0.149168),
    ("kripp_wiki", {}, ag.conger_kappa, 0.691383, 0.176587),
    ("fleiss1971", {}, ag.conger_kappa, 0.441809, 0.050794),
    ("kripp5obs", {}, ag.conger_kappa, 0.469274, 0.116663),
    ("cohen1968", {}, ag.conger_kappa, 0.491525, 0.051130),
    ("missing2", {}, ag.conger_kappa, 0.552795, 0.304479),
    ("kripp_canon", {"convention": "pooled"}, ag.fleiss_kappa, 0.760766, None),
    ("kripp_wiki", {"convention": "pooled"}, ag.fleiss_kappa, 0.690901, None),
    ("kripp5obs", {"convention": "pooled"}, ag.fleiss_kappa, 0.464262, None),
    ("missing2", {"convention": "pooled"}, ag.fleiss_kappa, 0.540984, None),
    ("one_disagree_in_many", {"convention": "pooled"}, ag.fleiss_kappa, 0.078095, None),
]


@pytest.mark.parametrize(("case", "options", "coefficient", "value", "se"), PRINTED)
def test_printed_value(case, options, coefficient, value, se):
    got = coefficient(UNITS[case], **options)
    assert got.value == pytest.approx(value, abs=5.1e-7)
    if se is not None:
        assert got.se == pytest.approx(se, abs=5.1e-7)


# Weighted kappa with its Fleiss-Cohen-Everitt standard error (R vcd, statsmodels and irrCAC agree to six digits).
WEIGHTED = [
    ("cohen1968", "linear", "positions", 0.473684, 0.054432),
    ("cohen1968", "quadratic", "positions", 0.454545, 0.066454),
    ("wiki_2x2", "linear", "positions", 0.4, 0.126996),
    ("wiki_2x2", "quadratic", "positions", 0.4, 0.126996),
    ("sexualfun", "linear", "positions", 0.237381, 0.078316),
    ("sexualfun", "quadratic", "positions", 0.332046, 0.097298),
    ("mspatients", "linear", "positions", 0.379731, 0.051667),
    ("mspatients", "quadratic", "positions", 0.524576, 0.060055),
    ("gwet4x4", "linear", "positions", 0.406811, 0.053388),
    ("gwet4x4", "quadratic", "positions", 0.383186, 0.065795),
    ("gwet3x3", "linear", "positions", 0.842902, 0.047872),
    ("gwet3x3", "quadratic", "positions", 0.892157, 0.035352),
    ("gap_scale", "linear", "positions", 0.586207, 0.205229),
    ("gap_scale", "quadratic", "positions", 0.727273, 0.152249),
    ("gap_scale", "linear", "values", 0.525424, 0.252897),
    ("gap_scale", "quadratic", "values", 0.608247, 0.240746),
    ("missing2", "linear", "positions", 0.432432, 0.323342),
    ("missing2", "quadratic", "positions", 0.285714, 0.451961),
]


@pytest.mark.parametrize(("case", "weights", "distance", "value", "se"), WEIGHTED)
def test_weighted_kappa_and_its_standard_error(case, weights, distance, value, se):
    got = ag.cohen_kappa(*CODERS[case], weights=weights, distance=distance)
    assert (got.value, got.se) == (pytest.approx(value, abs=5.1e-7), pytest.approx(se, abs=5.1e-7))
    assert f"{weights} weights on {distance}" in got.convention


def test_cohens_own_disagreement_weights():
    """Cohen (1968), v = 0 1 3 / 1 0 6 / 3 6 0: weighted kappa .348 and the Fleiss-Cohen-Everitt standard error."""
    got = ag.cohen_kappa(*CODERS["cohen1968"], weights=[[0, 1, 3], [1, 0, 6], [3, 6, 0]])
    assert (got.value, got.se) == (pytest.approx(0.347826, abs=5.1e-7), pytest.approx(0.075504, abs=5.1e-7))


def test_no_pair_of_ratings_has_no_value():
    for case in ("single_coder", "no_overlap"):
        for coefficient in (ag.percent_agreement, ag.fleiss_kappa, ag.gwet_ac, ag.krippendorff_alpha, ag.conger_kappa):
            assert coefficient(UNITS[case]).value is None


# --- inputs on which other tools go wrong ---------------------------------------------------------------------------

NINES = ([8, 9, 10, 10, 9, 8, 10, 9, 8, 8], [10, 9, 10, 8, 9, 8, 10, 8, 10, 8])


@pytest.mark.parametrize(
    ("level", "value"), [("nominal", 0.743421), ("ordinal", 0.815388), ("interval", 0.849107), ("ratio", 0.797403)]
)
def test_alpha_with_gaps_at_each_level(level, value):
    assert ag.krippendorff_alpha(UNITS["kripp_canon"], level=level).value == pytest.approx(value, abs=5.1e-7)


def test_ordinal_is_not_interval():
    assert ag.krippendorff_alpha(UNITS["fleiss1971"], level="ordinal").value == pytest.approx(0.335858, abs=5.1e-7)


def test_none_is_not_a_label():
    assert ag.fleiss_kappa(UNITS["kripp_canon"]).value == pytest.approx(0.761169, abs=5.1e-7)
    assert ag.fleiss_kappa(UNITS["no_overlap"]).value is None


def test_ac2_is_not_weighted_kappa():
    assert ag.gwet_ac(UNITS["feinstein_b"], weights="quadratic").value == pytest.approx(0.808)


def test_numbers_sort_as_numbers():
    """8, 9, 10: sorted as text 10 would come first."""
    assert ag.cohen_kappa(*NINES, weights="linear").value == pytest.approx(0.255319, abs=5.1e-7)


def test_prevalence_index():
    """|80 - 5| / 100, not |agree - disagree| / n."""
    table = ag.from_table([[80, 10], [5, 5]])
    assert ag.prevalence_bias(table)[1].prevalence == pytest.approx(0.75)
    assert ag.prevalence_bias(table)[1].bias == pytest.approx(0.05)


def test_numeric_levels_on_a_scale_with_gaps():
    assert ag.krippendorff_alpha(UNITS["fleiss1971"], level="ratio").value == pytest.approx(0.240010, abs=5.1e-7)
    assert ag.krippendorff_alpha(UNITS["gap_scale"], level="interval").value == pytest.approx(0.632258, abs=5.1e-7)
    assert ag.gwet_ac(UNITS["gap_scale"], weights="linear").value == pytest.approx(0.510204, abs=5.1e-7)


def test_coders_without_common_units_do_not_agree_perfectly():
    assert ag.cohen_kappa(*CODERS["no_overlap"]).value is None


@pytest.mark.parametrize("case", ["one_item_agree", "one_item_disagree"])
def test_one_unit(case):
    for key in ("pct", "cohen", "fleiss", "ac1", "bp", "alpha_nominal", "alpha_interval"):
        want, got = VALUES[case][key], compute(case, key)
        assert got.value == (None if want is None else pytest.approx(want))
        assert (got.undefined is None) == (want is not None)


@pytest.mark.parametrize("case", ["all_one", "all_one_3r"])
def test_one_label_throughout(case):
    units = UNITS[case]
    assert ag.percent_agreement(units).value == 1
    for got in (
        ag.fleiss_kappa(units),
        ag.conger_kappa(units),
        ag.light_kappa(units),
        ag.scott_pi(units),
        ag.gwet_ac(units),
        ag.gwet_ac(units, weights="linear"),
        ag.gwet_ac(units, weights="quadratic"),
        ag.brennan_prediger(units),
        *(ag.krippendorff_alpha(units, level=level) for level in ("nominal", "ordinal", "interval", "ratio")),
    ):
        assert got.value is None, got
        assert got.undefined == "no variation: chance-corrected agreement cannot be computed"
    assert ag.cohen_kappa(*CODERS["all_one"]).value is None
    assert ag.cohen_kappa(*CODERS["all_one"], labels=[1, 2, 3]).value is None
    assert ag.cohen_kappa(*CODERS["all_one"], weights="quadratic").value is None


def test_declared_labels_that_nobody_used_count_for_ac1_and_brennan_prediger():
    """q = 4, all ratings one label: chance agreement 0 for AC1 and 1/4 for Brennan-Prediger, both 1."""
    for coefficient, chance in ((ag.gwet_ac, 0.0), (ag.brennan_prediger, 0.25)):
        got = coefficient(UNITS["all_one"], labels=[1, 2, 3, 4])
        assert (got.value, got.expected) == (1.0, pytest.approx(chance))
        assert "4 labels declared" in got.convention
    assert ag.gwet_ac(UNITS["all_one"], labels=[1]).value is None


def test_only_one_value_where_pairs_are():
    units = UNITS["pair_only_one_value"]
    assert ag.krippendorff_alpha(units).value is None
    assert ag.cohen_kappa(*CODERS["pair_only_one_value"]).value is None
    assert ag.fleiss_kappa(units).value == 1
    assert ag.gwet_ac(units).value == 1


def test_single_rated_units_count_towards_ac1_label_shares():
    assert ag.gwet_ac(UNITS["gwet4"]).value == pytest.approx(0.775444, abs=5.1e-7)
    assert ag.gwet_ac(UNITS["missing2"]).value == pytest.approx(0.590374, abs=5.1e-7)


@pytest.mark.parametrize("case", ["one_const", "perfect_agree", "missing2"])
@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_an_undefined_draw_does_not_take_the_estimate_with_it(case, interval):
    for coefficient, key in ((ag.cohen_kappa, "cohen"), (ag.gwet_ac, "ac1"), (ag.krippendorff_alpha, "alpha_nominal")):
        got = coefficient(UNITS[case], interval=interval)
        assert got.value == pytest.approx(VALUES[case][key])
        assert got.draws == 2000
        assert got.low is not None or got.undefined_draws > 100


def test_any_missing_rating_is_fine_for_every_coefficient():
    """[1, None, 1] against [1, 2, 1]: the pairs agree, None is no label."""
    units = [[1, 1], [None, 2], [1, 1]]
    assert ag.percent_agreement(units).value == 1
    for coefficient in (ag.scott_pi, ag.fleiss_kappa, ag.brennan_prediger, ag.gwet_ac):
        assert coefficient(units, labels=[1, 2]).value in (1.0, None)
    assert ag.fleiss_kappa(units).value == 1
    assert ag.cohen_kappa([1, 2, None, 1], [1, 2, 1, None]).value == 1


def test_a_unit_rated_twice_by_one_coder_is_refused():
    with pytest.raises(ag.AgreementError, match=r"Unit 'u1' has 2 ratings by coder 'A'"):
        ag.from_long(["u1", "u1", "u1"], ["A", "A", "B"], [1, 2, 1])


def test_ragged_and_empty_counts():
    """Label counts of units with unlike numbers of ratings; and no unit at all."""
    ragged = ag.from_counts([[2, 0], [1, 2], [0, 3]])
    assert ag.fleiss_kappa(ragged).value == pytest.approx(
        ag.fleiss_kappa([[1, 1, None], [1, 2, 2], [2, 2, 2]]).value  # the same ratings by name
    )
    assert ag.fleiss_kappa(np.empty((0, 3))).undefined == "no units"


def test_nan_is_missing_in_an_array():
    """[[1, 2], [nan, 2], [1, 1]]: Gwet's form 0, pooled form -1/3; NaN as a third label would give -.090909."""
    ratings = np.array([[1, 2], [np.nan, 2], [1, 1]])
    assert ag.fleiss_kappa(ratings).value == pytest.approx(0.0, abs=1e-12)
    assert ag.fleiss_kappa(ratings, convention="pooled").value == pytest.approx(-1 / 3)


def test_pairs_with_a_missing_label_are_left_out_and_counted():
    got = ag.cohen_kappa([1, 2, None, 1, 2], [1, 2, 1, np.nan, 1])
    assert (got.n_units, got.n_ignored) == (3, 2)


def test_ordered_weights_on_text_need_the_order():
    """bad < ok < good; alphabetical order would give 0 instead of .294118."""
    a = ["bad", "ok", "good", "good", "ok", "bad", "good", "ok"]
    b = ["ok", "ok", "good", "bad", "good", "bad", "good", "bad"]
    with pytest.raises(ag.AgreementError, match="order of text labels is not known"):
        ag.cohen_kappa(a, b, weights="quadratic")
    in_order = ag.cohen_kappa(a, b, weights="quadratic", labels=["bad", "ok", "good"])
    as_numbers = [[{"bad": 1, "ok": 2, "good": 3}[x] for x in labels] for labels in (a, b)]
    assert in_order.value == pytest.approx(ag.cohen_kappa(*as_numbers, weights="quadratic").value)


@pytest.mark.parametrize(
    "ratings",
    [
        [["a", "a"], [None, "b"], ["b", "b"], ["a", "b"]],
        np.array([["a", "a"], [None, "b"], ["b", "b"], ["a", "b"]], dtype=object),
        pd.DataFrame({"x": ["a", None, "b", "a"], "y": ["a", "b", "b", "b"]}, dtype="string"),
        pd.DataFrame({"x": ["a", None, "b", "a"], "y": ["a", "b", "b", "b"]}, dtype="category"),
        pd.DataFrame({"x": [True, None, False, True], "y": [True, False, False, False]}, dtype="boolean"),
        pd.DataFrame({"x": [True, None, False, True], "y": [True, False, False, False]}, dtype="object"),
    ],
)
def test_missing_in_every_container(ratings):
    """Three units with pairs, n = 6 ratings (three of each): alpha = 1 - 5 * 2 / (36 - 18) = .444444."""
    assert ag.krippendorff_alpha(ratings).value == pytest.approx(4 / 9)


def test_bool_arrays_are_labels():
    got = ag.krippendorff_alpha(np.array([[True, True], [False, False], [True, False]]))
    assert got.labels == (False, True)
    assert got.value == pytest.approx(4 / 9)


def test_the_text_nan_is_a_label():
    ratings = [["nan", "nan"], ["x", "x"], ["nan", "x"]]
    for form in (ratings, np.array(ratings), pd.DataFrame(ratings), pd.DataFrame(ratings, dtype="string")):
        got = ag.krippendorff_alpha(form)
        assert got.labels == ("nan", "x")
        assert got.value == pytest.approx(4 / 9)
    assert ag.gwet_ac(np.array([["", ""], ["x", ""]])).labels == ("", "x")


def test_numbers_are_nominal_until_a_level_is_named():
    units = UNITS["gap_scale"]
    assert ag.krippendorff_alpha(units).value == pytest.approx(VALUES["gap_scale"]["alpha_nominal"])
    assert "nominal level" in ag.krippendorff_alpha(units).convention


def test_transposed_ratings_show_in_the_result():
    """Two coders over four units: by name there is no doubt; as a bare array the reading is said."""
    by_name = ag.krippendorff_alpha({"ann": [1, 2, 3, 3], "bob": [1, 2, 3, 2]})
    assert by_name.value == pytest.approx(0.666667, abs=5.1e-7)
    assert (by_name.n_units, by_name.n_coders, by_name.notes) == (4, 2, ())
    wrong_way = ag.krippendorff_alpha([[1, 2, 3, 3], [1, 2, 3, 2]])
    assert wrong_way.notes == ("read as 2 units by 4 coders: transpose if rows are coders",)


def test_scores_scaled_to_the_unit_interval_are_labels():
    a, b = ([value / 10 for value in labels] for labels in CODERS["nine_ten"])
    assert ag.cohen_kappa(a, b).value == pytest.approx(0.255814, abs=5.1e-7)
    assert ag.cohen_kappa(*CODERS["nine_ten"]).value == pytest.approx(0.255814, abs=5.1e-7)


def test_one_unit_of_disagreement_is_zero_not_nan():
    assert ag.krippendorff_alpha(UNITS["one_item_disagree"]).value == 0
    assert ag.cohen_kappa(*CODERS["one_item_disagree"]).value == 0


SE_NULL = [(case, row["cohen_se0"]) for case, row in VALUES.items() if row.get("cohen_se0") is not None]


@pytest.mark.parametrize(("case", "se"), [pair for pair in SE_NULL if len(CODERS[pair[0]]) == 2])
def test_standard_error_under_independence(case, se):
    assert ag.cohen_kappa(*CODERS[case]).se_null == pytest.approx(se, abs=5e-13)


def test_standard_error_under_independence_with_weights():
    got = ag.cohen_kappa(*CODERS["cohen1968"], weights=[[0, 1, 3], [1, 0, 6], [3, 6, 0]])
    assert got.se_null == pytest.approx(0.059720, abs=5.1e-7)
