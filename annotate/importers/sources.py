"""Opening what is imported: plain or gzipped files, with one clear complaint where a file is not what it should be."""

from __future__ import annotations

import gzip
import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from db.errors import AnnotateError

_CHUNK = 1 << 20
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class SourceError(AnnotateError):
    """A file that cannot be read as what it was said to be. Nothing of it is imported."""


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file; a file that begins as gzip is unpacked on the way."""
    try:
        with path.open("rb") as file:
            if file.peek(2)[:2] != b"\x1f\x8b":
                yield file
                return
            with gzip.open(file) as unpacked:
                yield cast(BinaryIO, unpacked)
    except FileNotFoundError:
        raise SourceError(f"{path}: there is no such file.", "Check the path.") from None
    except IsADirectoryError:
        raise SourceError(f"{path}: is a folder, expected a file.", "Name the file in it.") from None
    except (gzip.BadGzipFile, EOFError) as error:
        raise SourceError(f"{path}: the gzip file is damaged ({error}).", "Copy or download it again.") from None
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror or error}).", "Check its permissions.") from None


@contextmanager
def open_text(path: Path, encoding: str = "") -> Iterator[TextIO]:
    """The text of a file, byte order mark removed and line ends untouched.

    ``encoding`` '' is UTF-8, or UTF-16 where the file begins with its mark.
    """
    with open_bytes(path) as file:
        chosen = encoding or detect_encoding(path)
        try:
            text = io.TextIOWrapper(file, encoding=chosen, newline="")
        except LookupError:
            raise SourceError(
                f"There is no encoding {encoding!r}.", "Use utf-8, cp1252 or latin-1, for instance."
            ) from None
        try:
            yield text
        except UnicodeDecodeError as error:
            raise SourceError(*_undecodable(path, chosen, error)) from None
        finally:
            text.detach()


def detect_encoding(path: Path) -> str:
    """``utf-16`` where the file begins with its mark, else ``utf-8-sig``."""
    with open_bytes(path) as file:
        return "utf-16" if file.read(2) in _UTF16 else "utf-8-sig"


def sha256(path: Path) -> str:
    """The hexadecimal SHA-256 of the file as it lies on disk."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def head(path: Path, size: int = 1 << 16) -> bytes:
    """The first bytes of a file, unpacked, for recognising its format."""
    with open_bytes(path) as file:
        return file.read(size)


def bare_suffix(path: Path) -> str:
    """The suffix that says what is in the file: ``.csv`` of both a.csv and a.csv.gz."""
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def _undecodable(path: Path, encoding: str, error: UnicodeDecodeError) -> tuple[str, str]:
    where = _bad_line(path, encoding)
    found = f"byte 0x{error.object[error.start]:02x}"
    return (
        f"{path}{where}: not {encoding.removesuffix('-sig').upper()} ({found}).",
        "Name its encoding, for example --option encoding=cp1252.",
    )


def _bad_line(path: Path, encoding: str) -> str:
    """The first line that cannot be decoded, found in a second pass; '' where a line end is no single byte."""
    if encoding.startswith("utf-16"):
        return ""
    with open_bytes(path) as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode(encoding)
            except UnicodeDecodeError:
                return f", line {number}"
    return ""
