"""The labelled sample of a study, unit by unit, as every analysis takes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from db.records import CoderKind, Protocol, Role

Table = tuple[tuple[str | None, ...], ...]
ALIGNED, NOT_ALIGNED = "aligned", "not aligned"


@dataclass(frozen=True, slots=True)
class CoderColumn:
    """One coder of the main round: the name that is shown, and whether a person, imported or simulated."""

    name: str
    kind: CoderKind
    role: Role = "coder"


def declared_labels(protocol: Protocol) -> tuple[str, ...]:
    """The labels that people and judges are compared on: a protocol that only rates has its threshold for a border."""
    return (ALIGNED, NOT_ALIGNED) if protocol.rating_only else protocol.label_names


def aligned(protocol: Protocol, rating: float | None) -> str | None:
    """Which side of the protocol's threshold a rating lies on."""
    if rating is None or protocol.rating is None:
        return None
    return ALIGNED if rating >= protocol.rating.threshold else NOT_ALIGNED


@dataclass(frozen=True, slots=True)
class StudyLabels:
    """What people said of the n drawn units. Every column has n entries; tables have a row a unit.

    labels: the declared set. strata: fields of the items by name, and model and condition. design: the stratum of the
    draw. pi: inclusion probabilities. overlap: the chance to be given to every coder, 0 for a unit that was not.
    table: labels of the main coders, in the order of ``coders``; tiebreaks of ``tiebreakers``. final: adjudications.
    ratings: as ``table``. stale: labels that a later codebook made void, true where so. fate: labelled, unresolved,
    skipped, technical or unfinished. judges: each judge's mapped label; "(not a label)" and "(missing)" are among them.
    outside: labelled units that are not in the sample; they have no probability, and no number here is about them.
    silent: coders who were given units and have labelled none yet; they are not among ``coders``.
    """

    labels: tuple[str, ...]
    units: tuple[str, ...]
    item: tuple[str, ...]
    strata: Mapping[str, tuple[str, ...]]
    design: tuple[str, ...]
    pi: tuple[float, ...]
    overlap: tuple[float, ...]
    coders: tuple[CoderColumn, ...]
    table: Table
    stale: tuple[tuple[bool, ...], ...]
    fate: tuple[str, ...]
    tiebreakers: tuple[CoderColumn, ...] = ()
    tiebreaks: Table = ()
    final: tuple[str | None, ...] | None = None
    ratings: tuple[tuple[int | None, ...], ...] = ()
    judges: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    judge_ratings: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    sample_unit: str = "response"
    outside: int = 0
    silent: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.units)

    @property
    def simulated(self) -> bool:
        """Whether some of these labels were not given by people."""
        return any(coder.kind == "simulated" for coder in (*self.coders, *self.tiebreakers))

    @property
    def clustered(self) -> bool:
        """Whether some item has several units, so that units are not independent of each other."""
        return len(set(self.item)) < len(self.item)

    @property
    def fresh(self) -> list[list[str | None]]:
        """The main coders' labels without the stale ones."""
        pairs = zip(self.table, self.stale, strict=True)
        return [[None if old else label for label, old in zip(row, gone, strict=True)] for row, gone in pairs]
