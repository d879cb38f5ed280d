"""Parquet, one batch of rows after another. Needs the extra ``parquet``."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterator
from pathlib import Path

from annotate.importers.records import ReadOptions, Record
from annotate.importers.sources import SourceError
from db.records import Reject

_BATCH = 8192


def read(path: Path, options: ReadOptions) -> Iterator[Record | Reject]:
    """Every row, numbered from 1; raises SourceError where it is no Parquet, ModuleNotFoundError without pyarrow."""
    for rows, columns in read_columns(path, options, _BATCH):
        names = tuple(columns)
        for row, values in zip(rows, zip(*columns.values(), strict=True), strict=True):
            yield Record(row, dict(zip(names, values, strict=True)))


def read_columns(path: Path, options: ReadOptions, most: int) -> Iterator[tuple[range, dict[str, list[object]]]]:
    """Up to ``most`` rows at a time: their numbers, counted from 1, and {column: values}. Raises as ``read`` does."""
    import pyarrow.parquet as pq
    from pyarrow.lib import ArrowInvalid

    row = 1
    try:
        with pq.ParquetFile(path) as file:  # type: ignore[no-untyped-call]
            names = tuple(options.columns or file.schema_arrow.names)
            for group in range(file.num_row_groups):  # the whole file at once would be held until its end
                for batch in file.iter_batches(batch_size=most, row_groups=[group]):
                    columns = [plain(column.to_pylist()) for column in batch.columns]
                    yield range(row, row + batch.num_rows), dict(zip(names, columns, strict=True))
                    row += batch.num_rows
    except (ArrowInvalid, OSError) as error:
        reason = str(error).splitlines()[0]
        raise SourceError(f"{path}: not readable as Parquet ({reason}).", "Write or copy it again.") from None


def plain(values: list[object]) -> list[object]:
    """Values as JSON could hold them: dates as ISO 8601, decimals as their digits."""
    first = next((value for value in values if value is not None), None)
    if isinstance(first, datetime.date | datetime.time):
        return [value.isoformat() if isinstance(value, datetime.date | datetime.time) else value for value in values]
    if isinstance(first, decimal.Decimal):
        return [None if value is None else str(value) for value in values]
    if isinstance(first, float):
        return [value if value == value else None for value in values]
    return values
