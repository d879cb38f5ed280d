"""annotate report: write the report that goes with a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from annotate.commands.options import by_option, example, json_option, study_argument


@click.command(epilog=example("annotate report study.db --out report/"))
@study_argument
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="A folder; made where it is missing."
)
@by_option
@click.option("--seed", default=1, show_default=True, help="Seed of the intervals that are drawn.")
@click.option("--draws", type=click.IntRange(min=1000), default=4000, show_default=True, help="Draws for intervals.")
@click.option("--names", "show_names", is_flag=True, help="Coders by name instead of pseudonym.")
@click.option("--no-text", is_flag=True, help="Without the text of any item or response, in every form.")
@click.option("--force", is_flag=True, help="Write over a report that is there.")
@json_option
def report(
    study: Path, out: Path, by: str | None, show_names: bool, no_text: bool, force: bool, as_json: bool, **more: Any
) -> None:
    """Write the report that goes with a paper.

    HTML, Markdown, tables (CSV and LaTeX) and figures (SVG) with the same numbers, all drawn from results.json, where
    each number of the report stands. Beside them lie the labels without texts: `annotate reproduce` recomputes every
    number from them, check.py and check.R the main ones with none of annotate's code.
    The same study, seed and versions give the same bytes; time and place are in run.json alone.
    """
    from annotate.analysis.whole import Wanted, report_results
    from annotate.commands.options import names
    from annotate.console import emit_json
    from annotate.progress import Waiting
    from annotate.reporting import write_report
    from db.blindness import record_lead_view
    from db.study import open_study

    wanted = Wanted(by=None if by is None else names(by), names=show_names, **more)
    with open_study(study) as opened, Waiting("Computing the report"):
        record_lead_view(opened, "report")
        results = report_results(opened, wanted, text=not no_text)
        written = write_report(opened, results, out, names=show_names, text=not no_text, force=force)
    if as_json:
        emit_json({"files": [str(path) for path in written.files]})
        return
    beside = [path for path in written.files if path.parent == out]
    for path in beside:
        click.echo(path)
    click.echo(f"{out / 'tables'}, {out / 'figures'}: {len(written.files) - len(beside)} files")
