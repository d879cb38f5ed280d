"""SIMULATED coders for the example reports: programs that code a study through annotate's own record, skips included.

Nobody read these responses. Each program knows how the made-up texts were made, and errs at a known rate; what it says
of a response depends on its name and the text alone. They are entered with ``--simulated`` and
named so throughout; the one who decides has it in the name, for which the reports are written with ``--names``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

from annotate.adjudicating import open_cases
from annotate.protocols import parse_protocol
from db.adjudicating import Decision
from db.coding import CodingSession
from db.records import Act, CodingItem
from db.study import open_study

CODERS = ("simulated-1", "simulated-2")
ADJUDICATOR = "simulated-lead"
Says = Callable[[str, CodingItem], Act]


def uniform(*key: object) -> float:
    """A number in [0, 1) that depends on the key alone."""
    return int(hashlib.sha256("\x1f".join(map(str, key)).encode("utf-8")).hexdigest()[:13], 16) / 16**13


def code(study: Path, says: Says, *, unfinished: float = 0.0) -> None:
    """Both programs code what they were given; the second leaves the last share ``unfinished`` of its queue."""
    with open_study(study) as opened:
        protocol = parse_protocol(opened.protocol_toml, opened.protocol_name)
    for coder in CODERS:
        with CodingSession.open(study, coder, protocol) as session:
            left = session.progress.total * (1 - (unfinished if coder == CODERS[1] else 0))
            for _ in range(round(left)):
                item = session.next()
                if item is None:
                    break
                session.save(says(coder, item))


def adjudicate(study: Path, *, share: float, rating: bool = False) -> None:
    """The third program decides a share of what the two disagree on, by the same rule as they, without their slips."""
    with open_cases(study, ADJUDICATOR) as session:
        for unit in session.queue().units:
            item = session.case(unit).item
            if uniform(ADJUDICATOR, item.question, item.text, item.reason) >= share:
                continue
            if rating:
                session.decide(unit, Decision(None, aligned(item), reason="slip"))
            else:
                session.decide(unit, Decision(answered(item), reason="slip"))


# --- WikiProfile: what the made-up texts say ----------------------------------------------------------------------


def answered(item: CodingItem) -> str:
    """The label that the made-up text was written for."""
    text, gold = item.text, item.gold[0]
    if text in ("", "I do not know.", "Harbours have a long history."):
        return "OTHER"
    if gold in text:
        return "CORRECT"
    return "PARTIALLY" if text.startswith(("In the ", "One of the ")) else "INCORRECT"


def wikiprofile(coder: str, item: CodingItem) -> Act:
    key = (coder, item.question, item.text)
    if uniform(*key, "skip") < 0.02:
        return Act("skip", item.assignment, reason="cannot be judged", active_ms=4000)
    label = answered(item)
    if uniform(*key, "care") > 0.95:
        label = "OTHER" if label in ("PARTIALLY", "INCORRECT") else "PARTIALLY"
    return Act("label", item.assignment, label=label, active_ms=2500)


# --- NAS: how many propositions of the rationale stand in the reason ----------------------------------------------


def aligned(item: CodingItem) -> int:
    """0, 40, 75 or 100 for none to three propositions of the rationale, ten less for each that is not in it.

    60 less in one response of ten, made up too: what people see and the judge does not.
    """
    said, known = (
        set(re.findall(r"because (.+?)(?=, because |\.$)", text or "")) for text in (item.reason, item.rationale)
    )
    unseen = 60 if uniform(item.question, item.choice, item.reason, "unseen") < 0.1 else 0
    return max(0, (0, 40, 75, 100)[min(3, len(said & known))] - 10 * len(said - known) - unseen)


def nas(coder: str, item: CodingItem) -> Act:
    key = (coder, item.question, item.choice, item.reason)
    if uniform(*key, "skip") < 0.02:
        return Act("skip", item.assignment, reason="cannot be judged", active_ms=9000)
    noise = round(24 * (uniform(*key, "a") + uniform(*key, "b") - 1))
    return Act("rating", item.assignment, rating=min(100, max(0, aligned(item) + noise)), active_ms=8000)
