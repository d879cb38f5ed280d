"""What score impact returns: one frozen object, from which terminal, HTML and Markdown reports are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from agreement.impact.decompose import CellShift
from agreement.impact.estimate import Estimate
from agreement.impact.fairness import Fairness
from agreement.impact.onsample import SamplePart
from agreement.impact.pooling import Pooling
from agreement.impact.ranking import Ranking
from agreement.impact.settle import LabelsNeeded
from agreement.impact.thresholds import ThresholdSweep
from agreement.scores.ehq import CalibrationBin

if TYPE_CHECKING:
    from agreement.impact.profile_tables import ProfileTables


@dataclass(frozen=True, slots=True)
class Bounds:
    """The sample score with skipped units at their worst and best value."""

    low: float | None
    high: float | None
    skipped: int


@dataclass(frozen=True, slots=True)
class PartImpact:
    """One part of one model.

    judge: the judge alone, on the whole corpus. human: the corpus under people's labels. delta: people minus judge, on
    the corpus. sample: judge, people and the paired difference on the labelled records, never mixed with the former.
    methods: other estimators of the corpus value, by name. cells: what moves the score, by confusion cell, on the
    sample. dropped: on the sample, with unresolved units left out. skips: with skipped units at worst and best.
    without_non_labels: the judge's value when its outputs that are no label are left out, where there are any.
    """

    part: str
    judge: Estimate
    human: Estimate
    delta: Estimate
    sample: SamplePart | None = None
    methods: Mapping[str, Estimate] = field(default_factory=dict)
    cells: tuple[CellShift, ...] = ()
    dropped: Estimate | None = None
    skips: Bounds | None = None
    without_non_labels: float | None = None


@dataclass(frozen=True, slots=True)
class LevelImpact:
    """One level of a stratum variable for one model: parts on the corpus and on the sample."""

    parts: Mapping[str, PartImpact]
    n: int
    n_labelled: int
    details: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class ModelImpact:
    """One model under one judge.

    n: valid records of the model (of its first score). n_labelled: sampled units that judge and people score. details:
    counts beside the scores. excluded: records by reason, per score. lost: what became of the sampled units, per score.
    calibration: confidence bins under the judge (corpus) and people (sample), where EHQ3 is scored. sentence: what
    happened, in plain words.
    """

    model: str
    parts: Mapping[str, PartImpact]
    n: int
    n_labelled: int
    details: Mapping[str, Mapping[str, float | None]]
    excluded: Mapping[str, Mapping[str, int]]
    lost: Mapping[str, Mapping[str, int]]
    not_labels: int
    missing_labels: int
    by: Mapping[str, Mapping[str, LevelImpact]]
    calibration: Mapping[str, tuple[CalibrationBin, ...]]
    sentence: str


@dataclass(frozen=True, slots=True)
class TreatmentRow:
    """One way to treat disagreement between coders: each model's part on sample and corpus.

    caution: why the treatment's labels may not be what they seem, or None.
    """

    treatment: str
    part: str
    human: Mapping[str, Estimate]
    delta: Mapping[str, Estimate]
    sample_human: Mapping[str, Estimate]
    n: Mapping[str, int]
    caution: str | None = None


@dataclass(frozen=True, slots=True)
class JudgeImpact:
    """Everything about one judge. labels_needed: per ranked part, for each close pair (first, second)."""

    judge: str
    models: Mapping[str, ModelImpact]
    rankings: Mapping[str, Ranking]
    labels_needed: Mapping[str, Mapping[tuple[str, str], LabelsNeeded]]
    fairness: Fairness | None
    thresholds: Mapping[str, ThresholdSweep]
    treatments: tuple[TreatmentRow, ...]
    pooling: tuple[Pooling, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImpactResult:
    """Score impact under one or several judges; `judges` keeps their order, the first one is the main one.

    target: "corpus" (the records at hand) or "population" (of such questions). convention: how units were drawn and
    weighted, and how intervals were made. records: rows in; accounted for by n and excluded of every model.
    profiles: by judge, where the scores are knowledge profiles.
    """

    judges: Mapping[str, JudgeImpact]
    parts: tuple[str, ...]
    target: str
    level: float
    draws: int
    seed: int
    records: int
    labelled: int
    judge_only: bool
    convention: str
    notes: tuple[str, ...] = ()
    profiles: Mapping[str, ProfileTables] = field(default_factory=dict)

    @property
    def main(self) -> JudgeImpact:
        """The first judge."""
        return next(iter(self.judges.values()))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: {"models": {NAME: {"judge": {part: value}, "human": {...}, "n": ..., "by": {...}, ...}}, ...}.

        `models` is that of the main judge; all judges are under `judges` in the same shape. Numbers are floats or None.
        """
        return {
            "models": {name: _model(model) for name, model in self.main.models.items()},
            "judge": self.main.judge,
            "judges": {name: _judge(judge) for name, judge in self.judges.items()},
            "parts": list(self.parts),
            "target": self.target,
            "level": self.level,
            "draws": self.draws,
            "seed": self.seed,
            "records": self.records,
            "labelled": self.labelled,
            "judge_only": self.judge_only,
            "convention": self.convention,
            "notes": list(self.notes),
        } | ({"profiles": plain(self.profiles)} if self.profiles else {})


def _judge(judge: JudgeImpact) -> dict[str, Any]:
    pairs = {
        part: [{"first": a, "second": b} | plain(needed) for (a, b), needed in found.items()]
        for part, found in judge.labels_needed.items()
    }
    return {
        "models": {name: _model(model) for name, model in judge.models.items()},
        "rankings": plain(judge.rankings),
        "labels_needed": pairs,
        "fairness": plain(judge.fairness),
        "thresholds": plain(judge.thresholds),
        "treatments": plain(judge.treatments),
        "pooling": plain(judge.pooling),
        "notes": list(judge.notes),
    }


def _model(model: ModelImpact) -> dict[str, Any]:
    return _values(model.parts) | {
        "n": model.n,
        "n_labelled": model.n_labelled,
        "by": {
            variable: {
                value: _values(level.parts)
                | {"n": level.n, "n_labelled": level.n_labelled, "details": plain(level.details)}
                for value, level in levels.items()
            }
            for variable, levels in model.by.items()
        },
        "sentence": model.sentence,
        "calibration": plain(model.calibration),
        "details": plain(model.details),
        "excluded": plain(model.excluded),
        "sampled": plain(model.lost),
        "not_labels": model.not_labels,
        "missing_labels": model.missing_labels,
    }


def _values(parts: Mapping[str, PartImpact]) -> dict[str, Any]:
    """The plain values by side, and everything else under `parts`."""
    return {
        "judge": {name: part.judge.value for name, part in parts.items()},
        "human": {name: part.human.value for name, part in parts.items()},
        "delta": {name: plain(part.delta) for name, part in parts.items()},
        "parts": {name: plain(part) for name, part in parts.items()},
    }


def plain(value: Any) -> Any:
    """Dataclasses, mappings, tuples and arrays as JSON types; numbers that are not finite become None."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value
