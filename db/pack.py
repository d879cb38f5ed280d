"""A pack: one coder's queue in a file of its own, coded elsewhere and brought back.

It has the tables of a study, so that the coding screen finds everything where it is used to, and holds what that coder
may see and nothing else. It says that it is a pack (its application id), so that no other command takes it for a study.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from db.connection import LATEST, PACK_ID, StudyConnection, connect, writing
from db.faults import NewerStudy, translate
from db.pack_content import FORMAT
from db.pack_seal import arm
from db.records import Impossible, Protocol
from db.schema import migrate, version_of
from db.study import Study, real_path

RULE = "rule "


class Pack(Study):
    """An open pack: a study to the coding screen. Its connections seal every act that they write."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self.read_only = read_only
        self._local = threading.local()
        self._all: list[StudyConnection] = []
        self._lock = threading.Lock()
        try:
            row = self.connection.execute("SELECT uid, title, place, created_utc, secret FROM study").fetchone()
            check_format(self.connection, path)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            self.close()
            raise translate(error, path) from error
        except BaseException:
            self.close()
            raise
        self.uid, self.title, self.place, self.created_utc, self.secret = row

    @property
    def connection(self) -> StudyConnection:
        """The connection of the calling thread."""
        found: StudyConnection | None = getattr(self._local, "connection", None)
        if found is None:
            found = connect(self.path, read_only=self.read_only, application=PACK_ID)
            if not self.read_only:
                found.execute("PRAGMA secure_delete = ON")  # a key that was replaced is not left in the file
                arm(found)
            self._local.connection = found
            with self._lock:
                self._all.append(found)
        return found

    def __enter__(self) -> Pack:
        return self

    @property
    def coder(self) -> str:
        """The id of the only coder in it."""
        return str(self.connection.execute("SELECT uid FROM coders").fetchone()[0])


def open_pack(path: str | Path, *, read_only: bool = False) -> Pack:
    """Open a pack, brought to the present version where it is to be written. Raises StudyError and its kinds.

    Half an act that a killed session left is taken back first: what is only read cannot do that.
    """
    real = real_path(path)
    if not read_only or real.with_name(f"{real.name}-journal").exists():
        _bring_up(real)
    return Pack(real, read_only=read_only)


def check_format(connection: StudyConnection, path: Path) -> None:
    """Raise NewerStudy for a pack whose format this program does not know."""
    found = connection.execute("SELECT format FROM pack").fetchone()[0]
    if found != FORMAT:
        raise NewerStudy(
            f"{path}: is a pack of another version (format {found}; this one knows {FORMAT}).",
            "Use the version of annotate that made it: upgrade annotate-judge, in the way that it was installed.",
        )


def sealed_protocol(protocol: Protocol) -> Protocol:
    """The codebook as a pack can apply it: which labels should not occur on an item is told for each item.

    The facts behind a rule (a category, a model) are not in a pack; ``pack_make`` writes down whether the rule applies.
    """
    rules = tuple(Impossible(r.label, f"{RULE}{n}", ("1",), r.reason) for n, r in enumerate(protocol.impossible))
    return replace(protocol, impossible=rules)


def rules_that_apply(applies: Sequence[object]) -> dict[str, str]:
    """What stands in the place of an item's facts."""
    return {f"{RULE}{number}": "1" for number, yes in enumerate(applies) if yes}


def _bring_up(path: Path) -> None:
    connection = connect(path, application=PACK_ID)
    try:
        if version_of(connection) < LATEST:
            with writing(connection):
                migrate(connection)
                connection.execute(f"PRAGMA application_id = {PACK_ID}")
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise translate(error, path) from error
    finally:
        connection.close()
