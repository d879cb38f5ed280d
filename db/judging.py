"""What running a judge reads and writes: responses without a stored reply, replies in small durable transactions.

A row of ``judge_labels`` is *open* where ``extra.retry`` is 1 (a call that failed for a passing reason) and otherwise
settled: nothing here ever replaces a settled row, so that a stored reply stays what it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from db.clock import utc_now
from db.columns import condition_sql
from db.connection import connect, reading, writing
from db.judge_maps import put_in_force
from db.records import UnitFilter
from db.schema import migrate
from db.study import real_path

PAGE = 500


@dataclass(frozen=True, slots=True)
class Subject:
    """A response and its item as a judge gets them. There is no model, condition, coder or other judge in it."""

    response_id: int
    item: str
    question: str
    context: str | None
    gold: tuple[str, ...]
    rationale: str | None
    options: tuple[str, ...]
    answer_key: str | None
    strata: Mapping[str, str]
    text: str
    text_b: str | None
    reason: str | None
    choice: str | None
    technical: str | None = None
    redacted: bool = False


@dataclass(frozen=True, slots=True)
class StoredReply:
    """One row to store. ``raw`` None: no label came; ``failure`` says why, and ``retry`` that asking again may help.

    ``prompt_tokens`` and ``completion_tokens`` as the endpoint counted them, ``cost`` in US dollars (None: unknown).
    """

    response_id: int
    repeat: int
    raw: str | None = None
    score: float | None = None
    rationale: str | None = None
    reply: str | None = None
    failure: str | None = None
    retry: bool = False
    prompt_hash: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge of the study: where it came from (``origin``) never holds a key."""

    id: int
    name: str
    kind: str
    version: str
    origin: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class JudgeCount:
    """What is stored of one judge: ``rows`` = ``labels`` + ``not_labels`` + ``failed``.

    ``files``: where an imported judge came from; for the others ``origin`` says it.
    """

    name: str
    kind: str
    version: str
    origin: Mapping[str, Any]
    files: tuple[str, ...]
    repeats: int
    rows: int
    labels: int
    not_labels: int
    failed: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which responses are put to a judge. ``sampled``: only drawn units. ``filters``: the protocol's.

    ``failed_too``: also those whose failure is settled, such as refusals.
    """

    sampled: bool = False
    filters: tuple[UnitFilter, ...] = ()
    failed_too: bool = False

    def sql(self) -> str:
        conditions = [condition_sql(rule.field, rule.values) for rule in self.filters]
        if self.sampled:
            conditions.append("r.id IN (SELECT u.response_id FROM units u JOIN sample_units s ON s.unit_id = u.id)")
        return f"({' AND '.join(conditions)})" if conditions else "1"


class JudgingStore:
    """The study, for one thread that runs a judge. Every write is one transaction that is durable when it returns."""

    def __init__(self, path: Path) -> None:
        self.path = real_path(path)
        self._connection = connect(self.path)
        migrate(self._connection)

    def __enter__(self) -> JudgingStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    # --- the study ------------------------------------------------------------------------------

    def protocol(self) -> tuple[int, str, str] | None:
        """Version, name and TOML of the protocol in force, or None for a study without one."""
        row = self._connection.execute(
            "SELECT version, name, toml FROM protocols ORDER BY version DESC LIMIT 1"
        ).fetchone()
        return None if row is None else (row[0], row[1], row[2])

    def confirmed_hosts(self) -> tuple[str, ...]:
        """The hosts to which somebody has agreed to send this study's texts."""
        text = self._connection.execute("SELECT json_extract(settings, '$.judge_hosts') FROM study").fetchone()[0]
        return tuple(json.loads(text)) if text else ()

    def confirm_host(self, host: str) -> None:
        with writing(self._connection):
            hosts = sorted({*self.confirmed_hosts(), host})
            self._connection.execute(
                "UPDATE study SET settings = json_set(settings, '$.judge_hosts', json(?))", (json.dumps(hosts),)
            )

    # --- judges ---------------------------------------------------------------------------------

    def judge(self, name: str) -> Judge | None:
        row = self._connection.execute(
            "SELECT id, name, kind, version, origin FROM judges WHERE name = ?", (name,)
        ).fetchone()
        return None if row is None else Judge(row[0], row[1], row[2], row[3], json.loads(row[4]))

    def judge_names(self) -> tuple[str, ...]:
        return tuple(row[0] for row in self._connection.execute("SELECT name FROM judges ORDER BY id"))

    def add_judge(self, name: str, kind: str, version: str, origin: Mapping[str, object]) -> Judge:
        """Make a judge, or return the one of that name."""
        with writing(self._connection):
            self._connection.execute(
                "INSERT INTO judges (name, kind, version, origin, created_utc) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (name) DO NOTHING",
                (name, kind, version, _json(origin), utc_now()),
            )
        judge = self.judge(name)
        assert judge is not None
        return judge

    def note(self, judge_id: int, key: str, value: object) -> None:
        """Set one top-level entry of a judge's origin, such as its open batches."""
        with writing(self._connection):
            self._note(judge_id, key, value)

    def _note(self, judge_id: int, key: str, value: object) -> None:
        self._connection.execute(
            "UPDATE judges SET origin = json_set(origin, ?, json(?)) WHERE id = ?", (f"$.{key}", _json(value), judge_id)
        )

    def mapping(self, judge_id: int) -> dict[str, str]:
        rows = self._connection.execute("SELECT raw_key, label FROM judge_map_entries WHERE judge_id = ?", (judge_id,))
        return {row[0]: row[1] for row in rows}

    def set_mapping(self, judge_id: int, mapping: Mapping[str, str], digest: str) -> None:
        """Put a mapping in force unless it is; every mapping that ever was is kept."""
        with writing(self._connection):
            put_in_force(self._connection, judge_id, mapping, digest)

    def set_version(self, judge_id: int, version: str) -> None:
        """Say of which version an imported judge is."""
        with writing(self._connection):
            self._connection.execute("UPDATE judges SET version = ? WHERE id = ?", (version, judge_id))

    # --- what is left to ask --------------------------------------------------------------------

    def pending(self, judge_id: int | None, repeat: int, wanted: Wanted, *, page: int = PAGE) -> Iterator[Subject]:
        """Responses that (judge, repeat) has no settled row for, in the order of the file, read a page at a time."""
        after = 0
        while rows := self._page(judge_id, repeat, after, wanted, page):
            yield from (_subject(row) for row in rows)
            after = rows[-1][0]

    def _page(self, judge_id: int | None, repeat: int, after: int, wanted: Wanted, page: int) -> list[Any]:
        failed = " OR jl.failure IS NOT NULL AND json_extract(jl.extra, '$.waiting') IS NULL"
        sql = f"""
            SELECT r.id, i.key, i.question, i.context, i.gold, i.rationale, i.options, i.answer_key, i.strata,
                   r.text, r.text_b, r.reason, r.choice, r.failure, coalesce(r.redacted_utc, i.redacted_utc)
            FROM responses r JOIN items i ON i.id = r.item_id
            LEFT JOIN judge_labels jl ON jl.judge_id = ? AND jl.response_id = r.id AND jl.repeat = ?
            WHERE r.id > ? AND {wanted.sql()}
                  AND (jl.id IS NULL OR json_extract(jl.extra, '$.retry') = 1{failed if wanted.failed_too else ""})
            ORDER BY r.id LIMIT ?"""
        return self._connection.execute(sql, (judge_id, repeat, after, page)).fetchall()

    def waiting_for_batches(self, judge_id: int | None, repeats: int, wanted: Wanted) -> int:
        """How many wanted rows of the first ``repeats`` wait for a batch."""
        sql = f"""
            SELECT count(*) FROM judge_labels jl
            JOIN responses r ON r.id = jl.response_id JOIN items i ON i.id = r.item_id
            WHERE jl.judge_id = ? AND jl.repeat <= ? AND json_extract(jl.extra, '$.waiting') = 1 AND {wanted.sql()}"""
        return int(self._connection.execute(sql, (judge_id, repeats)).fetchone()[0])

    def responses(self, wanted: Wanted) -> tuple[int, int]:
        """How many responses the study holds, and how many of them are wanted."""
        sql = f"SELECT count(*), total({wanted.sql()}) FROM responses r JOIN items i ON i.id = r.item_id"
        row = self._connection.execute(sql).fetchone()
        return row[0], int(row[1])

    # --- what came back -------------------------------------------------------------------------

    def store(self, judge_id: int, replies: Sequence[StoredReply], *, over_failures: bool = False) -> int:
        """Store replies in one transaction and return how many rows it wrote; a settled row is left as it is.

        A row of a batch is written over by what that batch brought. ``over_failures``: settled failures too.
        """
        condition = _OPEN + (_FAILED if over_failures else "")
        with writing(self._connection):
            before = self._connection.total_changes
            now = utc_now()
            self._connection.executemany(_STORE + condition, [_values(judge_id, reply, now) for reply in replies])
            return self._connection.total_changes - before

    def submit_batch(self, judge_id: int, batches: object, replies: Sequence[StoredReply]) -> None:
        """Store the rows that wait for a batch, and the batch, together: neither is ever there without the other."""
        with writing(self._connection):
            self.store(judge_id, replies)
            self._note(judge_id, "batches", batches)

    def waiting(self, judge_id: int, batch: str) -> dict[tuple[int, int], str]:
        """``{(response, repeat): SHA-256 of the request}`` of the rows that still wait for a batch."""
        rows = self._connection.execute(
            "SELECT response_id, repeat, json_extract(extra, '$.request_sha256') FROM judge_labels"
            " WHERE judge_id = ? AND json_extract(extra, '$.batch') = ? AND json_extract(extra, '$.waiting') = 1",
            (judge_id, batch),
        )
        return {(row[0], row[1]): row[2] for row in rows}

    # --- what is stored -------------------------------------------------------------------------

    def spent(self, judge_id: int) -> float:
        """US dollars of every stored call whose price was known."""
        row = self._connection.execute(
            "SELECT total(cost) FROM judge_labels WHERE judge_id = ?", (judge_id,)
        ).fetchone()
        return float(row[0])

    def counts(self) -> tuple[JudgeCount, ...]:
        """One line a judge, in the order in which they were made."""
        rows = self._connection.execute(
            """SELECT j.id, j.name, j.kind, j.version, j.origin, coalesce(max(l.repeat), 0), count(l.id),
                      count(CASE WHEN l.raw_key <> '' AND m.label <> '(not a label)' THEN 1 END),
                      count(CASE WHEN l.raw_key <> ''
                                  AND coalesce(m.label, '(not a label)') = '(not a label)' THEN 1 END),
                      count(CASE WHEN l.id IS NOT NULL AND coalesce(l.raw_key, '') = '' THEN 1 END),
                      coalesce(sum(l.prompt_tokens), 0), coalesce(sum(l.completion_tokens), 0), sum(l.cost)
               FROM judges j LEFT JOIN judge_labels l ON l.judge_id = j.id
               LEFT JOIN judge_map_entries m ON m.judge_id = j.id AND m.raw_key = l.raw_key
               GROUP BY j.id ORDER BY j.id"""
        ).fetchall()
        return tuple(self._count(*row) for row in rows)

    def _count(self, judge_id: int, name: str, kind: str, version: str, origin: str, *numbers: Any) -> JudgeCount:
        return JudgeCount(name, kind, version, json.loads(origin), self._files(judge_id), *numbers)

    def _files(self, judge_id: int) -> tuple[str, ...]:
        rows = self._connection.execute(
            "SELECT name FROM sources WHERE id IN (SELECT source_id FROM judge_labels WHERE judge_id = ?) ORDER BY id",
            (judge_id,),
        )
        return tuple(row[0] for row in rows)

    def labels(self, name: str) -> dict[int, dict[int, str]]:
        """``{response: {repeat: mapped label}}`` of one judge; '(not a label)' and '(missing)' are labels here."""
        found: dict[int, dict[int, str]] = {}
        rows = self._connection.execute(
            "SELECT response_id, repeat, label FROM mapped_labels"
            " WHERE judge_id = (SELECT id FROM judges WHERE name = ?)",
            (name,),
        )
        for response, repeat, label in rows:
            found.setdefault(response, {})[repeat] = label
        return found

    def scores(self, name: str, repeat: int = 1) -> dict[int, float]:
        """``{response: score}`` of one judge, where it gave one."""
        rows = self._connection.execute(
            "SELECT response_id, score FROM judge_labels WHERE score IS NOT NULL AND repeat = ?"
            " AND judge_id = (SELECT id FROM judges WHERE name = ?)",
            (repeat, name),
        )
        return dict(rows)

    def texts(self) -> Iterator[tuple[int, str]]:
        """Every response with the text that a judge reads of it: its text, the second text of a pair, its reason."""
        with reading(self._connection):
            for row in self._connection.execute("SELECT id, text, text_b, reason FROM responses ORDER BY id"):
                yield row[0], "\n".join(part for part in row[1:] if part)


_STORE = """
    INSERT INTO judge_labels (judge_id, response_id, repeat, raw, raw_key, score, rationale, reply, failure,
                              prompt_hash, prompt_tokens, completion_tokens, cost, extra, created_utc)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (judge_id, response_id, repeat) DO UPDATE SET
        raw = excluded.raw, raw_key = excluded.raw_key, score = excluded.score, rationale = excluded.rationale,
        reply = excluded.reply, failure = excluded.failure, prompt_hash = excluded.prompt_hash,
        prompt_tokens = excluded.prompt_tokens, completion_tokens = excluded.completion_tokens,
        cost = CASE WHEN judge_labels.cost IS NULL THEN excluded.cost
                    ELSE judge_labels.cost + coalesce(excluded.cost, 0) END,
        extra = excluded.extra, created_utc = excluded.created_utc
    WHERE """

_OPEN = """json_extract(judge_labels.extra, '$.retry') = 1
    OR json_extract(judge_labels.extra, '$.waiting') = 1
       AND json_extract(judge_labels.extra, '$.batch') = json_extract(excluded.extra, '$.batch')"""
_FAILED = " OR judge_labels.failure IS NOT NULL AND json_extract(judge_labels.extra, '$.waiting') IS NULL"


def _values(judge_id: int, reply: StoredReply, now: str) -> tuple[object, ...]:
    extra = {**reply.extra, "retry": 1} if reply.retry else dict(reply.extra)
    raw_key = None if reply.raw is None else reply.raw.strip()
    texts = (reply.raw, raw_key, reply.score, reply.rationale, reply.reply, reply.failure)
    counts = (reply.prompt_hash, reply.prompt_tokens, reply.completion_tokens, reply.cost)
    return (judge_id, reply.response_id, reply.repeat, *map(_storable, texts), *counts, _json(extra), now)


def _storable(value: object) -> object:
    """SQLite takes no lone surrogates, which JSON can carry; U+FFFD stands for each."""
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _subject(row: Sequence[Any]) -> Subject:
    return Subject(
        response_id=row[0],
        item=row[1],
        question=row[2],
        context=row[3],
        gold=tuple(json.loads(row[4])),
        rationale=row[5],
        options=tuple(json.loads(row[6])),
        answer_key=row[7],
        strata=json.loads(row[8]),
        text=row[9],
        text_b=row[10],
        reason=row[11],
        choice=row[12],
        technical=row[13],
        redacted=row[14] is not None,
    )
