"""annotate adjudicate: decide what coders, or people and judges, differ on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from annotate.commands.options import example, json_option, names, study_argument, theme_option

EXAMPLES = example(
    "annotate adjudicate study.db --by Lea",
    "annotate adjudicate study.db --by Lea --against gpt-4 --controls 40",
    "annotate adjudicate study.db --by Lea --between gpt-4,rules --plain",
    "annotate adjudicate study.db --by Lea --unit UNIT --label HEDGE --reason slip --note 'it says maybe'",
)


@click.command(epilog=EXAMPLES)
@study_argument
@click.option("--by", "who", required=True, metavar="NAME", help="Who decides; a new name is added.")
@click.option("--against", metavar="JUDGE", help="Review where this judge and people differ.")
@click.option("--between", metavar="J1,J2", default="", help="Review where two judges differ.")
@click.option("--controls", type=click.IntRange(min=0), help="Agreeing units mixed into a review. [default: as many]")
@click.option("--seed", default="1", show_default=True, metavar="TEXT", help="Seed of a review's controls and order.")
@click.option("--names", "show_names", is_flag=True, help="Coders by name instead of letters; logged.")
@click.option("--all", "everything", is_flag=True, help="Also units on which all coders agree.")
@click.option("--plain", is_flag=True, help="Line by line, for screen readers and dumb terminals.")
@theme_option
@click.option("--take-over", is_flag=True, help="End another session of this person and go on here.")
@click.option("--list", "only_list", is_flag=True, help="Show the queue and decide nothing.")
@click.option("--unit", metavar="UNIT", help="Decide this one case from the command line.")
@click.option("--label", metavar="LABEL", help="With --unit: the final label, or the verdict.")
@click.option("--rating", type=int, metavar="N", help="With --unit: the final rating, where one is asked for.")
@click.option("--reason", default="", metavar="WORD", help="With --unit: slip, codebook, broken or ambiguous.")
@click.option("--note", default="", metavar="TEXT", help="With --unit: a note.")
@json_option
def adjudicate(
    study: Path,
    who: str,
    between: str,
    show_names: bool,
    plain: bool,
    theme: str | None,
    only_list: bool,
    unit: str | None,
    as_json: bool,
    label: str | None,
    rating: int | None,
    reason: str,
    note: str,
    **wanted: Any,
) -> None:
    """Decide what coders, or people and judges, differ on.

    Disagreements of the main round come first, coders under letters: a label's key, then the key of a reason, and the
    case is decided. --against and --between review judges after unmasking, with random agreeing controls mixed in;
    their verdicts are counted apart and never change the human reference.
    """
    from annotate.adjudicating import case_facts, decide_one, open_cases, run_cases
    from annotate.console import emit_json
    from tui import wants_plain

    with open_cases(study, who, between=names(between), names=show_names, **wanted) as session:
        if unit is not None:
            decide_one(session, unit, label=label, rating=rating, reason=reason, note=note)
        elif not (only_list or as_json):
            run_cases(session, who, plain=plain or wants_plain(), theme=theme)
        facts = case_facts(session)
    if as_json:
        emit_json(facts)
    elif only_list:
        _show(facts)
    elif not plain:
        click.echo(f"{facts['decided']:,} decided, {facts['left']:,} left.")


def _show(facts: dict[str, Any]) -> None:
    from annotate.console import table

    rows = [(each["unit"], each["why"] or "review", "yes" if each["decided"] else "") for each in facts["cases"]]
    table(f"{facts['left']:,} cases to decide", ("unit", "why", "decided"), rows)
    if facts["waiting_for_coders"]:
        click.echo(f"{facts['waiting_for_coders']:,} more wait for a coder.")
