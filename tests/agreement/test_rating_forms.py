"""The forms in which ratings come, and one clear line for each that cannot be read."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import agreement as ag

UNITS = [[1, 1, None], [2, 1, 2], [2, 2, 2], [None, 1, 1], [3, 3, None]]
FORMS = {
    "rows": UNITS,
    "tuples": tuple(tuple(unit) for unit in UNITS),
    "float array": np.array(UNITS, dtype=float),
    "fortran array": np.asfortranarray(np.array(UNITS, dtype=float)),
    "object array": np.array(UNITS, dtype=object),
    "masked array": np.ma.masked_invalid(np.array(UNITS, dtype=float)),
    "masked integers": np.ma.array([[x or 0 for x in u] for u in UNITS], mask=[[x is None for x in u] for u in UNITS]),
    "frame": pd.DataFrame(UNITS, columns=["a", "b", "c"]),
    "nullable frame": pd.DataFrame(UNITS, columns=["a", "b", "c"]).astype("Int64"),
    "mixed frame": pd.DataFrame(UNITS, columns=["a", "b", "c"]).astype({"b": "int64"}),
    "categories": pd.DataFrame(UNITS, columns=["a", "b", "c"]).astype("category"),
    "by coder": {"a": [u[0] for u in UNITS], "b": np.array([u[1] for u in UNITS]), "c": [u[2] for u in UNITS]},
    "by coder and unit": {
        name: {f"u{i}": u[k] for i, u in enumerate(UNITS) if u[k] is not None} for k, name in enumerate("abc")
    },
    "long": ag.from_long(
        [i for i, u in enumerate(UNITS) for x in u if x is not None],
        [k for u in UNITS for k, x in enumerate(u) if x is not None],
        [x for u in UNITS for x in u if x is not None],
    ),
    "read before": ag.read_ratings(UNITS),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same(form):
    for coefficient in (ag.krippendorff_alpha, ag.conger_kappa, ag.light_kappa, ag.gwet_ac):
        got, want = coefficient(FORMS[form]), coefficient(UNITS)
        assert (got.value, got.se, got.n_units, got.labels) == (
            pytest.approx(want.value),
            pytest.approx(want.se),
            want.n_units,
            (1, 2, 3),
        )
    interval = ag.krippendorff_alpha(FORMS[form], level="interval")
    assert interval.value == pytest.approx(ag.krippendorff_alpha(UNITS, level="interval").value)


@pytest.mark.parametrize(
    "relabel",
    [
        lambda x: x + 1_000_000_000,
        lambda x: x * 1_000_003,
        lambda x: x + 0.5,
        lambda x: -x,
        lambda x: f"label number {x}",
        lambda x: "abc"[x - 1],
        lambda x: ("tuple", x),
        lambda x: np.datetime64("2026-01-01") + np.timedelta64(x, "D"),
    ],
)
def test_any_hashable_is_a_label(relabel):
    relabelled = [[None if x is None else relabel(x) for x in unit] for unit in UNITS]
    want = ag.krippendorff_alpha(UNITS).value
    assert ag.krippendorff_alpha(relabelled).value == pytest.approx(want)
    if not isinstance(relabel(1), tuple):
        complete = [unit for unit in relabelled if None not in unit]
        assert ag.krippendorff_alpha(np.array(complete)).value == ag.krippendorff_alpha(complete).value


@pytest.mark.parametrize(
    "kind", ["int8", "uint8", "int16", "uint32", "int64", "uint64", "float32", "float64", "float16"]
)
def test_every_number_type(kind):
    complete = [[1, 2, 1], [2, 2, 2], [3, 3, 1], [127, 127, 127], [0, 0, 1]]
    got = ag.krippendorff_alpha(np.array(complete, dtype=kind))
    assert got.value == pytest.approx(ag.krippendorff_alpha(complete).value)
    assert got.labels == (0, 1, 2, 3, 127)


def test_many_coders_and_many_labels():
    """Too many possible patterns for a table, and too many for one 64-bit key."""
    rng = np.random.default_rng(0)
    ratings = rng.integers(0, 200, (300, 40))
    text = ratings.astype(str)
    same = ag.krippendorff_alpha(ratings)
    assert ag.krippendorff_alpha(text).value == pytest.approx(same.value)
    assert ag.krippendorff_alpha(ratings.tolist()).value == pytest.approx(same.value)
    assert same.n_ratings == 12_000


def test_text_arrays_with_more_labels_than_are_looked_for():
    rng = np.random.default_rng(0)
    codes = np.concatenate([np.zeros((1500, 2), int), rng.integers(0, 90, (1500, 2))])
    assert ag.gwet_ac(codes.astype(str)).value == pytest.approx(ag.gwet_ac(codes).value)


@pytest.mark.parametrize("missing", [None, np.nan, float("nan"), pd.NA, pd.NaT, np.datetime64("NaT", "ns")])
def test_every_missing_value_is_missing(missing):
    got = ag.fleiss_kappa([["a", "a"], ["b", missing], ["b", "b"]])
    assert (got.labels, got.n_ratings, got.n_units) == (("a", "b"), 5, 3)


def test_whole_floats_are_the_integers_they_were():
    assert ag.gwet_ac(np.array([[1.0, 2.0], [np.nan, 1.0]])).labels == (1, 2)
    assert ag.gwet_ac(np.array([[1.0, 2.0], [np.nan, 1.0]]), labels=[1, 2, 3]).labels == (1, 2, 3)


@pytest.mark.parametrize(
    "values",
    [
        (0, 1, 2, 3),
        (0, 1, 254, 255),
        (0, 1, 255, 256),
        (-1, 0, 1, 2),
        (0, 200, 210, 250),
        (1, 2, 2.5, 3),
        (1, 2, 3, True),
    ],
)
def test_a_list_of_numbers_is_read_as_the_array_is(values):
    """Lists of one coder, of both, and the float array that holds the same numbers; 200 + 250 is over one byte."""
    a, b = [values[i] for i in (0, 1, 2, 3, 0, 2)], [values[i] for i in (0, 1, 2, 0, 1, 3)]
    arrays = [np.array(side, dtype=float) for side in (a, b)]
    expected = ag.cohen_kappa(*arrays), ag.krippendorff_alpha(np.column_stack(arrays), level="interval")
    for first, second in ((a, b), (a, arrays[1]), (arrays[0], b)):
        assert ag.cohen_kappa(first, second) == expected[0]
        assert ag.krippendorff_alpha({0: first, 1: second}, level="interval").value == expected[1].value


def test_ratings_read_once_serve_all():
    table = ag.read_ratings(UNITS, labels=[1, 2, 3, 4], unit_weights=[1, 2, 1, 1, 3])
    for coefficient in (ag.krippendorff_alpha, ag.gwet_ac, ag.conger_kappa):
        want = coefficient(UNITS, labels=[1, 2, 3, 4], unit_weights=[1, 2, 1, 1, 3])
        assert coefficient(table) == want


def test_cohen_takes_two_columns_or_two_sequences():
    a, b = ["x", "y", "y", None], ["x", "y", "x", "x"]
    want = ag.cohen_kappa(a, b)
    assert ag.cohen_kappa(np.array(a, object), b).value == want.value
    assert ag.cohen_kappa(pd.Series(a), pd.Series(b)).value == want.value
    assert ag.cohen_kappa([list(pair) for pair in zip(a, b, strict=True)]).value == want.value
    assert ag.cohen_kappa({"ann": a, "bob": b}).value == want.value


REFUSED = [
    (lambda: ag.gwet_ac([[1, 2], [1]]), r"Row 1 of the ratings has 1 labels, row 0 has 2\. Put None"),
    (
        lambda: ag.gwet_ac([1, 2, 1]),
        r"Row 0 of the ratings is 1, expected one label a coder\. Ratings are units x coders",
    ),
    (lambda: ag.gwet_ac(["ab", "ba"]), r"Row 0 of the ratings is 'ab'"),
    (lambda: ag.gwet_ac(np.zeros(3)), r"Ratings have 1 dimension\(s\), expected 2"),
    (lambda: ag.gwet_ac("abc"), r"Ratings cannot be read from a str"),
    (lambda: ag.gwet_ac(5), r"Ratings cannot be read from a int"),
    (lambda: ag.gwet_ac([[{}, 1]]), r"A rating is not a label: unhashable type: 'dict'"),
    (lambda: ag.gwet_ac(np.array([[1.0, np.inf]])), r"A rating is infinite"),
    (lambda: ag.gwet_ac(np.array([[0.5, np.inf], [0.25, 1]])), r"A rating is infinite"),
    (lambda: ag.gwet_ac(np.array([[1j, 2]])), r"numpy type complex128 cannot be labels"),
    (lambda: ag.gwet_ac({"a": [1, 2], "b": [1]}), r"Coders have different numbers of labels: {'a': 2, 'b': 1}"),
    (
        lambda: ag.gwet_ac(pd.DataFrame([[1, 2]], columns=["a", "a"])),
        r"Two columns of the DataFrame have the same name",
    ),
    (lambda: ag.cohen_kappa([1, 2], [1]), r"The two coders have 2 and 1 labels"),
    (lambda: ag.cohen_kappa([1, 2], 5), r"labels cannot be read from a int"),
    (lambda: ag.cohen_kappa(pd.Series([1, 2]), pd.Series([1, 2], index=[5, 6])), r"different indexes"),
    (lambda: ag.cohen_kappa([[1, 2, 3]]), r"needs two coders, the ratings have 3\. Use conger_kappa"),
    (
        lambda: ag.gwet_ac(UNITS, labels=[1, 2]),
        r"Label 3 is not among the declared labels \[1, 2\]: 2 rating\(s\), the first",
    ),
    (lambda: ag.gwet_ac(UNITS, labels=["1", "2", "3"]), r"The declared '1' is str, the rating is int: convert one"),
    (lambda: ag.gwet_ac(UNITS, labels=[1, 2, 3, 1]), r"names a label twice"),
    (lambda: ag.gwet_ac(UNITS, labels=[]), r"declares no set of labels"),
    (lambda: ag.gwet_ac([["a", "b"]], labels="ab"), r"declares no set of labels"),
    (lambda: ag.gwet_ac(UNITS, labels=[1, 2, 3, None]), r"A missing value cannot be a declared label"),
    (lambda: ag.gwet_ac(UNITS, weights="squared"), r"weights='squared' is unknown\. Use one of nominal, linear"),
    (lambda: ag.gwet_ac(UNITS, interval="bayes"), r"interval='bayes' is unknown"),
    (lambda: ag.gwet_ac(UNITS, confidence=95), r"confidence=95 must lie between 0 and 1\. For 95 % give 0.95"),
    (lambda: ag.gwet_ac(UNITS, unit_weights=[1, 2]), r"unit_weights has shape \(2,\), expected \(5,\)"),
    (lambda: ag.gwet_ac(UNITS, unit_weights=[1, 1, 0, 1, 1]), r"unit_weights\[2\] is 0.0, expected a positive number"),
    (lambda: ag.gwet_ac(UNITS, items=["a", "b"]), r"items has 2 entries, expected 5"),
    (lambda: ag.gwet_ac(UNITS, strata=["a", "b", None, "a", "b"]), r"strata\[2\] is missing"),
    (lambda: ag.gwet_ac(UNITS, population=3), r"is smaller than"),
    (lambda: ag.gwet_ac(UNITS, strata=list("aabbb"), population=9), r"there are several strata"),
    (lambda: ag.gwet_ac(UNITS, strata=list("aabbb"), population={"a": 9}), r"no size for stratum 'b'"),
    (lambda: ag.gwet_ac(ag.read_ratings(UNITS), unit_weights=[1] * 5), r"Give them to read_ratings"),
    (lambda: ag.krippendorff_alpha(UNITS, level="metric"), r"level='metric' is unknown"),
    (lambda: ag.krippendorff_alpha([["a", "b"]], level="interval"), r"Ratings must be numbers here; 'a' is not"),
    (lambda: ag.krippendorff_alpha([["a", "b"], ["c", "a"]], level="ordinal"), r"order of text labels is not known"),
    (
        lambda: ag.krippendorff_alpha([[-1, 2], [1, 2]], level="ratio"),
        r"A ratio scale has no negative values; -1 is one",
    ),
    (lambda: ag.cohen_kappa([1, 2], [1, 2], weights=[[1, 0]]), r"shape \(1, 2\), expected \(2, 2\)"),
    (
        lambda: ag.cohen_kappa([1, 2], [1, 2], weights=[[1, 0], [0, 0.5]]),
        r"neither ones nor zeros on its whole diagonal",
    ),
    (lambda: ag.cohen_kappa([1, 2], [1, 2], weights=[[1, -1], [0, 1]]), r"Weights must be finite and 0 or more"),
    (lambda: ag.from_table([[1, 2, 3], [1, 2, 3]]), r"The table has shape \(2, 3\), expected a square one"),
    (lambda: ag.from_table([[0.5, 0.5], [0, 0]]), r"table must hold whole numbers"),
    (lambda: ag.from_table([[1, 2], [3, 4]], labels=["a"]), r"The table has 2 rows, labels= has 1"),
    (lambda: ag.cohen_kappa(ag.from_counts([[1, 1]])), r"needs two coders"),
    (lambda: ag.conger_kappa(ag.from_counts([[1, 1]])), r"needs to know which coder gave which label"),
    (lambda: ag.from_long([1, 2], ["a"], [1, 2]), r"have \[2, 1, 2\] rows"),
    (lambda: ag.from_long([1, None], ["a", "a"], [1, 2]), r"units\[1\] is missing"),
    (lambda: ag.by_label(ag.gwet_ac, UNITS, weights="linear"), r"has no weights"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_refused_in_one_line(call, message):
    with pytest.raises(ag.AgreementError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_unknown_options_are_named():
    with pytest.raises(TypeError, match="unexpected keyword argument 'weight'"):
        ag.gwet_ac(UNITS, weight="linear")


def test_importing_is_light_and_arrays_need_neither_pandas_nor_scipy():
    """Import under .3 s is a benchmark; what it loads is checked here, in a fresh interpreter."""
    code = """
import sys
import agreement
light = {'pandas', 'scipy', 'sklearn', 'krippendorff', 'agreement.kappas'} & set(sys.modules)
assert not light, light
import numpy as np
agreement.cohen_kappa([1, 2, 2, 1], [1, 2, 1, 1])
agreement.krippendorff_alpha(np.array([[1, 2], [1, 1.]]), interval='percentile')
heavy = {'pandas', 'scipy', 'sklearn', 'krippendorff'} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_no_public_name_is_the_name_of_a_module():
    """The import system would put the module in the function's place."""
    from pathlib import Path

    modules = {path.stem for path in Path(ag.__file__).parent.iterdir() if not path.name.startswith("__")}
    assert not modules & set(ag.__all__)
    assert set(ag.__all__) == set(ag._MODULES)
    for name in ag.__all__:
        assert getattr(ag, name).__name__ == name
    with pytest.raises(AttributeError, match="has no attribute 'kappa'"):
        _ = ag.kappa
    assert "gwet_ac" in dir(ag)


def test_long_form_counts_only_units_that_have_a_row_and_takes_weights_by_name():
    units, coders, labels = [3, 3, 900, 900, 7], ["a", "b", "a", "b", "a"], ["x", "y", "y", "y", "x"]
    table = ag.from_long(units, coders, labels, unit_weights={3: 1, 900: 3, 7: 1}, items={3: 1, 900: 2, 7: 1})
    assert table.n_units == 3
    wide = [["x", "y"], ["y", "y"], ["x", None]]
    assert ag.percent_agreement(table) == ag.percent_agreement(
        {"a": [u[0] for u in wide], "b": [u[1] for u in wide]}, unit_weights=[1, 3, 1], items=[1, 2, 1]
    )
    with pytest.raises(ag.AgreementError, match="unit_weights has nothing for unit 7"):
        ag.from_long(units, coders, labels, unit_weights={3: 1, 900: 3})
