"""annotate backup: copy a study safely, also while people code."""

from __future__ import annotations

from pathlib import Path

import click

from annotate.commands.options import example, json_option, study_argument


@click.command(epilog=example("annotate backup study.db", "annotate backup study.db --to /media/stick/study-copy.db"))
@study_argument
@click.option(
    "--to", "target", type=click.Path(path_type=Path), metavar="FILE", help="A new file. [default: beside it]"
)
@json_option
def backup(study: Path, target: Path | None, as_json: bool) -> None:
    """Copy a study safely, also while people code.

    Copying the file alone can miss the newest labels, which may still lie in its log. The copy is checked before it
    gets its name; an existing file is never written over.
    """
    from annotate.console import emit_json
    from db.backups import back_up
    from db.study import open_study, real_path

    with open_study(study, read_only=True):
        made = back_up(real_path(study), target)
    if as_json:
        emit_json({"backup": str(made), "bytes": made.stat().st_size})
        return
    click.echo(f"Copied to {made} ({made.stat().st_size:,} bytes).")
