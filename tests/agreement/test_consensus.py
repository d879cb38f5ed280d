"""Majority and Dawid-Skene: hand computation, seeded truth, a second implementation written from the definition."""

from itertools import product

import numpy as np
import pytest

from agreement.consensus import dawid_skene, majority_vote
from agreement.errors import AgreementError

ABC = ("A", "B", "C")


def simulate(seed, units, errors, prevalence):
    """Labels of coders with the given error matrices for units with a known truth."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(len(prevalence), units, p=prevalence)
    ratings = [[ABC[rng.choice(len(prevalence), p=matrix[t])] for matrix in errors] for t in truth]
    return truth, ratings


def test_majority_by_hand():
    found = majority_vote([["A", "A", "B"], ["A", "B", None], [None, None, None], ["C", None, None]], ABC)
    assert found.label == ("A", None, None, "C")
    assert (found.ties, found.unrated) == (1, 1)
    assert found.shares[0] == pytest.approx([2 / 3, 1 / 3, 0])


def definition(ratings, labels, smoothing, steps):
    """EM of Dawid and Skene (1979, eq. 2.3-2.5) in plain loops and products, for complete ratings."""
    units, coders, q = range(len(ratings)), range(len(ratings[0])), range(len(labels))
    said = [[labels.index(label) for label in row] for row in ratings]
    post = [[sum(s == c for s in said[i]) / len(coders) for c in q] for i in units]
    for _ in range(steps):
        share = [sum(post[i][c] for i in units) / len(units) for c in q]
        error = [
            [[smoothing + sum(post[i][c] for i in units if said[i][r] == k) for k in q] for c in q] for r in coders
        ]
        error = [[[x / sum(row) for x in row] for row in matrix] for matrix in error]
        for i in units:
            joint = [share[c] * np.prod([error[r][c][said[i][r]] for r in coders]) for c in q]
            post[i] = [x / sum(joint) for x in joint]
    return np.array(post)


def test_equals_the_definition_step_by_step():
    _, ratings = simulate(3, 40, [np.full((3, 3), 0.15) + 0.55 * np.eye(3)] * 4, [0.5, 0.3, 0.2])
    with_steps = dawid_skene(ratings, ABC, smoothing=0.1, max_iterations=7, tolerance=0)
    assert with_steps.posterior == pytest.approx(definition(ratings, ABC, 0.1, 7), abs=1e-12)
    assert not with_steps.converged
    assert any("before the likelihood settled" in text for text in with_steps.warnings)


def test_recovers_the_truth_and_the_coders():
    good = np.full((3, 3), 0.05) + 0.85 * np.eye(3)
    lazy = np.array([[0.9, 0.05, 0.05], [0.8, 0.15, 0.05], [0.8, 0.05, 0.15]])  # says A nearly always
    truth, ratings = simulate(5, 2000, [good, good, good, lazy], [0.5, 0.3, 0.2])
    found = dawid_skene(ratings, ABC)
    assert found.converged
    assert found.identified
    assert found.errors[0] == pytest.approx(good, abs=0.04)
    assert found.errors[3] == pytest.approx(lazy, abs=0.06)
    assert found.prevalence == pytest.approx([0.5, 0.3, 0.2], abs=0.04)
    right = np.mean([label == ABC[t] for label, t in zip(found.label, truth, strict=True)])
    votes = np.mean([label == ABC[t] for label, t in zip(majority_vote(ratings, ABC).label, truth, strict=True)])
    assert right > votes
    # calibrated: the mean posterior of the chosen label is the share that is right
    assert found.posterior.max(axis=1).mean() == pytest.approx(right, abs=0.02)


def test_likelihood_never_falls():
    _, ratings = simulate(8, 60, [np.full((3, 3), 0.2) + 0.4 * np.eye(3)] * 3, [0.4, 0.4, 0.2])
    steps = [dawid_skene(ratings, ABC, smoothing=0, max_iterations=k, tolerance=0).loglik for k in range(1, 30)]
    assert (np.diff(steps) > -1e-9).all()


def test_two_coders_are_not_identified_and_it_is_said():
    found = dawid_skene(list(product("AB", "AB")), ("A", "B"))
    assert not found.identified
    assert found.warnings[0].startswith("not identified")
    # three coders of whom each unit has two: the same
    partial = dawid_skene([["A", "A", None], ["A", None, "B"], [None, "B", "B"]], ("A", "B"))
    assert not partial.identified
    some = dawid_skene([["A", "A", "A"], ["A", "B", "B"], [None, "B", "B"]], ("A", "B"))
    assert some.identified
    assert "1 of 3 units have fewer than 3 ratings" in some.warnings[0]


def test_unrated_units_stay_without_a_label():
    found = dawid_skene([["A", "A", "A"], [None, None, None], ["B", "B", "B"]], ("A", "B"))
    assert found.posterior[1].tolist() == [0, 0]
    assert found.label == ("A", None, "B")
    assert found.entropy[0] == pytest.approx(0, abs=1e-3)
    with pytest.raises(AgreementError, match="no unit has a rating"):
        dawid_skene([[None, None]], ("A", "B"))


def test_entropy_by_hand():
    # one unit, even votes, no information to part them: the posterior stays 1/2 each, entropy log 2
    found = dawid_skene([["A", "B"], ["B", "A"]], ("A", "B"))
    assert found.entropy == pytest.approx([np.log(2)] * 2)
    assert found.label == (None, None)


def test_reversed_coder_is_named():
    good = np.full((2, 2), 0.1) + 0.8 * np.eye(2)
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 500)
    said = [[ABC[t if rng.random() < m[t][t] else 1 - t] for m in (good, good, good, 1 - good)] for t in truth]
    found = dawid_skene(said, ("A", "B"))
    assert any("coder 3 seems reversed" in text for text in found.warnings)
    assert not any("coder 0" in text for text in found.warnings)
