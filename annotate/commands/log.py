"""annotate log: the history of a unit, a coder or the whole study."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from annotate.commands.options import example, json_option, study_argument

if TYPE_CHECKING:
    from db.history import Event

EXAMPLES = example(
    "annotate log study.db q17",
    "annotate log study.db q17/gpt-4o",
    "annotate log study.db --coder Ada",
    "annotate log study.db --coder lead",
)


@click.command(epilog=EXAMPLES)
@study_argument
@click.argument("name", metavar="[UNIT|ITEM|ITEM/MODEL]", required=False)
@click.option("--coder", metavar="NAME", help="Every act of one coder; 'lead' for the lead's own.")
@json_option
def log(study: Path, name: str | None, coder: str | None, as_json: bool) -> None:
    """Show the history of a unit, a coder or the whole study.

    A unit or an assignment is named by its id, or by its item and model. Acts that were undone are marked. Labels are
    shown: what you label afterwards from the same account counts as open, and the record says so.
    """
    from annotate.console import emit_json
    from annotate.plain import plain
    from db.blindness import record_lead_view
    from db.coders import find_coder
    from db.history import history, log_events
    from db.study import open_study

    with open_study(study) as opened:
        if coder is not None and coder != "lead":
            find_coder(opened.connection, coder)
        found = list(log_events(opened, coder=coder) if name is None else history(opened, name))
        if name is not None and coder is not None:
            found = [event for event in found if event.coder == coder]
        if any(event.kind in {"label", "rating", "verdict"} for event in found):
            record_lead_view(opened, "log")
    if as_json:
        emit_json({"events": [plain(event) for event in found]})
    else:
        _show(found)


def _show(found: list[Event]) -> None:
    from annotate.console import table

    if not found:
        click.echo("Nothing was done there yet.")
        return
    heads = ("when (UTC)", "who", "log/row", "act", "what", "unit", "blindness", "codebook")
    table("", heads, _rows(found))
    undone = sum(event.undone for event in found)
    click.echo(f"{len(found):,} acts, {undone:,} of them undone.")


def _rows(found: list[Event]) -> Iterator[tuple[object, ...]]:
    for event in found:
        act = f"{event.kind} (undone)" if event.undone else event.kind
        when = (event.utc or "unknown")[:19].replace("T", " ")
        place = f"{event.log}/{event.seq}"
        yield when, event.coder, place, act, _words(event), event.unit or "", event.blindness, event.protocol_version


def _words(event: Event) -> str:
    """The content in a few words: ``label WRONG, note …``."""
    return ", ".join(f"{key} {_word(value)}" for key, value in event.body.items() if value is not None)


def _word(value: object) -> str:
    if isinstance(value, dict):
        value = {key: entry for key, entry in value.items() if not isinstance(entry, dict) or any(entry.values())}
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
