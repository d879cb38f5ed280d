"""annotate import: bring in items, responses, judge labels and human labels."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from annotate.commands.options import example, json_option, study_argument

if TYPE_CHECKING:
    from annotate.importing import Preview, Wanted
    from db.import_report import ImportReport

FILE = click.Path(path_type=Path)
EXAMPLES = example(
    "annotate import study.db --format ehq --items EHQ-120.json --records records.jsonl",
    "annotate import study.db --format table answers.csv --dry-run",
    "annotate import study.db --format table answers.csv --map 'id=item,question=question,answer=response'",
    "annotate import study.db --recipe openqa data/openqa-nq301/",
)


@click.command("import", epilog=EXAMPLES)
@study_argument
@click.argument("files", metavar="[FILES]…", nargs=-1, type=FILE)
@click.option("--format", "format_", default="", metavar="NAME", help="ehq, table, …; found out where it can be.")
@click.option("--items", type=FILE, metavar="FILE", help="The benchmark's items (ehq).")
@click.option("--records", type=FILE, multiple=True, metavar="FILE", help="Records that ehq wrote; may be repeated.")
@click.option(
    "--recipe", default="", metavar="NAME|R.toml", help="Several files at once: openqa, xstest, pandalm or yours."
)
@click.option("--map", "map_", default="", metavar="MAP", help="column=field,… or MAP.toml; 'guess' takes the guess.")
@click.option(
    "--judge",
    "--judge-column",
    "judges",
    multiple=True,
    metavar="COLUMN",
    help="A column of a judge's labels; may be repeated.",
)
@click.option("--tiebreak", default="", metavar="COLUMN", help="A coder who counts only where the others differ.")
@click.option("--pi", default="", metavar="COLUMN", help="The inclusion probability of each row.")
@click.option("--weight", default="", metavar="COLUMN", help="The design weight of each row, 1/pi.")
@click.option("--option", "more", multiple=True, metavar="NAME=VALUE", help="A further option of the format.")
@click.option("--simulated", is_flag=True, help="The human labels were simulated; they are named so wherever shown.")
@click.option(
    "--on-error", type=click.Choice(["stop", "skip"]), default="stop", show_default=True, help="Rejected rows."
)
@click.option("--dry-run", is_flag=True, help="Show the mapping and five rows; change nothing.")
@json_option
def import_(study: Path, files: tuple[Path, ...], dry_run: bool, as_json: bool, **options: Any) -> None:
    """Bring in items, responses, judge labels and human labels.

    Rows that are refused are listed with their line and reason. With --on-error stop the study is then unchanged. The
    same source imported twice is recognised, not doubled. Human labels without --pi or --weight are taken as a census.
    """
    wanted = _wanted(files, options)
    if dry_run:
        _show_preview(wanted, as_json)
        return
    report, notes = _run(study, wanted, options["on_error"], options["simulated"])
    _show(report, notes, as_json)


def _wanted(files: tuple[Path, ...], options: dict[str, Any]) -> Wanted:
    from annotate.importing import Wanted

    given = ([options["items"]] if options["items"] else []) + list(options["records"])
    chosen = {name: options[name] for name in ("tiebreak", "pi", "weight") if options[name]}
    columns = [options["map_"], *(f"{column}=judge.{column}" for column in options["judges"])]
    if any(columns):
        chosen["map"] = ",".join(column for column in columns if column)
    chosen |= dict(_pair(text) for text in options["more"])
    format_ = options["format_"] or ("ehq" if given else "")
    return Wanted((*given, *files), options["recipe"], format_, chosen)


def _pair(text: str) -> tuple[str, str]:
    name, given, value = text.partition("=")
    if not given:
        raise click.UsageError(f"--option {text}: expected NAME=VALUE.")
    return name.replace("-", "_"), value


def _run(study: Path, wanted: Wanted, on_error: Any, simulated: bool) -> tuple[ImportReport, list[str]]:
    from annotate.importing import make_ready, run_import
    from annotate.progress import Progress
    from db.import_report import ImportRefused
    from db.study import open_study

    with open_study(study) as opened:
        job = make_ready(wanted)
        try:
            with Progress("Importing") as progress:
                report = run_import(opened, job, on_error=on_error, simulated=simulated, progress=progress)
            _need_rows(wanted, report)
        except ImportRefused as refused:
            _list_rejects(refused.report)
            raise
        notes = list(job.tally.notes)
        if job.protocol and job.protocol != opened.protocol_name:
            notes.append(f"these labels are those of protocol {job.protocol}; the study has {opened.protocol_name}")
        return report, notes


def _need_rows(wanted: Wanted, report: ImportReport) -> None:
    """A file without a row is no import that went well: most likely it was cut off, or is the wrong one."""
    from db.errors import AnnotateError

    if any(count.read for count in report.kinds.values()) or report.unreadable or report.rejected:
        return
    names = ", ".join(str(path) for path in wanted.files)
    raise AnnotateError(f"{names}: not a single row was read. Nothing was imported.", "Is the file cut off?")


def _list_rejects(report: ImportReport) -> None:
    from annotate.console import notice

    for reject in report.rejects:
        notice(f"{reject.source}, row {reject.row}: {reject.reason}")
    if len(report.rejects) < report.rejected:
        notice(f"… and {report.rejected - len(report.rejects):,} more")


def _show(report: ImportReport, notes: list[str], as_json: bool) -> None:
    from annotate.console import emit_json, notice, table, visible
    from annotate.importing import report_facts

    if as_json:
        emit_json(report_facts(report, notes))
        return
    _list_rejects(report)
    heads = ("rows", "read", "imported", "unchanged", "already there", "blank", "refused")
    rows = [
        (kind, *(f"{n:,}" for n in (c.read, c.imported, c.unchanged, c.already, c.blank, c.rejected)))
        for kind, c in report.kinds.items()
        if c.read
    ]
    if report.unreadable:  # of which kind they would have been is not known
        rows.append(("other records", f"{report.unreadable:,}", "0", "0", "0", "0", f"{report.unreadable:,}"))
    table("", heads, rows, right=range(1, 7))
    for note in (*report.notes, *notes):
        notice(f"Note: {note}.")
    if report.replaced:
        notice(f"Note: {report.replaced:,} characters that no file can store were replaced by U+FFFD.")
    if report.batch is None:
        click.echo("Nothing new: everything in these files is in the study already.")
        return
    for what, names in (("Judges", report.judges), ("Coders", report.coders)):
        if names:
            click.echo(visible(f"{what}: {', '.join(names)}"))
    sys.stdout.flush()


def _show_preview(wanted: Wanted, as_json: bool) -> None:
    from dataclasses import asdict

    from annotate.console import emit_json
    from annotate.importing import preview

    found = preview(wanted)
    if as_json:
        emit_json(asdict(found))
        return
    _print_preview(found)


def _print_preview(found: Preview) -> None:
    from annotate.console import visible

    click.echo(f"Format: {found.format}. Nothing was imported.")
    if found.mapping:
        click.echo(f"Mapping: --map '{visible(found.mapping)}'")
    if found.left:
        click.echo(f"Kept beside the response, not used: {visible(', '.join(found.left))}")
    for row in found.rows:
        told = ", ".join(f"{name} {_said(value)}" for name, value in row.items() if name not in ("kind", "source"))
        click.echo(visible(_cut(f"{row['kind']}: {told}")))


def _said(value: Any) -> str:
    """A value as a person reads it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return " | ".join(map(_said, value))
    return f"“{value}”" if isinstance(value, str) else str(value)


def _cut(text: str, width: int = 240) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
