"""When the program itself fails: a log beside the study, and one line on the screen without any study text."""

from __future__ import annotations

import os
import platform
import traceback
from datetime import UTC, datetime
from pathlib import Path

from db.errors import AnnotateError
from db.version import TOOL_VERSION


class DeskCrashed(AnnotateError):
    """The coding screen stopped because of an error in the program."""

    exit_code = 1


def report_crash(error: BaseException, folder: Path | None) -> DeskCrashed:
    """Write the log (readable by its owner only) and return the error to raise. Never raises itself."""
    kind = type(error).__name__
    message = f"The coding screen stopped because of an error in the program ({kind}). Everything marked ✓ is saved."
    try:
        where = f"Details are in {_log(error, folder)}." if folder is not None else ""
    except OSError:
        where = "Its details could not be written beside the study."
    return DeskCrashed(message, where)


def _log(error: BaseException, folder: Path) -> Path:
    now = datetime.now(UTC)
    path = folder / f"crash-{now:%Y%m%dT%H%M%S}.log"
    head = f"annotate {TOOL_VERSION}, Python {platform.python_version()}, {platform.platform()}, {now.isoformat()}\n\n"
    with os.fdopen(
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w", encoding="utf-8", newline=""
    ) as file:
        file.write(head + "".join(traceback.format_exception(error)))
    return path
