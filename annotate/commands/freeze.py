"""annotate freeze: fix design, protocol and primary score before the first label."""

from __future__ import annotations

from pathlib import Path

import click

from annotate.commands.options import example, json_option, study_argument


@click.command(epilog=example("annotate freeze study.db --primary EHQ", "annotate freeze study.db"))
@study_argument
@click.option("--primary", metavar="SCORE", help="The score that the study is about; without it, show what is frozen.")
@click.option("--judge", metavar="NAME", help="The judge that the study is about.")
@click.option("--late", is_flag=True, help="Freeze although labels are there; the report says so.")
@json_option
def freeze(study: Path, primary: str | None, judge: str | None, late: bool, as_json: bool) -> None:
    """Fix design, protocol and primary score before the first label.

    Keeps one digest of the drawn units with their design, the protocol and the primary score in the lead's log. The
    report prints it, whether it was before the first main label, and how often somebody looked at interim results.
    """
    from annotate.conduct import conduct_facts, freeze_study
    from annotate.console import emit_json
    from db.study import open_study

    with open_study(study) as opened:
        if primary is not None:
            freeze_study(opened, primary, judge=judge, late=late)
        facts = conduct_facts(opened)
    if as_json:
        emit_json(facts)
    else:
        click.echo("\n".join(facts["sentences"]))
