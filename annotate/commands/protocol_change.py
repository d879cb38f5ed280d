"""annotate protocol diff and update: a codebook that changes while people code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from annotate.commands.options import example, json_option, names, study_argument

SHOWN_UNITS = 20


@click.command("diff", epilog=example("annotate protocol diff study.db new.toml", "annotate protocol diff study.db"))
@study_argument
@click.argument("name", metavar="[NAME|FILE.toml]", required=False)
@json_option
def diff(study: Path, name: str | None, as_json: bool) -> None:
    """Show how a codebook differs from the one in force, and which labels the change would make stale.

    Without a file: how the versions of this study differ from each other. Changes nothing.
    """
    from annotate.codebook_change import differences, plan_change, plan_facts
    from annotate.console import emit_json
    from annotate.protocols import load_protocol, parse_protocol
    from annotate.studies import study_protocol
    from db.lineage import protocol_versions
    from db.study import open_study

    with open_study(study) as opened:
        if name is not None:
            plan = plan_change(opened, study_protocol(opened), load_protocol(name), change=None)
            if as_json:
                emit_json(plan_facts(plan))
            else:
                _show(plan)
            return
        versions = protocol_versions(opened)
    parsed = [(version, parse_protocol(version.toml, version.name)) for version in versions]
    facts: list[dict[str, Any]] = [
        {
            "version": version.version,
            "change": version.change,
            "touches": dict(version.touches),
            "differences": [each.what for each in differences(before[1], protocol)] if before else [],
        }
        for before, (version, protocol) in zip([None, *parsed], parsed, strict=False)
    ]
    if as_json:
        emit_json(facts)
        return
    for each in facts:
        click.echo(f"Version {each['version']}: {each['change']}. {'; '.join(each['differences'])}")


@click.command(
    "update",
    epilog=example(
        "annotate protocol update study.db new.toml --editorial",
        "annotate protocol update study.db new.toml --substantive --labels HEDGE --where category=FEQ",
    ),
)
@study_argument
@click.argument("name", metavar="NAME|FILE.toml")
@click.option("--editorial", "change", flag_value="editorial", help="Labels that were given stay valid.")
@click.option("--substantive", "change", flag_value="substantive", help="Labels that it touches are coded again.")
@click.option(
    "--labels", default="", metavar="LABEL,…", help="Touched: these labels. [default: as the difference says]"
)
@click.option("--where", "conditions", multiple=True, metavar="FIELD=VALUE,…", help="Touched: only these units.")
@json_option
def update(study: Path, name: str, change: Any, labels: str, conditions: tuple[str, ...], as_json: bool) -> None:
    """Put a changed codebook in force, and requeue the labels that its rule touches, and only those.

    Coders who are at work see the change and confirm it before their next label. What became stale keeps its old label
    until it is coded again, and is no part of the human reference meanwhile. Say --editorial or --substantive where the
    difference may change what a label means.
    """
    from annotate.codebook_change import plan_change, plan_facts, put_in_force
    from annotate.console import emit_json
    from annotate.protocols import load_protocol
    from annotate.studies import study_protocol
    from db.errors import AnnotateError
    from db.study import open_study

    after = load_protocol(name)
    with open_study(study) as opened:
        plan = plan_change(
            opened,
            study_protocol(opened),
            after,
            change=change,
            labels=names(labels),
            where=dict(_condition(each) for each in conditions),
        )
        if change is None and plan.change == "substantive":
            _show(plan)
            raise AnnotateError(
                "Whether labels that were given stay valid is yours to say; nothing was changed.",
                "Add --editorial, or --substantive with --labels and --where as you need them.",
            )
        stale = put_in_force(opened, after, plan)
        version = opened.protocol_version
    if as_json:
        emit_json(plan_facts(plan) | {"version": version, "stale": stale})
        return
    click.echo(f"Version {version} is in force ({plan.change}). {stale:,} labels are stale and back in the queues.")


def _condition(text: str) -> tuple[str, tuple[str, ...]]:
    from db.errors import AnnotateError

    field, equals, values = text.partition("=")
    if not equals or not field.strip() or not names(values):
        raise AnnotateError(f"--where {text!r} is no condition.", "Write FIELD=VALUE, as category=FEQ.")
    return field.strip(), names(values)


def _show(plan: Any) -> None:
    from annotate.console import table

    if not plan.differences:
        click.echo("No difference in what coders read, press or are scored by.")
        return
    rows = [(each.what, each.before, each.after, _meaning(each)) for each in plan.differences]
    table("", ("what", "in force", "new", "may change"), rows)
    touched = plan.touched
    if touched is None:
        click.echo("Editorial: every label stays valid.")
        return
    click.echo(f"Substantive: {touched.annotations:,} labels on {len(touched.units):,} units would be stale.")
    if touched.finals:
        click.echo(f"{touched.finals:,} of them are final labels of the adjudication.")
    if touched.units:
        table("", ("coder", "to code again"), [(who, f"{n:,}") for who, n in touched.coders.items()], right=(1,))
        shown = [(u.unit, u.item, u.question, ", ".join(u.labels)) for u in touched.units[:SHOWN_UNITS]]
        table("", ("unit", "item", "question", "labels"), shown)
        if len(touched.units) > SHOWN_UNITS:
            click.echo(f"… and {len(touched.units) - SHOWN_UNITS:,} more; --json has them all.")


def _meaning(difference: Any) -> str:
    if difference.labels is None:
        return "any label"
    return ", ".join(difference.labels) or "nothing"
