"""TOML read strictly: every key is known, every value has its type, and every complaint names file, line and remedy."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, NoReturn

from db.errors import AnnotateError

_HEADER = re.compile(r"^\s*(\[\[?)\s*(.+?)\s*\]\]?\s*(?:#.*)?$")
_ASSIGNMENT = re.compile(
    r"^\s*((?:[A-Za-z0-9_-]+|\"[^\"\n]*\"|'[^'\n]*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|\"[^\"\n]*\"))*)\s*="
)
_PART = re.compile(r"\"([^\"]*)\"|'([^']*)'|([A-Za-z0-9_-]+)")

Path = tuple[str | int, ...]


class TomlError(AnnotateError):
    """A TOML file of the user's that cannot be used as it is."""


class Document(NamedTuple):
    """A parsed TOML text that can tell on which line each key stands."""

    source: str
    data: Mapping[str, object]
    text: str

    def root(self) -> Table:
        return Table(self, (), self.data)

    def where(self, path: Path) -> str:
        """``file, line 12`` for a path, or the nearest enclosing path whose line is known."""
        lines = _key_lines(self.text)
        while path:
            if path in lines:
                return f"{self.source}, line {lines[path]}"
            path = path[:-1]
        return self.source


class Table(NamedTuple):
    """One table of a document, with typed access that refuses in one line what it cannot read."""

    document: Document
    path: Path
    data: Mapping[str, object]

    def fail(self, message: str, hint: str, key: str | None = None) -> NoReturn:
        path = self.path if key is None else (*self.path, key)
        raise TomlError(f"{self.document.where(path)}: {message}", hint)

    def allow(self, known: Sequence[str]) -> None:
        """Refuse every key that is not ``known``, with the nearest known one as a suggestion."""
        for key in self.data:
            if key not in known:
                near = difflib.get_close_matches(key, known, n=1)
                hint = f"Did you mean {near[0]!r}?" if near else f"Known here: {', '.join(known)}."
                self.fail(f"unknown key {key!r}{self._here()}.", hint, key)

    def _here(self) -> str:
        return f" in [{'.'.join(str(part) for part in self.path if isinstance(part, str))}]" if self.path else ""

    def text(self, key: str, default: str | None = None) -> str:
        """A string; without a default it must be there and not be empty."""
        value = self.data.get(key, default)
        if value is None or (default is None and value == ""):
            self.fail(f"{key!r} is missing{self._here()}.", f'Add {key} = "…".')
        if not isinstance(value, str):
            self.fail(f"{key!r} is {_kind(value)}, expected a string{self._here()}.", f'Write {key} = "…".', key)
        return value

    def whole(self, key: str, default: int) -> int:
        value = self.data.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool):
            self.fail(f"{key!r} is {_kind(value)}, expected a whole number{self._here()}.", f"Write {key} = 1.", key)
        return value

    def flag(self, key: str, default: bool = False) -> bool:
        value = self.data.get(key, default)
        if not isinstance(value, bool):
            self.fail(f"{key!r} is {_kind(value)}, expected true or false{self._here()}.", f"Write {key} = true.", key)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings, empty where the key is missing."""
        value = self.data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            self.fail(f"{key!r} must be a list of strings{self._here()}.", f'Write {key} = ["…", "…"].', key)
        return tuple(value)

    def table(self, key: str) -> Table | None:
        value = self.data.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            self.fail(f"{key!r} is {_kind(value)}, expected a table{self._here()}.", f"Write it as [{key}].", key)
        return Table(self.document, (*self.path, key), value)

    def tables(self, key: str) -> tuple[Table, ...]:
        """The tables of an array ``[[key]]``, empty where there is none."""
        value = self.data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
            self.fail(f"{key!r} must be a list of tables{self._here()}.", f"Write each as [[{key}]].", key)
        return tuple(Table(self.document, (*self.path, key, i), entry) for i, entry in enumerate(value))

    def string_map(self, key: str) -> dict[str, str]:
        """A table from strings to strings, empty where the key is missing."""
        found = self.table(key)
        if found is None:
            return {}
        return {name: found.text(name, "") for name in found.data}


def parse_document(text: str, source: str) -> Document:
    """Parse ``text``; raises TomlError with the line and column that the TOML parser gives."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TomlError(f"{source}: not valid TOML: {error}.", "Correct that place; strings need quotes.") from None
    return Document(source, data, text)


def _kind(value: object) -> str:
    names = {bool: "true/false", int: "a whole number", float: "a number", str: "a string", list: "a list"}
    return names.get(type(value), "a table" if isinstance(value, dict) else "a date or time")


def _parts(dotted: str) -> Path:
    return tuple(next(group for group in match.groups() if group is not None) for match in _PART.finditer(dotted))


def _key_lines(text: str) -> dict[Path, int]:
    lines: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    here: Path = ()
    for number, line in _lines_outside_strings(text):
        if header := _HEADER.match(line):
            here = _resolve(_parts(header[2]), counts, array=header[1] == "[[")
            lines.setdefault(here, number)
        elif assignment := _ASSIGNMENT.match(line):
            lines.setdefault((*here, *_parts(assignment[1])), number)
    return lines


def _resolve(parts: Path, counts: dict[Path, int], *, array: bool) -> Path:
    """The path of a header, with the running index of every array of tables that it is in."""
    path: Path = ()
    for i, part in enumerate(parts):
        path = (*path, part)
        last = i == len(parts) - 1
        if last and array:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path


def _lines_outside_strings(text: str) -> Iterator[tuple[int, str]]:
    """Numbered lines that do not begin inside a multi-line string."""
    closing: str | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        if closing is None:
            yield number, line
        rest = line
        while True:
            if closing is not None:
                _before, found, rest = rest.partition(closing)
                if not found:
                    break
                closing = None
            opened = re.search(r'"""|\'\'\'', rest)
            if opened is None:
                break
            closing, rest = opened[0], rest[opened.end() :]
