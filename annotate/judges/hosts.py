"""Which host gets the study's texts: taken from one place, shown, and agreed to once."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from urllib.parse import urlsplit

from annotate.console import notice
from db.errors import AnnotateError
from db.judging import JudgingStore

DEFAULT_BASE_URL = "https://api.openai.com/v1"
_LOCAL = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Target:
    """Where calls go. ``host`` is what a person agrees to: the name, with the port where it is not the usual one."""

    base_url: str
    host: str
    local: bool
    encrypted: bool


def target(base_url: str | None) -> Target:
    """The target of ``--base-url``, else of OPENAI_BASE_URL, else OpenAI. Raises AnnotateError for no plain URL."""
    url = (base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_BASE_URL).strip().rstrip("/")
    try:
        parts = urlsplit(url)
        name, port = parts.hostname, parts.port
    except ValueError:
        name, port, parts = None, None, urlsplit("")
    if parts.scheme not in ("http", "https") or not name:
        raise AnnotateError("--base-url: not an http or https address.", "Write it like https://api.example.org/v1")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise AnnotateError(
            "--base-url: a user, password or query in an address would be stored with the judge.",
            "Put the key in the environment variable that --key-env names.",
        )
    local = name in _LOCAL
    bracketed = f"[{name}]" if ":" in name else name
    usual = 443 if parts.scheme == "https" else 80
    host = bracketed if port in (None, usual) else f"{bracketed}:{port}"
    return Target(url, host, local, encrypted=parts.scheme == "https" or local)


def confirm(store: JudgingStore, where: Target, what: str, yes_send_to: str | None) -> None:
    """Say which host receives what; ask once a study and host, or take ``--yes-send-to HOST`` for the answer."""
    notice(f"{what} to {where.host}{'' if where.encrypted else ', unencrypted (http)'}.")
    if yes_send_to is not None and yes_send_to != where.host:
        raise AnnotateError(
            f"--yes-send-to names {yes_send_to!r}, but the calls would go to {where.host!r}.",
            "Name that host, or change --base-url.",
        )
    if where.host in store.confirmed_hosts():
        return
    if yes_send_to is None and not _asked(where.host):
        raise AnnotateError(
            f"Nothing was sent: nobody has agreed that this study's texts go to {where.host}.",
            f"If they may, add: --yes-send-to {where.host}",
        )
    store.confirm_host(where.host)


def _asked(host: str) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    import click

    return click.confirm(f"May questions, gold answers, rationales and responses of this study go to {host}?", err=True)
