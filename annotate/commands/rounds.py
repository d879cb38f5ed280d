"""annotate rounds: show, close and reopen rounds and adjudicated units."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from annotate.commands.options import example, json_option, study_argument


@click.command(
    epilog=example(
        "annotate rounds study.db",
        "annotate rounds study.db --close main",
        "annotate rounds study.db --reopen-unit UNIT",
    )
)
@study_argument
@click.option("--close", metavar="NAME", help="Nothing in it can be labelled or changed any more; flags can.")
@click.option("--open", "reopen", metavar="NAME", help="Open a closed round again.")
@click.option("--reopen-unit", "units", multiple=True, metavar="UNIT", help="Open an adjudicated unit again.")
@json_option
def rounds(study: Path, close: str | None, reopen: str | None, units: tuple[str, ...], as_json: bool) -> None:
    """Show the rounds, close and reopen them.

    A reopened unit can be changed by its coders, and its final label stands aside until it is given anew. Each of these
    acts is logged.
    """
    from annotate.console import emit_json, table
    from db.rounds import list_rounds, reopen_unit, set_round_state
    from db.study import open_study

    with open_study(study) as opened:
        if close:
            set_round_state(opened, close, "closed")
        if reopen:
            set_round_state(opened, reopen, "open")
        for unit in units:
            reopen_unit(opened, unit)
        found = list_rounds(opened)
    if as_json:
        emit_json([asdict(each) for each in found])
        return
    rows = [(each.name, each.kind, each.state, f"{each.assignments:,}", f"{each.done:,}") for each in found]
    table("", ("round", "kind", "state", "assignments", "done"), rows, right=(3, 4))
