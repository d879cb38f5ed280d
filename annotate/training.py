"""Training rounds and hidden checks: units with known labels, given to coders."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from annotate.studies import study_protocol
from db.assigning import Assigned, assign
from db.connection import writing
from db.errors import AnnotateError
from db.known import labels_of, mix_in, set_known, unit_of_record, units_unknown_to
from db.random_numbers import random_for
from db.study import Study

ADJUDICATED = "adjudicated"
_SOURCES = "Take known labels on responses outside the sample: a CSV file with item, model and label."


@dataclass(frozen=True, slots=True)
class Known:
    """Known labels by unit, and explanations of some of them."""

    labels: Mapping[str, str]
    explanations: Mapping[str, str]


def give_known(
    study: Study,
    coders: Sequence[str],
    source: str,
    *,
    kind: Literal["training", "check"],
    round_name: str,
    n: int | None,
    pass_mark: float | None,
    seed: str,
) -> Assigned:
    """Give ``n`` units with known labels (None: all) to the coders: a training round, or checks hidden in their queues.

    source: a CSV file (item, model, label, explanation), "adjudicated", or the name of a coder whose labels are taken.
    Only units that none of the coders codes otherwise. Raises AnnotateError; nothing is changed then.
    """
    with writing(study.connection) as connection:
        known = _read(study, source)
        if not known.labels:
            where = "the adjudication" if source == ADJUDICATED else source
            raise AnnotateError(f"There is no known label in {where} yet.", _SOURCES)
        free = units_unknown_to(connection, tuple(coders))
        units = sorted((u for u in known.labels if u in free), key=lambda u: random_for(seed, "known", u))[:n]
        if not units:
            raise AnnotateError(
                f"None of the {len(known.labels):,} units with a known label is new to these coders.",
                _SOURCES,
            )
        given = assign(
            study,
            coders,
            seed=seed,
            round_name=round_name,
            kind=kind,
            units=units,
            again=True,
            pairwise=study_protocol(study).pairwise,
        )
        labels = {unit: known.labels[unit] for unit in units}
        why = {unit: known.explanations[unit] for unit in units if unit in known.explanations}
        set_known(study, round_name, labels, pass_mark=pass_mark, explanations=why)
        if kind == "check":
            mix_in(study, round_name, seed=seed)
        return given


def _read(study: Study, source: str) -> Known:
    if source == ADJUDICATED:
        return Known(labels_of(study.connection, None), {})
    path = Path(source)
    if not path.is_file():
        return Known(labels_of(study.connection, source), {})
    return _from_file(study, path)


def _from_file(study: Study, path: Path) -> Known:
    names = study_protocol(study).label_names
    labels: dict[str, str] = {}
    explanations: dict[str, str] = {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        missing = {"item", "label"} - set(reader.fieldnames or ())
        if missing:
            raise AnnotateError(
                f"{path}: there is no column {' or '.join(sorted(missing))}.",
                "Columns: item, label, and where needed model and explanation.",
            )
        for line, row in enumerate(reader, 2):
            if row["label"] not in names:
                raise AnnotateError(
                    f"{path}, line {line}: {row['label']!r} is no label.", f"Labels: {', '.join(names)}."
                )
            unit = unit_of_record(study.connection, row["item"], row.get("model"))
            labels[unit] = row["label"]
            if row.get("explanation"):
                explanations[unit] = row["explanation"]
    return Known(labels, explanations)
