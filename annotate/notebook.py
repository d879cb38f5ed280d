"""A study for notebooks: ``annotate.open_study("study.db").labels`` as a DataFrame, its numbers, its counted corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from db.study import Study
from db.study import open_study as open_file

if TYPE_CHECKING:
    import pandas as pd

    from agreement.impact import ImpactResult
    from annotate.results import Results


class StudyFrames:
    """One study, read only. Every property is read anew; use it in a ``with`` block or call ``close``.

    Coders go by their pseudonyms. Columns are those of the study file's records, also where there is no row yet;
    nested values stay as they are.
    """

    def __init__(self, study: Study) -> None:
        self._study = study

    @property
    def items(self) -> pd.DataFrame:
        """One row an item: key, question, gold answers, a column for each stratum field."""
        from db.content import ItemContent, item_contents

        rows = [{**_without(item, "strata"), **item.strata} for item in item_contents(self._study)]
        return _frame(rows, _names(ItemContent, "strata"))

    @property
    def responses(self) -> pd.DataFrame:
        """One row a response, with the mapped label of each judge in a column ``judge:NAME``."""
        from db.content import ResponseContent, response_contents
        from db.corpus import response_rows
        from db.facts import judge_ids

        judges = [f"judge:{name}" for name in judge_ids(self._study.connection)]
        keys = ["item", "model", "condition", "repeat"]
        said = {row[:4]: row[4:] for row in response_rows(self._study, [*keys, *judges])}
        rows = []
        for response in response_contents(self._study):
            place = (response.item, response.model, response.condition, response.repeat)
            rows.append({**asdict(response), **dict(zip(judges, said[place], strict=True))})
        return _frame(rows, [*_names(ResponseContent), *judges])

    @property
    def labels(self) -> pd.DataFrame:
        """One row an assignment with what stands on it now, the record key, the design stratum and its probability."""
        from db.labels import LabelRow, label_rows, unit_rows

        units = {unit.unit: unit for unit in unit_rows(self._study, outside=True)}
        rows = []
        for label in label_rows(self._study):
            unit = units[label.unit]
            key = {"item": unit.item, "model": unit.model, "condition": unit.condition, "repeat": unit.repeat}
            rows.append({**key, **_without(label, "coder"), "stratum": unit.stratum, "pi": unit.pi})
        keys = ["item", "model", "condition", "repeat"]
        return _frame(rows, [*keys, *_names(LabelRow, "coder"), "stratum", "pi"])

    @property
    def events(self) -> pd.DataFrame:
        """One row an event of every log, as it was recorded."""
        from db.history import Event, log_events

        return _frame([_without(event, "coder") for event in log_events(self._study)], _names(Event, "coder"))

    @property
    def cells(self) -> pd.DataFrame:
        """One row a cell of the corpus: model, condition, technical, strata, judge:NAME, design stratum and count.

        Those of the file that the study was opened with, else counted from its own responses.
        """
        from annotate.analysis.source import corpus_cells, field_names, judge_names

        judges = [f"judge:{name}" for name in judge_names(self._study)]
        columns = ["model", "condition", "technical", *field_names(self._study), *judges, "stratum"]
        found = corpus_cells(self._study, columns)
        rows = zip(found.rows, found.counts, strict=True)
        return _frame(
            [dict(zip(columns, row, strict=True)) | {"count": count} for row, count in rows], [*columns, "count"]
        )

    def impact(self, *, judge_only: bool = False, **wanted: Any) -> ImpactResult:
        """Score impact, as `annotate impact`. ``wanted``: fields of `annotate.analysis.whole.Wanted`."""
        from annotate.analysis.whole import Wanted, impact_results

        return impact_results(self._study, Wanted(**wanted), judge_only=judge_only)

    def agreement(self, **wanted: Any) -> Results:
        """Agreement of people and judges, as `annotate agreement`."""
        from annotate.analysis.whole import Wanted, agreement_results

        return agreement_results(self._study, Wanted(**wanted))

    def close(self) -> None:
        self._study.close()

    def __enter__(self) -> StudyFrames:
        return self

    def __exit__(self, *ignored: object) -> None:
        self.close()


def open_study(path: str | Path, cells: str | Path | None = None) -> StudyFrames:
    """Open a study file to read it; ``cells``: a file of `annotate count`, for its corpus. Raises StudyError."""
    study = open_file(path, read_only=True)
    if cells is None:
        return StudyFrames(study)
    from annotate.analysis.counted import CountedStudy
    from annotate.counting.cell_file import read_cells

    return StudyFrames(CountedStudy.of(study, read_cells(cells)))


def _without(record: Any, name: str) -> dict[str, Any]:
    return {key: value for key, value in asdict(record).items() if key != name}


def _names(record: type, without: str = "") -> list[str]:
    return [field.name for field in fields(record) if field.name != without]


def _frame(rows: list[dict[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """The rows; where there is none, the columns that they would have."""
    import pandas as pd

    return pd.DataFrame(rows) if rows else pd.DataFrame(columns=list(columns))
