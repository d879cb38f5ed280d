"""A source as the population of a sample: its strata out of the counted cells, its draw out of the engine."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotate.counting.cell_file import CellTable
from annotate.counting.drawing import Draw, draw_units, fetch_records
from annotate.counting.run import Opened
from db.columns import NO_VALUE, plain_value
from db.errors import AnnotateError
from db.faults import BadRequest
from db.import_report import ImportRefused
from db.population import JUDGE_LABEL
from db.records import UnitFilter
from db.samples import Sample, Stratum, UnitKind
from db.sampling import StrataCounts
from db.source_draw import check_source_draw, draw_found
from db.study import Study

DRAWN = "drawn.jsonl"


@dataclass(slots=True)
class SourceCorpus:
    """A source that was opened and counted. ``items``: the file with the items, which ehq's records lie apart from.

    ``notes``: what the import of the drawn records had to say, once they are drawn.
    """

    opened: Opened
    table: CellTable
    items: Path | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def judges(self) -> tuple[str, ...]:
        return self.table.judges

    def strata_counts(
        self, by: Sequence[str], *, unit: UnitKind, judge: str | None, filters: Sequence[UnitFilter]
    ) -> StrataCounts:
        """As `db.sampling.strata_counts`, from the cells. Raises BadRequest for a field that there is not."""
        names = [f"judge:{judge}" if name == JUDGE_LABEL else name for name in by]
        wanted = ["technical", *(each.field for each in filters), *names, *(["item"] if unit == "item" else [])]
        for name in wanted:
            if name not in self.table.cells.levels:
                known = ", ".join(("model", "condition", JUDGE_LABEL, *self.table.strata))
                raise BadRequest(f"The source has no field {name!r}.", f"There is: {known}.")
        found: Counter[tuple[str, ...]] = Counter()
        left: Counter[str] = Counter()
        seen: set[tuple[Any, ...]] = set()
        cells = self.table.cells.of(wanted)
        columns = {name: cells.values(name) for name in cells.names}
        for at, count in enumerate(cells.counts.tolist()):
            row = {name: column[at] for name, column in columns.items()}
            why = _why_not(row, filters)
            stratum = tuple(_text(row[name]) for name in names)
            if why:
                left[why] += count
            elif unit == "response":
                found[stratum] += count
            elif (stratum, row["item"]) not in seen:
                seen.add((stratum, row["item"]))
                found[stratum] += 1
        strata = (Stratum(dict(zip(by, values, strict=True)), n, 0) for values, n in sorted(found.items()))
        return StrataCounts(tuple(strata), dict(sorted(left.items())))

    def draw(
        self,
        study: Study,
        strata: Sequence[Stratum],
        *,
        seed: str,
        by: Sequence[str],
        allocation: str,
        unit: UnitKind,
        judge: str | None,
        filters: Sequence[UnitFilter],
    ) -> Sample:
        """Draw in the engine, import the drawn records alone, and put the sample in force.

        Raises Refused or AnnotateError; nothing is imported where the draw could not be put in force.
        """
        check_source_draw(study, seed=seed, by=by, unit=unit)
        design = Draw(seed, tuple(by), unit, judge, tuple(filters), tuple(strata))
        units = draw_units(self.opened, design)
        records = fetch_records(self.opened, units, unit)
        self._import(study, records)
        return draw_found(
            study,
            units,
            strata,
            seed=seed,
            by=by,
            allocation=allocation,
            unit=unit,
            judge=judge,
            filters=filters,
            source=self._facts(),
        )

    def _facts(self) -> dict[str, Any]:
        return {
            "cells": self.table.digest,
            "read": self.table.account["read"],
            "counted": self.table.account["counted"],
        }

    def _import(self, study: Study, records: Sequence[Mapping[str, Any]]) -> None:
        from annotate.importing import Wanted, make_ready, run_import

        folder = Path(tempfile.mkdtemp(prefix="annotate-drawn-"))
        try:
            path = folder / DRAWN
            lines = (json.dumps(record, ensure_ascii=False, default=str) + "\n" for record in records)
            path.write_text("".join(lines), encoding="utf-8", newline="")
            files = (path,) if self.items is None else (self.items, path)
            ignored = ("delimiter", "quoting", "encoding")  # the drawn records are JSON lines, however they lay
            options = {k: v for k, v in self.opened.shape.options.items() if k not in ignored}
            job = make_ready(Wanted(files, "", self.opened.shape.format, options))
            run_import(study, job)
            self.notes += job.tally.notes
        except ImportRefused as refused:
            first = next(iter(refused.report.rejects), None)
            reason = f": {first.reason}" if first is not None else ""
            raise AnnotateError(
                f"{refused.report.rejected:,} of the drawn records could not be imported{reason}.",
                "The study is unchanged. Are question and response mapped, and is --items named for ehq?",
            ) from None
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _why_not(row: Mapping[str, Any], filters: Sequence[UnitFilter]) -> str:
    if row["technical"]:
        return "technical failure"
    for each in filters:
        wanted = {plain_value(value) for value in each.values}
        if not (_text(row[each.field]) in wanted if wanted else bool(row[each.field])):
            return "outside the protocol's filter"
    return ""


def _text(value: Any) -> str:
    return NO_VALUE if value is None else str(value)
