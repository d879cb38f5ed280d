"""Resampling the questions of a corpus, for intervals about the population that they came from.

All models answer the same questions, so one set of resampled questions serves every model. Resampling is stratified by
a variable (subcategory in EHQ) where one is named.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agreement.errors import AgreementError
from agreement.impact.records import FloatArray, IntArray, Records
from agreement.impact.streams import stream


@dataclass(frozen=True, slots=True)
class Questions:
    """times: (B, I) how often each question is taken in each draw; item: (rows,) question of each corpus row."""

    times: FloatArray
    item: IntArray

    def head(self, draws: int) -> Questions:
        """The first of the draws."""
        return Questions(self.times[:draws], self.item)

    def totals(self, rows: IntArray, values: FloatArray) -> FloatArray:
        """(B, d) totals over resampled questions of values (R, d), those of the corpus rows at the given positions."""
        by_item = np.zeros((self.times.shape[1], values.shape[1]))
        np.add.at(by_item, self.item[rows], values)
        found: FloatArray = self.times @ by_item
        return found


def resample_questions(corpus: Records, draws: int, seed: int, strata: str | None = None) -> Questions:
    """Draw the questions with replacement, within the levels of the variable `strata` when it is given.

    Raises AgreementError when the corpus has no `item` column: the population interval then cannot be had.
    """
    if corpus.item is None:
        raise AgreementError("population intervals resample questions: give `item` for every row of the corpus")
    size = len(corpus.item.names)
    level = np.zeros(size, np.int64)
    if strata is not None:
        level[corpus.item.codes] = corpus.factor(strata).codes
    times = np.empty((draws, size))
    rng = stream(seed, "questions")
    for group in np.unique(level):
        at = np.flatnonzero(level == group)
        picked = rng.integers(0, len(at), (draws, len(at))) + np.arange(draws)[:, None] * len(at)
        times[:, at] = np.bincount(picked.ravel(), minlength=draws * len(at)).reshape(draws, len(at))
    return Questions(times, corpus.item.codes)
