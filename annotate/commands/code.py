"""annotate code: code responses in the terminal. Imports neither numpy nor pandas: it must start fast."""

from __future__ import annotations

from pathlib import Path

import click

from annotate.commands.options import example, json_option, study_argument, theme_option

EXAMPLES = example(
    "annotate code study.db --coder Ada",
    "annotate code ada.pack",
    "annotate code study.db --coder Ada --plain   # line by line, for screen readers",
)


@click.command(epilog=EXAMPLES)
@study_argument
@click.option("--coder", metavar="NAME", help="Who codes: a name given to 'annotate assign'. A pack knows whose it is.")
@click.option(
    "--plain", is_flag=True, help="Line by line instead of a full screen: for screen readers and dumb terminals."
)
@click.option("--no-mouse", is_flag=True, help="Leave the mouse to the terminal, for selecting text.")
@theme_option
@click.option("--keymap", type=click.Path(path_type=Path), metavar="FILE", help="Your own keys.")
@click.option("--take-over", is_flag=True, help="End another session of this coder and go on here.")
@click.option("--passphrase-file", type=click.Path(path_type=Path), metavar="FILE", help="Passphrase of a pack.")
@json_option
def code(
    study: Path,
    coder: str | None,
    plain: bool,
    no_mouse: bool,
    theme: str | None,
    keymap: Path | None,
    take_over: bool,
    passphrase_file: Path | None,
    as_json: bool,
) -> None:
    """Code responses in the terminal, of a study or of a pack.

    One key a label; each is saved durably before the next response is shown. Stop whenever you like, with Ctrl+C or by
    closing the terminal: the next session goes on where this one stopped. Press ? in the screen for all keys.
    """
    from annotate.coding import run_session

    run_session(
        study,
        coder,
        plain=plain,
        mouse=False if no_mouse else None,
        theme=theme,
        keymap=keymap,
        take_over=take_over,
        passphrase_file=passphrase_file,
        as_json=as_json,
    )
