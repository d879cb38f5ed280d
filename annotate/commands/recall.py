"""annotate recall: take back what is in a coder's packs."""

from __future__ import annotations

from pathlib import Path

import click

from annotate.commands.options import example, json_option, study_argument


@click.command(epilog=example("annotate recall study.db --coder Ada"))
@study_argument
@click.option("--coder", required=True, metavar="NAME", help="Whose packs.")
@json_option
def recall(study: Path, coder: str, as_json: bool) -> None:
    """Take back what is in a coder's packs.

    The coder can go on here. A pack that comes back later is still taken in, unless the same was coded here meanwhile.
    The record says that it was taken back. Exit code 1 where nothing was in a pack.
    """
    from annotate.console import emit_json, visible
    from db.leases import recall as take_back
    from db.study import open_study

    with open_study(study) as opened:
        number = take_back(opened, coder)
    if as_json:
        emit_json({"coder": coder, "assignments": number})
    else:
        click.echo(visible(f"Taken back: {number:,} assignments of {coder}." if number else _nothing(coder)))
    if not number:
        raise click.exceptions.Exit(1)


def _nothing(coder: str) -> str:
    return f"Nothing of {coder} is in a pack."
