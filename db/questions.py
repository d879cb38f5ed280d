"""Questions of coders: an item flagged for discussion with a note; the lead's answer comes back on that item."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from db.connection import writing
from db.faults import Refused
from db.ids import RandomBytes
from db.lead import record
from db.study import Study
from db.texts import keep_text

DISCUSS = "discuss"


@dataclass(frozen=True, slots=True)
class Question:
    """What a coder asked about an item (``asked`` None: flagged without a word), and the answer if there is one."""

    assignment: str
    unit: str
    item: str
    question: str
    coder: str
    label: str | None
    asked: str | None
    answer: str | None


_QUESTIONS = """
    SELECT a.uid, u.public_id, i.key, i.question, c.pseudonym, n.label, t.text,
           (SELECT x.text FROM answers w JOIN texts x ON x.digest = w.text WHERE w.assignment_id = a.id
            ORDER BY w.id DESC LIMIT 1)
    FROM annotations n
    JOIN assignments a ON a.id = n.assignment_id
    JOIN coders c ON c.id = a.coder_id
    JOIN units u ON u.id = a.unit_id
    JOIN responses r ON r.id = u.response_id
    JOIN items i ON i.id = r.item_id
    LEFT JOIN texts t ON t.digest = n.note
    WHERE n.flags LIKE '%"discuss"%' OR EXISTS (SELECT 1 FROM answers w WHERE w.assignment_id = a.id)
    ORDER BY i.key, a.id"""


def all_questions(study: Study) -> tuple[Question, ...]:
    """Every question, answered or not; coders by pseudonym."""
    return tuple(Question(*row) for row in study.connection.execute(_QUESTIONS))


def open_questions(study: Study) -> tuple[Question, ...]:
    """Questions that nobody has answered yet."""
    return tuple(question for question in all_questions(study) if question.answer is None)


def answer_question(
    study: Study, assignment: str, text: str, *, random_bytes: RandomBytes = secrets.token_bytes
) -> None:
    """Answer on an item: its coder sees the text there from now on. Raises Refused without a text or a question."""
    if not text.strip():
        raise Refused("An answer needs its text.")
    with writing(study.connection) as connection:
        row = connection.execute(
            "SELECT a.id, u.public_id, a.coder_id FROM assignments a JOIN units u ON u.id = a.unit_id WHERE a.uid = ?",
            (assignment,),
        ).fetchone()
        if row is None:
            raise Refused(f"There is no question {assignment!r}.", "'annotate questions STUDY' lists them.")
        number, unit, coder = row
        digest = keep_text(connection, text, random_bytes)
        log_id, seq = record(
            connection, "answer", {"assignment": assignment, "note": digest}, unit=unit, random_bytes=random_bytes
        )
        connection.execute(
            "INSERT INTO answers (assignment_id, text, log_id, seq) VALUES (?, ?, ?, ?)", (number, digest, log_id, seq)
        )
        connection.execute("UPDATE coders SET queue_version = queue_version + 1 WHERE id = ?", (coder,))
