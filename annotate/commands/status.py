"""annotate status: show what the study holds and how far coding is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from annotate.commands.options import example, json_option, plain_option, study_argument


@click.command(epilog=example("annotate status study.db", "annotate status study.db --json"))
@study_argument
@click.option("--passphrase-file", type=click.Path(path_type=Path), metavar="FILE", help="Passphrase of a pack.")
@plain_option
@json_option
def status(study: Path, passphrase_file: Path | None, as_json: bool) -> None:
    """Show what the study holds and how far coding is.

    Counts only: no label of a judge or a coder is shown, so that whoever codes may look. Of a pack: whose it is and how
    far it is.
    """
    from annotate.console import emit_json
    from annotate.overview import status_facts
    from db.connection import is_pack
    from db.study import open_study

    if is_pack(study):
        from annotate.packing import tell_status

        tell_status(study, passphrase_file, as_json)
        return
    with open_study(study, read_only=True) as opened:
        facts = status_facts(opened)
    if as_json:
        emit_json(facts)
    else:
        _show(facts, study)


def _show(facts: dict[str, Any], study: Path) -> None:
    from annotate.console import table, typed, visible

    click.echo(visible(f"{facts['title']}: protocol {facts['protocol']}, version {facts['protocol_version']}"))
    counts = facts["counts"]
    told = [("item", counts["items"]), ("response", counts["responses"])]
    told += [("model", len(counts["models"]))] if counts["models"] not in ([], [""]) else []
    told += [("technical failure", counts["technical_failures"])]
    click.echo(", ".join(f"{number:,} {name}{'' if number == 1 else 's'}" for name, number in told))
    if counts["judges"]:
        rows = [(j["name"], *(f"{j[key]:,}" for key in ("labels", "not_labels", "missing"))) for j in counts["judges"]]
        table("", ("judge", "outputs", "not a label", "missing"), rows, right=(1, 2, 3))
    click.echo(_design(facts["design"]))
    if facts["coders"]:
        keys = ("total", "done", "skipped", "left", "flagged", "stale", "active_minutes")
        rows = [(c["coder"], c["kind"], c["round"], *(f"{c[key]:,}" for key in keys)) for c in facts["coders"]]
        heads = ("coder", "kind", "round", "units", "done", "skipped", "left", "flagged", "stale", "minutes")
        table("", heads, rows, right=range(3, 10))
    for entry in facts["coverage"]:
        click.echo(
            f"Round {entry['round']}: {entry['complete']:,} of {entry['units']:,} units have all their labels; "
            f"{entry['labels']:,} of {entry['meant']:,} labels are there, {entry['skips']:,} skipped for good."
        )
    for due in facts["due"]:
        click.echo(f"Due {due['due'][:10]}: {due['left']:,} of {due['coder']} in round {due['round']}.")
    click.echo(f"Next: {facts['next'].replace('{study}', typed(study))}")


def _design(design: dict[str, Any] | None) -> str:
    if design is None:
        return "No sample was drawn yet."
    if design["kind"] == "census":
        return f"Sample: the {design['n']:,} responses whose human labels were imported (a census)."
    if design["kind"] == "imported":
        return f"Sample: {design['n']:,} responses whose labels and probabilities were imported."
    by = ", ".join(design["by"]) or "no strata"
    what = "items" if design["unit"] == "item" else "responses"
    drawn = f"Sample: {design['n']:,} of {design['population']:,} {what}, by {by}"
    return f"{drawn}, {design['allocation']} allocation, seed {design['seed']}."
