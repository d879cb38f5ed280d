"""Every request that is not a coder's own is refused, and every answer binds the browser."""

from __future__ import annotations

import socket as sockets
from typing import Any

import aiohttp
import pytest

from annotate.serving.guesses import Guesses

from .conftest import Browser, Serve, Served

ADDRESSES = ["/", "/enter", "/alive", "/static/page.css", "/static/no", "/no", "/ws", "/static/", "/download/x"]


async def test_every_answer_binds_the_browser(serve: Serve) -> None:
    """The headers of the OWASP list for pages that embed nothing, on success and failure alike."""
    served = await serve()
    browser = await served.signed_in("Ada")
    for address in ADDRESSES:
        for headers in ({}, {"Host": "evil.example"}):
            answer = await browser.web.get(address, headers=headers)
            told = answer.headers
            policy = dict(part.strip().split(" ", 1) for part in told["Content-Security-Policy"].split(";"))
            assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'", address
            assert policy["script-src"] == "'self'"
            assert "unsafe" not in told["Content-Security-Policy"] and "*" not in told["Content-Security-Policy"]
            assert "allow-popups" not in policy["sandbox"]
            assert told["X-Frame-Options"] == "DENY" and told["X-Content-Type-Options"] == "nosniff"
            assert told["Referrer-Policy"] == "same-origin" and told["Cross-Origin-Opener-Policy"] == "same-origin"
            assert "aiohttp" not in told.get("Server", "") and "Python" not in told.get("Server", "")
            assert told["Cache-Control"] in ("no-store", "private, no-cache")


async def test_pages_name_no_other_site(serve: Serve) -> None:
    served = await serve()
    browser = await served.signed_in("Ada")
    for address in ("/", "/enter", "/nothing", "/static/page.css", "/static/desk.js", "/static/enter.js"):
        text = await (await browser.web.get(address)).text()
        for scheme in ("http:", "https:", "ws:", "wss:"):
            for part in text.split(scheme)[1:]:
                assert part.startswith(served.base.removeprefix("http:")), (address, part[:60])


async def test_a_page_says_its_language_title_and_the_plain_mode(serve: Serve) -> None:
    served = await serve()
    browser = await served.signed_in("Ada")
    for address in ("/", "/enter"):
        text = await (await browser.web.get(address)).text()
        assert '<html lang="en">' in text and "<title>annotate" in text
        assert "<noscript>" in text and "--plain" in text


OUTSIDE = [
    *("/static/../server.py", "/static/%2e%2e/server.py", "/static/..%2fserver.py", "/static//etc/passwd"),
    *("/static/desk.html", "/static/server.py", "/static/", "/static", "/static/page.css/", "/static/..%5cserver.py"),
    *("/static/page.css%00.js", "/../../etc/passwd", "/static/PAGE.css", "//static/page.css"),
]


async def test_only_listed_files_are_served_and_nothing_is_listed(serve: Serve) -> None:
    """Raw, because a client would tidy the path up."""
    served = await serve()
    host = served.base.removeprefix("http://")
    for path in OUTSIDE:
        answer = await raw(served, f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
        assert answer.startswith(("HTTP/1.1 404", "HTTP/1.1 400")), (path, answer[:200])
        assert "root:" not in answer and "def " not in answer and "page.css<" not in answer


async def raw(served: Served, request: str) -> str:
    import asyncio

    reader, writer = await asyncio.open_connection("127.0.0.1", int(served.base.rpartition(":")[2]))
    writer.write(request.encode())
    found = (await reader.read()).decode("utf-8", "replace")
    writer.close()
    return found


async def test_files_come_packed_and_are_asked_for_once(serve: Serve) -> None:
    served = await serve()
    browser = served.make()
    first = await browser.web.get("/static/textual.js")
    assert first.headers["Content-Encoding"] == "gzip" and len(await first.read()) > 400_000
    again = await browser.web.get("/static/textual.js", headers={"If-None-Match": first.headers["ETag"]})
    assert again.status == 304
    bare = await browser.web.get("/static/textual.js", headers={"Accept-Encoding": "identity"})
    assert await bare.read() == await first.read()


async def test_other_methods_are_refused(serve: Serve) -> None:
    served = await serve()
    browser = served.make()
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        for path in ("/", "/enter", "/signout", "/ws", "/static/page.css"):
            assert (await browser.web.request(method, path, headers=browser.headers())).status == 405
            assert (await browser.web.request(method, path)).status == 403


async def test_a_rebound_name_is_not_answered(serve: Serve) -> None:
    served = await serve()
    browser = await served.signed_in("Ada")
    for host in ("evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example", ""):
        for address in ("/", "/enter", "/ws", "/static/page.css"):
            answer = await browser.web.get(address, headers={"Host": host})
            assert answer.status == 403 and "textual-terminal" not in await answer.text()


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1", None])
async def test_a_foreign_page_can_do_nothing(serve: Serve, origin: str | None) -> None:
    served = await serve()
    browser = await served.signed_in("Ada")
    headers = {} if origin is None else {"Origin": origin}
    assert (await browser.web.post("/enter", data={"link": served.links["Ben"]}, headers=headers)).status == 403
    assert (await browser.web.post("/signout", headers=headers)).status == 403
    with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
        await browser.web.ws_connect("/ws", headers=headers)
    assert caught.value.status == 403
    assert (await browser.web.get("/")).status == 200, "the coder is still signed in"


async def test_a_page_of_another_site_may_lead_to_a_link_and_load_nothing(serve: Serve) -> None:
    served = await serve()
    browser = await served.signed_in("Ada")
    lead = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert (await browser.web.get("/enter", headers=lead)).status == 200
    for mode in ("no-cors", "cors", "websocket"):
        headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": mode}
        assert (await browser.web.get("/static/textual.js", headers=headers)).status == 403
    for site in ("cross-site", "same-site"):
        headers = browser.headers(**{"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"})
        assert (await browser.web.post("/signout", headers=headers)).status == 403


async def test_the_cookie_is_strict_and_out_of_reach_of_scripts(serve: Serve) -> None:
    served = await serve()
    browser = served.make()
    given = (await browser.enter(served.links["Ada"])).headers["Set-Cookie"]
    assert "HttpOnly" in given and "SameSite=Strict" in given and "Path=/" in given
    assert "Secure" not in given and "Domain" not in given and "expires" not in given.lower()
    assert served.links["Ada"] not in given
    assert (await browser.web.get("/")).status == 200


async def test_under_tls_the_cookie_is_secure_and_bound_to_the_host(serve: Serve) -> None:
    served = await serve(public_url="https://coding.example.org")
    browser = served.make()
    answer = await browser.enter(served.links["Ada"], Host="coding.example.org")
    given = answer.headers["Set-Cookie"]
    assert given.startswith("__Host-annotate-") and "Secure" in given and "SameSite=Strict" in given
    assert (await browser.web.get("/enter")).status == 403, "its own address is not the public one"


async def test_a_guessed_link_is_refused_and_guessing_is_slowed(serve: Serve) -> None:
    served = await serve(guesses=Guesses(wrong=3, window=60))
    browser = served.make()
    for guess in ("guess", "", served.links["Ada"][:-1]):
        answer = await browser.enter(guess)
        assert answer.status == 403 and not browser.cookie()
    slowed = await browser.enter(served.links["Ada"])
    assert slowed.status == 429 and int(slowed.headers["Retry-After"]) <= 60
    assert sum("not valid" in note for note in served.notes) == 3


async def test_what_is_posted_is_bounded_and_must_be_a_form(serve: Serve) -> None:
    served = await serve()
    browser = served.make()
    assert (await browser.enter("x" * 10_000)).status == 413
    for body in (b'{"link": 1}', b"\xff\xfe", b""):
        answer = await browser.web.post("/enter", data=body, headers=browser.headers())
        assert answer.status == 403


async def test_without_a_cookie_there_is_no_desk(serve: Serve) -> None:
    served = await serve()
    browser = served.make()
    for cookie in ("", "guess", "lead", served.links["Ada"]):
        headers = browser.headers(Cookie=f"{served.server.cookie}={cookie}")
        page = await browser.web.get("/", headers=headers)
        assert page.status == 401 and "textual-terminal" not in await page.text()
        assert (await browser.web.get("/alive", headers=headers)).status == 401
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await browser.web.ws_connect("/ws", headers=headers)


async def test_a_stolen_cookie_is_of_no_use_after_the_sign_out(serve: Serve) -> None:
    served = await serve()
    browser = await served.signed_in("Ada")
    stolen = "; ".join(f"{name}={value}" for name, value in browser.cookie().items())
    answer = await browser.web.post("/signout", headers=browser.headers())
    assert answer.status == 200 and "signed out" in await answer.text()
    thief = served.make()
    assert (await thief.web.get("/", headers={"Cookie": stolen})).status == 401
    with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
        await thief.web.ws_connect("/ws", headers=thief.headers(Cookie=stolen))
    assert caught.value.status == 401


async def test_names_are_escaped(serve: Serve, study: Any) -> None:
    from .conftest import quietly

    quietly("reassign", study, "--from", "Ben", "--to", "<script>alert(1)</script>")
    served = await serve()
    browser = await served.signed_in("<script>alert(1)</script>")
    text = await (await browser.web.get("/")).text()
    assert "<script>alert" not in text and "&lt;script&gt;alert" in text


async def test_forwarded_headers_are_believed_only_from_a_named_proxy(serve: Serve) -> None:
    public = "https://coding.example.org"
    untold = await serve(public_url=public)
    forwarded = {"X-Forwarded-Host": "coding.example.org", "X-Forwarded-Proto": "https"}
    forwarded["X-Forwarded-For"] = "203.0.113.9"
    assert (await untold.make().web.get("/enter", headers=forwarded)).status == 403
    wrong = await untold.make().enter("guess", Host="coding.example.org", **forwarded)
    assert wrong.status == 403 and "from 127.0.0.1." in untold.notes[-1]

    told = await serve(public_url=public, proxies=frozenset({"127.0.0.1"}))
    assert (await told.make().web.get("/enter", headers=forwarded)).status == 200
    await told.make().enter("guess", **forwarded)
    assert "from 203.0.113.9." in told.notes[-1]
    spoofed = forwarded | {"X-Forwarded-For": "198.51.100.1, 203.0.113.9"}
    await told.make().enter("guess", **spoofed)
    assert "from 203.0.113.9." in told.notes[-1], "the client's own claim comes first; the proxy's word is the last"
    bare = forwarded | {"X-Forwarded-Proto": "http"}
    assert (await told.make().web.get("/enter", headers=bare)).status == 403


async def test_a_proxy_may_say_that_every_connection_is_to_be_upgraded(serve: Serve) -> None:
    """nginx's usual lines send "Connection: upgrade" with each request, and Upgrade only where the browser did."""
    served = await serve()
    assert (await served.make().web.get("/enter", headers={"Connection": "upgrade"})).status == 200
    with_upgrade = {"Connection": "upgrade", "Upgrade": "websocket"}
    assert (await served.make().web.get("/", headers=with_upgrade)).status == 403


async def test_one_address_is_slowed_behind_a_proxy_and_not_the_others(serve: Serve) -> None:
    served = await serve(
        public_url="https://coding.example.org", proxies=frozenset({"127.0.0.1"}), guesses=Guesses(wrong=1)
    )

    def through(address: str) -> dict[str, str]:
        return {"Host": "coding.example.org", "X-Forwarded-For": address}

    assert (await served.make().enter("guess", **through("203.0.113.9"))).status == 403
    assert (await served.make().enter("guess", **through("203.0.113.9"))).status == 429
    assert (await served.make().enter(served.links["Ada"], **through("203.0.113.10"))).status == 204


async def test_a_fault_tells_the_browser_nothing(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """A canary in the error and in a local variable: neither the page, nor the log, nor the notes may hold the link."""
    served = await serve()
    browser = served.make()

    def broken(canary: str) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(served.access, "holder", broken)
    answer = await browser.enter(served.links["Ada"])
    assert answer.status == 500
    logs = list(served.server.place.side.glob("crash-*.log"))
    told = await answer.text() + " ".join(served.notes) + logs[0].read_text()
    assert served.links["Ada"] not in told and "Traceback" not in await answer.text()


async def test_only_this_machines_address_is_bound(serve: Serve, study: Any) -> None:
    """127.0.0.2 is this machine as well (RFC 1122, 3.2.1.3), but not what was bound."""
    from annotate.serving.running import _listen
    from annotate.serving.settings import Settings

    with _listen(Settings(study, port=0)) as listening:
        host, port = listening.getsockname()[:2]
        assert host == "127.0.0.1"
        with pytest.raises(ConnectionRefusedError):
            sockets.create_connection(("127.0.0.2", port), timeout=5)


def test_the_helper_sends_an_origin() -> None:
    assert Browser("http://a", None).headers() == {"Origin": "http://a"}  # type: ignore[arg-type]
