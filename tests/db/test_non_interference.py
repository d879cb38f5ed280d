"""What a coder is served does not depend on models, judges, weights or other coders: two studies that differ in
nothing else give every query of the coding screen the same answer, byte for byte."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from builder import protocol, seeded

from db.assigning import assign
from db.coding import CodingSession
from db.imports import SourceFile, import_rows
from db.records import Act, ImportRow, ItemRow, JudgeLabelRow, ResponseRow
from db.sampling import draw, strata_counts
from db.study import create_study, open_study


def build(path: Path) -> None:
    rows: list[ImportRow] = []
    for n in range(1, 9):
        rows.append(ItemRow(f"q{n}", n, f"Question {n}", gold=("g",), strata={"category": ("FEQ", "HNQ")[n % 2]}))
        for model in ("model-one", "model-two"):
            rows.append(
                ResponseRow(f"q{n}", n, f"Answer {n} {len(rows)}", model=model, confidence=n, confidence_grid=100)
            )
            rows.append(JudgeLabelRow("judge-one", f"q{n}", n, model=model, raw="WRONG", score=0.1 * n))
    with create_study(path, protocol(), random_bytes=seeded(1)) as study:
        import_rows(
            study, rows, format="t", sources=[SourceFile("a", "0" * 64, 1)], protocol=protocol(), random_bytes=seeded(2)
        )
        strata = strata_counts(study, ["model", "judge_label"], judge="judge-one").strata
        chosen = [replace(stratum, drawn=6) for stratum in strata]
        draw(
            study,
            chosen,
            seed=1,
            by=["model", "judge_label"],
            judge="judge-one",
            allocation="x",
            random_bytes=seeded(3),
        )
        assign(study, ["A", "B"], seed=1, overlap=0.5, random_bytes=seeded(4))


def perturb(path: Path) -> None:
    """Everything that A must not notice: models, what judges said, probabilities' causes, and the work of B."""
    with CodingSession.open(path, "B", protocol(), random_bytes=seeded(6)) as session:
        while (item := session.next()) is not None:
            session.save(Act("label", item.assignment, label="HEDGE", note="B was here"))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE responses SET model = 'renamed ' || (id % 2), confidence = 0, failure = NULL")
        connection.execute("UPDATE judge_labels SET raw = 'CORRECT', raw_key = 'CORRECT', score = 1, reply = 'long'")
        connection.execute("UPDATE judges SET name = 'another judge'")
        connection.execute("UPDATE coders SET name = 'Somebody else' WHERE name = 'B'")
        connection.execute("UPDATE sample_strata SET population = population + 1000")
        connection.commit()


def told(path: Path) -> str:
    """Everything that the session of A says, as text."""
    said: list[object] = []
    with CodingSession.open(path, "A", protocol(), random_bytes=seeded(9)) as session:
        said += [session.queue_page(), session.progress, session.blindness, session.pending_confirmation()]
        while (item := session.next()) is not None:
            said += [item, session.item_of(item.assignment), session.seek(None, item.assignment)]
            if "CORRECT" in item.impossible:
                said.append(session.save(Act("skip", item.assignment, reason="unclear")))
                said.append(session.next(item.assignment))
            saved = session.save(Act("label", item.assignment, label="WRONG"))
            said += [saved.annotation, session.annotation(item.assignment), session.progress]
        said += [session.undo(), session.redo(), session.queue_page(), session.seek("done"), session.seek("skipped")]
    return "\n".join(map(repr, said))


def test_the_coding_screen_is_told_the_same_whatever_models_judges_and_co_coders_did(tmp_path: Path) -> None:
    one, other = tmp_path / "one.db", tmp_path / "other.db"
    build(one)
    with open_study(one) as study:
        study.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(one, other)
    perturb(other)
    first, second = told(one), told(other)
    assert first == second
    for word in ("model-one", "renamed", "judge", "B was here", "Somebody", "category", "FEQ", "HNQ"):
        assert word not in first
