"""The one thread that talks to the study: requests in, reports out, strictly in order.

What a request is about was fixed at the key press; nothing is looked up when it runs.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from db.coding import CodingSession
from db.errors import AnnotateError
from db.faults import Fenced, ProtocolChanged, Refused
from tui.requests import Begin, Broken, Changed, Failed, Report, Request, Save, Stays, view


class StudyThread:
    """Opens a session in a thread of its own and asks for the first item at once.

    ``deliver`` is called there with each report, and must be thread-safe.
    """

    def __init__(self, open_session: Callable[[], CodingSession]) -> None:
        self._open = open_session
        self._requests: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self._opened: queue.SimpleQueue[CodingSession | BaseException] = queue.SimpleQueue()
        self._early: queue.SimpleQueue[Report] = queue.SimpleQueue()
        self._deliver: Callable[[Report], None] | None = None
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="study", daemon=True)
        self._thread.start()

    def session(self) -> CodingSession:
        """Wait until the study is open and the first item read; raises what went wrong."""
        found = self._opened.get()
        if isinstance(found, BaseException):
            raise found
        return found

    def start(self, deliver: Callable[[Report], None]) -> list[Report]:
        """Deliver reports from now on; returns those that came before, in order."""
        with self._lock:
            self._deliver = deliver
            return [self._early.get() for _ in range(self._early.qsize())]

    def submit(self, request: Request) -> None:
        """Ask for something; the answer comes as a report."""
        self._requests.put(request)

    def close(self) -> None:
        """Finish what was asked for, then close the study."""
        self._requests.put(None)
        self._thread.join()

    def _report(self, report: Report) -> None:
        with self._lock:
            deliver = self._deliver or self._early.put
        deliver(report)

    def _run(self) -> None:
        try:
            session = self._open()
        except BaseException as error:
            self._opened.put(error)
            return
        try:
            report = _answer(session, Begin())
            assert report is not None
            self._report(report)
            self._opened.put(session)
            while (request := self._requests.get()) is not None:
                report = _answer(session, request)
                if report is not None:
                    self._report(report)
        finally:
            session.close()


def _answer(session: CodingSession, request: Request) -> Report | None:
    try:
        return request(session)
    except ProtocolChanged as error:
        return _changed(session, request, error)
    except Fenced as error:
        return Failed(request, error)
    except Refused as error:
        return Stays(str(error))
    except AnnotateError as error:
        return Failed(request, error)
    except OSError as error:
        return Failed(request, AnnotateError(f"{error.strerror or error}.", "Put it right, then save again."))
    except BaseException as error:
        return Broken(error)


def _changed(session: CodingSession, request: Request, error: ProtocolChanged) -> Report:
    """The codebook was changed while the session was open: the act was not saved, and the change comes first."""
    pending = session.pending_confirmation()
    if pending is None:
        return Failed(request, error)
    assignment = request.act.assignment if isinstance(request, Save) else None
    item = session.next() if assignment is None else session.item_of(assignment)
    return Changed(pending, view(session, item))
