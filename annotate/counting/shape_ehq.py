"""Records that ``ehq`` wrote (JSONL; or a table with these columns, objects as JSON text), as the importer reads them.

The items are not needed to count: each record names category and subcategory itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotate.counting.facts import POINTS, Expression, Facts, Path, first, whole, yes_no
from annotate.counting.shapes import CONFIDENCE, NO_ITEM, NO_MODEL, UNREADABLE, Get, Shape, at, check_columns
from annotate.importers.ehq import JUDGE
from annotate.importers.fit import Unfit
from annotate.recipes.transforms import strip

OPTIONS: tuple[str, ...] = ()
K, FLAG, LABEL = "another k", "no flag", "no classification"
_GRIDS = (100, 1000, 10_000, 1_000_000)
_MARKS = ("question_id", "model", "valid_for_ehq12", "valid_for_ehq3", "classification")
_CLASS: tuple[Path, ...] = tuple(("classification", name) for name in ("automated_label", "adjudicated_label", "label"))
_PLAIN = ("question_id", "model", "category", "subcategory", "k", "parsed_confidence", "exclusion_reason")
_PATHS: tuple[Path, ...] = (*((name,) for name in _PLAIN), ("valid_for_ehq12",), ("valid_for_ehq3",), *_CLASS)


def fits(columns: Sequence[str]) -> bool:
    return set(_MARKS) <= set(columns)


def shape(options: Mapping[str, str], columns: Sequence[str], source: str) -> Shape:
    needed: tuple[Path, ...] = tuple((name,) for name in _MARKS)
    check_columns(source, needed, columns)
    has = frozenset({CONFIDENCE})
    strata = ("category", "subcategory")
    paths = tuple(path for path in _PATHS if path[0] in columns)
    return Shape("ehq", {}, paths, needed, strata, (JUDGE,), (), has, _facts, problem)


def _facts(get: Get) -> Facts:
    import ibis

    def text(*path: str) -> Expression:
        return get(path)

    item, model, k = text("question_id"), text("model"), whole(get(("k",), typed=True))
    scored, usable = (yes_no(get((name,), typed=True)) for name in _MARKS[2:4])
    category = text("category")
    automatic, adjudicated = text(*_CLASS[0]), text(*_CLASS[1])
    said = ibis.coalesce(automatic, ibis.ifelse(adjudicated.isnull(), text(*_CLASS[2]), ibis.null("string")))
    points, grid, wrong = _points(text("parsed_confidence"))
    failed = scored.value == 0
    return Facts(
        problem=first(
            (item.isnull(), NO_ITEM),
            (model.isnull(), NO_MODEL),
            (k.wrong | (k.value.fill_null(0) != 0), K),
            (scored.value.isnull() | usable.value.isnull(), FLAG),
            (wrong, CONFIDENCE),
        ),
        item=item,
        model=model,
        condition=ibis.literal(""),
        repeat=ibis.literal(1, "int64"),
        failure=ibis.ifelse(failed, ibis.coalesce(text("exclusion_reason"), "answer failure"), ibis.null("string")),
        strata={"category": category.upper(), "subcategory": ibis.coalesce(text("subcategory"), "UNSPECIFIED")},
        raw={JUDGE: ibis.ifelse(failed, ibis.null("string"), said)},
        confidence=points,
        grid=grid,
        usable=usable.value,
    )


def _points(text: Expression) -> tuple[Expression, Expression, Expression]:
    """A confidence of 0 to 1 on the coarsest grid that holds it, the grid, and whether it is none."""
    import ibis

    from annotate.importers.ehq import NO_NUMBERS

    text = ibis.ifelse(text.isin(NO_NUMBERS), ibis.null("string"), text)
    exact = text.try_cast("decimal(28, 9)")
    inside = exact.notnull() & (exact >= 0) & (exact <= 1)
    billionths: Expression = ibis.ifelse(inside, exact * POINTS, ibis.null("decimal(28, 9)")).cast("int64")
    grid: Expression = ibis.cases(
        *((billionths % (POINTS // g) == 0, g) for g in _GRIDS), else_=ibis.null("int64")
    ).cast("int64")
    unit: Expression = ibis.literal(POINTS, "int64")
    value = (billionths // (unit // grid)).cast("int64")
    finer = exact.cast("float64") != text.try_cast("float64")  # the cast to a decimal has rounded
    wrong = text.notnull() & (grid.isnull() | finer.fill_null(True))
    return value, grid, wrong


def problem(data: Mapping[str, Any]) -> str | None:
    """Why one record cannot be counted, None where it can: the same checks in the same order."""
    from annotate.importers.ehq import _confidence

    if all(at(data, path) is None for path in _PATHS):
        return UNREADABLE
    if strip(data.get("question_id")) is None:
        return NO_ITEM
    if strip(data.get("model")) is None:
        return NO_MODEL
    if data.get("k", 0) not in (0, None, "0"):
        return K
    if not all(isinstance(data.get(name), bool) for name in ("valid_for_ehq12", "valid_for_ehq3")):
        return FLAG
    try:
        _confidence(data.get("parsed_confidence"))
    except Unfit:
        return CONFIDENCE
    return None
