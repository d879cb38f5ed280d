"""Asking by batches: submit, poll, collect, and go on at any point after a kill.

A row waits in the study for every request of a batch, stored together with the batch itself *before* the batch is
started: no response is in two batches, and a batch whose start was cut off is found again by its tag.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any

from annotate.console import notice
from annotate.judges.asking import Question, canonical
from annotate.judges.batch_api import BatchApi, BatchState, request_line
from annotate.judges.budget import Budget
from annotate.judges.dialect import Dialect
from annotate.judges.failures import CallFailure
from annotate.judges.meter import Meter
from annotate.judges.pacing import Stop
from annotate.judges.results import read_result
from db.judging import Judge, JudgingStore, StoredReply, Subject

STORE_EVERY = 500
MOST_BYTES = 100 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class BatchRun:
    """``size``: requests a batch at most. ``poll``: seconds between looks. ``wait`` False: one look, then return."""

    size: int = 20_000
    poll: float = 30.0
    wait: bool = True


@dataclass(frozen=True, slots=True)
class Entry:
    """One batch as the study knows it. ``state``: submitting (its start is not confirmed), open, collected, failed."""

    tag: str
    file: str
    id: str
    state: str
    rows: int
    most: float = 0.0

    def as_json(self) -> dict[str, object]:
        return asdict(self)


class Batches:
    """The batches of one judge: their state in the study and at the endpoint."""

    def __init__(
        self,
        store: JudgingStore,
        judge: Judge,
        question: Question,
        dialect: Dialect,
        api: BatchApi,
        budget: Budget,
        meter: Meter,
        stop: Stop,
    ) -> None:
        self._store, self._question, self._dialect = store, question, dialect
        self._api, self._budget, self._meter, self._stop = api, budget, meter, stop
        self.judge_id = judge.id
        self.entries = [Entry(**entry) for entry in judge.origin.get("batches", [])]

    @property
    def unfinished(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.state in ("submitting", "open")]

    def notes(self) -> tuple[str, ...]:
        """One line on what is still under way, for the end of a run."""
        rows = sum(entry.rows for entry in self.unfinished)
        return (
            (f"{len(self.unfinished)} batches with {rows:,} requests are under way; run this again to collect.",)
            if rows
            else ()
        )

    # --- submit ---------------------------------------------------------------------------------

    async def submit(self, work: Iterator[tuple[Subject, int]], how: BatchRun, limit: float | None) -> None:
        """Put all the work into batches, one after the other, as far as the money goes."""
        while not self._stop and (lines := self._take(work, how.size)):
            data = b"".join(line for line, _ in lines)
            most = sum(self._budget.most(len(line), self._question.max_tokens) for line, _ in lines)
            promised = sum(entry.most for entry in self.unfinished)
            if limit is not None and self._budget.spent + promised + most > limit:
                self._stop.set(f"--max-cost would be passed by the next batch (it may cost up to ${most:,.2f})")
                return
            tag = secrets.token_hex(8)
            file = await self._api.upload(f"{tag}.jsonl", data)
            entry = Entry(tag, file, "", "submitting", len(lines), most)
            rows = [self._waiting_row(reply, tag) for _, reply in lines]
            self.entries.append(entry)
            self._store.submit_batch(self.judge_id, self._json(), rows)
            await self.start(entry)

    def _take(self, work: Iterator[tuple[Subject, int]], size: int) -> list[tuple[bytes, StoredReply]]:
        lines: list[tuple[bytes, StoredReply]] = []
        total = 0
        for subject, repeat in islice(work, size):
            body = self._question.body(subject, self._dialect)
            request = hashlib.sha256(canonical(body)).hexdigest()
            line = (
                json.dumps(request_line(subject.response_id, repeat, body), ensure_ascii=True).encode("ascii") + b"\n"
            )
            reply = StoredReply(subject.response_id, repeat, extra={"request_sha256": request})
            lines.append((line, reply))
            total += len(line)
            if total >= MOST_BYTES:
                break
        return lines

    def _waiting_row(self, reply: StoredReply, tag: str) -> StoredReply:
        extra = {**reply.extra, "batch": tag, "waiting": 1}
        digest = self._question.prompt.digest
        return StoredReply(
            reply.response_id, reply.repeat, failure="waits for a batch", prompt_hash=digest, extra=extra
        )

    async def start(self, entry: Entry) -> None:
        """Start a stored batch, unless it was started before."""
        state = await self._api.find(entry.file, entry.tag) or await self._api.create(entry.file, entry.tag)
        self._change(entry, id=state.id, state="open")
        notice(f"Batch {state.id}: {entry.rows:,} requests submitted.")

    def _change(self, entry: Entry, **changes: Any) -> None:
        index = next(i for i, known in enumerate(self.entries) if known.tag == entry.tag)
        self.entries[index] = replace(self.entries[index], **changes)
        self._store.note(self.judge_id, "batches", self._json())

    def _json(self) -> list[dict[str, object]]:
        return [entry.as_json() for entry in self.entries]

    # --- poll and collect -----------------------------------------------------------------------

    async def look(self) -> None:
        """Start what was not started, and collect every batch that is over."""
        for entry in self.unfinished:
            if self._stop:
                return
            if entry.state == "submitting":
                await self.start(entry)
                continue
            state = await self._api.state(entry.id)
            if state.over:
                await self._collect(entry, state)

    async def _collect(self, entry: Entry, state: BatchState) -> None:
        left = self._store.waiting(self.judge_id, entry.tag)
        replies: list[StoredReply] = []
        for file in state.files:
            async for line in self._api.lines(file):
                if reply := self._reply(line, left, entry.tag):
                    replies.append(reply)
                    replies = self._flush(replies, STORE_EVERY)
        why = f"batch {state.status}: no result{'; ' + state.trouble if state.trouble else ''}"
        for (response, repeat), request in left.items():
            extra = {"batch": entry.tag, "request_sha256": request}
            replies.append(StoredReply(response, repeat, failure=why, retry=True, extra=extra))
        self._flush(replies, 1)
        self._change(entry, state="collected" if state.status == "completed" else state.status)
        notice(f"Batch {state.id}: {state.status}; {entry.rows - len(left):,} of {entry.rows:,} results collected.")

    def _flush(self, replies: list[StoredReply], least: int) -> list[StoredReply]:
        if len(replies) < least:
            return replies
        self._store.store(self.judge_id, replies)
        for reply in replies:
            failed = reply.failure is not None
            self._meter.failed += failed
            self._meter.done += not failed
            self._meter.odd += not failed and not self._question.is_label(reply)
        return []

    def _reply(self, line: str, left: dict[tuple[int, int], str], tag: str) -> StoredReply | None:
        """The row of one result, None for one that this batch did not ask for or that came twice."""
        result = read_result(line)
        request = left.pop((result.response, result.repeat), None) if result else None
        if result is None or request is None:
            return None
        response, repeat = result.response, result.repeat
        try:
            completion = result.completion()
        except CallFailure as failure:
            cost = self._spend(*failure.usage)
            row = self._question.failed(failure, response, repeat, cost, request)
        else:
            cost = self._spend(completion.prompt_tokens, completion.completion_tokens)
            row = self._question.stored(completion, response, repeat, cost, request)
        return replace(row, extra={**row.extra, "batch": tag})

    def _spend(self, prompt_tokens: int | None, completion_tokens: int | None) -> float | None:
        cost = self._budget.cost(prompt_tokens, completion_tokens)
        self._budget.spent += cost or 0.0
        self._meter.add_tokens(prompt_tokens, completion_tokens, cost)
        return cost
