"""A pack as it comes back: everything is read once, and judged and taken in from what was read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from db.chain import EventRow, row_json
from db.connection import PACK_ID, StudyConnection, check_identity, is_encrypted, is_pack, reading
from db.faults import PACK_AGAIN, DamagedStudy, damaged, translate
from db.incoming import Incoming, IncomingLog, rows_of
from db.pack import check_format, open_pack
from db.pack_content import content_of, spelled
from db.pack_vault import Ask, decrypted
from db.places import network_type, sync_folder
from db.study import real_path


@dataclass(frozen=True, slots=True)
class ReadPack:
    """``content``: what was packed, as it says now, and ``spelled``, the text of it that codes are made over.

    ``rows``: the acts with their hashes; ``codes``: the code of each by its number.
    """

    source: str
    content: Mapping[str, Any]
    spelled: str
    code: str
    digest: str
    ratchet: bytes
    rows: Sequence[tuple[EventRow, str]]
    codes: Mapping[int, str]
    texts: Mapping[str, tuple[str, str | None]]

    @property
    def log(self) -> str:
        return str(self.content["log"])

    @property
    def codebooks(self) -> dict[int, str]:
        return {version: digest for version, _, digest, *_ in self.content["protocols"]}

    @property
    def items(self) -> tuple[str, ...]:
        """The assignments that were packed."""
        return tuple(row[0] for row in self.content["items"])

    def incoming(self) -> Incoming:
        """Its log, as merging takes it."""
        told = self.content
        log = IncomingLog(told["log"], told["coder"], told["place"], told["protocol"], self.rows)
        return Incoming(self.source, told["study"], self.codebooks, [log], self.texts)


@contextmanager
def reading_pack(path: str | Path, ask: Ask | None = None) -> Iterator[StudyConnection]:
    """A pack for reading; an encrypted one is decrypted in memory alone, with the passphrase that ``ask`` gives.

    One that lies in a sync folder or on a network share, where nothing must be coded, is read whole.
    Raises StudyError and its kinds for a file that cannot be read, WrongPassphrase.
    """
    real = real_path(path)
    try:
        content = _content(real, str(path), ask)
        if content is not None:
            with closing(_in_memory(real, content)) as connection:
                check_identity(connection, PACK_ID)
                check_format(connection, real)
                yield connection
        else:
            with open_pack(real, read_only=True) as pack:
                yield pack.connection
    except (sqlite3.Error, UnicodeDecodeError) as error:
        found = translate(error, real)
        raise _again(found) if isinstance(found, DamagedStudy) else found from error
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise _again(damaged(real, f"{type(error).__name__}: {error}")) from error
    except DamagedStudy as error:
        raise _again(error) from error


def _again(error: DamagedStudy) -> DamagedStudy:
    """The same said of a pack: it has no backups, and what is repaired cannot be told from what was changed."""
    return DamagedStudy(error.message, PACK_AGAIN)


def _content(path: Path, name: str, ask: Ask | None) -> bytes | None:
    """What is to be read in memory; None where SQLite can open the file as it lies."""
    if not path.is_file():
        return None
    if ask is not None and is_encrypted(path):
        return decrypted(path, ask(name))
    away = sync_folder(path) or network_type(path)
    return path.read_bytes() if away and is_pack(path) else None


def read_pack(path: str | Path, ask: Ask | None = None) -> ReadPack:
    """Everything that came back in a pack. Raises as ``reading_pack`` does."""
    with reading_pack(path, ask) as connection:
        return _read(connection, str(path))


def _in_memory(path: Path, content: bytes) -> StudyConnection:
    connection = sqlite3.connect(":memory:", isolation_level=None, factory=StudyConnection)
    connection.path, connection.read_only = path, True
    connection.deserialize(content)
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


_TABLES = (
    *("answers", "assignments", "coders", "events", "items", "logs", "pack", "protocols", "responses", "seals"),
    *("study", "texts", "units", "unmaskings"),
)


def _check_tables(connection: StudyConnection) -> None:
    """What is read must be stored: a view in the place of a table could give anything, and go on for ever."""
    found = dict(connection.execute("SELECT name, type FROM sqlite_master").fetchall())
    for name in _TABLES:
        if found.get(name) != "table":
            raise LookupError(f"there is no table {name}")


def _read(connection: StudyConnection, source: str) -> ReadPack:
    with reading(connection):
        _check_tables(connection)
        code, digest, ratchet = connection.execute("SELECT code, digest, ratchet FROM pack").fetchone()
        (log,) = connection.execute("SELECT id FROM logs").fetchone()
        read = ReadPack(
            source=source,
            content=(content := content_of(connection)),
            spelled=spelled(content),
            code=code,
            digest=digest,
            ratchet=ratchet,
            rows=rows_of(connection, log),
            codes=dict(connection.execute("SELECT seq, code FROM seals").fetchall()),
            texts={row[0]: (row[1], row[2]) for row in connection.execute("SELECT digest, salt, text FROM texts")},
        )
        _check_types(read)
        return read


_TEXT, _MAYBE, _NUMBER, _MAYBE_NUMBER = (str,), (str, type(None)), (int,), (int, type(None))
_ROW = (_TEXT, _NUMBER, _TEXT, _MAYBE, _MAYBE, _NUMBER, _TEXT, _MAYBE, _MAYBE_NUMBER, _NUMBER, _TEXT, _TEXT, (dict,))
_BOOK = (_NUMBER, _TEXT, _TEXT, _TEXT, _TEXT, _TEXT)


def _check_types(pack: ReadPack) -> None:
    """A changed file can have a value of any type in any place: raise TypeError before anything is made of it."""
    told = pack.content
    _are([told[key] for key in ("study", "coder", "name", "log", "place", "protocol", "genesis")], (_TEXT,) * 7)
    for book in told["protocols"]:
        _are(book, _BOOK)
    _are(pack.items, (_TEXT,) * len(pack.items))
    for row, stored in pack.rows:
        _are((*row, stored), (*_ROW, _TEXT))
        row_json(row)
    for seq, code in pack.codes.items():
        _are((seq, code), (_NUMBER, _TEXT))
    for digest, (salt, text) in pack.texts.items():
        _are((digest, salt, text), (_TEXT, _TEXT, _MAYBE))


def _are(values: Sequence[object], types: Sequence[tuple[type, ...]]) -> None:
    for value, allowed in zip(values, types, strict=True):
        if not isinstance(value, allowed):
            raise TypeError(f"{type(value).__name__} in the place of {allowed[0].__name__}")
