"""The examination behind `annotate doctor`: each finding is a fact with what to do about it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from annotate.extras import OPTIONAL

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
    for each in OPTIONAL:
        try:
            yield Finding(each.distribution, "ok", importlib.metadata.version(each.distribution))
        except importlib.metadata.PackageNotFoundError:
            yield Finding(each.distribution, "missing", f"for {each.purpose}: {each.how}")


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
