"""The commands of the record: coverage, log, backup, repair, recall, merge, and what they say."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from annotate.studies import study_protocol
from db.coding import CodingSession
from db.leases import lease
from db.records import Act
from db.study import open_study

Call = Callable[..., tuple[int, str, str]]


def code(path: Path, coder: str, number: int, label: str = "WRONG") -> None:
    with open_study(path) as opened:
        protocol = study_protocol(opened)
    with CodingSession.open(path, coder, protocol) as session:
        for _ in range(number):
            item = session.next()
            assert item
            session.save(Act("label", item.assignment, label=label, note="a [red]note[/red] \x1b[31m"))


def facts(out: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(out)
    return found


def test_coverage_agrees_with_status_and_names_units(study: Path, call: Call) -> None:
    code(study, "Ada", 6)
    code(study, "Ben", 4)
    ended, out, _ = call("coverage", study, "--json")
    (main,) = facts(out)["rounds"]
    status = facts(call("status", study, "--json")[1])
    (same,) = status["coverage"]
    assert ended == 1 and (main["units"], main["labels"], main["meant"]) == (6, 10, 12)
    assert (same["units"], same["labels"], same["meant"], same["missing"]) == (6, 10, 12, len(main["missing"]))
    assert sum(each["done"] for each in status["coders"]) == main["labels"]
    assert len(main["missing"]) == 2
    assert {tuple(gap["coders"]) for gap in main["missing"]} == {("coder-1",)}
    ended, out, _ = call("coverage", study)
    assert ended == 1 and all(gap["unit"] in out for gap in main["missing"]) and "WRONG" not in out
    code(study, "Ben", 2)
    ended, out, _ = call("coverage", study)
    assert ended == 0 and "Every unit has its labels." in out
    assert call("coverage", study, "--round", "check")[0] == 1


def test_the_log_tells_the_history_of_a_unit_and_makes_the_account_open(study: Path, call: Call) -> None:
    code(study, "Ada", 1)
    ended, out, _ = call("log", study, "--coder", "Ada")
    assert ended == 0 and "label WRONG" in out and "[red]note[/red]" in out and "\x1b" not in out
    event = facts(call("log", study, "--coder", "Ada", "--json")[1])["events"][0]
    assert (event["kind"], event["coder"], event["blindness"]) == ("label", "Ada", "masked")
    assert event["unit"] in call("log", study, event["unit"])[1]
    code(study, "Ada", 1)
    later = facts(call("log", study, "--coder", "Ada", "--json")[1])["events"][1]
    assert later["blindness"] == "open"
    assert "unmask" in call("log", study, "--coder", "lead")[1]
    ended, _, err = call("log", study, "nothing")
    assert ended == 1 and "There is no unit, assignment or item 'nothing'" in err
    assert call("log", study, "--coder", "Zoe")[0] == 1


def test_backup_then_damage_then_repair(study: Path, call: Call, tmp_path: Path) -> None:
    code(study, "Ada", 3)
    assert call("backup", study)[0] == 0
    whole = study.read_bytes()
    study.write_bytes(whole[: len(whole) // 2])
    ended, out, err = call("verify", study)
    assert ended in (1, 2) and ("BROKEN" in out or "annotate repair" in err)
    ended, out, _ = call("repair", study, "--to", tmp_path / "new.db")
    assert ended == 0 and "Filled in from the backup" in out and "Nothing was lost." in out
    assert study.read_bytes() == whole[: len(whole) // 2]
    assert call("verify", tmp_path / "new.db")[0] == 0
    assert facts(call("coverage", tmp_path / "new.db", "--json")[1])["rounds"][0]["labels"] == 3
    ended, _, err = call("repair", study, "--to", tmp_path / "new.db")
    assert ended == 2 and "already a file of that name" in err


def test_repair_names_what_was_lost(study: Path, call: Call, tmp_path: Path) -> None:
    code(study, "Ada", 3)
    content = study.read_bytes()
    assert content.count(b'"label":"WRONG"') == 3
    study.write_bytes(content.replace(b'"label":"WRONG"', b'"label":"WRONK"', 1))
    ended, out, _ = call("repair", study, "--to", tmp_path / "new.db")
    assert ended == 1 and "Lost: coder-1, log" in out and "1 acts were lost" in out
    (log,) = [
        each
        for each in facts(call("repair", study, "--to", tmp_path / "other.db", "--json")[1])["logs"]
        if each["coder"] == "coder-1"
    ]
    assert log["kept"] + log["moved"] == 2 and len(log["lost"]) == 1


def test_recall_and_merge(study: Path, call: Call, tmp_path: Path) -> None:
    copy = tmp_path / "ada.db"
    shutil.copy(study, copy)
    code(copy, "Ada", 4)
    ended, out, _ = call("merge", study, copy, "--json")
    assert ended == 0 and sum(log["added"] for log in facts(out)["merged"][0]["logs"]) == 4
    assert "0" in call("merge", study, copy)[1]
    assert call("verify", study)[0] == 0
    code(copy, "Ada", 1, "CORRECT")
    code(study, "Ada", 1, "WRONG")
    ended, _, err = call("merge", study, copy)
    assert ended == 1 and "a fork" in err and "--coder NAME" in err
    with open_study(study) as opened:
        lease(opened, "Ben", "pack")
    ended, out, _ = call("recall", study, "--coder", "Ben")
    assert ended == 0 and "Taken back: 6 assignments of Ben." in out
    assert call("recall", study, "--coder", "Ben")[0] == 1
    assert "lease end" in call("log", study, "--coder", "lead")[1]
