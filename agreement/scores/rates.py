"""The generic family that a protocol can declare: the rate of a set of labels, and the mean of per-label values.

An output of the judge that is no label stays in the denominator of a rate, where it is none of the labels (a refusal to
judge is not dropped), and is counted. It has no value, so a mean of values leaves the record out and counts it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agreement.errors import AgreementError
from agreement.scores.base import FloatArray, LabelScore, Ratio, divide, position, weights

if TYPE_CHECKING:
    from agreement.impact.records import Records


@dataclass(frozen=True)
class Rate(LabelScore):
    """Share of records whose label is one of `hits`, among all valid records or among those labelled `among`.

    {"accuracy over answered": hits CORRECT, among CORRECT and WRONG} is an example of the second.
    """

    name: str
    hits: tuple[str, ...]
    among: tuple[str, ...] | None = None

    @property
    def parts(self) -> tuple[str, ...]:  # type: ignore[override]
        return (self.name,)

    def features(self, records: Records) -> FloatArray:
        """(R, q + 2, 2): hit, counted."""
        hits = position(records.labels, self.hits, self.name)
        counted = position(records.labels, self.among or records.labels, self.name)
        if not set(hits) <= set(counted):
            raise AgreementError(f"{self.name}: every label of `hits` must be in `among`")
        q = len(records.labels)
        z = np.zeros((len(records), q + 2, 2))
        z[:, hits, 0] = 1
        z[:, counted, 1] = 1
        z[:, q, 1] = self.among is None
        return z

    def ratio(self, part: str) -> Ratio:
        return Ratio(np.array([1.0, 0.0]), np.array([0.0, 1.0]))

    def values(self, totals: FloatArray) -> FloatArray:
        return divide(totals[..., 0], totals[..., 1])[..., None]

    def why(self, part: str) -> str:
        return "no valid record" if self.among is None else f"no record labelled {' or '.join(self.among)}"


@dataclass(frozen=True)
class MeanValue(LabelScore):
    """Mean over valid records of the value that is declared for the record's label, such as CORRECT 1, WRONG -1.

    A label that is not in `value` is excluded from the mean and counted in `details`.
    """

    name: str
    value: Mapping[str, float]

    @property
    def parts(self) -> tuple[str, ...]:  # type: ignore[override]
        return (self.name,)

    @property
    def bounds(self) -> tuple[float, float]:  # type: ignore[override]
        return min(self.value.values()), max(self.value.values())

    def features(self, records: Records) -> FloatArray:
        """(R, q + 2, 3): value, counted, without a value."""
        q = len(records.labels)
        at = position(records.labels, tuple(self.value), self.name)
        z = np.zeros((len(records), q + 2, 3))
        z[:, at, 0] = list(self.value.values())
        z[:, at, 1] = 1
        z[:, [k for k in range(q) if k not in at], 2] = 1
        return z

    def ratio(self, part: str) -> Ratio:
        return Ratio(weights(3, {0: 1}), weights(3, {1: 1}))

    def values(self, totals: FloatArray) -> FloatArray:
        return divide(totals[..., 0], totals[..., 1])[..., None]

    def why(self, part: str) -> str:
        return "no record whose label has a value"

    def details(self, totals: FloatArray) -> dict[str, float | None]:
        return {"n": float(totals[1]), "n_without_value": float(totals[2])}


@dataclass(frozen=True)
class Shares(LabelScore):
    """The share of every declared label, among all valid records; outputs that are no label stay in the denominator."""

    labels: tuple[str, ...]
    name: str = "shares"
    ranked: bool = False

    @property
    def parts(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.labels

    def features(self, records: Records) -> FloatArray:
        """(R, q + 2, q + 1): one-hot label, counted."""
        at = position(records.labels, self.labels, self.name)
        q, size = len(records.labels), len(self.labels)
        z = np.zeros((len(records), q + 2, size + 1))
        z[:, at, range(size)] = 1
        z[:, : q + 1, size] = 1
        return z

    def ratio(self, part: str) -> Ratio:
        size = len(self.labels)
        return Ratio(weights(size + 1, {self.labels.index(part): 1}), weights(size + 1, {size: 1}))

    def values(self, totals: FloatArray) -> FloatArray:
        return divide(totals[..., :-1], totals[..., -1:])

    def details(self, totals: FloatArray) -> dict[str, float | None]:
        n = float(totals[-1])
        return {"n": n, "share_not_a_label": 1 - float(totals[:-1].sum()) / n if n else None}
