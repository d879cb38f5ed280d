"""Packs for the tests: made, coded and brought back through the same doors as at the command line."""

from __future__ import annotations

import hashlib
import hmac
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from zlib import crc32

import pytest
from builder import protocol, seeded

from db.canonical import canonical_json
from db.chain import EventRow, row_hash
from db.coding import CodingSession
from db.connection import ENCRYPTED
from db.errors import AnnotateError
from db.merge import Merged
from db.pack import open_pack, sealed_protocol
from db.pack_check import Altered
from db.pack_make import Packed, make_pack
from db.pack_merge import merge_pack
from db.pack_read import read_pack
from db.pack_seal import act_code, next_key
from db.records import Act, Protocol
from db.study import open_study
from db.verify import verify

NAMES = {name[0].lower(): name for name in ("ABSTAIN", "HEDGE", "WRONG", "CORRECT")}


def pack(home: Path, coder: str = "A", name: str = "", **options: object) -> Packed:
    """``coder``'s pack beside the study, as ``coder``.pack unless named."""
    with open_study(home) as study:
        out = home.parent / (name or f"{coder}.pack")
        return make_pack(study, coder, out, protocol(), random_bytes=seeded(crc32(out.name.encode())), **options)  # type: ignore[arg-type]


def session(path: Path, codebook: Protocol | None = None, **options: object) -> CodingSession:
    """A session at a pack."""
    opened = open_pack(path)
    return CodingSession.open(
        opened,
        opened.coder,
        sealed_protocol(codebook or protocol()),
        sealed=True,
        **options,  # type: ignore[arg-type]
    )


def code(path: Path, keys: str, *, note: str | None = None) -> None:
    """Label the next items of a pack by first letters; ``u`` undoes, ``s`` skips, ``?`` asks, ``.`` leaves one out."""
    with session(path) as desk:
        here: str | None = None
        for key in keys:
            if key == "u":
                desk.undo()
                continue
            item = desk.next(here)
            assert item
            here = item.assignment
            if key == "s":
                desk.save(Act("skip", here, reason="unclear"))
            elif key == "?":
                desk.save(Act("flag", here, flag="discuss", note="What about this?"))
            elif key != ".":
                desk.save(Act("label", here, label=NAMES[key], note=note))


def bring(home: Path, *paths: Path) -> list[Merged]:
    """Merge packs one after the other."""
    with open_study(home) as study:
        return [merge_pack(study, read_pack(path), lambda text, name: protocol()) for path in paths]


def state(home: Path) -> list[tuple[object, ...]]:
    """Every row of the people's logs, every annotation and what is leased, by ids that do not depend on the file."""
    with open_study(home) as study:
        proved = verify(study)
        assert proved.holds, [check for check in proved.checks if check.broken]
        rows = study.connection.execute
        return [
            *rows(
                "SELECT 'event', l.uid, e.seq, e.hash, l.fence, l.confirmed_version FROM events e"
                " JOIN logs l ON l.id = e.log_id JOIN coders c ON c.id = l.coder_id WHERE c.kind <> 'lead'"
                " ORDER BY 2, 3"
            ),
            *rows("SELECT 'log', uid, sealed_head FROM logs WHERE place LIKE 'pack-%' ORDER BY 2"),
            *rows(
                "SELECT 'annotation', a.uid, a.state, a.in_queue, n.label, n.skip_count, n.flags, t.text, n.blindness,"
                " n.active_ms FROM assignments a LEFT JOIN annotations n ON n.assignment_id = a.id"
                " LEFT JOIN texts t ON t.digest = n.note ORDER BY 2"
            ),
            *rows(
                "SELECT 'lease', a.uid, l.ended_by FROM leases l JOIN assignments a ON a.id = l.assignment_id"
                " ORDER BY 2, 3"
            ),
        ]


def labels(home: Path, coder: str = "A") -> list[str | None]:
    """The labels that stand, in the order of the coder's queue."""
    with open_study(home) as study:
        rows = study.connection.execute(
            "SELECT n.label FROM assignments a JOIN coders c ON c.id = a.coder_id"
            " LEFT JOIN annotations n ON n.assignment_id = a.id WHERE c.name = ? ORDER BY a.position",
            (coder,),
        )
        return [row[0] for row in rows]


# --- a coder with another program -------------------------------------------------------------------


def tamper(path: Path, *statements: str) -> None:
    """Change a pack with SQL, as somebody would who removes the triggers first."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for (trigger,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {trigger}")
        for statement in statements:
            connection.execute(statement)


def rewrite(path: Path, change: Callable[[int, dict[str, dict]], None], *, key: bytes) -> None:
    """Write the whole log anew, with each row changed and the codes made from ``key``: what the first key can do.

    ``change`` is given the number of each row and {"row": its columns, "body": its body}, to be changed in place.
    """
    tamper(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        log, previous = connection.execute("SELECT uid, genesis FROM logs").fetchone()
        columns = (
            "seq, kind, assignment_id, unit, protocol_version, tool_version, utc, active_ms, fence, origin, blindness"
        )
        for row in connection.execute(f"SELECT {columns}, body FROM events ORDER BY seq").fetchall():
            names = ("seq", "kind", "number", "unit", "protocol", "tool", "utc", "active_ms", "fence", "origin")
            told = dict(zip((*names, "blindness"), row[:-1], strict=True))
            body = json.loads(row[-1])
            number = told.pop("number")
            change(told["seq"], {"row": told, "body": body})
            event = EventRow(log=log, assignment=told["unit"], body=body, **told)
            previous = row_hash(previous, event)
            connection.execute(
                "UPDATE events SET kind = ?, assignment_id = ?, unit = ?, protocol_version = ?, origin = ?,"
                " blindness = ?, fence = ?, body = ?, hash = ? WHERE seq = ?",
                (event.kind, number, event.unit, event.protocol, event.origin, event.blindness, event.fence,
                 canonical_json(body), previous, event.seq),
            )  # fmt: skip
            connection.execute("UPDATE seals SET code = ? WHERE seq = ?", (act_code(key, previous), event.seq))
            key = next_key(key)
        connection.execute("UPDATE pack SET ratchet = ?", (key,))


def first_key_of(path: Path) -> bytes:
    """The key of a pack that nobody has coded yet: what a coder who keeps the first copy has."""
    with closing(sqlite3.connect(path)) as connection:
        key: bytes = connection.execute("SELECT ratchet FROM pack").fetchone()[0]
        return key


# --- a passphrase that costs nothing ----------------------------------------------------------------


class QuickAge:
    """Stands in for pyrage, which takes half a second a call, where encryption itself is not what is tested."""

    class DecryptError(Exception):
        """A wrong passphrase or a changed file."""

    @property
    def passphrase(self) -> QuickAge:
        return self

    def encrypt(self, content: bytes, words: str) -> bytes:
        key = hashlib.shake_256(words.encode()).digest(len(content))
        hidden = (int.from_bytes(content) ^ int.from_bytes(key)).to_bytes(len(content))
        return ENCRYPTED + hmac.digest(words.encode(), hidden, "sha256") + hidden

    def decrypt(self, content: bytes, words: str) -> bytes:
        code, hidden = content[len(ENCRYPTED) :][:32], content[len(ENCRYPTED) + 32 :]
        if code != hmac.digest(words.encode(), hidden, "sha256"):
            raise self.DecryptError
        key = hashlib.shake_256(words.encode()).digest(len(hidden))
        return (int.from_bytes(hidden) ^ int.from_bytes(key)).to_bytes(len(hidden))


def refused(home: Path, path: Path, match: str, kind: type[AnnotateError] = Altered) -> AnnotateError:
    """The pack is refused with the reason and what to do, and the study is as it was."""
    before = state(home)
    with pytest.raises(kind, match=match) as caught:
        bring(home, path)
    assert caught.value.hint
    assert state(home) == before
    return caught.value


def at_home(home: Path, label: str = "HEDGE", coder: str = "A") -> None:
    with CodingSession.open(home, coder, protocol()) as desk:
        item = desk.next()
        assert item
        desk.save(Act("label", item.assignment, label=label))
