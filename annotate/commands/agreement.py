"""annotate agreement: say how far people agree with each other and the judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from annotate.commands.options import by_option, example, json_option, judge_option, names, plain_option, study_argument
from annotate.commands.source_options import cells_option, with_cells

EXAMPLES = example(
    "annotate agreement study.db", "annotate agreement study.db --by model,category --judge gpt-4 --json"
)


@click.command(epilog=EXAMPLES)
@study_argument
@by_option
@judge_option
@click.option("--seed", default=1, show_default=True, help="Seed of the intervals that are drawn.")
@click.option("--draws", type=click.IntRange(min=1000), default=4000, show_default=True, help="Draws for intervals.")
@click.option(
    "--epsilon", type=click.FloatRange(0, 1), default=0.15, show_default=True, help="Of the alternative annotator test."
)
@cells_option
@click.option("--pseudonyms", is_flag=True, help="Coders by pseudonym instead of name.")
@plain_option
@json_option
def agreement(
    study: Path,
    as_json: bool,
    by: str | None,
    judges: tuple[str, ...],
    cells: Path | None,
    pseudonyms: bool,
    **more: Any,
) -> None:
    """Say how far people agree with each other and the judge.

    Percent agreement, kappa, alpha and AC1 between coders, overall, by pair, label and stratum; the confusion matrix of
    each judge against people with precision, recall and F1, weighted by the design; the human ceiling and the
    alternative annotator test; and the same numbers from a second program. Exit code 1 where nobody labelled anything.
    """
    from annotate.analysis.whole import NO_LABELS, NoAnswer, Wanted, agreement_results
    from annotate.progress import Waiting
    from db.blindness import record_lead_view
    from db.study import open_study

    wanted = Wanted(by=None if by is None else names(by), judges=judges or None, names=not pseudonyms, **more)
    with open_study(study) as opened, Waiting("Computing agreement"):
        record_lead_view(opened, "agreement")
        results = agreement_results(with_cells(opened, cells), wanted).to_dict()
    results.pop("impact")
    _show(results, as_json)
    if results["people"] is None:
        raise NoAnswer(f"There is no agreement to measure: {NO_LABELS}.", "See 'annotate status'.")


def _show(results: dict[str, Any], as_json: bool) -> None:
    from annotate.console import emit_json
    from annotate.reports.contents import agreement_document
    from annotate.reports.terminal import show

    if as_json:
        emit_json(results)
    else:
        show(agreement_document(results))
