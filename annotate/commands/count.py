"""annotate count: count responses where they lie, into a small table of cells."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from annotate.commands.options import example, json_option, plain_option
from annotate.commands.source_options import engine_of, request_of, source_options

if TYPE_CHECKING:
    from annotate.counting.cell_file import CellTable

EXAMPLES = example(
    "annotate count runs/ --protocol ehq --out cells.parquet",
    "annotate count 'runs/*.parquet' --protocol correctness --map id=item,model=model,gpt=judge.gpt --out c.parquet",
    "annotate count runs/ --protocol wikiprofile --engine spark://master:7077 --out cells.parquet",
)


@click.command(epilog=EXAMPLES)
@click.argument("source", metavar="SOURCE")
@click.option("--protocol", required=True, metavar="NAME|FILE", help="Whose labels and scores: shipped, or a file.")
@click.option(
    "--out", required=True, type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Where cells go."
)
@click.option("--with-items", is_flag=True, help="Count by question too: for intervals of a population of questions.")
@source_options
@click.option("--force", is_flag=True, help="Write over a table of cells that is there.")
@plain_option
@json_option
def count(source: str, protocol: str, out: Path, with_items: bool, force: bool, as_json: bool, **options: Any) -> None:
    """Count responses where they lie, into a small table of cells.

    SOURCE is a folder, a pattern ('runs/*.parquet') or a file of Parquet, JSONL or CSV, or a table of the engine. The
    cells take the place of rows in impact, agreement and report (--cells FILE): the same numbers, at the same cost for
    any number of responses. Every record read is accounted for; those left out are listed with file and line.
    """
    from annotate.console import emit_json
    from annotate.counting.cell_file import check_target, write_cells
    from annotate.counting.run import count_source
    from annotate.counting.watching import Watching
    from annotate.protocols import load_protocol

    check_target(out, source=source, force=force)
    request = request_of(source, load_protocol(protocol), options, items=with_items)
    engine = engine_of(options)
    try:
        with Watching("Counting", engine.done):
            table = count_source(engine, request)
    finally:
        engine.close()
    write_cells(table, out, force=force)
    if as_json:
        emit_json({**table.facts(), "digest": table.digest, "size": len(table.cells), "run": dict(table.run)})
        return
    _show(table, out)


def _show(table: CellTable, out: Path) -> None:
    from annotate.console import table as show

    list_left_out(table)
    account = table.account
    rows = [("read", account["read"]), *((f"left out: {kind}", n) for kind, n in account["left_out"].items())]
    rows.append(("counted", account["counted"]))
    rows += [(f"of these no label of the protocol: {judge}", n) for judge, n in account["not_labels"].items() if n]
    show("", ("records", "number"), [(name, f"{n:,}") for name, n in rows], right=(1,))
    number = table.run["files"]
    files = "" if not number else " of 1 file" if number == 1 else f" of {number:,} files"
    click.echo(f"{len(table.cells):,} cells{files} in {out}, digest {table.digest[:16]}.")


def list_left_out(table: CellTable) -> None:
    """Say which records were left out, the first hundred of each kind."""
    from annotate.console import notice

    for entry in table.run["malformed"]:
        line = "" if entry["line"] is None else f", line {entry['line']}"
        notice(f"{entry['file']}{line}: {entry['kind']}")
    for entry in table.run["duplicates"]:
        names = ("item", "model", "condition", "repeat")
        key = ", ".join(f"{name} {entry[name]}" for name in names if entry.get(name))
        notice(f"{entry['kind']}: {entry['records']:,} records of {key}")
    for judge, said in table.run["outside"].items():
        for entry in said:
            notice(f"no label of the protocol, said by {judge}: {entry['said']!r} ({entry['n']:,})")
    if table.run["not_read"]:
        notice(f"Not read, of another kind: {', '.join(table.run['not_read'][:5])}.")
