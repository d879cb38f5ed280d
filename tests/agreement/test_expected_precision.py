"""Planned and present precision: hand computation, and the widths that simulated samples really have."""

import numpy as np
import pytest

from agreement.allocation import allocate
from agreement.cells import Cells
from agreement.errors import AgreementError
from agreement.expected_precision import expected_precision, present_precision, spread_plan
from agreement.intervals import posterior_interval
from agreement.posterior import complete

LABELS = ("A", "B")


def test_by_hand():
    # one model, 600 A and 400 B, 60 and 40 labels, judge right .9: share of A has variance
    # .36 * .9 * .09 / 60 + .16 * .9 * .09 / 40 = .000486 + .000324 = .00081; width 2 * 1.96 * .02846 = .11156
    found = expected_precision(
        labels=LABELS, model=["m", "m"], judge=["A", "B"], size=[600, 400], planned=[60, 40], accuracy=0.9
    )
    assert found.models[0].width == pytest.approx(0.11156, abs=1e-5)
    assert (found.models[0].labels, found.models[0].size) == (100, 1000)
    assert found.pairs == ()
    assert found.thin == ()


def test_pairs_and_thin_cells():
    found = expected_precision(
        labels=LABELS,
        model=["x", "x", "y", "y", "y"],
        judge=["A", "B", "A", "B", "(not a label)"],
        size=[600, 400, 600, 8, 50],
        planned=[60, 4, 60, 8, 2],
        accuracy={"A": 0.9, "B": 0.8},
    )
    # x/B has 4 of 400; y/B has all 8 of its records, which is all there is; a non-label is not asked to have 10
    assert [(cell.model, cell.judge, cell.labels, cell.size) for cell in found.thin] == [("x", "B", 4, 400)]
    assert found.sentences[0].startswith("model x: 4 planned labels where the judge says B (400 records)")
    (pair, _) = found.pairs
    widths = {each.model: each.width for each in found.models if each.label == "A"}
    assert pair.width == pytest.approx(np.hypot(widths["x"], widths["y"]))
    assert pair.detectable == pytest.approx(pair.width / 3.919928 * 2.801585)
    only = expected_precision(
        labels=LABELS, model=["x"] * 2, judge=["A", "B"], size=[600, 400], planned=[60, 4], matters=["A"]
    )
    assert only.thin == ()


def test_plan_meets_the_widths_of_simulated_samples():
    # seeded truth: judge right .9, sqrt allocation; mean posterior width over 40 samples against the plan
    rng = np.random.default_rng(1)
    sizes = [1500, 500]
    plan = allocate(sizes, 120)
    widths = []
    for seed in range(40):
        seen = [rng.multinomial(n, p) for n, p in zip(plan, ([0.9, 0.1], [0.1, 0.9]), strict=True)]
        cells = cells_of(sizes, seen)
        share = complete(cells, seed=seed, draws=1000).counts[:, :, 0].sum(axis=1) / 2000
        interval = posterior_interval(float(share.mean()), share)
        widths.append(interval.high - interval.low)
    found = expected_precision(
        labels=LABELS, model=["m", "m"], judge=["A", "B"], size=sizes, planned=plan, accuracy=0.9
    )
    assert found.models[0].width == pytest.approx(np.mean(widths), rel=0.08)


def cells_of(sizes, seen, models=("m", "m"), judges=("A", "B")):
    count = len(sizes)
    return Cells(
        LABELS, tuple(models), ("",) * count, tuple(judges), np.array(sizes), np.array(seen, float),
        np.ones((count, 2), bool), np.full(count, 0.1),
    )  # fmt: skip


def test_present_sample_says_what_it_shows_and_what_not():
    cells = cells_of(
        [500, 500, 500, 500, 500, 500],
        [[45, 5], [5, 45], [44, 6], [6, 44], [10, 40], [1, 4]],
        models=("x", "x", "y", "y", "z", "z"),
        judges=("A", "B") * 3,
    )
    found = present_precision(cells, seed=1)
    told = {text.split(":")[0]: text for text in found.sentences}
    assert "is not shown; with these labels" in told["A, x against y"]
    assert told["A, x against z"].endswith("is shown")
    assert told["model z"].startswith("model z: 5 present labels where the judge says B")
    assert len(found.models) == 6


def test_bad_plans_are_refused():
    with pytest.raises(AgreementError, match="m / A: 20 labels planned out of 10 records"):
        expected_precision(labels=LABELS, model=["m"], judge=["A"], size=[10], planned=[20])
    with pytest.raises(AgreementError, match="one entry per cell"):
        expected_precision(labels=LABELS, model=["m"], judge=["A"], size=[10, 5], planned=[2])
    with pytest.raises(AgreementError, match="between 0 and 1"):
        expected_precision(labels=LABELS, model=["m"], judge=["A"], size=[10], planned=[2], accuracy=2)


def test_a_plan_per_stratum_is_spread_over_its_cells():
    # 30 from a stratum of 200 + 100 records, 10 from one of 50, none from the last
    assert spread_plan(["s", "s", "t", "u"], [200, 100, 50, 9], {"s": 30, "t": 10}) == pytest.approx([20, 10, 10, 0])
