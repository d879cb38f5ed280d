"""The record of a repaired study: its logs, what stands beside them, and what had been erased before."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from db.blindness import unmask
from db.clock import utc_now
from db.connection import StudyConnection
from db.erasure import OF_UNIT, erase_texts, redact_item, redact_response
from db.faults import DamagedStudy
from db.ids import RandomBytes
from db.logs import Log
from db.repair_logs import LogRepair, Moved, repair_log
from db.repair_tables import SHOWN, TRACES, TableRepair, Tables
from db.salvage import Legible, Table


class Record:
    """Puts back the logs once the tables are there. ``path`` names the damaged file in errors."""

    def __init__(self, connection: StudyConnection, tables: Tables, random_bytes: RandomBytes, path: Path) -> None:
        self.connection, self.tables, self.random_bytes, self.path = connection, tables, random_bytes, path
        self.logs: list[LogRepair] = []
        self._moved = Moved()

    def take_logs(self, tables: Mapping[str, Table]) -> None:
        found = self.tables.legible_in(tables["events"])
        empty = "SELECT 1 FROM study, protocols LIMIT 1"
        if self.connection.execute(empty).fetchone() is None:
            raise DamagedStudy(
                f"{self.path}: neither the file nor a backup beside it tells which study it was.",
                "Look for a copy of the study elsewhere ('annotate backup' made it).",
            )
        self._words(found)
        for log, pseudonym in self._known_logs():
            rows = [{key[1]: row for key, row in each.rows.items() if key[0] == log.id} for each in found]
            expected = self._expected(log.id)
            self.logs.append(
                repair_log(self.connection, log, pseudonym, rows, expected, self._moved, self.random_bytes)
            )

    def _known_logs(self) -> list[tuple[Log, str]]:
        rows = self.connection.execute(
            "SELECT l.id, l.uid, l.coder_id, l.place, l.genesis, c.pseudonym FROM logs l"
            " JOIN coders c ON c.id = l.coder_id ORDER BY l.id"
        ).fetchall()
        return [(Log(*row[:5]), row[5]) for row in rows]

    def _words(self, found: list[Legible]) -> None:
        """A note whose words were lost stands as an erased one, so that its row can be kept."""
        for each in found:
            for row in each.rows.values():
                with suppress(TypeError, ValueError, AttributeError):
                    body = json.loads(row[5])
                    for digest in (body.get("note"), body.get("words")):
                        if isinstance(digest, str):
                            self.connection.execute(
                                "INSERT INTO texts (digest, salt, text) VALUES (?, '', NULL) ON CONFLICT DO NOTHING",
                                (digest,),
                            )

    def _expected(self, log: int) -> dict[int, str]:
        """Rows of a log of which something else speaks: the index of the events, annotations, unmaskings."""
        expected: dict[int, str] = {}
        if not self.tables.damaged_first:
            return expected
        damaged = self.tables.sources[0].connection
        for sql in _SPOKEN_OF:
            with suppress(sqlite3.Error, UnicodeDecodeError):
                for seq, assignment in damaged.execute(sql, (log,)):
                    if isinstance(seq, int) and 0 < seq < 1 << 40:
                        expected.setdefault(seq, self._about(assignment))
        return expected

    def _about(self, assignment: int | None) -> str:
        row = self.connection.execute(
            "SELECT a.uid, u.public_id FROM assignments a JOIN units u ON u.id = a.unit_id WHERE a.id = ?",
            (assignment,),
        ).fetchone()
        return "" if row is None else f" (assignment {row[0]}, unit {row[1]})"

    def take_traces(self, tables: Mapping[str, Table]) -> None:
        """Unmaskings, reopenings and answers, where their events stand now; unmaskings can be read off the log."""
        kept = {log.log: log.kept for log in self.logs}
        ends = {number: kept[uid] for number, uid in self.connection.execute("SELECT id, uid FROM logs") if uid in kept}
        for name in (each for each in TRACES if each in tables):
            table, put, lost = tables[name], 0, []
            rows = {key: row for each in reversed(self.tables.legible_in(table)) for key, row in each.rows.items()}
            for key, row in sorted(rows.items()):
                values = dict(zip(table.columns, row, strict=True))
                place = (values["log_id"], values["seq"])
                stands = place if place[1] <= ends.get(place[0], 0) else self._moved.places.get(place)
                values["log_id"], values["seq"] = stands or place
                changed = tuple(values.values())
                sound = stands is not None and self.tables.is_sound(table, changed, self.tables.referring(table))
                if sound and self.tables.insert(table, changed):
                    put += 1
                else:
                    lost.append(f"{name} {key[0]}")
            self.tables.reports.append(TableRepair(name, put, 0, len(lost), tuple(lost[:SHOWN])))
        for log, seq, coder, unit, body in self.connection.execute(_UNMASKED).fetchall():
            account = json.loads(body).get("account")
            by = None if account else coder
            unmask(self.connection, log, seq, coder_id=by, account=account, unit_id=unit)

    def erase_again(self) -> None:
        """What was forgotten or redacted stays so, also where a backup from before filled it in."""
        rows = self.connection.execute("SELECT kind, unit, body FROM events WHERE kind IN ('redact', 'forget')")
        for kind, unit, told in rows.fetchall():
            body = json.loads(told)
            if kind == "forget":
                erase_texts(
                    self.connection,
                    "e.log_id IN (SELECT l.id FROM logs l JOIN coders c ON c.id = l.coder_id WHERE c.uid = ?)",
                    (body["coder"],),
                )
                self.connection.execute(
                    "UPDATE coders SET name = NULL, forgotten_utc = coalesce(forgotten_utc, ?) WHERE uid = ?",
                    (utc_now(), body["coder"]),
                )
                continue
            erase_texts(self.connection, OF_UNIT, (unit,))
            for response, item in self.connection.execute(_UNIT, (unit,)).fetchall():
                redact_response(self.connection, response)
                if body.get("item"):
                    redact_item(self.connection, item)


_UNIT = "SELECT u.response_id, r.item_id FROM units u JOIN responses r ON r.id = u.response_id WHERE u.public_id = ?"
_UNMASKED = """
    SELECT e.log_id, e.seq, l.coder_id,
           coalesce(u.id, (SELECT a.unit_id FROM assignments a WHERE a.id = e.assignment_id)), e.body
    FROM events e JOIN logs l ON l.id = e.log_id
    LEFT JOIN units u ON u.public_id = e.unit
    WHERE e.kind = 'unmask'
      AND NOT EXISTS (SELECT 1 FROM unmaskings m WHERE m.log_id = e.log_id AND m.seq = e.seq)"""
_SPOKEN_OF = (
    "SELECT seq, assignment_id FROM events INDEXED BY events_assignment WHERE log_id = ? AND assignment_id IS NOT NULL",
    "SELECT seq, assignment_id FROM annotations NOT INDEXED WHERE log_id = ?",
    "SELECT seq, NULL FROM unmaskings NOT INDEXED WHERE log_id = ?",
)
