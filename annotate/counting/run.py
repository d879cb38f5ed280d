"""Counting a source: a pass for the cells and what is malformed, one for duplicates, and an account of every record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import ibis

from annotate.counting.cell_file import CellTable
from annotate.counting.cells import CellColumns, of_arrow, of_columns
from annotate.counting.duplicates import Duplicates, find_duplicates
from annotate.counting.engines import Engine
from annotate.counting.expression import FILE, PROBLEM, Plan, facts_table, names_of, plan_of
from annotate.counting.facts import Expression
from annotate.counting.listing import FIRST, list_malformed
from annotate.counting.shapes import UNREADABLE, Shape, check_columns, shape_of
from annotate.counting.sources import Files, find_files
from annotate.importers.sources import SourceError
from db.judge_maps import rule_for
from db.records import NOT_A_LABEL, Protocol

_COUNT = "n"
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class CountRequest:
    """What is counted. ``options``: of the format, as `annotate import` takes them. ``items``: also by question."""

    source: str
    protocol: Protocol
    format: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    items: bool = False


@dataclass(frozen=True, slots=True)
class Opened:
    """A source that is ready to be asked: its shape, what is counted, and the facts as a table of the engine."""

    request: CountRequest
    engine: Engine
    files: Files | None
    shape: Shape
    plan: Plan
    table: Expression

    @property
    def good(self) -> Expression:
        """The records that can be counted."""
        return self.table.filter(self.table[PROBLEM].isnull())


def open_source(engine: Engine, request: CountRequest) -> Opened:
    """Find the source and what its columns mean. Raises SourceError or AnnotateError with what does not fit."""
    files = find_files(request.source)
    columns = engine.columns(request.source) if files is None else files.columns
    if columns is None:
        hint = "Name a folder, a pattern or a file; or a table of the engine that --engine names."
        raise SourceError(f"{request.source}: there is no such file, and no such table.", hint)
    shape = shape_of(request.format, request.options, columns, request.source)
    _check(engine, request.source, files, shape, columns)
    plan = plan_of(shape, request.protocol, items=request.items)
    groups = () if files is None else files.groups
    table = None if files is not None else engine.table(request.source, names_of(shape))
    facts = facts_table(engine, groups, table, shape, plan, request.protocol)
    return Opened(request, engine, files, shape, plan, facts)


def _check(engine: Engine, source: str, files: Files | None, shape: Shape, columns: tuple[str, ...]) -> None:
    """Every mapped column is there. Of JSONL the first records were looked at; what is not in them is looked for."""
    unseen = [path for path in shape.needed if path[0] not in columns]
    lines = () if files is None else tuple(group for group in files.groups if group.kind == "jsonl")
    names = tuple(dict.fromkeys(path[0] for path in unseen))
    for group in lines if unseen else ():
        table = engine.read(group, names)
        found = engine.run(table.aggregate(**{f"c{at}": table[f"c{at}"].count() for at in range(len(names))}))
        unseen = [path for path in unseen if not found.column(f"c{names.index(path[0])}")[0].as_py()]
    check_columns(source, unseen, columns)


def count_source(engine: Engine, request: CountRequest) -> CellTable:
    """Count a source. Raises SourceError, EngineError, or AnnotateError where nothing fits the protocol."""
    return count_opened(open_source(engine, request))


def count_opened(opened: Opened) -> CellTable:
    """The cells of a source with the account of every record that was read."""
    cells, malformed = _counted(opened)
    twice = find_duplicates(opened.engine, opened.good, opened.plan)
    for surplus in twice.surplus.values():
        cells = _less(cells, surplus) if len(surplus) else cells
    kinds = _totals(malformed)
    account = _account(opened, cells, kinds, twice)
    outside = {judge: _outside(opened, judge) for judge, n in account["not_labels"].items() if n}
    _check_labels(opened.request, cells, outside)
    protocol = opened.request.protocol
    return CellTable(
        cells=cells,
        protocol={"name": protocol.name, "digest": protocol.digest},
        format=opened.shape.format,
        strata=opened.shape.strata,
        judges=opened.shape.judges,
        mappings={judge: rule_for(protocol, judge).digest for judge in opened.shape.judges},
        account=account,
        run=_run_facts(opened, malformed, twice, outside),
    )


def _counted(opened: Opened) -> tuple[CellColumns, dict[str, dict[str, int]]]:
    """The cells of the good records; and the others, counted by file and kind."""
    table, plan = opened.table, opened.plan
    bad = ibis.ifelse(table[PROBLEM].isnull(), ibis.null("string"), table[FILE])
    keys = {PROBLEM: table[PROBLEM], FILE: bad} | {column: table[column] for column in plan.columns}
    found = opened.engine.run(table.group_by(**keys).aggregate(**{_COUNT: table.count()}))
    good = found.filter(found.column(PROBLEM).is_null())
    cells = of_arrow(good, plan.cells, _COUNT)
    wrong = found.filter(found.column(PROBLEM).is_valid()).select([PROBLEM, FILE, _COUNT]).to_pylist()
    malformed: dict[str, dict[str, int]] = {}
    for row in wrong:
        _add(malformed, _path(row[FILE]), row[PROBLEM], row[_COUNT])
    for group in opened.files.groups if opened.files is not None else ():
        there = tuple(name for name in names_of(opened.shape) if name in group.columns)
        for file, count in opened.engine.unread(group, there).items():
            _add(malformed, file, UNREADABLE, count)
    return cells, malformed


def _add(found: dict[str, dict[str, int]], file: str, kind: str, count: int) -> None:
    counts = found.setdefault(file, {})
    counts[kind] = counts.get(kind, 0) + int(count)


def _path(uri: str | None) -> str:
    from urllib.parse import unquote, urlsplit

    return "" if uri is None else unquote(urlsplit(uri).path) if uri.startswith("file:") else uri


def _totals(malformed: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for counts in malformed.values():
        for kind, count in counts.items():
            found[kind] = found.get(kind, 0) + count
    return dict(sorted(found.items()))


def _less(cells: CellColumns, surplus: CellColumns) -> CellColumns:
    columns = {name: [*cells.values(name), *surplus.values(name)] for name in cells.names}
    return of_columns(columns, [*cells.counts.tolist(), *(-surplus.counts).tolist()])


def _account(opened: Opened, cells: CellColumns, kinds: Mapping[str, int], twice: Duplicates) -> dict[str, Any]:
    counted = cells.total
    left_out = {**kinds, **{kind: n for kind, n in twice.counts.items() if n}}
    said = {
        judge: int(cells.counts[[value == NOT_A_LABEL for value in cells.values(f"judge:{judge}")]].sum())
        for judge in opened.shape.judges
    }
    read = counted + sum(left_out.values())
    if not counted:
        what = ", ".join(f"{n:,} {kind}" for kind, n in left_out.items()) or "not a single record was read"
        raise SourceError(f"{opened.request.source}: nothing could be counted ({what}).", "Check format and mapping.")
    return {"read": read, "counted": counted, "left_out": left_out, "not_labels": said}


def _outside(opened: Opened, judge: str) -> list[dict[str, Any]]:
    """The most frequent of a judge's outputs that are no labels of the protocol."""
    good, column = opened.good, opened.plan.raw[judge]
    outside = good.filter(good[opened.plan.cells[f"judge:{judge}"]] == NOT_A_LABEL)
    counted = outside.group_by(column).aggregate(**{_COUNT: outside.count()})
    first = counted.order_by([ibis.desc(_COUNT), column]).limit(FIRST)
    return [{"said": row[column][:_LONGEST], "n": row[_COUNT]} for row in opened.engine.run(first).to_pylist()]


def _check_labels(request: CountRequest, cells: CellColumns, outside: Mapping[str, list[dict[str, Any]]]) -> None:
    """Raise SourceError where a judge never says a label of the protocol: it is the wrong one, or the wrong column."""
    labels = set(request.protocol.label_names)
    for judge, said in outside.items():
        if labels and not labels & set(cells.levels[f"judge:{judge}"]):
            shown = ", ".join(f"{entry['said'][:40]!r} ({entry['n']:,})" for entry in said[:4])
            message = f"{request.source}: no label of judge {judge!r} is one of protocol {request.protocol.name!r}: "
            hint = f"Its labels: {', '.join(request.protocol.label_names)}. Another --protocol, or a [judge.NAME.map]."
            raise SourceError(f"{message}{shown}.", hint)


def _run_facts(
    opened: Opened,
    malformed: Mapping[str, Mapping[str, int]],
    twice: Duplicates,
    outside: Mapping[str, list[dict[str, Any]]],
) -> dict[str, Any]:
    files = opened.files
    return {
        "source": opened.request.source,
        "files": 0 if files is None else len(files.files),
        "not_read": [] if files is None else [path.name for path in files.left[:FIRST]],
        "engine": opened.engine.name,
        "versions": opened.engine.versions(),
        "malformed": list_malformed(opened.shape, malformed, () if files is None else files.files),
        "duplicates": twice.first,
        "outside": dict(outside),
    }
