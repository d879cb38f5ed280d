"""What a server was told: where it listens, how coders reach it, and its limits. Checked once, at the start."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from db.errors import AnnotateError

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Settings:
    """``idle`` in seconds. ``proxies``: addresses whose X-Forwarded headers are believed. ``port`` 0: a free one.

    ``public_url`` is what coders type; "" where they reach the server directly. ``lead``: whose name final labels get.
    """

    study: Path
    host: str = "127.0.0.1"
    port: int = 8000
    public_url: str = ""
    tls_cert: Path | None = None
    tls_key: Path | None = None
    proxies: frozenset[str] = frozenset()
    max_sessions: int = 30
    idle: float = 30 * 60.0
    lead: str = "lead"

    @property
    def tls(self) -> bool:
        """Whether this process itself speaks TLS."""
        return self.tls_cert is not None

    @property
    def base(self) -> str:
        """The address of the start page, without a slash at its end."""
        if self.public_url:
            return self.public_url.rstrip("/")
        return f"{'https' if self.tls else 'http'}://{_in_url(self.host)}:{self.port}"

    @property
    def origin(self) -> str:
        """The one origin that may act: scheme, host, and the port unless it is the scheme's own."""
        parts = urlsplit(self.base)
        return f"{parts.scheme}://{_without_default_port(parts.scheme, parts.netloc)}".lower()

    @property
    def origins(self) -> frozenset[str]:
        """Origins that mean this server: the public one, or every name of the loopback address."""
        scheme = self.origin.partition("://")[0]
        return frozenset(f"{scheme}://{host}" for host in self.hosts)

    @property
    def hosts(self) -> frozenset[str]:
        """The values of the Host header that are answered; anything else may be a rebound name."""
        scheme, _, host = self.origin.partition("://")
        if self.public_url or not is_loopback(self.host):
            return frozenset({host})
        return frozenset(_without_default_port(scheme, f"{name}:{self.port}") for name in LOOPBACK_NAMES)

    @property
    def secure(self) -> bool:
        """Whether coders come over TLS, here or at a proxy."""
        return self.origin.startswith("https://")

    @property
    def exposed(self) -> bool:
        """Whether keys and texts could be read on the way: no TLS, and not this machine alone."""
        names = [self.host, *([urlsplit(self.public_url).hostname or ""] if self.public_url else [])]
        return not self.secure and not all(map(is_loopback, names))

    def at(self, port: int) -> Settings:
        """The same with the port that was really taken."""
        return replace(self, port=port)

    def checked(self) -> Settings:
        """This, or AnnotateError in one line."""
        if (self.tls_cert is None) != (self.tls_key is None):
            raise AnnotateError("TLS needs a certificate and its key.", "Give both --tls-cert and --tls-key.")
        for address in self.proxies:
            if not _is_address(address):
                raise AnnotateError(f"--proxy {address}: is not an IP address.", "For instance --proxy 127.0.0.1")
        if self.public_url:
            self._check_public_url()
        elif self.host in ("", "0.0.0.0", "::"):
            raise AnnotateError(
                f"--host {self.host or '(empty)'} listens everywhere, so the address that coders type is not known.",
                "Add it: --public-url http://NAME:PORT (https:// behind a proxy or with --tls-cert).",
            )
        return self

    def _check_public_url(self) -> None:
        try:
            parts = urlsplit(self.public_url)
            parts.port  # noqa: B018 (raises ValueError for a port that is none)
        except ValueError as error:
            raise AnnotateError(f"--public-url {self.public_url}: {error}.") from None
        whole = parts.scheme in ("http", "https") and parts.hostname and not (parts.username or parts.password)
        if not whole or parts.query or parts.fragment or parts.path not in ("", "/"):
            raise AnnotateError(
                f"--public-url {self.public_url}: must be scheme and host alone.", "As in https://coding.example.org"
            )
        if not self.public_url.isascii():
            raise AnnotateError(f"--public-url {self.public_url}: write the name as browsers send it (xn--…).")
        if self.tls and parts.scheme != "https":
            raise AnnotateError(
                f"--public-url {self.public_url} is not TLS, but --tls-cert is given.", "Use https:// there."
            )


@dataclass(frozen=True, slots=True)
class Place:
    """The study as its sessions know it. ``uid`` tells the cookies of two servers on one machine apart."""

    path: Path
    side: Path
    uid: str


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _without_default_port(scheme: str, netloc: str) -> str:
    default = ":443" if scheme == "https" else ":80"
    return netloc.removesuffix(default)
