"""annotate release: put what was held back into the queues, a batch at a time."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from annotate.commands.options import example, json_option, study_argument


@click.command(epilog=example("annotate release study.db --batch 100 --due 2026-12-18", "annotate release study.db"))
@study_argument
@click.option("--batch", type=click.IntRange(min=1), help="How many each coder gets. [default: all]")
@click.option("--due", type=click.DateTime(["%Y-%m-%d"]), metavar="DATE", help="When they are to be done: YYYY-MM-DD.")
@click.option("--round", "round_name", metavar="NAME", help="Only of this round.")
@click.option("--list", "only_list", is_flag=True, help="Show what is held back and release nothing.")
@json_option
def release(
    study: Path, batch: int | None, due: datetime | None, round_name: str | None, only_list: bool, as_json: bool
) -> None:
    """Put what was held back into the queues, a batch at a time.

    'annotate assign --hold' assigns without releasing. Every coder gets the next ones in the random order that was
    dealt then: what is coded first is a random part of the sample, and a calibration batch can be released alone.
    """
    from annotate.console import emit_json, table
    from db.releasing import held_back, release_next
    from db.study import open_study

    if due is not None and due.date() < datetime.now(UTC).date():
        raise click.BadParameter(f"{due:%Y-%m-%d} has passed.", param_hint="'--due'")
    with open_study(study) as opened:
        if only_list:
            found = held_back(opened)
        else:
            found = release_next(
                opened, batch, round_name=round_name, due_utc=None if due is None else f"{due:%Y-%m-%d}T23:59:59.000Z"
            )
        left = held_back(opened)
    if as_json:
        emit_json(
            {
                "released": [] if only_list else [_facts(each) for each in found],
                "held_back": [_facts(each) for each in left],
            }
        )
        return
    rows = [(each.coder, each.round, f"{each.assignments:,}") for each in found]
    table("Held back" if only_list else "Released", ("coder", "round", "units"), rows, right=(2,))
    if not only_list:
        click.echo(f"{sum(each.assignments for each in left):,} are still held back.")


def _facts(held: object) -> dict[str, object]:
    from dataclasses import asdict

    return asdict(held)  # type: ignore[call-overload, no-any-return]
