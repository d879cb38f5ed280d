"""Bringing data into a study: the job is made ready, shown on request, and run with its rows accounted for."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from annotate.studies import study_protocol
from db.errors import AnnotateError
from db.import_report import ImportReport, SourceFile
from db.records import ImportRow, Reject
from db.study import Study

if TYPE_CHECKING:
    from annotate.importers import ImportJob

SHOWN_ROWS = 5
LOOKED_AT = 5000
ROWS_BETWEEN = 100_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person asked for: files, and by which recipe or format with which options they are to be read."""

    files: tuple[Path, ...]
    recipe: str = ""
    format: str = ""
    options: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Preview:
    """What an import would do: the mapping (guessed where none was given), and its first rows."""

    format: str
    mapping: str
    left: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]


def make_ready(wanted: Wanted) -> ImportJob:
    """The job that will read the files; raises AnnotateError where they are not what they were said to be."""
    from annotate.importers import prepare, prepare_recipe

    if wanted.recipe:
        if wanted.format or wanted.options:
            raise AnnotateError("A recipe says how the files are read.", "Leave out --format, --map and the like.")
        return prepare_recipe(wanted.recipe, wanted.files)
    if not wanted.files:
        raise AnnotateError("No file was given.", "Name the files, or --items and --records of an ehq run.")
    return prepare(wanted.files, format=wanted.format, options=dict(wanted.options or {}))


def preview(wanted: Wanted) -> Preview:
    """The mapping and the first rows, without touching a study. A table without a mapping is guessed."""
    mapping, left = "", tuple[str, ...]()
    if not wanted.recipe and _is_table(wanted) and "map" not in (wanted.options or {}):
        from annotate.importers.guess import guess_table

        guess = guess_table(wanted.files[0])
        mapping, left = guess.map_text, guess.left
        wanted = Wanted(wanted.files, "", "table", {**(wanted.options or {}), "map": mapping})
    job = make_ready(wanted)
    shown = (wanted.options or {}).get("map", "")
    return Preview(job.format, mapping or shown, left, tuple(_shown(row) for row in _first(job.rows)))


def _first(rows: Iterator[ImportRow | Reject]) -> Iterator[ImportRow | Reject]:
    """What the first five records of each kind become."""
    seen: dict[type, set[int]] = {}
    for row in islice(rows, LOOKED_AT):
        known = seen.setdefault(type(row), set())
        if row.row in known or len(known) < SHOWN_ROWS:
            known.add(row.row)
            yield row


def run_import(
    study: Study,
    job: ImportJob,
    *,
    on_error: Literal["stop", "skip"] = "stop",
    simulated: bool = False,
    progress: Any = None,
) -> ImportReport:
    """Store every row of the job in one transaction. Raises ImportRefused where rows were refused and it is to stop."""
    from annotate.importers.sources import sha256
    from db.imports import import_rows

    pairs = zip(job.names, job.paths, strict=True)
    with _few_collections():
        return import_rows(
            study,
            job.stream,
            format=job.format,
            sources=[SourceFile(name, sha256(path), path.stat().st_size) for name, path in pairs],
            mapping=job.mapping,
            protocol=study_protocol(study),
            on_error=on_error,
            judge_kind="rules" if job.format == "ehq" else "imported",
            coder_kind="simulated" if simulated else "imported",
            rows_read=job.tally.read,
            progress=progress,
        )


@contextmanager
def _few_collections() -> Iterator[None]:
    """Rows are made by the hundred thousand and are no cycles: looking for cycles costs a tenth of the time."""
    usual = gc.get_threshold()
    gc.set_threshold(ROWS_BETWEEN, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def report_facts(report: ImportReport, notes: Sequence[str]) -> dict[str, Any]:
    """An import's account as plain JSON values."""
    return {
        "new": report.batch is not None,
        "batch": report.batch,
        "rows": {kind: asdict(count) for kind, count in report.kinds.items()},
        "unreadable": report.unreadable,
        "rejected": report.rejected,
        "rejects": [asdict(reject) for reject in report.rejects],
        "replaced_characters": report.replaced,
        "judges": list(report.judges),
        "coders": list(report.coders),
        "notes": [*report.notes, *notes],
    }


def _is_table(wanted: Wanted) -> bool:
    from annotate.importers import recognise

    return (wanted.format or recognise(wanted.files[0]).name) == "table"


def _shown(row: object) -> dict[str, Any]:
    """A row's kind and what is in it, empty fields left out."""
    kind = "refused" if isinstance(row, Reject) else type(row).__name__.removesuffix("Row")
    return {"kind": kind} | {name: value for name, value in asdict(row).items() if value not in (None, "", (), {})}  # type: ignore[call-overload]
