"""Zip archives, read member by member and never unpacked to disk; what could do harm is refused before it is read."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from annotate.importers.sources import SourceError

MOST_MEMBERS = 2_000_000
MOST_MEMBER_BYTES = 1 << 30
MOST_RATIO = 500
_SMALL = 1 << 24


class Archive:
    """The files of an archive. Sizes are those that the archive states; zipfile reads no more than them."""

    def __init__(self, path: Path, file: zipfile.ZipFile) -> None:
        self._path, self._file = path, file
        members = file.infolist()
        if len(members) > MOST_MEMBERS:
            raise SourceError(f"{path}: {len(members):,} files in one archive.", "Is it the right file?")
        for member in members:
            self._check(member)
        self.names = tuple(member.filename for member in members if not member.is_dir())

    def read(self, name: str) -> bytes:
        """The bytes of one member; raises SourceError where they are damaged or packed in a way unknown here."""
        try:
            return self._file.read(name)
        except KeyError:
            raise SourceError(f"{self._path}: there is no {name} in it.", "The archive may be cut off.") from None
        except NotImplementedError as error:
            raise SourceError(
                f"{self._path}: {name} cannot be unpacked ({error}).", "Write the log again as JSON."
            ) from None
        except (zipfile.BadZipFile, EOFError, OSError, RuntimeError) as error:
            raise SourceError(f"{self._path}: {name} is damaged ({error}).", "Copy or download it again.") from None

    def _check(self, member: zipfile.ZipInfo) -> None:
        parts = PurePosixPath(member.filename.replace("\\", "/")).parts
        if ".." in parts or member.filename.startswith(("/", "\\")) or ":" in (parts[0] if parts else ""):
            raise SourceError(
                f"{self._path}: {member.filename!r} points outside the archive.", "Do not trust this file."
            )
        if member.file_size > MOST_MEMBER_BYTES:
            size = member.file_size >> 20
            raise SourceError(f"{self._path}: {member.filename} unpacks to {size:,} MB.", "Split the log.")
        if member.file_size > _SMALL and member.file_size > MOST_RATIO * max(member.compress_size, 1):
            raise SourceError(
                f"{self._path}: {member.filename} is packed too tightly to be data.", "Do not trust this file."
            )
        if member.flag_bits & 1:
            raise SourceError(f"{self._path}: {member.filename} is encrypted.", "Decrypt it first.")


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """An archive whose members have been checked; raises SourceError."""
    try:
        with zipfile.ZipFile(path) as file:
            yield Archive(path, file)
    except zipfile.BadZipFile as error:
        raise SourceError(f"{path}: not a whole zip archive ({error}).", "Copy or download it again.") from None
