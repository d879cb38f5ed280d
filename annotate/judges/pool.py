"""Workers over a stream of responses; one call first, alone, to learn how the endpoint wants to be asked."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterator

from annotate.judges.asking import Asker
from annotate.judges.pacing import Stop
from db.judging import Subject

Work = Iterator[tuple[Subject, int]]


async def ask_all(asker: Asker, work: Work, concurrency: int, stop: Stop, learned: Callable[[], None]) -> None:
    """Settle all the work with ``concurrency`` calls under way at most, or until ``stop`` is set.

    ``learned`` is called once, when the first call has shown how the endpoint wants to be asked.
    A worker takes its next response only when the reply of its last one is durable.
    """
    with interruptible(stop):
        while not asker.known and not stop:
            first = next(work, None)
            if first is None:
                await asker.finish()
                return
            await asker.settle(*first)
        if not stop:
            learned()
        await _together([_worker(asker, work, stop) for _ in range(concurrency)])


async def _worker(asker: Asker, work: Work, stop: Stop) -> None:
    while not stop:
        entry = next(work, None)
        if entry is None:
            return
        await asker.settle(*entry)


async def _together(jobs: list[Awaitable[None]]) -> None:
    """All of them; the first error cancels the others and is raised."""
    tasks = [asyncio.ensure_future(job) for job in jobs]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class interruptible:
    """The first Ctrl+C lets calls under way end and stores them; the second cancels them."""

    def __init__(self, stop: Stop) -> None:
        self._stop = stop

    def __enter__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        try:
            self._loop.add_signal_handler(signal.SIGINT, self._interrupt)
            self._set = True
        except (NotImplementedError, RuntimeError, ValueError):
            self._set = False  # Windows, or not the main thread: KeyboardInterrupt then ends the run

    def __exit__(self, *_: object) -> None:
        if self._set:
            self._loop.remove_signal_handler(signal.SIGINT)

    def _interrupt(self) -> None:
        if self._stop:
            assert self._task is not None
            self._task.cancel()
        self._stop.set("interrupted", interrupted=True)
