"""The process behind one browser session. Started as ``python -P -m annotate.serving.child``, told its job on stdin.

Who codes, and what, stands on the first line of stdin and not among the arguments: other accounts of the machine read
those. Nothing that comes later, from the browser, can change it. Before the desk is drawn, a refusal is one line on
stdout; afterwards stdout carries the packets of ``textual.drivers.web_driver``.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from db.errors import AnnotateError

REFUSED = "__REFUSED__ "
MAX_JOB = 64 * 1024
Screen = Literal["code", "dashboard", "adjudicate"]


@dataclass(frozen=True, slots=True)
class Job:
    """``coder``: a coder's random id, or the lead's name. ``server``: the process that must be alive."""

    study: str
    screen: Screen
    coder: str
    theme: str
    server: int

    def line(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"


def main() -> None:
    """Run the session that stdin tells of; exit code 0 when it was left, 2 refused, 70 a fault of ours."""
    _die_with_parent()
    job = _job()
    if os.getppid() != job.server:
        sys.exit(1)
    sys.stdout = io.StringIO()  # a stray print would break the packets
    from db.errors import AnnotateError
    from tui.crash import DeskCrashed

    try:
        lines = _run(job)
    except DeskCrashed as error:  # raised only after packets were written
        _tell({"type": "crashed", "message": str(error)})
        sys.exit(70)
    except AnnotateError as error:
        _refuse(error)
        sys.exit(2)
    except Exception as error:
        from annotate.faults import crash_log

        with suppress(OSError):
            crash_log(error, [job.study])
        sys.exit(70)
    _tell({"type": "summary", "lines": [list(line) for line in lines]})


def _run(job: Job) -> Sequence[tuple[str, str]]:
    if job.screen == "code":
        return _code(job)
    _dashboard(job) if job.screen == "dashboard" else _adjudicate(job)
    return ()


def _code(job: Job) -> Sequence[tuple[str, str]]:
    """As ``annotate code``, sealed: this coder reads through a browser."""
    import gc
    from functools import partial

    from annotate.protocols import parse_protocol
    from annotate.studies import study_protocol
    from db.coding import CodingSession
    from db.study import open_study
    from tui.crash import report_crash
    from tui.keymap import load_keymap
    from tui.studythread import StudyThread

    gc.disable()  # loading makes much and frees little; the app enables it once the first item is painted
    with open_study(job.study) as study:
        protocol = study_protocol(study)
    thread = StudyThread(partial(CodingSession.open, job.study, job.coder, protocol, sealed=True, origin="browser"))
    from tui.app import CodingApp

    session = thread.session()
    theme = _theme(job)
    app = CodingApp(
        thread,
        coder=session.coder.name or session.coder.pseudonym,
        protocol=session.protocol,
        make_keymap=load_keymap,
        read_protocol=parse_protocol,
        theme=theme,
    )
    try:
        app.run()
    finally:
        gc.enable()
        thread.close()
    if app.failure is not None:
        raise report_crash(app.failure, session.study.side) from None
    if app.look != theme:
        _remember_theme(app.look)
    return app.controller.summary(app.coder).lines()


def _dashboard(job: Job) -> None:
    from annotate.dashboard import StudyDashboard
    from db.study import open_study
    from tui.crash import report_crash
    from tui.screens.dashboard import DashboardApp

    with open_study(job.study) as study:
        app = DashboardApp(StudyDashboard(study), theme=_theme(job))
        try:
            app.run()
        finally:
            app.finish()
        if app.failure is not None:
            raise report_crash(app.failure, study.side) from None


def _adjudicate(job: Job) -> None:
    from annotate.adjudicating import open_cases
    from tui.crash import report_crash
    from tui.screens.adjudication import CaseApp

    with open_cases(Path(job.study), job.coder) as session:
        app = CaseApp(session, job.coder, clock=time.monotonic, theme=_theme(job))
        try:
            app.run()
        finally:
            app.finish()
        if app.failure is not None:
            raise report_crash(app.failure, session.study.side) from None


def _theme(job: Job) -> str:
    """The theme that was chosen at an earlier session; else what the browser prefers."""
    from tui.preferences import THEMES, config_folder, load_preferences

    if (config_folder() / "preferences.toml").is_file():
        return load_preferences().theme
    return job.theme if job.theme in THEMES else THEMES[0]


def _remember_theme(look: str) -> None:
    from db.errors import AnnotateError
    from tui.preferences import THEMES, load_preferences, save_preferences

    with suppress(AnnotateError):
        if look in THEMES:
            save_preferences(load_preferences()._replace(theme=look))


def _job() -> Job:
    """Read byte by byte: what follows the line belongs to Textual's driver."""
    line = bytearray()
    while not line.endswith(b"\n") and len(line) < MAX_JOB:
        if not (byte := os.read(0, 1)):
            sys.exit(1)
        line += byte
    return Job(**json.loads(line))


def _refuse(error: AnnotateError) -> None:
    from db.faults import SessionTaken

    told = {"message": error.message, "taken": isinstance(error, SessionTaken)}
    os.write(1, f"{REFUSED}{json.dumps(told)}\n".encode())


def _tell(facts: dict[str, object]) -> None:
    payload = json.dumps(facts).encode()
    with suppress(OSError):
        os.write(1, b"M%s%s" % (len(payload).to_bytes(4, "big"), payload))


def _die_with_parent() -> None:
    """On Linux the kernel ends this process when its server is killed; elsewhere the end of stdin does."""
    if sys.platform != "linux":
        return
    import ctypes

    set_parent_death_signal = 1
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGTERM)


if __name__ == "__main__":
    main()
