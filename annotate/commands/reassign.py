"""annotate reassign: a coder leaves, another one takes over."""

from __future__ import annotations

from pathlib import Path

import click

from annotate.commands.options import example, json_option, study_argument


@click.command(epilog=example("annotate reassign study.db --from Ada --to Cyd"))
@study_argument
@click.option("--from", "leaving", required=True, metavar="NAME", help="Who leaves.")
@click.option("--to", "taking", required=True, metavar="NAME", help="Who takes over; a new name is added.")
@json_option
def reassign(study: Path, leaving: str, taking: str, as_json: bool) -> None:
    """Give what a coder has still to do to another one.

    What was coded stays; the sample and every inclusion probability stay as they are. The act is logged.
    """
    from annotate.console import emit_json
    from db.reassigning import reassign as move
    from db.study import open_study

    with open_study(study) as opened:
        found = move(opened, leaving, taking)
    if as_json:
        emit_json({"moved": found.moved, "stayed": found.stayed, "batches": list(found.batches)})
        return
    click.echo(f"{found.moved:,} units moved from {leaving} to {taking}.")
    if found.stayed:
        click.echo(
            f"{found.stayed:,} stay where they are: {taking} has them already, or knows them from training or checks."
        )
