"""Whole records out of a source, as plain values that an importer reads: only those of the keys that are asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from annotate.counting.expression import LINE, rows_of
from annotate.counting.facts import Expression
from annotate.counting.run import Opened
from annotate.counting.sources import Group


def raw_records(opened: Opened, keys: Sequence[str], *, whole: bool) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(item, whole key, record) of every record with one of the keys: whole ones, or where not ``whole`` items."""
    if opened.files is None:
        for own in opened.engine.parts(opened.request.source):
            places = {name: f"c{at}" for at, name in enumerate(own.columns)}
            yield from _of(opened, own.select(**{c: own[name] for name, c in places.items()}), places, keys, whole)
        return
    for group in opened.files.groups:
        yield from _of_group(opened, group, keys, whole)


def _of_group(opened: Opened, group: Group, keys: Sequence[str], whole: bool) -> Iterator[Any]:
    if group.kind == "jsonl":
        yield from _of(opened, opened.engine.lines(group), {}, keys, whole)
        return
    table = opened.engine.read(group, group.columns, raw=True)
    yield from _of(opened, table, {name: f"c{at}" for at, name in enumerate(group.columns)}, keys, whole)


def _of(opened: Opened, table: Expression, places: dict[str, str], keys: Sequence[str], whole: bool) -> Iterator[Any]:
    import ibis

    if "file" not in table.columns:
        table = table.mutate(file=ibis.null("string"))
    facts = rows_of(opened.engine, table, places, opened.shape, opened.plan, opened.request.protocol, keep=True)
    good = facts.filter(facts["problem"].isnull())
    few = good.filter((good["whole"] if whole else good["k0"]).isin(list(keys)))
    kept = list(places.values()) or [LINE]
    found = opened.engine.run(
        few.select(item_="k0", whole_="whole", **{f"v{at}": each for at, each in enumerate(kept)})
    )
    columns = [_plain(found.column(f"v{at}").to_pylist()) for at in range(len(kept))]
    values = zip(*columns, strict=True)
    for item, key, row in zip(
        found.column("item_").to_pylist(), found.column("whole_").to_pylist(), values, strict=True
    ):
        yield item, key, dict(zip(places, row, strict=True)) if places else json.loads(row[0])


def _plain(values: list[Any]) -> list[Any]:
    from annotate.importers.parquet_records import plain

    return plain(values)
