"""Looking at a study without changing it: notebooks, status, codebooks, the installation."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import annotate
from tests.conftest import REPOSITORY
from tests.end_to_end.conftest import Cli


def test_a_study_as_data_frames(coded_study: Path) -> None:
    before = coded_study.read_bytes()
    with annotate.open_study(coded_study) as study:
        assert len(study.items) == 120
        assert set(study.items["category"]) == {"FEQ", "PCQ", "HNQ", "CCQ"}
        responses = study.responses
        assert len(responses) == 480
        assert responses["judge:ehq-rules"].value_counts().to_dict() == {
            "WRONG": 352,
            "ABSTAIN": 81,
            "CORRECT": 39,
            "HEDGE": 8,
        }
        labels = study.labels
        assert len(labels) == 960
        assert set(labels["coder_kind"]) == {"simulated"}
        assert labels["pi"].notna().sum() == 400
        assert {"label", "import", "sample"} <= set(study.events["kind"])
    assert coded_study.read_bytes() == before


def test_a_study_without_rows_has_the_columns_that_it_will_have(cli: Cli, tmp_path: Path, coded_study: Path) -> None:
    cli("init", tmp_path / "new.db")
    with annotate.open_study(tmp_path / "new.db") as new, annotate.open_study(coded_study) as coded:
        for name in ("items", "responses", "labels", "events", "cells"):
            there = [column for column in getattr(coded, name).columns if not column.startswith("judge:")]
            assert len(getattr(new, name)) == 0
            assert list(getattr(new, name).columns) == [c for c in there if c not in ("category", "subcategory")]


def test_status_says_what_comes_next(cli: Cli, tmp_path: Path, ehq_study: Path) -> None:
    new = tmp_path / "new.db"
    cli("init", new)
    assert "Next: annotate import" in cli("status", new).out
    assert "Next: annotate sample" in cli("status", ehq_study).out
    cli("sample", ehq_study, "--n", 200)
    assert "Next: annotate assign" in cli("status", ehq_study).out
    cli("assign", ehq_study, "--coders", "Ada")
    assert "--coder Ada" in cli("status", ehq_study).out


@pytest.mark.parametrize("name", ["Zoë O'Brien", "Ann Lee", "{x}", "$HOME"])
def test_what_comes_next_can_be_typed_as_it_stands(cli: Cli, ehq_study: Path, tmp_path: Path, name: str) -> None:
    cli("sample", ehq_study, "--n", 200)
    for text in (cli("assign", ehq_study, "--coders", name).out, cli("status", ehq_study).out):
        command = next(line for line in text.splitlines() if line.startswith("Next: ")).removeprefix("Next: ")
        assert shlex.split(command) == ["annotate", "code", str(ehq_study), "--coder", name]
    pack = tmp_path / "to be done.pack"
    there, here = cli("pack", ehq_study, "--coder", name, "--out", pack).out.splitlines()[1:3]
    assert shlex.split(there) == ["There:", "annotate", "code", pack.name]
    assert shlex.split(here) == ["Then", "here:", "annotate", "merge", str(ehq_study), pack.name]
    assert shlex.split(cli("status", pack).out.splitlines()[-1]) == ["Next:", "annotate", "code", str(pack)]


def test_status_shows_no_label_of_a_judge(cli: Cli, ehq_study: Path) -> None:
    """Whoever codes may look: counts of outputs, but not what they are."""
    text = cli("status", ehq_study).out
    assert "480" in text
    assert not any(label in text for label in ("ABSTAIN", "WRONG", "CORRECT", "HEDGE"))


@pytest.mark.parametrize("name", ["ehq", "alignment", "nas", "wikiprofile", "correctness", "refusal", "preference"])
def test_every_shipped_codebook_can_be_read_and_checked(cli: Cli, name: str, tmp_path: Path) -> None:
    assert name in {each["name"] for each in cli("protocol", "list", "--json").json}
    facts = cli("protocol", "check", name, "--json").json
    assert facts["valid"]
    shown = cli("protocol", "show", name).out
    assert all(label["title"] in shown for label in facts["labels"])
    copy = tmp_path / "own.toml"
    copy.write_text(cli("protocol", "show", name, "--toml").out, encoding="utf-8", newline="")
    assert cli("protocol", "check", copy, "--json").json["digest"] == facts["digest"]


def test_a_mistake_in_a_codebook_names_its_line(cli: Cli, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('title = "T"\n\n[[label]]\nname = "A"\nkey = "a"\ndefinition = "x"\n', encoding="utf-8")
    assert "two labels or more" in cli("protocol", "check", own, code=2).err
    own.write_text('title = "T"\ntitel = "U"\n', encoding="utf-8")
    assert "line 2" in cli("protocol", "check", own, code=2).err


def test_doctor_says_what_works(cli: Cli, ehq_study: Path) -> None:
    found = {each["what"]: each for each in cli("doctor", ehq_study, "--json", code=None).json}
    assert found["package names"]["state"] == "ok"
    assert found["place of the study"]["state"] == "ok"
    assert found["numpy"]["detail"]


def test_backup_is_a_whole_study(cli: Cli, coded_study: Path, tmp_path: Path) -> None:
    made = cli("backup", coded_study, "--to", tmp_path / "copy.db", "--json").json
    assert Path(made["backup"]).stat().st_mode & 0o777 == 0o600
    one, two = (cli("verify", path, "--json").json for path in (coded_study, tmp_path / "copy.db"))
    assert one == two
    assert one["holds"]


def test_verify_finds_a_changed_label(cli: Cli, coded_study: Path) -> None:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(coded_study)) as connection:
        connection.execute("DROP TRIGGER events_no_update")
        log, seq = connection.execute("SELECT log_id, seq FROM events WHERE kind = 'label' LIMIT 1").fetchone()
        changed = "UPDATE events SET body = '{}' WHERE log_id = ? AND seq = ?"
        connection.execute(changed, (log, seq))
        connection.commit()
    found = cli("verify", coded_study, "--json", code=1).json
    assert not found["holds"]
    assert any(check["broken"] and "changed after it was written" in check["first"] for check in found["checks"])


def test_the_demonstration_goes_on_where_it_stopped(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for keys, made in (("w\nw\nq\ny\n", "Made"), ("w\nq\ny\n", "Going on with")):
        monkeypatch.setattr("sys.stdin", io.StringIO(keys))
        assert made in cli("demo", "--plain").err
    study = tmp_path / "state" / "annotate" / "demo" / "ehq-demo.db"
    (coder,) = json.loads(cli("status", study, "--json").out)["coders"]
    assert (coder["coder"], coder["done"], coder["left"]) == ("you", 3, 57)


@pytest.mark.parametrize("how", ["option", "terminal"])
def test_tables_can_be_read_line_by_line(
    cli: Cli, coded_study: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb" if how == "terminal" else "xterm-256color")
    said = cli("status", coded_study, *(["--plain"] if how == "option" else [])).out
    assert "judge: ehq-rules; outputs: 480; not a label: 0; missing: 0" in said.splitlines()
    assert not set(said) & set("─│┃━")


def test_coding_line_by_line_leaves_stdout_to_the_document(cli: Cli, ehq_study: Path, tmp_path: Path) -> None:
    cli("sample", ehq_study, "--n", 200)
    cli("assign", ehq_study, "--coders", "Ada")
    done = subprocess.run(
        [sys.executable, "-m", "annotate", "code", str(ehq_study), "--coder", "Ada", "--plain", "--json"],
        input="a\nw\nq\ny\n",
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=True,
    )
    document = json.loads(done.stdout)
    assert (document["coder"], document["items"]) == ("Ada", 2)
    assert "saved: item 2, WRONG" in done.stderr
    assert "there is no such file" in cli("code", tmp_path / "ada.pack", code=2).err
