"""Finding a protocol: by the name of a shipped one, or by the path of a user's own file."""

from __future__ import annotations

import difflib
from pathlib import Path

from annotate.protocols.parse import parse_protocol
from db.errors import AnnotateError
from db.records import Protocol

_FOLDER = Path(__file__).resolve().parent


def shipped_protocols() -> tuple[str, ...]:
    """The names of the protocols that come with the program, ``ehq`` (the default) first."""
    names = sorted(path.stem for path in _FOLDER.glob("*.toml"))
    return tuple(sorted(names, key=lambda name: name != "ehq"))


def load_protocol(name_or_path: str | Path) -> Protocol:
    """A shipped protocol by name, or a file by path; raises AnnotateError with what is wrong with it and where."""
    if str(name_or_path) in shipped_protocols():
        return _read(_FOLDER / f"{name_or_path}.toml")
    path = Path(name_or_path)
    if path.is_file():
        return _read(path)
    raise AnnotateError(f"There is no protocol {str(name_or_path)!r}: neither a shipped name nor a file.", _hint(path))


def _read(path: Path) -> Protocol:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise AnnotateError(f"{path}: not UTF-8 (byte {error.start}).", "Save the protocol as UTF-8.") from None
    except OSError as error:
        raise AnnotateError(
            f"{path}: cannot be read ({error.strerror}).", "Check the path and its permissions."
        ) from None
    return parse_protocol(text, str(path) if path.parent != _FOLDER else path.stem)


def _hint(path: Path) -> str:
    near = difflib.get_close_matches(path.stem, shipped_protocols(), n=1)
    if near:
        return f"Did you mean {near[0]!r}?"
    return f"Shipped: {', '.join(shipped_protocols())}; or give the path of a .toml file."
