"""What every request and answer has to go through: names, origins, proxies, and the headers that bind a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from annotate.serving.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiohttp import web

POLICY: Final = {
    "default-src": "'none'",
    "script-src": "'self'",
    "font-src": "'self'",
    "img-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
    # No allow-popups: an address in a response that is clicked opens nothing.
    "sandbox": "allow-scripts allow-same-origin allow-forms",
    "require-trusted-types-for": "'script'",
}
HEADERS: Final = {
    "Server": "annotate",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    # Not no-referrer: browsers then send "Origin: null" with a form, also to the page's own server.
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), clipboard-read=(), display-capture=(), geolocation=(), microphone=(), usb=()",
    "X-Robots-Tag": "noindex",
}
SOCKET: Final = "/ws"
SAFE_METHODS: Final = frozenset({"GET", "HEAD"})
FORWARDED: Final = ("X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto")


def content_policy(settings: Settings, nonce: str = "") -> str:
    """The Content-Security-Policy of a page; ``nonce`` lets style elements of its scripts in."""
    socket = settings.origin.replace("http", "ws", 1)  # Safari before 15.4 does not count sockets as 'self'
    styles = f"'self' 'nonce-{nonce}'" if nonce else "'self'"
    policy = POLICY | {"style-src": styles, "connect-src": f"'self' {socket}"}
    return "; ".join(f"{name} {value}" for name, value in policy.items())


def bind(settings: Settings, headers: Mapping[str, str], nonce: str = "") -> dict[str, str]:
    """The headers that an answer needs besides those that it has."""
    wanted = HEADERS | {"Content-Security-Policy": content_policy(settings, nonce), "Cache-Control": "no-store"}
    return {name: value for name, value in wanted.items() if name == "Server" or name not in headers}


def objection(settings: Settings, request: web.Request) -> str:
    """Why a request is not answered at all; '' where it may go on."""
    if through_proxy(settings, request):
        if settings.secure and request.headers.get("X-Forwarded-Proto", "https").lower() != "https":
            return f"Open {settings.base} instead."
        host = request.headers.get("X-Forwarded-Host", request.headers.get("Host", ""))
    else:
        host = request.headers.get("Host", "")
    if _host(settings, host) not in settings.hosts:
        return "This server does not answer under that name."
    return _foreign(settings, request)


def address_of(settings: Settings, request: web.Request) -> str:
    """Where a request comes from: the peer, or what a proxy that is believed says of it."""
    peer = request.remote or ""
    if not through_proxy(settings, request):
        return peer
    return request.headers.get("X-Forwarded-For", peer).rpartition(",")[2].strip() or peer


def through_proxy(settings: Settings, request: web.Request) -> bool:
    return request.remote in settings.proxies


def _host(settings: Settings, host: str) -> str:
    return host.lower().removesuffix(":443" if settings.secure else ":80")


def _foreign(settings: Settings, request: web.Request) -> str:
    """A page of another site may lead here, and do nothing else: no POST, no socket, not even from another port."""
    origin = request.headers.get("Origin")
    acts = request.method not in SAFE_METHODS or request.path == SOCKET or "Upgrade" in request.headers
    if acts and origin is None:
        return "The browser did not say which page asks."
    if origin is not None and origin.lower() not in settings.origins:
        return "Another site asked for this."
    site = request.headers.get("Sec-Fetch-Site", "same-origin")
    led_here = request.headers.get("Sec-Fetch-Mode") == "navigate" and not acts
    if site not in ("same-origin", "none") and not led_here:
        return "Another site asked for this."
    return ""
