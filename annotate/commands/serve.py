"""annotate serve: code in a browser, for coders without a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from annotate.commands.options import example, json_option, study_argument

if TYPE_CHECKING:
    from annotate.serving import Link, Settings

EXAMPLES = example(
    "annotate serve study.db",
    "annotate serve study.db --coder Ada --coder Ben --port 8443 --tls-cert cert.pem --tls-key key.pem",
    "annotate serve study.db --public-url https://coding.example.org --proxy 127.0.0.1",
)


@click.command(epilog=EXAMPLES)
@study_argument
@click.option("--coder", "coders", multiple=True, metavar="NAME", help="Only this coder; may be repeated.")
@click.option("--lead", default="lead", show_default=True, metavar="NAME", help="Whose name final labels get.")
@click.option("--no-lead", is_flag=True, help="No link for the lead's screens.")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where to listen.")
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="Which port; 0 takes a free one."
)
@click.option("--public-url", default="", metavar="URL", help="What coders type, if that is another address.")
@click.option("--tls-cert", type=click.Path(path_type=Path), metavar="FILE", help="Certificate with its chain, PEM.")
@click.option("--tls-key", type=click.Path(path_type=Path), metavar="FILE", help="Its key, PEM.")
@click.option("--proxy", "proxies", multiple=True, metavar="IP", help="Believe X-Forwarded headers from here.")
@click.option("--max-sessions", default=30, show_default=True, type=click.IntRange(1), help="At most so many at once.")
@click.option(
    "--idle",
    default=30.0,
    show_default=True,
    type=click.FloatRange(min=0, min_open=True),
    metavar="MINUTES",
    help="Sign out whoever does nothing for so long.",
)
@click.option("--new-links", is_flag=True, help="Links and sign-ins given before are void from now on.")
@click.option("--no-links", is_flag=True, help="Make and print no links; those given before stay good.")
@click.option("--quiet", is_flag=True, help="Do not say who comes and goes.")
@click.option("--plain", is_flag=True, help="Links as one line a person: for screen readers.")
@json_option
def serve(
    study: Path,
    coders: tuple[str, ...],
    no_lead: bool,
    new_links: bool,
    no_links: bool,
    quiet: bool,
    plain: bool,
    as_json: bool,
    proxies: tuple[str, ...],
    idle: float,
    **told: object,
) -> None:
    """Code in a browser, for coders without a terminal.

    Prints one link for each coder and one for the lead, and serves until Ctrl+C. A link is a key: send each to its
    coder alone. It stays good until --new-links; only its hash is stored, so that each start prints another one beside
    it. Listens on this machine alone unless told otherwise. docs/browser.md: TLS, proxies, what coders see.
    """
    from annotate.console import notice
    from annotate.serving import Settings, run_server

    def say(settings: Settings, links: Sequence[Link]) -> None:
        _say(settings, links, plain=plain, as_json=as_json)

    settings = Settings(study, proxies=frozenset(proxies), idle=idle * 60, **told)  # type: ignore[arg-type]
    run_server(
        settings,
        coders=coders,
        lead=not no_lead,
        fresh=new_links,
        links=not no_links,
        say=say,
        note=(lambda _: None) if quiet else notice,
    )


def _say(settings: Settings, links: Sequence[Link], *, plain: bool, as_json: bool) -> None:
    import sys
    from dataclasses import asdict

    from annotate.console import emit_json, notice, speaks_plainly, visible

    if as_json:
        emit_json({"url": settings.base, "links": [asdict(link) for link in links]})
    elif plain or speaks_plainly():
        for link in links:
            click.echo(visible(f"{link.role}: {link.name}; link: {link.url}"))
    else:
        for link in links:
            who = link.name if link.role == "coder" else f"{link.name} (the lead: dashboard, adjudication)"
            click.echo(visible(f"{who}\n  {link.url}"))
    earlier = sum(link.earlier for link in links)
    if earlier:
        notice(f"{earlier:,} links given before are still good; --new-links makes them void.")
    if settings.exposed:
        notice("Without TLS, anybody on the way can read links, texts and labels: --tls-cert, or a proxy with TLS.")
    notice(f"Serving on {settings.base}; Ctrl+C ends it.")
    sys.stdout.flush()
