"""annotate export: write the labels out for other tools."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from annotate.commands.options import example, json_option, study_argument

if TYPE_CHECKING:
    from db.study import Study

TABLES = ("csv", "jsonl", "parquet", "xlsx")
FORMS = ("study-rows", "label-studio", "prodigy", "doccano", "argilla", "inspect", "ehq")
EXAMPLES = example(
    "annotate export study.db --out labels.csv",
    "annotate export study.db --shape wide --out labels.parquet",
    "annotate export study.db --format jsonl | head",
    "annotate export study.db --format label-studio --out tasks.json",
    "annotate export study.db --format ehq --out adjudication.json",
)


@click.command(epilog=EXAMPLES)
@study_argument
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="A new file. [default: the screen]"
)
@click.option(
    "--format",
    "kind",
    type=click.Choice([*TABLES, *FORMS]),
    help="A table, or the form of another tool. [default: by the file's name, else csv]",
)
@click.option(
    "--shape",
    type=click.Choice(["long", "wide"]),
    default="long",
    show_default=True,
    help="long: task, worker, label, one row a label; wide: one row a unit, a column for each coder.",
)
@click.option("--names", "show_names", is_flag=True, help="Coders by name instead of pseudonym.")
@click.option("--notes", is_flag=True, help="With the coders' notes (long).")
@click.option("--times", is_flag=True, help="With the time of each label (long).")
@click.option(
    "--text/--no-text", default=None, help="With the texts, or without. [default: forms with, tables without]"
)
@click.option("--anonymise", is_flag=True, help="Models and items by number too (tables).")
@click.option("--blind", is_flag=True, help="Without models and judges, to be coded elsewhere (forms).")
@click.option("--all", "everything", is_flag=True, help="Also responses that were not drawn (forms).")
@click.option("--log", type=click.Path(path_type=Path), metavar="FILE", help="inspect: the log that was imported.")
@json_option
def export(study: Path, out: Path | None, kind: str | None, shape: str, as_json: bool, **options: Any) -> None:
    """Write the labels out for other tools.

    Coders go by pseudonyms and notes stay out unless asked for. Every row carries its design stratum and inclusion
    probability, so that weighted numbers can be recomputed.
    """
    from annotate.console import emit_json, notice
    from annotate.exports import (
        anonymous,
        long_columns,
        long_rows,
        shown_on_screen,
        wide_rows,
        with_texts,
        write_rows,
        write_stream,
    )
    from db.blindness import record_lead_view
    from db.study import open_study

    chosen = kind or _by_name(out)
    if options["anonymise"] and (options["text"] or chosen in FORMS):
        raise click.UsageError(
            "--anonymise is for tables without texts: texts and other tools' forms name their source."
        )
    with open_study(study) as opened:
        record_lead_view(opened, "export")
        if chosen in FORMS:
            _other_tool(opened, chosen, out, as_json, options)
            return
        columns: tuple[str, ...] = ()
        if shape == "wide":
            rows = wide_rows(opened, names=options["show_names"])
        else:
            rows = long_rows(opened, names=options["show_names"], notes=options["notes"], times=options["times"])
            columns = long_columns(opened, notes=options["notes"], times=options["times"])
        shown = anonymous(rows) if options["anonymise"] else rows
        shown = with_texts(opened, rows) if options["text"] and not options["anonymise"] else shown
        with closing(rows):
            if out is None:
                screen = shown_on_screen(shown) if sys.stdout.isatty() else shown
                number = write_stream(screen, sys.stdout, "jsonl" if as_json else chosen, columns)
            else:
                number = write_rows(shown, out, chosen, columns)
    if out is None:
        if not number:
            notice("There is no label to export yet.")
    elif as_json:
        emit_json({"file": str(out), "rows": number, "shape": shape, "format": chosen})
    else:
        click.echo(f"Wrote {number:,} rows to {out}.")


def _by_name(out: Path | None) -> str:
    """The table that a file's name asks for; csv on the screen. Raises AnnotateError for a name that asks for none."""
    from db.errors import AnnotateError

    if out is None:
        return "csv"
    known = {"csv": "csv", "jsonl": "jsonl", "ndjson": "jsonl", "parquet": "parquet", "pq": "parquet", "xlsx": "xlsx"}
    kind = known.get(out.suffix.lower().lstrip("."))
    if kind is None:
        endings = ", ".join(f".{ending}" for ending in known)
        hint = f"Endings of tables: {endings}. Name another form with --format."
        raise AnnotateError(f"{out}: {out.suffix or 'a name without an ending'} says no form of table.", hint)
    return kind


def _other_tool(study: Study, kind: str, out: Path | None, as_json: bool, options: dict[str, Any]) -> None:
    """Write the form of another tool and say what went into it."""
    from annotate.console import emit_json
    from db.errors import AnnotateError

    if out is None:
        raise AnnotateError(f"The form {kind} goes into a file.", "Name one with --out.")
    facts, hybrid = _ehq(study, out) if kind == "ehq" else (_units(study, kind, out, options), {})
    if as_json:
        emit_json({"file": str(out), "format": kind, **facts, **({"hybrid": hybrid} if kind == "ehq" else {})})
        return
    click.echo(f"Wrote {', '.join(f'{number:,} {what}' for what, number in facts.items())} to {out}.")
    _show_hybrid(hybrid)


def _units(study: Study, kind: str, out: Path, options: dict[str, Any]) -> dict[str, int]:
    from annotate.exporting import Form, write_into_log, write_units
    from db.errors import AnnotateError

    form = Form(
        options["show_names"], options["notes"], options["blind"], options["text"] is not False, options["everything"]
    )
    if kind == "inspect":
        if options["log"] is None:
            raise AnnotateError("The labels go into a copy of a log.", "Name the log with --log.")
        found = write_into_log(study, options["log"], out, form)
    else:
        found = write_units(study, kind.replace("-", "_"), out, form)
    facts = {"units": found.units, "labels of people": found.people, "labels of judges": found.judges}
    return facts | ({"labels outside the sample left out": found.outside} if found.outside else {})


def _ehq(study: Study, out: Path) -> tuple[dict[str, int], dict[str, Any]]:
    """What was written, and the scores that ehq will make of it."""
    from annotate.analysis.loading import load_labels
    from annotate.analysis.reference import study_reference
    from annotate.exporters.ehq_adjudication import write_adjudication
    from annotate.exporters.hybrid import hybrid_scores
    from annotate.exporting import new_file
    from annotate.studies import study_protocol
    from db.export_rows import content_rows
    from db.labels import unit_rows

    new_file(out)
    reference = study_reference(load_labels(study, study_protocol(study)))
    found = write_adjudication(unit_rows(study), reference.human.label, out)
    scores = hybrid_scores(content_rows(study, everything=True), found.labels)
    facts = {"labels": found.written, "units without one label": found.open}
    return facts, {model: asdict(each) for model, each in scores.items()}


def _show_hybrid(scores: Mapping[str, Mapping[str, Any]]) -> None:
    from annotate.console import table

    if not scores:
        return
    title = "What ehq will report: people's labels where there are any, the rules' on all others, unweighted (hybrid)"
    parts = ("EHQ1", "EHQ2", "EHQ3", "EHQ")
    rows = [
        (
            model,
            *("undefined" if each[part] is None else f"{each[part]:.3f}" for part in parts),
            f"{each['people']:,}",
            f"{each['rules']:,}",
        )
        for model, each in scores.items()
    ]
    table(title, ("model", *parts, "people", "rules"), rows, right=range(1, 7))
