"""A study whose corpus is a table of cells that an engine counted, in place of its own responses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from db.canonical import canonical_json
from db.columns import NO_VALUE, plain_value
from db.corpus import Cells
from db.designs import Elementary
from db.errors import AnnotateError
from db.facts import STRATUM, judge_ids, named_stratum
from db.judge_maps import mapping_digests
from db.population import JUDGE_LABEL
from db.samples import Sample, current_sample
from db.study import Study

if TYPE_CHECKING:
    from annotate.counting.cell_file import CellTable
    from annotate.counting.cells import CellColumns

TECHNICAL = "technical"


class CellsDoNotFit(AnnotateError):
    """Cells of another corpus, another protocol, or without what is needed."""


class CountedStudy(Study):
    """An open study with the cells of its corpus. Everything else is the study's own; closing one closes both."""

    table: CellTable
    _cells: CellColumns

    @classmethod
    def of(cls, study: Study, table: CellTable) -> CountedStudy:
        """Raises CellsDoNotFit where the sample cannot have been drawn from what these cells count."""
        found = cls.__new__(cls)
        found.__dict__.update(study.__dict__)
        found.table = table
        _check_protocol(study, table)
        found._cells = _with_stratum(study, table)
        return found

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges of the study that the cells know, in its order; before it has any, those of the cells."""
        own = tuple(judge_ids(self.connection))
        return tuple(name for name in own if name in self.table.judges) or self.table.judges

    def count_cells(self, columns: Sequence[str]) -> Cells:
        """The corpus counted by the named columns, as a study counts its own responses."""
        unknown = {name for name in columns if name not in self._cells.levels}
        if "item" in unknown:
            message = "These cells do not tell questions apart, which intervals for a population of questions resample."
            raise CellsDoNotFit(message, "Count again with --with-items, or leave out --target population.")
        lost = [name for name in unknown if name.partition(":")[0] in ("judge", "score")]
        if lost:
            raise CellsDoNotFit(f"These cells have no column {lost[0]!r}.", "Count again with that judge's column.")
        known = self._cells.of([name for name in columns if name not in unknown])
        values = {name: known.values(name) for name in known.names}
        nothing = [None] * len(known)
        rows = zip(*(values.get(name, nothing) for name in columns), strict=True)
        return Cells(tuple(columns), tuple(rows) if columns else ((),), tuple(known.counts.tolist()))


def _check_protocol(study: Study, table: CellTable) -> None:
    if study.protocol_name != table.protocol["name"]:
        message = f"The cells were counted under protocol {table.protocol['name']!r}, the study has "
        raise CellsDoNotFit(f"{message}{study.protocol_name!r}.", "Count again with the study's --protocol.")
    for judge, digest in mapping_digests(study.connection).items():
        if table.mappings.get(judge, digest) != digest:
            message = f"The labels of judge {judge!r} are mapped otherwise in the study than in the cells."
            raise CellsDoNotFit(message, "Count again with the protocol that the study has now.")


def _with_stratum(study: Study, table: CellTable) -> CellColumns:
    """The cells with the design stratum of each, None where the design could not have drawn from it."""
    sample = current_sample(study)
    if sample is None:
        return table.cells.with_column(STRATUM, (), lambda: None)
    if sample.kind != "draw":
        what = "a census: the labelled responses are all it speaks of" if sample.kind == "census" else "an imported one"
        message = f"The sample of this study is {what}, so that it cannot be placed in a corpus of cells."
        raise CellsDoNotFit(message, "Leave out --cells, or draw the sample with annotate sample --source.")
    known = judge_ids(study.connection)
    draws = [Elementary.of_json(each, known.get(each["judge"], 0)) for each in sample.parameters["draws"]]
    names = tuple(dict.fromkeys(name for draw in draws for name in _columns(draw)))
    missing = [name for name in names if name not in table.cells.levels]
    if missing:
        message = f"The sample was drawn by {missing[0]!r}, which these cells do not tell apart."
        raise CellsDoNotFit(message, "Count again with that column mapped.")
    cells = table.cells.with_column(STRATUM, names, _namer(draws, names))
    _check_sizes(cells, sample)
    return cells


def _columns(draw: Elementary) -> list[str]:
    by = [f"judge:{draw.judge}" if name == JUDGE_LABEL else name for name in draw.frame.by]
    return [TECHNICAL, *by, *(each.field for each in draw.frame.filters)]


def _namer(draws: Sequence[Elementary], names: Sequence[str]) -> Callable[..., str | None]:
    def name(*values: Any) -> str | None:
        row = dict(zip(names, values, strict=True))
        return named_stratum(draws, [_in_draw(draw, row) for draw in draws])

    return name


def _in_draw(draw: Elementary, row: Mapping[str, Any]) -> list[Any]:
    """Whether a draw could have taken responses of this cell, then the values of its strata."""
    frame = draw.frame
    inside = frame.with_failures or not row[TECHNICAL]
    for each in frame.filters:
        wanted = {plain_value(value) for value in each.values}
        inside = inside and (_text(row[each.field]) in wanted if wanted else bool(row[each.field]))
    return [inside, *(_text(row[name]) for name in _columns(draw)[1 : 1 + len(frame.by)])]


def _text(value: Any) -> str:
    return NO_VALUE if value is None else str(value)


def _check_sizes(cells: CellColumns, sample: Sample) -> None:
    """The strata must hold as many in the cells as they held when the sample was drawn: else it is another corpus."""
    whole = sample.unit == "item"
    if whole and "item" not in cells.levels:
        return
    counted: Counter[str] = Counter()
    some = cells.of([STRATUM, "item"] if whole else [STRATUM])
    for name, count in zip(some.values(STRATUM), some.counts.tolist(), strict=True):
        if name is not None:
            counted[name] += 1 if whole else count
    wanted = {canonical_json(each.values): each.population for each in sample.strata}
    for name in sorted(wanted.keys() | counted.keys()):
        if wanted.get(name, 0) != counted[name]:
            message = f"The sample was drawn from {wanted.get(name, 0):,} of the stratum {name}, the cells hold "
            raise CellsDoNotFit(
                f"{message}{counted[name]:,}: they are not of the same corpus.",
                "Count what the sample was drawn from; responses that came or were redacted since count too.",
            )
