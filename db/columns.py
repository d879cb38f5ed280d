"""The facts that a response can be grouped, filtered and stratified by, each as an SQL expression.

Every expression speaks of ``r`` (responses) and ``i`` (items). A name that is none of the fixed ones is a stratum
field of the items (category, subcategory, ...); ``extra:NAME`` is a field that the response carries beside these.
"""

from __future__ import annotations

from collections.abc import Iterable

from db.faults import Refused

NO_VALUE = "(none)"
CHOICE_IS_KEY = "choice_is_key"

_FIXED = {
    "item": "i.key",
    "model": "r.model",
    "condition": "r.condition",
    "repeat": "r.repeat",
    "choice": "r.choice",
    "answer_key": "i.answer_key",
    "confidence": "r.confidence",
    "confidence_grid": "r.confidence_grid",
    "confidence_usable": "r.confidence_usable",
    "searched": "r.searched",
    "failure": "r.failure",
    "technical": "(r.failure IS NOT NULL)",
    CHOICE_IS_KEY: "(r.choice = i.answer_key)",
    "model_b": "r.model_b",
}


def column_sql(name: str) -> str:
    """The expression of one fact; NULL where the response does not have it. Raises Refused for an impossible name."""
    if name in _FIXED:
        return _FIXED[name]
    if name.startswith("extra:"):
        return f"json_extract(r.extra, {json_path(name.removeprefix('extra:'))})"
    return f"json_extract(i.strata, {json_path(name)})"


def text_sql(name: str) -> str:
    """The same as text, with "(none)" where there is no value: what a stratum is named by."""
    return f"coalesce(CAST({column_sql(name)} AS TEXT), '{NO_VALUE}')"


def condition_sql(field: str, values: Iterable[object]) -> str:
    """The condition that ``field`` has one of ``values``; without values, that it holds (is true)."""
    wanted = [quoted(plain_value(value)) for value in values]
    if not wanted:
        return f"coalesce({column_sql(field)}, 0)"
    return f"{text_sql(field)} IN ({', '.join(wanted)})"


def json_path(name: str) -> str:
    """A JSON path as an SQL string literal. Raises Refused for a name that SQLite cannot spell."""
    if not name or '"' in name:
        raise Refused(f"{name!r} cannot be the name of a field.", "Use a name without quotation marks.")
    return quoted(f'$."{name}"')


def quoted(text: str) -> str:
    """An SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def plain_value(value: object) -> str:
    """Truth is 1 and 0 in the file."""
    known = {True: "1", False: "0", "true": "1", "false": "0"}
    return known[value] if isinstance(value, (bool, str)) and value in known else str(value)
