"""What is in a pack does not depend on models, judges, weights, other coders or hidden checks: two studies that differ
in nothing else give the same bytes, and none of it can be found in them."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from builder import protocol, seeded, small_study
from pack_builder import session, state

from db.assigning import assign
from db.coding import CodingSession
from db.connection import writing
from db.history import history
from db.imports import SourceFile, import_rows
from db.known import mix_in, set_known
from db.pack_make import make_pack
from db.pack_merge import merge_pack
from db.pack_read import read_pack
from db.questions import answer_question
from db.records import Act, ImportRow, ItemRow, JudgeLabelRow, LabelRule, ResponseRow
from db.sampling import draw, strata_counts
from db.study import create_study, open_study

WORDS = ("model-one", "renamed", "judge-one", "another judge", "B was here", "Somebody", "HNQ", "long reply", "w-two",
         "known because")  # fmt: skip
RANDOM = {"log", "place", "genesis"}
"""What of the content is random; beside it, the codes and keys that are made of these and of the secret."""


def build(path: Path) -> None:
    """Sixteen responses of two models, twelve of them drawn by model and judged label, with repeats and checks."""
    rows: list[ImportRow] = []
    for n in range(1, 13):
        rows.append(ItemRow(f"q{n}", n, f"Question {n}", gold=("g",), strata={"category": ("FEQ", "HNQ")[n % 2]}))
        for model in ("model-one", "w-two"):
            rows.append(ResponseRow(f"q{n}", n, f"Answer {len(rows)}", model=model, confidence=n, confidence_grid=100))
            rows.append(JudgeLabelRow("judge-one", f"q{n}", n, model=model, raw="WRONG", score=0.1 * n))
    with create_study(path, protocol(), random_bytes=seeded(1)) as study:
        source = [SourceFile("a", "0" * 64, 1)]
        import_rows(study, rows, format="t", sources=source, protocol=protocol(), random_bytes=seeded(2))
        strata = strata_counts(study, ["model", "judge_label"], judge="judge-one").strata
        chosen = [replace(stratum, drawn=8) for stratum in strata]
        by = ["model", "judge_label"]
        draw(study, chosen, seed=1, by=by, judge="judge-one", allocation="x", random_bytes=seeded(3))
        assign(study, ["A", "B"], seed=1, overlap=0.5, repeats=0.2, random_bytes=seeded(4))
        checks(study)


def checks(study: object) -> None:
    """Two units outside the sample are hidden checks in A's queue."""
    connection = study.connection  # type: ignore[attr-defined]
    response = connection.execute(
        "SELECT r.id FROM responses r WHERE r.id NOT IN (SELECT response_id FROM units) ORDER BY r.id LIMIT 2"
    ).fetchall()
    for number, (each,) in enumerate(response):
        connection.execute("INSERT INTO units (response_id, public_id) VALUES (?, ?)", (each, f"check{number:07}"))
    units = [f"check{number:07}" for number in range(2)]
    assign(study, ["A"], seed=2, round_name="check", kind="check", units=units, again=True, random_bytes=seeded(5))  # type: ignore[arg-type]
    why = dict.fromkeys(units, "known because")
    set_known(study, "check", dict.fromkeys(units, "WRONG"), explanations=why)  # type: ignore[arg-type]
    mix_in(study, "check")  # type: ignore[arg-type]


def perturb(path: Path) -> None:
    """Everything that A must not notice: models, judges, probabilities, the work of B, which items are checks."""
    with CodingSession.open(path, "B", protocol(), random_bytes=seeded(6)) as session:
        while (item := session.next()) is not None:
            session.save(Act("label", item.assignment, label="HEDGE", note="B was here"))
    with closing(sqlite3.connect(path)) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(
            "UPDATE responses SET model = 'renamed ' || id, condition = 'c', confidence = 0, failure = 'x'"
        )
        connection.execute("UPDATE responses SET extra = '{\"long reply\":1}', searched = 1, source_row = id + 50")
        connection.execute("UPDATE judge_labels SET raw = 'CORRECT', raw_key = 'CORRECT', score = 1, reply = 'long'")
        connection.execute("UPDATE judges SET name = 'another judge'")
        connection.execute("UPDATE coders SET name = 'Somebody else' WHERE name = 'B'")
        connection.execute("UPDATE coders SET pseudonym = 'coder-9' WHERE name = 'A'")
        connection.execute("UPDATE sample_strata SET population = population + 1000, stratum = '{\"n\":' || id || '}'")
        connection.execute("UPDATE sample_units SET pi = 0.123, u = 'ffff'")
        connection.execute("UPDATE items SET key = 'other ' || key, answer_key = 'k'")
        # other facts under which the codebook's rule applies to the same items
        connection.execute("UPDATE items SET strata = replace(replace(strata, 'FEQ', 'CCQ'), 'HNQ', 'ZZZ')")
        connection.execute("UPDATE study SET title = 'Somebody''s study'")
        connection.execute("UPDATE rounds SET settings = '{}'")
        # the checks are none any more, and the rest are tie-breaks
        connection.execute("UPDATE assignments SET round = 'main', batch_id = 1, occurrence = 3 WHERE round = 'check'")
        connection.execute("UPDATE assignments SET position = position * 3, role = 'tiebreak' WHERE occurrence = 1")
        connection.execute("UPDATE assignments SET position = position * 3 WHERE occurrence > 1 OR role = 'coder'")
        connection.commit()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time stands still, so that nothing differs by it."""
    monkeypatch.setattr("db.pack_make.utc_now", lambda: "2030-01-01T00:00:00.000Z")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """one.db and other.db, made once."""
    folder = tmp_path_factory.mktemp("pair")
    one, other = folder / "one.db", folder / "other.db"
    build(one)
    shutil.copy(one, other)
    perturb(other)
    return folder


@pytest.fixture
def two(pair: Path, tmp_path: Path) -> tuple[Path, Path]:
    one, other = (Path(shutil.copy(pair / name, tmp_path)) for name in ("one.db", "other.db"))
    return one, other


def packed(home: Path, seed: int) -> Path:
    with open_study(home) as study:
        out = home.with_name(f"{home.stem}-{seed}.pack")
        return make_pack(study, "A", out, protocol(), random_bytes=seeded(seed)).path


def test_two_studies_that_differ_in_what_a_coder_may_not_see_give_the_same_bytes(
    two: tuple[Path, Path], clock: None
) -> None:
    one, other = (packed(home, 3).read_bytes() for home in two)
    assert one == other
    told = values(two[1].with_name("other-3.pack"))
    for word in (*WORDS, "FEQ", "CCQ", "ZZZ", "tiebreak", "check", "coder-", "q1", "other q"):
        assert word not in told, (word, told[told.index(word) - 60 :][:120])


def values(path: Path) -> str:
    """Every value in every table of a pack, but for the text of the codebook."""
    with closing(sqlite3.connect(path)) as pack:
        tables = [row[0] for row in pack.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = [row for table in tables if table != "protocols" for row in pack.execute(f"SELECT * FROM {table}")]
    return repr(rows)


def test_beside_them_only_what_is_random_differs(two: tuple[Path, Path]) -> None:
    one, other = (read_pack(packed(home, seed)) for home, seed in zip(two, (3, 4), strict=True))
    assert {key for key in one.content if one.content[key] != other.content[key]} == RANDOM
    assert one.code != other.code and one.ratchet != other.ratchet


def test_a_repeat_and_a_check_are_items_like_any_other(two: tuple[Path, Path]) -> None:
    path = packed(two[0], 3)
    with open_study(two[0]) as study:
        kinds = study.connection.execute(
            "SELECT count(*), sum(occurrence = 2), sum(round = 'check') FROM assignments a"
            " JOIN coders c ON c.id = a.coder_id WHERE c.name = 'A'"
        ).fetchone()
    assert kinds[1] > 1 and kinds[2] == 2
    with closing(sqlite3.connect(path)) as pack:
        told = pack.execute(
            "SELECT count(*), count(DISTINCT unit_id), group_concat(DISTINCT round), group_concat(DISTINCT role),"
            " group_concat(DISTINCT occurrence), max(position) FROM assignments"
        ).fetchone()
        ids = pack.execute("SELECT public_id, uid FROM assignments a JOIN units u ON u.id = a.unit_id").fetchall()
        keys = pack.execute("SELECT count(*) FROM items WHERE key IN (SELECT uid FROM assignments)").fetchone()[0]
    assert told == (kinds[0], kinds[0], "main", "coder", "1", kinds[0])
    assert all(unit == assignment for unit, assignment in ids) and keys == kinds[0]


def test_which_text_of_a_pair_came_first_in_the_source_is_not_in_a_pack(tmp_path: Path, clock: None) -> None:
    """The same texts on the same sides, from sources that name the two models the other way round."""
    names = (LabelRule("FIRST", "1", "", ""), LabelRule("SECOND", "2", "", ""))
    pairs = protocol("pairs", labels=names, pairwise=True, impossible=())
    one = small_study(tmp_path / "one.db", "A", codebook=pairs)
    with open_study(one) as study, writing(study.connection) as connection:
        connection.execute("UPDATE responses SET text_b = 'other ' || id, model_b = 'm9'")
        connection.execute("UPDATE assignments SET sides_swapped = position % 2")
    other = Path(shutil.copy(one, tmp_path / "other.db"))
    with open_study(other) as study, writing(study.connection) as connection:
        connection.execute("UPDATE responses SET text = text_b, text_b = text, model = 'x' || id, model_b = 'y'")
        connection.execute("UPDATE assignments SET sides_swapped = 1 - sides_swapped")
    packs = []
    for home in (one, other):
        with open_study(home) as study:
            made = make_pack(study, "A", home.with_suffix(".pack"), pairs, random_bytes=seeded(3))
            packs.append(made.path.read_bytes())
    assert packs[0] == packs[1] and b"other 3" in packs[0]


def test_the_secret_of_the_study_is_not_in_a_pack(two: tuple[Path, Path]) -> None:
    with open_study(two[0]) as study:
        secret = study.secret
    content = packed(two[0], 3).read_bytes()
    assert secret not in content and secret.hex().encode() not in content


def test_an_answer_comes_without_who_gave_it_and_when(two: tuple[Path, Path], clock: None) -> None:
    for home in two:
        with CodingSession.open(home, "A", protocol(), random_bytes=seeded(7)) as desk:
            item = desk.next()
            assert item
            desk.save(Act("flag", item.assignment, flag="discuss", note="why?"))
        with open_study(home) as study:
            answer_question(study, item.assignment, f"Because. {'x' * 40}", random_bytes=seeded(home.stem == "one"))
    one, other = (packed(home, 3).read_bytes() for home in two)
    assert one == other and b"Because. xxx" in one


def test_after_coding_the_acts_name_nothing_but_the_ids_of_assignments(two: tuple[Path, Path]) -> None:
    path = packed(two[0], 3)
    with session(path) as desk:
        for _ in range(3):
            item = desk.next()
            assert item
            desk.save(Act("label", item.assignment, label="HEDGE"))
    back = read_pack(path)
    assert all(row.unit == row.assignment for row, _ in back.rows)
    with open_study(two[0]) as study:
        merge_pack(study, back, lambda text, name: protocol())
        (unit,) = study.connection.execute(
            "SELECT u.public_id FROM units u JOIN assignments a ON a.unit_id = u.id WHERE a.uid = ?",
            (back.rows[0][0].assignment,),
        ).fetchone()
        acts = [event for event in history(study, unit) if event.kind == "label"]
        assert len(acts) == 1 and acts[0].unit == unit  # the study tells which unit it is
    assert state(two[0])
