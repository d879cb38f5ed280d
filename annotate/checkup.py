"""The examination behind `annotate doctor`: each finding is a fact with what to do about it."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from annotate.extras import OPTIONAL
from annotate.installing import minimum_versions
from annotate.loading import load_faults

BASE = ("click", "rich", "sqlite-utils", "textual")

State = Literal["ok", "missing", "bad"]


@dataclass(frozen=True, slots=True)
class Finding:
    what: str
    state: State
    detail: str


def examine(study: Path | None = None) -> list[Finding]:
    """Everything that is known to go wrong, in the order in which it would."""
    return [*_runtime(), *_packages(), *_clashes(), *_terminal(), *(_place(study) if study else ())]


def _runtime() -> Iterator[Finding]:
    import db.connection  # noqa: F401 (brings sqlite3, which only db may name)
    from annotate import __version__

    library = sys.modules["sqlite3"]
    yield Finding("annotate", "ok", f"{__version__}, in {Path(__file__).resolve().parent}")
    old = sys.version_info < (3, 11)
    yield Finding("Python", "bad" if old else "ok", f"{platform.python_version()} on {platform.system()}")
    yield Finding("SQLite", "ok", str(library.sqlite_version))


def _packages() -> Iterator[Finding]:
    """The packages of the base, then those of extras: installed, recent enough, and whether they load."""
    lowest = minimum_versions()
    installed = {name: _version(name) for name in (*BASE, *(each.distribution for each in OPTIONAL))}
    faults = load_faults([each.module for each in OPTIONAL if installed[each.distribution]])
    for name in BASE:
        yield _package(name, installed[name], lowest.get(name, ""), "every command", "pip install --upgrade " + name)
    for each in OPTIONAL:
        name = each.distribution
        yield _package(name, installed[name], lowest.get(name, ""), each.purpose, each.how, faults.get(each.module, ""))
    if installed["pyspark"] and not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        yield Finding("Java", "missing", "for counting on Spark: install Java 17 or newer")


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _package(name: str, version: str, lowest: str, purpose: str, how: str, fault: str = "") -> Finding:
    if not version:
        return Finding(name, "missing", f"for {purpose}: {how}")
    if _release(version) < _release(lowest):
        return Finding(name, "bad", f"{version}; for {purpose} {lowest} or newer is needed: {how}")
    if fault:
        return Finding(name, "bad", f"{version}; for {purpose}, but it does not load: {fault}")
    return Finding(name, "ok", version)


def _release(version: str) -> tuple[int, ...]:
    """The numbers that a version begins with, zeros at their end left out: 3.0 is 3."""
    numbers = [int(part) for part in re.match(r"[\d.]*", version)[0].split(".") if part]  # type: ignore[index]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def _clashes() -> Iterator[Finding]:
    from annotate.__main__ import foreign_package

    clash = foreign_package()
    yield Finding("package names", "bad" if clash else "ok", clash or "annotate, agreement, db and tui are ours")


def _terminal() -> Iterator[Finding]:
    if not sys.stdout.isatty():
        yield Finding("terminal", "missing", "stdout is no terminal here; 'annotate code --plain' works line by line")
        return
    kind = os.environ.get("TERM", "")
    size = os.get_terminal_size()
    dumb = kind in ("", "dumb")
    small = size.columns < 80 or size.lines < 24
    detail = f"TERM={kind or 'unset'}, {size.columns}x{size.lines}"
    if dumb:
        yield Finding("terminal", "bad", f"{detail}: no full screen; use 'annotate code --plain'")
    else:
        yield Finding("terminal", "bad" if small else "ok", f"{detail}{': 80x24 or more is needed' if small else ''}")
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    yield Finding(
        "encoding", "ok" if encoding == "utf8" else "bad", f"{sys.stdout.encoding}; UTF-8 is needed for texts"
    )


def _place(study: Path) -> Iterator[Finding]:
    from db.connection import is_encrypted, is_pack
    from db.errors import AnnotateError
    from db.places import check_place

    if is_pack(study):
        what = "an encrypted pack" if is_encrypted(study) else "a pack"
        yield Finding("kind of file", "ok", f"{what}: 'annotate verify' says whether it is whole")
    try:
        check_place(study.resolve())
        yield Finding("place of the study", "ok", "a local disk")
    except AnnotateError as error:
        yield Finding("place of the study", "bad", str(error))
