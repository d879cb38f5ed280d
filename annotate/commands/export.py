"""annotate export: write the labels out for other tools."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from annotate.commands.options import example, json_option, study_argument

EXAMPLES = example(
    "annotate export study.db --out labels.csv",
    "annotate export study.db --shape wide --out labels.parquet",
    "annotate export study.db --format jsonl | head",
)


@click.command(epilog=EXAMPLES)
@study_argument
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="A new file. [default: the screen]"
)
@click.option(
    "--format", "kind", type=click.Choice(["csv", "jsonl", "parquet"]), help="[default: by the file's name, else csv]"
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
@json_option
def export(study: Path, out: Path | None, kind: str | None, shape: str, as_json: bool, **options: Any) -> None:
    """Write the labels out for other tools.

    Coders go by pseudonyms and notes stay out unless asked for. Every row carries its design stratum and inclusion
    probability, so that weighted numbers can be recomputed.
    """
    from annotate.console import emit_json, notice
    from annotate.exports import long_rows, wide_rows, write_rows, write_stream
    from db.blindness import record_lead_view
    from db.study import open_study

    chosen = kind or _by_name(out)
    with open_study(study) as opened:
        record_lead_view(opened, "export")
        if shape == "wide":
            rows = wide_rows(opened, names=options["show_names"])
        else:
            rows = long_rows(opened, names=options["show_names"], notes=options["notes"], times=options["times"])
        with closing(rows):
            if out is None:
                number = write_stream(rows, sys.stdout, "jsonl" if as_json else chosen)
            else:
                number = write_rows(rows, out, chosen)
    if out is None:
        if not number:
            notice("There is no label to export yet.")
    elif as_json:
        emit_json({"file": str(out), "rows": number, "shape": shape, "format": chosen})
    else:
        click.echo(f"Wrote {number:,} rows to {out}.")


def _by_name(out: Path | None) -> str:
    suffix = out.suffix.lower().lstrip(".") if out else ""
    return {"jsonl": "jsonl", "ndjson": "jsonl", "parquet": "parquet", "pq": "parquet"}.get(suffix, "csv")
