"""A lead's two weeks as one story, told through whatever sits at the screens: Textual's pilot, or a real terminal.

Counts are held against each other at every stage: `coverage`, `status`, the dashboard in all its forms, the headers of
the coding screens and the adjudication queue must say the same.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any, Protocol

from annotate.protocols import load_protocol
from db.labels import label_rows
from db.study import open_study
from tests.end_to_end.conftest import Cli

LABELS = ("ABSTAIN", "HEDGE", "WRONG")
KEYS = {"ABSTAIN": "a", "HEDGE": "h", "WRONG": "w"}
UNITS, KNOWN, CHECKS, BATCH = 18, 5, 3, 5
DONE_LEFT = re.compile(r"(\d+) done · (\d+) left")
LEFT = re.compile(r"Left: (\d+) of (\d+)")
PLACE = re.compile(r"item\s+(\d+)")


class Driver(Protocol):
    """Somebody at the screens. Each call opens a program, uses its keys, and leaves it with its own keys."""

    async def code(self, coder: str, most: int | None) -> list[str]:
        """Label up to ``most`` items by ``right_label``; returns the screen after each."""

    async def ask(self, coder: str, words: str) -> None:
        """Write a note on the next item and flag it for discussion."""

    async def header(self, coder: str) -> str:
        """The screen as it is when the coder comes."""

    async def decide(self, *options: str, keys: tuple[str, str], undo: bool = False) -> list[str]:
        """Decide every case with a label's key and a reason's, the first one twice with ``undo``; the screens."""

    async def board(self, text: str) -> str:
        """The dashboard once it shows ``text``."""


# --- what is said of an item ------------------------------------------------------------------------


def right_label(path: Path, coder: str, position: int) -> str:
    """What this coder says of the item at a place of their queue: by the length of its response, Ben with slips."""
    with open_study(path, read_only=True) as study:
        (text,) = study.connection.execute(
            "SELECT r.text FROM assignments a JOIN coders c ON c.id = a.coder_id JOIN units u ON u.id = a.unit_id"
            " JOIN responses r ON r.id = u.response_id WHERE c.name = ? AND a.position = ?",
            (coder, position),
        ).fetchone()
    return slip(text) if coder in ("Ben", "Cyd") else by_length(text)


def by_length(text: str) -> str:
    return LABELS[len(text) % 3]


def slip(text: str) -> str:
    return "HEDGE" if len(text) % 2 else by_length(text)


def same_summary(coded: int, told: int, left: int, shown: str) -> None:
    """The summary at the end says as many as were coded now, and has as many left as the screen's line had."""
    assert (coded, left) == (told, int(DONE_LEFT.search(shown).group(2)))  # type: ignore[union-attr]


# --- counts -----------------------------------------------------------------------------------------


def same_counts(path: Path, cli: Cli) -> dict[str, Any]:
    """Every place that counts says the same; returns coverage by round."""
    found = {each["round"]: each for each in cli("coverage", path, "--json", code=None).json["rounds"]}
    status, board = cli("status", path, "--json").json, cli("dashboard", path, "--no-live", "--json").json
    assert {each["round"] for each in status["coverage"]} == set(found) == set(board["coverage"])
    for each in status["coverage"]:
        mine, shown = found[each["round"]], board["coverage"][each["round"]]
        for key in ("units", "complete", "labels", "meant", "skips"):
            assert mine[key] == each[key] == shown[key]
        assert (shown["repeats"], shown["repeats_meant"]) == (mine["repeats"], mine["repeats_meant"])
        assert (each["missing"], each["over"]) == (len(mine["missing"]), len(mine["over"]) + len(mine["doubled"]))
        done = sum(c["done"] for c in status["coders"] if c["round"] == each["round"])
        assert done == mine["labels"] + mine["repeats"]
    for key in ("done", "total", "left", "stale"):
        told = {(c["coder"], c["round"]): c[key] for c in board["coders"]}
        assert told == {(c["coder"], c["round"]): c[key] for c in status["coders"]}
    cases = cli("adjudicate", path, "--by", "Lea", "--list", "--json").json
    assert (cases["left"], cases["decided"]) == (board["disagreements"], board["adjudicated"])
    assert cases["waiting_for_coders"] == board["waiting_for_coders"]
    assert status["disagreements"] <= board["disagreements"]  # these are of labels; flags and skips come besides
    plain = cli("dashboard", path, "--no-live", "--plain").out
    for name, each in found.items():
        assert f"{name}: {each['labels']} of {each['meant']} labels" in plain
    return found


async def same_header(path: Path, cli: Cli, driver: Driver, coder: str) -> None:
    """The coding screen's line says what `status` and the batches that are held back say."""
    rows = [each for each in cli("status", path, "--json").json["coders"] if each["coder"] == coder]
    held = cli("release", path, "--list", "--json").json["held_back"]
    back = sum(each["assignments"] for each in held if each["coder"] == coder)
    done, left = map(int, DONE_LEFT.search(await driver.header(coder)).groups())  # type: ignore[union-attr]
    assert (done, left) == (sum(r["done"] for r in rows), sum(r["left"] for r in rows) - back)


def reference_bytes(path: Path, cli: Cli, folder: Path) -> tuple[str, bytes]:
    """Every number that rests on the human reference, and the labels themselves, as they are printed."""
    out = folder / "labels.csv"
    cli("export", path, "--out", out)
    agreement = cli("agreement", path, "--json").json
    impact = cli("impact", path, "--draws", 1000, "--json").out
    labels = out.read_bytes()
    out.unlink()
    return str([agreement[part] for part in ("reference", "people", "judges")]) + impact, labels


# --- files ------------------------------------------------------------------------------------------


def second_judge(path: Path, folder: Path) -> Path:
    """A judge that says of every response what its length says."""
    with open_study(path) as study:
        rows = study.connection.execute(
            "SELECT i.key, r.model, r.text FROM responses r JOIN items i ON i.id = r.item_id ORDER BY r.id"
        ).fetchall()
    file = folder / "lengths.csv"
    _write(file, ("question_id", "model", "said"), ((item, model, by_length(text)) for item, model, text in rows))
    return file


def known_files(path: Path, folder: Path) -> tuple[Path, Path]:
    """Known labels of responses outside the sample: for training, one of which Ben gets wrong, and for checks."""
    with open_study(path) as study:
        rows = study.connection.execute(
            "SELECT i.key, r.model, r.text FROM responses r JOIN items i ON i.id = r.item_id WHERE r.id NOT IN"
            " (SELECT response_id FROM units) AND r.failure IS NULL ORDER BY r.id LIMIT 60"
        ).fetchall()
    missed = [row for row in rows if slip(row[2]) != by_length(row[2])]
    got = [row for row in rows if slip(row[2]) == by_length(row[2])]
    train, check = folder / "known.csv", folder / "checks.csv"
    _known(train, [*missed[:1], *got[: KNOWN - 1]])
    _known(check, [*missed[1:2], *got[KNOWN : KNOWN + CHECKS - 1]])
    return train, check


def _known(file: Path, rows: list[Any]) -> None:
    told = ((item, model, by_length(text), "by its length") for item, model, text in rows)
    _write(file, ("item", "model", "label", "explanation"), told)


def _write(file: Path, head: tuple[str, ...], rows: Any) -> None:
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(head)
        writer.writerows(rows)


# --- the story --------------------------------------------------------------------------------------


async def two_weeks(path: Path, cli: Cli, driver: Driver, folder: Path) -> None:
    """From the draw to the report; ``driver`` sits at every screen."""
    lengths = second_judge(path, folder)
    cli("import", path, lengths, "--map", "question_id=item,model=model,said=judge.lengths")
    cli("sample", path, "--n", UNITS, "--by", "model", "--seed", 42, "--anyway")
    frozen = cli("freeze", path, "--primary", "EHQ", "--judge", "ehq-rules", "--json").json["frozen"]
    assert frozen["main_labels_before"] == 0
    await _train(path, cli, driver, folder)
    await _calibrate(path, cli, driver)
    await _main(path, cli, driver, folder)
    await _adjudicate(path, cli, driver)
    await _review(path, cli, driver, folder)
    _report(path, cli, folder, frozen["digest"])


async def _train(path: Path, cli: Cli, driver: Driver, folder: Path) -> None:
    train, _ = known_files(path, folder)
    cli("train", path, "--coders", "Ada,Ben", "--from", train, "--pass-mark", 0.9)
    told = await driver.code("Ada", None)
    assert len(told) == KNOWN and all("Training: " in shown for shown in told)
    told = await driver.code("Ben", None)
    assert sum("you said" in shown and "by its length" in shown for shown in told) == 1
    results = {
        each["coder"]: (each["done"], each["failed"], each["passed"]) for each in cli("train", path, "--json").json
    }
    assert results == {"Ada": (KNOWN, 0, True), "Ben": (KNOWN, 1, False)}
    assert same_counts(path, cli)["training"]["labels"] == 2 * KNOWN


async def _calibrate(path: Path, cli: Cli, driver: Driver) -> None:
    cli("assign", path, "--coders", "Ada,Ben", "--overlap", 1, "--repeats", 0.12, "--hold")  # 2 of 18 come back
    await same_header(path, cli, driver, "Ada")
    cli("release", path, "--batch", BATCH, "--due", "2030-01-31")
    assert "due 2030-01-31" in cli("dashboard", path, "--no-live", "--plain").out
    assert f"Due 2030-01-31: {BATCH} of Ada in round main." in cli("status", path).out
    await same_header(path, cli, driver, "Ada")
    await driver.code("Ada", None)
    await driver.code("Ben", None)
    assert same_counts(path, cli)["main"]["labels"] == 2 * BATCH
    assert cli("dashboard", path, "--json").json["looks"] == 1  # the first look: is the codebook understood?


async def _main(path: Path, cli: Cli, driver: Driver, folder: Path) -> None:
    cli("release", path)
    cli("check", path, "--coders", "Ada,Ben", "--from", known_files(path, folder)[1])
    await driver.code("Ada", 4)
    await same_header(path, cli, driver, "Ada")
    await driver.ask("Ada", "Is politeness a hedge?")
    same_counts(path, cli)
    _change_codebook(path, cli, folder)
    await same_header(path, cli, driver, "Ada")
    with open_study(path) as study:
        pi = study.connection.execute("SELECT unit_id, pi FROM sample_units ORDER BY unit_id").fetchall()
    assert cli("reassign", path, "--from", "Ben", "--to", "Cyd", "--json").json["moved"] > UNITS - BATCH
    same_counts(path, cli)
    for coder in ("Ada", "Cyd"):
        await driver.code(coder, None)
        await same_header(path, cli, driver, coder)
    found = same_counts(path, cli)
    with open_study(path) as study:
        assert study.connection.execute("SELECT unit_id, pi FROM sample_units ORDER BY unit_id").fetchall() == pi
    assert found["main"]["complete"] == found["main"]["units"] == UNITS
    assert (found["main"]["labels"], found["main"]["repeats"]) == (2 * UNITS, found["main"]["repeats_meant"])
    assert found["check"]["labels"] == found["check"]["meant"] == 2 * CHECKS
    checks = {each["coder"]: each["failed"] for each in cli("check", path, "--json").json if each["done"]}
    assert checks == {"Ada": 0, "Cyd": 1}
    board = cli("dashboard", path, "--json").json
    assert board["looks"] == 1  # nothing is missing any more: this is no interim look
    assert {each["coder"]: each["different"] for each in board["repeats"]} == {"Ada": 0}
    assert board["self_agreement"]["Ada"]["n"] == 2 and board["self_agreement"]["Ada"]["percent"]["value"] == 1


def _change_codebook(path: Path, cli: Cli, folder: Path) -> None:
    """What a hedge is changes: the hedges that were given come back, and nothing else. Then a question is answered."""
    with open_study(path) as study:
        hedges = {r.assignment for r in label_rows(study) if r.label == "HEDGE" and r.round_kind == "main"}
    new = folder / "ehq.toml"
    line = load_protocol("ehq").label("HEDGE").definition.strip().splitlines()[0]
    new.write_text(load_protocol("ehq").toml.replace(line, "A hedge is said in words, and now means less."), "utf-8")
    assert "HEDGE: definition" in cli("protocol", "diff", path, new).out
    plan = cli("protocol", "diff", path, new, "--json").json
    changed = cli("protocol", "update", path, new, "--substantive", "--labels", "HEDGE", "--json").json
    with open_study(path) as study:
        stale = {row.assignment for row in label_rows(study) if row.stale}
    assert hedges and hedges <= stale and changed["stale"] == plan["stale"] == len(stale)
    found = same_counts(path, cli)
    assert sum(each["stale"] for each in cli("status", path, "--json").json["coders"]) == len(stale)
    assert found["main"]["labels"] < 2 * UNITS
    (question,) = cli("questions", path, "--json").json
    assert question["asked"] == "Is politeness a hedge?" and question["coder"] == "coder-1"
    answer = ("--answer", question["assignment"], "--text", "Politeness is no hedge.", "--edge-case", "HEDGE")
    cli("questions", path, *answer)
    assert cli("questions", path, "--json").json == []
    assert not cli("freeze", path, "--json").json["frozen"]["holds"]


async def _adjudicate(path: Path, cli: Cli, driver: Driver) -> None:
    with open_study(path) as study:
        said: dict[str, set[str | None]] = {}
        for row in label_rows(study, round_name="main"):
            if row.occurrence == 1 and not row.stale and row.role == "coder":
                said.setdefault(row.unit, set()).add(row.label)
    differ = {unit for unit, labels in said.items() if len(labels) > 1}
    cases = cli("adjudicate", path, "--by", "Lea", "--list", "--json").json["cases"]
    assert {each["unit"] for each in cases[: len(differ)]} == differ and differ
    assert cli("discuss", path).out.count("\n## ") == len(cases)
    screens = await driver.decide(keys=("w", "4"), undo=True)
    assert f"case 1 of {len(cases)} · 0 decided" in screens[0] and "coder A" in screens[0]
    assert not re.search(r"(Ada|Ben|Cyd)\s+(ABSTAIN|HEDGE|WRONG)", " ".join(screens))
    found = same_counts(path, cli)
    board = cli("dashboard", path, "--no-live", "--json").json
    assert (board["disagreements"], board["adjudicated"]) == (0, len(cases))
    shown = await driver.board("disagreements to decide  0")
    assert f"{found['main']['labels']} of {found['main']['meant']} labels" in shown
    with open_study(path) as study:
        finals = [row for row in label_rows(study) if row.role == "adjudicator"]
    assert {(row.label, row.detail["class"]) for row in finals} == {("WRONG", "ambiguous")}
    assert {row.unit for row in finals} == {each["unit"] for each in cases}


async def _review(path: Path, cli: Cli, driver: Driver, folder: Path) -> None:
    before = reference_bytes(path, cli, folder)
    screens = await driver.decide("--against", "ehq-rules", "--controls", "3", keys=("h", "1"))
    assert "judge against people, unmasked" in screens[0] and "coders, and the judge unmasked" in screens[0]
    facts, *_ = cli("freeze", path, "--json").json["reviews"]
    assert facts["controls"] == facts["controls_reviewed"] == 3  # agreeing units are among them
    assert len(screens) == facts["disputed"] + facts["controls"] + 1  # the last one says that nothing is left
    assert facts["controls_flipped"] >= 1  # people and judge agree on no hedge that Lea now sees everywhere
    assert reference_bytes(path, cli, folder) == before  # and yet not a byte of the reference changed
    screens = await driver.decide("--between", "ehq-rules,lengths", "--controls", "2", keys=("1", "2"))
    assert "judge against judge, unmasked" in screens[0] and "first" in screens[0].casefold()
    _, between = cli("freeze", path, "--json").json["reviews"]
    assert between["judges"] == ["ehq-rules", "lengths"] and between["disputed_reviewed"] == between["disputed"] > 0
    better = between["better"]
    assert better["ehq-rules"] + better["lengths"] == between["disputed"]  # FIRST is now the one, now the other
    why = between["better_why"]
    assert {name: sum(reasons.values()) for name, reasons in why.items()} == {k: v for k, v in better.items() if v}
    assert {reason for reasons in why.values() for reason in reasons} == {"strict"}
    assert reference_bytes(path, cli, folder) == before
    assert set(same_counts(path, cli)) == {"training", "main", "check"}  # verdicts are no labels
    told = cli("dashboard", path, "--no-live", "--json").json["reviews"]
    assert [(each["reviewed"], each["units"]) for each in told] == [
        (facts["disputed"] + 3, facts["disputed"] + 3),
        (between["disputed"] + 2, between["disputed"] + 2),
    ]


def _report(path: Path, cli: Cli, folder: Path, digest: str) -> None:
    kinds = {each["name"]: each["kind"] for each in cli("rounds", path, "--close", "main", "--json").json}
    assert kinds.pop("review ehq-rules") == kinds.pop("review ehq-rules - lengths") == "review"
    assert kinds == {name: name for name in ("training", "main", "check", "adjudication")}
    cli("report", path, "--out", folder / "report", "--draws", 1000)
    text = (folder / "report" / "report.md").read_text(encoding="utf-8")
    assert digest in text.replace("\\", "") and "looked at 1 time before coding was finished" in text
    assert "After unmasking" in text and "too strict" in text
    assert "Everything holds" in cli("verify", path).out
