"""The command itself: what it prints, what it refuses, how it ends, and where a secret must never be."""

from __future__ import annotations

import asyncio
import base64
import json
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import aiohttp
import pytest

from annotate.__main__ import run

from .conftest import Browser, Desk, labels_of, quietly
from .real import RealServer, alive, real_server, until

pytestmark = pytest.mark.slow


def browser_of(server: RealServer, session: aiohttp.ClientSession) -> Browser:
    return Browser(server.url, session)


async def at_work(server: RealServer, session: aiohttp.ClientSession, name: str) -> Desk:
    browser = browser_of(server, session)
    assert (await browser.enter(secret_of(server.links[name]))).status == 204
    desk = await browser.open()
    await desk.wait_for("of 24")
    return desk


def secret_of(link: str) -> str:
    return urlsplit(link).fragment


def new_session(server: RealServer) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(server.url, cookie_jar=aiohttp.CookieJar(unsafe=True))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
async def test_no_process_outlives_the_server(study: Path, how: int) -> None:
    with real_server(study) as server:
        async with new_session(server) as ada, new_session(server) as ben:
            desks = [await at_work(server, ada, "Ada"), await at_work(server, ben, "Ben")]
            await desks[0].label("h")
            pids = server.children()
            assert len(pids) == 2
            ends = [asyncio.create_task(desk.end()) for desk in desks]
            code = await asyncio.to_thread(server.end, how)
            await asyncio.to_thread(until, lambda: not any(alive(pid) for pid in pids), 8)
            await asyncio.gather(*ends)
            assert code == (-how if how == signal.SIGKILL else 0)
            assert desks[0].socket.close_code == (1006 if how == signal.SIGKILL else 1001)
    assert len(labels_of(study, "Ada")) == 1
    quietly("verify", study)
    with real_server(study, "--no-links") as again:  # nothing is left locked
        assert again.links == {}


async def test_a_process_that_is_still_loading_does_not_outlive_the_server(study: Path) -> None:
    with real_server(study) as server:
        async with new_session(server) as session:
            browser = browser_of(server, session)
            await browser.enter(secret_of(server.links["Ada"]))
            await browser.open()
            pids = await asyncio.to_thread(until, server.children)
            server.end(signal.SIGKILL)
            await asyncio.to_thread(until, lambda: not any(alive(pid) for pid in pids), 8)


async def test_links_and_cookies_are_in_no_file_log_argument_or_environment(study: Path) -> None:
    """Plain, in base64 and hexadecimal, and as addresses and JSON write them: in everything beside the study, in what
    the server says, and in what other processes can see of it."""
    secrets: set[str] = set()
    with real_server(study) as server:
        async with new_session(server) as ada, new_session(server) as guest:
            desk = await at_work(server, ada, "Ada")
            browser = browser_of(server, ada)
            secrets |= set(browser.cookie().values()) | {secret_of(link) for link in server.links.values()}
            await desk.label("h")
            stranger = browser_of(server, guest)
            assert (await stranger.enter("guess")).status == 403
            assert (await stranger.enter(secret_of(server.links["Ada"]))).status == 409
            await guest.get(f"/{secret_of(server.links['Ada'])}")
            await desk.socket.send_str("broken")
            await desk.end()
            processes = [server.process.pid, *server.children()]
            seen = b"".join(
                Path(f"/proc/{pid}/{what}").read_bytes() for pid in processes for what in ("cmdline", "environ")
            )
            await browser.web.post("/signout", headers=browser.headers())
        server.end()
        seen += server.errors.read_bytes()
    for path in study.parent.rglob("*"):
        seen += path.read_bytes() if path.is_file() else b""
    assert len(secrets) == 4
    for secret in secrets:
        raw = base64.urlsafe_b64decode(secret + "=")
        forms = [secret, quote(secret), json.dumps(secret)[1:-1], raw.hex(), base64.b64encode(secret.encode()).decode()]
        assert not any(form.encode() in seen for form in forms)
        assert raw not in seen


async def test_two_coders_at_once_and_the_labels_agree_with_what_they_pressed(study: Path) -> None:
    """Both press at the same time; the expectation is what was pressed."""
    pressed = {"Ada": "hahahahaha", "Ben": "aahhaahhaa"}
    with real_server(study) as server:
        async with new_session(server) as ada, new_session(server) as ben:
            desks = {"Ada": await at_work(server, ada, "Ada"), "Ben": await at_work(server, ben, "Ben")}

            async def work(name: str) -> None:
                for key in pressed[name]:
                    await desks[name].label(key)

            await asyncio.gather(work("Ada"), work("Ben"))
    for name, keys in pressed.items():
        wanted = ["HEDGE" if key == "h" else "ABSTAIN" for key in keys]
        assert [label for label, _ in labels_of(study, name)] == wanted
    quietly("verify", study)


@pytest.fixture
def out(capsys: pytest.CaptureFixture[str]) -> Iterator[pytest.CaptureFixture[str]]:
    capsys.readouterr()
    yield capsys


def test_what_is_printed(study: Path) -> None:
    with real_server(study, "--coder", "Ada", "--lead", "Lea") as server:
        assert [(link["name"], link["role"], link["earlier"]) for link in server.told["links"]] == [
            ("Ada", "coder", 0),
            ("Lea", "lead", 0),
        ]
        assert server.url.startswith("http://127.0.0.1:")
    with real_server(study, "--no-lead") as server:
        assert {link["name"]: link["earlier"] for link in server.told["links"]} == {"Ada": 1, "Ben": 0}
    with real_server(study, "--new-links", "--no-lead") as server:
        assert {link["name"]: link["earlier"] for link in server.told["links"]} == {"Ada": 0, "Ben": 0}
        assert "void" not in server.errors.read_text().splitlines()[-1]


def test_a_study_is_served_once(study: Path, out: pytest.CaptureFixture[str]) -> None:
    with real_server(study):
        assert run(["serve", str(study), "--port", "0"]) == 1
        assert "is already being served" in out.readouterr().err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--coder", "Zoe"], "There is no coder 'Zoe'"),
        (["--tls-cert", "nothing.pem", "--tls-key", "nothing.pem"], "cannot be used for TLS"),
        (["--host", "203.0.113.1"], "Cannot listen on 203.0.113.1"),
        (["--host", "no.such.host.invalid"], "Cannot listen on no.such.host.invalid"),
        (["--host", "0.0.0.0"], "--public-url"),
        (["--port", "99999"], "99999"),
        (["--idle", "0"], "--idle"),
    ],
)
def test_what_cannot_be_served_is_one_line(
    study: Path, out: pytest.CaptureFixture[str], options: list[str], told: str
) -> None:
    assert run(["serve", str(study), "--port", "0", *options]) in (1, 2)
    error = out.readouterr().err
    assert told in error and error.count("\n") == 1


def test_a_port_that_is_taken_is_one_line(study: Path, out: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert run(["serve", str(study), "--port", str(taken.getsockname()[1])]) == 2
    assert "--port 0 takes a free one" in out.readouterr().err


def test_without_the_extra_one_line_says_how_to_get_it(
    study: Path, out: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    for name in [name for name in sys.modules if name.startswith(("textual_serve", "annotate.serving"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "textual_serve", None)
    assert run(["serve", str(study), "--port", "0"]) == 2
    assert "[web]" in out.readouterr().err
