"""From TOML, or from ``column=field,…``, to a checked Recipe."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from annotate.importers.records import ReadOptions
from annotate.recipes.spec import FAMILIES, FIELDS, Expression, FieldRule, Join, Recipe, TableOptions
from annotate.recipes.transforms import parse_step
from annotate.strict_toml import Table, parse_document
from db.errors import AnnotateError

_ROOT = ("title", "protocol", "source", "licence", "main", "join", "fields", "options", "ignore")
_READ = ("format", "delimiter", "quoting", "encoding", "columns")
_EXPRESSION = ("column", "join", "const", "capture", "steps")
_OPTIONS = ("gold_separator", "options_separator", "confidence_scale", "confidence_grid", "labels_only")
_WORTHWHILE = ("question", "response", "coder", "tiebreak", "judge", "final", "label", "judge_label")
_KINDS = {"": "", "csv": "csv", "tsv": "csv", "json": "json", "jsonl": "jsonl", "parquet": "parquet"}


class MappingError(AnnotateError):
    """A mapping of columns that cannot be used."""


def parse_recipe(toml_text: str, source: str) -> Recipe:
    """A recipe of one or several files; raises TomlError."""
    root = parse_document(toml_text, source).root()
    root.allow(_ROOT)
    joins = tuple(_join(table) for table in root.tables("join"))
    main = root.table("main")
    if main is None:
        if joins:
            root.fail("there are [[join]] tables, but no [main].", 'Add [main] with pattern = "…".')
        main = Table(root.document, (), {"pattern": "*"})
    main.allow(("pattern", *_READ))
    return Recipe(
        name=Path(source).stem,
        title=root.text("title", Path(source).stem),
        pattern=main.text("pattern"),
        fields=_fields(root, [join.name for join in joins]),
        options=_options(root),
        read=_read(main),
        joins=joins,
        protocol=root.text("protocol", ""),
        source=root.text("source", ""),
        licence=root.text("licence", ""),
        digest=hashlib.sha256(toml_text.encode("utf-8")).hexdigest(),
        ignore=root.texts("ignore"),
    )


def parse_map(text: str) -> tuple[FieldRule, ...]:
    """``column=field,…`` as fields, ``field:=value`` for the same value in every row; raises MappingError."""
    rules = []
    for entry in filter(None, (part.strip() for part in _split(text))):
        constant, given, value = entry.partition(":=")
        if given and "=" not in constant:
            rules.append(FieldRule(_target(constant.strip()), Expression(const=value.strip())))
            continue
        column, given, target = entry.rpartition("=")
        if not given:
            raise MappingError(f"{entry!r} is no mapping.", "Write column=field, as in Answer=response.")
        rules.append(FieldRule(_target(target.strip()), Expression(column=column.strip())))
    check_fields(rules)
    return tuple(rules)


def _split(text: str) -> list[str]:
    """At commas, but a column whose name holds one can be put in double quotes."""
    parts, quoted = [""], False
    for character in text:
        if character == '"':
            quoted = not quoted
        elif character == "," and not quoted:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def known_target(target: str) -> bool:
    """True for the name of a field, or of a family with a name in it, as ``judge.gpt-4.score``."""
    family, dot, name = target.partition(".")
    return target in FIELDS or (bool(dot) and family in FAMILIES and bool(name))


def split_target(target: str) -> tuple[str, str, str]:
    """Family, name and part: ``judge.gpt-3.5.score`` is ('judge', 'gpt-3.5', 'score'); a plain field has no name."""
    if target in FIELDS:
        return target, "", ""
    family, _, name = target.partition(".")
    for part in FAMILIES[family]:
        if part and name.endswith(f".{part}"):
            return family, name.removesuffix(f".{part}"), part
    return family, name, ""


def _target(target: str) -> str:
    if not known_target(target):
        raise MappingError(f"There is no field {target!r}.", suggestion(target))
    return target


def suggestion(target: str) -> str:
    """The nearest known field, or all of them."""
    names = [*FIELDS, *(f"{family}.NAME" for family in FAMILIES)]
    near = difflib.get_close_matches(target, names, n=1)
    return f"Did you mean {near[0]!r}?" if near else f"Fields: {', '.join(names)}."


def check_fields(rules: Iterable[FieldRule]) -> None:
    """Refuse two columns for one field, and a mapping out of which nothing could be imported."""
    seen: dict[str, FieldRule] = {}
    for rule in rules:
        if rule.target in seen:
            raise MappingError(f"Two columns are mapped to {rule.target!r}.", "Map one of them to something else.")
        seen[rule.target] = rule
    if not any(split_target(target)[0] in _WORTHWHILE for target in seen):
        raise MappingError(
            "Neither responses nor labels are mapped.", "Map a column to response, coder.NAME or judge.NAME."
        )
    for first, second in (("coder", "label"), ("judge", "judge_label")):
        if first in seen and not seen.keys() & ({second, "rating"} if first == "coder" else {second, "judge_score"}):
            raise MappingError(
                f"{first!r} is mapped, but not {second!r}.", f"Map the column with this {first}'s labels too."
            )
        if second in seen and first not in seen:
            raise MappingError(f"{second!r} is mapped, but not {first!r}.", f"Map a column, or write {first}:=NAME.")
    if {"pi", "weight"} <= seen.keys():
        raise MappingError("Both 'pi' and 'weight' are mapped.", "One is one over the other: map one.")


def _fields(root: Table, joins: Sequence[str]) -> tuple[FieldRule, ...]:
    table = root.table("fields")
    if table is None:
        root.fail("there is no [fields] table.", 'Add [fields] with lines such as question = "Question".')
    rules = []
    for target in table.data:
        unquoted = _unquoted(table, target)
        if unquoted or not known_target(target):
            table.fail(f"there is no field {target!r}.", unquoted or suggestion(target), target)
        rules.append(FieldRule(target, _expression(table, target, joins)))
    try:
        check_fields(rules)
    except MappingError as error:
        table.fail(error.message, error.hint)
    return tuple(rules)


def _unquoted(table: Table, target: str) -> str:
    inner = table.data[target]
    if target in FAMILIES and isinstance(inner, dict) and inner and not inner.keys() & set(_EXPRESSION):
        return f'Put the whole name in quotes: "{target}.{next(iter(inner))}".'
    return ""


def _expression(table: Table, target: str, joins: Sequence[str]) -> Expression:
    value = table.data[target]
    if isinstance(value, str):
        return Expression(column=value)
    found = table.table(target)
    assert found is not None
    found.allow(_EXPRESSION)
    if len({"column", "const", "capture"} & found.data.keys()) != 1:
        found.fail(f"{target!r} needs one of column, const and capture.", 'Write { column = "…" }.')
    join = found.text("join", "") or None
    if join is not None and join not in joins:
        found.fail(f"there is no join {join!r}.", f"Joins: {', '.join(joins) or 'none'}.", "join")
    steps = found.data.get("steps", [])
    if not isinstance(steps, list):
        found.fail("'steps' must be a list.", 'Write steps = ["strip"].', "steps")
    return Expression(
        column=found.text("column") if "column" in found.data else None,
        join=join,
        const=found.text("const") if "const" in found.data else None,
        capture=found.text("capture") if "capture" in found.data else None,
        steps=tuple(parse_step(step, found) for step in steps),
    )


def _options(root: Table) -> TableOptions:
    table = root.table("options")
    if table is None:
        return TableOptions()
    table.allow(_OPTIONS)
    return TableOptions(
        gold_separator=table.text("gold_separator", ""),
        options_separator=table.text("options_separator", ""),
        confidence_scale=table.whole("confidence_scale", 0) or None,
        confidence_grid=table.whole("confidence_grid", 0) or None,
        labels_only=table.flag("labels_only"),
    )


def _read(table: Table) -> ReadOptions:
    kind = table.text("format", "")
    if kind not in _KINDS:
        table.fail(f"there is no table format {kind!r}.", f"Formats: {', '.join(filter(None, _KINDS))}.", "format")
    delimiter = table.text("delimiter", "\t" if kind == "tsv" else "")
    return ReadOptions(
        kind=_KINDS[kind],
        delimiter=delimiter,
        quoting=table.flag("quoting", True),
        encoding=table.text("encoding", ""),
        columns=table.texts("columns"),
    )


def _join(table: Table) -> Join:
    table.allow(("name", "pattern", "by", "check", "mismatches", *_READ))
    by = table.data.get("by", "row")
    keys: Mapping[str, str] = {} if by == "row" else table.string_map("by")
    if by != "row" and not keys:
        table.fail(
            "'by' is empty.", 'Write by = "row", or by = { "column of the main file" = "column of this one" }.', "by"
        )
    return Join(
        name=table.text("name"),
        pattern=table.text("pattern"),
        by=keys,
        check=_checks(table),
        mismatches=table.whole("mismatches", 0),
        read=_read(table),
    )


def _checks(table: Table) -> dict[str, tuple[str, ...]]:
    found = table.table("check")
    if found is None:
        return {}
    return {key: (value,) if isinstance(value, str) else found.texts(key) for key, value in found.data.items()}
