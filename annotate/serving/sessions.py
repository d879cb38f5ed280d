"""The sessions that are open: one a person, so many in all, each a connection with its process."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from annotate.serving.access import Person

if TYPE_CHECKING:
    from aiohttp.web import WebSocketResponse

    from annotate.serving.process import DeskProcess


@dataclass(frozen=True, slots=True)
class Word:
    """What a page says when its session is over. ``code``: of the closed socket; ``again``: what a button offers."""

    code: int
    title: str
    text: str = ""
    lines: Sequence[tuple[str, str]] = ()
    again: str = ""
    take: bool = False

    def frame(self) -> str:
        facts = {"title": self.title, "text": self.text, "lines": list(self.lines), "again": self.again}
        return json.dumps(["ended", facts | {"take": self.take}])


SAVED: Final = "Everything marked ✓ is saved."
SIGNED_OUT: Final = Word(4001, "You are signed out", f"{SAVED} To come back, open your link again.")
IDLE: Final = Word(4008, "You were away for a while", f"{SAVED} You are signed out; to go on, open your link again.")
ELSEWHERE: Final = Word(
    4009, "Open in another window", "You are at work in another window or tab: go on there.", (), "Use this one", True
)
MOVED: Final = Word(4010, "You went on in another window", SAVED, (), "Use this one", True)
FULL: Final = Word(4013, "Too many are at work", "As many sessions are open as this server allows.", (), "Try again")
STOPPING: Final = Word(1001, "The server is stopping", f"{SAVED} This page goes on by itself when it is back.")
BROKE: Final = Word(
    4500, "The desk stopped", f"An error in the program; its details lie beside the study. {SAVED}", (), "Go on"
)
MISUSED: Final = Word(1008, "The connection was closed", "It carried something that is not a key.", (), "Go on")


class Session:
    """``tab`` tells windows of one browser apart; ``screen`` is what the person looks at."""

    def __init__(self, person: Person, tab: str, socket: WebSocketResponse) -> None:
        self.person, self.tab, self.socket = person, tab, socket
        self.process: DeskProcess | None = None
        self.over: Callable[[Session], None] = _nobody_to_tell
        self._ending: asyncio.Task[None] | None = None

    @property
    def ending(self) -> bool:
        return self._ending is not None

    async def end(self, word: Word | None) -> None:
        """Say ``word``, close the connection, end the process; whoever calls waits until it is gone."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._end(word))
        await asyncio.shield(self._ending)

    async def _end(self, word: Word | None) -> None:
        stopped = None if self.process is None else asyncio.create_task(self.process.stop())
        try:
            await say(self.socket, word)
            if stopped is not None:
                await stopped
        finally:
            self.over(self)


def _nobody_to_tell(_: Session) -> None:
    """A session that was never let in."""


async def say(socket: WebSocketResponse, word: Word | None) -> None:
    """Tell a page why its connection ends, and end it."""
    with suppress(ConnectionError, RuntimeError):
        if word is not None and not socket.closed:
            await socket.send_str(word.frame())
    with suppress(ConnectionError, RuntimeError):
        await socket.close(code=1000 if word is None else word.code)


class Sessions:
    """What is open now. ``limit``: how many at once."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open: dict[str, Session] = {}
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def of(self, person: Person) -> Session | None:
        return self._open.get(person.key)

    def __len__(self) -> int:
        return len(self._open)

    async def begin(self, session: Session, *, take: bool) -> Word | None:
        """Let ``session`` in; or say why not. One that the same window had before, as on a reload, ends first."""
        key = session.person.key
        async with self._turns[key]:
            before = self._open.get(key)
            if before is not None:
                if before.tab != session.tab and not take:
                    return ELSEWHERE
                await before.end(MOVED)  # also a duplicated window, which has the same name: it must not come back
            if len(self._open) >= self._limit:
                return FULL
            self._open[key] = session
            session.over = self._over
            return None

    def _over(self, session: Session) -> None:
        if self._open.get(session.person.key) is session:
            del self._open[session.person.key]

    async def end_of(self, person: Person, word: Word) -> None:
        """End the session of ``person``, if there is one."""
        session = self.of(person)
        if session is not None:
            await session.end(word)

    async def end_all(self, word: Word) -> None:
        await asyncio.gather(*(session.end(word) for session in list(self._open.values())))
