"""Graded responses of WikiProfile in any readable kind of file, as the importer reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotate.counting.facts import Expression, Facts, Path, first, whole, yes_no
from annotate.counting.shapes import NO_ITEM, NO_MODEL, REPEAT, UNREADABLE, Get, Shape, check_columns
from annotate.importers.fit import Unfit
from annotate.importers.wikiprofile import _FIELDS, QUESTION_TYPES, _rater
from annotate.recipes import values
from annotate.recipes.transforms import strip

OPTIONS = ("judge",)
KIND, THINKING = "question_type", "thinking"
_READ = ("fact", "question_type", "model", "thinking", "repeat", "failure")


def fits(columns: Sequence[str]) -> bool:
    return {"fact", "question_type", "thinking"} <= set(columns)


def shape(options: Mapping[str, str], columns: Sequence[str], source: str) -> Shape:
    places = {name: next((alias for alias in _FIELDS[name] if alias in columns), None) for name in _READ}
    check_columns(source, [(_FIELDS[name][0],) for name in _READ[:4] if places[name] is None], columns)
    judges = {options.get("judge", "grader"): "label"} if "label" in columns else {}
    found = {column: _rater(column) for column in columns}
    judges |= {each[1]: column for column, each in found.items() if each is not None and each[0] == "judge"}
    paths: tuple[Path, ...] = tuple((name,) for name in (*filter(None, places.values()), *judges.values()))

    def facts(get: Get) -> Facts:
        return _facts(get, places, judges)

    def problem(data: Mapping[str, Any]) -> str | None:
        return _problem(data, places, paths)

    needed: tuple[Path, ...] = tuple((str(places[name]),) for name in _READ[:4])
    strata = ("fact", "question_type")
    return Shape("wikiprofile", dict(options), paths, needed, strata, tuple(judges), (), frozenset(), facts, problem)


def _facts(get: Get, places: Mapping[str, str | None], judges: Mapping[str, str]) -> Facts:
    import ibis

    def text(name: str, *, typed: bool = False) -> Expression:
        column = places[name]
        return ibis.null("string") if column is None else get((column,), typed=typed)

    fact, model = text("fact"), text("model")
    kind = text("question_type").replace("_", " ").lower()
    thinking, repeat = yes_no(text("thinking", typed=True)), whole(text("repeat", typed=True))
    return Facts(
        problem=first(
            (fact.isnull(), NO_ITEM),
            (~kind.isin(QUESTION_TYPES).fill_null(False), KIND),
            (model.isnull(), NO_MODEL),
            (thinking.value.isnull(), THINKING),
            (repeat.wrong, REPEAT),
        ),
        item=fact + ibis.literal("/") + kind,
        model=model,
        condition=ibis.ifelse(thinking.value == 1, "thinking", "no thinking"),
        repeat=repeat.value.fill_null(1),
        failure=text("failure"),
        strata={"fact": fact, "question_type": kind},
        raw={judge: get((column,)) for judge, column in judges.items()},
    )


def _problem(data: Mapping[str, Any], places: Mapping[str, str | None], paths: Sequence[Path]) -> str | None:
    def value(name: str) -> Any:
        return data.get(places[name] or "")

    if all(data.get(path[0]) is None for path in paths):
        return UNREADABLE
    if strip(value("fact")) is None:
        return NO_ITEM
    if (strip(value("question_type")) or "").replace("_", " ").lower() not in QUESTION_TYPES:
        return KIND
    if strip(value("model")) is None:
        return NO_MODEL
    try:
        if values.yes_no("thinking")(value("thinking")) is None:
            return THINKING
    except Unfit:
        return THINKING
    try:
        values.whole("repeat")(value("repeat"))
    except Unfit:
        return REPEAT
    return None
