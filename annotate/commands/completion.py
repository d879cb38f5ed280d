"""annotate completion: what a shell needs to complete commands, options and files."""

from __future__ import annotations

import click

from annotate.commands.options import example, json_option


@click.command(
    epilog=example(
        "annotate completion bash > ~/.local/share/bash-completion/completions/annotate",
        "annotate completion zsh > ~/.zfunc/_annotate      # with ~/.zfunc in fpath",
        "annotate completion fish > ~/.config/fish/completions/annotate.fish",
    )
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@json_option
def completion(shell: str, as_json: bool) -> None:
    """Print what a shell needs to complete commands, options and files.

    Write it where the shell looks for completions, and open a new shell.
    """
    from click.shell_completion import get_completion_class

    from annotate.cli import cli
    from annotate.console import emit_json

    found = get_completion_class(shell)
    assert found is not None
    script = found(cli, {}, "annotate", "_ANNOTATE_COMPLETE").source()
    if as_json:
        emit_json({"shell": shell, "script": script})
    else:
        click.echo(script)
