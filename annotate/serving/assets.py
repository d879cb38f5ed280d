"""The files that pages load: a short list, read once. There is no folder to list and no path to climb out of."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiohttp import web

HERE = Path(__file__).parent
OWN = {
    "page.css": "text/css",
    "before.js": "text/javascript",
    "desk.js": "text/javascript",
    "enter.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
FROM_TEXTUAL_SERVE = {
    "textual.js": ("js/textual.js", "text/javascript"),
    "xterm.css": ("css/xterm.css", "text/css"),
    "RobotoMono.ttf": ("fonts/RobotoMono-VariableFont_wght.ttf", "font/ttf"),
    "RobotoMono-Italic.ttf": ("fonts/RobotoMono-Italic-VariableFont_wght.ttf", "font/ttf"),
}
ICON = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0b57a4"/>'
    b'<path d="M4 8.5l3 3 5-7" fill="none" stroke="#fff" stroke-width="2"/></svg>'
)


@dataclass(frozen=True, slots=True)
class Asset:
    """``packed``: the same, gzipped once and not for each coder."""

    body: bytes
    packed: bytes
    kind: str
    tag: str


@cache
def assets() -> dict[str, Asset]:
    """All files by name. Raises OSError where the installation is incomplete."""
    import textual_serve

    static = Path(textual_serve.__path__[0]) / "static"
    found = {name: _asset(ICON if name == "icon.svg" else (HERE / name).read_bytes(), OWN[name]) for name in OWN}
    return found | {n: _asset((static / path).read_bytes(), kind) for n, (path, kind) in FROM_TEXTUAL_SERVE.items()}


def _asset(body: bytes, kind: str) -> Asset:
    text = kind.startswith(("text/", "image/svg"))
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    return Asset(body, gzip.compress(body, mtime=0), kind + ("; charset=utf-8" if text else ""), tag)


def send(request: web.Request, name: str) -> web.Response:
    """The file of that name, packed where the browser can unpack it. Raises HTTPNotFound."""
    from aiohttp import web

    asset = assets().get(name)
    if asset is None:
        raise web.HTTPNotFound
    headers = {
        "Content-Type": asset.kind,
        "ETag": asset.tag,
        "Cache-Control": "private, no-cache",
        "Vary": "Accept-Encoding",
    }
    if request.headers.get("If-None-Match") == asset.tag:
        return web.Response(status=304, headers=headers)
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        return web.Response(body=asset.packed, headers=headers | {"Content-Encoding": "gzip"})
    return web.Response(body=asset.body, headers=headers)
