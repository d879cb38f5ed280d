"""Which keys a label may have: letters that mean nothing else on the coding screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotate.strict_toml import Table
from db.records import LabelRule

RESERVED_KEYS: tuple[tuple[str, str], ...] = (
    ("u", "undo"),
    ("n", "note"),
    ("f", "flag"),
    ("s", "skip"),
    ("g", "go to"),
    ("q", "quit"),
)
"""Letters of the coding screen that no label can take, with what they do there."""


def reserved_keys() -> Mapping[str, str]:
    """Letter to meaning."""
    return dict(RESERVED_KEYS)


def check_keys(labels: Sequence[tuple[LabelRule, Table]]) -> None:
    """Refuse a key that is no letter, is used by the screen, or is shared by two labels; both meanings are named."""
    taken: dict[str, str] = {}
    reserved = reserved_keys()
    for label, table in labels:
        key = label.key
        if len(key) != 1 or not key.isalpha():
            table.fail(f"the key of {label.name} is {key!r}, expected one letter.", 'Write key = "a".', "key")
        if key in reserved:
            _clash(table, label, f"the coding screen uses it for {reserved[key]}", taken)
        if key in taken:
            _clash(table, label, f"it already means {taken[key]}", taken)
        taken[key] = label.name


def _clash(table: Table, label: LabelRule, why: str, taken: Mapping[str, str]) -> None:
    free = [letter for letter in _candidates(label.name) if letter not in taken and letter not in reserved_keys()]
    hint = f"Free letters: {', '.join(free[:6])}." if free else "Choose another letter."
    table.fail(f"the key {label.key!r} of {label.name} is taken: {why}.", hint, "key")


def _candidates(name: str) -> list[str]:
    """The letters of the label's own name first, then the alphabet."""
    return list(dict.fromkeys([c for c in name.lower() if c.isalpha()] + list("abcdefghijklmnopqrstuvwxyz")))
