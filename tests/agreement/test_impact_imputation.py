"""Multiple imputation: with dummies alone it is a Dirichlet; covariates and impossible labels do what they should."""

from __future__ import annotations

import numpy as np
import pytest

from agreement.impact.imputation import CompletionInput, complete_labels, imputed_probabilities, rubin


def test_with_dummies_alone_a_draw_is_dirichlet() -> None:
    # One cell, 12 labels seen 6, 4, 2 of three: Dirichlet(1/3 + counts) has mean (6.33, 4.33, 2.33) / 13 and
    # variance m (1 - m) / 14 for each share m.
    counts = np.array([6, 4, 2])
    shares = np.concatenate([np.eye(3)[np.repeat(np.arange(3), counts)], np.zeros((5, 3))])
    data = CompletionInput(np.zeros(17, np.int64), np.ones((1, 3), np.bool_), np.zeros((17, 0)), shares)
    chances, kind = imputed_probabilities(data, draws=4000, rng=np.random.default_rng(1))
    drawn = chances[:, kind[-1]]
    mean = (counts + 1 / 3) / 13
    assert drawn.mean(axis=0) == pytest.approx(mean, abs=0.01)
    assert drawn.var(axis=0) == pytest.approx(mean * (1 - mean) / 14, rel=0.08)


def test_labels_seen_stay_and_impossible_ones_never_come() -> None:
    rng = np.random.default_rng(2)
    cell = rng.integers(0, 2, 60)
    possible = np.array([[True, True, False], [True, True, True]])
    truth = np.where(cell == 0, rng.integers(0, 2, 60), rng.integers(0, 3, 60))
    shares = np.eye(3)[truth] * (np.arange(60) < 30)[:, None]
    labels = complete_labels(CompletionInput(cell, possible, rng.normal(size=(60, 1)), shares), draws=100, rng=rng)
    assert (labels[:, :30] == truth[:30]).all()
    assert not (labels[:, cell == 0] == 2).any()


def test_a_covariate_that_matters_is_used() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=400)
    truth = (rng.random(400) < 1 / (1 + np.exp(-2 * x))).astype(int)
    shares = np.eye(2)[truth] * (np.arange(400) < 200)[:, None]
    data = CompletionInput(np.zeros(400, np.int64), np.ones((1, 2), np.bool_), x[:, None], shares)
    chances, kind = imputed_probabilities(data, draws=50, rng=rng)
    fitted = chances.mean(axis=0)[kind, 1]
    assert np.abs(fitted - 1 / (1 + np.exp(-2 * x))).mean() < 0.06


def test_split_labels_are_drawn_from_their_shares() -> None:
    shares = np.array([[0.5, 0.5], [1.0, 0.0]])
    data = CompletionInput(np.zeros(2, np.int64), np.ones((1, 2), np.bool_), np.zeros((2, 0)), shares)
    labels = complete_labels(data, draws=2000, rng=np.random.default_rng(4))
    assert labels[:, 0].mean() == pytest.approx(0.5, abs=0.04)
    assert (labels[:, 1] == 0).all()


def test_rubin_by_hand() -> None:
    # Five values, B = 2.5, T = 1 + 1.2 * 2.5 = 4, df = 4 (1 + 1/3)^2 = 7.111.
    variance, freedom = rubin(np.array([1.0, 2, 3, 4, 5]), within=1.0)
    assert variance == pytest.approx(4.0)
    assert freedom == pytest.approx(64 / 9)
    assert rubin(np.ones(5))[1] == float("inf")
