"""Where the details of a fault go: not to the screen, for they may hold text."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from db.errors import AnnotateError


def study_fault(error: Exception, arguments: Sequence[str]) -> AnnotateError | None:
    """What is wrong with the study that was named, where SQLite itself found it; None for any other error."""
    library, study = sys.modules.get("sqlite3"), _study(arguments)
    if library is None or study is None or not isinstance(error, library.Error):
        return None
    from db.faults import translate

    return translate(error, study)


def _study(arguments: Sequence[str]) -> Path | None:
    return next((Path(a) for a in arguments if a.endswith((".db", ".pack")) and Path(a).is_file()), None)


def crash_log(error: Exception, arguments: Sequence[str]) -> Path:
    """Write the traceback, without local variables, beside the study that was named, and return its path."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    path = _folder(arguments) / f"crash-{stamp}.log"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as log:
        log.write("".join(traceback.format_exception(error)))
    return path


def _folder(arguments: Sequence[str]) -> Path:
    study = _study(arguments)
    folder = (
        study.with_name(study.name.removesuffix(".db") + ".d") if study else Path(tempfile.mkdtemp(prefix="annotate-"))
    )
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError:
        return Path(tempfile.mkdtemp(prefix="annotate-"))
    return folder
