"""annotate compare: tell two reports apart."""

from __future__ import annotations

from pathlib import Path

import click

from annotate.commands.options import example, json_option


@click.command(epilog=example("annotate compare report-1/ report-2/"))
@click.argument("first", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("second", metavar="DIR", type=click.Path(path_type=Path))
@json_option
def compare(first: Path, second: Path, as_json: bool) -> None:
    """Tell two reports apart.

    Says what the two are of (codebook, files, sample, labels, seeds) where that differs, and which scores, ranks and
    coefficients moved. Whether two intervals overlap is no test of the difference: the reports may share their labels.
    """
    from annotate.comparing import compare_reports
    from annotate.console import emit_json, table
    from annotate.plain import plain

    found = compare_reports(first, second)
    if as_json:
        moved = [plain(each) | {"change": each.change} for each in found.moved]
        emit_json(
            {
                "differs": [{"what": what, "first": a, "second": b} for what, a, b in found.differs],
                "moved": moved,
                "only": [{"what": what, "in": where} for what, where in found.only],
                "same": found.same,
            }
        )
        return
    if found.differs:
        table("What the reports are of", ("what", "first", "second"), found.differs)
    overlap = {True: "overlap", False: "apart", None: "–"}
    rows = [(m.what, _shown(m.first), _shown(m.second), _change(m.change), overlap[m.overlap]) for m in found.moved]
    if rows:
        head = ("number", "first", "second", "change", "intervals")
        table("Numbers that moved", head, rows, right=(1, 2, 3))
    if found.only:
        table("Only in one", ("number", "in"), found.only)
    click.echo(f"{found.same:,} numbers are the same, {len(found.moved):,} moved, {len(found.only):,} are in one only.")


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _change(value: float | None) -> str:
    return "–" if value is None else f"{value:+.3f}"
