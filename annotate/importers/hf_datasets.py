"""A folder of Hugging Face ``datasets``: what ``save_to_disk`` wrote (Arrow), or Parquet shards as on the hub.

Columns are mapped as in a table. The split is kept as stratum ``split`` where the folder has several. Needs the extra
``parquet``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from annotate.importers.base import Request, Rows
from annotate.importers.each import each_record
from annotate.importers.parquet_records import plain
from annotate.importers.records import Record, read_records
from annotate.importers.sources import SourceError
from annotate.importers.table import IMPORTER as TABLE
from annotate.importers.table import table_recipe
from annotate.importers.tally import Tally
from annotate.recipes.compiled import Joined
from annotate.recipes.rows import Mapper
from annotate.recipes.spec import Expression, FieldRule
from db.records import ImportRow

SPLIT = "(split)"


class HfDatasetsImporter:
    name = "hf_datasets"
    title = "a folder of Hugging Face datasets (Arrow or Parquet)"
    protocol = ""
    options: Mapping[str, str] = TABLE.options

    def recognises(self, path: Path, start: bytes) -> bool:
        return path.is_dir() and bool(_shards(path))

    def sources(self, request: Request) -> Sequence[Path]:
        found = [shard for path in request.files for shard in (_shards(path) if path.is_dir() else [path])]
        if not found:
            raise SourceError(
                f"{request.files[0]}: neither .arrow nor .parquet files in it.", "Give the dataset's folder."
            )
        return tuple(found)

    def rows(self, request: Request, tally: Tally) -> Rows:
        splits = {path: _split(path) for path in tally.paths}
        several = len(set(splits.values())) > 1
        mapper: Mapper | None = None
        for source, path in enumerate(tally.paths):
            records = _records(path, splits[path] if several else None)
            first = next(records, None)
            if first is None:
                continue
            mapper = mapper or _mapper(path, first, request, several)
            build = partial(_rows, mapper, source)
            yield from each_record(_chain(first, records), tally, source, build)


def _rows(mapper: Mapper, source: int, record: Record) -> Iterator[ImportRow]:
    yield from mapper.rows(Joined(record, {}, {}, {None: source}))


def _mapper(path: Path, first: Record, request: Request, several: bool) -> Mapper:
    recipe = table_recipe(path, request, tuple(first.data))
    for rule in recipe.fields:
        if rule.value.column and rule.value.column.partition(".")[0] not in first.data:
            columns = ", ".join(first.data)
            raise SourceError(f"{path}: there is no column {rule.value.column!r}.", f"Its columns: {columns}.")
    if several:
        recipe = replace(recipe, fields=(*recipe.fields, FieldRule("stratum.split", Expression(column=SPLIT))))
    return Mapper(recipe)


def _chain(first: Record, rest: Iterator[Record]) -> Iterator[Record]:
    yield first
    yield from rest


def _shards(folder: Path) -> list[Path]:
    """The data files: those that state.json names, else every shard in the folder and its splits."""
    found: list[Path] = []
    for state in sorted([*folder.glob("state.json"), *folder.glob("*/state.json")]):
        named = json.loads(state.read_text(encoding="utf-8")).get("_data_files", [])
        found += [
            state.parent / entry["filename"] for entry in named if Path(entry["filename"]).name == entry["filename"]
        ]
    if found:
        return found
    patterns = ("*.parquet", "*/*.parquet", "*.arrow", "*/*.arrow")
    return sorted(file for pattern in patterns for file in folder.glob(pattern))


def _split(path: Path) -> str:
    """train of train-00000-of-00002.parquet, or the folder in which save_to_disk put the split."""
    name = path.name.partition("-")[0].partition(".")[0]
    return path.parent.name if name in ("data", "dataset", "cache") else name


def _records(path: Path, split: str | None) -> Iterator[Record]:
    more = {} if split is None else {SPLIT: split}
    if path.suffix == ".parquet":
        for found in read_records(path):
            if isinstance(found, Record):
                yield Record(found.row, {**found.data, **more})
        return
    for row, data in enumerate(_arrow(path), start=1):
        yield Record(row, {**data, **more})


def _arrow(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of an Arrow stream or file, one batch at a time."""
    from pyarrow.ipc import open_stream
    from pyarrow.lib import ArrowInvalid, memory_map

    try:
        with memory_map(str(path)) as file:
            for batch in open_stream(file):  # type: ignore[no-untyped-call]
                columns = [plain(column.to_pylist()) for column in batch.columns]
                for values in zip(*columns, strict=True):
                    yield dict(zip(batch.schema.names, values, strict=True))
    except (ArrowInvalid, OSError) as error:
        reason = str(error).splitlines()[0]
        raise SourceError(f"{path}: not readable as Arrow ({reason}).", "Write or copy the dataset again.") from None


IMPORTER = HfDatasetsImporter()
