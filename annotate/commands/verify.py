"""annotate verify: check the record."""

from __future__ import annotations

from pathlib import Path

import click

from annotate.commands.options import example, json_option, plain_option, study_argument


@click.command(epilog=example("annotate verify study.db"))
@study_argument
@click.option("--passphrase-file", type=click.Path(path_type=Path), metavar="FILE", help="Passphrase of a pack.")
@plain_option
@json_option
def verify(study: Path, passphrase_file: Path | None, as_json: bool) -> None:
    """Check the record: chains, fold, counts and design.

    Every log is walked hash by hash, the labels that stand are made anew from the events, the draw is drawn anew, and
    the counts of every import are counted anew. Of a pack: its items, acts and notes; that it is what the study packed
    is shown when it is merged. It reads only. Exit code 1 where something does not hold.
    """
    from annotate.console import emit_json, table
    from annotate.plain import plain
    from annotate.progress import Waiting
    from db.connection import is_pack
    from db.study import open_study
    from db.verify import verify as check
    from db.verify import verify_pack

    if is_pack(study):
        from annotate.packing import opened_pack

        with opened_pack(study, passphrase_file) as connection:
            found = verify_pack(connection)
    else:
        with open_study(study, read_only=True) as opened, Waiting("Verifying"):
            found = check(opened)
    if as_json:
        heads = [{"log": log, "rows": rows, "hash": last} for log, rows, last in found.heads]
        emit_json({"holds": found.holds, "checks": plain(found.checks), "heads": heads})
    else:
        rows = [
            (c.name, f"{c.examined:,}", "holds" if not c.broken else f"{c.broken:,} BROKEN", c.first)
            for c in found.checks
        ]
        table("", ("what", "looked at", "result", "first"), rows, right=(1,))
        click.echo("Everything holds." if found.holds else "The record does NOT hold.")
    if not found.holds:
        raise click.exceptions.Exit(1)
