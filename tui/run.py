"""Opening the desk: the study is opened in its own thread while the screen is still being imported."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from db.coding import CodingSession, ReadProtocol
from db.errors import AnnotateError
from db.records import Protocol
from db.study import Study
from tui.keymap import Keymap, default_path, load_keymap
from tui.preferences import THEMES, load_preferences, save_preferences
from tui.studythread import StudyThread
from tui.summary import SessionSummary


def run_coding(
    path: str | Path | Study,
    coder: str,
    protocol: Protocol | ReadProtocol,
    *,
    plain: bool = False,
    mouse: bool | None = None,
    theme: str | None = None,
    keymap_path: Path | None = None,
    take_over: bool = False,
    place: str | None = None,
    sealed: bool = False,
    read_protocol: ReadProtocol | None = None,
) -> SessionSummary:
    """One coder's session at the desk; returns when the coder leaves.

    ``protocol``: the codebook in force, or what parses it from the text that the study holds.
    ``plain``: line by line, for screen readers. ``mouse`` and ``theme`` None: as the user prefers. ``keymap_path``
    None: the user's own keymap if there is one. ``take_over``, ``place``, ``sealed``: see CodingSession.open.
    ``read_protocol`` lets a codebook that changes meanwhile be taken up without leaving.
    Raises AnnotateError: what is wrong with the study, the keymap or the terminal, or that the program failed.
    """
    make_keymap = partial(load_keymap, path=_own_keymap(keymap_path))
    if isinstance(protocol, Protocol):
        make_keymap(protocol)
    else:
        protocol = partial(_fitting, protocol, make_keymap)
    open_session = partial(CodingSession.open, path, coder, protocol, take_over=take_over, place=place, sealed=sealed)
    if plain:
        from tui.plain import run_plain

        gc.enable()
        return run_plain(open_session, make_keymap, read_protocol)
    require_terminal()
    preferences = load_preferences()
    wanted = checked_theme(theme or preferences.theme)
    summary, chosen = _run_screen(
        open_session, make_keymap, read_protocol, wanted, preferences.mouse if mouse is None else mouse
    )
    if theme is None and chosen in THEMES and chosen != preferences.theme:
        save_preferences(preferences._replace(theme=chosen))
    return summary


def _fitting(read: ReadProtocol, make_keymap: Callable[[Protocol], Keymap], text: str, name: str) -> Protocol:
    """The codebook, once it is known that the keymap fits it: before the session is taken from anybody."""
    protocol = read(text, name)
    make_keymap(protocol)
    return protocol


def require_terminal() -> None:
    """Raise AnnotateError where no screen can be drawn."""
    if os.environ.get("TERM") == "dumb":
        raise AnnotateError("The terminal (TERM=dumb) cannot show the coding screen.", "Use --plain.")
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise AnnotateError("The coding screen needs a terminal for input and display.", "Use --plain.")


def checked_theme(name: str) -> str:
    """``name``, if it is a theme. Raises AnnotateError."""
    if name not in THEMES:
        raise AnnotateError(f"There is no theme {name!r}.", f"The themes: {', '.join(THEMES)}.")
    return name


def look_of(theme: str) -> str:
    """The theme, or that of the terminal's own colours where it has few or the user wants none."""
    return theme if has_colours() else "terminal"


def has_colours() -> bool:
    """Whether the terminal has enough colours for a theme, and the user wants them (NO_COLOR)."""
    from rich.console import Console

    return not os.environ.get("NO_COLOR") and Console(stderr=True).color_system in ("256", "truecolor", "windows")


def _own_keymap(path: Path | None) -> Path | None:
    if path is not None:
        return path
    own = default_path()
    return own if own.is_file() else None


def _run_screen(
    open_session: Callable[[], CodingSession],
    make_keymap: Callable[[Protocol], Keymap],
    read_protocol: ReadProtocol | None,
    theme: str,
    mouse: bool,
) -> tuple[SessionSummary, str]:
    os.environ.setdefault("TEXTUAL_ANIMATIONS", "none")  # before Textual reads it
    gc.disable()  # loading makes much and frees little; the app enables it once the first item is painted
    thread = StudyThread(open_session)
    from tui.app import CodingApp

    try:
        session = thread.session()
    except BaseException:
        gc.enable()
        raise
    app = CodingApp(
        thread,
        coder=session.coder.name or session.coder.pseudonym,
        protocol=session.protocol,
        make_keymap=make_keymap,
        read_protocol=read_protocol,
        theme=look_of(theme),
    )
    try:
        app.run(mouse=mouse)
    finally:
        gc.enable()
        thread.close()
    if app.failure is not None:
        from tui.crash import report_crash

        raise report_crash(app.failure, session.study.side) from None
    return app.controller.summary(app.coder), app.look
