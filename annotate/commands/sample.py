"""annotate sample: draw a stratified random sample to code."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from annotate.commands.options import example, json_option, names, plain_option, seed_option, study_argument
from annotate.commands.source_options import source_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from annotate.counting.corpus import SourceCorpus
    from annotate.sampling import Plan
    from db.records import Protocol
    from db.samples import Sample

EXAMPLES = example(
    "annotate sample study.db --n 300 --seed 42",
    "annotate sample study.db --n 300 --by model,judge_label --allocation sqrt --judge gpt-4 --dry-run",
    "annotate sample study.db --n 60 --unit item --by category   # whole questions: for ranking models",
    "annotate sample study.db --n 300 --source runs/ --items EHQ.json   # a corpus that stays where it is",
)


@click.command(epilog=EXAMPLES)
@study_argument
@click.option("--n", required=True, type=click.IntRange(min=1), help="How many responses (or items) to draw.")
@click.option(
    "--by", default=None, metavar="FIELD,…", help="Strata. [default: model,judge_label where there is a judge]"
)
@click.option(
    "--allocation",
    type=click.Choice(["sqrt", "proportional", "equal", "neyman"]),
    default="sqrt",
    show_default=True,
    help="How n is spread over the strata.",
)
@click.option(
    "--unit",
    type=click.Choice(["response", "item"]),
    default="response",
    show_default=True,
    help="item draws questions and takes all models' responses to each: the design for ranking.",
)
@seed_option
@click.option("--judge", metavar="NAME", help="Whose labels judge_label means, where there are several judges.")
@click.option(
    "--expect", default="", metavar="LABEL=P,…", help="How often people will agree with the judge. [default: .85]"
)
@click.option("--combine", is_flag=True, help="Keep the earlier draw and add one with another seed or other strata.")
@click.option("--anyway", is_flag=True, help="Draw although a model gets too few labels to be judged by.")
@click.option("--source", metavar="SOURCE", help="Draw from files or a table outside the study, as annotate count.")
@click.option(
    "--items", type=click.Path(path_type=Path), metavar="FILE", help="With --source: the items of an ehq run."
)
@source_options
@click.option("--dry-run", is_flag=True, help="Show what would be drawn and how wide intervals would be.")
@plain_option
@json_option
def sample(study: Path, dry_run: bool, as_json: bool, **options: Any) -> None:
    """Draw a stratified random sample to code.

    Says first how wide the intervals will be per model and pair of models. Every drawn unit keeps its inclusion
    probability. The same seed draws the same on any machine; a larger --n keeps what was drawn. Strata that are small
    are taken whole. Refuses (exit code 1) where a model would have fewer than 10 labels on one of the judge's labels.
    With --source the engine draws, the same units as it would be of rows, and only these enter the study.
    """
    from annotate.sampling import draw_plan, make_plan, plan_facts
    from annotate.studies import study_protocol
    from db.study import open_study

    with open_study(study) as opened, _corpus(study_protocol(opened), options) as corpus:
        protocol = study_protocol(opened)
        plan = make_plan(opened, protocol, _request(opened, options, corpus))
        if not as_json:
            _show_plan(plan, protocol)
        drawn = None
        if not dry_run and (not plan.refused or plan.request.anyway):
            with _watching(corpus):
                drawn = draw_plan(opened, protocol, plan)
        if as_json:
            from annotate.console import emit_json

            emit_json(plan_facts(plan) | {"drawn": drawn is not None})
        _end(plan, drawn, as_json, dry_run)


def _end(plan: Plan, drawn: Sample | None, as_json: bool, dry_run: bool) -> None:
    from annotate.console import notice
    from db.faults import Refused

    if plan.refused and not plan.request.anyway:
        raise Refused(f"Not drawn: {plan.refused}", plan.remedy)
    if plan.refused:
        notice(f"Note: {plan.refused}")
    if dry_run:
        notice("Nothing was drawn.")
    elif not as_json and drawn is not None:
        click.echo(f"Drawn: {drawn.n:,} of {drawn.population:,} {_units(plan)}, seed {drawn.seed}.")


def _units(plan: Plan) -> str:
    return "responses" if plan.request.unit == "response" else "items"


@contextmanager
def _corpus(protocol: Protocol, options: dict[str, Any]) -> Iterator[SourceCorpus | None]:
    """The source that is drawn from, opened and counted; None where the study's own responses are."""
    source = options["source"]
    if source is None:
        yield None
        return
    from annotate.commands.count import list_left_out
    from annotate.commands.source_options import engine_of, request_of
    from annotate.counting.corpus import SourceCorpus
    from annotate.counting.run import count_opened, open_source
    from annotate.counting.watching import Watching

    engine = engine_of(options)
    try:
        with Watching("Counting", engine.done):
            opened = open_source(engine, request_of(source, protocol, options, items=options["unit"] == "item"))
            table = count_opened(opened)
        list_left_out(table)
        yield SourceCorpus(opened, table, options["items"])
    finally:
        engine.close()


def _watching(corpus: SourceCorpus | None) -> Any:
    if corpus is None:
        return nullcontext()
    from annotate.counting.watching import Watching

    return Watching("Drawing", corpus.opened.engine.done)


def _request(study: Any, options: dict[str, Any], corpus: SourceCorpus | None) -> Any:
    from annotate.sampling import JUDGE_LABEL, MODEL, Request, judge_names, main_judge

    known = judge_names(study) if corpus is None else corpus.judges
    named = options["by"]
    with_judge = options["judge"] is not None or (named is None and options["unit"] == "response")
    wants = JUDGE_LABEL in names(named) if named is not None else bool(known) and with_judge
    judge = main_judge(known, options["judge"]) if wants or options["judge"] else _only_judge(known)
    by = names(named) if named is not None else ((MODEL, JUDGE_LABEL) if wants else ())
    if named is None and not wants and options["unit"] == "response":
        by = (MODEL,)
    return Request(
        n=options["n"],
        by=by,
        allocation=options["allocation"],
        unit=options["unit"],
        seed=options["seed"],
        judge=judge,
        agreement=_expected(options["expect"]),
        combine=options["combine"],
        anyway=options["anyway"],
        corpus=corpus,
    )


def _only_judge(found: tuple[str, ...]) -> str | None:
    return found[0] if len(found) == 1 else None


def _expected(text: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in names(text):
        label, _, number = part.rpartition("=")
        try:
            found[label.strip()] = float(number)
        except ValueError:
            raise click.UsageError(f"--expect {part}: expected LABEL=.9, or one number for all labels.") from None
    return found


def _show_plan(plan: Plan, protocol: Protocol) -> None:
    from annotate.console import table

    by = ", ".join(plan.request.by) or "no strata"
    strata = [
        (*map(str, s.values.values()), f"{s.population:,}", f"{s.drawn:,}", f"{s.drawn / s.population:.3f}")
        for s in plan.strata
    ]
    width = len(plan.request.by)
    title = f"{plan.drawn:,} of {plan.population:,} {_units(plan)} by {by}, {plan.request.allocation} allocation"
    table(title, (*plan.request.by, "population", "drawn", "probability"), strata, right=range(width, width + 3))
    for reason, number in plan.excluded.items():
        click.echo(f"Not in the population: {number:,} responses ({reason}).")
    _show_widths(plan)


def _show_widths(plan: Plan) -> None:
    from annotate.console import table

    labels = list(dict.fromkeys(width.label for width in plan.precision.models))
    models = list(dict.fromkeys(width.model for width in plan.precision.models))
    widths = {(w.model, w.label): w for w in plan.precision.models}
    rows = [
        (
            m,
            f"{widths[m, labels[0]].labels:.0f} of {widths[m, labels[0]].size}",
            *(f"{widths[m, x].width:.3f}" for x in labels),
        )
        for m in models
    ]
    right = range(1, 2 + len(labels))
    table("Expected width of the 95 % interval of each label's share", ("model", "labels", *labels), rows, right=right)
    pairs = {(p.first, p.second, p.label): p for p in plan.precision.pairs}
    if pairs:
        rows = [
            (a, b, *(f"{pairs[a, b, x].width:.3f} ({pairs[a, b, x].detectable:.3f})" for x in labels))
            for a, b in dict.fromkeys((p.first, p.second) for p in plan.precision.pairs)
        ]
        title = "Expected width for the difference of two models (in brackets: a difference seen 4 times in 5)"
        table(title, ("model", "model", *labels), rows, right=range(2, 2 + len(labels)))
