"""Encryption of a pack with a passphrase (the age format, by pyrage), and the working copy while it is coded.

A pack at rest is one encrypted file. SQLite cannot write into it act by act, so that a session works on a plain copy in
``PACK.d/open``, readable by its owner alone; a normal end encrypts it again over the pack and deletes the copy with all
that lies beside it. After a kill the copy stays, and the next session, which must know the passphrase, goes on from it.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from db.connection import is_encrypted
from db.drafts import Drafts
from db.faults import BadRequest, Refused, SessionTaken, StudyError
from db.locks import FileLock
from db.pack import Pack, open_pack
from db.pack_make import sync_folder
from db.places import check_place, private_folder, side_folder
from db.study import real_path

SHORTEST = 8
Ask = Callable[[str], str]
"""Asks for a passphrase; the text says of what."""


class WrongPassphrase(BadRequest):
    """The passphrase does not open the pack, or the file was changed: the two cannot be told apart."""


def encrypted(content: bytes, passphrase: str) -> bytes:
    """The content as an age file. Raises BadRequest for a passphrase that is too short."""
    if len(passphrase) < SHORTEST:
        raise BadRequest(f"The passphrase is too short: {SHORTEST} characters or more.", "Several words are best.")
    return bytes(_age().passphrase.encrypt(content, passphrase))


def decrypted(path: Path, passphrase: str) -> bytes:
    """The content of an encrypted pack. Raises WrongPassphrase."""
    age = _age()
    try:
        return bytes(age.passphrase.decrypt(path.read_bytes(), passphrase))
    except age.DecryptError as error:
        hint = "Type it again; if it is right, ask for the file again."
        raise WrongPassphrase(f"{path}: the passphrase does not open it, or the file was changed.", hint) from error


def _age() -> Any:
    return importlib.import_module("pyrage")  # an extra, without types


class Vault:
    """An encrypted pack while it is coded: ``path`` is the plain working copy. Leave the ``with`` block to close it."""

    def __init__(self, pack: Path, ask: Ask) -> None:
        self._pack = real_path(pack)
        check_place(self._pack)
        side = private_folder(side_folder(self._pack))
        self._folder = side / "open"
        self._held = FileLock(side / "open.lock")
        if not self._held.acquire():
            raise SessionTaken(f"{pack}: is already being coded in another session.", "Go on there, or end it first.")
        try:
            self._passphrase = ask(str(pack))
            content = decrypted(self._pack, self._passphrase)
            _sweep(side)
            self._begin(content)
        except BaseException:
            self._held.release()
            raise

    @property
    def path(self) -> Path:
        return self._folder / "pack"

    def __enter__(self) -> Vault:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Encrypt the working copy over the pack, then delete it. Where that fails the copy stays, and the next
        session goes on from it."""
        try:
            _gather(self.path)
            _replace(self._pack, encrypted(self.path.read_bytes(), self._passphrase))
            gone = self._folder.with_name(f"closed-{os.getpid()}")
            self._folder.replace(gone)
            shutil.rmtree(gone)
        except OSError as error:
            raise StudyError(
                f"{self._pack}: could not be encrypted again ({error.strerror}); nothing is lost.",
                "Make room and start 'annotate code' once more: it goes on from the working copy.",
            ) from error
        finally:
            self._held.release()

    def _begin(self, content: bytes) -> None:
        if self.path.exists():
            with closing(sqlite3.connect(":memory:")) as stored:
                stored.deserialize(content)
                _check_goes_on(self._folder, self.path, stored)
            return
        fresh = private_folder(self._folder.with_name(f"closed-{os.getpid()}"))
        with os.fdopen(os.open(fresh / "pack", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if self._folder.exists():
            shutil.rmtree(self._folder)
        fresh.replace(self._folder)
        sync_folder(self._folder.parent)
        _unpack_drafts(self.path)


def has_working_copy(pack: Path) -> bool:
    """Whether a session of this encrypted pack did not come to its end (or is going on)."""
    return is_encrypted(pack) and (side_folder(pack, create=False) / "open" / "pack").exists()


def _sweep(side: Path) -> None:
    """What a session that was killed while it deleted its working copy left behind."""
    for folder in side.glob("closed-*"):
        shutil.rmtree(folder)


_ROWS = "SELECT l.uid, e.seq, e.hash FROM logs l LEFT JOIN events e ON e.log_id = l.id ORDER BY e.seq"


def _check_goes_on(folder: Path, working: Path, stored: sqlite3.Connection) -> None:
    """The copy that a killed session left goes on from the pack that lies here; nothing else may be written over it."""
    with open_pack(working) as copy:
        mine = copy.connection.execute(_ROWS).fetchall()
    theirs = stored.execute(_ROWS).fetchall()
    known = [row for row in theirs if row[1] is not None]
    if mine[0][0] == theirs[0][0] and [row for row in mine if row[1] is not None][: len(known)] == known:
        return
    raise Refused(
        f"{folder}: holds acts of a session that was killed, and the pack does not go on from there.",
        "Put the pack back that was coded here, or move that folder away to give its acts up.",
    )


def _gather(working: Path) -> None:
    """One file of the working copy: its log and the unsent notes that lie beside it go into it."""
    with open_pack(working) as pack:
        notes = _drafts(pack).all()
        pack.connection.execute("BEGIN IMMEDIATE")
        pack.connection.execute("DELETE FROM drafts")
        pack.connection.executemany("INSERT INTO drafts (assignment, text) VALUES (?, ?)", sorted(notes.items()))
        pack.connection.execute("COMMIT")


def _unpack_drafts(working: Path) -> None:
    with open_pack(working) as pack:
        for assignment, text in pack.connection.execute("SELECT assignment, text FROM drafts").fetchall():
            _drafts(pack).set(assignment, text)


def _drafts(pack: Pack) -> Drafts:
    return Drafts(pack.side, pack.coder)


def _replace(path: Path, content: bytes) -> None:
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with os.fdopen(os.open(partial, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    sync_folder(path.parent)
