"""annotate train: a training round with feedback and a pass mark; annotate check: hidden items with known labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from annotate.commands.options import example, json_option, names, seed_option, study_argument

CODERS = click.option("--coders", default="", metavar="NAME,…", help="Who gets them; without it, show the results.")
SOURCE = click.option(
    "--from",
    "source",
    default="adjudicated",
    show_default=True,
    metavar="FILE|NAME",
    help="Where the labels come from.",
)
COUNT = click.option("--n", type=click.IntRange(min=1), metavar="N", help="How many, at random. [default: all]")


@click.command(
    epilog=example(
        "annotate train study.db --coders Ada,Ben --from known.csv --pass-mark 0.8", "annotate train study.db"
    )
)
@study_argument
@CODERS
@SOURCE
@COUNT
@click.option("--pass-mark", type=click.FloatRange(0, 1), default=0.8, show_default=True, help="Share right to pass.")
@click.option("--round", "round_name", default="training", show_default=True, metavar="NAME", help="Name of the round.")
@seed_option
@json_option
def train(study: Path, as_json: bool, coders: str, **wanted: Any) -> None:
    """Train coders on known labels, and show who passed.

    Known labels come from a CSV file (item, model, label, explanation), from 'adjudicated' or from a coder by name.
    After each label the coder is told the known one. Units of the sample are left alone where these coders code them.
    """
    _give_or_show(study, "training", names(coders), as_json, wanted)


@click.command(
    epilog=example("annotate check study.db --coders Ada,Ben --from known.csv --n 10", "annotate check study.db")
)
@study_argument
@CODERS
@SOURCE
@COUNT
@click.option("--round", "round_name", default="check", show_default=True, metavar="NAME", help="Name of the round.")
@seed_option
@json_option
def check(study: Path, as_json: bool, coders: str, **wanted: Any) -> None:
    """Hide items with known labels in the queues, and show who failed any.

    They stand at random places among what is still to do and cannot be told from the rest. They are no part of any
    score or agreement.
    """
    _give_or_show(study, "check", names(coders), as_json, wanted | {"pass_mark": None})


def _give_or_show(
    study: Path, kind: Literal["training", "check"], coders: tuple[str, ...], as_json: bool, wanted: dict[str, Any]
) -> None:
    from annotate.checking import check_results
    from annotate.console import emit_json, notice
    from annotate.training import give_known
    from db.known import drawn_of_round
    from db.study import open_study

    with open_study(study) as opened:
        if coders:
            given = give_known(opened, coders, kind=kind, **wanted)
            click.echo(f"{given.units:,} units in round {given.round} for {', '.join(coders)}.", err=as_json)
            if drawn := drawn_of_round(opened.connection, given.round):
                notice(
                    f"Note: {drawn:,} of these are in the drawn sample: these coders are not given them again to code."
                    " Known labels on responses outside the sample cost none of it."
                )
        found = [each for each in check_results(opened) if each["kind"] == kind]
    if as_json:
        emit_json(found)
    elif not coders:
        _show(found)


def _show(found: list[dict[str, Any]]) -> None:
    from annotate.console import table

    rows = [
        (each["round"], each["coder"], f"{each['done']:,} of {each['known']:,}", f"{each['failed']:,}", _share(each))
        for each in found
    ]
    table("", ("round", "coder", "coded", "not as known", "right"), rows, right=(2, 3))


def _share(each: dict[str, Any]) -> str:
    if each["share"] is None:
        return "nothing coded yet"
    passed = {True: ", passed", False: ", not passed", None: ""}[each["passed"]]
    return f"{each['share']:.0%}{passed}"
