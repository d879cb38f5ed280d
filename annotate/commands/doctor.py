"""annotate doctor: what this installation can and cannot do."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from annotate.commands.options import example, json_option


@click.command(epilog=example("annotate doctor", "annotate doctor study.db --json"))
@click.argument("study", metavar="[STUDY.db]", required=False, type=click.Path(dir_okay=False, path_type=Path))
@json_option
def doctor(study: Path | None, as_json: bool) -> None:
    """Say what this installation can and cannot do.

    Looks at Python and SQLite, the optional packages, clashes of package names, the terminal, and (with a study) at the
    place where the file lies. Nothing is sent anywhere. Exit code 1 when something needs attention.
    """
    from annotate.checkup import examine
    from annotate.console import emit_json, table

    findings = examine(study)
    if as_json:
        emit_json([{"what": f.what, "state": f.state, "detail": f.detail} for f in findings])
    else:
        table("", ("what", "state", "detail"), [(f.what, f.state, f.detail) for f in findings])
    if any(finding.state == "bad" for finding in findings):
        sys.stdout.flush()
        raise click.exceptions.Exit(1)
