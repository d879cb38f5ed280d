"""Mean grades corrected by what people say of some questions: by hand, and against a seeded truth."""

from __future__ import annotations

import numpy as np
import pytest

from agreement.impact.profile_grades import corrected_grade

NAN = float("nan")


def test_corrected_grade_by_hand() -> None:
    """Ten questions, eight of them labelled.

    People less judge: -1, 0, -.5, 0, .5, 0, 1, .25, mean .03125. The judge's grades add to 5, so people's to 5 + 10 x
    .03125 = 5.3125 of 10. The squared deviations of the eight add to 2.5546875, s^2 = .3649554; the variance of the
    mean is (1 - 8/10) s^2 / 8 = .00912388, its root .0955190; t with 7 df is 2.364624: +- .225867.
    """
    judged = np.array([1.0, 1, 1, 1, 1, 0, 0, 0, 0, 0])
    told = np.array([0, 1, 0.5, 1, NAN, 0.5, 0, 1, 0.25, NAN])
    found = corrected_grade(judged, told, ~np.isnan(told), np.full(10, 1.25), 0.95, population=False)
    assert found.value == pytest.approx(0.53125)
    assert found.se == pytest.approx(0.0955190, abs=1e-7)
    assert (found.low, found.high) == (pytest.approx(0.305383, abs=1e-6), pytest.approx(0.757117, abs=1e-6))


def test_a_question_that_people_cannot_grade_leaves_the_denominator() -> None:
    """Four questions, all labelled: grades 1, 0 and 1, and one that people find impossible to grade: mean 2/3."""
    judged, told = np.array([1.0, 1, 0, 0]), np.array([1.0, 0, 1, NAN])
    found = corrected_grade(judged, told, np.ones(4, np.bool_), np.ones(4), 0.95, population=False)
    assert found.value == pytest.approx(2 / 3)
    assert found.low == pytest.approx(found.high)


def test_few_differences_give_no_interval_and_say_so() -> None:
    judged = np.tile([1.0, 0.0], 50)
    told = np.where(np.arange(100) < 40, judged, NAN)
    found = corrected_grade(judged, told, ~np.isnan(told), np.full(100, 2.5), 0.95, population=False)
    assert found.value == 0.5
    assert found.low is None
    assert "fewer than 5" in (found.note or "")


@pytest.mark.parametrize(("population", "low", "high"), [(False, 0.91, 0.985), (True, 0.91, 0.985)])
def test_coverage_with_seeded_truth(population: bool, low: float, high: float) -> None:
    """Grades of eight responses; the judge calls a sixth of the right ones wrong. Mean grade of the source: .6."""
    rng, hits, runs = np.random.default_rng(8), 0, 400
    for _ in range(runs):
        ability = rng.beta(1.2, 0.8, 400)
        right = rng.binomial(8, ability)
        told, judged = right / 8, rng.binomial(right, 5 / 6) / 8
        whole = np.zeros(400, np.bool_)
        whole[rng.choice(400, 80, replace=False)] = True
        found = corrected_grade(
            judged, np.where(whole, told, NAN), whole, np.full(400, 5.0), 0.95, population=population
        )
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= (0.6 if population else told.mean()) <= found.high
    assert low < hits / runs < high
