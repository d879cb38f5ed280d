"""Packs at the command line: asking for a passphrase, coding a pack, and saying how far it is."""

from __future__ import annotations

import os
import signal
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotate.protocols import parse_protocol
from db.connection import StudyConnection, is_encrypted
from db.errors import AnnotateError
from db.faults import BadRequest
from db.pack import Pack, open_pack
from db.pack_codebook import reader_of

if TYPE_CHECKING:
    from tui.summary import SessionSummary


def passphrases(file: Path | None) -> Callable[[str], str]:
    """What asks for the passphrase of a pack: at the terminal, without showing it, or the first line of ``file``."""
    return partial(_from_file, file) if file is not None else _typed


def new_passphrase(name: str) -> str:
    """Ask twice. Raises BadRequest where the two differ."""
    first = _typed(name, "New passphrase")
    if first != _typed(name, "The same again, for the passphrase"):
        raise BadRequest("The two passphrases differ; nothing was packed.", "Type the same twice.")
    return first


def _typed(name: str, what: str = "Passphrase") -> str:
    import getpass

    from annotate.console import visible

    if not sys.stdin.isatty():
        raise AnnotateError(
            f"{name}: there is no terminal to ask for the passphrase.", "--passphrase-file FILE reads it from a file."
        )
    return _composed(getpass.getpass(f"{what} of {visible(name)}: ", stream=sys.stderr))


def _composed(passphrase: str) -> str:
    """As one machine and another type it: an ä is one letter, or two in another system's keyboards and files."""
    return unicodedata.normalize("NFC", passphrase)


def _from_file(file: Path, name: str) -> str:
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"{file}: cannot be read ({error}).", "Name a text file whose first line it is.") from error
    if not lines or not lines[0]:
        raise BadRequest(f"{file}: its first line is empty.", "The passphrase is the first line of the file.")
    if os.name == "posix" and file.stat().st_mode & 0o077:
        from annotate.console import notice

        notice(f"{file}: others on this machine may read this passphrase. Close it to them: chmod 600 {file}")
    return _composed(lines[0])


def code_pack(path: Path, coder: str | None, *, passphrase_file: Path | None = None, **options: Any) -> SessionSummary:
    """Code a pack until the coder leaves. ``options``: as run_coding takes them. Raises AnnotateError."""
    with ExitStack() as stack:
        stack.enter_context(_closing_window())
        working = path
        if is_encrypted(path):
            from db.pack_vault import Vault

            working = stack.enter_context(Vault(path, passphrases(passphrase_file))).path
        return _code(stack.enter_context(open_pack(working)), coder, options)


@contextmanager
def _closing_window() -> Iterator[None]:
    """A window that is closed, or a program that is told to end, leaves the desk in order: a copy that lies open is
    encrypted again. Once is enough: what comes while that is done is not heard."""
    numbers = [getattr(signal, name) for name in ("SIGHUP", "SIGTERM") if hasattr(signal, name)]

    def leave(number: int, frame: object) -> None:
        for each in numbers:
            signal.signal(each, signal.SIG_IGN)
        sys.exit(128 + number)

    before = [(number, signal.signal(number, leave)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _code(pack: Pack, coder: str | None, options: dict[str, Any]) -> SessionSummary:
    from tui import run_coding

    name, uid = pack.connection.execute("SELECT name, uid FROM coders").fetchone()
    if coder not in (None, name, uid):
        raise BadRequest(f"This pack is {name}'s, not {coder}'s.", "Leave --coder out: a pack is one coder's.")
    return run_coding(pack, uid, reader_of(pack, parse_protocol), sealed=True, **options)


@contextmanager
def opened_pack(path: Path, passphrase_file: Path | None) -> Iterator[StudyConnection]:
    """A pack for reading, with a word where a session that was killed holds more than the file."""
    from annotate.console import notice
    from db.pack_read import reading_pack
    from db.pack_vault import has_working_copy

    with reading_pack(path, passphrases(passphrase_file)) as connection:
        if has_working_copy(path):
            notice(f"{path}: a session is open, or was killed; what it holds is not in the pack yet.")
        yield connection


def tell_status(path: Path, passphrase_file: Path | None, as_json: bool) -> None:
    """Print whose pack it is and how far it is."""
    from annotate.console import emit_json, typed, visible
    from db.pack_verify import pack_head, pack_progress

    with opened_pack(path, passphrase_file) as connection:
        name, progress, made = pack_progress(connection)
        log, acts, _ = pack_head(connection)
    if as_json:
        counts = {"total": progress.total, "done": progress.done, "skipped": progress.skipped, "left": progress.left}
        emit_json({"pack": log, "coder": name, "made_utc": made, **counts, "flagged": progress.flagged, "acts": acts})
        return
    print(visible(f"A pack of {name}, made {made[:16].replace('T', ' ')} UTC: {progress.total:,} items."))
    print(f"{progress.done:,} done, {progress.skipped:,} skipped for good, {progress.left:,} left.")
    back = f"send it back, for: annotate merge STUDY.db {typed(path.name)}"
    then = f"annotate code {typed(path)}" if progress.left else back
    print(visible(f"Next: {then}"))
