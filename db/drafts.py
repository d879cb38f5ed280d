"""Unsent notes: kept beside the study while they are typed, so that a killed session loses no words."""

from __future__ import annotations

import os
from pathlib import Path

from db.faults import StudyError
from db.places import private_folder


class Drafts:
    """The unsent notes of one coder, one small file an assignment."""

    def __init__(self, side: Path, coder_uid: str) -> None:
        self._folder = side / "drafts" / coder_uid

    def get(self, assignment: str) -> str | None:
        try:
            return self._path(assignment).read_bytes().decode("utf-8", "surrogatepass")
        except FileNotFoundError:
            return None

    def set(self, assignment: str, text: str | None) -> None:
        """Keep ``text``; None or "" throws the draft away. The old draft stays whole until the new one is.

        Raises StudyError where the disk does not take it.
        """
        path = self._path(assignment)
        try:
            if text:
                self._write(path, text)
            else:
                path.unlink(missing_ok=True)
        except OSError as error:
            raise StudyError(f"{path}: the unsent note cannot be kept ({error.strerror}).", "Save it now.") from error

    def _write(self, path: Path, text: str) -> None:
        private_folder(self._folder)
        partial = path.with_suffix(".part")
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(text.encode("utf-8", "surrogatepass"))
        partial.replace(path)

    def all(self) -> dict[str, str]:
        """Every draft by its assignment."""
        if not self._folder.is_dir():
            return {}
        return {path.stem: self.get(path.stem) or "" for path in sorted(self._folder.glob("*.txt"))}

    def _path(self, assignment: str) -> Path:
        return self._folder / f"{assignment}.txt"
