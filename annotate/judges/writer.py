"""A thread that makes replies durable. A worker's call is over only when its reply is on the disk.

Replies that come while a transaction is being written go into the next one together, so that thirty workers wait for
one flush and not for thirty.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Sequence
from pathlib import Path

from db.judging import JudgingStore, StoredReply

_MOST = 256
_Entry = tuple[StoredReply, "asyncio.Future[None]"]


class Writer:
    """``async with Writer(path, judge_id) as writer: await writer.put(reply)``: stored when it returns."""

    def __init__(self, path: Path, judge_id: int, *, over_failures: bool = False) -> None:
        self._path, self._judge_id, self._over_failures = path, judge_id, over_failures
        self._queue: queue.SimpleQueue[_Entry | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="judge-writer", daemon=True)

    async def __aenter__(self) -> Writer:
        self._loop = asyncio.get_running_loop()
        self._thread.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    async def put(self, reply: StoredReply) -> None:
        """Return when the reply is durable; raises what the study file raised."""
        done: asyncio.Future[None] = self._loop.create_future()
        self._queue.put((reply, done))
        await done

    def _run(self) -> None:
        store: JudgingStore | None = None
        try:
            while (first := self._queue.get()) is not None:
                entries, last = self._together(first)
                try:
                    store = store or JudgingStore(self._path)
                    store.store(self._judge_id, [reply for reply, _ in entries], over_failures=self._over_failures)
                    self._tell(entries, None)
                except Exception as error:
                    self._tell(entries, error)
                if last:
                    return
        finally:
            if store is not None:
                store.close()

    def _together(self, first: _Entry) -> tuple[list[_Entry], bool]:
        entries = [first]
        while len(entries) < _MOST:
            try:
                entry = self._queue.get_nowait()
            except queue.Empty:
                break
            if entry is None:
                return entries, True
            entries.append(entry)
        return entries, False

    def _tell(self, entries: Sequence[_Entry], error: Exception | None) -> None:
        self._loop.call_soon_threadsafe(_settle, [done for _, done in entries], error)


def _settle(futures: Sequence[asyncio.Future[None]], error: Exception | None) -> None:
    for future in futures:
        if future.done():
            continue
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)
