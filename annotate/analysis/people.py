"""Agreement of people with each other: every coefficient with its interval, by pair, by label and by stratum."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from agreement import (
    Coefficient,
    brennan_prediger,
    cohen_kappa,
    conger_kappa,
    fleiss_kappa,
    gwet_ac,
    icc,
    krippendorff_alpha,
    light_kappa,
    lin_concordance,
    percent_agreement,
    prevalence_bias,
    scott_pi,
    specific_agreement,
)
from agreement.design import DesignWeights, design_weights
from agreement.indices import Indices, maximum_kappa
from annotate.analysis.labels import StudyLabels

Rows = Sequence[Sequence[str | None]]
OVERALL: Mapping[str, Callable[..., Coefficient]] = {
    "percent_agreement": percent_agreement,
    "fleiss_kappa": fleiss_kappa,
    "conger_kappa": conger_kappa,
    "light_kappa": light_kappa,
    "brennan_prediger": brennan_prediger,
    "gwet_ac1": gwet_ac,
    "krippendorff_alpha": krippendorff_alpha,
}
PAIR: Mapping[str, Callable[..., Coefficient]] = {"percent_agreement": percent_agreement, "cohen_kappa": cohen_kappa}
IN_STRATA = ("percent_agreement", "fleiss_kappa", "krippendorff_alpha")
RATINGS: Mapping[str, Callable[..., Coefficient]] = {"icc_a1": icc, "lin_concordance": lin_concordance}


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two coders on the units that both labelled. ``largest_kappa`` is what their label shares allow."""

    first: str
    second: str
    coefficients: Mapping[str, Coefficient]
    largest_kappa: float | None


@dataclass(frozen=True, slots=True)
class PeopleAgreement:
    """What people agree on. ``n_units`` have two labels or more; ``n_single`` have one, and say nothing here.

    labels: specific agreement by label, and its prevalence and bias. by: variable, then level, then coefficient.
    with_tiebreakers: over all columns of labels, tie-breakers included, where there are any. ratings: 0-100 ratings.
    """

    coders: tuple[str, ...]
    n_units: int
    n_single: int
    coefficients: Mapping[str, Coefficient]
    pairs: tuple[PairAgreement, ...]
    labels: Mapping[str, Coefficient]
    indices: Mapping[str, Indices]
    by: Mapping[str, Mapping[str, Mapping[str, Coefficient]]]
    with_tiebreakers: Mapping[str, Coefficient] = field(default_factory=dict)
    ratings: Mapping[str, Coefficient] = field(default_factory=dict)
    weighted: bool = False
    notes: tuple[str, ...] = ()


def people_agreement(
    study: StudyLabels, by: Sequence[str] = ("model",), *, confidence: float = 0.95
) -> PeopleAgreement:
    """Agreement of the main coders, weighted by the design, units of one item grouped.

    by: fields to break it down by; a level in which no unit has two labels is there with its reason.
    """
    names = [coder.name for coder in study.coders]
    main = _Units.of(study, study.fresh, names, confidence)
    used = main.keep
    tied = _with_tiebreakers(study, names, confidence)
    return PeopleAgreement(
        coders=tuple(names),
        n_units=int(used.sum()),
        n_single=int((main.count == 1).sum()),
        coefficients=main.all(OVERALL)
        | (main.all({"cohen_kappa": cohen_kappa, "scott_pi": scott_pi}) if len(names) == 2 else {}),
        pairs=tuple(_pair(study, main, a, b, confidence) for a, b in combinations(range(len(names)), 2)),
        labels={str(label): found for label, found in main.every(specific_agreement).items()},
        indices={str(label): found for label, found in main.indices().items()},
        by={name: _levels(study, main, name) for name in by if name in study.strata},
        with_tiebreakers=tied.all({n: OVERALL[n] for n in IN_STRATA}) if tied else {},
        ratings=_ratings(study, names, confidence),
        weighted=main.weights is not None,
        notes=(
            *(main.design.notes if main.design and main.weights is not None else ()),
            *((f"no label yet, so not among the coders: {', '.join(study.silent)}",) if study.silent else ()),
        ),
    )


@dataclass(frozen=True, slots=True)
class _Units:
    """Rows of labels that can be compared, with what every coefficient needs to know of them."""

    labels: tuple[str, ...]
    coders: list[str]
    rows: Rows
    count: Any
    keep: Any
    weights: Any
    items: tuple[str, ...] | None
    strata: tuple[str, ...] | None
    design: DesignWeights | None
    confidence: float

    @classmethod
    def of(cls, study: StudyLabels, rows: Rows, coders: list[str], confidence: float) -> _Units:
        count = np.array([sum(label is not None for label in row) for row in rows], dtype=np.int64)
        if not len(study):
            return cls(study.labels, coders, rows, count, count > 1, None, None, None, None, confidence)
        several = (count > 1) & (np.array(study.overlap) > 0)
        design = design_weights(study.pi, several, study.design, overlap=study.overlap)
        return cls(
            study.labels,
            coders,
            rows,
            count,
            several,
            None if _even(design.weights[several]) else design.weights,
            study.item if study.clustered else None,
            None if study.clustered else study.design,
            design,
            confidence,
        )

    def where(self, keep: Any) -> _Units:
        """The units where ``keep`` holds too."""
        return _Units(*(getattr(self, name) if name != "keep" else self.keep & keep for name in self.__slots__))

    def given(self, rows: Rows | None = None, keep: Any = None) -> tuple[dict[str, list[str | None]], dict[str, Any]]:
        """The labels by coder, and the options that go with them."""
        rows, keep = self.rows if rows is None else rows, self.keep if keep is None else keep
        at = np.flatnonzero(keep).tolist()
        table = {name: [rows[i][column] for i in at] for column, name in enumerate(self.coders)}
        options: dict[str, Any] = {"labels": self.labels, "confidence": self.confidence}
        if self.weights is not None:
            options["unit_weights"] = self.weights[at]
        if self.items is not None:
            options["items"] = [self.items[i] for i in at]
        elif self.strata is not None and len(set(self.strata)) > 1:
            options["strata"] = [self.strata[i] for i in at]
        return table, options

    def all(self, wanted: Mapping[str, Callable[..., Coefficient]]) -> dict[str, Coefficient]:
        """Each coefficient over the units, or undefined with the reason."""
        table, options = self.given()
        if len(self.coders) < 2:
            return {name: nothing(name, "one coder: there is nobody to agree with") for name in wanted}
        if not self.keep.any():
            return {name: nothing(name, "no unit has two labels") for name in wanted}
        return {name: function(table, **options) for name, function in wanted.items()}

    def every(self, function: Callable[..., Mapping[Any, Coefficient]]) -> Mapping[Any, Coefficient]:
        if len(self.coders) < 2 or not self.keep.any():
            return {label: nothing("specific agreement", "no unit has two labels") for label in self.labels}
        table, options = self.given()
        return function(table, **options)

    def indices(self) -> Mapping[Any, Indices]:
        if len(self.coders) < 2 or not self.keep.any():
            return {}
        table, options = self.given()
        return prevalence_bias(table, labels=self.labels, unit_weights=options.get("unit_weights"))


def nothing(name: str, reason: str) -> Coefficient:
    """A coefficient that cannot be had, with the reason."""
    return Coefficient(name, None, None, None, None, 0.95, 0, 0, 0, 0, "", undefined=reason)


def _even(weights: Any) -> bool:
    """Whether all weights are the same, so that they change nothing."""
    return not len(weights) or bool(np.ptp(weights) <= 1e-12 * weights.max())


def _pair(study: StudyLabels, main: _Units, a: int, b: int, confidence: float) -> PairAgreement:
    rows = [(row[a], row[b]) for row in main.rows]
    names = [main.coders[a], main.coders[b]]
    units = _Units.of(study, rows, names, confidence)
    largest = None
    if units.keep.any():
        table, options = units.given()
        weights = options.get("unit_weights")
        largest = maximum_kappa(table, labels=study.labels, unit_weights=weights).value
    return PairAgreement(names[0], names[1], units.all(PAIR), largest)


def _levels(study: StudyLabels, main: _Units, name: str) -> dict[str, dict[str, Coefficient]]:
    column = np.array(study.strata[name], dtype=object)
    wanted = {each: OVERALL[each] for each in IN_STRATA} | (
        {"cohen_kappa": cohen_kappa} if len(main.coders) == 2 else {}
    )
    return {str(level): main.where(column == level).all(wanted) for level in sorted(set(column.tolist()))}


def _with_tiebreakers(study: StudyLabels, names: list[str], confidence: float) -> _Units | None:
    if not study.tiebreakers:
        return None
    rows = [[*main, *tied] for main, tied in zip(study.fresh, study.tiebreaks, strict=True)]
    return _Units.of(study, rows, [*names, *(coder.name for coder in study.tiebreakers)], confidence)


def _ratings(study: StudyLabels, names: list[str], confidence: float) -> dict[str, Coefficient]:
    """Agreement of the 0-100 ratings over the units that two coders or more rated."""
    rated = [row for row in study.ratings if sum(value is not None for value in row) > 1]
    if not rated:
        return {}
    table = {name: [row[column] for row in rated] for column, name in enumerate(names)}
    found = {name: function(table, confidence=confidence) for name, function in RATINGS.items()}
    return found | {"alpha_interval": krippendorff_alpha(table, level="interval", confidence=confidence)}
