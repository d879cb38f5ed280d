"""The pages: a desk, a door, and a message. Everything shown in them is escaped by the template engine."""

from __future__ import annotations

import secrets
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

from annotate.serving.guard import bind
from annotate.serving.settings import Settings

if TYPE_CHECKING:
    from aiohttp import web
    from jinja2 import Environment

    from annotate.serving.access import Person

HERE = Path(__file__).parent
PLAIN = {
    "code": "annotate code STUDY.db --coder NAME --plain",
    "dashboard": "annotate dashboard STUDY.db --plain",
    "adjudicate": "annotate adjudicate STUDY.db --by NAME --plain",
}
"""The same in lines, for screen readers."""


def desk_page(settings: Settings, person: Person, screen: str) -> web.Response:
    """The page with the terminal in it."""
    nonce = secrets.token_urlsafe(16)
    socket = settings.base.replace("http", "ws", 1)
    return _page(
        settings, "desk.html", nonce=nonce, person=person, screen=screen, plain=PLAIN[screen], socket=f"{socket}/ws"
    )


def door_page(settings: Settings) -> web.Response:
    """Where a link leads. The secret stands behind the # of the address, which a browser sends to nobody."""
    return _page(settings, "enter.html")


def message_page(settings: Settings, status: int, title: str, text: str = "", again: str = "") -> web.Response:
    """One message, and perhaps a link to the start page (``again``: its words)."""
    return _page(settings, "message.html", status=status, title=title, text=text, again=again)


def error_page(settings: Settings, status: int) -> web.Response:
    texts = {
        404: "There is nothing at this address. Coders open the link that they were given.",
        405: "This address is not used that way.",
        413: "That was too large.",
        500: "An error in the program; its details lie beside the study. Everything marked ✓ is saved.",
    }
    return message_page(settings, status, HTTPStatus(status).phrase, texts.get(status, ""))


def _page(settings: Settings, name: str, *, status: int = 200, nonce: str = "", **values: object) -> web.Response:
    from aiohttp import web

    text = _templates().get_template(name).render(nonce=nonce, **values)
    response = web.Response(text=text, status=status, content_type="text/html")
    response.headers.update(bind(settings, response.headers, nonce))
    return response


@cache
def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
