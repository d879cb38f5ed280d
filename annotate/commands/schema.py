"""annotate schema: the JSON Schema of what a command prints with --json."""

from __future__ import annotations

import click

from annotate.commands.options import example, json_option


@click.command(epilog=example("annotate schema", "annotate schema status > status.schema.json"))
@click.argument("command", nargs=-1, metavar="[COMMAND | results]")
@json_option
def schema(command: tuple[str, ...], as_json: bool) -> None:
    """Print the JSON Schema of what a command prints with --json.

    Without a command: the names of all. `results` is the schema of a report's results.json. A schema is JSON by itself;
    --json makes the list of names JSON too.
    """
    from annotate.console import emit_json
    from annotate.schemas.documents import names
    from annotate.schemas.documents import schema as find

    if not command:
        if as_json:
            emit_json(names())
        else:
            click.echo("\n".join(names()))
        return
    name = " ".join(command)
    if name not in names():
        raise click.UsageError(f"{name!r} has no schema. `annotate schema` without a name lists what has.")
    emit_json(find(name))
