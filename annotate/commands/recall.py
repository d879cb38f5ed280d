"""annotate recall: take back what is in a coder's packs, or show which packs are out."""

from __future__ import annotations

from pathlib import Path

import click

from annotate.commands.options import example, json_option, study_argument

EXAMPLES = example(
    "annotate recall study.db                # which packs are out", "annotate recall study.db --coder Ada"
)


@click.command(epilog=EXAMPLES)
@study_argument
@click.option("--coder", metavar="NAME", help="Whose packs; without it, show which packs are out.")
@click.option("--pack", metavar="ID", help="Only this pack, by the id that the list shows.")
@json_option
def recall(study: Path, coder: str | None, pack: str | None, as_json: bool) -> None:
    """Take back what is in a coder's packs.

    The coder can go on here. A pack that comes back later is still taken in, unless the same was coded here or in
    another pack meanwhile: then it is refused, and the items are named. The record says that it was taken back. Exit
    code 1 where nothing was in a pack.
    """
    from annotate.console import emit_json, visible
    from db.leases import recall as take_back
    from db.study import open_study

    if coder is None:
        if pack is not None:
            raise click.UsageError("--pack needs --coder.")
        _show(study, as_json)
        return
    with open_study(study) as opened:
        number = take_back(opened, coder, pack=pack)
    if as_json:
        emit_json({"coder": coder, "assignments": number})
    else:
        click.echo(visible(f"Taken back: {number:,} assignments of {coder}." if number else _nothing(coder)))
    if not number:
        raise click.exceptions.Exit(1)


def _nothing(coder: str) -> str:
    return f"Nothing of {coder} is in a pack."


def _show(study: Path, as_json: bool) -> None:
    from annotate.console import emit_json, table
    from annotate.plain import plain
    from db.leases import packs_out
    from db.study import open_study

    with open_study(study, read_only=True) as opened:
        out = packs_out(opened)
    if as_json:
        emit_json({"out": plain(out)})
    elif out:
        rows = [(each.pack, each.coder, f"{each.assignments:,}", each.since[:16].replace("T", " ")) for each in out]
        table("", ("pack", "coder", "items", "since (UTC)"), rows, right=(2,))
    else:
        click.echo("No pack is out.")
