"""The input of scores and score impact: the corpus as distinct cells with counts, and the labelled sample unit by unit.

Two tables, both columnar and frozen:

* `Records` is the corpus. A row is a *distinct combination* of the columns that are given, with the number of records
  that have it, so the cost of a score does not depend on the number of records. From SQL it is one statement,
  ``SELECT model, condition, stratum, category, judge label, ..., COUNT(*) GROUP BY`` all of them, whose columns go
  straight into `Records.from_columns`. The corpus contains the sampled records too.
* `Sample` is what people labelled: one row per drawn unit, with the same columns (count 1), its human label as shares
  over the declared labels, its inclusion probability and its weight.

Only the columns that a score needs must be given (`Score.needs` names them). Population intervals need `item` in the
corpus; corpus intervals do not, and without it the number of rows stays small.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement.errors import AgreementError
from agreement.impact.columns import Factor, flag, integers, label_codes, numbers

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
FlagArray = npt.NDArray[np.int8]

NOT_GIVEN = "(not given)"
SKIPPED, TECHNICAL, UNFINISHED, UNLABELLED = "skipped", "technical", "unfinished", "unlabelled"
WITHOUT_LABEL = (SKIPPED, TECHNICAL, UNFINISHED, UNLABELLED)
STATUSES = ("labelled", "adjudicated", "agreed", "single coder", "majority", "consensus", "unresolved", *WITHOUT_LABEL)


@dataclass(frozen=True, slots=True)
class Records:
    """Columnar facts about R rows; a row stands for `count` records that agree in every column given.

    labels: the q declared human labels, in the declared order. Label codes are positions in it.
    count: (R,) number of records of the row, >= 0 (1 in a sample).
    model: whose responses. condition: the experimental condition ("with search"), one level "" when there is none.
    stratum: the *design* stratum of the draw (everything the sampling used except the model), one level "" if none.
    by: further stratum variables by name, such as category, subcategory, cue, question_type, thinking.
    judges: per judge (R,) label codes; -1 an output that is not a label, -2 no output.
    ratings: per judge (R,) ratings 0..100; -1 where the judge did not rate.
    confidence: (R,) exact integers on `grid` (85 on 100 is .85), -1 where there is none; grid: (R,) positive integers.
    confidence_usable: (R,) False keeps a stated confidence out of EHQ3 (`valid_for_ehq3` of ehq).
    correct, abstained, searched: (R,) facts parsed from a multiple-choice response: 1, 0, or -1 unknown.
    item_type: OK or IK (questions after the cut-off, widely known facts). item: the question. fact: WikiProfile's fact.
    technical: (R,) technical failures, those of the run and those that coders flagged; excluded and counted.
    possible: (R, q) labels that can occur (CORRECT cannot in FEQ and CCQ), None when all can.
    """

    labels: tuple[str, ...]
    count: IntArray
    model: Factor
    condition: Factor
    stratum: Factor
    by: Mapping[str, Factor]
    judges: Mapping[str, IntArray]
    ratings: Mapping[str, FloatArray]
    confidence: IntArray
    grid: IntArray
    confidence_usable: BoolArray
    correct: FlagArray
    abstained: FlagArray
    searched: FlagArray
    technical: BoolArray
    item_type: Factor | None = None
    item: Factor | None = None
    fact: Factor | None = None
    possible: BoolArray | None = None

    def __len__(self) -> int:
        return len(self.count)

    def __post_init__(self) -> None:
        _check(self)

    @classmethod
    def from_columns(
        cls,
        labels: Sequence[str],
        model: Sequence[str | None],
        *,
        judges: Mapping[str, Sequence[str | None]] | None = None,
        ratings: Mapping[str, Sequence[float | None]] | None = None,
        count: npt.ArrayLike | None = None,
        condition: Sequence[str | None] | None = None,
        stratum: Sequence[str | None] | None = None,
        by: Mapping[str, Sequence[str | None]] | None = None,
        confidence: Sequence[int | None] | None = None,
        grid: int | Sequence[int | None] = 100,
        confidence_usable: Sequence[bool | int | None] | None = None,
        correct: Sequence[bool | int | None] | None = None,
        abstained: Sequence[bool | int | None] | None = None,
        searched: Sequence[bool | int | None] | None = None,
        technical: Sequence[bool | int | None] | None = None,
        item_type: Sequence[str | None] | None = None,
        item: Sequence[str | None] | None = None,
        fact: Sequence[str | None] | None = None,
        possible: npt.ArrayLike | None = None,
        impossible: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    ) -> Records:
        """Build the table from plain columns (lists of R strings, numbers or None), as SQL returns them.

        None as a model or condition is the name "", in a by-variable the level "(not given)": no row is lost.
        judges: the *mapped* label of each judge; text outside `labels` counts as "not a label", None as missing.
        impossible: {label: {by-variable: values in which the label cannot occur}}, instead of `possible`.
        Raises AgreementError when lengths differ or a value is outside its range.
        """
        rows = len(model)
        known = tuple(labels)
        strata = {name: Factor.of(_named(column, NOT_GIVEN)) for name, column in (by or {}).items()}
        grids = [grid] * rows if isinstance(grid, int) else [g or 100 for g in grid]
        mask = None if possible is None else np.asarray(possible, np.bool_)
        return cls(
            labels=known,
            count=np.ones(rows, np.int64) if count is None else np.asarray(count, np.int64),
            model=Factor.of(_named(model, "")),
            condition=Factor.of(_named(condition, "")) if condition is not None else Factor.single(rows),
            stratum=Factor.of(stratum) if stratum is not None else Factor.single(rows),
            by=strata,
            judges={name: label_codes(known, column) for name, column in (judges or {}).items()},
            ratings={name: numbers(column, rows) for name, column in (ratings or {}).items()},
            confidence=integers(confidence, rows),
            grid=np.asarray(grids, np.int64),
            confidence_usable=flag(confidence_usable, rows, missing=1) != 0,
            correct=flag(correct, rows),
            abstained=flag(abstained, rows),
            searched=flag(searched, rows),
            technical=flag(technical, rows, missing=0) == 1,
            item_type=None if item_type is None else Factor.of(item_type),
            item=None if item is None else Factor.of(item),
            fact=None if fact is None else Factor.of(fact),
            possible=impossible_mask(known, strata, rows, impossible) if impossible else mask,
        )

    def take(self, rows: BoolArray | IntArray) -> Records:
        """The given rows (mask or positions); factors keep their names, so codes stay comparable."""
        changes: dict[str, Any] = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, Factor):
                changes[each.name] = value.take(rows)
            elif isinstance(value, np.ndarray):
                changes[each.name] = value[rows]
            elif isinstance(value, Mapping):
                changes[each.name] = {k: v.take(rows) if isinstance(v, Factor) else v[rows] for k, v in value.items()}
        return replace(self, **changes)

    def can_occur(self) -> BoolArray:
        """(R, q) labels that can occur in each row."""
        return np.ones((len(self), len(self.labels)), np.bool_) if self.possible is None else self.possible

    def factor(self, name: str) -> Factor:
        """A stratum variable by name: `model`, `condition`, `stratum`, `item_type`, or one of `by`."""
        if name in self.by:
            return self.by[name]
        found = getattr(self, name, None) if name in {"model", "condition", "stratum", "item_type"} else None
        if not isinstance(found, Factor):
            raise AgreementError(f"no variable named {name!r}: there are {', '.join(('model', 'condition', *self.by))}")
        return found


@dataclass(frozen=True, slots=True)
class Sample:
    """The n drawn units with what people said of them.

    records: their facts, count 1, `item` given (it is what population resampling draws).
    shares: (n, q) human label of each unit (the reference): one-hot, split 1/m where coders stay unresolved, or a zero
        row where no usable label exists (skipped, technical, not yet coded, or a protocol that only rates).
    inclusion: (n,) probability with which the unit was drawn, in (0, 1].
    weight: (n,) what it stands for; 1 / inclusion, scaled by drawn/labelled where coding is unfinished.
    status: (n,) one of STATUSES: where the label comes from (those of the human reference, or plainly "labelled"), or
        why there is none. A unit that coders flagged "technical" is out of both sides.
    ratings: (n, coders) alignment ratings 0..100, -1 where a coder did not rate; a column per coder, or one of the
        reference.
    treatments: other references, by name ("coder A", "majority", "adjudicated", "Dawid-Skene"): (n, q) shares each.
    rating_treatments: the same for ratings, (n, coders) each.
    unit: what the draw took, "response" or "item" (all models of a question at once).
    cautions: per treatment, why its labels may not be what they seem, where there is a reason.
    """

    records: Records
    shares: FloatArray
    inclusion: FloatArray
    weight: FloatArray
    status: tuple[str, ...]
    ratings: FloatArray | None = None
    treatments: Mapping[str, FloatArray] = field(default_factory=dict)
    rating_treatments: Mapping[str, FloatArray] = field(default_factory=dict)
    unit: str = "response"
    cautions: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.records)

    def __post_init__(self) -> None:
        _check_sample(self)

    @classmethod
    def of(
        cls,
        records: Records,
        shares: npt.ArrayLike,
        *,
        inclusion: npt.ArrayLike = 1.0,
        weight: npt.ArrayLike | None = None,
        status: Sequence[str] | None = None,
        **more: Any,
    ) -> Sample:
        """A sample from plain arrays: scalars are repeated, weights default to 1 / inclusion."""
        matrix = np.asarray(shares, np.float64)
        pi = np.broadcast_to(np.asarray(inclusion, np.float64), len(records)).copy()
        usable = matrix.sum(axis=1) > 0
        if more.get("ratings") is not None:
            more["ratings"] = np.asarray(more["ratings"], np.float64).reshape(len(records), -1)
            usable |= (more["ratings"] >= 0).any(axis=1)
        known = tuple(status) if status is not None else tuple("labelled" if u else UNFINISHED for u in usable)
        return cls(records, matrix, pi, 1 / pi if weight is None else np.asarray(weight, np.float64), known, **more)

    def take(self, rows: BoolArray | IntArray) -> Sample:
        """The given units (mask or positions)."""
        keep = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        return Sample(
            self.records.take(keep),
            self.shares[keep],
            self.inclusion[keep],
            self.weight[keep],
            tuple(self.status[i] for i in keep),
            None if self.ratings is None else self.ratings[keep],
            {name: shares[keep] for name, shares in self.treatments.items()},
            {name: ratings[keep] for name, ratings in self.rating_treatments.items()},
            self.unit,
        )

    def has(self, *statuses: str) -> BoolArray:
        """(n,) units with one of the given statuses."""
        return np.fromiter((s in statuses for s in self.status), np.bool_, len(self))


def impossible_mask(
    labels: tuple[str, ...],
    strata: Mapping[str, Factor],
    rows: int,
    rules: Mapping[str, Mapping[str, Sequence[str]]],
) -> BoolArray:
    """(rows, q) labels that can occur, from {label: {variable: values where it cannot}}.

    Raises AgreementError on a label that is not declared or a variable that is not given.
    """
    mask = np.ones((rows, len(labels)), np.bool_)
    for label, where in rules.items():
        for variable, values in where.items():
            if label not in labels or variable not in strata:
                raise AgreementError(f"impossible label {label!r} in {variable!r}: one of the two is not declared")
            mask[strata[variable].is_in(values), labels.index(label)] = False
    return mask


def _named(column: Sequence[str | None], missing: str) -> list[str]:
    return [missing if value is None else value for value in column]


def _check(records: Records) -> None:
    rows = len(records.count)
    if len(set(records.labels)) != len(records.labels):
        raise AgreementError("labels: each declared label once")
    for each in fields(records):
        value = getattr(records, each.name)
        parts = value.items() if isinstance(value, Mapping) else [(each.name, value)]
        for name, column in parts:
            if isinstance(column, np.ndarray | Factor) and len(column) != rows:
                raise AgreementError(f"{name} has {len(column)} entries for {rows} rows: give one per row")
    if rows and (records.count.min() < 0 or (records.grid < 1).any()):
        raise AgreementError("count must not be negative and grid must be positive")
    if records.possible is not None and records.possible.shape != (rows, len(records.labels)):
        raise AgreementError(f"possible must be {rows} x {len(records.labels)} (rows x declared labels)")
    outside = (records.confidence > records.grid) | (records.confidence < -1)
    if outside.any():
        i = int(np.flatnonzero(outside)[0])
        raise AgreementError(f"row {i}: confidence {records.confidence[i]} is outside 0..{records.grid[i]}")
    if ((records.correct == 1) & (records.abstained == 1)).any():
        i = int(np.flatnonzero((records.correct == 1) & (records.abstained == 1))[0])
        raise AgreementError(f"row {i}: a response cannot be both correct and an abstention; check key and option 5")


def _check_sample(sample: Sample) -> None:
    n, q = len(sample.records), len(sample.records.labels)
    if sample.records.item is None:
        raise AgreementError("sample: give `item`, the question of each unit")
    for name, matrix in (("shares", sample.shares), *sample.treatments.items()):
        if matrix.shape != (n, q):
            raise AgreementError(f"{name} must be {n} x {q} (units x declared labels), it is {matrix.shape}")
        total = matrix.sum(axis=1)
        if (matrix < 0).any() or (np.minimum(np.abs(total - 1), np.abs(total)) > 1e-9).any():
            raise AgreementError(f"{name}: each row must add to 1, or be zero where there is no usable label")
    for name, column in (("inclusion", sample.inclusion), ("weight", sample.weight), ("status", sample.status)):
        if len(column) != n:
            raise AgreementError(f"{name} has {len(column)} entries for {n} units: give one per unit")
    if n and not ((sample.inclusion > 0) & (sample.inclusion <= 1)).all():
        raise AgreementError("inclusion probabilities must lie in (0, 1]")
    unknown = set(sample.status) - set(STATUSES)
    if unknown:
        raise AgreementError(f"status {sorted(unknown)[0]!r} is not one of {', '.join(STATUSES)}")
