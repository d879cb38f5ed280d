"""A study that is open in the name of one person, whose lock goes when it is closed."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from db.connection import StudyConnection
from db.session_lock import SessionLock
from db.study import Study


class HeldStudy:
    """Close it (or leave its ``with`` block) to let the lock go."""

    study: Study
    _lock: SessionLock

    def close(self) -> None:
        self._lock.release()
        self.study.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def _connection(self) -> StudyConnection:
        return self.study.connection
