"""The lead's side of the demonstration: a finished study, its agreement and confusion, and a report to open."""

from __future__ import annotations

from pathlib import Path

from annotate.console import notice


def lead_tour(path: Path, made: bool) -> None:
    """Show the OpenQA study: real coders, real judges. The whole report lies beside it."""
    from annotate.analysis.whole import Wanted, full_results
    from annotate.progress import Waiting
    from annotate.reporting import write_report
    from annotate.reports.contents import agreement_document
    from annotate.reports.terminal import show
    from db.study import open_study

    notice(
        f"{'Made' if made else 'Opened'} the sample study {path}: 1,490 answers, two coders and a third, three judges."
    )
    folder = path.with_name(f"{path.stem}-report")
    with open_study(path) as study, Waiting("Computing the report"):
        results = full_results(study, Wanted())
        written = write_report(study, results, folder, force=True)
    show(agreement_document(results.to_dict()))
    print(f"\nThe whole report: {written.files[1]}")
    print(f"Look further with: annotate impact {path}")
