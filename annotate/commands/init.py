"""annotate init: make a study file."""

from __future__ import annotations

from pathlib import Path

import click

from annotate.commands.options import example, json_option, study_argument


@click.command(epilog=example("annotate init humility.db", "annotate init safety.db --protocol refusal"))
@study_argument
@click.option(
    "--protocol",
    "protocol_name",
    default="ehq",
    show_default=True,
    metavar="NAME|FILE.toml",
    help="The codebook: one that ships ('annotate protocol list') or your own file.",
)
@click.option("--title", default="", metavar="TEXT", help="What the study is called in its report.")
@json_option
def init(study: Path, protocol_name: str, title: str, as_json: bool) -> None:
    """Make a study file.

    A study is one SQLite file with its protocol inside. Nothing is ever written over: an existing file is refused.
    """
    from annotate.console import emit_json, typed
    from annotate.protocols import load_protocol
    from db.study import create_study

    protocol = load_protocol(protocol_name)
    with create_study(study, protocol, title=title or study.stem) as made:
        if as_json:
            labels = list(protocol.label_names)
            emit_json({"study": str(made.path), "title": made.title, "protocol": protocol.name, "labels": labels})
            return
        asks = ", ".join(protocol.label_names) or "a rating"
        click.echo(f"Made {made.path}: protocol {protocol.name} ({asks}).")
        click.echo(f"Next: annotate import {typed(study)} …")
