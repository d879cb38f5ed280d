"""Running a recipe: files read side by side, joined with every mismatch counted, and mapped record by record."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from annotate.importers.batches import Batch, read_batches
from annotate.importers.fit import Unfit
from annotate.importers.records import ReadOptions, Record, kind_of, read_records
from annotate.importers.sources import SourceError
from annotate.importers.tally import Tally
from annotate.recipes.blocks import BlockMapper, by_columns
from annotate.recipes.compiled import Joined
from annotate.recipes.files import Group
from annotate.recipes.rows import Mapper
from annotate.recipes.spec import Join, Recipe
from annotate.recipes.transforms import as_text
from db.records import ImportRow, Reject
from db.row_block import RowBlock

Found = Record | Reject
_SHOWN = 5


def recipe_rows(recipe: Recipe, groups: Sequence[Group], tally: Tally) -> Iterator[ImportRow | Reject]:
    """Every row that the recipe makes of the files, in file order. Raises SourceError where they do not fit it."""
    mapper = Mapper(recipe)
    for group in groups:
        yield from _group_rows(recipe, mapper, group, tally)


def recipe_blocks(recipe: Recipe, groups: Sequence[Group], tally: Tally) -> Iterator[ImportRow | RowBlock | Reject]:
    """The same rows, many at a time where the recipe allows it (``by_columns``): several times as fast."""
    if not by_columns(recipe):
        yield from recipe_rows(recipe, groups, tally)
        return
    mapper = Mapper(recipe)
    blocks = BlockMapper(recipe, mapper.items, mapper.used)
    for group in groups:
        source = tally.index(group.main)
        for batch in _batches(group.main, recipe, tally):
            if isinstance(batch, Reject):
                yield tally.reject(source, batch.row, batch.reason)
                continue
            try:
                yield blocks.block(batch, group.captures, source)
            except Unfit:
                yield from _one_by_one(mapper, batch, group, source, tally)


def _one_by_one(mapper: Mapper, batch: Batch, group: Group, source: int, tally: Tally) -> Iterator[ImportRow | Reject]:
    for position, row in enumerate(batch.rows):
        try:
            yield from mapper.rows(Joined(batch.record(position), {}, group.captures, {None: source}))
        except Unfit as unfit:
            yield tally.reject(source, row, str(unfit))


def _batches(path: Path, recipe: Recipe, tally: Tally) -> Iterator[Batch | Reject]:
    """The records of one file in batches, counted and their columns looked for as in ``_read``."""
    missing = set(_needed(recipe, None))
    source, fixed = tally.index(path), _is_fixed(path, recipe.read)
    last: Record | None = None
    for batch in read_batches(path, recipe.read):
        tally.count(source, 1 if isinstance(batch, Reject) else len(batch.rows))
        if missing and not isinstance(batch, Reject):
            last = batch.record(len(batch.rows) - 1)
            missing = {column for column in missing if not batch.holds(column)}
            if missing and fixed:
                break
        yield batch
    if missing and last is not None:
        raise _no_column(path, sorted(missing)[0], last)


def _is_fixed(path: Path, options: ReadOptions) -> bool:
    """True where every record of a file has the same columns."""
    return (options.kind or kind_of(path)) in ("csv", "parquet")


def _group_rows(recipe: Recipe, mapper: Mapper, group: Group, tally: Tally) -> Iterator[ImportRow | Reject]:
    main = tally.index(group.main)
    sources: dict[str | None, int] = {None: main, **{name: tally.index(path) for name, path in group.joins.items()}}
    sides = [_side(recipe, join, group, tally) for join in recipe.joins]
    for found in _read(group.main, recipe, None, tally):
        others = {side.join.name: side.partner(found) for side in sides}
        for side in sides:
            yield from side.rejects()
        if isinstance(found, Reject):
            yield tally.reject(main, found.row, found.reason)
            continue
        try:
            yield from mapper.rows(Joined(found, others, group.captures, sources))
        except Unfit as unfit:
            yield tally.reject(main, found.row, str(unfit))
    for side in sides:
        yield from side.finish()


def _read(path: Path, recipe: Recipe, join: Join | None, tally: Tally) -> Iterator[Found]:
    """The records of one file, counted. Every column that the recipe needs is seen at least once (JSON), or at once."""
    missing = set(_needed(recipe, join))
    source = tally.index(path)
    options = join.read if join else recipe.read
    fixed = _is_fixed(path, options)
    last: Record | None = None
    for found in read_records(path, options):
        tally.count(source)
        if missing and isinstance(found, Record):
            last = found
            missing = {column for column in missing if not _holds(found.data, column)}
            if missing and fixed:
                break
        yield found
    if missing and last is not None:
        raise _no_column(path, sorted(missing)[0], last)


def _needed(recipe: Recipe, join: Join | None) -> frozenset[str]:
    name = join.name if join else None
    columns = {rule.value.column for rule in recipe.fields if rule.value.join == name and rule.value.column}
    if join is not None:
        return frozenset(columns | set(join.by.values()) | set(join.check))
    keyed = {column for other in recipe.joins for column in other.by}
    checked = {column for other in recipe.joins for columns in other.check.values() for column in columns}
    return frozenset(columns | keyed | checked)


def _holds(data: Mapping[str, object], column: str) -> bool:
    return column in data or column.replace("[", ".").partition(".")[0] in data


def _no_column(path: Path, column: str, record: Record) -> SourceError:
    near = difflib.get_close_matches(column, record.data, n=1)
    columns = ", ".join(repr(name) if not name.strip() else name for name in record.data)
    hint = f"Did you mean {near[0]!r}?" if near else f"Its columns: {columns}."
    return SourceError(f"{path}: there is no column {column!r}.", hint)


def _side(recipe: Recipe, join: Join, group: Group, tally: Tally) -> _Side:
    kind = _ByKey if join.by else _ByRow
    path = group.joins[join.name]
    return kind(join, path, group.main, _read(path, recipe, join, tally), tally)


class _Side:
    """A joined file: gives each main record its partner, and counts what does not fit."""

    def __init__(self, join: Join, path: Path, main: Path, rows: Iterator[Found], tally: Tally) -> None:
        self.join, self.source, self._main = join, tally.name(path), tally.name(main)
        self._index, self._main_index = tally.index(path), tally.index(main)
        self._rows, self._tally = rows, tally
        self._waiting: list[Reject] = []
        self._differs: list[int] = []

    def partner(self, main: Found) -> Record | None:
        raise NotImplementedError

    def rejects(self) -> list[Reject]:
        """What was refused since the last call."""
        waiting, self._waiting = self._waiting, []
        return waiting

    def finish(self) -> list[Reject]:
        if self._differs:
            lines = ", ".join(map(str, self._differs[:_SHOWN]))
            many = f"{len(self._differs)} rows differ" if len(self._differs) > 1 else "1 row differs"
            self._tally.notes.append(f"{self.source}: {many} from {self._main} in what both hold (lines {lines})")
        return self.rejects()

    def _checked(self, main: Found, partner: Record) -> Record:
        if isinstance(main, Record) and not self._same(main, partner):
            self._differs.append(partner.row)
            if len(self._differs) > self.join.mismatches:
                raise SourceError(
                    f"{self.source}, line {partner.row}: does not belong to line {main.row} of {self._main}: "
                    f"{' and '.join(self.join.check)} should be the same.",
                    f"{self.join.mismatches} differences are known and allowed; this is one more.",
                )
        return partner

    def _same(self, main: Record, partner: Record) -> bool:
        return all(
            (as_text(partner.data.get(column)) or "") == "".join(as_text(main.data.get(c)) or "" for c in columns)
            for column, columns in self.join.check.items()
        )


class _ByRow(_Side):
    """The n-th record of one file belongs to the n-th of the other."""

    def partner(self, main: Found) -> Record | None:
        found = next(self._rows, None)
        if found is None:
            raise self._uneven("fewer")
        if isinstance(found, Reject):
            self._waiting.append(self._tally.reject(self._index, found.row, found.reason))
            return None
        return self._checked(main, found)

    def finish(self) -> list[Reject]:
        if next(self._rows, None) is not None:
            raise self._uneven("more")
        return super().finish()

    def _uneven(self, how: str) -> SourceError:
        read = self._tally.read
        message = f"{self.source} has {how} rows than {self._main} ({read[self._main_index]} read there)."
        return SourceError(message, "Files that are joined row by row must have the same rows in the same order.")


class _ByKey(_Side):
    """Records belong together that have the same key. The joined file's records are held in memory until claimed."""

    def __init__(self, join: Join, path: Path, main: Path, rows: Iterator[Found], tally: Tally) -> None:
        super().__init__(join, path, main, rows, tally)
        self._records: dict[tuple[str, ...], Record] = {}
        self._claimed: set[tuple[str, ...]] = set()
        self._alone = 0
        for found in rows:
            self._keep(found)

    def _keep(self, found: Found) -> None:
        if isinstance(found, Reject):
            self._waiting.append(self._tally.reject(self._index, found.row, found.reason))
            return
        key = _key(found, tuple(self.join.by.values()))
        if key in self._records:
            first = self._records[key].row
            self._waiting.append(
                self._tally.reject(self._index, found.row, f"the same key as line {first}: {_shown(key)}")
            )
        else:
            self._records[key] = found

    def partner(self, main: Found) -> Record | None:
        if isinstance(main, Reject):
            return None
        key = _key(main, tuple(self.join.by))
        found = self._records.get(key)
        if found is None:
            self._alone += 1
            return None
        self._claimed.add(key)
        return self._checked(main, found)

    def finish(self) -> list[Reject]:
        if self._alone:
            self._tally.notes.append(f"{self._main}: {self._alone} without a partner in {self.source}")
        left = [(key, record) for key, record in self._records.items() if key not in self._claimed]
        over = [
            self._tally.reject(self._index, record.row, f"no record of {self._main} has {_shown(key)}")
            for key, record in left
        ]
        return super().finish() + over


def _key(record: Record, columns: Sequence[str]) -> tuple[str, ...]:
    return tuple((as_text(record.data.get(column)) or "").strip() for column in columns)


def _shown(key: Sequence[str]) -> str:
    text = ", ".join(key)
    return repr(text if len(text) <= 60 else text[:59] + "…")
