"""The server: textual-serve's, with people, sessions and limits. Its routes are few, and each says who may use it."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from aiohttp import web
from textual_serve.server import Server

from annotate.serving.access import Access, Person, SignIn
from annotate.serving.assets import send
from annotate.serving.child import Job, Screen
from annotate.serving.guard import SOCKET, address_of, bind, objection
from annotate.serving.guesses import Guesses
from annotate.serving.messages import MAX_MESSAGE, Size, pass_on, size_of
from annotate.serving.pages import desk_page, door_page, error_page, message_page
from annotate.serving.process import DeskProcess, Ending
from annotate.serving.sessions import (
    BROKE,
    IDLE,
    MISUSED,
    SIGNED_OUT,
    STOPPING,
    Session,
    Sessions,
    Word,
    say,
)
from annotate.serving.settings import Place, Settings

HEARTBEAT: Final = 10.0
LOOK_FOR_IDLE: Final = 5.0
MAX_FORM: Final = 4096
SECONDS_TO_CLOSE: Final = 2.0
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
CANNOT: Final = "Your queue cannot be opened. Try again; if it stays so, ask whoever leads the study."
OPEN_YOUR_LINK: Final = "Open the link that you were given. If you have none, ask whoever leads the study."
LEAD_SCREENS: Final[dict[str, Screen]] = {"dashboard": "dashboard", "adjudicate": "adjudicate"}


class DeskServer(Server):
    """Serves one study. ``note`` is told, in a line without secrets, who comes and goes."""

    def __init__(
        self,
        settings: Settings,
        place: Place,
        access: Access,
        *,
        note: Callable[[str], None] = lambda _: None,
        guesses: Guesses | None = None,
    ) -> None:
        super().__init__("", host=settings.host, port=settings.port, title="annotate", public_url=settings.base)
        self.settings, self.place, self.access, self.note = settings, place, access, note
        self.sessions = Sessions(settings.max_sessions)
        self._guesses = guesses or Guesses()
        self._janitor: asyncio.Task[None] | None = None

    # --- set up ---------------------------------------------------------------------------------

    def initialize_logging(self) -> None:
        """Without tracebacks that hold local variables, as textual-serve's have: they could hold a link or a text."""
        logging.getLogger("aiohttp").setLevel(logging.CRITICAL)
        logging.getLogger("textual-serve").setLevel(logging.CRITICAL)

    async def _make_app(self) -> web.Application:
        app = web.Application(middlewares=[self._guarded()], client_max_size=MAX_FORM)
        app.add_routes(
            [
                web.get("/", self.handle_index),
                web.get("/enter", self.handle_door),
                web.post("/enter", self.handle_enter),
                web.post("/signout", self.handle_sign_out),
                web.get("/alive", self.handle_alive),
                web.get(SOCKET, self.handle_websocket),
                web.get("/static/{name}", self.handle_static),
            ]
        )
        app.on_response_prepare.append(self._bind_headers)
        app.on_startup.append(self.on_startup)
        app.on_shutdown.append(self.on_shutdown)
        return app

    async def on_startup(self, app: web.Application) -> None:
        self._janitor = asyncio.create_task(self._watch_for_idle())

    async def on_shutdown(self, app: web.Application) -> None:
        if self._janitor is not None:
            self._janitor.cancel()
        await self.sessions.end_all(STOPPING)

    def _guarded(self) -> Any:
        @web.middleware
        async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
            why = objection(self.settings, request)
            if why:
                return message_page(self.settings, 403, "Refused", why)
            try:
                return await handler(request)
            except web.HTTPException as error:
                page = error_page(self.settings, error.status)
                page.headers.update({"Allow": error.headers["Allow"]} if "Allow" in error.headers else {})
                return page
            except Exception as error:
                self._log_fault(error)
                return error_page(self.settings, 500)

        return guarded

    async def _bind_headers(self, request: web.Request, response: web.StreamResponse) -> None:
        response.headers.update(bind(self.settings, response.headers))

    def _log_fault(self, error: Exception) -> None:
        from annotate.faults import crash_log

        with suppress(OSError):
            self.note(f"A fault in the server; details: {crash_log(error, [str(self.place.path)])}")

    # --- who ------------------------------------------------------------------------------------

    @property
    def cookie(self) -> str:
        """Ports do not keep cookies apart, so that the name does. __Host-: no other name of the site can set it."""
        name = f"annotate-{self.place.uid[:8]}"
        return f"__Host-{name}" if self.settings.secure else name

    def _who(self, request: web.Request) -> SignIn | None:
        return self.access.signed_in(request.cookies.get(self.cookie))

    # --- pages ----------------------------------------------------------------------------------

    async def handle_index(self, request: web.Request) -> web.StreamResponse:
        signed = self._who(request)
        if signed is None:
            return message_page(self.settings, 401, "Not signed in", OPEN_YOUR_LINK)
        return desk_page(self.settings, signed.person, _screen(signed.person, request))

    async def handle_door(self, request: web.Request) -> web.StreamResponse:
        return door_page(self.settings)

    async def handle_static(self, request: web.Request) -> web.StreamResponse:
        return send(request, request.match_info["name"])

    async def handle_alive(self, request: web.Request) -> web.StreamResponse:
        return web.Response(status=204 if self._who(request) else 401)

    async def handle_enter(self, request: web.Request) -> web.StreamResponse:
        """Exchange a link for a cookie."""
        address = address_of(self.settings, request)
        wait = self._guesses.wait(address)
        if wait:
            told = {"message": f"Too many wrong links. Try again in {wait:.0f} seconds."}
            return web.json_response(told, status=429, headers={"Retry-After": f"{wait:.0f}"})
        given = (await request.post()).get("link", "")
        person = self.access.holder(given) if isinstance(given, str) else None
        if person is None:
            self._guesses.failed(address)
            self.note(f"A link that is not valid was tried from {address}.")
            return web.json_response({"message": f"This link is not valid (any more). {OPEN_YOUR_LINK}"}, status=403)
        return self._let_in(request, person, address)

    def _let_in(self, request: web.Request, person: Person, address: str) -> web.StreamResponse:
        signed = self._who(request)
        same = signed is not None and signed.person.key == person.key
        if not same and self.sessions.of(person) is not None:
            self.note(f"{person.name}: a second session was refused ({address}).")
            return web.json_response({"message": _at_work(person)}, status=409)
        response = web.Response(status=204)
        if not same:
            secret = self.access.sign_in(person)
            response.set_cookie(
                self.cookie, secret, path="/", httponly=True, samesite="Strict", secure=self.settings.secure
            )
            self.note(f"{person.name} signed in ({address}).")
        return response

    async def handle_sign_out(self, request: web.Request) -> web.StreamResponse:
        signed = self._who(request)
        if signed is not None:
            self.access.sign_out(signed.person)
            await self.sessions.end_of(signed.person, SIGNED_OUT)
            self.note(f"{signed.person.name} signed out.")
        page = message_page(self.settings, 200, SIGNED_OUT.title, SIGNED_OUT.text)
        page.del_cookie(self.cookie, path="/", httponly=True, samesite="Strict", secure=self.settings.secure)
        return page

    # --- a session ------------------------------------------------------------------------------

    async def handle_websocket(self, request: web.Request) -> web.StreamResponse:  # type: ignore[override]
        signed = self._who(request)
        if signed is None:
            return message_page(self.settings, 401, "Not signed in", OPEN_YOUR_LINK)
        socket = web.WebSocketResponse(
            heartbeat=HEARTBEAT, max_msg_size=MAX_MESSAGE, timeout=SECONDS_TO_CLOSE, compress=True
        )
        await socket.prepare(request)
        session = Session(signed.person, request.query.get("tab", "")[:64], socket)
        refusal = await self.sessions.begin(session, take=request.query.get("take") == "1")
        if refusal is not None:
            await say(socket, refusal)
            return socket
        try:
            if self._who(request) is None:  # signed out while it waited for its turn
                await session.end(SIGNED_OUT)
            else:
                await self._serve(request, session)
        except Exception as error:  # the connection stands already: there is no page to answer with
            self._log_fault(error)
            await session.end(BROKE)
        finally:
            await session.end(None)
        return socket

    async def _serve(self, request: web.Request, session: Session) -> None:
        person, socket = session.person, session.socket

        async def on_end(ending: Ending) -> None:
            self.note(_noted(person, ending))
            await session.end(_word(person, ending))

        session.process = DeskProcess(
            self._job(request, person), self._config(person), write_bytes=socket.send_bytes, on_end=on_end
        )
        size = size_of(request.query.get("width"), request.query.get("height")) or Size(80, 24)
        self.access.touch(person)
        await session.process.start(size.width, size.height)
        if session.ending:  # signed out, or taken over, while the process was being started
            await session.process.stop()
            return
        self.note(f"{person.name} is at work ({len(self.sessions)} open).")
        fair = await pass_on(socket, session.process, lambda: self.access.touch(person))
        if not fair:
            await session.end(MISUSED)

    def _job(self, request: web.Request, person: Person) -> Job:
        who = person.name if person.role == "lead" else person.key
        theme = request.query.get("theme", "")
        return Job(str(self.place.path), _screen(person, request), who, theme, os.getpid())

    def _config(self, person: Person) -> Path:
        """Where this person's theme is kept; it also stands for a home, so that the lead's is not used."""
        from db.places import private_folder

        return private_folder(private_folder(self.place.side / "browser") / person.key)

    async def _watch_for_idle(self) -> None:
        while True:
            await asyncio.sleep(min(LOOK_FOR_IDLE, self.settings.idle / 4))
            try:
                for person in self.access.idle():
                    self.note(f"{person.name} was away and is signed out.")
                    await self.sessions.end_of(person, IDLE)
            except Exception as error:
                self._log_fault(error)


def _screen(person: Person, request: web.Request) -> Screen:
    """What is shown: a coder's own queue, whatever was asked for; the lead's screens to the lead alone."""
    if person.role != "lead":
        return "code"
    return LEAD_SCREENS.get(request.query.get("screen", ""), "dashboard")


def _at_work(person: Person) -> str:
    return (
        f"{person.name} is already at work in another browser. Go on there, or sign out there; "
        f"if it was closed or lost its connection, try again in {3 * HEARTBEAT:.0f} seconds."
    )


def _noted(person: Person, ending: Ending) -> str:
    if ending.refused:
        return f"{person.name} was refused: {ending.refused}"
    return f"{person.name}'s desk stopped by an error." if ending.fault else f"{person.name} left the desk."


def _word(person: Person, ending: Ending) -> Word:
    """A coder is not told of files, or of other coders: what else went wrong is said to the lead."""
    if ending.fault:
        return BROKE
    if ending.refused:
        told = ending.refused if ending.taken or person.role == "lead" else CANNOT
        return Word(4003, "Not now", told, (), "Try again")
    return Word(4000, "You left the desk", "Everything is saved.", ending.lines, "Go on")
