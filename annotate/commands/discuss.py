"""annotate discuss: an anonymous sheet of disagreements for a meeting."""

from __future__ import annotations

from pathlib import Path

import click

from annotate.commands.options import example, json_option, study_argument


@click.command(epilog=example("annotate discuss study.db > meeting.md", "annotate discuss study.db --json"))
@study_argument
@json_option
def discuss(study: Path, as_json: bool) -> None:
    """Write an anonymous sheet of disagreements for a meeting.

    Every disagreement that is not decided yet, as Markdown: item, response, gold answer, labels and notes, with coders
    under letters that change from case to case. Reading it is logged: what this account labels afterwards is open.
    """
    from annotate.console import emit_json
    from annotate.discussing import disagreements, sheet
    from db.blindness import record_lead_view
    from db.study import open_study

    with open_study(study) as opened:
        record_lead_view(opened, "discuss")
        if as_json:
            emit_json(disagreements(opened))
            return
        for line in sheet(opened):
            click.echo(line)
