"""annotate reproduce: recompute a report from its exported labels alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from annotate.commands.options import example, json_option

SHOWN = 20


@click.command(epilog=example("annotate reproduce report/"))
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@json_option
def reproduce(folder: Path, as_json: bool) -> None:
    """Recompute a report from its exported labels alone.

    Reads results.json, labels.csv and corpus.json of a report's folder, computes every number again without the study
    and says whether each matches (to twelve significant digits). Exit code 1 where one does not. Beside them lie
    check.py and check.R, which recompute the main numbers with none of annotate's code.
    """
    from annotate.console import emit_json, visible
    from annotate.progress import Waiting
    from annotate.reproducing import reproduce as run

    with Waiting("Recomputing"):
        found = run(folder)
    if as_json:
        emit_json(_facts(found))
    else:
        for section, number in found.sections.items():
            click.echo(f"{section}: {number:,} numbers")
        for each in found.differences[:SHOWN]:
            click.echo(visible(f"DIFFERS {each.path}: reported {each.reported}, recomputed {each.recomputed}"))
        if found.matches:
            click.echo(f"Every number matches: {found.numbers:,} recomputed from the labels.")
        else:
            click.echo(f"{len(found.differences):,} values differ.")
        click.echo(f"Taken as given, not recomputed: {', '.join(found.given)}.")
    if not found.matches:
        raise click.exceptions.Exit(1)


def _facts(found: Any) -> dict[str, Any]:
    return {
        "matches": found.matches,
        "numbers": found.numbers,
        "sections": dict(found.sections),
        "differences": [
            {"path": each.path, "reported": each.reported, "recomputed": each.recomputed} for each in found.differences
        ],
        "given": list(found.given),
    }
