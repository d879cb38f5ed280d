"""Which files a recipe means: patterns with captures, matched against the files and folders that were given."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from annotate.importers.sources import SourceError
from annotate.recipes.spec import Recipe

_CAPTURE = re.compile(r"\\\{(\w+)\\\}")


@dataclass(frozen=True, slots=True)
class Group:
    """A main file, what its name says, and the file of each join."""

    main: Path
    captures: Mapping[str, str]
    joins: Mapping[str, Path]

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.main, *self.joins.values())


def find_groups(recipe: Recipe, given: Sequence[Path]) -> tuple[Group, ...]:
    """Every main file with its partners; raises SourceError where one is missing or a named file is not used."""
    files = [file for path in given for file in _files(path)]
    main = _matches(recipe.pattern, files)
    if not main:
        raise SourceError(f"No file is called {recipe.pattern!r}.", f"Looked among: {_some(files)}.")
    groups = tuple(Group(path, captures, _partners(recipe, path, captures, files)) for path, captures in main)
    used = {path for group in groups for path in group.paths}
    for path in given:
        if path.is_file() and path not in used:
            raise SourceError(f"{path}: the recipe {recipe.name!r} has no use for this file.", "Leave it out.")
    return groups


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """``answers_{model}.csv`` as a regular expression; ``*`` is any text. A .gz at the end is allowed."""
    text = _CAPTURE.sub(r"(?P<\1>.+?)", re.escape(pattern)).replace(r"\*", ".*")
    return re.compile(rf"{text}(?:\.gz)?")


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(child for child in path.iterdir() if child.is_file())
    return [path]


def _matches(pattern: str, files: Sequence[Path]) -> list[tuple[Path, dict[str, str]]]:
    compiled = compile_pattern(pattern)
    found = [(path, compiled.fullmatch(path.name)) for path in files]
    return [(path, match.groupdict()) for path, match in found if match]


def _partners(recipe: Recipe, main: Path, captures: Mapping[str, str], files: Sequence[Path]) -> dict[str, Path]:
    partners = {}
    for join in recipe.joins:
        fitting = [path for path, found in _matches(join.pattern, files) if _agree(found, captures)]
        if len(fitting) != 1:
            which = "no file" if not fitting else "more than one file"
            named = join.pattern.format_map(_Known(captures))
            raise SourceError(
                f"{main.name}: {which} for the join {join.name!r} ({named}).", "Give the folder that holds it."
            )
        partners[join.name] = fitting[0]
    return partners


def _agree(found: Mapping[str, str], captures: Mapping[str, str]) -> bool:
    return all(captures.get(name, value) == value for name, value in found.items())


class _Known(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "{" + key + "}"


def _some(files: Sequence[Path]) -> str:
    names = ", ".join(path.name for path in files[:5])
    return f"{names}{', …' if len(files) > 5 else ''}" or "nothing"
