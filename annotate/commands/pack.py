"""annotate pack: write what one coder has to do into a file that is coded elsewhere."""

from __future__ import annotations

from pathlib import Path

import click

from annotate.commands.options import example, json_option, study_argument

EXAMPLES = example(
    "annotate pack study.db --coder Ada --out ada.pack",
    "annotate pack study.db --coder Ada --out ada.pack --passphrase   # asked for, and encrypts the file",
    "annotate code ada.pack                                           # there",
    "annotate merge study.db ada.pack                                 # here, when it comes back",
)


@click.command(epilog=EXAMPLES)
@study_argument
@click.option("--coder", required=True, metavar="NAME", help="Whose items: a name given to 'annotate assign'.")
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="New file.")
@click.option("--round", "rounds", multiple=True, metavar="NAME", help="Only this round; may be repeated.")
@click.option("--batch", type=int, metavar="N", help="Only this batch.")
@click.option("--passphrase", is_flag=True, help="Encrypt the file with a passphrase, which is asked for.")
@click.option("--passphrase-file", type=click.Path(path_type=Path), metavar="FILE", help="Read it from a file instead.")
@json_option
def pack(
    study: Path,
    coder: str,
    out: Path,
    rounds: tuple[str, ...],
    batch: int | None,
    passphrase: bool,
    passphrase_file: Path | None,
    as_json: bool,
) -> None:
    """Write what a coder has to do into a sealed file.

    For coders on other machines. It holds what this coder may see and nothing else: no model, no judge, no other coder.
    Until it is merged or recalled, its items are coded there and not here. Items of training rounds stay here.
    """
    from annotate.console import emit_json, typed, visible
    from annotate.studies import study_protocol
    from db.pack_make import make_pack
    from db.study import open_study

    secret = _passphrase(out, passphrase, passphrase_file)
    with open_study(study) as opened:
        made = make_pack(opened, coder, out, study_protocol(opened), rounds=rounds, batch=batch, passphrase=secret)
    if as_json:
        facts = {"pack": str(out), "id": made.log, "coder": made.coder, "items": made.items}
        emit_json({**facts, "training_left": made.training, "encrypted": secret is not None})
        return
    encrypted = ", encrypted" if secret is not None else ""
    click.echo(visible(f"{out}: {made.items:,} items of {coder}{encrypted}. They are coded there until it is merged."))
    if made.training:
        click.echo(f"{made.training:,} training items stay here: their feedback must not be in the file.")
    name = typed(out.name)
    click.echo(visible(f"There: annotate code {name}\nThen here: annotate merge {typed(study)} {name}"))


def _passphrase(out: Path, asked: bool, file: Path | None) -> str | None:
    if not asked and file is None:
        return None
    import importlib

    from annotate.packing import new_passphrase, passphrases

    importlib.import_module("pyrage")  # without it there is nothing to ask for
    return new_passphrase(out.name) if file is None else passphrases(file)(str(out))
