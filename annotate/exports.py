"""Labels for other tools: one row a label (task, worker, label), or one row a unit with a column for each coder."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Generator, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TextIO

from annotate.neutral import neutral
from db.backups import private_file
from db.errors import AnnotateError
from db.labels import LabelRow, UnitRow, label_rows, unit_rows
from db.population import strata_fields
from db.study import Study

Shape = Literal["long", "wide"]
_KEYS = ("model", "condition")
_OURS = {
    *("task", "worker", "label", "rating", "item", "model", "condition", "repeat", "worker_kind", "round"),
    *("occurrence", "role", "skip_reason", "flags", "stale", "blindness", "protocol_version", "active_ms"),
    *("stratum", "pi", "pi2", "note", "utc", "adjudicated", "reference", "reference_status", "weight"),
}
Row = Mapping[str, Any]


def long_rows(
    study: Study, *, names: bool = False, notes: bool = False, times: bool = False
) -> Generator[dict[str, Any], None, None]:
    """One row a label: task, worker and label first, as crowd-kit reads them, then everything that says what it is."""
    fields = strata_fields(study.connection)
    units = {unit.unit: unit for unit in unit_rows(study, fields, outside=True)}
    for label in label_rows(study):
        if label.label is not None or label.rating is not None or label.state == "skipped" or label.flags:
            yield _long(label, units[label.unit], fields, names, notes, times)


def _long(
    label: LabelRow, unit: UnitRow, fields: Sequence[str], names: bool, notes: bool, times: bool
) -> dict[str, Any]:
    row = {
        "task": label.unit,
        "worker": label.coder if names else label.pseudonym,
        "label": label.label,
        "rating": label.rating,
        **_key(unit),
        **{_field(name): value for name, value in zip(fields, unit.values, strict=True)},
        "worker_kind": label.coder_kind,
        "round": label.round,
        "occurrence": label.occurrence,
        "role": label.role,
        "skip_reason": label.skip_reason,
        "flags": " ".join(label.flags),
        "stale": label.stale,
        "blindness": label.blindness,
        "protocol_version": label.protocol_version,
        "active_ms": label.active_ms,
        "stratum": unit.stratum,
        "pi": unit.pi,
        "pi2": label.pi2,
    }
    row |= {"note": label.note} if notes else {}
    return row | ({"utc": label.utc} if times else {})


def wide_rows(study: Study, *, names: bool = False) -> Generator[dict[str, Any], None, None]:
    """One row a unit of the sample: a column for each coder of the main round, the reference, each judge's label."""
    from annotate.analysis.loading import load_labels
    from annotate.analysis.reference import study_reference
    from annotate.studies import study_protocol

    labels = load_labels(study, study_protocol(study), names=names)
    reference = study_reference(labels)
    for at, unit in enumerate(unit_rows(study)):
        yield {
            "task": unit.unit,
            **_key(unit),
            **{_field(name): column[at] for name, column in labels.strata.items() if name not in _KEYS},
            **{coder.name: label for coder, label in zip(labels.coders, labels.table[at], strict=True)},
            **{coder.name: row for coder, row in zip(labels.tiebreakers, _row(labels.tiebreaks, at), strict=False)},
            "adjudicated": None if labels.final is None else labels.final[at],
            "reference": reference.human.label[at],
            "reference_status": reference.status[at],
            **{f"judge:{name}": said[at] for name, said in labels.judges.items()},
            "stratum": unit.stratum,
            "pi": unit.pi,
            "weight": float(reference.weights.weights[at]),
        }


def long_columns(study: Study, *, notes: bool = False, times: bool = False) -> tuple[str, ...]:
    """The columns of the long form, also where there is no label yet."""
    fields = strata_fields(study.connection)
    return tuple(_long(_Blank(), _Blank(values=fields), fields, False, notes, times))  # type: ignore[arg-type]


class _Blank:
    """Stands for a label or a unit of which only the names of its columns are wanted."""

    flags = ()

    def __init__(self, values: Sequence[str] = ()) -> None:
        self.values = values

    def __getattr__(self, name: str) -> None:
        return None


def _row(table: Sequence[Sequence[Any]], at: int) -> Sequence[Any]:
    return table[at] if table else ()


def _field(name: str) -> str:
    """The column of an item's field; one that is called like a column of ours is told apart."""
    return f"item:{name}" if name in _OURS else name


def _key(unit: UnitRow) -> dict[str, Any]:
    return {"item": unit.item, "model": unit.model, "condition": unit.condition, "repeat": unit.repeat}


def with_texts(study: Study, rows: Iterable[Row]) -> Generator[dict[str, Any], None, None]:
    """The rows with question, gold answers and response of each unit beside them."""
    from db.export_rows import content_rows
    from db.records import ItemRow, ResponseRow

    texts: dict[tuple[Any, ...], dict[str, Any]] = {}
    item = None
    for row in content_rows(study, everything=True):
        if isinstance(row, ItemRow):
            item = row
        elif isinstance(row, ResponseRow) and item is not None:
            shown = {"question": item.question, "gold": list(item.gold), "response": row.text}
            texts[row.item, row.model, row.condition, row.repeat] = shown
    empty = {"question": None, "gold": None, "response": None}
    for each in rows:
        key = (each["item"], each["model"], each["condition"], each["repeat"])
        yield {**each, **texts.get(key, empty)}


def anonymous(rows: Iterable[Row]) -> Generator[dict[str, Any], None, None]:
    """The rows with models and items under numbers, in the order in which they come."""
    known: dict[tuple[str, Any], str] = {}
    numbers = {"model": 0, "item": 0}
    for row in rows:
        found = dict(row)
        for key in numbers:
            if (key, row[key]) not in known:
                numbers[key] += 1
                known[key, row[key]] = f"{key}-{numbers[key]}"
            found[key] = known[key, row[key]]
        found["stratum"] = _renamed_stratum(row["stratum"], known)
        yield found


def _renamed_stratum(stratum: str | None, known: Mapping[tuple[str, Any], str]) -> str | None:
    values = None if stratum is None else json.loads(stratum)
    if not values or "model" not in values:
        return stratum
    return json.dumps({**values, "model": known["model", values["model"]]}, ensure_ascii=False)


def shown_on_screen(rows: Iterable[Row]) -> Generator[dict[str, Any], None, None]:
    """The rows for a person's terminal: escapes and control characters of texts are visible there, never obeyed."""
    from annotate.console import visible

    for row in rows:
        yield {key: visible(value) if isinstance(value, str) else value for key, value in row.items()}


# --- writing ----------------------------------------------------------------------------------------


def write_rows(rows: Iterable[Row], out: Path, kind: str, columns: Sequence[str] = ()) -> int:
    """Write the rows to a new file of the owner's, whole or not at all, and return their number.

    ``columns``: the header of a table without a row.
    """
    if out.exists():
        raise AnnotateError(f"{out}: there is already a file of that name.", "Name another one, or delete it first.")
    if not out.parent.is_dir():
        raise AnnotateError(f"{out.parent}: there is no such folder.", "Make it first.")
    partial = out.with_name(f".{out.name}.{os.getpid()}.part")
    private_file(partial)
    try:
        number = _written(rows, partial, kind, columns)
        partial.replace(out)
    finally:
        partial.unlink(missing_ok=True)
    return number


def _written(rows: Iterable[Row], path: Path, kind: str, columns: Sequence[str]) -> int:
    if kind == "xlsx":
        from annotate.spreadsheet import TooLarge, write_workbook

        try:
            return write_workbook(({key: _plain(value) for key, value in row.items()} for row in rows), path, columns)
        except TooLarge as error:
            raise AnnotateError(f"Excel cannot hold this: {error}.", "Export as CSV or Parquet.") from None
    return _parquet(rows, path, columns) if kind == "parquet" else _text(rows, path, kind, columns)


def write_stream(rows: Iterable[Row], stream: TextIO, kind: str, columns: Sequence[str] = ()) -> int:
    """Write the rows as text to an open stream."""
    if kind in ("parquet", "xlsx"):
        name = {"parquet": "Parquet", "xlsx": "An Excel workbook"}[kind]
        raise AnnotateError(f"{name} cannot go to the screen.", f"Name a file with --out labels.{kind}.")
    return _jsonl(rows, stream) if kind == "jsonl" else _csv(rows, stream, columns)


def _text(rows: Iterable[Row], path: Path, kind: str, columns: Sequence[str]) -> int:
    with path.open("w", encoding="utf-8", newline="") as file:
        return write_stream(rows, file, kind, columns)


def _csv(rows: Iterable[Row], stream: TextIO, columns: Sequence[str]) -> int:
    number = 0
    writer = None
    for row in rows:
        if writer is None:
            writer = csv.DictWriter(stream, list(row), lineterminator="\n")
            writer.writeheader()
        writer.writerow({key: _flat(value) for key, value in row.items()})
        number += 1
    if writer is None and columns:
        csv.writer(stream, lineterminator="\n").writerow(columns)
    return number


def _jsonl(rows: Iterable[Row], stream: TextIO) -> int:
    number = 0
    for row in rows:
        stream.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
        number += 1
    return number


def _flat(value: Any) -> Any:
    """A cell of a CSV file; text that a spreadsheet would run as a formula gets an apostrophe before it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return neutral(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list | tuple) else value


def _parquet(rows: Iterable[Row], path: Path, columns: Sequence[str]) -> int:
    from pyarrow import parquet

    arrow: Any = import_module("pyarrow")
    listed = [{key: _plain(value) for key, value in row.items()} for row in rows]
    bare = {name: arrow.array([], "string") for name in columns}
    table = arrow.Table.from_pylist(listed) if listed else arrow.table(bare)
    parquet.write_table(table, path)  # type: ignore[no-untyped-call]
    return int(table.num_rows)


def _plain(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list | tuple) else value


def text_of(rows: Iterable[Row], kind: str = "csv") -> str:
    """The rows as text."""
    stream = io.StringIO(newline="")
    write_stream(rows, stream, kind)
    return stream.getvalue()
