"""annotate dashboard: watch a study while people code."""

from __future__ import annotations

from pathlib import Path

import click

from annotate.commands.options import example, json_option, study_argument, theme_option

EXAMPLES = example("annotate dashboard study.db", "annotate dashboard study.db --plain --width 0.04")


@click.command(epilog=EXAMPLES)
@study_argument
@click.option("--plain", is_flag=True, help="Print it once, as lines.")
@click.option(
    "--width",
    type=click.FloatRange(min=0, min_open=True),
    default=0.05,
    show_default=True,
    help="Wanted interval width.",
)
@click.option("--no-live", is_flag=True, help="Counts alone: no labels are looked at, so that no look is logged.")
@theme_option
@json_option
def dashboard(study: Path, plain: bool, width: float, no_live: bool, theme: str | None, as_json: bool) -> None:
    """Watch a study while people code.

    Progress, pace and projected finish; live agreement and score change with intervals, and the labels still needed for
    the wanted width; checks failed, repeats that differ, ratings that heap, drift, flags. It refreshes by itself.
    Looking at live numbers before coding is finished is logged, and the report says how often.
    """
    from annotate.console import emit_json, visible
    from annotate.dashboard import StudyDashboard, board_lines, merged
    from db.study import open_study
    from tui import wants_plain

    with open_study(study) as opened:
        if not (plain or as_json or wants_plain()):
            from annotate.board_process import DashboardApart
            from tui.runboard import run_dashboard_screen

            run_dashboard_screen(DashboardApart(opened, width=width, blind=no_live), opened.side, theme=theme)
            return
        board = StudyDashboard(opened, width=width, blind=no_live)
        live = [board.live()]
        counts = board.counts()
    if as_json:
        emit_json(merged(counts.facts, {"looks": counts.looks}, *(each.facts for each in live)))
        return
    for each in (counts, *live):
        for line in board_lines(each):
            click.echo(visible(line))
