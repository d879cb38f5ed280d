"""annotate protocol: list, show, check and change codebooks."""

from __future__ import annotations

import click

from annotate.commands.options import example, json_option
from annotate.commands.protocol_change import diff, update


@click.group(epilog=example("annotate protocol show ehq", "annotate protocol check my-codebook.toml"))
def protocol() -> None:
    """Show, check or change a protocol.

    A protocol is a TOML file: the labels with their keys, definitions and examples, the rating, how judges' outputs map
    onto the labels, and which scores apply. Start your own from 'annotate protocol show NAME --toml'.
    """


@protocol.command("list", epilog=example("annotate protocol list"))
@json_option
def list_(as_json: bool) -> None:
    """List the protocols that come with the program."""
    from annotate.console import emit_json, table
    from annotate.protocols import load_protocol, shipped_protocols

    found = [load_protocol(name) for name in shipped_protocols()]
    if as_json:
        emit_json([{"name": each.name, "title": each.title, "labels": list(each.label_names)} for each in found])
        return
    rows = [(each.name, ", ".join(each.label_names) or "rating only", each.title) for each in found]
    table("", ("protocol", "labels", "asks"), rows)


@protocol.command("show", epilog=example("annotate protocol show ehq", "annotate protocol show ehq --toml > mine.toml"))
@click.argument("name", metavar="NAME|FILE.toml")
@click.option("--toml", "as_toml", is_flag=True, help="Print the file itself, to start your own from.")
@json_option
def show(name: str, as_toml: bool, as_json: bool) -> None:
    """Print a codebook as its coders read it."""
    from annotate.codebook import print_codebook, protocol_facts
    from annotate.console import emit_json
    from annotate.protocols import load_protocol

    found = load_protocol(name)
    if as_json:
        emit_json(protocol_facts(found))
    elif as_toml:
        click.echo(found.toml, nl=False)
    else:
        print_codebook(found)


@protocol.command("check", epilog=example("annotate protocol check my-codebook.toml"))
@click.argument("name", metavar="NAME|FILE.toml")
@json_option
def check(name: str, as_json: bool) -> None:
    """Read a protocol, and say what it holds or what is wrong with it and on which line."""
    from annotate.codebook import protocol_facts
    from annotate.console import emit_json
    from annotate.protocols import load_protocol

    found = load_protocol(name)
    if as_json:
        emit_json({"valid": True, **protocol_facts(found)})
        return
    keys = ", ".join(f"{label.key} {label.name}" for label in found.labels) or "rating only"
    scores = ", ".join(score.name for score in found.scores) or "none"
    click.echo(f"{found.name}, version {found.version}: in order. Keys: {keys}. Scores: {scores}.")


protocol.add_command(diff)
protocol.add_command(update)
