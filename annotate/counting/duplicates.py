"""Records with the same key (item, model, condition, repeat): copies word for word, and those that contradict.

Of identical copies one is counted. Of records that contradict each other none is: which of them would be the first
depends on how they lie in files, and a count must not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import ibis

from annotate.counting.cells import CellColumns, of_arrow
from annotate.counting.engines import Engine
from annotate.counting.expression import Plan
from annotate.counting.facts import Expression
from annotate.counting.listing import FIRST
from db.random_numbers import SEPARATOR

IDENTICAL, CONFLICTING = "identical copies", "conflicting records"
_NAMES = ("item", "model", "condition", "repeat")


@dataclass(frozen=True, slots=True)
class Duplicates:
    """``surplus``: by kind, the cells of the records that are not counted; ``counts``: how many those are.

    ``first``: the first keys of each kind, in their order, with the number of records that have each.
    """

    surplus: Mapping[str, CellColumns]
    counts: Mapping[str, int]
    first: list[dict[str, Any]]


def find_duplicates(engine: Engine, good: Expression, plan: Plan) -> Duplicates:
    """Look for keys that occur twice by 64 bits of each, and only where there are such, at the keys themselves."""
    if not _some(engine, good):
        return Duplicates({}, {}, [])
    kinds = _contents(engine, good, plan)
    drop = ibis.ifelse(kinds["kinds"] == 1, kinds["n"] - 1, kinds["n"])
    conflicting = kinds["kinds"] > 1
    each = kinds.filter((kinds["kinds"] > 1) | (kinds["n"] > 1)).mutate(drop=drop, conflicting=conflicting)
    cells = each.group_by(["conflicting", *plan.columns]).aggregate(gone=each["drop"].sum().cast("int64"))
    found = engine.run(cells)
    surplus = {name: of_arrow(_those(found, flag), plan.cells, "gone") for name, flag in _KINDS.items()}
    counts = {name: part.total for name, part in surplus.items()}
    return Duplicates(surplus, counts, [row for flag in _KINDS.values() for row in _first(engine, each, flag)])


_window: Any = ibis.window
_KINDS = {IDENTICAL: False, CONFLICTING: True}


def _some(engine: Engine, good: Expression) -> bool:
    return bool(engine.run(_twice(engine, good).limit(1)).num_rows)


def _twice(engine: Engine, good: Expression) -> Expression:
    """The hashes of keys that more than one record has (and, once in many billions of pairs, of two keys)."""
    hashed = good.select(h=_hash(engine, good))
    counted = hashed.group_by("h").aggregate(m=hashed.count())
    return counted.filter(counted["m"] > 1).select("h")


def _hash(engine: Engine, good: Expression) -> Expression:
    return engine.tools.hash(good["k0"], good["k1"], good["k2"], good["k3"])


def _contents(engine: Engine, good: Expression, plan: Plan) -> Expression:
    """Distinct contents of the keys that may occur twice: how many records have each, and how many the key has."""
    hashed = good.mutate(h=_hash(engine, good))
    some = hashed.semi_join(_twice(engine, good), "h")
    said = list(plan.raw.values())
    counted = some.group_by(["whole", *plan.columns, *said]).aggregate(n=some.count())
    return counted.mutate(kinds=counted.count().over(_window(group_by="whole")))


def _those(found: Any, flag: bool) -> Any:
    import numpy as np

    return found.filter(np.asarray(found.column("conflicting"), np.bool_) == flag)


def _first(engine: Engine, each: Expression, flag: bool) -> list[dict[str, Any]]:
    mine = each.filter(each["conflicting"] == flag)
    keys = mine.group_by("whole").aggregate(n=mine["n"].sum().cast("int64")).order_by("whole").limit(FIRST)
    kind = CONFLICTING if flag else IDENTICAL
    rows = engine.run(keys).to_pylist()
    return [
        {"kind": kind, **dict(zip(_NAMES, row["whole"].split(SEPARATOR), strict=False)), "records": int(row["n"])}
        for row in rows
    ]
