"""Studies that were coded through the record itself: with skips, flags, an overlap, unfinished queues, adjudication."""

from __future__ import annotations

import hashlib
from pathlib import Path

from annotate.__main__ import run
from annotate.adjudicating import open_cases
from annotate.protocols import parse_protocol
from db.adjudicating import Decision
from db.coding import CodingSession
from db.records import Act, CodingItem
from db.study import open_study

LABELS = ("ABSTAIN", "HEDGE", "CORRECT", "WRONG")


def chance(*key: object) -> float:
    return int(hashlib.sha256(repr(key).encode()).hexdigest()[:13], 16) / 16**13


def do(*arguments: object) -> None:
    assert run([str(argument) for argument in arguments]) == 0, arguments


def ragged(path: Path) -> Path:
    """An EHQ study that nobody finished: ``path`` holds the sample's run; 150 drawn, three fifths of them to both.

    One in twelve is skipped, one in twenty flagged as technical, Ben stops after 70; half of the disagreements are
    decided; one in eight comes back unseen.
    """
    do("sample", path, "--n", 150, "--seed", 5, "--by", "model,judge_label", "--anyway")
    do("assign", path, "--coders", "Ada,Ben", "--overlap", 0.6, "--repeats", 0.12, "--seed", 3)
    with open_study(path) as study:
        protocol = parse_protocol(study.protocol_toml, study.protocol_name)
    for coder, most in (("Ada", 400), ("Ben", 70)):
        with CodingSession.open(path, coder, protocol) as session:
            for _ in range(most):
                if (item := session.next()) is None:
                    break
                for act in acts(coder, item):
                    session.save(act)
    with open_cases(path, "Lea") as session:
        for unit in session.queue().units[::2]:
            session.decide(unit, Decision("WRONG", reason="slip"))
    return path


def acts(coder: str, item: CodingItem) -> list[Act]:
    """A label by the text's length, a slip now and then, a skip, a flag beside the label."""
    at = len(item.text) % 3 if chance(coder, item.question, item.text, "slip") < 0.8 else 3
    label = "WRONG" if at == 3 else LABELS[at]
    if chance(item.question, item.text, "skip") < 1 / 12:
        return [Act("skip", item.assignment, reason=SKIP, active_ms=1000)]
    found = [Act("label", item.assignment, label=label, note="by rule", active_ms=2000)]
    if chance(item.question, item.text, "technical") < 1 / 20:
        found.insert(0, Act("flag", item.assignment, flag="technical"))
    return found


SKIP = "cannot be judged"
