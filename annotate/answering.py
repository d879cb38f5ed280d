"""Answering a coder's question, and making the answer an edge case of the codebook."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from annotate.studies import study_protocol
from db.errors import AnnotateError
from db.lineage import change_protocol
from db.questions import answer_question
from db.records import Protocol
from db.study import Study


def answer(study: Study, assignment: str, text: str, edge_case: str | None = None) -> None:
    """Answer on the item; with ``edge_case`` the text becomes an edge case of that label as well.

    Raises AnnotateError where the codebook cannot take it; nothing is answered then.
    """
    changed = None if edge_case is None else with_edge_case(study_protocol(study), edge_case, text)
    answer_question(study, assignment, text)
    if changed is not None:
        change_protocol(study, changed, change="editorial")


def with_edge_case(protocol: Protocol, label: str, text: str) -> Protocol:
    """The protocol with one more edge case, in its own TOML text. Raises AnnotateError where that cannot be done."""
    from annotate.protocols import parse_protocol

    if label not in protocol.label_names:
        raise AnnotateError(f"{label} is no label of the codebook.", f"Labels: {', '.join(protocol.label_names)}.")
    rules = tuple(
        rule._replace(edge_cases=(*rule.edge_cases, text.strip())) if rule.name == label else rule
        for rule in protocol.labels
    )
    toml = _inserted(protocol.toml, label, text.strip())
    try:
        made = parse_protocol(toml, protocol.name)
    except AnnotateError:
        made = protocol
    if replace(made, toml="", digest="") != replace(protocol, labels=rules, toml="", digest=""):
        raise AnnotateError(
            f"The edge case cannot be put into the codebook of {label} from here.",
            "Write it into the file, then 'annotate protocol update'.",
        )
    return made


def _inserted(toml: str, label: str, text: str) -> str:
    """The text with a line at the end of the label's list of edge cases; a label without a list gets one."""
    line = f"  {json.dumps(text, ensure_ascii=False)},\n"
    tables = re.split(r"(?m)^(?=\[)", toml)
    for number, table in enumerate(tables):
        if not (table.startswith("[[label]]") and re.search(rf'(?m)^name\s*=\s*["\']{re.escape(label)}["\']', table)):
            continue
        lists = list(re.finditer(r"(?ms)^edge_cases\s*=\s*\[(.*?)^\]", table))
        if lists:
            end = lists[0].end() - 1
            head = table[:end].rstrip()
            comma = "" if head.endswith((",", "[")) else ","
            tables[number] = f"{head}{comma}\n{line}{table[end:]}"
        else:
            tables[number] = f"{table.rstrip()}\nedge_cases = [\n{line}]\n\n"
    return "".join(tables)
