"""annotate repair: recover what can be recovered of a damaged study into a new file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from annotate.commands.options import example, json_option, study_argument

if TYPE_CHECKING:
    from db.repair import Repaired


@click.command(epilog=example("annotate repair study.db --to repaired.db"))
@study_argument
@click.option("--to", "target", required=True, type=click.Path(path_type=Path), metavar="FILE", help="A new file.")
@json_option
def repair(study: Path, target: Path, as_json: bool) -> None:
    """Recover a damaged study into a new file.

    The damaged file is only read. What it does not give is filled in from the newest sound backup beside it; each log
    is kept as far as its chain holds, and what stands beyond a hole is written anew, marked. What was lost is named row
    by row. Exit code 1 where something was lost.
    """
    from annotate.console import emit_json
    from annotate.plain import plain
    from annotate.progress import Waiting
    from db.repair import repair as recover

    with Waiting("Reading what is legible"):
        found = recover(study, target)
    if as_json:
        emit_json(_facts(found) | {"tables": plain(found.tables), "logs": plain(found.logs)})
    else:
        _show(found)
    if not found.complete:
        raise click.exceptions.Exit(1)


def _facts(found: Repaired) -> dict[str, object]:
    backup = None if found.backup is None else str(found.backup)
    facts = {"repaired": str(found.target), "complete": found.complete, "holds": found.proved.holds}
    return {**facts, "backup": backup, "schema_was_lost": found.schema}


def _show(found: Repaired) -> None:
    from annotate.console import table, visible

    if found.schema:
        click.echo("The file's own list of tables was gone; it was read under that of a sound study.")
    if found.backup is not None:
        click.echo(visible(f"Filled in from the backup {found.backup}."))
    rows = [
        (t.name, f"{t.recovered:,}", f"{t.filled:,}", "unknown" if t.lost is None else f"{t.lost:,}")
        for t in found.tables
    ]
    table("", ("table", "from the file", "from the backup", "lost"), rows, right=(1, 2, 3))
    logs = [(log.coder, log.log, f"{log.kept:,}", f"{log.moved:,}", f"{len(log.lost):,}") for log in found.logs]
    table("", ("coder", "log", "acts kept", "written anew", "lost"), logs, right=(2, 3, 4))
    for each in found.tables:
        for name in each.names:
            click.echo(visible(f"Lost: {name}"))
        if each.lost and each.lost > len(each.names):
            click.echo(f"Lost: {each.lost - len(each.names):,} more of {each.name}")
    for log in found.logs:
        for row in log.lost:
            click.echo(visible(f"Lost: {log.coder}, log {log.log}, {row}"))
    click.echo("Nothing was lost." if found.complete else _advice(found))
    if not found.proved.holds:
        first = next(check.first for check in found.proved.checks if check.broken)
        click.echo(visible(f"The new file does not hold in everything: {first}"))
    click.echo(visible(f"Repaired: {found.target}. Keep the damaged file until you have looked through this."))


def _advice(found: Repaired) -> str:
    acts = sum(len(log.lost) for log in found.logs)
    if acts:
        return f"{acts:,} acts were lost: their coders find these items open again, or can be asked to look at them."
    return "No act of a coder was lost, but some of the data were: import the same files again into the repaired study."
