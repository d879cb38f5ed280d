"""annotate merge: take in what was coded elsewhere."""

from __future__ import annotations

from pathlib import Path

import click

from annotate.commands.options import example, json_option, study_argument

EXAMPLES = example(
    "annotate merge study.db ada.pack ben.pack",
    "annotate merge study.db ada.db ben.db",
    "annotate merge study.db ada.db --coder Ada",
)


@click.command(epilog=EXAMPLES)
@study_argument
@click.argument("files", metavar="FILE…", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--coder", "coders", multiple=True, metavar="NAME", help="Only this coder's acts; may be repeated.")
@click.option(
    "--passphrase-file", type=click.Path(path_type=Path), metavar="FILE", help="Passphrase of encrypted packs."
)
@json_option
def merge(
    study: Path, files: tuple[Path, ...], coders: tuple[str, ...], passphrase_file: Path | None, as_json: bool
) -> None:
    """Take in what was coded in packs and copies of a study.

    In any order, and merging twice changes nothing. Each file comes in whole or not at all; a file that is refused
    leaves the others be. Refused: another study's, acts or items that were changed, labels outside the codebook, and
    what was coded in two places, item by item. The files are only read. Exit code 1 where one was refused, 2 where one
    cannot be read.
    """
    from annotate.console import emit_json, notice, table
    from annotate.merging import merge_files
    from annotate.plain import plain
    from db.study import open_study

    with open_study(study) as opened:
        found = merge_files(opened, files, coders, passphrase_file)
    if as_json:
        emit_json({"merged": plain(found.merged), "refused": [each.as_json() for each in found.refused]})
    else:
        rows = [
            (each.source, log.coder, f"{log.added:,}", f"{log.known:,}", f"{log.leases:,}")
            for each in found.merged
            for log in each.logs
        ]
        if rows:
            table("", ("file", "coder", "acts taken in", "known before", "leases ended"), rows, right=(2, 3, 4))
    for each in found.merged:
        if each.withdrawn:
            notice(f"{each.source}: {each.withdrawn:,} of its items {_WITHDRAWN}")
    for refused in found.refused:
        refused.tell()
    if found.refused:
        raise click.exceptions.Exit(max(each.code for each in found.refused))


_WITHDRAWN = "were given to another coder meanwhile: what was done there is in the record, its labels do not count."
