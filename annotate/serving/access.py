"""Who may come in: a random link for each person, and the sign-ins that it was exchanged for. Only hashes are kept.

They lie in ``serve.json`` in the study's side folder, readable by its owner alone, so that a server that was started
again knows the cookies that it gave. A link and a cookie are 256 random bits each; their SHA-256 cannot be reversed by
trying, so that it needs neither salt nor stretching.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from db.clock import utc_now
from db.errors import AnnotateError

FORMAT = 1
SECRET_BYTES = 32
WRITE_EVERY = 60.0
"""Seconds: how exact the stored time of a person's last act is."""
LEAD = "lead"
Role = Literal["coder", "lead"]


@dataclass(frozen=True, slots=True)
class Person:
    """Who may sign in. ``key``: the coder's random id in the study, or "lead"."""

    key: str
    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class SignIn:
    """One exchange of a link for a cookie. ``seen``: Unix time of the last act under it."""

    person: Person
    digest: str
    seen: float


def digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def new_secret() -> str:
    """256 random bits in 43 characters that any mail program leaves alone."""
    return secrets.token_urlsafe(SECRET_BYTES)


class Access:
    """The links and sign-ins of one study, for the ``people`` who are served now."""

    def __init__(
        self, path: Path, study: str, people: Iterable[Person], *, idle: float, clock: Callable[[], float] = time.time
    ) -> None:
        self._path, self._study, self._idle, self._clock = path, study, idle, clock
        self.people = {person.key: person for person in people}
        self._links: dict[str, tuple[str, str]] = {}
        self._signins: dict[str, tuple[str, float]] = {}
        self._written = 0.0
        self._unwritten = False
        self._read()

    # --- links ----------------------------------------------------------------------------------

    def new_link(self, person: Person) -> str:
        """Another link for ``person``; it is not stored, and cannot be told again."""
        secret = new_secret()
        self._links[digest_of(secret)] = (person.key, utc_now())
        self._write()
        return secret

    def links_of(self, person: Person) -> int:
        """How many links let ``person`` in."""
        return sum(key == person.key for key, _ in self._links.values())

    def withdraw(self, people: Iterable[Person]) -> None:
        """No link and no cookie given so far lets these people in any more."""
        gone = {person.key for person in people}
        self._links = {digest: link for digest, link in self._links.items() if link[0] not in gone}
        self._signins = {digest: given for digest, given in self._signins.items() if given[0] not in gone}
        self._write()

    def holder(self, secret: str) -> Person | None:
        """Whose link this is; None for a guess, a link that was withdrawn, or a person who is not served now."""
        key, _ = self._links.get(digest_of(secret), ("", ""))
        return self.people.get(key)

    # --- sign-ins -------------------------------------------------------------------------------

    def sign_in(self, person: Person) -> str:
        """The value of a new cookie. Earlier ones of the same person are void from now on."""
        self._drop(person.key)
        secret = new_secret()
        self._signins[digest_of(secret)] = (person.key, self._clock())
        self._try_to_write()
        return secret

    def signed_in(self, cookie: str | None) -> SignIn | None:
        """Who comes with this cookie, if it is still good."""
        if not cookie:
            return None
        digest = digest_of(cookie)
        key, seen = self._signins.get(digest, ("", 0.0))
        person = self.people.get(key)
        if person is None or self._clock() - seen > self._idle:
            return None
        return SignIn(person, digest, seen)

    def touch(self, person: Person) -> None:
        """``person`` has just done something."""
        now = self._clock()
        for digest, (key, _) in self._signins.items():
            if key == person.key:
                self._signins[digest] = (key, now)
        if now - self._written > WRITE_EVERY:
            self._try_to_write()

    def sign_out(self, person: Person) -> None:
        self._drop(person.key)
        self._try_to_write()

    def idle(self) -> list[Person]:
        """Sign out those who have done nothing for too long; returns them."""
        now = self._clock()
        gone = [key for key, seen in self._signins.values() if now - seen > self._idle]
        for key in gone:
            self._drop(key)
        if gone or self._unwritten:
            self._try_to_write()
        return [self.people[key] for key in gone if key in self.people]

    def _drop(self, key: str) -> None:
        self._signins = {digest: given for digest, given in self._signins.items() if given[0] != key}

    # --- the file -------------------------------------------------------------------------------

    def _read(self) -> None:
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
            if found["format"] != FORMAT or found["study"] != self._study:
                return  # of another study that lay here, or of a later version: nobody is let in by it
            self._links = {str(d): (str(key), str(made)) for d, key, made in found["links"]}
            self._signins = {str(d): (str(key), float(seen)) for d, key, seen in found["signins"]}
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise AnnotateError(
                f"{self._path}: cannot be read ({type(error).__name__}).",
                "Delete it; links and sign-ins given so far are void then.",
            ) from error

    def _try_to_write(self) -> None:
        """A full disk must stop no coder, and no sign-out: what is known here holds, and is written when it can be."""
        self._written = self._clock()
        try:
            self._write()
            self._unwritten = False
        except OSError:
            self._unwritten = True

    def _write(self) -> None:
        facts = {
            "format": FORMAT,
            "study": self._study,
            "links": [[digest, *link] for digest, link in self._links.items()],
            "signins": [[digest, *given] for digest, given in self._signins.items()],
        }
        partial = self._path.with_name(self._path.name + ".part")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            json.dump(facts, file)
        partial.replace(self._path)


def as_lead(name: str) -> Person:
    return Person(LEAD, name, "lead")
