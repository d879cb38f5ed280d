"""One coder's session, opened from the command line, and what is said when it ends."""

from __future__ import annotations

import gc
import sys
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tui.summary import SessionSummary


def run_session(
    path: Path,
    coder: str | None,
    *,
    plain: bool = False,
    mouse: bool | None = None,
    theme: str | None = None,
    keymap: Path | None = None,
    take_over: bool = False,
    passphrase_file: Path | None = None,
    as_json: bool = False,
) -> SessionSummary:
    """Code a study or a pack until the coder leaves, then say how far the queue is. Raises AnnotateError."""
    from db.connection import is_pack

    pack = is_pack(path)
    if coder is None and not pack:
        from click import UsageError

        if not path.exists():
            from db.faults import gone

            raise gone(path)
        raise UsageError("Missing option '--coder'.")
    gc.disable()  # while the desk is loaded; it turns it on itself
    try:
        from annotate.protocols import parse_protocol
        from tui import run_coding, wants_plain

        plain = plain or wants_plain()
        options: dict[str, Any] = {
            "plain": plain,
            "mouse": mouse,
            "theme": theme,
            "keymap_path": keymap,
            "take_over": take_over,
        }
        with redirect_stdout(sys.stderr) if plain and as_json else nullcontext():  # stdout is for the document alone
            if pack:
                from annotate.packing import code_pack

                summary = code_pack(path, coder, passphrase_file=passphrase_file, **options)
            else:
                summary = run_coding(path, coder or "", parse_protocol, read_protocol=parse_protocol, **options)
    finally:
        gc.enable()
    _say(summary, as_json, plain)
    return summary


def _say(summary: SessionSummary, as_json: bool, plain: bool) -> None:
    from annotate.console import emit_json, visible

    if as_json:
        emit_json(summary._asdict() | {"finished": summary.finished})
    elif not plain:
        for name, value in summary.lines():
            print(f"{name}: {visible(value)}")
