"""One session per coder, by a lock that the operating system lets go when the process dies."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

from db.faults import ReadOnlyStudy


class FileLock:
    """A lock on a small file, against other processes and other holders in this one; ``release`` removes the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: IO[bytes] | None = None

    def acquire(self) -> bool:
        """Take the lock without waiting; False where somebody holds it. Raises ReadOnlyStudy for a bad folder."""
        while True:
            try:
                file = os.fdopen(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600), "r+b")
            except OSError as error:
                raise ReadOnlyStudy(f"{self.path}: cannot be made ({error.strerror}).", "Check its folder.") from error
            if not _take(file):
                file.close()
                return False
            if _same_file(file, self.path):
                self._file = file
                return True
            file.close()  # its last holder removed the file between our open and our lock

    def release(self) -> None:
        if self._file is None:
            return
        if os.name != "nt":  # an open file cannot be removed there; an empty one left behind does no harm
            self.path.unlink(missing_ok=True)
        self._file.close()
        self._file = None


def _take(file: IO[bytes]) -> bool:
    try:
        import fcntl
    except ImportError:
        return _take_windows(file)
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _take_windows(file: IO[bytes]) -> bool:
    import msvcrt

    try:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError:
        return False
    return True


def _same_file(file: IO[bytes], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        return False
