"""What a score is: a function of totals of per-record features, so that counts of distinct cells are enough.

Each record has a vector of *features* that depends on its label and on facts known without a label (a confidence, a
parsed choice). A score's parts are functions of the weighted totals of these vectors. Judge, people, a resample and a
posterior draw differ only in the totals, so that one small class gives every estimator of score impact.

What a judge or a coder decides about a record is its *outcome*: usually a declared label, or an aligned reason. Feature
arrays have a row of columns for every outcome and two more, `NO_LABEL` for an output that is no outcome and `NO_OUTPUT`
where nothing was said. A record whose features there are all zero cannot be scored without an outcome.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from agreement.errors import AgreementError

if TYPE_CHECKING:
    from agreement.impact.records import Records, Sample

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

NO_LABEL, NO_OUTPUT = -1, -2
VALID = "valid"
TECHNICAL = "technical failure"


@dataclass(frozen=True, slots=True)
class Ratio:
    """A part that is (numerator . T) / (denominator . T) of the totals T (d,): a mean of per-record values."""

    numerator: FloatArray
    denominator: FloatArray


@dataclass(frozen=True, slots=True)
class Scope:
    """Which records a score counts: (R,) positions in `reasons`, whose first entry is "valid"."""

    codes: IntArray
    reasons: tuple[str, ...]

    @property
    def valid(self) -> BoolArray:
        inside: BoolArray = self.codes == 0
        return inside

    def counts(self, count: IntArray) -> dict[str, int]:
        """Number of records by reason for exclusion (and "valid"); they add to all records."""
        totals = np.bincount(self.codes, count, len(self.reasons))
        return {
            reason: int(total) for reason, total in zip(self.reasons, totals, strict=True) if total or reason == VALID
        }


@dataclass(frozen=True, slots=True)
class Opened:
    """An upper bound that the data cannot narrow, with the sentence that says so."""

    upper: float
    note: str


class Score(Protocol):
    """One score with its parts. A new score is one class with these methods, in a file of its own."""

    @property
    def name(self) -> str: ...
    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the numbers that it gives; unique over all scores of a study."""
        ...

    @property
    def headline(self) -> str:
        """The part that models are ranked on."""
        ...

    @property
    def ranked(self) -> bool:
        """Whether models are ranked on the headline unless the caller says otherwise."""
        ...

    @property
    def needs(self) -> tuple[str, ...]:
        """Columns of `Records` that must be given beside model and count."""
        ...

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest possible value of the parts."""
        ...

    def outcomes(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        """Names of the O outcomes that a judge or a coder can give."""
        ...

    def foreign(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        """Outcomes that the score cannot use; a record that people give one of them is out of both sides."""
        ...

    def scope(self, records: Records) -> Scope:
        """Which records count, and why the others do not."""
        ...

    def judged(self, records: Records, judge: str) -> IntArray:
        """(R,) the judge's outcome, NO_LABEL or NO_OUTPUT."""
        ...

    def human(self, sample: Sample, treatment: str | None = None) -> FloatArray:
        """(n, O) people's outcome as shares; a zero row where there is none. `treatment`: another reference."""
        ...

    def possible(self, records: Records) -> BoolArray:
        """(R, O) outcomes that can occur."""
        ...

    def features(self, records: Records) -> FloatArray:
        """(R, O + 2, d) features under each outcome; the last two columns are no label and no output."""
        ...

    def ratio(self, part: str) -> Ratio | None:
        """The part as a ratio of totals, or None when it is another function of them."""
        ...

    def values(self, totals: FloatArray) -> FloatArray:
        """(..., d) totals to (..., P) parts; NaN marks an undefined part inside the engine."""
        ...

    def why(self, part: str) -> str:
        """In plain words, why the part is undefined where it is."""
        ...

    def details(self, totals: FloatArray) -> dict[str, float | None]:
        """Counts and rates that belong beside the score, from totals (d,)."""
        ...

    def warnings(self, records: Records) -> tuple[str, ...]:
        """What makes the score uninterpretable on these records."""
        ...

    def open_upper(self, totals: FloatArray, draws: FloatArray) -> Mapping[str, Opened]:
        """Parts whose upper bound noise leaves open, from totals (d,) and their draws (B, d)."""
        ...


class LabelScore:
    """Defaults for a score whose outcomes are the declared labels."""

    name: str
    parts: tuple[str, ...]
    bounds: tuple[float, float] = (0.0, 1.0)
    needs: tuple[str, ...] = ("judges",)
    ranked: bool = True

    @property
    def headline(self) -> str:
        return self.parts[0]

    def outcomes(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        return labels

    def foreign(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        return ()

    def scope(self, records: Records) -> Scope:
        return Scope(records.technical.astype(np.int64), (VALID, TECHNICAL))

    def judged(self, records: Records, judge: str) -> IntArray:
        if judge not in records.judges:
            raise AgreementError(f"no judge named {judge!r}: there are {', '.join(records.judges) or 'none'}")
        return records.judges[judge]

    def human(self, sample: Sample, treatment: str | None = None) -> FloatArray:
        if treatment is None:
            return sample.shares
        if treatment not in sample.treatments:
            raise AgreementError(
                f"no reference named {treatment!r}: there are {', '.join(sample.treatments) or 'none'}"
            )
        return sample.treatments[treatment]

    def possible(self, records: Records) -> BoolArray:
        return records.can_occur()

    def ratio(self, part: str) -> Ratio | None:
        return None

    def why(self, part: str) -> str:
        return "no valid record"

    def details(self, totals: FloatArray) -> dict[str, float | None]:
        return {}

    def warnings(self, records: Records) -> tuple[str, ...]:
        return ()

    def open_upper(self, totals: FloatArray, draws: FloatArray) -> Mapping[str, Opened]:
        return {}


def divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Elementwise quotient, NaN where the denominator is not positive."""
    safe = np.where(denominator > 0, denominator, 1.0)
    return np.where(denominator > 0, numerator / safe, np.nan)


def weights(size: int, terms: Mapping[int, float]) -> FloatArray:
    """(size,) vector with the given weight at each given position, zero elsewhere."""
    vector = np.zeros(size)
    vector[list(terms)] = list(terms.values())
    return vector


def position(labels: tuple[str, ...], names: tuple[str, ...], score: str) -> list[int]:
    """Positions of the named labels among the declared ones; raises AgreementError when one is not declared."""
    missing = [name for name in names if name not in labels]
    if missing:
        raise AgreementError(f"{score} needs the label {missing[0]}; declared are {', '.join(labels)}")
    return [labels.index(name) for name in names]
