"""annotate impact: say how much scores and ranking change under people's labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from annotate.commands.options import by_option, example, json_option, judge_option, names, plain_option, study_argument
from annotate.commands.source_options import cells_option, with_cells

EXAMPLES = example(
    "annotate impact study.db",
    "annotate impact study.db --judge-only --by category,subcategory --json",
    "annotate impact study.db --judge gpt-4 --judge rules --score EHQ --target population",
    "annotate impact study.db --cells cells.parquet   # the corpus as annotate count counted it",
)


@click.command(epilog=EXAMPLES)
@study_argument
@click.option("--judge-only", is_flag=True, help="Scores from the judges' labels alone.")
@judge_option
@click.option(
    "--score", "scores", multiple=True, metavar="NAME", help="Only this score; may be repeated. [default: all]"
)
@by_option
@click.option(
    "--target",
    type=click.Choice(["auto", "corpus", "population"]),
    default="auto",
    show_default=True,
    help="What intervals are for: this corpus or such questions; auto: the corpus, unless all is labelled.",
)
@click.option(
    "--method",
    "methods",
    type=click.Choice(["ppi++", "difference", "pseudo-outcomes"]),
    multiple=True,
    help="A further estimator, beside the default; may be repeated.",
)
@click.option("--seed", default=1, show_default=True, help="Seed of the draws.")
@click.option("--draws", type=click.IntRange(min=1000), default=4000, show_default=True, help="Draws for intervals.")
@cells_option
@plain_option
@json_option
def impact(
    study: Path,
    as_json: bool,
    judge_only: bool,
    judges: tuple[str, ...],
    scores: tuple[str, ...],
    by: str | None,
    methods: tuple[str, ...],
    cells: Path | None,
    **more: Any,
) -> None:
    """Say how much scores and ranking change under people's labels.

    Two answers side by side: the scores of the labelled sample under the judge and under people, paired; and the scores
    of the whole corpus, the judge's errors corrected by what the sample shows of them. Then ranks with their
    probability, what moves each score, where the judge is unfair, and other ways to treat disagreement.
    """
    from annotate.analysis.whole import Wanted, impact_results
    from annotate.console import emit_json
    from annotate.progress import Waiting
    from annotate.reports.contents import impact_document
    from annotate.reports.terminal import show
    from db.blindness import record_lead_view
    from db.study import open_study

    chosen = None if by is None else names(by)
    wanted = Wanted(by=chosen, judges=judges or None, scores=scores or None, methods=methods, **more)
    with open_study(study) as opened, Waiting("Computing score impact"):
        record_lead_view(opened, "impact")
        found = impact_results(with_cells(opened, cells), wanted, judge_only=judge_only).to_dict()
    if as_json:
        emit_json(found)
    else:
        show(impact_document({"impact": found}))
