"""A small study, a server over it in this process, and a browser that speaks the protocol."""

from __future__ import annotations

import asyncio
import io
import re
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

pytest.importorskip("aiohttp", reason="needs the extra [web]")
pytest.importorskip("textual_serve", reason="needs the extra [web]")

import aiohttp
from aiohttp.test_utils import TestServer, unused_port

import annotate.protocols
from annotate.__main__ import run
from annotate.sample_files import sample
from annotate.serving.access import Access
from annotate.serving.guesses import Guesses
from annotate.serving.running import served
from annotate.serving.server import DeskServer
from annotate.serving.settings import Place, Settings
from db.coders import find_coder
from db.coding import CodingSession
from db.study import open_study

CONTROL = re.compile(r"\x1b(\[[0-9;?<>=$]*[a-zA-Z]|\][^\x07]*\x07|.)")


def quietly(*arguments: object) -> None:
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as err:
        code = run([str(argument) for argument in arguments])
    assert code == 0, err.getvalue()


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty-four responses that Ada and Ben both have to code."""
    path = tmp_path_factory.mktemp("serving") / "study.db"
    items, records = sample("ehq-run", "EHQ-120.json.gz"), sample("ehq-run", "records.jsonl.gz")
    codebook = path.with_name("fast.toml")
    shipped = Path(annotate.protocols.__file__).with_name("ehq.toml").read_text(encoding="utf-8")
    codebook.write_text(f"min_dwell_ms = 0  # so that tests may type at once\n{shipped}", encoding="utf-8")
    quietly("init", path, "--protocol", codebook)
    quietly("import", path, "--items", items, "--records", records)
    quietly("sample", path, "--n", 24, "--seed", 7, "--anyway")
    quietly("assign", path, "--coders", "Ada,Ben", "--overlap", "1.0")
    return path


@pytest.fixture
def study(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(template, tmp_path / "study.db"))


def labels_of(path: Path, coder: str) -> list[tuple[str, str]]:
    """(label, blindness) of each label event of a coder, in order, read from the events themselves."""
    with open_study(path) as opened:
        who = find_coder(opened.connection, coder)
        rows = opened.connection.execute(
            "SELECT json_extract(e.body, '$.label'), e.blindness FROM events e JOIN logs l ON l.id = e.log_id"
            " WHERE l.coder_id = ? AND e.kind = 'label' ORDER BY e.log_id, e.seq",
            (who.id,),
        ).fetchall()
    return [(label, blindness) for label, blindness in rows]


def hold_in_terminal(path: Path, coder: str) -> CodingSession:
    """What `annotate code` holds while it runs."""
    from annotate.studies import study_protocol

    with open_study(path) as opened:
        protocol = study_protocol(opened)
    return CodingSession.open(path, coder, protocol)


@dataclass
class Browser:
    """One browser: its cookies, and the origin that it says."""

    base: str
    web: aiohttp.ClientSession
    origin: str = ""

    def headers(self, **more: str) -> dict[str, str]:
        return {"Origin": self.origin or self.base} | more

    async def enter(self, link: str, **more: str) -> aiohttp.ClientResponse:
        return await self.web.post("/enter", data={"link": link}, headers=self.headers(**more))

    def cookie(self) -> dict[str, str]:
        return {cookie.key: cookie.value for cookie in self.web.cookie_jar}

    async def open(self, tab: str = "one", **query: str) -> Desk:
        wanted = {"tab": tab, "width": "100", "height": "30"} | query
        socket = await self.web.ws_connect("/ws", params=wanted, headers=self.headers())
        return Desk(socket)


@dataclass
class Desk:
    """An open connection; ``seen`` is the text that was drawn, ``raw`` all of it, ``word`` what was said at the end."""

    socket: aiohttp.ClientWebSocketResponse
    seen: str = ""
    raw: str = ""
    done: int = 0
    word: dict[str, object] = field(default_factory=dict)

    async def wait_for(self, pattern: str, seconds: float = 20.0) -> None:
        """Until ``pattern`` has been drawn since the last call."""
        async with asyncio.timeout(seconds):
            while not (found := re.search(pattern, self.seen)):
                message = await self.socket.receive()
                assert message.type is aiohttp.WSMsgType.BINARY, (message, self.word, self.seen[-500:])
                self.raw += message.data.decode("utf-8", "replace")
                self.seen += CONTROL.sub("", message.data.decode("utf-8", "replace"))
        self.seen = self.seen[found.end() :]

    async def keys(self, text: str) -> None:
        await self.socket.send_json(["stdin", text])

    async def label(self, key: str) -> None:
        """One label, acknowledged on the screen by the number of those done."""
        self.done += 1
        await self.keys(key)
        await self.wait_for(f"\\b{self.done} done")

    async def end(self, seconds: float = 15.0) -> int | None:
        """Until the server closes; returns the code, and keeps what was said."""
        async with asyncio.timeout(seconds):
            async for message in self.socket:
                if message.type is aiohttp.WSMsgType.TEXT and message.json()[0] == "ended":
                    self.word = message.json()[1]
        return self.socket.close_code


@dataclass
class Served:
    """A running server and the links of its people."""

    server: DeskServer
    access: Access
    base: str
    links: dict[str, str]
    notes: list[str]
    make: Callable[[], Browser]

    async def signed_in(self, name: str) -> Browser:
        browser = self.make()
        answer = await browser.enter(self.links[name])
        assert answer.status == 204, await answer.text()
        return browser

    def pid(self, name: str) -> int:
        person = next(each for each in self.access.people.values() if each.name == name)
        session = self.server.sessions.of(person)
        assert session is not None and session.process is not None and session.process.pid is not None
        return session.process.pid


Serve = Callable[..., Awaitable[Served]]


@pytest.fixture
async def serve(study: Path) -> AsyncIterator[Serve]:
    """``await serve(idle=…)`` starts a server in this process; everything is closed at the end."""
    running: list[TestServer] = []
    sessions: list[aiohttp.ClientSession] = []

    async def start(*, guesses: Guesses | None = None, restarted: Served | None = None, **settings: object) -> Served:
        port = unused_port()
        wanted = Settings(study, port=port, **settings).checked()  # type: ignore[arg-type]
        with open_study(study) as opened:
            place = Place(opened.path, opened.side, opened.uid)
            people = served(opened, (), wanted.lead)
        access = Access(place.side / "serve.json", place.uid, people, idle=wanted.idle)
        links = restarted.links if restarted else {each.name: access.new_link(each) for each in people}
        notes: list[str] = []
        server = DeskServer(wanted, place, access, note=notes.append, guesses=guesses)
        test = TestServer(await server._make_app(), port=port)
        await test.start_server()
        running.append(test)
        address = f"http://127.0.0.1:{port}"

        def make() -> Browser:
            session = aiohttp.ClientSession(address, cookie_jar=aiohttp.CookieJar(unsafe=True))
            sessions.append(session)
            return Browser(address, session, wanted.origin if wanted.public_url else "")

        return Served(server, access, address, links, notes, make)

    yield start
    for session in sessions:
        with suppress(aiohttp.ClientError):
            await session.close()
    for test in running:
        await test.close()
