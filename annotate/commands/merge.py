"""annotate merge: take in what was coded elsewhere."""

from __future__ import annotations

from pathlib import Path

import click

from annotate.commands.options import example, json_option, study_argument

EXAMPLES = example("annotate merge study.db ada.db ben.db", "annotate merge study.db ada.db --coder Ada")


@click.command(epilog=EXAMPLES)
@study_argument
@click.argument("copies", metavar="COPY.db…", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--coder", "coders", multiple=True, metavar="NAME", help="Only this coder's acts; may be repeated.")
@json_option
def merge(study: Path, copies: tuple[Path, ...], coders: tuple[str, ...], as_json: bool) -> None:
    """Take in what was coded in copies of a study.

    In any order, and merging twice changes nothing. Refused, and nothing is taken in from that file: another study,
    acts that were changed, and a log that went on in two places. The copies are only read.
    """
    from annotate.console import emit_json, table
    from annotate.plain import plain
    from db.merge import merge_copy
    from db.study import open_study

    merged = []
    with open_study(study) as opened:
        for path in copies:
            with open_study(path, read_only=True) as copy:
                merged.append(merge_copy(opened, copy, coders=coders or None))
    if as_json:
        emit_json({"merged": plain(merged)})
        return
    rows = [
        (each.source, log.coder, f"{log.added:,}", f"{log.known:,}", f"{log.leases:,}")
        for each in merged
        for log in each.logs
    ]
    table("", ("file", "coder", "acts taken in", "known before", "leases ended"), rows, right=(2, 3, 4))
