"""Starting a server: who is served, which links they get, and the socket it listens on."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from annotate.serving.access import LEAD, Access, Person
from annotate.serving.settings import Place, Settings
from db.coders import find_coder, list_coders
from db.errors import AnnotateError
from db.faults import Refused
from db.locks import FileLock
from db.overview import coder_progress
from db.study import Study, open_study

if TYPE_CHECKING:
    from annotate.serving.server import DeskServer

BACKLOG = 128


@dataclass(frozen=True, slots=True)
class Link:
    """What one person is sent. ``earlier``: links given before that still let them in."""

    name: str
    role: str
    url: str
    earlier: int


def run_server(
    settings: Settings,
    *,
    coders: Sequence[str] = (),
    lead: bool = True,
    fresh: bool = False,
    links: bool = True,
    say: Callable[[Settings, Sequence[Link]], None],
    note: Callable[[str], None],
) -> None:
    """Serve until interrupted. ``say`` is given the links once the server listens.

    ``coders``: only these. ``fresh``: links and sign-ins given before are void. ``links`` False: make no new ones.
    Raises AnnotateError.
    """
    settings = settings.checked()
    with open_study(settings.study) as study:
        people = served(study, coders, settings.lead if lead else None)
        place = Place(study.path, study.side, study.uid)
    held = FileLock(place.side / "serve.lock")
    if not held.acquire():
        raise Refused(f"{place.path}: is already being served.", "End the other 'annotate serve' first.")
    try:
        with closing(_listen(settings)) as listening:
            settings = replace(settings, study=place.path, port=listening.getsockname()[1])
            access = Access(place.side / "serve.json", place.uid, people, idle=settings.idle)
            if fresh:
                access.withdraw(people)
            server, context = _server(settings, place, access, note), _tls(settings)
            say(settings, _links(settings, access, people) if links else ())
            _run(server, listening, context)
    finally:
        held.release()


def served(study: Study, coders: Sequence[str], lead: str | None) -> list[Person]:
    """The people with something to code, or those that were named; and the lead. Raises Refused."""
    if coders:
        found = [find_coder(study.connection, name) for name in coders]
        wrong = next((coder for coder in found if coder.name is None or coder.kind == "imported"), None)
        if wrong is not None:
            raise Refused(f"{wrong.name or wrong.pseudonym} cannot code: imported or forgotten.", "Name another coder.")
    else:
        queues = {p.pseudonym for p in coder_progress(study) if p.round_kind != "adjudication" and p.total}
        found = [c for c in list_coders(study) if c.name and c.kind == "person" and c.pseudonym in queues]
        if not found and lead is None:
            raise AnnotateError(
                f"{study.path}: nobody has anything to code.", "'annotate assign' hands units to coders."
            )
    people = [Person(coder.uid, coder.name or coder.pseudonym, "coder") for coder in dict.fromkeys(found)]
    return people + ([Person(LEAD, lead, "lead")] if lead is not None else [])


def _links(settings: Settings, access: Access, people: Sequence[Person]) -> list[Link]:
    made = []
    for person in people:
        earlier = access.links_of(person)
        made.append(Link(person.name, person.role, f"{settings.base}/enter#{access.new_link(person)}", earlier))
    return made


def _server(settings: Settings, place: Place, access: Access, note: Callable[[str], None]) -> DeskServer:
    from annotate.serving.assets import assets

    assets()  # first: it says in one line where the extra is missing
    from annotate.serving.server import DeskServer

    return DeskServer(settings, place, access, note=note)


def _listen(settings: Settings) -> socket.socket:
    """A bound socket. Raises AnnotateError where the address cannot be had."""
    host, port = settings.host, settings.port
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except (OSError, UnicodeError, OverflowError) as error:
        told = getattr(error, "strerror", None) or str(error)
        raise AnnotateError(f"Cannot listen on {host}, port {port} ({told}).", "--port 0 takes a free one.") from error


def _tls(settings: Settings) -> object | None:
    if settings.tls_cert is None:
        return None
    import ssl

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(settings.tls_cert, settings.tls_key, password="")
    except (OSError, ssl.SSLError) as error:
        told = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
        raise AnnotateError(
            f"{settings.tls_cert}, {settings.tls_key}: cannot be used for TLS ({told}).",
            "PEM files are needed: a certificate with its chain, and its key without a passphrase.",
        ) from error
    return context


def _run(server: DeskServer, listening: socket.socket, context: object | None) -> None:
    """Until SIGINT or SIGTERM: connections are closed, sessions told, their processes ended."""
    from aiohttp import web

    server.initialize_logging()
    loop = asyncio.new_event_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(each, server.request_exit)
        except NotImplementedError:
            signal.signal(each, lambda *_: loop.call_soon_threadsafe(server.request_exit))
    web.run_app(
        server._make_app(),
        sock=listening,
        ssl_context=context,  # type: ignore[arg-type]
        handle_signals=False,
        loop=loop,
        print=None,
        access_log=None,
        shutdown_timeout=2.0,
    )
