"""The files of one import under the names that its report uses, and the count of what was read from each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from db.records import Reject


class Tally:
    """``read[i]`` records were met in file i; ``notes`` is what a reader of the report should know besides.

    A file goes by its name, or by folder and name where two have the same name; never by its whole path.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = tuple(paths)
        twice = {name for name, count in Counter(path.name for path in paths).items() if count > 1}
        self.names = tuple(f"{path.parent.name}/{path.name}" if path.name in twice else path.name for path in paths)
        self.read = [0] * len(self.paths)
        self.notes: list[str] = []
        self._index = {path: i for i, path in enumerate(self.paths)}

    def index(self, path: Path) -> int:
        """The position of a file in the list of sources."""
        return self._index[path]

    def name(self, path: Path) -> str:
        return self.names[self._index[path]]

    def count(self, source: int, records: int = 1) -> None:
        self.read[source] += records

    def reject(self, source: int, row: int, reason: str) -> Reject:
        """A Reject of that file's record; counting it is the caller's, as for every record."""
        return Reject(self.names[source], row, reason)
