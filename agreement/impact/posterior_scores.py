"""The whole corpus, for scores that confusion counts determine: draws of completed cells (finite-population Dirichlet).

Rows of the corpus that agree in design stratum, judge outcome, possible outcomes and in what every outcome would add to
the score form one cell; the posterior completes each cell under people's labels, and the score is a function of the
completed totals. Records that need no judgement enter with their known totals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agreement.errors import AgreementError
from agreement.impact.case import Case
from agreement.impact.columns import NO_LABEL_NAMES
from agreement.impact.records import BoolArray, FloatArray, IntArray
from agreement.impact.resample import Questions
from agreement.impact.streams import stream

if TYPE_CHECKING:
    from agreement.cells import Cells

METHOD = "finite-population posterior"
KNOWN = "known for every record"


@dataclass(frozen=True, slots=True)
class CorpusTotals:
    """Totals (d,) under people's labels with draws (B, d), and under the judge (draws None: the judge is known).

    notes: sentences for the reader (cells without labels). method: the name of the estimator. freedom: degrees of
    freedom of its spread, None where quantiles of the draws are the interval.
    """

    human: FloatArray
    draws: FloatArray
    judge: FloatArray
    judge_draws: FloatArray | None
    method: str
    notes: tuple[str, ...] = ()
    freedom: int | None = None


@dataclass(frozen=True, slots=True)
class CellTable:
    """Cells of one case with what each outcome adds: features (G, O, d). row: (R,) cell of each open corpus row."""

    cells: Cells
    features: FloatArray
    open_rows: IntArray
    row: IntArray


def cell_table(case: Case, columns: BoolArray) -> CellTable:
    """The cells of a case; `columns` (d,) marks the features that matter for the parts wanted.

    Raises AgreementError when a sampled unit has no counterpart in the corpus.
    """
    from agreement.cells import Cells

    corpus, units, outcomes = case.corpus, case.sample, case.outcomes
    open_rows = np.flatnonzero(~corpus.settled)
    kinds = _kinds(
        np.concatenate([corpus.features[open_rows][..., columns], units.features[..., columns]]),
        np.concatenate([corpus.possible[open_rows], units.possible]),
    )
    stratum = np.concatenate([corpus.stratum[open_rows], units.stratum])
    judged = np.concatenate([corpus.judged[open_rows], units.judged])
    key = (stratum * (int(kinds.max(initial=0)) + 1) + kinds) * (len(outcomes) + 2) + judged
    keys, cell = np.unique(key, return_inverse=True)
    row, unit = cell[: len(open_rows)], cell[len(open_rows) :]
    size = np.bincount(row, corpus.count[open_rows], len(keys)).astype(np.int64)
    labelled = np.stack([np.bincount(unit, units.shares[:, k], len(keys)) for k in range(len(outcomes))], axis=1)
    _check_sizes(case, size, np.bincount(unit, minlength=len(keys)))
    first = np.unique(cell, return_index=True)[1]
    where = np.concatenate([open_rows, np.zeros(len(units), np.int64)])[first]
    names = (*outcomes, *NO_LABEL_NAMES.values())
    split = len(np.unique(kinds)) > 1
    cells = Cells(
        labels=outcomes,
        model=(case.model,) * len(keys),
        stratum=tuple(case.strata[stratum[i]] + f"\x1f{kinds[i]}" * split for i in first),
        judge=tuple(names[judged[i]] for i in first),
        size=size,
        labelled=np.round(labelled, 9),
        possible=corpus.possible[where],
        probability=np.zeros(len(keys)),
    )
    return CellTable(cells, corpus.features[where][:, : len(outcomes)] * columns, open_rows, row)


def posterior_totals(
    case: Case, columns: BoolArray, *, draws: int, seed: int, questions: Questions | None = None
) -> CorpusTotals:
    """Totals of the corpus under people's labels, with posterior draws.

    questions: resampled questions turn the target from this corpus into the population of questions: each draw then
    resamples the completed cells' records with the questions.
    """
    if not case.open_records():
        return _known(case, draws, questions)
    from agreement.posterior import complete, expected_counts

    table = cell_table(case, columns)
    known = case.settled_totals()
    flat = table.features.reshape(-1, table.features.shape[2])
    expected = known + expected_counts(table.cells).reshape(-1) @ flat
    completion = complete(table.cells, draws=draws, seed=seed)
    counts, fixed, judge_draws = completion.counts, known, None
    if questions is not None:
        counts = _resampled(case, table, completion.counts, questions, seed)
        fixed = _settled_draws(case, questions)
        judge_draws = questions.totals(case.corpus.rows, case.corpus.count[:, None] * case.corpus.judge)
    drawn = fixed + counts.reshape(len(counts), -1).astype(np.float64) @ flat
    notes = tuple(note.replace("\x1f", ", group ") for note in completion.notes)
    return CorpusTotals(expected, drawn, case.judge_totals(), judge_draws, METHOD, notes)


def _known(case: Case, draws: int, questions: Questions | None) -> CorpusTotals:
    """No record needs a judgement: judge and people agree by construction."""
    totals = case.judge_totals()
    if questions is None:
        return CorpusTotals(totals, np.tile(totals, (draws, 1)), totals, None, KNOWN)
    drawn = _settled_draws(case, questions)
    return CorpusTotals(totals, drawn, totals, drawn, "bootstrap of questions")


def _settled_draws(case: Case, questions: Questions) -> FloatArray:
    still = np.flatnonzero(case.corpus.settled)
    return questions.totals(case.corpus.rows[still], case.corpus.count[still, None] * case.corpus.features[still, 0])


def _kinds(features: FloatArray, possible: BoolArray) -> IntArray:
    """(R,) number of the distinct pattern of features and possible outcomes."""
    kind = np.zeros(len(features), np.int64)
    if not len(features):
        return kind
    rows = np.concatenate([features.reshape(len(features), -1), possible], axis=1)
    for column in np.flatnonzero((rows != rows[:1]).any(axis=0)):
        levels, code = np.unique(rows[:, column], return_inverse=True)
        _, kind = np.unique(kind * len(levels) + code, return_inverse=True)
    return kind


def _check_sizes(case: Case, size: IntArray, labelled: IntArray) -> None:
    if (labelled > size).any():
        raise AgreementError(
            f"model {case.model}: {int((labelled - size).max())} labelled units more than the corpus has records like "
            "them; the corpus must contain the sampled records, described by the same columns"
        )


def _resampled(case: Case, table: CellTable, counts: IntArray, questions: Questions, seed: int) -> IntArray:
    """(B, G, O) completed cells with their questions resampled: cell sizes follow the questions, labels the cell.

    The labels are drawn with the prior mass of `population_weights`: in a census whose judge made no error the next
    question may still see one.
    """
    from agreement.posterior import population_weights

    cells = len(table.cells)
    one_hot = np.zeros((len(table.open_rows), cells))
    one_hot[np.arange(len(table.row)), table.row] = case.corpus.count[table.open_rows]
    sizes = np.rint(questions.totals(case.corpus.rows[table.open_rows], one_hot)).astype(np.int64)
    chances = population_weights(table.cells, counts) / np.maximum(table.cells.size, 1)[:, None]
    return stream(seed, "population", case.model).multinomial(sizes, chances)
