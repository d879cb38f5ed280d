"""annotate questions: what coders ask about items, and the lead's answers."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from annotate.commands.options import example, json_option, study_argument

EXAMPLES = example(
    "annotate questions study.db",
    "annotate questions study.db --answer ID --text 'Politeness is no hedge.'",
    "annotate questions study.db --answer ID --text 'Politeness is no hedge.' --edge-case HEDGE",
)


@click.command(epilog=EXAMPLES)
@study_argument
@click.option("--all", "everything", is_flag=True, help="Also those that are answered.")
@click.option("--answer", metavar="ID", help="Answer this question.")
@click.option("--text", default="", metavar="TEXT", help="With --answer: the answer; its coder sees it on the item.")
@click.option("--edge-case", metavar="LABEL", help="With --answer: also make it an edge case of this label.")
@json_option
def questions(
    study: Path, everything: bool, answer: str | None, text: str, edge_case: str | None, as_json: bool
) -> None:
    """Show what coders ask about items, and answer.

    A coder asks by flagging an item for discussion with a note. The answer comes back on that item. As an edge case it
    becomes part of the codebook: an editorial change, which every coder confirms before the next label.
    """
    from annotate.answering import answer as give
    from annotate.console import emit_json, table
    from db.questions import all_questions, open_questions
    from db.study import open_study

    with open_study(study) as opened:
        if answer is not None:
            give(opened, answer, text, edge_case)
        found = all_questions(opened) if everything else open_questions(opened)
    if as_json:
        emit_json([asdict(each) for each in found])
        return
    rows = [
        (each.assignment, each.coder, each.question[:80], each.label or "", each.asked or "", each.answer or "")
        for each in found
    ]
    title = f"{len(rows):,} question{'' if len(rows) == 1 else 's'}"
    table(title, ("id", "coder", "item", "label", "asks", "answer"), rows)
