"""Exports in the forms of other tools: units with their texts, counted on the way in and on the way out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from annotate.exporters import Unit, Written, get_exporter, group_rows
from annotate.studies import study_protocol
from db.errors import AnnotateError
from db.export_rows import content_rows
from db.records import HumanLabelRow, ItemRow, JudgeLabelRow
from db.samples import current_sample
from db.study import Study


@dataclass(frozen=True, slots=True)
class Form:
    """How a study is written: ``blind`` without models and judges; ``everything`` also what was not drawn."""

    names: bool = False
    notes: bool = False
    blind: bool = False
    text: bool = True
    everything: bool = False


@dataclass(frozen=True, slots=True)
class Exported:
    """What went into a file. ``outside``: labels left out because their units are not in the sample."""

    units: int
    people: int
    judges: int
    outside: int = 0


def write_units(study: Study, name: str, out: Path, form: Form) -> Exported:
    """Write the study in the form of that name. Raises AnnotateError where ``out`` exists or counts do not add up."""
    exporter = get_exporter(name)
    new_file(out)
    read = [0, 0, 0]
    found = _units(study, form)
    if name == "study_rows":
        found = _of_the_sample(study, found, left := [0])
    else:
        left = [0]
    written = exporter.write(_counted(found, read), out, protocol=study_protocol(study), blind=form.blind)
    checked(written, read, judges=name in ("label_studio", "study_rows") and not form.blind)
    return Exported(written.units, written.people, written.judges, left[0])


def write_into_log(study: Study, log: Path, out: Path, form: Form) -> Exported:
    """Write people's labels into a copy of an inspect_ai log. Raises AnnotateError."""
    from annotate.exporters.inspect_ai import write_scores

    read = [0, 0, 0]
    written = write_scores(log, out, _counted(_units(study, form), read))
    checked(written, read, judges=False)
    return Exported(written.units, written.people, written.judges)


def new_file(out: Path) -> None:
    """Raises AnnotateError where ``out`` is there, or its folder is not."""
    if out.exists():
        raise AnnotateError(f"{out}: there is already a file of that name.", "Name another one, or delete it first.")
    if not out.parent.is_dir():
        raise AnnotateError(f"{out.parent}: there is no such folder.", "Make it first.")


def checked(written: Written, read: list[int], *, judges: bool) -> None:
    """Raises AnnotateError where not everything that was read was written."""
    wanted = (read[0], read[1], read[2] if judges else written.judges)
    if (written.units, written.people, written.judges) != wanted:
        raise AnnotateError(
            f"{read[0]:,} units with {read[1]:,} labels were read, {written.units:,} with {written.people:,} written.",
            "Do not use the file; please report this.",
        )


def _units(study: Study, form: Form) -> Iterator[Unit]:
    rows = content_rows(study, everything=form.everything, names=form.names, notes=form.notes)
    for unit in group_rows(rows):
        yield unit if form.text else _without_text(unit)


def _of_the_sample(study: Study, units: Iterator[Unit], left: list[int]) -> Iterator[Unit]:
    """Where labels carry probabilities, those outside the sample have none, and an import would refuse all: counted."""
    sample = current_sample(study)
    if sample is None or sample.kind == "census":
        yield from units
        return
    for unit in units:
        kept = tuple(row for row in unit.people if row.pi is not None)
        left[0] += len(unit.people) - len(kept)
        yield replace(unit, people=kept)


def _without_text(unit: Unit) -> Unit:
    item = ItemRow(unit.item.key, unit.item.row, "", strata=unit.item.strata)
    response = replace(unit.response, text="", text_b=None, reason=None, extra={})
    judges = tuple(replace(row, rationale=None, reply=None) for row in unit.judges)
    return Unit(item, response, unit.people, judges)


def _counted(units: Iterator[Unit], read: list[int]) -> Iterator[Unit]:
    for unit in units:
        read[0] += 1
        read[1] += sum(isinstance(row, HumanLabelRow) for row in unit.people)
        read[2] += sum(isinstance(row, JudgeLabelRow) for row in unit.judges)
        yield unit
