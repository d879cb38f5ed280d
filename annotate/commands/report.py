"""annotate report: write the report that goes with a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from annotate.commands.options import by_option, example, json_option, study_argument
from annotate.commands.source_options import cells_option, with_cells


@click.command(
    epilog=example("annotate report study.db --out report/", "annotate report study.db --out report/ --form html,pdf")
)
@study_argument
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="A folder; made where it is missing."
)
@click.option(
    "--form",
    metavar="LIST",
    help="Forms, with commas: html, markdown, pdf, csv, latex, figures. [default: all for which everything is there]",
)
@by_option
@click.option("--seed", default=1, show_default=True, help="Seed of the intervals that are drawn.")
@click.option("--draws", type=click.IntRange(min=1000), default=4000, show_default=True, help="Draws for intervals.")
@cells_option
@click.option("--names", "show_names", is_flag=True, help="Coders by name instead of pseudonym.")
@click.option("--no-text", is_flag=True, help="Without the text of any item or response, in every form.")
@click.option("--force", is_flag=True, help="Write over a report that is there.")
@json_option
def report(
    study: Path,
    out: Path,
    form: str | None,
    by: str | None,
    cells: Path | None,
    show_names: bool,
    no_text: bool,
    force: bool,
    as_json: bool,
    **more: Any,
) -> None:
    """Write the report that goes with a paper.

    HTML, Markdown, PDF, tables (CSV and LaTeX) and figures (SVG, PDF, PNG) with the same numbers, all drawn from
    results.json, where each number of the report stands. Beside them lie the labels without texts: `annotate
    reproduce` recomputes every number from them, check.py and check.R the main ones with none of annotate's code. The
    same study, seed and versions give the same bytes; time and place are in run.json alone.
    """
    from annotate.analysis.whole import Wanted, report_results
    from annotate.commands.options import names
    from annotate.console import emit_json, notice
    from annotate.progress import Waiting
    from annotate.reporting import missing_extras, write_report
    from db.blindness import record_lead_view
    from db.study import open_study

    forms = _forms(form)
    missing_extras(forms)  # before anything is computed
    wanted = Wanted(by=None if by is None else names(by), names=show_names, **more)
    with open_study(study) as opened, Waiting("Computing the report"):
        record_lead_view(opened, "report")
        counted = with_cells(opened, cells)
        results = report_results(counted, wanted, text=not no_text)
        written = write_report(counted, results, out, names=show_names, text=not no_text, force=force, forms=forms)
    if written.left_out:
        notice(f"Left out, for want of an extra: {'; '.join(written.left_out)}.")
    if as_json:
        emit_json({"files": [str(path) for path in written.files], "left_out": list(written.left_out)})
        return
    beside = [path for path in written.files if path.parent == out]
    for path in beside:
        click.echo(path)
    for folder in dict.fromkeys(path.parent for path in written.files if path.parent != out):
        click.echo(f"{folder}: {sum(path.parent == folder for path in written.files)} files")


def _forms(form: str | None) -> tuple[str, ...]:
    from annotate.commands.options import names
    from annotate.reporting import FORMS
    from db.errors import AnnotateError

    found = {"md": "markdown", "tex": "latex"}
    forms = tuple(found.get(name.lower(), name.lower()) for name in names(form)) if form else ()
    unknown = [name for name in forms if name not in FORMS]
    if unknown:
        raise AnnotateError(f"--form: there is no form {unknown[0]!r}.", f"Forms: {', '.join(FORMS)}.")
    return forms
