"""The one expression of counting: what was read, as facts of responses, in any engine that ibis speaks to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from annotate.counting.engines import Engine
from annotate.counting.facts import Expression, Facts, Path
from annotate.counting.shapes import UNREADABLE, Get, Shape
from annotate.counting.sources import Group
from annotate.importers.sources import SourceError
from db.judge_maps import rule_for
from db.random_numbers import DIGITS, SEPARATOR
from db.records import MISSING_LABEL, NOT_A_LABEL, Protocol

KEY = ("item", "model", "condition", "repeat")
PROBLEM, FILE, TECHNICAL = "problem", "file", "technical"
LINE = "annotate_line"
"""The column of a table of JSON lines."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is counted: ``cells`` are names of facts (as in a study file) with the engine's column of each.

    ``raw``: the engine's column of what each judge said, unmapped.
    """

    cells: Mapping[str, str]
    raw: Mapping[str, str]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.cells.values())


def plan_of(shape: Shape, protocol: Protocol, *, items: bool) -> Plan:
    """The cells that a protocol's scores are computed from: strata, judges, and what else the scores look at."""
    needs = _needs(protocol)
    names = ["model", "condition", TECHNICAL, *shape.strata, *(f"judge:{name}" for name in shape.judges)]
    names += [f"score:{name}" for name in shape.judges] if protocol.rating is not None else []
    names += ["confidence", "confidence_grid", "confidence_usable"] if "confidence" in needs else []
    names += ["choice", "choice_is_key", "searched"] if "search" in needs else []
    names += ["item"] if items or "item" in needs else []
    cells = {name: f"f{at}" for at, name in enumerate(names)}
    return Plan(cells, {name: f"r{at}" for at, name in enumerate(shape.judges)})


def _needs(protocol: Protocol) -> frozenset[str]:
    kinds = {rule.kind for rule in protocol.scores}
    fields = {each.field for each in protocol.filters}
    found = {"confidence"} if "ehq" in kinds or {"confidence", "confidence_usable"} & fields else set()
    found |= {"search"} if kinds & {"nas", "kis"} or {"choice", "choice_is_key", "searched"} & fields else set()
    return frozenset(found | ({"item"} if "wikiprofile" in kinds else set()))


def facts_table(
    engine: Engine, groups: Sequence[Group], table: Expression | None, shape: Shape, plan: Plan, protocol: Protocol
) -> Expression:
    """One row a record: ``problem``, ``file``, the key (k0 to k3), ``whole`` (the key as one text), and the plan's."""
    parts = [] if table is None else [_of_table(engine, table, shape, plan, protocol)]
    for group in groups:
        parts.append(_of_group(engine, group, shape, plan, protocol))
    return reduce(lambda one, other: one.union(other, distinct=False), parts)


def names_of(shape: Shape) -> tuple[str, ...]:
    """The columns that are read, each once."""
    return tuple(dict.fromkeys(path[0] for path in shape.paths))


def _of_group(engine: Engine, group: Group, shape: Shape, plan: Plan, protocol: Protocol) -> Expression:
    names = names_of(shape)
    there = names if group.kind == "jsonl" else tuple(name for name in names if name in group.columns)
    missing = [path[0] for path in shape.needed if path[0] not in there]
    if missing:
        message = f"{group.files[0]}: there is no column {missing[0]!r}, which other files of the source have."
        raise SourceError(message, "Count files with other columns apart, or leave this one out.")
    table = engine.read(group, there)
    return rows_of(engine, table, {name: f"c{at}" for at, name in enumerate(there)}, shape, plan, protocol)


def _of_table(engine: Engine, table: Expression, shape: Shape, plan: Plan, protocol: Protocol) -> Expression:
    import ibis

    names = names_of(shape)
    places = {name: f"c{at}" for at, name in enumerate(names)}
    clean = {place: _clean(engine, table[name]) for name, place in places.items()}
    chosen = table.select(file=ibis.null("string"), **clean)
    return rows_of(engine, chosen, places, shape, plan, protocol)


def rows_of(
    engine: Engine,
    table: Expression,
    places: Mapping[str, str],
    shape: Shape,
    plan: Plan,
    protocol: Protocol,
    *,
    keep: bool = False,
) -> Expression:
    """The facts of a table's rows. ``places``: the table's column of each of the source's; none: it has JSON lines.

    ``keep``: beside the columns that the table has.
    """
    import ibis

    facts = shape.facts(_getter(engine, table, places, stripped=not keep))
    nothing = reduce(lambda one, other: one & other, (table[each].isnull() for each in places.values() or (LINE,)))
    problem = ibis.ifelse(nothing, UNREADABLE, facts.problem)
    key = (facts.item, facts.model, facts.condition, facts.repeat.cast("string"))
    separator = ibis.literal(SEPARATOR)
    whole = reduce(lambda one, other: one + separator + other, key)
    chosen = {column: _fact(name, facts, protocol) for name, column in plan.cells.items()}
    chosen |= {column: facts.raw.get(name, ibis.null("string")) for name, column in plan.raw.items()}
    keys = {f"k{at}": part for at, part in enumerate((*key[:3], facts.repeat))}
    made = {PROBLEM: problem, FILE: table[FILE].cast("string"), "whole": whole, **keys, **chosen}
    return table.mutate(**made) if keep else table.select(**made)


def _clean(engine: Engine, value: Expression) -> Expression:
    return engine.tools.strip(value) if value.type().is_string() else value


def _getter(engine: Engine, table: Expression, places: Mapping[str, str], *, stripped: bool) -> Get:
    import ibis

    def get(path: Path, *, typed: bool = False) -> Expression:
        if places and path[0] not in places:
            return ibis.null("string")
        value = table[places[path[0]]] if places else table[LINE]
        for key in path[1:] if places else path:
            if value.type().is_struct():
                value = value[key] if key in value.type().names else ibis.null("string")
            else:
                value = engine.tools.json(value.cast("string"), key)
        if typed and (value.type().is_integer() or value.type().is_boolean()):
            return value
        text = _text(value, ".".join(path))
        clean = not value.type().is_string() or (stripped and len(path) == 1)
        return text if clean else engine.tools.strip(text)

    return get


def _text(value: Expression, name: str) -> Expression:
    """A value as text, as the importers write it: whole numbers without decimals."""
    import ibis

    kind = value.type()
    if kind.is_string() or kind.is_boolean() or kind.is_integer() or kind.is_decimal() or kind.is_null():
        return value.cast("string")
    if kind.is_floating():
        small = value.notnull() & (value == value.floor()) & (value.abs() < 2**53)
        there = value.notnull() & ~value.isnan()
        whole = ibis.ifelse(small, value, ibis.null("float64")).cast("int64").cast("string")
        return ibis.cases((small, whole), (there, value.cast("string")), else_=ibis.null("string"))
    raise SourceError(f"The column {name!r} is of type {kind}, expected text, a number or true/false.", "Convert it.")


def _fact(name: str, facts: Facts, protocol: Protocol) -> Expression:
    import ibis

    part, colon, judge = name.partition(":")
    if colon and part == "judge":
        return mapped(facts.raw.get(judge), protocol, judge)
    if colon and part == "score":
        return facts.scores.get(judge, ibis.null("float64"))
    usable = ibis.literal(1, "int64") if facts.usable is None else facts.usable
    known: dict[str, Any] = {
        "item": facts.item,
        "model": facts.model,
        "condition": facts.condition,
        TECHNICAL: ibis.ifelse(facts.failure.notnull(), 1, 0).cast("int64"),
        "confidence": facts.confidence,
        "confidence_grid": facts.grid,
        "confidence_usable": usable,
        "choice": facts.choice,
        "choice_is_key": facts.is_key,
        "searched": facts.searched,
    }
    if name in known:
        kind = "string" if name == "choice" else "int64"
        return ibis.null(kind) if known[name] is None else known[name]
    return facts.strata[name]


def mapped(raw: Expression, protocol: Protocol, judge: str) -> Expression:
    """A judge's label in the protocol's words; what is none of them has a cell of its own, and so has nothing."""
    import ibis

    if raw is None:
        return ibis.literal(MISSING_LABEL)
    known = {text.strip(): label for text, label in rule_for(protocol, judge).mapping.items()}
    cases = [(raw == text, label) for text, label in known.items() if text]
    return ibis.cases((raw.isnull(), MISSING_LABEL), *cases, else_=NOT_A_LABEL)


def random_number(seed: str, whole: Expression) -> Expression:
    """The permanent random number of a key, in the engine's own SHA-256: 16 hexadecimal digits."""
    import ibis

    return (ibis.literal(f"{seed}{SEPARATOR}") + whole).hexdigest("sha256").substr(0, DIGITS)
