"""A session over a real connection with a real process behind it: whose it is, what it may carry, how it ends."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import aiohttp
import pytest

from db.study import open_study

from .conftest import Serve, hold_in_terminal, labels_of


def alive(pid: int) -> bool:
    """A zombie has ended; it only waits to be asked for its exit code."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def gone(pid: int, seconds: float = 10.0) -> bool:
    async with asyncio.timeout(seconds):
        while alive(pid):
            await asyncio.sleep(0.05)
    return True


async def test_labels_are_sealed_and_in_the_file_when_acknowledged(serve: Serve, study: Path) -> None:
    served = await serve()
    desk = await (await served.signed_in("Ada")).open()
    await desk.wait_for("item .*of 24")
    for key, label in (("h", "HEDGE"), ("a", "ABSTAIN"), ("h", "HEDGE")):
        await desk.label(key)
        assert labels_of(study, "Ada")[-1] == (label, "sealed")
    assert len(labels_of(study, "Ada")) == 3 and labels_of(study, "Ben") == []
    with open_study(study) as opened:
        assert opened.connection.execute("SELECT DISTINCT origin FROM events WHERE kind = 'label'").fetchall() == [
            ("browser",)
        ]


async def test_a_reload_goes_on_where_the_coder_was(serve: Serve, study: Path) -> None:
    served = await serve()
    browser = await served.signed_in("Ada")
    desk = await browser.open()
    await desk.wait_for("item .*of 24")
    await desk.label("h")
    before = served.pid("Ada")
    again = await browser.open()  # as on a reload: the old connection may still be there
    assert await desk.end() == 4010, "a duplicated window is told, and does not come back by itself"
    await again.wait_for("1 done")
    again.done = 1
    assert served.pid("Ada") != before and await gone(before)
    await again.label("a")
    assert [label for label, _ in labels_of(study, "Ada")] == ["HEDGE", "ABSTAIN"]


async def test_a_closed_window_ends_its_process(serve: Serve) -> None:
    served = await serve()
    desk = await (await served.signed_in("Ada")).open()
    await desk.wait_for("of 24")
    pid = served.pid("Ada")
    await desk.socket.close()
    assert await gone(pid)
    async with asyncio.timeout(5):
        while len(served.server.sessions):
            await asyncio.sleep(0.05)


@pytest.mark.slow
async def test_a_second_window_is_refused_unless_it_takes_over(serve: Serve) -> None:
    served = await serve()
    browser = await served.signed_in("Ada")
    first = await browser.open("one")
    await first.wait_for("of 24")
    second = await browser.open("two")
    assert await second.end() == 4009
    assert second.word["title"] == "Open in another window" and second.word["take"] is True
    await first.label("h")
    third = await browser.open("two", take="1")
    assert await first.end() == 4010 and "another window" in str(first.word["title"])
    await third.wait_for("1 done")


async def test_a_second_browser_is_refused_with_the_reason(serve: Serve) -> None:
    served = await serve()
    first = await served.signed_in("Ada")
    desk = await first.open()
    await desk.wait_for("of 24")
    second = served.make()
    answer = await second.enter(served.links["Ada"])
    assert answer.status == 409 and "already at work in another browser" in (await answer.json())["message"]
    assert not second.cookie()
    assert (await first.enter(served.links["Ada"])).status == 204, "the same browser opens its link again"
    await desk.label("h")


async def test_a_coder_at_work_in_the_terminal_is_not_let_in_twice(serve: Serve, study: Path) -> None:
    served = await serve()
    with hold_in_terminal(study, "Ada"):
        browser = await served.signed_in("Ada")
        desk = await browser.open()
        assert await desk.end() == 4003
        assert "already coding this study in another session" in str(desk.word["text"])
        assert "--take-over" not in str(desk.word), "a coder in a browser has no command line"
    again = await browser.open()
    await again.wait_for("of 24")
    with pytest.raises(Exception, match="already coding"):
        hold_in_terminal(study, "Ada")


async def test_a_coder_is_told_nothing_of_files_or_of_other_coders(serve: Serve, study: Path) -> None:
    served = await serve()
    browser = await served.signed_in("Ada")
    study.rename(study.with_name("elsewhere.db"))
    desk = await browser.open()
    assert await desk.end() == 4003
    assert "ask whoever leads the study" in str(desk.word["text"])
    assert "study.db" not in str(desk.word) and "Ben" not in str(desk.word)
    assert "study.db" in served.notes[-1], "the lead is told"


async def test_who_signs_out_while_the_process_starts_leaves_none_behind(serve: Serve) -> None:
    served = await serve()
    browser = await served.signed_in("Ada")
    before = set(children())
    for _ in range(3):
        desk = await browser.open()
        await browser.web.post("/signout", headers=browser.headers())
        await desk.end()
        browser = await served.signed_in("Ada")
    async with asyncio.timeout(10):
        while set(children()) - before:
            await asyncio.sleep(0.05)


def children() -> list[int]:
    """The processes that this one started and that still run."""
    found = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [int(pid) for pid in found if alive(int(pid))]


@pytest.mark.slow
async def test_a_note_that_was_being_typed_survives_a_reload(serve: Serve) -> None:
    served = await serve()
    browser = await served.signed_in("Ada")
    desk = await browser.open()
    await desk.wait_for("of 24")
    await desk.keys("n")
    await asyncio.sleep(0.3)
    await desk.keys("half a thought")
    await desk.wait_for("half a thought")
    again = await browser.open()
    await again.wait_for("of 24")
    await again.keys("n")
    await again.wait_for("half a thought")


async def test_signing_out_ends_the_process_and_the_connection(serve: Serve) -> None:
    served = await serve()
    browser = await served.signed_in("Ada")
    desk = await browser.open()
    await desk.wait_for("of 24")
    pid = served.pid("Ada")
    ended = asyncio.create_task(desk.end())
    assert (await browser.web.post("/signout", headers=browser.headers())).status == 200
    assert not alive(pid)
    assert await ended == 4001 and desk.word["title"] == "You are signed out"
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await browser.open()


async def test_a_theme_is_the_browsers_until_the_coder_chooses_one(serve: Serve) -> None:
    """The grounds are those of tui/themes.py: #fbfaf7 light, #000000 high contrast."""
    served = await serve()
    browser = await served.signed_in("Ada")
    desk = await browser.open(theme="light")
    await desk.wait_for("of 24")
    assert "48;2;251;250;247" in desk.raw
    again = await browser.open(theme="high-contrast")
    await again.wait_for("of 24")
    assert "48;2;0;0;0" in again.raw and "48;2;251;250;247" not in again.raw
    await again.keys("\x14")  # Ctrl+T: from high-contrast to dark, the next in turn
    await asyncio.sleep(0.5)
    chosen = await browser.open(theme="light")
    await chosen.wait_for("of 24")
    assert "48;2;20;23;28" in chosen.raw and "48;2;251;250;247" not in chosen.raw


async def test_leaving_by_key_tells_what_was_done(serve: Serve) -> None:
    served = await serve()
    desk = await (await served.signed_in("Ada")).open()
    await desk.wait_for("of 24")
    await desk.label("h")
    await desk.keys("\x03")
    await asyncio.sleep(0.3)
    await desk.keys("y")
    assert await desk.end() == 4000
    assert desk.word["title"] == "You left the desk" and ["Left", "23 of 24"] in desk.word["lines"]  # type: ignore[operator]


@pytest.mark.slow
async def test_a_frame_of_100_megabytes_is_refused(serve: Serve, study: Path) -> None:
    served = await serve()
    browser = await served.signed_in("Ada")
    desk = await browser.open()
    await desk.wait_for("of 24")
    pid = served.pid("Ada")
    frame = json.dumps(["stdin", "h" * 100_000_000])
    with pytest.raises((aiohttp.ClientError, ConnectionError)):
        await desk.socket.send_str(frame)
        assert await desk.end() == aiohttp.WSCloseCode.MESSAGE_TOO_BIG
        raise ConnectionResetError
    assert await gone(pid)
    assert labels_of(study, "Ada") == []
    again = await browser.open()
    await again.wait_for("of 24")


@pytest.mark.slow
async def test_what_unpacks_to_too_much_is_refused(serve: Serve) -> None:
    """100 MB of one letter are 100 kB under permessage-deflate (RFC 7692)."""
    served = await serve()
    browser = await served.signed_in("Ada")
    socket = await browser.web.ws_connect("/ws", headers=browser.headers(), compress=15)
    await socket.send_str(json.dumps(["stdin", "h" * 100_000_000]))
    async with asyncio.timeout(15):
        async for _ in socket:
            pass
    await socket.close()
    assert socket.close_code == aiohttp.WSCloseCode.MESSAGE_TOO_BIG


async def test_what_is_no_message_of_the_page_ends_the_connection(serve: Serve) -> None:
    served = await serve()
    desk = await (await served.signed_in("Ada")).open()
    await desk.socket.send_str('["exec", "ls"]')
    assert await desk.end() == 1008


@pytest.mark.slow
async def test_sizes_are_kept_within_bounds(serve: Serve) -> None:
    served = await serve()
    desk = await (await served.signed_in("Ada")).open(width="1000000000", height="-5")
    await desk.socket.send_json(["resize", {"width": 10**9, "height": 10**9}])
    await desk.socket.send_json(["resize", {"width": 120, "height": 40}])
    await desk.socket.send_json(["stdin", "\ud800"])
    await desk.wait_for("of 24")
    rss = int(Path(f"/proc/{served.pid('Ada')}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    assert rss < 200 * 2**20


async def test_a_coder_gets_no_screen_of_the_lead(serve: Serve) -> None:
    served = await serve()
    desk = await (await served.signed_in("Ada")).open(screen="dashboard")
    await desk.wait_for("item .*of 24")
    text = await (await (await served.signed_in("Ben")).web.get("/?screen=dashboard")).text()
    assert "Adjudicate" not in text


@pytest.mark.parametrize(("screen", "shown"), [("dashboard", "Progress"), ("adjudicate", "adjudication|decide|cases")])
async def test_the_lead_gets_the_leads_screens(serve: Serve, screen: str, shown: str) -> None:
    served = await serve(lead="Lea")
    browser = await served.signed_in("Lea")
    assert "Adjudicate" in await (await browser.web.get("/")).text()
    desk = await browser.open(screen=screen)
    await desk.wait_for(shown)


@pytest.mark.slow
async def test_so_many_sessions_and_no_more(serve: Serve) -> None:
    served = await serve(max_sessions=1)
    ada = await (await served.signed_in("Ada")).open()
    await ada.wait_for("of 24")
    ben = await (await served.signed_in("Ben")).open()
    assert await ben.end() == 4013 and ben.word["title"] == "Too many are at work"
    await ada.label("h")


@pytest.mark.slow
async def test_who_does_nothing_is_signed_out(serve: Serve, study: Path) -> None:
    served = await serve(idle=2.0)
    browser = await served.signed_in("Ada")
    desk = await browser.open()
    await desk.wait_for("of 24")
    pid = served.pid("Ada")
    await desk.label("h")
    assert await desk.end() == 4008 and "away" in str(desk.word["title"])
    assert await gone(pid) and (await browser.web.get("/")).status == 401
    assert [label for label, _ in labels_of(study, "Ada")] == ["HEDGE"]


async def test_nothing_of_a_person_or_a_secret_is_in_the_process_list(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arguments are open to every account of the machine; the environment to this one, and it is bare all the same."""
    monkeypatch.setenv("OPENAI_API_KEY", "canary-key")
    monkeypatch.setenv("HOME", "/home/of/the/lead")
    served = await serve()
    browser = await served.signed_in("Ada")
    desk = await browser.open()
    await desk.wait_for("of 24")
    process = Path(f"/proc/{served.pid('Ada')}")
    arguments = process.joinpath("cmdline").read_bytes()
    told = arguments + process.joinpath("environ").read_bytes()
    for secret in ("canary-key", "/home/of/the/lead", served.links["Ada"], *browser.cookie().values()):
        assert secret.encode() not in told
    assert b"Ada" not in arguments and b"study.db" not in arguments
    assert arguments.split(b"\0")[1:4] == [b"-P", b"-m", b"annotate.serving.child"]


@pytest.mark.slow
async def test_no_shell_stands_between(serve: Serve, study: Path, tmp_path: Path) -> None:
    """A file name that a shell would run: it is only a name."""
    trap = tmp_path / "proof"
    strange = study.with_name("a;touch proof $(touch proof) `touch proof` '\"\n&.db")
    study.rename(strange)
    strange.rename(study)  # the server opens it under its usual name; the process is told the strange one
    served = await serve()
    served.server.place = type(served.server.place)(strange, served.server.place.side, served.server.place.uid)
    study.rename(strange)
    desk = await (await served.signed_in("Ada")).open()
    await desk.wait_for("of 24")
    assert not trap.exists() and not Path("proof").exists()


@pytest.mark.slow
async def test_a_stopping_server_ends_every_process(serve: Serve) -> None:
    served = await serve()
    desks = [await (await served.signed_in(name)).open() for name in ("Ada", "Ben")]
    for desk in desks:
        await desk.wait_for("of 24")
    pids = [served.pid(name) for name in ("Ada", "Ben")]
    ended = [asyncio.create_task(desk.end()) for desk in desks]
    await served.server.on_shutdown(None)  # type: ignore[arg-type]
    assert not any(alive(pid) for pid in pids)
    assert await asyncio.gather(*ended) == [1001, 1001]


@pytest.mark.slow
async def test_a_killed_process_costs_no_label(serve: Serve, study: Path) -> None:
    served = await serve()
    browser = await served.signed_in("Ada")
    desk = await browser.open()
    await desk.wait_for("of 24")
    await desk.label("h")
    os.kill(served.pid("Ada"), 9)
    assert await desk.end() == 4500 and desk.word["again"] == "Go on"
    again = await browser.open()
    await again.wait_for("1 done")
    assert len(labels_of(study, "Ada")) == 1


@pytest.mark.slow
async def test_a_hanging_process_is_ended(serve: Serve) -> None:
    served = await serve()
    desk = await (await served.signed_in("Ada")).open()
    await desk.wait_for("of 24")
    pid = served.pid("Ada")
    os.kill(pid, 19)  # SIGSTOP
    await desk.socket.close()
    assert await gone(pid)


@pytest.mark.slow
async def test_a_server_started_again_lets_the_coder_go_on(serve: Serve, study: Path) -> None:
    served = await serve()
    browser = await served.signed_in("Ada")
    desk = await browser.open()
    await desk.wait_for("of 24")
    await desk.label("h")
    await served.server.on_shutdown(None)  # type: ignore[arg-type]
    later = await serve(restarted=served)
    returned = later.make()
    cookie = "; ".join(f"{name}={value}" for name, value in browser.cookie().items())
    assert (await returned.web.get("/", headers={"Cookie": cookie})).status == 200
    returned.web.headers["Cookie"] = cookie
    again = await returned.open()
    await again.wait_for("1 done")
    again.done = 1
    await again.label("a")
    assert len(labels_of(study, "Ada")) == 2


@pytest.mark.slow
async def test_two_who_come_at_once_get_one_session(serve: Serve) -> None:
    served = await serve()
    browser = await served.signed_in("Ada")
    desks = await asyncio.gather(*(browser.open(f"tab-{n}") for n in range(5)))
    codes = await asyncio.gather(*(asyncio.wait_for(desk.end(), 3) for desk in desks), return_exceptions=True)
    assert sorted(map(str, codes)) == ["", "4009", "4009", "4009", "4009"]
    assert len(served.server.sessions) == 1
