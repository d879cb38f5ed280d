"""annotate assign: hand the sample to coders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from annotate.commands.options import example, json_option, names, seed_option, study_argument

EXAMPLES = example(
    "annotate assign study.db --coders Ada,Ben",
    "annotate assign study.db --coders Ada,Ben,Cyd --overlap 0.3 --repeats 0.05 --seed 7",
)


@click.command(epilog=EXAMPLES)
@study_argument
@click.option("--coders", required=True, metavar="NAME,…", help="Who codes; new names are added.")
@click.option(
    "--overlap", type=click.FloatRange(0, 1), default=1.0, show_default=True, help="Share coded by all of them."
)
@click.option(
    "--order",
    type=click.Choice(["spread", "item", "file"]),
    default="spread",
    show_default=True,
    help="spread: never two responses of an item within ten; item: an item's responses together.",
)
@click.option(
    "--repeats", type=click.FloatRange(0, 1), default=0.0, show_default=True, help="Share that comes back unseen."
)
@seed_option
@click.option("--round", "round_name", default="main", show_default=True, metavar="NAME", help="Name of the round.")
@click.option(
    "--kind",
    type=click.Choice(["training", "main", "check", "repeat"]),
    help="Kind of the round. [default: the kind of that name, else check]",
)
@click.option("--again", is_flag=True, help="Also units that somebody has in this round already.")
@click.option("--simulated", is_flag=True, help="These coders are programs; they are named so wherever shown.")
@click.option("--hold", is_flag=True, help="Keep it out of the queues until 'annotate release'.")
@json_option
def assign(study: Path, coders: str, round_name: str, kind: str | None, as_json: bool, **options: Any) -> None:
    """Hand the sample to coders.

    Units that nobody has in this round yet are given out once and for all, with an exact overlap in every stratum and
    an own seeded order for each coder.
    """
    from annotate.assigning import assigned_facts, hand_out, kind_of_round
    from annotate.console import emit_json, table, typed
    from db.study import open_study

    with open_study(study) as opened:
        chosen = kind_of_round(round_name, kind)
        found = hand_out(opened, names(coders), round_name=round_name, kind=chosen, **options)
        if as_json:
            emit_json(assigned_facts(found))
            return
        rows = [
            (load.coder.name or load.coder.pseudonym, f"{load.units:,}", f"{load.repeats:,}") for load in found.loads
        ]
        title = f"{found.units:,} units in round {found.round}, {found.overlap:,} of them to every coder"
        table(title, ("coder", "to code", "of which repeats"), rows, right=(1, 2))
        for load in found.loads:
            if load.left_out:
                who = load.coder.name or load.coder.pseudonym
                click.echo(f"{who} knows {load.left_out:,} of the units from training, checks or reviews: not given.")
        first = found.loads[0].coder
        click.echo(f"Next: annotate code {typed(study)} --coder {typed(first.name or first.pseudonym)}")
