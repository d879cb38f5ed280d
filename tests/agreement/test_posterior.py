"""The finite-population posterior: streams, borrowing, rounding of split labels, estimate and interval."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agreement.cells import Cells, label_shares, tabulate
from agreement.errors import AgreementError
from agreement.intervals import posterior_interval
from agreement.posterior import borrow, complete, expected_counts, prior

AB = ("A", "B")
ABC = ("A", "B", "C")


def cells_of(rows, labels=AB, possible=None):
    """rows: (model, stratum, judge, size, labelled counts)."""
    rows = sorted(rows)
    return Cells(
        tuple(labels),
        *(tuple(row[k] for row in rows) for k in range(3)),
        np.array([row[3] for row in rows]),
        np.array([row[4] for row in rows], dtype=float),
        np.ones((len(rows), len(labels)), bool) if possible is None else np.array(possible, bool),
        np.full(len(rows), 0.1),
    )


def test_tabulate_sorts_counts_and_splits_by_probability_and_possible_labels():
    cells = tabulate(
        labels=AB,
        model=["m2", "m1", "m1", "m1", "m1"],
        stratum=["s"] * 5,
        judge=["A", "B", "A", "A", "A"],
        human=["A", None, {"A": 0.5, "B": 0.5}, "B", None],
        probability=[0.5, 0.5, 0.5, 0.25, 0.5],
        possible=[[1, 1], [1, 1], [1, 1], [1, 1], [0, 1]],
    )
    assert cells.model == ("m1", "m1", "m1", "m1", "m2")
    assert cells.judge == ("A", "A", "A", "B", "A")
    assert cells.size.tolist() == [1, 1, 1, 1, 1]
    # the three m1/A records differ in what can occur or in their probability, so they are three cells
    assert cells.labelled[:3].tolist() == [[0, 1], [0.5, 0.5], [0, 0]] or cells.labelled[:3].sum() == 2
    assert cells.n_labelled.sum() == 3


def test_prior_by_hand():
    cells = cells_of(
        [("m", "s", "A", 5, (0, 0, 0)), ("m", "s", "B", 5, (0, 0, 0)), ("m", "s", "refusal", 5, (0, 0, 0))],
        ABC,
        [[1, 1, 1], [1, 0, 1], [1, 1, 0]],
    )
    # A: 1/2 on A, 1/4 each; B cannot occur: A and C share evenly; no label: 1/3 each, C impossible: 1/2 each
    assert prior(cells).tolist() == [[0.5, 0.25, 0.25], [0.5, 0, 0.5], [0.5, 0.5, 0]]


def test_two_labels_have_the_jeffreys_prior():
    assert prior(cells_of([("m", "s", "A", 9, (1, 0))])).tolist() == [[0.5, 0.5]]


def test_every_draw_is_a_whole_corpus_that_keeps_the_labels_seen():
    cells = cells_of([("m", "s", "A", 50, (7, 2)), ("m", "s", "B", 30, (1, 9)), ("m", "s", "no", 4, (4, 0))])
    done = complete(cells, seed=3)
    assert done.counts.dtype == np.int64
    assert (done.counts.sum(axis=2) == cells.size).all()
    assert (done.counts >= cells.labelled).all()
    assert (done.counts[:, 2] == [4, 0]).all()  # all labelled: nothing left to draw


def test_draws_follow_the_dirichlet_multinomial():
    # closed form (Mosimann 1962): U ~ DM(m, alpha), mean m a/A, variance m (a/A)(1 - a/A)(m + A)/(1 + A)
    cells = cells_of([("m", "s", "A", 100, (6, 3))])
    unseen = complete(cells, draws=20000, seed=5).counts[:, 0, 0] - 6
    a, total, m = 6.5, 10.0, 91
    share = a / total
    assert unseen.mean() == pytest.approx(m * share, abs=4 * unseen.std() / 20000**0.5)
    assert unseen.var() == pytest.approx(m * share * (1 - share) * (m + total) / (1 + total), rel=0.05)


def test_adding_a_model_changes_no_other_number():
    rows = [("m", "s", "A", 50, (7, 2)), ("m", "s", "B", 30, (1, 9))]
    alone = complete(cells_of(rows), seed=3).counts
    for other in ("a", "z"):
        both = cells_of([*rows, (other, "s", "A", 50, (7, 2))])
        counts = complete(both, seed=3).counts
        assert (counts[:, both.where(model="m")] == alone).all()
        assert (counts[:, both.where(model=other)][:, 0] != alone[:, 0]).any()
    assert (complete(cells_of(rows), seed=4).counts != alone).any()


def test_population_draws_keep_each_models_total_and_are_wider():
    cells = cells_of([("m", "s", "A", 50, (30, 10)), ("m", "s", "B", 50, (10, 30)), ("n", "s", "A", 9, (9, 0))])
    corpus, population = (complete(cells, seed=1, target=t).counts for t in ("corpus", "population"))
    assert (population[:, :2].sum(axis=(1, 2)) == 100).all()
    assert population[:, :2, 0].sum(axis=1).std() > corpus[:, :2, 0].sum(axis=1).std()


def test_empty_cell_borrows_from_its_model_and_label_weighted_by_design():
    cells = cells_of(
        [
            ("m", "s1", "A", 100, (8, 2)),  # w = 100/10 = 10
            ("m", "s2", "A", 20, (1, 3)),  # w = 20/4 = 5
            ("m", "s3", "A", 40, (0, 0)),
            ("m", "s1", "B", 40, (0, 3)),
            ("n", "s3", "A", 40, (4, 0)),
        ]
    )
    sharing = borrow(cells)
    # sum w = 120; sum w y = (10*8 + 5*1, 10*2 + 5*3) = (85, 35); sum w^2 = 10*100 + 4*25 = 1100; n_eff = 14400/1100
    assert sharing.pooled[0] == pytest.approx(14400 / 1100 * np.array([85, 35]) / 120)
    assert sharing.mean[0].tolist() == [0.8, 0.2]  # the estimate keeps a labelled cell's own shares
    index = cells.stratum.index("s3")
    assert expected_counts(cells)[index] == pytest.approx(40 * np.array([85, 35]) / 120)
    done = complete(cells, seed=1)
    assert done.merged == ("m / s3 / A",)
    assert done.prior_only == ()
    # the estimate of the whole group equals the pooled share of the whole group
    group = cells.where(model="m", judge="A")
    assert expected_counts(cells)[group].sum(axis=0) == pytest.approx(160 * np.array([85, 35]) / 120)


def test_cells_with_other_possible_labels_do_not_lend():
    cells = cells_of(
        [("m", "s1", "A", 10, (3, 1)), ("m", "s2", "A", 10, (0, 0))],
        possible=[[1, 1], [0, 1]],
    )
    done = complete(cells, seed=1)
    assert done.merged == ()
    assert done.prior_only == ("m / s2 / A",)
    assert (done.counts[:, 1] == [0, 10]).all()  # B is the only label that can occur


def test_prior_only_is_said():
    done = complete(cells_of([("gpt", "s", "A", 12, (0, 0)), ("gpt", "s", "B", 5, (1, 1))]), seed=1)
    assert done.notes == ("12 records of model gpt with judge label A have no human label",)


def test_split_labels_are_rounded_to_whole_records_right_on_average():
    cells = cells_of([("m", "s", "A", 4, (2.5, 1.5))])
    counts = complete(cells, draws=4000, seed=2).counts[:, 0]
    assert set(map(tuple, counts)) == {(2, 2), (3, 1)}
    assert counts[:, 0].mean() == pytest.approx(2.5, abs=0.04)


def test_label_that_was_declared_impossible_is_told():
    cells = cells_of([("m", "s", "A", 4, (1, 1))], possible=[[0, 1]])
    assert "declared impossible" in complete(cells, seed=1).notes[0]


def test_too_few_draws_are_refused():
    with pytest.raises(AgreementError, match="at least 1000"):
        complete(cells_of([("m", "s", "A", 4, (1, 1))]), draws=999, seed=1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labelled": np.array([[3.0, 3.0]])}, "m / s / A: more labelled records than records"),
        ({"labelled": np.array([[0.5, 0.0]])}, "whole number"),
        ({"possible": np.array([[False, False]])}, "no possible label"),
        ({"probability": np.array([1.5])}, r"outside \[0, 1\]"),
        ({"size": np.array([4, 4])}, "one entry per cell"),
    ],
)
def test_bad_cells_name_the_cell(change, message):
    good = {
        "labels": AB,
        "model": ("m",),
        "stratum": ("s",),
        "judge": ("A",),
        "size": np.array([4]),
        "labelled": np.array([[1.0, 1.0]]),
        "possible": np.array([[True, True]]),
        "probability": np.array([0.5]),
    }
    with pytest.raises(AgreementError, match=message):
        Cells(**(good | change))


def test_undeclared_human_label_is_refused_with_its_record():
    with pytest.raises(AgreementError, match="record 1: human label 'C' is not one of A, B"):
        label_shares(AB, ["A", "C"])


def test_interval_is_type_7_and_holds_the_estimate():
    draws = np.arange(1, 1001, dtype=float)
    # type 7 on 1..1000: position 1 + 999 p
    assert posterior_interval(500, draws).low == pytest.approx(1 + 999 * 0.025)
    assert posterior_interval(2000, draws).high == 2000
    assert posterior_interval(-3, draws).low == -3


def test_undefined_draws_are_left_out_counted_and_too_many_undo_the_number():
    draws = np.ones(1000)
    draws[:50] = np.nan
    assert posterior_interval(1.0, draws).undefined_draws == 50
    assert posterior_interval(1.0, draws).value == 1.0
    draws[50] = np.nan
    lost = posterior_interval(1.0, draws)
    assert (lost.value, lost.low, lost.high) == (None, None, None)
    assert "51 of 1000" in lost.undefined
    assert posterior_interval(None, np.ones(5)).undefined is not None


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from("mn"), st.sampled_from("st"), st.sampled_from(["A", "B", "(missing)"]), st.integers(0, 9),
            st.integers(0, 5), st.integers(0, 5),
        ),
        min_size=1, max_size=8, unique_by=lambda row: row[:3],
    ),
    st.sampled_from(["corpus", "population"]),
)  # fmt: skip
def test_counts_in_are_counts_out(rows, target):
    cells = cells_of([(m, s, j, extra + a + b + 1, (a, b)) for m, s, j, extra, a, b in rows])
    done = complete(cells, draws=1000, seed=0, target=target)
    assert expected_counts(cells).sum(axis=1) == pytest.approx(cells.size)
    for model in set(cells.model):
        mask = cells.where(model=model)
        assert (done.counts[:, mask].sum(axis=(1, 2)) == cells.size[mask].sum()).all()


def test_thin_cells_of_a_family_lean_on_each_other_and_keep_the_pull_of_the_prior_small():
    # 20 strata with 5 labels each, all of them in agreement with the judge: a prior mass of 1 in each cell would put
    # half a disagreement beside every 5 labels and the corpus at about 1 - .5/6 = .92
    cells = cells_of([("m", f"s{k:02}", "A", 100, (5, 0)) for k in range(20)])
    family, pool = (complete(cells, seed=1, sharing=s).counts[:, :, 0].sum(axis=1) / 2000 for s in ("family", "pool"))
    assert pool.mean() == pytest.approx(0.921, abs=0.005)  # 1 - .95 * .5/6
    assert family.mean() > 0.99
    # rule of three: with 0 of 100 the upper end of a 95 % interval for disagreements is near 3 %
    assert 0.015 < 1 - np.quantile(family, 0.025) < 0.035
    assert "20 cells with fewer than 10 labels" in complete(cells, seed=1).notes[0]


def test_well_labelled_cells_do_not_lean():
    cells = cells_of([("m", f"s{k}", "A", 100, (9, 1)) for k in range(3)])
    family, pool = (complete(cells, seed=1, sharing=s).counts for s in ("family", "pool"))
    assert (family == pool).all()


def test_thin_cells_keep_the_centre_of_their_own_labels():
    # two strata that differ, 8 of 8 against 1 of 8: each cell's draws stay near its own share, pulled by 2.5 labels
    cells = cells_of([("m", "s1", "A", 200, (8, 0)), ("m", "s2", "A", 200, (1, 7))])
    drawn = complete(cells, seed=1).counts[:, :, 0].mean(axis=0) / 200
    pooled = 9.5 / 17  # (9 labels + prior 1/2) / (16 + 1)
    # own labels + half of the prior mass (1/2 each) + 2 of the family's, over 8 + 1/2 + 2
    assert drawn[0] == pytest.approx((8 + 192 * (8.25 + 2 * pooled) / 10.5) / 200, abs=0.01)
    assert drawn[1] == pytest.approx((1 + 192 * (1.25 + 2 * pooled) / 10.5) / 200, abs=0.01)


def test_a_census_without_errors_is_not_certain_for_the_population():
    cells = cells_of([("m", "s", "A", 20, (20, 0))])
    share = complete(cells, seed=1, target="population").counts[:, 0, 0] / 20
    assert np.quantile(share, 0.025) < 0.95
    assert (complete(cells, seed=1).counts[:, 0, 0] == 20).all()  # for the corpus itself it is
