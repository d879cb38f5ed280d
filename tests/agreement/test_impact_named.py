"""Estimators by name: by hand on a small case, and unbiased with honest intervals by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from agreement.errors import AgreementError
from agreement.impact.case import build_cases
from agreement.impact.named import named_estimates
from agreement.impact.records import Records, Sample
from agreement.scores.ehq import Ehq
from agreement.scores.rates import Rate
from tests.agreement.impact_data import binary, ehq_corpus

YES = Rate("yes", ("YES",))
ALL = ("ppi++", "difference", "pseudo-outcomes")


def small() -> tuple[Records, Sample]:
    """20 records, the judge says YES to 12; 5 drawn at random (pi = .25): judge 1 1 1 0 0, people 1 1 0 0 1."""
    corpus = Records.from_columns(("YES", "NO"), ["m"] * 2, judges={"j": ["YES", "NO"]}, count=[12, 8], item=["a", "b"])
    judge = ["YES", "YES", "YES", "NO", "NO"]
    drawn = Records.from_columns(("YES", "NO"), ["m"] * 5, judges={"j": judge}, item=list("vwxyz"))
    return corpus, Sample.of(drawn, np.eye(2)[[0, 0, 1, 1, 0]], inclusion=0.25)


def test_by_hand() -> None:
    corpus, sample = small()
    found = named_estimates(build_cases(YES, "j", corpus, sample)["m"], "yes", ALL, 0.95)
    # cov(Y, f): means .6 and .6, sum of products 2 - 5 * .36 = .2, / 4 = .05; s^2_f on the sample (3 - 1.8) / 4 = .3.
    # difference: lambda = .05 / .3 = 1/6; theta = .6 / 6 + (.6 - .6 / 6) = .6; residuals Y - f / 6: 5/6 5/6 -1/6 0 1,
    # mean .5, s^2 = (1/9 + 1/9 + 4/9 + 1/4 + 1/4) / 4 = .2916667; V = .75 * .2916667 / 5 = .04375.
    assert found["difference"].value == pytest.approx(0.6)
    assert found["difference"].se == pytest.approx(0.04375**0.5)
    # ppi++: s^2_f of all 20 = (12 - 7.2) / 19 = .2526316; lambda = .05 / ((1 + 5 / 15) * .2526316) = .1484375;
    # unlabelled mean f = (12 - 3) / 15 = .6, so theta = .6; its s^2 = (9 - 5.4) / 14 = .2571429.
    # s^2(Y - lambda f) = .3 - 2 lambda .05 + lambda^2 .3 = .2917664; V = lambda^2 * .2571429 / 15 + .2917664 / 5.
    assert found["ppi++"].value == pytest.approx(0.6)
    assert found["ppi++"].se == pytest.approx((0.1484375**2 * 0.2571429 / 15 + 0.2917664 / 5) ** 0.5, rel=1e-6)
    # pseudo-outcomes: shifts 4 (Y - f) = 0 0 -4 0 4; theta = 12 / 20 = .6. Values: 11 ones, 7 zeros, 1 - 4 = -3 and
    # 0 + 4 = 4; squares about .6: 11 * .16 + 7 * .36 + 12.96 + 11.56 = 28.8; V = 28.8 / 19 / 20.
    assert found["pseudo-outcomes"].value == pytest.approx(0.6)
    assert found["pseudo-outcomes"].se == pytest.approx((28.8 / 19 / 20) ** 0.5)


def test_what_does_not_apply_says_why() -> None:
    corpus, sample, _ = ehq_corpus(1, 500, 80, seed=1)
    case = build_cases(Ehq(), "judge", corpus, sample)["model-0"]
    assert named_estimates(case, "EHQ3", ALL, 0.95)["difference"].reason == "only for means of per-record values"
    assert "same inclusion probability" in (named_estimates(case, "EHQ1", ALL, 0.95)["ppi++"].reason or "")
    assert named_estimates(case, "EHQ1", ("pseudo-outcomes",), 0.95)["pseudo-outcomes"].value is not None
    with pytest.raises(AgreementError, match="method 'magic' is not one of"):
        named_estimates(case, "EHQ1", ("magic",), 0.95)


def test_coverage_with_seeded_truth() -> None:
    """150 corpora of 1,000 with 150 labels: the difference estimator holds the corpus rate, the two others the .6."""
    hits = dict.fromkeys(ALL, 0)
    errors: dict[str, list[float]] = {method: [] for method in ALL}
    for seed in range(150):
        corpus, sample, rates = binary({"m": (0.6, 0.85, 0.9)}, 1000, 150, seed=seed)
        found = named_estimates(build_cases(YES, "judge", corpus, sample)["m"], "yes", ALL, 0.95)
        for method, estimate in found.items():
            truth = rates["m"] if method == "difference" else 0.6
            hits[method] += (estimate.low or 0) <= truth <= (estimate.high or 0)
            errors[method].append((estimate.value or 0) - truth)
    for method in ALL:
        assert hits[method] / 150 == pytest.approx(0.95, abs=0.06)
        assert abs(np.mean(errors[method])) < 0.008


def test_equals_the_other_implementation_of_the_same_estimators() -> None:
    """Independent code in the same package, for 0/1 arrays: value and standard error agree."""
    from agreement import difference_rate, ppi_rate

    corpus, sample, _ = binary({"m": (0.6, 0.85, 0.9)}, 1000, 150, seed=9)
    found = named_estimates(build_cases(YES, "judge", corpus, sample)["m"], "yes", ALL, 0.95)
    judge = (corpus.judges["judge"] == 0).astype(float)
    drawn = np.isin(np.arange(1000), [int(i[1:]) for i in sample.records.item.values()] if sample.records.item else [])
    arguments = (sample.shares[:, 0], judge[drawn], judge[~drawn])
    for method, other in (("ppi++", ppi_rate(*arguments)), ("difference", difference_rate(*arguments))):
        assert found[method].value == pytest.approx(other.value, abs=1e-12)
        assert found[method].se == pytest.approx(other.se, abs=1e-12)
