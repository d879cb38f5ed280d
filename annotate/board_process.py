"""The live numbers of the dashboard in a process of their own: the screen stays quick, leaving it waits for nothing.

The process has a low priority, so that on a busy machine a coder's save comes first.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from annotate.dashboard import StudyDashboard
from db.errors import AnnotateError
from db.study import Study, open_study
from tui.ports import Board

NICE = 10


class DashboardApart(StudyDashboard):
    """``StudyDashboard`` whose live numbers another process computes. ``close`` ends it, whatever it is at."""

    def __init__(self, study: Study, *, width: float = 0.05, names: bool = True, blind: bool = False) -> None:
        super().__init__(study, width=width, names=names, blind=blind)
        # It passes on the error stream that it finds, which has no number once the screen has put its own in place.
        resource_tracker.ensure_running()
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None

    def live(self) -> Board:
        """Raises AnnotateError for what the numbers cannot be had of, and where the process has gone."""
        if self._blind:
            return super().live()
        try:
            pipe = self._begun()
            pipe.send(True)
            found: Board | tuple[str, str] = pipe.recv()
        except (EOFError, OSError) as error:
            self.close()
            raise AnnotateError("The process of the live numbers has ended.", "They are asked for again.") from error
        if isinstance(found, tuple):
            raise AnnotateError(*found)
        return found

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = self._pipe = None

    def _begun(self) -> Connection:
        if self._pipe is None:
            context = multiprocessing.get_context("spawn")  # a fork would inherit the open study and its locks
            self._pipe, theirs = context.Pipe()
            options = (self._width, self._names)
            process = context.Process(target=_serve, args=(self._study.path, *options, theirs), daemon=True)
            process.start()
            self._process = process
            theirs.close()
        return self._pipe


def _serve(path: Path, width: float, names: bool, pipe: Connection) -> None:
    """Answer each request with a board, or with what an AnnotateError says, until the other end is closed."""
    _step_back()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        with open_study(path) as study:
            board = StudyDashboard(study, width=width, names=names)
            while pipe.recv():
                pipe.send(_answer(board))
    except (EOFError, OSError):
        return
    except AnnotateError as error:
        pipe.send((error.message, error.hint))


def _end_with_parent() -> None:
    """A dashboard that was killed leaves nobody to compute for."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(0)


def _answer(board: StudyDashboard) -> Board | tuple[str, str]:
    try:
        return board.live()
    except AnnotateError as error:
        return error.message, error.hint


def _step_back() -> None:
    """Low priority, and no word on the terminal, which belongs to the screen."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nothing, stream)
    if hasattr(os, "nice"):
        os.nice(NICE)
