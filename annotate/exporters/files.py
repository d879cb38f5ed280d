"""Writing JSON arrays and JSON Lines one record at a time, into files that only their owner can read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

Records = Iterable[Mapping[str, Any]]


@contextmanager
def private_text(path: Path) -> Iterator[TextIO]:
    """A new text file under its name only when it is whole; what was there before is replaced then."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
            yield file
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_lines(path: Path, records: Records) -> None:
    """One JSON object a line."""
    with private_text(path) as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def write_array(path: Path, records: Records) -> None:
    """One JSON array, an element a line."""
    with private_text(path) as file:
        mark = "[\n"
        for record in records:
            file.write(mark + json.dumps(record, ensure_ascii=False))
            mark = ",\n"
        file.write("[]\n" if mark == "[\n" else "\n]\n")
