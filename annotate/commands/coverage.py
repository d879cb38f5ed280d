"""annotate coverage: name every unit with fewer or more labels than it is meant to have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from annotate.commands.options import example, json_option, study_argument

if TYPE_CHECKING:
    from db.coverage import Coverage, Gap

EXAMPLES = example("annotate coverage study.db", "annotate coverage study.db --round main --all")
SHOWN = 20


@click.command(epilog=EXAMPLES)
@study_argument
@click.option("--round", "round_name", metavar="NAME", help="Only this round. [default: all]")
@click.option("--all", "everything", is_flag=True, help=f"Name all such units, not the first {SHOWN} of a kind.")
@json_option
def coverage(study: Path, round_name: str | None, everything: bool, as_json: bool) -> None:
    """Name units with too few or too many labels.

    Per round: missing (fewer labels than meant), doubled (meant for one coder, labelled by several) and over-coded
    units, each by name with who labelled it. No label is shown. Exit code 1 where a unit has not exactly its labels.
    """
    from annotate.console import emit_json
    from annotate.plain import plain
    from db.coverage import coverage as cover
    from db.faults import Refused
    from db.study import open_study

    with open_study(study, read_only=True) as opened:
        found = cover(opened)
    if round_name is not None:
        there = ", ".join(each.round for each in found) or "none yet"
        found = tuple(each for each in found if each.round == round_name)
        if not found:
            raise Refused(f"No unit was assigned in a round {round_name!r} (rounds: {there}).")
    if as_json:
        emit_json({"clean": all(each.clean for each in found), "rounds": plain(found)})
    else:
        _show(found, 10**9 if everything else SHOWN)
    if not all(each.clean for each in found):
        raise click.exceptions.Exit(1)


def _show(found: tuple[Coverage, ...], most: int) -> None:
    from annotate.console import table

    if not found:
        click.echo("Nothing was assigned yet.")
        return
    rows = [
        (
            *(c.round, c.kind, f"{c.units:,}", f"{c.complete:,}"),
            *(f"{len(gaps):,}" for gaps in (c.missing, c.doubled, c.over)),
            *(f"{number:,}" for number in (c.labels, c.meant, c.skips, c.repeats, c.repeats_meant)),
        )
        for c in found
    ]
    heads = ("round", "kind", "units", "complete", "missing", "doubled", "over", "labels", "meant", "skipped")
    table("", (*heads, "repeats", "repeats meant"), rows, right=range(2, 12))
    gaps = [row for each in found for row in _gaps(each, most)]
    if gaps:
        table("", ("round", "what", "unit", "item", "labels", "meant", "skipped", "by"), gaps, right=(4, 5, 6))
    click.echo("Every unit has its labels." if all(each.clean for each in found) else "Not every unit has its labels.")


def _gaps(found: Coverage, most: int) -> Iterator[tuple[object, ...]]:
    named: dict[str, tuple[Gap, ...]] = {"missing": found.missing, "doubled": found.doubled, "over": found.over}
    for what, gaps in named.items():
        for gap in gaps[:most]:
            by = ", ".join(gap.coders) or "nobody"
            yield found.round, what, gap.unit, gap.item, gap.coded, gap.meant, gap.skips, by
        if len(gaps) > most:
            yield found.round, what, f"and {len(gaps) - most:,} more (--all)", "", "", "", "", ""
