"""The ``[[score]]`` tables: which scores apply to a protocol, and the options that each kind has."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence

from annotate.strict_toml import Table
from db.records import ScoreRule

Reader = Callable[[Table, str, Sequence[str]], object]


def parse_scores(root: Table, labels: Sequence[str]) -> tuple[ScoreRule, ...]:
    """Every score of the protocol, each name once; raises TomlError."""
    rules = [(_score(table, labels), table) for table in root.tables("score")]
    seen: set[str] = set()
    for rule, table in rules:
        if rule.name in seen:
            table.fail(f"the score {rule.name!r} is there twice.", "Give each score its own name.", "name")
        seen.add(rule.name)
    return tuple(rule for rule, _ in rules)


def _score(table: Table, labels: Sequence[str]) -> ScoreRule:
    kind = table.text("kind")
    if kind not in OPTIONS:
        near = difflib.get_close_matches(kind, OPTIONS, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"Kinds: {', '.join(OPTIONS)}."
        table.fail(f"there is no score of the kind {kind!r}.", hint, "kind")
    readers = OPTIONS[kind]
    table.allow(("name", "kind", "title", *readers))
    options = {key: read(table, key, labels) for key, read in readers.items() if key in table.data}
    for key in REQUIRED.get(kind, ()):
        if key not in options:
            table.fail(f"a score of the kind {kind!r} needs {key!r}.", f"Add {key}.")
    return ScoreRule(table.text("name"), kind, table.text("title", ""), options)


def _label(table: Table, key: str, labels: Sequence[str]) -> str:
    return _known(table, key, table.text(key), labels)


def _labels(table: Table, key: str, labels: Sequence[str]) -> tuple[str, ...]:
    return tuple(_known(table, key, name, labels) for name in table.texts(key))


def _known(table: Table, key: str, name: str, labels: Sequence[str]) -> str:
    if name not in labels:
        table.fail(f"{name!r} is not a label of this protocol.", f"Its labels: {', '.join(labels) or 'none'}.", key)
    return name


def _values(table: Table, key: str, labels: Sequence[str]) -> Mapping[str, float]:
    """A number for every label; a label without one would leave the mean undefined, so all are asked for."""
    found = table.table(key)
    assert found is not None
    for name in labels:
        if name not in found.data:
            found.fail(f"{name} has no value.", f"Give every label a number, as {name} = 0.")
    return {_known(found, name, name, labels): _as_number(found, name) for name in found.data}


def _as_number(table: Table, key: str) -> float:
    value = table.data[key]
    if isinstance(value, bool) or not isinstance(value, int | float):
        table.fail(f"{key!r} must be a number.", f"Write {key} = 0.5.", key)
    return float(value)


def _share(table: Table, key: str, labels: Sequence[str]) -> float:
    value = _as_number(table, key)
    if not 0 <= value < 1:
        table.fail(f"{key!r} is {value}, expected 0 up to, but not, 1.", f"Write {key} = 0.5.", key)
    return value


def _groups(table: Table, key: str, labels: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    found = table.table(key)
    assert found is not None
    return {name: found.texts(name) for name in found.data}


def _texts(table: Table, key: str, labels: Sequence[str]) -> tuple[str, ...]:
    return table.texts(key)


def _one_of(*choices: str) -> Reader:
    def read(table: Table, key: str, labels: Sequence[str]) -> str:
        value = table.text(key)
        if value not in choices:
            table.fail(f"{key!r} is {value!r}.", f"Choose one of: {', '.join(choices)}.", key)
        return value

    return read


_ROLES: dict[str, Reader] = dict.fromkeys(("abstain", "hedge", "correct", "wrong"), _label)
_SEARCH: dict[str, Reader] = {
    "items": _texts,
    "items_field": lambda table, key, labels: table.text(key),
    "search": _one_of("with", "without", "condition"),
    "abstain_choice": lambda table, key, labels: table.text(key),
    **_ROLES,
}
OPTIONS: Mapping[str, Mapping[str, Reader]] = {
    "ehq": {**_ROLES, "by": _texts, "group_field": lambda t, k, _: t.text(k), "groups": _groups},
    "nas": _SEARCH,
    "kis": _SEARCH,
    "wikiprofile": {
        "threshold": _share,
        "treatment": _one_of("fact", "pair", "partial"),
        **dict.fromkeys(("correct", "incorrect", "partially", "other"), _label),
    },
    "rate": {"labels": _labels, "by": _texts},
    "mean": {"values": _values, "by": _texts},
}
"""Kind of score to the options that it has, each with what reads it."""
REQUIRED: Mapping[str, tuple[str, ...]] = {"rate": ("labels",), "mean": ("values",)}
