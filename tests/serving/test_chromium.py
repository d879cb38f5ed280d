"""The whole way in a real browser: a headless Chromium, a server of its own, the labels read from the study file."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from .conftest import hold_in_terminal, labels_of
from .real import RealServer, alive, chromium, real_server, until

pytestmark = pytest.mark.slow
__all__ = ["chromium"]

KEYS = "haahahahah"
LABELS = [{"h": "HEDGE", "a": "ABSTAIN"}[key] for key in KEYS]


@pytest.fixture
def server(study: Path) -> Iterator[RealServer]:
    with real_server(study) as running:
        yield running


class Visitor:
    """One browser with its own cookies; ``requests`` are all that it made, ``complaints`` what its console said."""

    def __init__(self, chromium: Any, **options: Any) -> None:
        self.context = chromium.new_context(**({"viewport": {"width": 1280, "height": 800}} | options))
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.context.on("request", lambda request: self.requests.append(request.url))
        self.page = self.new_page()

    def new_page(self) -> Any:
        page = self.context.new_page()
        page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("websocket", lambda socket: self.requests.append(socket.url))
        return page

    def come(self, link: str) -> None:
        self.page.goto(link)
        self.at_work()

    def at_work(self) -> None:
        self.page.wait_for_selector("#state:has-text('Connected')", state="attached", timeout=20_000)
        self.page.wait_for_selector("body.-first-byte", timeout=20_000)

    def heading(self) -> str:
        self.page.wait_for_selector("#ended:not([hidden])", timeout=20_000)
        return str(self.page.inner_text("#ended-title"))


def test_log_in_label_ten_reload_go_on_sign_out(chromium: Any, server: RealServer, study: Path) -> None:
    ada = Visitor(chromium)
    ada.come(server.links["Ada"])
    assert ada.page.title() == "annotate: Ada" and ada.page.evaluate("document.documentElement.lang") == "en"
    assert "#" not in ada.page.url and "#" not in ada.page.evaluate("history.state + location.href")
    until(lambda: server.children())
    time.sleep(1)
    for number, key in enumerate(KEYS, start=1):
        ada.page.keyboard.press(key)
        until(lambda wanted=number: len(labels_of(study, "Ada")) == wanted)
        if number == 5:
            ada.page.reload()
            ada.at_work()
            time.sleep(1)
    assert labels_of(study, "Ada") == [(label, "sealed") for label in LABELS]
    with pytest.raises(Exception, match="already coding this study in another session"):
        hold_in_terminal(study, "Ada")
    (pid,) = server.children()
    (cookie,) = ada.context.cookies()
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict"
    assert ada.page.evaluate("document.cookie") == ""
    ada.page.click("#signout")
    ada.page.wait_for_selector("h1:has-text('You are signed out')")
    assert not alive(pid) and ada.context.cookies() == []
    ada.page.go_back()
    ada.page.wait_for_selector("h1:has-text('Not signed in')")

    thief = Visitor(chromium)
    thief.context.add_cookies([cookie])
    thief.page.goto(server.url)
    assert thief.page.inner_text("h1") == "Not signed in"
    assert not ada.complaints[:-1], ada.complaints  # the last is the 401 after going back


def test_no_request_leaves_the_host(chromium: Any, server: RealServer) -> None:
    ada = Visitor(chromium)
    ada.come(server.links["Ada"])
    time.sleep(1)
    ada.page.keyboard.press("h")
    ada.page.mouse.click(300, 300)
    time.sleep(0.5)
    assert len(ada.requests) > 8
    hosts = {urlsplit(url).netloc for url in ada.requests}
    assert hosts == {urlsplit(server.url).netloc}
    fonts = ada.page.evaluate("[...document.fonts].filter(font => font.status === 'loaded').map(font => font.family)")
    assert any("Roboto Mono" in family for family in fonts)
    assert ada.complaints == []


def test_an_address_in_a_response_opens_nothing(chromium: Any, server: RealServer) -> None:
    """textual-serve's terminal makes links of addresses; the page's policy lets none open."""
    ada = Visitor(chromium)
    ada.come(server.links["Ada"])
    assert ada.page.evaluate("window.open('https://evil.example/') === null")
    assert len(ada.context.pages) == 1
    ada.complaints.clear()
    ada.page.evaluate("fetch('https://evil.example/x').catch(() => 0)")
    ada.page.evaluate(
        "new Promise((done) => { const i = new Image(); i.onerror = done; i.src = 'https://evil.example/' })"
    )
    policy = [complaint for complaint in ada.complaints if "Content Security Policy" in complaint]
    assert any("connect-src" in each for each in policy) and any("img-src" in each for each in policy)


def test_a_guessed_link_and_an_incomplete_one_are_refused(chromium: Any, server: RealServer) -> None:
    stranger = Visitor(chromium)
    stranger.page.goto(f"{server.url}/enter#{'x' * 43}")
    stranger.page.wait_for_selector("#told:has-text('not valid')")
    stranger.page.goto("about:blank")
    stranger.page.goto(f"{server.url}/enter")
    stranger.page.wait_for_selector("#told:has-text('incomplete')")
    assert stranger.context.cookies() == [] and server.children() == []


def test_a_second_session_is_refused_in_another_browser_and_another_window(chromium: Any, server: RealServer) -> None:
    ada = Visitor(chromium)
    ada.come(server.links["Ada"])
    other = Visitor(chromium)
    other.page.goto(server.links["Ada"])
    other.page.wait_for_selector("#told:has-text('already at work in another browser')")
    assert other.page.is_visible("#retry")

    window = ada.new_page()
    window.goto(server.url)
    window.wait_for_selector("#ended-title:has-text('Open in another window')")
    assert len(server.children()) == 1
    window.click("#again")
    window.wait_for_selector("#state:has-text('Connected')", state="attached")
    assert ada.heading() == "You went on in another window"
    until(lambda: len(server.children()) == 1)


def test_a_coder_at_work_in_the_terminal_is_told_so(chromium: Any, server: RealServer, study: Path) -> None:
    with hold_in_terminal(study, "Ada"):
        ada = Visitor(chromium)
        ada.page.goto(server.links["Ada"])
        assert ada.heading() == "Not now"
        assert "already coding this study in another session" in ada.page.inner_text("#ended-text")
    ada.page.click("#again")
    ada.at_work()


def test_a_page_of_another_site_drives_nothing(chromium: Any, server: RealServer, study: Path, tmp_path: Path) -> None:
    """The attack that textual-serve allows: a page that the coder visits opens the socket and presses keys."""
    import http.server
    import threading

    socket = server.url.replace("http", "ws")
    page = f"""<title>evil</title><script>
      const told = [];
      const socket = new WebSocket("{socket}/ws?tab=x");
      socket.onopen = () => {{ told.push("opened"); socket.send(JSON.stringify(["stdin", "h"])); }};
      socket.onclose = () => told.push("closed");
      fetch("{server.url}/signout", {{method: "POST", mode: "no-cors", credentials: "include"}})
        .then(() => told.push("answered"), () => told.push("refused"));
    </script><form id=f method=post action="{server.url}/signout"></form>
    <iframe src="{server.url}/"></iframe>"""
    (tmp_path / "evil.html").write_text(page)

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments, directory=str(tmp_path))

        def log_message(self, *_: object) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as evil:
        threading.Thread(target=evil.serve_forever, daemon=True).start()
        ada = Visitor(chromium)
        ada.come(server.links["Ada"])
        tab = ada.new_page()
        for host in ("localhost", "127.0.0.1"):  # another site, and another port of the same
            tab.goto(f"http://{host}:{evil.server_port}/evil.html")
            tab.wait_for_function("told.includes('closed')")
            assert "opened" not in tab.evaluate("told")
            tab.evaluate("document.getElementById('f').submit()")
            tab.wait_for_selector("h1:has-text('Refused')")
        evil.shutdown()
    ada.page.keyboard.press("h")
    until(lambda: [label for label, _ in labels_of(study, "Ada")] == ["HEDGE"])
    assert len(server.children()) == 1


def test_a_frame_of_100_megabytes_is_refused(chromium: Any, server: RealServer, study: Path) -> None:
    ada = Visitor(chromium)
    ada.come(server.links["Ada"])
    code = ada.page.evaluate(
        """() => new Promise((done) => {
          const address = new URL(document.getElementById("terminal").dataset.sessionWebsocketUrl);
          const socket = new (Object.getPrototypeOf(WebSocket))(address + "?tab=other&take=1");
          socket.onopen = () => socket.send(JSON.stringify(["stdin", "h".repeat(100_000_000)]));
          socket.onclose = (event) => done(event.code);
        })"""
    )
    assert code in (1009, 1006)
    assert labels_of(study, "Ada") == []
    until(lambda: server.children() == [])
    memory = Path(f"/proc/{server.process.pid}/status").read_text()
    assert int(re.search(r"VmHWM:\s+(\d+)", memory)[1]) < 400_000  # type: ignore[index]
    ada.page.reload()
    ada.at_work()


def test_the_window_may_change_its_size(chromium: Any, server: RealServer) -> None:
    ada = Visitor(chromium)
    frames: list[str] = []
    ada.page.on("websocket", lambda socket: socket.on("framesent", lambda frame: frames.append(str(frame))))
    ada.come(server.links["Ada"])
    until(lambda: frames)
    ada.page.set_viewport_size({"width": 700, "height": 500})
    ada.page.wait_for_timeout(700)
    narrow = json.loads([frame for frame in frames if "resize" in frame][-1])[1]
    ada.page.set_viewport_size({"width": 1400, "height": 900})
    ada.page.wait_for_timeout(700)
    wide = json.loads([frame for frame in frames if "resize" in frame][-1])[1]
    assert 60 < narrow["width"] < 80 < wide["width"] and narrow["height"] < wide["height"]
    assert ada.page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    assert ada.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_larger_text_shows_fewer_columns_and_is_remembered(chromium: Any, server: RealServer) -> None:
    ada = Visitor(chromium)
    ada.come(server.links["Ada"])
    ada.page.click("#larger")
    ada.page.wait_for_selector("#terminal[data-font-size='18']")
    ada.at_work()
    ada.page.reload()
    ada.at_work()
    assert ada.page.evaluate("document.getElementById('terminal').dataset.fontSize") == "18"


def test_the_page_goes_on_by_itself_when_the_server_is_back(chromium: Any, study: Path) -> None:
    with real_server(study) as first:
        port = urlsplit(first.url).port
        ada = Visitor(chromium)
        ada.come(first.links["Ada"])
        time.sleep(1)
        ada.page.keyboard.press("h")
        until(lambda: len(labels_of(study, "Ada")) == 1)
        first.end()
        assert ada.heading() == "The server is stopping"
    with real_server(study, "--port", port):
        ada.page.wait_for_selector("#ended[hidden]", state="attached", timeout=20_000)
        ada.at_work()
        time.sleep(1)
        ada.page.keyboard.press("a")
        until(lambda: [label for label, _ in labels_of(study, "Ada")] == ["HEDGE", "ABSTAIN"])


def test_the_lead_sees_the_leads_screens_and_a_coder_does_not(chromium: Any, server: RealServer) -> None:
    lead = Visitor(chromium)
    lead.come(server.links["lead"])
    lead.page.click("text=Adjudicate")
    lead.at_work()
    assert lead.page.get_attribute("nav a[aria-current]", "href") == "?screen=adjudicate"
    ada = Visitor(chromium)
    ada.page.goto(server.links["Ada"])
    ada.at_work()
    ada.page.goto(f"{server.url}/?screen=dashboard")
    ada.at_work()
    assert not ada.page.is_visible("nav") and ada.page.get_attribute("body", "data-screen") == "code"


def test_without_scripts_the_page_says_where_the_plain_mode_is(chromium: Any, server: RealServer) -> None:
    visitor = Visitor(chromium, java_script_enabled=False)
    visitor.page.goto(server.links["Ada"])
    assert "annotate code STUDY.db --coder NAME --plain" in visitor.page.inner_text("noscript")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_around_the_terminal_can_be_read(chromium: Any, server: RealServer, scheme: str) -> None:
    """WCAG 2.1, 1.4.3: at least 4.5 to 1, computed here from what the browser says of each element."""
    ada = Visitor(chromium, color_scheme=scheme)
    ada.come(server.links["Ada"])
    ada.page.keyboard.press("q")
    time.sleep(0.5)
    ada.page.keyboard.press("y")
    ada.heading()
    pairs = ada.page.evaluate(
        """() => [...document.querySelectorAll("h1, h2, p, dt, dd, button, code, #state")].map((element) => {
          let under = element;
          const ground = (each) => getComputedStyle(each).backgroundColor;
          while (ground(under) === "rgba(0, 0, 0, 0)" && under.parentElement) under = under.parentElement;
          return [element.id || element.tagName, getComputedStyle(element).color, ground(under)];
        })"""
    )
    assert len(pairs) > 10
    for name, text, ground in pairs:
        assert contrast(text, ground) >= 4.5, (name, text, ground)


def contrast(one: str, other: str) -> float:
    """WCAG 2.1, relative luminance and contrast ratio."""

    def luminance(colour: str) -> float:
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_under_tls(chromium: Any, study: Path, tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path)
    with real_server(study, "--tls-cert", certificate, "--tls-key", key) as server:
        assert server.url.startswith("https://127.0.0.1:")
        ada = Visitor(chromium, ignore_https_errors=True)
        ada.come(server.links["Ada"])
        (cookie,) = ada.context.cookies()
        assert cookie["secure"] and cookie["name"].startswith("__Host-")
        assert {urlsplit(url).scheme for url in ada.requests} == {"https", "wss"}


def self_signed(folder: Path) -> tuple[Path, Path]:
    certificate, key = folder / "cert.pem", folder / "key.pem"
    try:
        subprocess.run(
            [
                *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"),
                *("-keyout", key, "-out", certificate),
            ],
            check=True,
            capture_output=True,
        )
    except FileNotFoundError:
        if os.environ.get("CI") == "true":
            pytest.fail("needs openssl")
        pytest.skip("needs openssl")
    return certificate, key
