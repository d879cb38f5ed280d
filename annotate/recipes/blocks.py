"""Records by columns into rows by columns: the quick way for tables of one file whose fields are plain columns.

A block holds exactly the rows that ``Mapper.rows`` makes of its records one by one (a test compares the two). Where a
record of a batch does not fit, that batch goes the other way, so that only that record is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from annotate.importers.batches import Batch
from annotate.recipes import values
from annotate.recipes.compiled import Reader, judge_readers, readers_of, stratum_rules
from annotate.recipes.rows import RESPONSE_FIELDS, Items, item_fields
from annotate.recipes.spec import Expression, FieldRule, Recipe
from annotate.recipes.transforms import as_text, strip
from db.row_block import JudgeColumns, RowBlock

Column = Callable[[Batch, Mapping[str, str]], Sequence[Any]]
_ONE_BY_ONE = frozenset({"coder", "tiebreak", "final", "judge", "pi", "weight"})


def by_columns(recipe: Recipe) -> bool:
    """True where a recipe's records can be mapped by columns: one file, plain columns, a response, no human labels."""
    targets = {rule.target for rule in recipe.fields}
    return (
        not recipe.joins
        and "response" in targets
        and not targets & _ONE_BY_ONE
        and not any(target.startswith(("coder.", "tiebreak.", "final.")) for target in targets)
        and all(rule.value.join is None and _plain(rule.value.column) for rule in recipe.fields)
    )


def _plain(column: str | None) -> bool:
    return column is None or not ("." in column or "[" in column)


class BlockMapper:
    """The fields of a recipe (for which ``by_columns`` holds) as functions from a batch to a column."""

    def __init__(self, recipe: Recipe, items: Items, used: frozenset[str]) -> None:
        readers, rules = readers_of(recipe.options), {rule.target: rule for rule in recipe.fields}
        fields = {name: _column(rules[name].value, read) for name, read in readers.items() if name in rules}
        self._items, self._used = items, used
        self._key, self._question = fields.get("item"), fields.get("question")
        self._item_fields = [fields[target] for target, _ in item_fields(fields)]
        self._strata = [_column(value, strip) for _, value in stratum_rules(recipe)]
        self._place = {name: fields[name] for name in ("model", "condition") if name in fields}
        self._repeat, self._text, self._confidence = fields.get("repeat"), fields["response"], fields.get("confidence")
        self._more = {name: fields[target] for target, name in RESPONSE_FIELDS.items() if target in fields}
        self._judges = [(name, _parts(rules)) for name, rules in judge_readers(recipe).items()]

    def block(self, batch: Batch, captures: Mapping[str, str], source: int) -> RowBlock:
        """The rows of a batch; raises Unfit where one of its records does not fit (nothing is remembered of it)."""
        key = self._place_of(batch, captures)
        columns = {**self._response(batch, captures), **self._text_and_rest(batch, captures)}
        judges = tuple(JudgeColumns(name, _said(parts, batch, captures)) for name, parts in self._judges)
        keys, items = self._items.of_batch(
            batch.rows,
            source,
            None if self._key is None else self._key(batch, captures),
            None if self._question is None else self._question(batch, captures),
            [get(batch, captures) for get in self._item_fields],
            [get(batch, captures) for get in self._strata],
        )
        return RowBlock(source, batch.rows, items, {"item": keys, **key}, columns, judges)

    def _place_of(self, batch: Batch, captures: Mapping[str, str]) -> dict[str, Sequence[Any]]:
        key: dict[str, Sequence[Any]] = {
            name: [value or "" for value in get(batch, captures)] for name, get in self._place.items()
        }
        return key if self._repeat is None else {**key, "repeat": self._repeat(batch, captures)}

    def _response(self, batch: Batch, captures: Mapping[str, str]) -> dict[str, Sequence[Any]]:
        found = {name: get(batch, captures) for name, get in self._more.items()}
        return found if self._confidence is None else {**found, **_confidence(self._confidence(batch, captures))}

    def _text_and_rest(self, batch: Batch, captures: Mapping[str, str]) -> dict[str, Sequence[Any]]:
        """The responses; and the columns that no field took, with a mark where there was no response."""
        texts, left = self._text(batch, captures), batch.left(self._used)
        if None in texts:
            left = left or [{} for _ in texts]
            for text, more in zip(texts, left, strict=True):
                if text is None:
                    more["text_missing"] = True
            texts = [text or "" for text in texts]
        return {"text": texts} if left is None else {"text": texts, "extra": left}


def _said(parts: Mapping[str, Column], batch: Batch, captures: Mapping[str, str]) -> dict[str, Sequence[Any]]:
    found = {name: get(batch, captures) for name, get in parts.items()}
    if "raw" in found:
        found["raw"] = [raw or None for raw in found["raw"]]
    return found


def _confidence(found: Sequence[tuple[int, int] | None]) -> dict[str, Sequence[Any]]:
    return {
        "confidence": [None if pair is None else pair[0] for pair in found],
        "confidence_grid": [None if pair is None else pair[1] for pair in found],
    }


def _parts(rules: Mapping[str, tuple[FieldRule, Reader]]) -> dict[str, Column]:
    return {part or "raw": _column(rule.value, read) for part, (rule, read) in rules.items()}


def _column(expression: Expression, read: Reader) -> Column:
    """The values of an expression in a batch, read as their type; raises Unfit."""
    column, steps = expression.column, (*expression.steps, read)

    def get(batch: Batch, captures: Mapping[str, str]) -> Sequence[Any]:
        if column is not None:
            found: Sequence[Any] = batch.column(column)
        else:
            fixed = expression.const if expression.const is not None else captures.get(expression.capture or "")
            found = [fixed] * len(batch.rows)
        for step in steps:
            found = _each(step, found)
        return found

    return get


def _each(read: Reader, found: Sequence[Any]) -> Sequence[Any]:
    """``read`` of each; of a column of nothing but text, what ``read`` does with text."""
    if set(map(type, found)) == {str}:
        if read is as_text:
            return found
        if read is values.text_or_none:
            return [value or None for value in found]
        if read is strip:
            return [value.strip() or None for value in found]
    return list(map(read, found))
