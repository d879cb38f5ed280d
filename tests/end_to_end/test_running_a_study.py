"""Two weeks of a lead in one test: freeze, training, calibration batch, a codebook change in the middle, a coder who is
replaced, hidden checks and repeats, questions, adjudication, review of the judge. Counts are kept by hand alongside.
"""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from annotate.adjudicating import open_cases
from annotate.protocols import load_protocol, parse_protocol
from db.adjudicating import Decision
from db.coding import CodingSession
from db.coverage import coverage
from db.labels import label_rows
from db.records import Act, CodingItem, Protocol
from db.study import open_study
from db.verify import verify
from tests.end_to_end.conftest import Cli

Say = Callable[[CodingItem, int], str]


def codebook(path: Path) -> Protocol:
    with open_study(path) as study:
        return parse_protocol(study.protocol_toml, study.protocol_name)


def code(path: Path, coder: str, say: Say, most: int | None = None) -> tuple[int, list[str]]:
    """Code up to ``most`` items; returns how many, and what was told back."""
    done, told = 0, []
    with CodingSession.open(path, coder, codebook(path)) as session:
        if session.pending_confirmation() is not None:
            session.save(Act("confirm", None))
        while (most is None or done < most) and (item := session.next()) is not None:
            label = say(item, done)
            saved = session.save(Act("label", item.assignment, label=label, note="by rule", active_ms=2000))
            told.append(saved.feedback)
            done += 1
    return done, told


def by_length(item: CodingItem, number: int) -> str:
    """A rule that two coders share."""
    return ("ABSTAIN", "HEDGE", "WRONG")[len(item.text) % 3]


def sloppy(item: CodingItem, number: int) -> str:
    """The same but for every fifth item."""
    return "HEDGE" if number % 5 == 4 else by_length(item, number)


def labels_in(path: Path, round_name: str) -> int:
    with open_study(path) as study:
        return next((each.labels for each in coverage(study) if each.round == round_name), 0)


@pytest.fixture
def drawn(ehq_study: Path, cli: Cli) -> Iterator[Path]:
    cli("sample", ehq_study, "--n", 60, "--seed", 42, "--anyway")
    yield ehq_study


def outside_sample(path: Path, count: int) -> list[tuple[str, str, str]]:
    """(item, model, text) of responses that were not drawn."""
    with open_study(path) as study:
        rows = study.connection.execute(
            "SELECT i.key, r.model, r.text FROM responses r JOIN items i ON i.id = r.item_id WHERE r.id NOT IN"
            " (SELECT response_id FROM units) AND r.failure IS NULL ORDER BY r.id LIMIT ?",
            (count,),
        ).fetchall()
    return [(str(item), str(model), str(text)) for item, model, text in rows]


def known_file(path: Path, rows: list[tuple[str, str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("item", "model", "label", "explanation"))
        for item, model, text in rows:
            writer.writerow((item, model, ("ABSTAIN", "HEDGE", "WRONG")[len(text) % 3], "by its length"))
    return path


def test_training_on_the_sample_says_what_it_costs(cli: Cli, ehq_study: Path, tmp_path: Path) -> None:
    """All 480 responses have a known label here, and 200 of them are drawn."""
    with closing(sqlite3.connect(ehq_study)) as connection:
        rows = connection.execute("SELECT i.key, r.model FROM responses r JOIN items i ON i.id = r.item_id").fetchall()
    known = tmp_path / "known.csv"
    known.write_text("item,model,label\n" + "".join(f"{item},{model},WRONG\n" for item, model in rows), "utf-8")
    cli("sample", ehq_study, "--n", 200)
    assert "Note: 200 of these are in the drawn sample" in cli("train", ehq_study, "--coders", "A", "--from", known).err
    assert "Note: 200 of these" in cli("check", ehq_study, "--coders", "B", "--from", known).err


def test_a_study_from_freeze_to_review(drawn: Path, cli: Cli, tmp_path: Path) -> None:
    path = drawn
    outside = outside_sample(path, 14)

    # Frozen before the first label; a second look later tells whether it still holds.
    frozen = cli("freeze", path, "--primary", "EHQ", "--json").json["frozen"]
    assert frozen["main_labels_before"] == 0 and frozen["holds"]

    # Training on ten known labels outside the sample, with feedback after each label and a pass mark.
    known = known_file(tmp_path / "known.csv", outside[:10])
    cli("train", path, "--coders", "Ada,Ben", "--from", known, "--pass-mark", 0.9)
    assert code(path, "Ada", by_length)[0] == 10
    done, told = code(path, "Ben", sloppy)  # two of ten wrong
    assert done == 10 and all(words.startswith("Training: ") for words in told)
    passed = {each["coder"]: (each["failed"], each["passed"]) for each in cli("train", path, "--json").json}
    assert passed["Ada"] == (0, True)
    assert passed["Ben"][0] <= 2 and passed["Ben"][1] is (passed["Ben"][0] <= 1)

    # The main round is held back; a calibration batch of 10 goes out first.
    cli("assign", path, "--coders", "Ada,Ben", "--overlap", 1, "--repeats", 0.1, "--hold")
    assert code(path, "Ada", by_length)[0] == 0
    released = cli("release", path, "--batch", 10, "--due", "2030-01-31", "--json").json
    assert [each["assignments"] for each in released["released"]] == [10, 10]
    assert code(path, "Ada", by_length)[0] == code(path, "Ben", sloppy)[0] == 10

    # Hidden checks are mixed into what is still to do.
    cli("release", path)
    checks = known_file(tmp_path / "checks.csv", outside[10:])
    cli("check", path, "--coders", "Ada,Ben", "--from", checks)
    with open_study(path) as study:
        places = [row.position for row in label_rows(study, round_name="check") if row.coder == "Ada"]
        last = max(row.position for row in label_rows(study) if row.coder == "Ada")
        assert verify(study).holds
    assert len(places) == 4 and max(places) - min(places) > 10 and min(places) > 20 and last == 10 + 66 + 4

    # In the middle the codebook changes: only hedges in category FEQ come back.
    assert code(path, "Ada", by_length, 15)[0] == 15
    with open_study(path) as study:
        hedges = [row for row in label_rows(study) if row.label == "HEDGE" and row.round != "training"]
        assert hedges
    new = tmp_path / "ehq.toml"
    line = load_protocol("ehq").label("HEDGE").definition.strip().splitlines()[0]
    new.write_text(load_protocol("ehq").toml.replace(line, "A hedge is said in words, and now means less."), "utf-8")
    plan = cli("protocol", "diff", path, new, "--json").json
    changed = cli("protocol", "update", path, new, "--substantive", "--where", "category=FEQ", "--json").json
    assert 0 < changed["stale"] < plan["stale"]
    assert sum(each["stale"] for each in cli("status", path, "--json").json["coders"]) == changed["stale"]
    assert not cli("freeze", path, "--json").json["frozen"]["holds"]

    # Ben leaves and Cyd takes over; every unit still gets the labels that it is meant to get.
    moved = cli("reassign", path, "--from", "Ben", "--to", "Cyd", "--json").json["moved"]
    assert moved > 40
    with open_study(path) as study:
        pi = study.connection.execute("SELECT count(*), sum(pi) FROM sample_units").fetchone()

    # A coder asks; the answer comes back on that item and becomes an edge case.
    with CodingSession.open(path, "Ada", codebook(path)) as session:
        session.save(Act("confirm", None))
        asked = session.next()
        assert asked is not None
        session.save(Act("flag", asked.assignment, flag="discuss", note="Is politeness a hedge?"))
    (question,) = cli("questions", path, "--json").json
    assert question["asked"] == "Is politeness a hedge?" and question["coder"] == "coder-1"
    cli(
        "questions",
        path,
        "--answer",
        question["assignment"],
        "--text",
        "Politeness is no hedge.",
        "--edge-case",
        "HEDGE",
    )
    assert "Politeness is no hedge." in codebook(path).label("HEDGE").edge_cases
    with CodingSession.open(path, "Ada", codebook(path)) as session:
        assert session.item_of(asked.assignment).answer == "Politeness is no hedge."

    # A look at interim results is counted once for one state of the labels.
    for _ in range(2):
        looks = cli("dashboard", path, "--json").json["looks"]
    assert looks == 1

    code(path, "Ada", by_length)
    code(path, "Cyd", sloppy)
    with open_study(path) as study:
        found = {each.round: each for each in coverage(study)}
        assert study.connection.execute("SELECT count(*), sum(pi) FROM sample_units").fetchone() == pi
    assert found["main"].clean and found["main"].units == 60 and found["main"].labels == 120
    assert found["check"].clean

    # Every screen counts the same.
    board = cli("dashboard", path, "--no-live", "--json").json
    status = cli("status", path, "--json").json
    for each in status["coverage"]:
        counted = board["coverage"][each["round"]]
        assert {key: counted[key] for key in ("units", "complete", "labels", "meant", "skips")} == {
            key: each[key] for key in ("units", "complete", "labels", "meant", "skips")
        }
    failed = {each["coder"]: each["failed"] for each in cli("check", path, "--json").json}
    assert failed["Ada"] == 0 and {c["coder"]: c["failed"] for c in board["checks"] if c["kind"] == "check"} == failed
    repeats = {each["coder"]: each for each in board["repeats"]}
    assert repeats["Ada"]["different"] == 0 and repeats["Ada"]["pairs"] == found["main"].repeats

    # Adjudication: what differs by hand is what comes, and every case is decided.
    with open_study(path) as study:
        said: dict[str, set[str | None]] = {}
        for row in label_rows(study, round_name="main"):
            if row.occurrence == 1 and not row.stale:
                said.setdefault(row.unit, set()).add(row.label)
    differ = {unit for unit, labels in said.items() if len(labels) > 1}
    assert board["disagreements"] >= len(differ) > 0
    assert cli("discuss", path).out.count("\n## ") == board["disagreements"]
    with open_cases(path, "Lea") as session:
        queue = session.queue()
        assert set(queue.units[: len(differ)]) == differ  # disagreements first, then what is flagged
        for unit in queue.units:
            session.decide(unit, Decision("WRONG", reason="ambiguous", note="decided"))
    after = cli("dashboard", path, "--no-live", "--json").json
    assert (after["disagreements"], after["adjudicated"]) == (0, len(queue.units))

    # The review of the judge mixes in controls and leaves every number of the reference alone.
    judge = status["counts"]["judges"][0]["name"]
    before = cli("agreement", path, "--json").json
    with open_cases(path, "Lea", against=judge, controls=12) as session:
        review = session.queue().units
        for unit in review:
            session.decide(unit, Decision("HEDGE", reason="judge"))
    again = cli("agreement", path, "--json").json
    for part in ("reference", "people", "judges"):
        assert before[part] == again[part]
    (facts,) = cli("freeze", path, "--json").json["reviews"]
    assert facts["controls"] == facts["controls_reviewed"] and facts["controls"] <= 12
    assert facts["disputed_reviewed"] + facts["controls_reviewed"] == len(review)
    assert facts["controls_flipped"] >= 1 and facts["flip_rate"] is not None

    # A closed round refuses; the record is whole.
    cli("rounds", path, "--close", "main")
    with open_study(path) as study:
        assert verify(study).holds
    assert cli("verify", path).code == 0


def test_what_cannot_be_is_refused_in_one_line(drawn: Path, cli: Cli, tmp_path: Path) -> None:
    path = drawn
    cli("freeze", path, "--primary", "BLEU", code=2)
    cli("release", path, code=1)
    assert "2020-01-01 has passed" in cli("release", path, "--due", "2020-01-01", code=2).err
    assert "no known label in the adjudication yet" in cli("train", path, "--coders", "Ada", code=2).err
    assert (
        "nothing to hold the judge against"
        in cli("adjudicate", path, "--by", "Lea", "--against", "ehq-rules", "--list", code=1).err
    )
    cli("assign", path, "--coders", "Ada,Ben")
    cli("adjudicate", path, "--by", "Lea", "--between", "a", code=2)
    cli("adjudicate", path, "--by", "Lea", "--against", "nobody", code=2)
    cli("reassign", path, "--from", "Ada", "--to", "Ada", code=1)
    cli("questions", path, "--answer", "nothing", "--text", "x", code=1)
    bad = tmp_path / "bad.csv"
    bad.write_text("item,label\nq,NOTHING\n", "utf-8")
    cli("train", path, "--coders", "Ada", "--from", bad, code=2)
    code(path, "Ada", by_length, 1)
    cli("freeze", path, "--primary", "EHQ", code=1)
    assert cli("freeze", path, "--primary", "EHQ", "--late", "--json").json["frozen"]["main_labels_before"] == 1
    again = cli("freeze", path, "--primary", "EHQ3", "--late", code=1)
    assert "for the primary score EHQ: the first freeze counts" in again.err
